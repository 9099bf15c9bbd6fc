#include "compiler/import/HuggingFace.h"

#include "compiler/Error.h"
#include "compiler/import/Family.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using nlohmann::json;
using namespace llvm;

namespace heed {

/// The families, by the model_type of config.json.
static constexpr struct {
  StringLiteral modelType;
  Expected<ModelText> (*import)(const ModelFolder &);
} families[] = {
    {"bert", importBert}, // MiniLM too
    {"distilbert", importDistilBert},
    {"roberta", importRoberta},
    {"xlm-roberta", importRoberta},
};

static std::string joinPath(StringRef folder, const Twine &name) {
  SmallString<128> path = folder;
  sys::path::append(path, name);
  return path.str().str();
}

//===--- Pooling: the modules of the sentence-transformers library
//-----------------------------------------===//

namespace {

/// How hidden states become one vector.
struct Pooling {
  enum { None, Mean, Cls } mode = None;
  bool normalize = false;
  /// Where the transformer itself lies in the folder.
  std::string transformer;
  std::string configPath;
  int64_t width = 0;
};

} // namespace

static Error readPoolingConfig(StringRef path, Pooling &pooling) {
  Expected<json> config = readJsonObject(path);
  if (!config)
    return config.takeError();
  Fields fields(*config, path);
  pooling.configPath = path.str();
  StringRef dimension =
      fields.has("embedding_dimension") ? "embedding_dimension" : "word_embedding_dimension";
  pooling.width = fields.integer(dimension, 1, 1 << 20);
  fields.ignore({"include_prompt"}); // prompts are the tokenizer's
  if (fields.has("pooling_mode")) {
    pooling.mode = fields.string("pooling_mode", {"mean", "cls"}) == "mean" ? Pooling::Mean : Pooling::Cls;
    return fields.finish();
  }
  bool mean = fields.boolean("pooling_mode_mean_tokens", false);
  bool cls = fields.boolean("pooling_mode_cls_token", false);
  for (StringRef name : {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                         "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"})
    fields.expect(name, false);
  if (Error error = fields.finish())
    return error;
  if (mean == cls)
    return makeError("{}: expected either pooling_mode_mean_tokens or pooling_mode_cls_token, but got {}",
                     path.str(), mean ? "both" : "neither");
  pooling.mode = mean ? Pooling::Mean : Pooling::Cls;
  return Error::success();
}

/// Reads modules.json: a transformer, then at most one pooling and one normalization.
static Expected<Pooling> readPooling(StringRef folder) {
  Pooling pooling;
  std::string path = joinPath(folder, "modules.json");
  if (!sys::fs::exists(path))
    return pooling;
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return makeError("{}: {}", path, buffer.getError().message());
  Expected<json> modules = parseJson((*buffer)->getBuffer(), path);
  if (!modules)
    return modules.takeError();
  if (!modules->is_array() || modules->empty())
    return makeError("{}: expected a list of modules, but got a {}", path, modules->type_name());

  for (const auto &[number, module] : enumerate(*modules)) {
    std::string place = fmt::format("{}: module {}", path, number);
    if (!module.is_object())
      return makeError("{}: expected an object, but got a {}", place, module.type_name());
    Fields fields(module, place);
    fields.ignore({"idx", "name", "kwargs"});
    std::string part = fields.string("path"), type = fields.string("type");
    if (Error error = fields.finish())
      return error;
    StringRef kind = StringRef(type).rsplit('.').second;
    if (part.find("..") != std::string::npos || sys::path::is_absolute(part))
      return makeError("{}: expected a path inside the folder, but got {}", place, inQuotes(part));

    if (number == 0 && kind == "Transformer")
      pooling.transformer = part;
    else if (number == 1 && kind == "Pooling") {
      if (Error error = readPoolingConfig(joinPath(folder, part + "/config.json"), pooling))
        return error;
    } else if (number == 2 && kind == "Normalize" && pooling.mode != Pooling::None)
      pooling.normalize = true;
    else
      return makeError("{}: expected Transformer, Pooling and Normalize in this order, but got {}", place,
                       inQuotes(type));
  }
  return pooling;
}

static constexpr StringLiteral meanPooling = R"(
  // The mean of the hidden states of the tokens that count.
  func.func private @mean_pooling(%hidden: !hidden, %attention_mask: !ids) -> !embedding {
    %zero = arith.constant 0.0 : f32
    %first = arith.constant 0 : index
    %batch = tensor.dim %hidden, %first : !hidden
    %vectors = tensor.empty(%batch) : !embedding
    %numbers = tensor.empty(%batch) : tensor<?xf32>
    %no_sum = linalg.fill ins(%zero : f32) outs(%vectors : !embedding) -> !embedding
    %no_count = linalg.fill ins(%zero : f32) outs(%numbers : tensor<?xf32>) -> tensor<?xf32>
    %sum = linalg.generic {
        indexing_maps = [affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (b, s)>,
                         affine_map<(b, s, d) -> (b, d)>],
        iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%hidden, %attention_mask : !hidden, !ids) outs(%no_sum : !embedding) {
    ^bb0(%x: f32, %mask: i64, %sum_so_far: f32):
      %padding = arith.constant 0 : i64
      %counts = arith.cmpi ne, %mask, %padding : i64
      %with_x = arith.addf %sum_so_far, %x : f32
      %next = arith.select %counts, %with_x, %sum_so_far : f32
      linalg.yield %next : f32
    } -> !embedding
    %count = linalg.generic {
        indexing_maps = [affine_map<(b, s) -> (b, s)>, affine_map<(b, s) -> (b)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%attention_mask : !ids) outs(%no_count : tensor<?xf32>) {
    ^bb0(%mask: i64, %count_so_far: f32):
      %one = arith.sitofp %mask : i64 to f32
      %next = arith.addf %count_so_far, %one : f32
      linalg.yield %next : f32
    } -> tensor<?xf32>
    %mean = linalg.generic {
        indexing_maps = [affine_map<(b, d) -> (b, d)>, affine_map<(b, d) -> (b)>, affine_map<(b, d) -> (b, d)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%sum, %count : !embedding, tensor<?xf32>) outs(%vectors : !embedding) {
    ^bb0(%total: f32, %tokens: f32, %unused: f32):
      %least = arith.constant 1.0e-9 : f32
      %divisor = arith.maximumf %tokens, %least : f32
      %quotient = arith.divf %total, %divisor : f32
      linalg.yield %quotient : f32
    } -> !embedding
    return %mean : !embedding
  }
)";

static constexpr StringLiteral clsPooling = R"(
  // The hidden state of the first token.
  func.func private @cls_pooling(%hidden: !hidden, %attention_mask: !ids) -> !embedding {
    %first = arith.constant 0 : index
    %batch = tensor.dim %hidden, %first : !hidden
    %cls = tensor.extract_slice %hidden[0, 0, 0] [%batch, 1, ${width}] [1, 1, 1] : !hidden to !embedding
    return %cls : !embedding
  }
)";

static constexpr StringLiteral normalization = R"(
  // Every vector divided by its length.
  func.func private @normalize(%embedding: !embedding) -> !embedding {
    %zero = arith.constant 0.0 : f32
    %first = arith.constant 0 : index
    %batch = tensor.dim %embedding, %first : !embedding
    %vectors = tensor.empty(%batch) : !embedding
    %numbers = tensor.empty(%batch) : tensor<?xf32>
    %no_sum = linalg.fill ins(%zero : f32) outs(%numbers : tensor<?xf32>) -> tensor<?xf32>
    %square = linalg.generic {
        indexing_maps = [affine_map<(b, d) -> (b, d)>, affine_map<(b, d) -> (b)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%embedding : !embedding) outs(%no_sum : tensor<?xf32>) {
    ^bb0(%x: f32, %sum: f32):
      %product = arith.mulf %x, %x : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
    } -> tensor<?xf32>
    %unit = linalg.generic {
        indexing_maps = [affine_map<(b, d) -> (b, d)>, affine_map<(b, d) -> (b)>, affine_map<(b, d) -> (b, d)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%embedding, %square : !embedding, tensor<?xf32>) outs(%vectors : !embedding) {
    ^bb0(%x: f32, %sum: f32, %unused: f32):
      %least = arith.constant 1.0e-12 : f32
      %length = math.sqrt %sum : f32
      %divisor = arith.maximumf %length, %least : f32
      %quotient = arith.divf %x, %divisor : f32
      linalg.yield %quotient : f32
    } -> !embedding
    return %unit : !embedding
  }
)";

//===--- The folder
//---------------------------------------------------------------------------------------===//

/// A name in C made of the folder's.
static std::string moduleName(StringRef folder) {
  SmallString<128> path;
  if (sys::fs::real_path(folder, path))
    path = folder;
  std::string name = sys::path::filename(path).str();
  for (char &c : name)
    c = isAlnum(c) ? c : '_';
  return name.empty() || isDigit(name[0]) ? "model_" + name : name;
}

/// The file that holds or names the weights.
static Expected<std::string> findWeights(StringRef folder) {
  for (StringRef name : {"model.safetensors", "model.safetensors.index.json"})
    if (std::string path = joinPath(folder, name); sys::fs::exists(path))
      return path;
  return makeError("{}: expected model.safetensors or model.safetensors.index.json, but there is neither",
                   folder.str());
}

static constexpr StringLiteral moduleText = R"(// ${title} Written by heed import.
!ids = tensor<?x?xi64>
${aliases}
module @${name} attributes {heed.params = ${params}} {
  func.func @encode(
${inputs}) -> (
      !hidden {attn.name = "last_hidden_state", attn.shape = ["batch", "seq", ${width}]}${pooled_type})
      attributes {attn.require = [${requirements}]} {
${body}${pooling}
    return ${hidden}${pooled} : !hidden${pooled_alias}
  }
${functions}}
)";

static std::string assemble(const ModelText &model, const Pooling &pooling, const std::string &name,
                            const std::string &params) {
  std::map<std::string, std::string> values = {{"title", model.title},
                                               {"aliases", model.aliases},
                                               {"functions", model.functions},
                                               {"inputs", model.inputs},
                                               {"requirements", model.requirements},
                                               {"body", model.body},
                                               {"hidden", model.hidden},
                                               {"width", std::to_string(model.width)},
                                               {"name", name},
                                               {"params", inQuotes(params)},
                                               {"pooling", ""},
                                               {"pooled", ""},
                                               {"pooled_alias", ""},
                                               {"pooled_type", ""}};
  if (pooling.mode == Pooling::None)
    return fillText(moduleText, values);

  StringRef function = pooling.mode == Pooling::Mean ? "mean_pooling" : "cls_pooling";
  values["aliases"] += fmt::format("!embedding = tensor<?x{}xf32>\n", model.width);
  values["functions"] += fillText(pooling.mode == Pooling::Mean ? meanPooling : clsPooling, values);
  values["pooling"] =
      fmt::format("\n    // The sentence.\n    %pooled = func.call @{}({}, %attention_mask) : (!hidden, "
                  "!ids) -> !embedding",
                  function.str(), model.hidden);
  values["pooled"] = ", %pooled";
  if (pooling.normalize) {
    values["functions"] += normalization;
    values["pooling"] += "\n    %sentence = func.call @normalize(%pooled) : (!embedding) -> !embedding";
    values["pooled"] = ", %sentence";
  }
  if (pooling.mode == Pooling::Cls)
    values["requirements"] = "\"seq >= 1\", " + values["requirements"];
  values["pooled_alias"] = ", !embedding";
  values["pooled_type"] =
      fmt::format(",\n      !embedding {{attn.name = \"sentence_embedding\", attn.shape = [\"batch\", {}]}}",
                  model.width);
  return fillText(moduleText, values);
}

Expected<std::string> importHuggingFace(StringRef folder, StringRef outputFolder) {
  if (!sys::fs::is_directory(folder))
    return makeError("{}: expected a folder with config.json and model.safetensors, but it is not a folder",
                     folder.str());
  Expected<Pooling> pooling = readPooling(folder);
  if (!pooling)
    return pooling.takeError();

  std::string inner = pooling->transformer.empty() ? folder.str() : joinPath(folder, pooling->transformer);
  ModelFolder model;
  model.configPath = joinPath(inner, "config.json");
  Expected<json> config = readJsonObject(model.configPath);
  if (!config)
    return config.takeError();
  model.config = std::move(*config);

  SmallVector<StringRef> known;
  for (const auto &family : families)
    known.push_back(family.modelType);
  Fields fields(model.config, model.configPath);
  std::string modelType = fields.string("model_type", known);
  const auto *family = find_if(families, [&](const auto &entry) { return entry.modelType == modelType; });
  if (family == std::end(families))
    return fields.finish();

  Expected<std::string> weights = findWeights(inner);
  if (!weights)
    return weights.takeError();
  Expected<Checkpoint> checkpoint = Checkpoint::open(*weights);
  if (!checkpoint)
    return checkpoint.takeError();
  model.checkpoint = std::move(*checkpoint);

  Expected<ModelText> text = family->import(model);
  if (!text)
    return text.takeError();
  if (pooling->mode != Pooling::None && pooling->width != text->width)
    return makeError("{}: expected the width {} of the hidden states, but got {}", pooling->configPath,
                     text->width, pooling->width);
  return assemble(*text, *pooling, moduleName(folder), relativePath(*weights, outputFolder));
}

} // namespace heed
