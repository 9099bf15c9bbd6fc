// heed explain: what became of each attention of a model, and why.
#include "compiler/driver/Build.h"
#include "compiler/driver/Formula.h"
#include "compiler/driver/MaskMap.h"
#include "compiler/driver/Remarks.h"
#include "compiler/target/Dimensions.h"

#include "dialect/Attn.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

using namespace llvm;
using nlohmann::ordered_json;

namespace heed::driver {

namespace {

struct ExplainOptions {
  std::string model;
  BuildOptions build;
  MapSizes sizes;
  std::string svg;
  bool json = false;
};

class Explain {
public:
  explicit Explain(const ExplainOptions &options) : options(options) {}
  void run();

private:
  ordered_json describe(attn::AttentionOp op);
  std::string workspaceOf(attn::AttentionOp op);
  void draw(mlir::ModuleOp module);

  const ExplainOptions &options;
  Context context;
  Progress progress{"explain"};
};

} // namespace

//===--- One attention
//------------------------------------------------------------------------------------===//

static StringRef nameOf(char letter) {
  return StringSwitch<StringRef>(StringRef(&letter, 1))
      .Case("b", "batch")
      .Case("h", "heads")
      .Case("q", "queries")
      .Case("k", "keys")
      .Case("d", "key_width")
      .Default("value_width");
}

static StringRef lettersOf(attn::AttentionOp op, mlir::Value operand) {
  attn::AttentionLayout letters = op.getLetters();
  return operand == op.getQuery()   ? letters.query
         : operand == op.getKey()   ? letters.key
         : operand == op.getValue() ? letters.value
                                    : StringRef();
}

/// The sizes of query, key or value as numbers and names: its letters say what a dynamic one is.
static std::vector<std::string> sizesOf(attn::AttentionOp op, mlir::Value operand) {
  attn::AttentionLayout letters = op.getLetters();
  bool isSquare = areEqual(op.getQuery(), letters.query.find('q'), op.getKey(), letters.key.find('k'));
  std::vector<std::string> sizes;
  for (auto [letter, size] :
       zip_equal(lettersOf(op, operand), cast<mlir::RankedTensorType>(operand.getType()).getShape()))
    sizes.push_back(!mlir::ShapedType::isDynamic(size)          ? std::to_string(size)
                    : letter == 'k' && isSquare                 ? nameOf('q').str()
                    : letter == 'h' && operand != op.getQuery() ? "key_heads"
                                                                : nameOf(letter).str());
  return sizes;
}

/// The steps that became this attention, in order: FuseAttention leaves their names and places as location.
static ordered_json stepsOf(attn::AttentionOp op) {
  ordered_json steps = ordered_json::array();
  if (auto fused = dyn_cast<mlir::FusedLoc>(op.getLoc()))
    for (mlir::Location part : fused.getLocations())
      if (auto named = dyn_cast<mlir::NameLoc>(part))
        steps.push_back({{"op", named.getName().str()}, {"at", placeOf(named.getChildLoc())}});
  return steps;
}

/// What a region of one score computes, an operation a line.
static ordered_json linesOf(mlir::Region &region) {
  ordered_json lines = ordered_json::array();
  if (region.empty())
    return lines;
  std::string text;
  raw_string_ostream os(text);
  mlir::AsmState state(region.getParentOfType<mlir::func::FuncOp>());
  for (mlir::Operation &op : region.front().without_terminator()) {
    text.clear();
    op.print(os, state);
    lines.push_back(text);
  }
  return lines;
}

/// Bytes of all the scores of one attention in f32, which fused are never in memory at once.
static std::string scoreBytesOf(attn::AttentionOp op) {
  attn::AttentionLayout letters = op.getLetters();
  std::vector<std::string> query = sizesOf(op, op.getQuery()), key = sizesOf(op, op.getKey());
  int64_t number = 4;
  std::string names;
  auto multiply = [&](const std::string &size) {
    if (int64_t value; to_integer(size, value))
      number *= value;
    else
      names += "·" + size;
  };
  for (auto [letter, size] : zip_equal(letters.query, query))
    if (letter != 'd')
      multiply(size);
  multiply(key[letters.key.find('k')]);
  return std::to_string(number) + names;
}

/// The workspace of this attention alone, compiled as a function of its own.
std::string Explain::workspaceOf(attn::AttentionOp op) {
  mlir::OpBuilder b(&*context);
  mlir::Location unknown = b.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(unknown, "alone"));
  for (mlir::NamedAttribute attribute : op->getParentOfType<mlir::ModuleOp>()->getAttrs())
    if (attribute.getName() == "heed.target" || attribute.getName() == "heed.instrument")
      (*module)->setAttr(attribute.getName(), attribute.getValue());

