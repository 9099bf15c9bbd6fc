// How the interpreter runs: values have slots, ops are steps on a frame of slots. Private to
// compiler/interpreter.
#pragma once

#include "compiler/interpreter/Interpreter.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace heed {

/// One number: a float as a Real, everything else as an integer.
struct Scalar {
  Real real;
  int64_t integer = 0;

  static Scalar of(Real x) { return {x, 0}; }
  static Scalar of(int64_t x) { return {{}, x}; }
};

struct Slot {
  Scalar scalar;
  std::shared_ptr<Tensor> tensor;
};

class Frame;
using Step = std::function<mlir::LogicalResult(Frame &)>;

/// A function made ready to run: a slot per value, a list of steps per block.
struct Program {
  llvm::DenseMap<mlir::Value, unsigned> slots;
  llvm::DenseMap<mlir::Block *, std::vector<Step>> blocks;

  unsigned slotOf(mlir::Value value) { return slots.try_emplace(value, slots.size()).first->second; }
};

/// How each op becomes a step, by name.
class OpTable {
public:
  using Build = std::function<Step(mlir::Operation *, Program &)>;
  /// One result from the operands in order, or nothing where it is undefined.
  using ScalarFunction = std::function<std::optional<Scalar>(const Scalar *operands)>;
  using ScalarBuild = std::function<ScalarFunction(mlir::Operation *)>;

  OpTable();
  Step build(mlir::Operation *op, Program &program) const;
  bool knows(mlir::Operation *op) const;

  /// An op on tensors, or with regions.
  template <class OpT> void add(mlir::LogicalResult (*evaluate)(OpT, Frame &)) {
    builds[OpT::getOperationName()] = [evaluate](mlir::Operation *op, Program &) -> Step {
      return [op, evaluate](Frame &frame) { return evaluate(mlir::cast<OpT>(op), frame); };
    };
  }
  /// Every op that implements an interface, unless it is known by its own name.
  template <class InterfaceT> void addInterface(mlir::LogicalResult (*evaluate)(InterfaceT, Frame &)) {
    interfaces.push_back([evaluate](mlir::Operation *op, Program &) -> Step {
      auto implemented = mlir::dyn_cast<InterfaceT>(op);
      if (!implemented)
        return nullptr;
      return [implemented, evaluate](Frame &frame) { return evaluate(implemented, frame); };
    });
  }
  /// An op on numbers, one by one where its operands are tensors.
  template <class OpT> void addScalar(const ScalarBuild &build) {
    builds[OpT::getOperationName()] = elementwise(build);
  }

private:
  static Build elementwise(const ScalarBuild &build);
  llvm::StringMap<Build> builds;
  std::vector<Build> interfaces;
};

// What each file knows.
void addControlOps(OpTable &table);
void addScalarOps(OpTable &table);
void addTensorOps(OpTable &table);
void addSliceOps(OpTable &table);
void addLinalgOps(OpTable &table);
void addMaskOps(OpTable &table);
void addMatmulOps(OpTable &table);
void addScoreOps(OpTable &table);
void addLayerOps(OpTable &table);
void addPositionOps(OpTable &table);
void addAttentionOps(OpTable &table);
void addOnlineAttention(OpTable &table);

/// What functions of one run share.
class Session {
public:
  Session(mlir::ModuleOp module, ParameterSource parameters)
      : module(module), parameters(std::move(parameters)) {}

  const Program &programOf(mlir::func::FuncOp function);
  mlir::FailureOr<std::shared_ptr<Tensor>> parameter(mlir::Operation *op, llvm::StringRef name);
  mlir::FailureOr<std::vector<Slot>> call(mlir::func::FuncOp function, std::vector<Slot> arguments);

  mlir::ModuleOp module;

  /// Pairs of a query and a key for which steps of online attention computed a score.
  int64_t visitedPairs = 0;

private:
  OpTable table;
  ParameterSource parameters;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Program>> programs;
  llvm::StringMap<std::shared_ptr<Tensor>> loaded;
  unsigned depth = 0;
};

/// The values of one call.
class Frame {
public:
  Frame(Session &session, const Program &program)
      : session(session), program(program), slots(program.slots.size()) {}

