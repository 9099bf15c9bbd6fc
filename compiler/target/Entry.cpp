// The functions of an entry that callers reach; see Entry.h.
#include "compiler/target/Entry.h"
#include "compiler/target/CpuCheck.h"
#include "compiler/target/FunctionBuilder.h"
#include "runtime/heed_kernel.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace heed {

using Predicate = LLVM::ICmpPredicate;

/// No machine has so much memory; sums that saturate on the way end above it.
static constexpr int64_t workspaceLimit = int64_t(1) << 56;

namespace {

/// The forms of one entry: its uniform form and that one's workspace function, and the typed ones that C
/// calls.
class EntryEmitter {
public:
  EntryEmitter(ModuleOp module, const Target &target, const EntryInterface &entry, func::FuncOp body,
               func::FuncOp workspace, uint64_t parameterBytes, LLVM::LLVMFuncOp cpuCheck,
               StringRef defaultContext, bool contracts)
      : module(module), target(target), entry(entry), body(body), workspace(workspace),
        parameterBytes(parameterBytes), cpuCheck(cpuCheck), defaultContext(defaultContext),
        contracts(contracts), typeConverter(module.getContext()) {
    MLIRContext *context = module.getContext();
    i32 = IntegerType::get(context, 32);
    i64 = IntegerType::get(context, 64);
    pointer = LLVM::LLVMPointerType::get(context);
  }

  void emit() {
    emitUniformBytes();
    emitUniformCall();
    emitTypedBytes();
    emitTypedCall();
  }

private:
  struct Tensor {
    SmallVector<Value> dims, strides;
    Value data, isNull, count, bytes, solidBytes;
  };

  //===--- Sizes and shapes
  //-------------------------------------------------------------------------------===//

  SmallVector<Value> loadSizes(FunctionBuilder &code, Value array) {
    SmallVector<Value> sizes;
    for (unsigned i = 0; i < entry.sizes.size(); ++i)
      sizes.push_back(code.load(i64, array, i));
    return sizes;
  }

  Value evaluate(FunctionBuilder &code, const SizeExpr &expr, ValueRange sizes, Value &overflowed) {
    Value sum;
    for (auto [size, coefficient] : expr.terms) {
      Value term = sizes[size];
      if (coefficient != 1)
        term = code.checked<LLVM::SMulWithOverflowOp>(term, code.number(coefficient), overflowed);
      sum = sum ? code.checked<LLVM::SAddWithOverflowOp>(sum, term, overflowed) : term;
    }
    if (!sum)
      return code.number(expr.constant);
    return expr.constant ? code.checked<LLVM::SAddWithOverflowOp>(sum, code.number(expr.constant), overflowed)
                         : sum;
  }

  /// Fills in dims, count and, for a dense tensor, bytes. Returns whether they make no sense.
  Value measure(FunctionBuilder &code, const ArgumentInterface &argument, ValueRange sizes, Tensor &tensor) {
    Value isBad = code.number(code.getI1Type(), 0);
    for (const SizeExpr &expr : argument.shape) {
      Value dim = evaluate(code, expr, sizes, isBad);
      if (!expr.isConstant() && !isPlain(expr))
        isBad = code.either(isBad, code.compare(Predicate::slt, dim, code.number(0)));
      tensor.dims.push_back(dim);
    }
    tensor.count = code.number(1);
    for (Value dim : tensor.dims)
      tensor.count = code.checked<LLVM::SMulWithOverflowOp>(tensor.count, dim, isBad);
    tensor.bytes = code.checked<LLVM::SMulWithOverflowOp>(
        tensor.count, code.number(elementBytes(argument.elementType)), isBad);
    return isBad;
  }
  static bool isPlain(const SizeExpr &expr) {
    return expr.constant == 0 && expr.terms.size() == 1 && expr.terms[0].second == 1;
  }

  /// Ends with `result(kind, index)` where a size is negative or a relation is violated.
  void checkSizes(FunctionBuilder &code, ValueRange sizes, function_ref<Value(int, unsigned)> result) {
    for (auto [i, size] : llvm::enumerate(sizes))
      code.endIf(code.compare(Predicate::slt, size, code.number(0)), result(HEED_NEGATIVE_SIZE, i));
    for (auto [i, relation] : llvm::enumerate(entry.relations)) {
      Value overflowed = code.number(code.getI1Type(), 0);
      Value value = evaluate(code, relation.expression, sizes, overflowed);
      auto violated = relation.isEquality ? Predicate::ne : Predicate::slt;
      code.endIf(code.either(overflowed, code.compare(violated, value, code.number(0))),
                 result(HEED_RELATION_VIOLATED, i));
    }
  }