  // A size that a letter names has that name; others, of what the regions read, are numbered, and those of
  // the results are no part of the sum.
  SmallVector<mlir::Value> tensors;
  SmallVector<mlir::Type> inputs;
  SmallVector<std::vector<std::string>> shapes;
  std::vector<Formula> names;
  for (mlir::Value operand : op->getOperands()) {
    auto type = dyn_cast<mlir::RankedTensorType>(operand.getType());
    if (!type)
      continue;
    tensors.push_back(operand);
    inputs.push_back(type);
    shapes.push_back(lettersOf(op, operand).empty() ? std::vector<std::string>() : sizesOf(op, operand));
    for (auto [i, size] : enumerate(type.getShape()))
      if (mlir::ShapedType::isDynamic(size))
        names.push_back({i < shapes.back().size() ? shapes.back()[i] : "n" + std::to_string(names.size())});
  }
  for (mlir::Type type : op->getResultTypes())
    for (int64_t size : cast<mlir::RankedTensorType>(type).getShape())
      if (mlir::ShapedType::isDynamic(size))
        names.push_back({});
  names.push_back({"threads"});

  b.setInsertionPointToEnd(module->getBody());
  auto function =
      mlir::func::FuncOp::create(b, unknown, "attention", b.getFunctionType(inputs, op->getResultTypes()));
  for (auto [number, shape] : enumerate(shapes))
    if (!shape.empty()) {
      auto attributes = map_to_vector(shape, [&](const std::string &size) -> mlir::Attribute {
        int64_t value;
        return to_integer(size, value) ? mlir::Attribute(b.getI64IntegerAttr(value)) : b.getStringAttr(size);
      });
      function.setArgAttr(number, "attn.shape", b.getArrayAttr(attributes));
    }
  b.setInsertionPointToStart(function.addEntryBlock());
  mlir::IRMapping mapping;
  mapping.map(tensors, function.getArguments());
  for (mlir::Value operand : op->getOperands())
    if (!mapping.contains(operand)) // a position: no size depends on it
      mapping.map(operand, mlir::arith::ConstantIndexOp::create(b, unknown, 0).getResult());
  mlir::func::ReturnOp::create(b, unknown, b.clone(*op, mapping)->getResults());

  mlir::PassManager pm(&*context, mlir::ModuleOp::getOperationName());
  buildPipeline(pm, Phase::Graph, Phase::Buffer, {});
  if (failed(pm.run(*module)))
    context.fail();
  auto bytes = module->lookupSymbol<mlir::func::FuncOp>("attention.workspace");
  return formulaOf(bytes, names).text;
}

ordered_json Explain::describe(attn::AttentionOp op) {
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  return {{"function", function.getName().str()},
          {"at", placeOf(op.getLoc())},
          {"steps", stepsOf(op)},
          {"layout", op.getLayout().str()},
          {"query", sizesOf(op, op.getQuery())},
          {"key", sizesOf(op, op.getKey())},
          {"value", sizesOf(op, op.getValue())},
          {"scale", op.getScale().convertToDouble()},
          {"score", linesOf(op.getScore())},
          {"mask", op.hasKeep() ? mapMask(op, options.sizes, linesOf(op.getKeep())) : ordered_json::object()},
          {"workspace", workspaceOf(op)},
          {"score_bytes", scoreBytesOf(op)}};
}

//===--- All of them
//--------------------------------------------------------------------------------------===//

static std::string show(const ordered_json &place) {
  return place.is_null() ? "?"
                         : fmt::format("{}:{}:{}", place["file"].get<std::string>(), place["line"].get<int>(),
                                       place["column"].get<int>());
}

static void printLines(StringRef label, const ordered_json &lines) {
  for (const ordered_json &line : lines) {
    fmt::print("  {:<10}{}\n", label, line.get<std::string>());
    label = "";
  }
}

