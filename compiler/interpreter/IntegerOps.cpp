// arith on integers of any width up to 64, wrapping around as its definition says.
#include "compiler/interpreter/Integers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace heed {

using IntegerBinary = std::optional<uint64_t> (*)(int64_t, int64_t, unsigned width);

static OpTable::ScalarBuild integer(IntegerBinary function) {
  return [function](Operation *op) -> OpTable::ScalarFunction {
    unsigned width = widthOf(op->getResult(0).getType());
    return [=](const Scalar *x) -> std::optional<Scalar> {
      std::optional<uint64_t> bits = function(x[0].integer, x[1].integer, width);
      return bits ? std::optional(Scalar::of(wrap(*bits, width))) : std::nullopt;
    };
  };
}

using Bits = std::optional<uint64_t>;

/// Whether a signed division of `a` by `b` has a result.
static bool divides(int64_t a, int64_t b, unsigned width) {
  return b != 0 && !(b == -1 && a == wrap(uint64_t(1) << (width - 1), width));
}

static bool holds(arith::CmpIPredicate predicate, int64_t a, int64_t b, unsigned width) {
  int64_t signedA = signedOf(a, width), signedB = signedOf(b, width);
  uint64_t unsignedA = unsignedOf(a, width), unsignedB = unsignedOf(b, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return signedA < signedB;
  case arith::CmpIPredicate::sle:
    return signedA <= signedB;
  case arith::CmpIPredicate::sgt:
    return signedA > signedB;
  case arith::CmpIPredicate::sge:
    return signedA >= signedB;
  case arith::CmpIPredicate::ult:
    return unsignedA < unsignedB;
  case arith::CmpIPredicate::ule:
    return unsignedA <= unsignedB;
  case arith::CmpIPredicate::ugt:
    return unsignedA > unsignedB;
  case arith::CmpIPredicate::uge:
    return unsignedA >= unsignedB;
  }
  llvm_unreachable("unknown predicate");
}

void addIntegerOps(OpTable &table) {
  table.addScalar<arith::AddIOp>(
      integer([](int64_t a, int64_t b, unsigned) -> Bits { return uint64_t(a) + b; }));
  table.addScalar<arith::SubIOp>(
      integer([](int64_t a, int64_t b, unsigned) -> Bits { return uint64_t(a) - b; }));
  table.addScalar<arith::MulIOp>(
      integer([](int64_t a, int64_t b, unsigned) -> Bits { return uint64_t(a) * b; }));
  table.addScalar<arith::AndIOp>(integer([](int64_t a, int64_t b, unsigned) -> Bits { return a & b; }));
  table.addScalar<arith::OrIOp>(integer([](int64_t a, int64_t b, unsigned) -> Bits { return a | b; }));
  table.addScalar<arith::XOrIOp>(integer([](int64_t a, int64_t b, unsigned) -> Bits { return a ^ b; }));
  table.addScalar<arith::DivSIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return divides(a, b, width) ? Bits(a / b) : std::nullopt;
  }));
  table.addScalar<arith::RemSIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return divides(a, b, width) ? Bits(a % b) : std::nullopt;
  }));
  table.addScalar<arith::FloorDivSIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return divides(a, b, width) ? Bits(llvm::divideFloorSigned(a, b)) : std::nullopt;
  }));
  table.addScalar<arith::CeilDivSIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return divides(a, b, width) ? Bits(llvm::divideCeilSigned(a, b)) : std::nullopt;
  }));
  table.addScalar<arith::DivUIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return b == 0 ? std::nullopt : Bits(unsignedOf(a, width) / unsignedOf(b, width));
  }));
  table.addScalar<arith::RemUIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return b == 0 ? std::nullopt : Bits(unsignedOf(a, width) % unsignedOf(b, width));
  }));
  table.addScalar<arith::CeilDivUIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return b == 0 ? std::nullopt : Bits(llvm::divideCeil(unsignedOf(a, width), unsignedOf(b, width)));
  }));
  table.addScalar<arith::MaxSIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return signedOf(a, width) < signedOf(b, width) ? b : a;
  }));
  table.addScalar<arith::MinSIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return signedOf(b, width) < signedOf(a, width) ? b : a;
  }));
  table.addScalar<arith::MaxUIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return std::max(unsignedOf(a, width), unsignedOf(b, width));
  }));
  table.addScalar<arith::MinUIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return std::min(unsignedOf(a, width), unsignedOf(b, width));
  }));
  table.addScalar<arith::ShLIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return unsignedOf(b, width) < width ? Bits(uint64_t(a) << b) : std::nullopt;
  }));
  table.addScalar<arith::ShRSIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return unsignedOf(b, width) < width ? Bits(signedOf(a, width) >> b) : std::nullopt;
  }));
  table.addScalar<arith::ShRUIOp>(integer([](int64_t a, int64_t b, unsigned width) -> Bits {
    return unsignedOf(b, width) < width ? Bits(unsignedOf(a, width) >> b) : std::nullopt;
  }));
  table.addScalar<math::AbsIOp>([](Operation *op) -> OpTable::ScalarFunction {
    unsigned width = widthOf(op->getResult(0).getType());
    return [=](const Scalar *x) {
      int64_t value = signedOf(x[0].integer, width);
      return Scalar::of(wrap(value < 0 ? -uint64_t(value) : value, width));
    };
  });
  table.addScalar<arith::CmpIOp>([](Operation *op) -> OpTable::ScalarFunction {
    arith::CmpIPredicate predicate = cast<arith::CmpIOp>(op).getPredicate();
    unsigned width = widthOf(op->getOperand(0).getType());
    return [=](const Scalar *x) {
      return Scalar::of(int64_t(holds(predicate, x[0].integer, x[1].integer, width)));
    };
  });
}

} // namespace heed