  //===--- Workspace
  //--------------------------------------------------------------------------------------===//

  /// Bytes that stand in for an optional argument which is null: its data, rounded up.
  Value defaultBytes(FunctionBuilder &code, const Tensor &tensor) {
    return code.both(code.add(tensor.bytes, code.number(HEED_ALIGNMENT - 1)), code.number(-HEED_ALIGNMENT));
  }

  /// Bytes of workspace, SIZE_MAX beyond all reason.
  Value requiredBytes(FunctionBuilder &code, ArrayRef<Tensor> tensors, Value threads) {
    SmallVector<Value> operands;
    Type index = code.getIndexType();
    auto toIndex = [&](Value value) { return arith::IndexCastOp::create(code, index, value).getResult(); };
    for (auto [tensor, type] : llvm::zip_first(tensors, body.getArgumentTypes()))
      for (auto [dim, extent] : llvm::zip_equal(tensor.dims, cast<MemRefType>(type).getShape()))
        if (ShapedType::isDynamic(extent))
          operands.push_back(toIndex(dim));
    operands.push_back(toIndex(threads));
    Value bytes =
        arith::IndexCastOp::create(code, i64, func::CallOp::create(code, workspace, operands).getResult(0));
    Value limit = code.number(workspaceLimit);
    Value isTooMuch = code.compare(Predicate::ugt, bytes, limit);
    for (auto [argument, tensor] : llvm::zip_equal(entry.arguments, tensors)) {
      if (!argument.defaultValue)
        continue;
      isTooMuch = code.either(isTooMuch, code.compare(Predicate::ugt, tensor.bytes, limit));
      bytes = code.add(bytes, defaultBytes(code, tensor));
    }
    isTooMuch = code.either(isTooMuch, code.compare(Predicate::ugt, bytes, limit));
    return code.select(isTooMuch, code.number(-1), bytes);
  }

  void emitUniformBytes() {
    FunctionBuilder code(
        createBaselineFunction(module, target, entry.symbol + ".bytes", i64, {pointer, i32}, false));
    SmallVector<Value> sizes = loadSizes(code, code.argument(0));
    Value unknown = code.number(-1);
    checkSizes(code, sizes, [&](int, unsigned) { return unknown; });
    code.endIf(code.compare(Predicate::slt, code.argument(1), code.number(i32, 1)), unknown);
    SmallVector<Tensor> tensors(entry.arguments.size());
    for (auto [argument, tensor] : llvm::zip_equal(entry.arguments, tensors))
      code.endIf(measure(code, argument, sizes, tensor), unknown);
    code.end(requiredBytes(code, tensors, code.argument(1)));
  }

  //===--- The call
  //---------------------------------------------------------------------------------------===//

  enum { Tensors, Sizes, Strides, Params, Workspace, WorkspaceBytes, Context };

  void emitUniformCall() {
    FunctionBuilder code(createBaselineFunction(module, target, entry.symbol + ".call", i32,
                                                {pointer, pointer, pointer, pointer, pointer, i64, pointer},
                                                false));
    auto status = [&](int kind, unsigned index) { return code.number(i32, kind | index << 8); };
    auto check = [&](Value isBad, int kind, unsigned index = 0) {
      if (contracts)
        code.endIf(isBad, status(kind, index));
    };

    if (cpuCheck) { // also without contracts: no caller can check this one
      Value isEnough = LLVM::CallOp::create(code, cpuCheck, ValueRange()).getResult();
      code.endIf(code.compare(Predicate::eq, isEnough, code.number(code.getI1Type(), 0)),
                 status(HEED_UNSUPPORTED_CPU, 0));
    }
    Value context =
        code.select(code.compare(Predicate::eq, code.argument(Context), code.null()),
                    LLVM::AddressOfOp::create(code, pointer, defaultContext), code.argument(Context));
    Value structSize = code.load(i32, context, offsetof(heed_context, struct_size) / 4);
    Value threads = code.load(i32, context, offsetof(heed_context, threads) / 4);
    check(code.either(code.compare(Predicate::ult, structSize, code.number(i32, HEED_CONTEXT_MIN_BYTES)),
                      code.compare(Predicate::slt, threads, code.number(i32, 1))),
          HEED_BAD_CONTEXT);
    Value parallel = code.load(pointer, context, offsetof(heed_context, parallel) / 8);
    threads = code.select(code.compare(Predicate::eq, parallel, code.null()), code.number(i32, 1), threads);

    SmallVector<Value> sizes = loadSizes(code, code.argument(Sizes));
    if (contracts)
      checkSizes(code, sizes, status);
    SmallVector<Tensor> tensors = loadTensors(code, sizes, check);
    checkOverlap(code, tensors, check);

    if (entry.hasParams) {
      check(code.compare(Predicate::eq, code.argument(Params), code.null()), HEED_NULL_PARAMS);
      check(code.misaligned(code.argument(Params), HEED_ALIGNMENT), HEED_MISALIGNED_PARAMS);
      checkOverlapWith(code, code.argument(Params), code.number(parameterBytes), /*onlyWritten=*/true,
                       tensors, check);
    }
    Value workspace = code.argument(Workspace), workspaceBytes = code.argument(WorkspaceBytes);
    if (contracts) {
      Value required = requiredBytes(code, tensors, threads);
      Value isNull = code.both(code.compare(Predicate::eq, workspace, code.null()),
                               code.compare(Predicate::ne, required, code.number(0)));
      check(code.either(isNull, code.compare(Predicate::ult, workspaceBytes, required)),
            HEED_WORKSPACE_TOO_SMALL);
      check(code.misaligned(workspace, HEED_ALIGNMENT), HEED_MISALIGNED_WORKSPACE);
      checkOverlapWith(code, workspace, required, /*onlyWritten=*/false, tensors, check);
      checkRanges(code, tensors, sizes, check);
    }
    fillDefaults(code, tensors, workspace, workspaceBytes);
    callBody(code, tensors, workspace, workspaceBytes, threads, context);
    code.end(status(HEED_OK, 0));
  }

