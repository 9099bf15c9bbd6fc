// Time per kernel and taps; see Trace.h.
#include "compiler/driver/Trace.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heed::driver {

Trace::Trace(std::vector<std::string> taps) : taps(std::move(taps)) {}

heed_context Trace::attachedTo(heed_context context) {
  context.trace_data = this;
  context.trace = record;
  return context;
}

void Trace::record(void *data, int32_t kind, const char *name, const heed_tensor *tensor) {
  auto *trace = static_cast<Trace *>(data);
  if (kind == HEED_TRACE_BEGIN)
    trace->begin(name);
  else if (kind == HEED_TRACE_END)
    trace->end();
  else if (kind == HEED_TRACE_TENSOR)
    trace->keep(name, *tensor);
}

void Trace::begin(StringRef name) { open.push_back({name.str(), Clock::now()}); }

void Trace::end() {
  if (open.empty())
    return;
  Open closed = std::move(open.back());
  open.pop_back();
  double seconds = std::chrono::duration<double>(Clock::now() - closed.since).count();
  KernelTime &kernel = kernels[closed.name];
  kernel.name = closed.name;
  ++kernel.calls;
  kernel.seconds += seconds - closed.inner;
  if (!open.empty())
    open.back().inner += seconds;
}

void Trace::keep(StringRef name, const heed_tensor &tensor) {
  if (!is_contained(names, name))
    names.push_back(name.str());
  if (!is_contained(taps, name))
    return;
  HostTensor copy(tensor.type, {tensor.sizes, size_t(tensor.rank)});
  // Row by row: an intermediate may be a slice of a larger buffer.
  size_t elementBytes = tensor.type.bits / 8;
  SmallVector<int64_t> at(tensor.rank);
  auto *to = static_cast<char *>((*copy).data);
  for (int64_t count = heed_tensor_count(&tensor), i = 0; i < count; ++i) {
    int64_t offset = i;
    if (tensor.strides) {
      offset = 0;
      for (int32_t dim = 0; dim < tensor.rank; ++dim)
        offset += at[dim] * tensor.strides[dim];
      for (int32_t dim = tensor.rank; dim-- > 0 && ++at[dim] == tensor.sizes[dim];)
        at[dim] = 0;
    }
    memcpy(to + i * elementBytes, static_cast<const char *>(tensor.data) + offset * elementBytes,
           elementBytes);
  }
  tensors[name.str()] = std::move(copy);
}

std::vector<KernelTime> Trace::times() const {
  std::vector<KernelTime> times;
  for (const auto &[name, kernel] : kernels)
    times.push_back(kernel);
  llvm::sort(times, [](const auto &a, const auto &b) { return a.seconds > b.seconds; });
  return times;
}

} // namespace heed::driver
