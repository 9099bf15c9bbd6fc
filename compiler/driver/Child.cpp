// Work in a process of its own; see Child.h.
#include "compiler/driver/Child.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heed::driver {

/// Ends the process.
[[noreturn]] static void work(int to, bool quiet, llvm::function_ref<std::string()> work) {
  if (quiet)
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
  alarm(120);
  int status = 1;
  try {
    std::string line = work();
    if (write(to, line.data(), line.size()) == ssize_t(line.size()))
      status = 0;
  } catch (const std::exception &) {
  }
  _exit(status);
}

std::optional<std::string> inChild(bool quiet, llvm::function_ref<std::string()> task) {
  int ends[2];
  if (pipe(ends))
    return std::nullopt;
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0)
    work(ends[1], quiet, task);
  close(ends[1]);
  std::string line;
  char part[512];
  for (ssize_t count; child > 0 && (count = read(ends[0], part, sizeof part)) > 0;)
    line.append(part, count);
  close(ends[0]);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child)
    return std::nullopt;
  if (WIFSIGNALED(status))
    return std::string("SIGNAL ") + strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? std::optional(std::move(line)) : std::nullopt;
}

} // namespace heed::driver
