// heed: compiles Transformers ahead of time, and runs, verifies and measures what it compiled.
#include "compiler/driver/Driver.h"

#include "llvm/Support/ErrorHandling.h"

#include <csignal>

using namespace heed::driver;

/// A fatal error inside LLVM, in the one line that every error gets.
static void reportFatalError(void *, const char *reason, bool) {
  llvm::errs() << "heed: error: " << reason << "\n";
  exit(1);
}

static int report(std::string message) {
  if (message.empty())
    return 1; // reported where it happened
  message.erase(message.find_last_not_of(".\n") + 1);
  std::replace(message.begin(), message.end(), '\n', ' ');
  llvm::errs() << "heed: error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::install_fatal_error_handler(reportFatalError);
  std::signal(SIGXFSZ, SIG_IGN); // a file too large for the user's limit is an error to report, not a death

  CLI::App app("Compiles Transformers ahead of time to code with a plain C interface.", "heed");
  app.require_subcommand(1);
  app.set_version_flag("--version", "heed " HEED_VERSION);
  app.footer("Example:\n  heed compile minilm/ -o minilm.so && heed run minilm.so --input input_ids=ids.npy "
             "--output out");
  addImport(app);
  addCompile(app);
  addRun(app);
  addVerify(app);
  addBench(app);
  addExplain(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error); // --help, --version
    return report(error.what());
  } catch (const std::exception &error) {
    return report(error.what());
  }
}
