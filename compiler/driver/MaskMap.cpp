#include "compiler/driver/MaskMap.h"

#include "compiler/passes/MaskReport.h"
#include "compiler/target/Target.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using nlohmann::ordered_json;

namespace heed::driver {

namespace {
struct MappedMask {
  MaskAnalysis analysis;
  TileMap map;
};
} // namespace

static MappedMask analyse(attn::AttentionOp op, const MapSizes &sizes) {
  Tuning tuning;
  if (mlir::FailureOr<Target> target = Target::of(op); succeeded(target))
    tuning = target->tuning;
  MaskAnalysis analysis = MaskAnalysis::of(MaskContext::of(op, tuning.queries));
  attn::AttentionLayout letters = op.getLetters();
  auto sizeOf = [](mlir::Value tensor, StringRef in, char letter, int64_t otherwise) {
    int64_t size = cast<mlir::RankedTensorType>(tensor.getType()).getDimSize(in.find(letter));
    return mlir::ShapedType::isDynamic(size) ? otherwise : size;
  };
  std::vector<int64_t> values(maskVariable::firstFree);
  values[maskVariable::queryLength] = sizeOf(op.getQuery(), letters.query, 'q', sizes.queries);
  values[maskVariable::keyLength] = sizeOf(op.getKey(), letters.key, 'k', sizes.keys);
  values[maskVariable::keyLength] = analysis.variables.evaluate(analysis.keyLength, values);
  TileMap map = TileMap::of(analysis, values, {tuning.queries, tuning.askedQueries, panelWidth, tuning.keys});
  return {std::move(analysis), std::move(map)};
}

static std::vector<std::string> splitLines(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return {lines.begin(), lines.end()};
}

ordered_json mapMask(attn::AttentionOp op, const MapSizes &sizes, const std::vector<std::string> &keep) {
  auto [analysis, map] = analyse(op, sizes);
  std::string said, drawn;
  raw_string_ostream sayer(said), drawer(drawn);
  printMask(sayer, op, analysis);
  map.print(drawer);
  return {{"keep", keep}, {"analysis", splitLines(said)}, {"map", splitLines(drawn)}};
}

void drawMask(raw_ostream &os, attn::AttentionOp op, const MapSizes &sizes) {
  analyse(op, sizes).map.printSvg(os);
}

} // namespace heed::driver