  Slot &slot(mlir::Value value) { return slots[program.slots.find(value)->second]; }
  Slot &at(unsigned slot) { return slots[slot]; }
  unsigned slotOf(mlir::Value value) const { return program.slots.find(value)->second; }
  const Tensor &tensor(mlir::Value value) { return *slot(value).tensor; }
  int64_t integer(mlir::Value value) { return slot(value).scalar.integer; }
  Real real(mlir::Value value) { return slot(value).scalar.real; }
  llvm::SmallVector<int64_t> integers(mlir::ValueRange values);
  /// Static sizes, and dynamic ones from `values`.
  llvm::SmallVector<int64_t> integers(llvm::ArrayRef<mlir::OpFoldResult> mixed);

  /// The tensor to change in place: the operand's own where `user` is its last use, else a copy.
  Tensor take(mlir::Value value, mlir::Operation *user);
  Slot takeSlot(mlir::Value value, mlir::Operation *user);

  /// Sets a result; fails where its shape is not of the value's type.
  mlir::LogicalResult set(mlir::Value result, Tensor tensor);
  mlir::LogicalResult set(mlir::Value result, std::shared_ptr<Tensor> tensor);
  void set(mlir::Value result, Scalar scalar) { slot(result).scalar = scalar; }

  /// Runs the ops of `block`, whose arguments are set; the terminator's operands are then its values.
  mlir::LogicalResult run(mlir::Block &block) { return run(stepsOf(block)); }
  mlir::LogicalResult run(const std::vector<Step> &steps);
  const std::vector<Step> &stepsOf(mlir::Block &block) const { return program.blocks.find(&block)->second; }

  Session &session;
  /// Where the innermost linalg op's loops are, for linalg.index.
  llvm::ArrayRef<int64_t> iteration;

private:
  const Program &program;
  std::vector<Slot> slots;
};

/// A region of numbers, ready to be run many times.
class ScalarRegion {
public:
  ScalarRegion(Frame &frame, mlir::Block &block);

  Slot &argument(unsigned number) { return frame.at(arguments[number]); }
  mlir::LogicalResult run() { return frame.run(steps); }
  const Scalar &result(unsigned number = 0) { return frame.at(results[number]).scalar; }

private:
  Frame &frame;
  const std::vector<Step> &steps;
  llvm::SmallVector<unsigned> arguments, results;
};

/// Tensors read element by element through maps from coordinates, as regions read them.
class Reads {
public:
  /// Checks nothing yet: a coordinate outside a tensor fails when it is read.
  Reads(Frame &frame, mlir::Operation *op, mlir::ValueRange tensors, mlir::ArrayAttr maps);

  /// Sets the arguments of `region` from number `first` on to the elements at `coordinate`.
  mlir::LogicalResult load(ScalarRegion &region, unsigned first, llvm::ArrayRef<int64_t> coordinate);

private:
  struct Read {
    std::shared_ptr<Tensor> tensor;
    mlir::AffineMap map;
  };
  mlir::Operation *op;
  llvm::SmallVector<Read> reads;
};

/// An affine expression at `dims` and `symbols`; nothing where it overflows or a divisor is not positive.
std::optional<int64_t> evaluateAffine(mlir::AffineExpr expression, llvm::ArrayRef<int64_t> dims,
                                      llvm::ArrayRef<int64_t> symbols = {});

/// A tensor of zeros, or a diagnostic at `op` where the size is negative or beyond what an oracle should
/// hold.
mlir::FailureOr<Tensor> makeTensor(mlir::Operation *op, mlir::Type elementType,
                                   llvm::ArrayRef<int64_t> shape);

/// A slice of a tensor: element i of dimension d lies at offsets[d] + i · strides[d].
struct Slice {
  llvm::SmallVector<int64_t> offsets, sizes, strides;

  template <class OpT> static Slice of(OpT op, Frame &frame) {
    return {frame.integers(op.getMixedOffsets()), frame.integers(op.getMixedSizes()),
            frame.integers(op.getMixedStrides())};
  }
};
/// Writes `source`, whose elements are those of the slice in order, into `destination`.
mlir::LogicalResult insertSlice(mlir::Operation *op, Tensor &destination, const Tensor &source,
                                const Slice &slice);

/// Fails unless every position is of a size whose sums cannot overflow.
mlir::LogicalResult expectPositions(mlir::Operation *op, llvm::ArrayRef<int64_t> positions);

/// Fails with a diagnostic unless `actual` equals `expected`.
mlir::LogicalResult expectEqual(mlir::Operation *op, llvm::StringRef what, int64_t expected, int64_t actual);

} // namespace heed