  using Check = function_ref<void(Value, int, unsigned)>;

  SmallVector<Tensor> loadTensors(FunctionBuilder &code, ValueRange sizes, Check check) {
    SmallVector<Tensor> tensors(entry.arguments.size());
    unsigned stride = 0;
    for (auto [i, argument] : llvm::enumerate(entry.arguments)) {
      Tensor &tensor = tensors[i];
      tensor.data = code.load(pointer, code.argument(Tensors), i);
      tensor.isNull = code.compare(Predicate::eq, tensor.data, code.null());
      check(measure(code, argument, sizes, tensor), HEED_BAD_SHAPE, i);
      if (argument.strided)
        check(loadStrides(code, argument, tensor, stride), HEED_NEGATIVE_STRIDE, i);
      tensor.solidBytes = solidBytes(code, argument, tensor);
      if (!argument.defaultValue)
        check(code.both(tensor.isNull, code.compare(Predicate::ne, tensor.count, code.number(0))),
              HEED_NULL_TENSOR, i);
      if (elementBytes(argument.elementType) > 1)
        check(code.misaligned(tensor.data, elementBytes(argument.elementType)), HEED_MISALIGNED_TENSOR, i);
    }
    return tensors;
  }

  /// Returns whether a stride is negative. Their products with sizes are the caller's memory, so they fit.
  Value loadStrides(FunctionBuilder &code, const ArgumentInterface &argument, Tensor &tensor,
                    unsigned &next) {
    Value isNegative = code.number(code.getI1Type(), 0);
    for (unsigned i = 0; i < argument.numStrides(); ++i) {
      tensor.strides.push_back(code.load(i64, code.argument(Strides), next++));
      isNegative =
          code.either(isNegative, code.compare(Predicate::slt, tensor.strides.back(), code.number(0)));
    }
    if (argument.rank())
      tensor.strides.push_back(code.number(1));
    return isNegative;
  }

  /// What a tensor certainly fills from its beginning on: all its memory, or as much as has no gaps where it
  /// is strided. Between its rows another may lie.
  Value solidBytes(FunctionBuilder &code, const ArgumentInterface &argument, const Tensor &tensor) {
    Value bytes = tensor.bytes;
    if (!tensor.strides.empty()) {
      bytes = code.number(elementBytes(argument.elementType));
      Value isSolid = code.number(code.getI1Type(), 1), stride = code.number(1);
      for (auto [dim, actual] : llvm::reverse(llvm::zip_equal(tensor.dims, tensor.strides))) {
        isSolid = code.both(isSolid, code.either(code.compare(Predicate::eq, actual, stride),
                                                 code.compare(Predicate::eq, dim, code.number(1))));
        bytes = code.select(isSolid, code.multiply(bytes, dim), bytes);
        stride = code.multiply(stride, dim);
      }
      bytes = code.select(code.compare(Predicate::eq, tensor.count, code.number(0)), code.number(0), bytes);
    }
    return argument.defaultValue ? code.select(tensor.isNull, code.number(0), bytes) : bytes;
  }

