// The attn dialect: registration, assembly of regions, and generated code. Operations lie in ScoreOps.cpp,
// ActivationOps.cpp, MaskOps.cpp, AttentionOps.cpp and LayerOps.cpp.
#include "dialect/Attn.h"
#include "dialect/Checks.h"
#include "dialect/LinearTiling.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heed::attn;

// Regions in the assembly: `keep(%batch, …) {…}`, whose types are known, or a block that lists its arguments.

static ParseResult parseRegion(OpAsmParser &parser, Region &region, const RegionSignature &signature,
                               TypeRange reads, ArrayAttr maps) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::OptionalParen))
    return failure();
  if (arguments.empty())
    return parser.parseRegion(region);
  SmallVector<Type> types = signature.getArgumentTypes(reads, maps);
  if (arguments.size() != types.size())
    return parser.emitError(loc, "expected ")
           << signature.name << " region of " << types.size() << " arguments, but got " << arguments.size();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  return parser.parseRegion(region, arguments);
}

static ParseResult parseOptionalRegion(OpAsmParser &parser, Region &region, const RegionSignature &signature,
                                       TypeRange reads, ArrayAttr maps) {
  bool isPresent = succeeded(parser.parseOptionalKeyword(signature.name));
  return isPresent ? parseRegion(parser, region, signature, reads, maps) : ParseResult(success());
}

static void printRegion(OpAsmPrinter &printer, Region &region, const RegionSignature &signature,
                        TypeRange reads, ArrayAttr maps) {
  if (region.empty())
    return;
  printer << ' ' << signature.name;
  bool isUsual = region.front().getArgumentTypes() == TypeRange(signature.getArgumentTypes(reads, maps));
  if (isUsual) {
    printer << '(';
    llvm::interleaveComma(region.getArguments(), printer, [&](BlockArgument argument) {
      printer.printRegionArgument(argument, {}, /*omitType=*/true);
    });
    printer << ')';
  }
  printer << ' ';
  printer.printRegion(region, /*printEntryBlockArgs=*/!isUsual);
}

static ParseResult parseKeep(OpAsmParser &parser, Region &keep, TypeRange reads, ArrayAttr maps) {
  RegionSignature signature = RegionSignature::keep(parser.getContext());
  return failure(parser.parseKeyword(signature.name) || parseRegion(parser, keep, signature, reads, maps));
}

static void printKeep(OpAsmPrinter &printer, Operation *op, Region &keep, TypeRange reads, ArrayAttr maps) {
  printRegion(printer, keep, RegionSignature::keep(op->getContext()), reads, maps);
}

static ParseResult parseScoreAndKeep(OpAsmParser &parser, Region &score, Region &keep, TypeRange reads,
                                     ArrayAttr maps) {
  MLIRContext *context = parser.getContext();
  return failure(parseOptionalRegion(parser, score, RegionSignature::score(context), reads, maps) ||
                 parseOptionalRegion(parser, keep, RegionSignature::keep(context), reads, maps));
}

static void printScoreAndKeep(OpAsmPrinter &printer, Operation *op, Region &score, Region &keep,
                              TypeRange reads, ArrayAttr maps) {
  printRegion(printer, score, RegionSignature::score(op->getContext()), reads, maps);
  printRegion(printer, keep, RegionSignature::keep(op->getContext()), reads, maps);
}

static ParseResult parseEpilogue(OpAsmParser &parser, Region &epilogue, TypeRange reads, ArrayAttr maps) {
  return parseOptionalRegion(parser, epilogue, RegionSignature::epilogue(parser.getContext()), reads, maps);
}

static void printEpilogue(OpAsmPrinter &printer, Operation *op, Region &epilogue, TypeRange reads,
                          ArrayAttr maps) {
  printRegion(printer, epilogue, RegionSignature::epilogue(op->getContext()), reads, maps);
}

static ParseResult parseTileEpilogue(OpAsmParser &parser, Region &epilogue, TypeRange reads, ArrayAttr maps) {
  if (parseEpilogue(parser, epilogue, reads, maps))
    return failure();
  if (epilogue.empty())
    TileMatmulOp::buildEpilogue(parser.getBuilder(), parser.getEncodedSourceLoc(parser.getNameLoc()),
                                epilogue);
  return success();
}

static void printTileEpilogue(OpAsmPrinter &printer, TileMatmulOp op, Region &epilogue, TypeRange reads,
                              ArrayAttr maps) {
  if (!op.hasIdentityEpilogue())
    printEpilogue(printer, op, epilogue, reads, maps);
}

// Enums in the assembly: bare keywords, without the space that starts their own form.

template <typename EnumAttr> static ParseResult parseKeyword(OpAsmParser &parser, EnumAttr &attribute) {
  auto value = FieldParser<decltype(attribute.getValue())>::parse(parser);
  if (failed(value))
    return failure();
  attribute = EnumAttr::get(parser.getContext(), *value);
  return success();
}

template <typename EnumAttr>
static void printKeyword(OpAsmPrinter &printer, Operation *, EnumAttr attribute) {
  printer << attribute.getValue();
}

// Generated code

#include "dialect/AttnDialect.cpp.inc"
#include "dialect/AttnEnums.cpp.inc"
#include "dialect/AttnInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/Attn.cpp.inc"

Operation *AttnDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

namespace {
/// Operations on values and their isolated regions mean the same in any function.
struct AttnInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void AttnDialect::initialize() {
  addInterfaces<AttnInliner>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/AttnAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Attn.cpp.inc"
      >();
  attachLinearTiling(*getContext());
}
