// What a module tells while it runs: time per kernel, and intermediate tensors.
#pragma once

#include "compiler/driver/Module.h"

#include <chrono>

namespace heed::driver {

struct KernelTime {
  std::string name;
  int64_t calls = 0;
  double seconds = 0; ///< without the kernels inside it
};

class Trace {
public:
  /// Keeps copies of the tensors named in `taps`.
  explicit Trace(std::vector<std::string> taps = {});
  /// `context` with this trace, which must outlive the calls.
  heed_context attachedTo(heed_context context);

  /// Longest first.
  std::vector<KernelTime> times() const;
  const std::map<std::string, HostTensor> &tapped() const { return tensors; }
  /// Every name a tap could have asked for, in the order of running.
  const std::vector<std::string> &tappable() const { return names; }

private:
  using Clock = std::chrono::steady_clock;
  static void record(void *trace, int32_t kind, const char *name, const heed_tensor *tensor);
  void begin(llvm::StringRef name);
  void end();
  void keep(llvm::StringRef name, const heed_tensor &tensor);

  std::vector<std::string> taps, names;
  std::map<std::string, KernelTime> kernels;
  std::map<std::string, HostTensor> tensors;
  struct Open {
    std::string name;
    Clock::time_point since;
    double inner = 0;
  };
  std::vector<Open> open;
};

} // namespace heed::driver