static void printFused(const ordered_json &fused) {
  fmt::print("{}: attention of {} is fused\n", show(fused["at"]), fused["function"].get<std::string>());
  std::vector<std::string> steps;
  for (const ordered_json &step : fused["steps"])
    steps.push_back(step["op"].get<std::string>() + " at " + show(step["at"]));
  printLines("steps", steps);
  for (const char *operand : {"query", "key", "value"})
    fmt::print("  {:<10}[{}]\n", operand, fmt::join(fused[operand].get<std::vector<std::string>>(), ", "));
  fmt::print("  {:<10}{}\n  {:<10}{}\n", "layout", fused["layout"].get<std::string>(), "scale",
             fused["scale"].get<double>());
  printLines("score", fused["score"]);
  for (auto [label, part] : {std::pair("mask", "keep"), {"", "analysis"}, {"tiles", "map"}})
    if (fused["mask"].contains(part))
      printLines(label, fused["mask"][part]);
  fmt::print("  {:<10}{} bytes\n", "workspace", fused["workspace"].get<std::string>());
  fmt::print("  {:<10}{} bytes, the scores in f32, never in memory\n", "saved",
             fused["score_bytes"].get<std::string>());
}

static void printRefused(const ordered_json &refused) {
  fmt::print("{}: [{}] {}\n", show(refused["at"]), refused["code"].get<std::string>(),
             refused["message"].get<std::string>());
  for (const ordered_json &note : refused["notes"])
    fmt::print("  {}: {}\n", show(note["at"]), note["message"].get<std::string>());
}

/// Draws the first mask there is.
void Explain::draw(mlir::ModuleOp module) {
  attn::AttentionOp masked;
  module.walk([&](attn::AttentionOp op) {
    if (op.hasKeep() && !masked)
      masked = op;
  });
  if (!masked)
    fail(options.svg, "expected a fused attention with a mask to draw, but there is none");
  Outputs outputs;
  drawMask(outputs.open(options.svg), masked, options.sizes);
  outputs.commit();
}

void Explain::run() {
  BuildOptions build = options.build;
  build.remarks = true;
  Build model(context, options.model, build, progress);
  if (model.getPhase() > Phase::Fused)
    fail(options.model,
         "expected a module in phase graph or fused, but it is in phase " + phaseName(model.getPhase()));
  ordered_json refused = ordered_json::array(), fused = ordered_json::array(),
               epilogues = ordered_json::array();
  {
    RemarkTaker taker(&*context, [&](ordered_json remark) {
      bool ofLayer = StringRef(remark["code"].get_ref<const std::string &>()).starts_with("epilogue-");
      (ofLayer ? epilogues : refused).push_back(std::move(remark));
    });
    model.lower(Phase::Fused);
  }
  model.getModule().walk([&](attn::AttentionOp op) { fused.push_back(describe(op)); });
  if (!options.svg.empty())
    draw(model.getModule());
  if (options.json) {
    fmt::print("{}\n",
               ordered_json{{"fused", fused}, {"refused", refused}, {"epilogues", epilogues}}.dump(2));
    return;
  }
  for (const ordered_json &one : fused)
    printFused(one);
  for (const ordered_json *remarks : {&epilogues, &refused})
    for (const ordered_json &one : *remarks)
      printRefused(one);
  fmt::print("{} fused, {} not\n", fused.size(), refused.size());
}

void addExplain(CLI::App &app) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App *command = app.add_subcommand(
      "explain",
      "Say what became of each attention of a model, fused or why not, and what does not join a layer");
  command->add_option("MODEL", options->model, "An .mlir file or a Hugging Face folder")->required();
  options->build.addFlags(*command, /*artifact=*/false);
  auto size = CLI::Range(int64_t(1), int64_t(1) << 20);
  command->add_option("--queries", options->sizes.queries, "Queries of the masks drawn, where not static")
      ->check(size)
      ->capture_default_str();
  command
      ->add_option("--keys", options->sizes.keys,
                   "Keys of the masks drawn, where not static and not as many as queries")
      ->check(size)
      ->capture_default_str();
  command->add_option("--svg", options->svg, "Draw the first mask to this file");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example:\n  heed explain attention.mlir --svg mask.svg");
  command->callback([options] { Explain(*options).run(); });
}

} // namespace heed::driver