  /// Whether two pieces of memory share a byte; an empty one lies nowhere.
  Value meet(FunctionBuilder &code, Value first, Value firstBytes, Value second, Value secondBytes) {
    Value a = LLVM::PtrToIntOp::create(code, i64, first), b = LLVM::PtrToIntOp::create(code, i64, second);
    Value met = code.both(code.compare(Predicate::ult, a, code.add(b, secondBytes)),
                          code.compare(Predicate::ult, b, code.add(a, firstBytes)));
    for (Value bytes : {firstBytes, secondBytes})
      met = code.both(met, code.compare(Predicate::ne, bytes, code.number(0)));
    return met;
  }

  void checkOverlap(FunctionBuilder &code, ArrayRef<Tensor> tensors, Check check) {
    for (auto [i, written] : llvm::enumerate(entry.arguments)) {
      if (written.role == Role::Input)
        continue;
      for (auto [j, other] : llvm::enumerate(entry.arguments)) {
        bool isPairSeen = j < i && other.role != Role::Input;
        if (j == i || isPairSeen)
          continue;
        check(meet(code, tensors[i].data, tensors[i].solidBytes, tensors[j].data, tensors[j].solidBytes),
              HEED_OVERLAP, std::max(i, j));
      }
    }
  }

  /// Of all tensors, or of those that are written, with other memory.
  void checkOverlapWith(FunctionBuilder &code, Value memory, Value bytes, bool onlyWritten,
                        ArrayRef<Tensor> tensors, Check check) {
    for (auto [i, argument] : llvm::enumerate(entry.arguments))
      if (!onlyWritten || argument.role != Role::Input)
        check(meet(code, tensors[i].data, tensors[i].solidBytes, memory, bytes), HEED_OVERLAP, i);
  }

  void checkRanges(FunctionBuilder &code, ArrayRef<Tensor> tensors, ValueRange sizes, Check check) {
    for (auto [i, argument] : llvm::enumerate(entry.arguments)) {
      if (!argument.range)
        continue;
      const Tensor &tensor = tensors[i];
      Value isBad = code.number(code.getI1Type(), 0);
      Value lower = evaluate(code, argument.range->first, sizes, isBad);
      Value upper = evaluate(code, argument.range->second, sizes, isBad);
      Value count = tensor.count;
      if (argument.defaultValue)
        count = code.select(tensor.isNull, code.number(0), count);
      Type type = argument.elementType;
      isBad = code.loop(count, isBad, [&, &tensor = tensor](Value j, Value isBad) {
        Value index = LLVM::LoadOp::create(code, type, code.element(type, tensor.data, j));
        if (type != i64)
          index = LLVM::SExtOp::create(code, i64, index);
        Value isOutside = code.either(code.compare(Predicate::slt, index, lower),
                                      code.compare(Predicate::sgt, index, upper));
        return code.either(isBad, isOutside);
      });
      check(isBad, HEED_INDEX_OUT_OF_RANGE, i);
    }
  }

  /// Points optional arguments that are null at their defaults, written to the front of the workspace.
  void fillDefaults(FunctionBuilder &code, MutableArrayRef<Tensor> tensors, Value &workspace,
                    Value &workspaceBytes) {
    for (auto [argument, tensor] : llvm::zip_equal(entry.arguments, tensors)) {
      if (!argument.defaultValue)
        continue;
      Type type = argument.elementType;
      bool isOne = *argument.defaultValue == "ones";
      TypedAttr attribute = isa<FloatType>(type) ? TypedAttr(code.getFloatAttr(type, isOne))
                                                 : TypedAttr(code.getIntegerAttr(type, isOne));
      Value fill = LLVM::ConstantOp::create(code, type, attribute);
      Value slot = workspace;
      code.loop(code.select(tensor.isNull, tensor.count, code.number(0)), code.number(0),
                [&](Value i, Value state) {
                  LLVM::StoreOp::create(code, fill, code.element(type, slot, i));
                  return state;
                });
      tensor.data = code.select(tensor.isNull, slot, tensor.data);
      Value bytes = defaultBytes(code, tensor);
      workspace = code.element(code.getI8Type(), workspace, bytes);
      workspaceBytes = LLVM::SubOp::create(code, workspaceBytes, bytes);
    }
  }

