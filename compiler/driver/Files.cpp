// Outputs that appear whole or not at all, and progress; see Driver.h.
#include "compiler/driver/Driver.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

using namespace llvm;

namespace heed::driver {

//===--- Outputs
//------------------------------------------------------------------------------------------===//

struct Outputs::File {
  std::string path;
  std::optional<sys::fs::TempFile> temporary; // absent: a device, a pipe or standard output
  SmallString<0> bytes;                       // of what cannot be written out of order
  std::unique_ptr<raw_pwrite_stream> stream;

  [[noreturn]] void failWith(const std::error_code &error) {
    fail(path, "expected to write here, but got: " + error.message());
  }
};

Outputs::Outputs() = default;

Outputs::~Outputs() {
  for (auto &file : files) {
    if (auto *stream = file->temporary ? static_cast<raw_fd_ostream *>(file->stream.get()) : nullptr) {
      stream->flush();
      stream->clear_error(); // or its destructor ends the process
    }
    file->stream.reset();
    if (file->temporary)
      consumeError(file->temporary->discard());
  }
}

static bool isSpecial(StringRef path) {
  sys::fs::file_status status;
  return path == "-" || (!sys::fs::status(path, status) && sys::fs::exists(status) &&
                         !sys::fs::is_regular_file(status) && !sys::fs::is_directory(status));
}

raw_pwrite_stream &Outputs::open(StringRef path, bool executable) {
  auto &file = *files.emplace_back(std::make_unique<File>());
  file.path = path.str();
  if (isSpecial(path)) {
    file.stream = std::make_unique<raw_svector_ostream>(file.bytes);
    return *file.stream;
  }
  if (sys::fs::is_directory(path))
    file.failWith(std::make_error_code(std::errc::is_a_directory));
  auto temporary = sys::fs::TempFile::create(path + ".%%%%%%%%.tmp", executable ? 0777 : 0666);
  if (!temporary)
    file.failWith(errorToErrorCode(temporary.takeError()));
  file.temporary.emplace(std::move(*temporary));
  file.stream = std::make_unique<raw_fd_ostream>(file.temporary->FD, /*shouldClose=*/false);
  return *file.stream;
}

std::string Outputs::reserve(StringRef path, bool executable) {
  open(path, executable);
  if (!files.back()->temporary)
    fail(path, "expected a file, but got a device");
  return files.back()->temporary->TmpName;
}

void Outputs::commit() {
  for (auto &file : files) {
    std::error_code error;
    if (file->temporary) {
      auto &stream = static_cast<raw_fd_ostream &>(*file->stream);
      stream.flush();
      error = stream.error();
      stream.clear_error();
    } else if (file->path == "-") {
      outs() << file->bytes;
      outs().flush();
      error = outs().error();
      outs().clear_error();
    } else {
      raw_fd_ostream device(file->path, error, sys::fs::CD_OpenExisting);
      if (!error) {
        device << file->bytes;
        device.flush();
        error = device.error();
        device.clear_error();
      }
    }
    if (error)
      file->failWith(error);
  }
  for (auto &file : files)
    if (file->temporary) {
      file->stream.reset();
      if (Error error = file->temporary->keep(file->path))
        file->failWith(errorToErrorCode(std::move(error)));
      file->temporary.reset();
    }
  files.clear();
}

ScratchFolder::ScratchFolder() {
  SmallString<128> path;
  if (std::error_code error = sys::fs::createUniqueDirectory("heed", path))
    fail("temporary folder", "expected to make one, but got: " + error.message());
  folder = path.str().str();
}

ScratchFolder::~ScratchFolder() { (void)sys::fs::remove_directories(folder); }

std::string ScratchFolder::path(StringRef name) const {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

//===--- Progress
//-----------------------------------------------------------------------------------------===//

struct Progress::Printer {
  std::string command, what;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  bool done = false, printed = false;
  std::mutex mutex;
  std::condition_variable wake;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    for (auto next = begin + std::chrono::seconds(2); !done; next += std::chrono::milliseconds(500)) {
      wake.wait_until(lock, next, [&] { return done; });
      if (done)
        break;
      auto seconds = std::chrono::duration_cast<std::chrono::seconds>(next - begin).count();
      errs() << "\r\033[Kheed " << command << ": " << what << " (" << seconds << " s)";
      printed = true;
    }
    if (printed)
      errs() << "\r\033[K";
  }
};

Progress::Progress(StringRef command) {
  if (!sys::Process::StandardErrIsDisplayed())
    return;
  printer = std::make_unique<Printer>();
  printer->command = command.str();
  printer->thread = std::thread([this] { printer->run(); });
}

Progress::~Progress() {
  if (!printer)
    return;
  {
    std::lock_guard lock(printer->mutex);
    printer->done = true;
  }
  printer->wake.notify_all();
  printer->thread.join();
}

void Progress::step(const Twine &what) {
  if (!printer)
    return;
  std::lock_guard lock(printer->mutex);
  printer->what = what.str();
}

} // namespace heed::driver
