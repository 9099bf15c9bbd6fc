// How much stack a thread needs inside emitted code; see Stack.h.
#include "compiler/target/Stack.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <functional>

using namespace llvm;

namespace heed {

/// What a frame may need beyond its reported size: the return address, saved registers, and alignment of its
/// vectors to 64 bytes.
static constexpr uint64_t overheadBytes = 128;

void StackMeter::watch(Module &module) {
  // A call through a pointer can only reach a function whose address some code takes: tasks handed to a pool.
  SmallSetVector<StringRef, 16> taken;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      for (Use &use : instruction.operands()) {
        auto *target = dyn_cast<Function>(use->stripPointerCasts());
        auto *call = dyn_cast<CallBase>(&instruction);
        if (target && !target->isDeclaration() && !(call && call->isCallee(&use)))
          taken.insert(target->getName());
      }

  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    Node &node = nodes[function.getName()];
    for (Instruction &instruction : instructions(function)) {
      if (auto *alloca = dyn_cast<AllocaInst>(&instruction))
        node.isBounded &= alloca->isStaticAlloca();
      auto *call = dyn_cast<CallBase>(&instruction);
      if (!call || call->isInlineAsm())
        continue;
      if (Function *callee = call->getCalledFunction())
        node.callees.insert(callee->getName());
      else
        node.callees.insert(taken.begin(), taken.end());
    }
    function.addFnAttr("warn-stack-size", "0"); // reports every frame that is larger
  }
}

void StackMeter::record(const DiagnosticInfoStackSize &frame) {
  auto *node = nodes.find(frame.getFunction().getName());
  if (node != nodes.end())
    node->second.frameBytes = frame.getStackSize();
}

std::optional<uint64_t> StackMeter::deepest() const {
  // Depth first; an entry without a value is on the path, so that meeting it again is recursion.
  StringMap<std::optional<uint64_t>> depths;
  std::function<std::optional<uint64_t>(StringRef)> depthOf = [&](StringRef name) -> std::optional<uint64_t> {
    const auto *node = nodes.find(name);
    if (node == nodes.end())
      return 0; // memcpy, memmove, memset
    auto [it, isNew] = depths.try_emplace(name);
    if (!isNew)
      return it->second;
    if (!node->second.isBounded)
      return std::nullopt;
    uint64_t below = 0;
    for (StringRef callee : node->second.callees) {
      std::optional<uint64_t> depth = depthOf(callee);
      if (!depth)
        return std::nullopt;
      below = std::max(below, *depth);
    }
    return depths[name] = node->second.frameBytes + overheadBytes + below;
  };
  uint64_t most = 0;
  for (const auto &[name, node] : nodes) {
    std::optional<uint64_t> depth = depthOf(name);
    if (!depth)
      return std::nullopt;
    most = std::max(most, *depth);
  }
  return most;
}

} // namespace heed