  void callBody(FunctionBuilder &code, ArrayRef<Tensor> tensors, Value workspace, Value workspaceBytes,
                Value threads, Value context) {
    SmallVector<Value> operands;
    for (auto [tensor, type] : llvm::zip_first(tensors, body.getArgumentTypes()))
      operands.push_back(describe(code, cast<MemRefType>(type), tensor.data, tensor.dims, tensor.strides));
    auto bytes = MemRefType::get({ShapedType::kDynamic}, code.getI8Type());
    // Parameters have no end that a body could ask for: their places in the image are known.
    Value params = entry.hasParams ? Value(code.argument(Params)) : code.null();
    operands.push_back(describe(code, bytes, params, {code.number(INT64_MAX)}, {}));
    operands.push_back(describe(code, bytes, workspace, {workspaceBytes}, {}));
    operands.push_back(arith::IndexCastOp::create(code, code.getIndexType(), threads));
    operands.push_back(context);
    func::CallOp::create(code, body, operands);
  }

  /// A memref over `data`; row-major where `strides` are empty.
  Value describe(FunctionBuilder &code, MemRefType type, Value data, ArrayRef<Value> dims,
                 ArrayRef<Value> strides) {
    SmallVector<Value> rowMajor(dims.size());
    Value stride = code.number(1);
    for (unsigned i = dims.size(); strides.empty() && i-- > 0; stride = code.multiply(stride, dims[i]))
      rowMajor[i] = stride;
    if (strides.empty())
      strides = rowMajor;
    Value descriptor = LLVM::UndefOp::create(code, typeConverter.convertType(type));
    auto set = [&](Value value, ArrayRef<int64_t> position) {
      descriptor = LLVM::InsertValueOp::create(code, descriptor, value, position);
    };
    set(data, 0);
    set(data, 1);
    set(code.number(0), 2);
    for (int64_t i = 0; i < int64_t(dims.size()); ++i) {
      set(dims[i], {3, i});
      set(strides[i], {4, i});
    }
    return UnrealizedConversionCastOp::create(code, TypeRange(type), ValueRange(descriptor)).getResult(0);
  }

  //===--- Typed forms: gather the arguments into arrays
  //---------------------------------------------------===//

  Value gather(FunctionBuilder &code, Type type, unsigned first, unsigned count) {
    if (count == 0)
      return code.null();
    Value array = LLVM::AllocaOp::create(code, pointer, type, code.number(count));
    for (unsigned i = 0; i < count; ++i)
      LLVM::StoreOp::create(code, code.argument(first + i),
                            LLVM::GEPOp::create(code, pointer, type, array, LLVM::GEPArg(i)));
    return array;
  }

  void emitTypedCall() {
    unsigned numTensors = entry.arguments.size(), numSizes = entry.sizes.size(),
             numStrides = entry.numStrides();
    SmallVector<Type> types(numTensors + entry.hasParams, pointer);
    types.append(numSizes + numStrides, i64);
    types.append({pointer, i64, pointer});
    FunctionBuilder code(createBaselineFunction(module, target, entry.symbol, i32, types, /*exported=*/true));
    unsigned sizes = numTensors + entry.hasParams, last = sizes + numSizes + numStrides;
    Value tensorArray = gather(code, pointer, 0, numTensors);
    Value sizeArray = gather(code, i64, sizes, numSizes);
    Value strideArray = gather(code, i64, sizes + numSizes, numStrides);
    Value params = entry.hasParams ? Value(code.argument(numTensors)) : code.null();
    code.end(LLVM::CallOp::create(code, TypeRange(i32), entry.symbol + ".call",
                                  ValueRange{tensorArray, sizeArray, strideArray, params, code.argument(last),
                                             code.argument(last + 1), code.argument(last + 2)})
                 .getResult());
  }

  void emitTypedBytes() {
    unsigned numSizes = entry.sizes.size();
    SmallVector<Type> types(numSizes, i64);
    types.push_back(i32);
    FunctionBuilder code(
        createBaselineFunction(module, target, entry.symbol + "_workspace_bytes", i64, types, true));
    Value sizes = gather(code, i64, 0, numSizes);
    code.end(LLVM::CallOp::create(code, TypeRange(i64), entry.symbol + ".bytes",
                                  ValueRange{sizes, code.argument(numSizes)})
                 .getResult());
  }

  ModuleOp module;
  const Target &target;
  const EntryInterface &entry;
  func::FuncOp body, workspace;
  uint64_t parameterBytes;
  LLVM::LLVMFuncOp cpuCheck;
  StringRef defaultContext;
  bool contracts;
  LLVMTypeConverter typeConverter;
  Type i32, i64, pointer;
};

} // namespace

void emitEntry(ModuleOp module, const Target &target, const EntryInterface &entry, func::FuncOp body,
               func::FuncOp workspace, uint64_t parameterBytes, LLVM::LLVMFuncOp cpuCheck,
               StringRef defaultContext, bool contracts) {
  EntryEmitter(module, target, entry, body, workspace, parameterBytes, cpuCheck, defaultContext, contracts)
      .emit();
}

} // namespace heed
