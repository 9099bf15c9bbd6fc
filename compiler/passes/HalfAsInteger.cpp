// Moves bf16, and f16 where the target has no such type, as 16-bit integers; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/target/Target.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace heed {
#define GEN_PASS_DEF_HALFASINTEGER
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct HalfAsInteger : impl::HalfAsIntegerBase<HalfAsInteger> {
  void runOnOperation() override {
    FailureOr<Target> target = Target::of(getOperation());
    if (failed(target))
      return signalPassFailure();
    auto i16 = IntegerType::get(&getContext(), 16);
    auto moved = [&](Type type) { return type.isBF16() || (type.isF16() && !target->hasHalfCasts); };

    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FloatType type) -> std::optional<Type> {
      return moved(type) ? std::optional<Type>(i16) : std::nullopt;
    });
    replacer.addReplacement([&](FloatAttr value) -> std::optional<Attribute> {
      if (!moved(value.getType()))
        return std::nullopt;
      return IntegerAttr::get(i16, value.getValue().bitcastToAPInt());
    });
    replacer.addReplacement([&](DenseElementsAttr values) -> std::optional<Attribute> {
      return moved(values.getElementType()) ? std::optional<Attribute>(values.bitcast(i16)) : std::nullopt;
    });
    // What the module says of itself, its interface for one, keeps the types.
    for (Operation &op : getOperation().getOps())
      replacer.recursivelyReplaceElementsIn(&op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                            /*replaceTypes=*/true);
  }
};

} // namespace
} // namespace heed
