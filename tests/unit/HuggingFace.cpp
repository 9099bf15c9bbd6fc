#include "compiler/import/HuggingFace.h"

#include "compiler/import/Family.h"
#include "tests/unit/TemporaryFolder.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <fmt/format.h>

using namespace heed;
using namespace heed::test;
using nlohmann::json;

namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

/// A folder with a model of one layer of width 4, which a test spoils in one place.
struct HuggingFaceTest : testing::Test {
  TemporaryFolder folder;
  json config = {{"model_type", "bert"},     {"vocab_size", 10},
                 {"hidden_size", 4},         {"num_attention_heads", 2},
                 {"num_hidden_layers", 1},   {"intermediate_size", 6},
                 {"type_vocab_size", 2},     {"max_position_embeddings", 8},
                 {"hidden_act", "gelu"},     {"layer_norm_eps", 1e-12},
                 {"hidden_dropout_prob", .1}};
  Shapes weights = {{"embeddings.word_embeddings.weight", {10, 4}},
                    {"embeddings.position_embeddings.weight", {8, 4}},
                    {"embeddings.token_type_embeddings.weight", {2, 4}},
                    {"embeddings.LayerNorm.weight", {4}},
                    {"embeddings.LayerNorm.bias", {4}}};
  StorageType type = StorageType::F32;
  json modules, pooling;

  HuggingFaceTest() {
    std::string layer = "encoder.layer.0.";
    for (std::string name :
         {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"})
      addLinear(layer + name, 4, 4);
    addLinear(layer + "intermediate.dense", 6, 4);
    addLinear(layer + "output.dense", 4, 6);
    for (std::string name : {"attention.output.LayerNorm", "output.LayerNorm"})
      weights[layer + name + ".weight"] = weights[layer + name + ".bias"] = {4};
  }
  void addLinear(const std::string &name, int64_t out, int64_t in) {
    weights[name + ".weight"] = {out, in};
    weights[name + ".bias"] = {out};
  }

  /// The text, or the message of the error less the folder's path.
  std::string import() {
    folder.write("model/config.json", config.dump());
    std::vector<TensorToWrite> tensors;
    std::string data(1024, '\0');
    for (const auto &[name, shape] : weights) {
      size_t bytes = storageTypeBytes(type);
      for (int64_t dim : shape)
        bytes *= dim;
      tensors.push_back({name, type, shape, llvm::StringRef(data).take_front(bytes)});
    }
    std::string file;
    llvm::raw_string_ostream os(file);
    writeSafetensors(os, tensors);
    folder.write("model/model.safetensors", file);
    if (!modules.is_null())
      folder.write("model/modules.json", modules.dump());
    if (!pooling.is_null())
      folder.write("model/1_Pooling/config.json", pooling.dump());
    return importAsIs();
  }
  std::string importAsIs() {
    llvm::Expected<std::string> text = importHuggingFace(folder.file("model"), folder.file("model"));
    if (text)
      return *text;
    std::string message = llvm::toString(text.takeError());
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.rfind(folder.file("model"), 0), 0u) << message;
    return message.substr(folder.file("model").size());
  }
};

TEST_F(HuggingFaceTest, WritesTheModel) {
  std::string text = import();
  EXPECT_PRED2(contains, text, "module @model attributes {heed.params = \"model.safetensors\"}");
  EXPECT_PRED2(contains, text, "attn.range = [0, 9]");
  EXPECT_PRED2(contains, text, "attn.require = [\"seq <= 8\"]");
  EXPECT_PRED2(contains, text, "!heads = tensor<?x?x2x2xf32>");
  EXPECT_PRED2(contains, text, "%active = attn.gelu %wide : !inner");
  EXPECT_PRED2(contains, text, "epsilon(1.0e-12)");
  EXPECT_FALSE(contains(text, "sentence_embedding"));
}

TEST_F(HuggingFaceTest, NamesWeightsRelativeToTheOutput) {
  import();
  folder.write("out/x", "");
  auto text = importHuggingFace(folder.file("model"), folder.file("out"));
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  EXPECT_PRED2(contains, *text, "heed.params = \"../model/model.safetensors\"");
}

TEST_F(HuggingFaceTest, NamesTheModuleByTheFolder) {
  import();
  for (auto [name, module] : {std::pair("all-MiniLM.v2", "@all_MiniLM_v2 "), {"2nd", "@model_2nd "}}) {
    std::filesystem::copy(folder.file("model"), folder.file(name));
    auto text = importHuggingFace(folder.file(name), folder.file(""));
    ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
    EXPECT_PRED2(contains, *text, module);
  }
}

TEST_F(HuggingFaceTest, AcceptsOtherNamesOfWeights) {
  Shapes renamed;
  for (auto &[name, shape] : weights) {
    llvm::StringRef stem = name;
    std::string then = stem.consume_back("LayerNorm.weight") ? "LayerNorm.gamma"
                       : stem.consume_back("LayerNorm.bias") ? "LayerNorm.beta"
                                                             : "";
    renamed["bert." + stem.str() + then] = shape;
  }
  weights = renamed;
  std::string text = import();
  EXPECT_PRED2(contains, text, "attn.param \"bert.embeddings.LayerNorm.gamma\" : !vector");
  EXPECT_PRED2(contains, text, "attn.param \"bert.encoder.layer.0.output.LayerNorm.beta\" : !vector");
}

TEST_F(HuggingFaceTest, LeavesHeadsOut) {
  weights["pooler.dense.weight"] = {4, 4};
  weights["cls.predictions.bias"] = {10};
  EXPECT_FALSE(contains(import(), "pooler"));
}

TEST_F(HuggingFaceTest, RefusesFoldersWithoutAModel) {
  EXPECT_EQ(importAsIs(),
            ": expected a folder with config.json and model.safetensors, but it is not a folder");
  std::filesystem::create_directory(folder.file("model"));
  EXPECT_EQ(importAsIs(), "/config.json: No such file or directory");
  folder.write("model/config.json", config.dump());
  EXPECT_EQ(importAsIs(),
            ": expected model.safetensors or model.safetensors.index.json, but there is neither");
  folder.write("model/model.safetensors", "");
  EXPECT_EQ(importAsIs(), "/model.safetensors: expected a safetensors file of at least 8 bytes, but got 0");
  for (std::string garbage : {"", "{", "{]", "\xff\xfe", "{\"a\":1,}", "nul"}) {
    folder.write("model/config.json", garbage);
    EXPECT_PRED2(contains, importAsIs(), "expected JSON, but got a syntax error") << garbage;
  }
  folder.write("model/config.json", "{\"hidden_size\":1e999}");
  EXPECT_EQ(importAsIs(), "/config.json: expected JSON, but got a number out of range");
  folder.write("model/config.json", "{\"hidden_size\":4,\"hidden_size\":8}");
  EXPECT_EQ(importAsIs(), "/config.json: expected names to occur once, but got \"hidden_size\" twice");
  folder.write("model/config.json", "[1]");
  EXPECT_EQ(importAsIs(), "/config.json: expected a JSON object, but got [1]");
}

TEST_F(HuggingFaceTest, RefusesUnknownFamilies) {
  std::string wants = "/config.json: \"model_type\": expected one of \"bert\", \"distilbert\", \"roberta\", "
                      "\"xlm-roberta\", but got ";
  config["model_type"] = "gpt2";
  EXPECT_EQ(import(), wants + "\"gpt2\"");
  config["model_type"] = 7;
  EXPECT_EQ(import(), wants + "7");
  config.erase("model_type");
  EXPECT_EQ(import(), wants + "nothing");
}

TEST_F(HuggingFaceTest, RefusesEveryMissingSize) {
  for (std::string field : {"vocab_size", "hidden_size", "num_attention_heads", "num_hidden_layers",
                            "intermediate_size", "type_vocab_size", "max_position_embeddings"}) {
    json whole = config;
    config.erase(field);
    std::string message = import();
    EXPECT_PRED2(contains, message, "/config.json: \"" + field + "\": expected an integer in [1, ");
    EXPECT_PRED2(contains, message, ", but got nothing");
    config = whole;
  }
}

TEST_F(HuggingFaceTest, RefusesSizes) {
  for (json value : {json(-1), json(0), json(1e3), json("4"), json(true), json(nullptr), json::array({4}),
                     json(INT64_MAX), json(UINT64_MAX), json(1e30)}) {
    config["hidden_size"] = value;
    EXPECT_EQ(import(),
              "/config.json: \"hidden_size\": expected an integer in [1, 1048576], but got " + value.dump());
  }
  config["hidden_size"] = 4;
  config["num_attention_heads"] = 3;
  EXPECT_EQ(import(), "/config.json: \"num_attention_heads\": expected a divisor of the width 4, but got 3");
}

TEST_F(HuggingFaceTest, RefusesOptions) {
  auto refusal = [&](const std::string &field, const json &value) {
    json whole = config;
    config[field] = value;
    std::string message = import();
    config = whole;
    return message;
  };
  EXPECT_EQ(refusal("hidden_act", "mish"), "/config.json: \"hidden_act\": expected one of \"gelu\", "
                                           "\"gelu_new\", \"gelu_pytorch_tanh\", \"relu\", "
                                           "\"silu\", \"swish\", but got \"mish\"");
  EXPECT_EQ(refusal("position_embedding_type", "relative_key"),
            "/config.json: \"position_embedding_type\": expected \"absolute\", but got \"relative_key\"");
  EXPECT_EQ(refusal("is_decoder", true), "/config.json: \"is_decoder\": expected false, but got true");
  EXPECT_EQ(refusal("pruned_heads", {{"0", {1}}}),
            "/config.json: \"pruned_heads\": expected {}, but got {\"0\":[1]}");
  EXPECT_EQ(refusal("layer_norm_eps", -1),
            "/config.json: \"layer_norm_eps\": expected a number in [0, 1], but got -1");
  EXPECT_EQ(refusal("layer_norm_eps", "tiny"),
            "/config.json: \"layer_norm_eps\": expected a number in [0, 1], but got \"tiny\"");
  EXPECT_EQ(refusal("rope_theta", 1e4),
            "/config.json: \"rope_theta\": expected only known fields, but got 10000.0");
  EXPECT_EQ(refusal("quantization_config", json::object()),
            "/config.json: \"quantization_config\": expected only known fields, but got {}");
  EXPECT_PRED2(contains, refusal("line\nbreak", std::string(1000, 'y')),
               "/config.json: \"line\\nbreak\": expected only known fields, but got \"yyy");
}

TEST_F(HuggingFaceTest, RefusesEveryMissingWeight) {
  Shapes whole = weights;
  for (const auto &[name, shape] : whole) {
    weights.erase(name);
    EXPECT_EQ(import(), "/model.safetensors: expected tensor \"" + name + "\", but there is none");
    weights = whole;
  }
}

TEST_F(HuggingFaceTest, RefusesEveryWrongShape) {
  for (auto &[name, shape] : weights) {
    std::vector<int64_t> right = shape;
    shape.push_back(1);
    EXPECT_EQ(import(), fmt::format("/model.safetensors: tensor \"{}\": expected shape [{}], but got [{}]",
                                    name, fmt::join(right, ", "), fmt::join(shape, ", ")));
    shape = right;
    std::reverse(shape.begin(), shape.end());
    shape.front() += 1;
    EXPECT_PRED2(contains, import(), "tensor \"" + name + "\": expected shape [");
    shape = right;
  }
}

TEST_F(HuggingFaceTest, RefusesExtraWeights) {
  addLinear("encoder.layer.1.output.dense", 4, 6);
  EXPECT_EQ(import(),
            "/model.safetensors: tensor \"encoder.layer.1.output.dense.bias\": expected only weights that "
            "config.json accounts for, but got this one");
}

TEST_F(HuggingFaceTest, RefusesElementTypes) {
  for (StorageType good : {StorageType::F16, StorageType::BF16}) {
    type = good;
    EXPECT_PRED2(contains, import(), "module @model");
  }
  for (StorageType bad : {StorageType::F64, StorageType::I8, StorageType::Bool}) {
    type = bad;
    EXPECT_EQ(import(),
              "/model.safetensors: tensor \"embeddings.word_embeddings.weight\": expected F32, F16 or "
              "BF16, but got " +
                  storageTypeName(bad).str());
  }
}

//===--- Pooling
//------------------------------------------------------------------------------------------===//

struct HuggingFacePooling : HuggingFaceTest {
  HuggingFacePooling() {
    modules = json::array();
    addModule("", "sentence_transformers.models.Transformer");
    addModule("1_Pooling", "sentence_transformers.models.Pooling");
    pooling = {{"word_embedding_dimension", 4}, {"pooling_mode_mean_tokens", true}};
  }
  void addModule(const std::string &path, const std::string &type) {
    int64_t number = modules.size();
    modules.push_back({{"idx", number}, {"name", std::to_string(number)}, {"path", path}, {"type", type}});
  }
};

TEST_F(HuggingFacePooling, WritesMeanClsAndNormalize) {
  std::string text = import();
  EXPECT_PRED2(contains, text, "call @mean_pooling(%x1, %attention_mask)");
  EXPECT_PRED2(contains, text, "{attn.name = \"sentence_embedding\", attn.shape = [\"batch\", 4]}");
  EXPECT_FALSE(contains(text, "@normalize"));

  addModule("2_Normalize", "sentence_transformers.models.Normalize");
  pooling = {{"embedding_dimension", 4}, {"pooling_mode", "cls"}, {"include_prompt", true}};
  text = import();
  EXPECT_PRED2(contains, text, "call @cls_pooling(%x1, %attention_mask)");
  EXPECT_PRED2(contains, text, "call @normalize(%pooled)");
  EXPECT_PRED2(contains, text, "attn.require = [\"seq >= 1\", \"seq <= 8\"]"); // there is a first token
}

TEST_F(HuggingFacePooling, FindsTheTransformerInItsFolder) {
  import();
  for (std::string name : {"config.json", "model.safetensors"}) {
    folder.write("model/0_Transformer/" + name, folder.read("model/" + name));
    std::filesystem::remove(folder.file("model/" + name));
  }
  modules[0]["path"] = "0_Transformer";
  folder.write("model/modules.json", modules.dump());
  EXPECT_PRED2(contains, importAsIs(), "heed.params = \"0_Transformer/model.safetensors\"");
}

TEST_F(HuggingFacePooling, RefusesModules) {
  json good = modules;
  std::string order = "expected Transformer, Pooling and Normalize in this order, but got ";
  addModule("2_Dense", "sentence_transformers.models.Dense");
  EXPECT_EQ(import(), "/modules.json: module 2: " + order + "\"sentence_transformers.models.Dense\"");
  modules = json::array({good[1], good[0]});
  EXPECT_EQ(import(), "/modules.json: module 0: " + order + "\"sentence_transformers.models.Pooling\"");
  modules = good;
  modules[0]["path"] = "../elsewhere";
  EXPECT_EQ(import(), "/modules.json: module 0: expected a path inside the folder, but got \"../elsewhere\"");
  modules[0] = 3;
  EXPECT_EQ(import(), "/modules.json: module 0: expected an object, but got a number");
  modules[0] = {{"path", ""}};
  EXPECT_EQ(import(), "/modules.json: module 0: \"type\": expected text, but got nothing");
  modules = json::object();
  EXPECT_EQ(import(), "/modules.json: expected a list of modules, but got a object");
}

TEST_F(HuggingFacePooling, RefusesModes) {
  auto refusal = [&](const json &value) {
    pooling = value;
    return import();
  };
  json mean = pooling;
  mean["pooling_mode_max_tokens"] = true;
  EXPECT_EQ(refusal(mean),
            "/1_Pooling/config.json: \"pooling_mode_max_tokens\": expected false, but got true");
  std::string either = "/1_Pooling/config.json: expected either pooling_mode_mean_tokens or "
                       "pooling_mode_cls_token, but got ";
  EXPECT_EQ(refusal({{"word_embedding_dimension", 4}}), either + "neither");
  EXPECT_EQ(refusal({{"word_embedding_dimension", 4},
                     {"pooling_mode_mean_tokens", true},
                     {"pooling_mode_cls_token", true}}),
            either + "both");
  EXPECT_EQ(
      refusal({{"word_embedding_dimension", 4}, {"pooling_mode", "lasttoken"}}),
      "/1_Pooling/config.json: \"pooling_mode\": expected one of \"mean\", \"cls\", but got \"lasttoken\"");
  EXPECT_EQ(refusal({{"word_embedding_dimension", 5}, {"pooling_mode", "cls"}}),
            "/1_Pooling/config.json: expected the width 4 of the hidden states, but got 5");
  EXPECT_EQ(refusal({{"word_embedding_dimension", 4}, {"pooling_mode", "cls"}, {"new_option", 1}}),
            "/1_Pooling/config.json: \"new_option\": expected only known fields, but got 1");
  std::filesystem::remove(folder.file("model/1_Pooling/config.json"));
  EXPECT_EQ(importAsIs(), "/1_Pooling/config.json: No such file or directory");
}

//===--- Text
//---------------------------------------------------------------------------------------------===//

TEST(HuggingFaceText, FloatsReadBackExactly) {
  EXPECT_EQ(floatText(1e-12), "1.0e-12");
  EXPECT_EQ(floatText(0.5), "0.5");
  EXPECT_EQ(floatText(2), "2.0");
  EXPECT_EQ(floatText(1e30), "1.0e+30");
  double scale = 1 / std::sqrt(32.0);
  EXPECT_EQ(std::stod(floatText(scale)), scale);
}

TEST(HuggingFaceText, LongLinesBreakAtCommas) {
  std::string line(60, 'a'), next(60, 'b');
  EXPECT_EQ(wrapText(line + ", " + next, "  "), line + ",\n  " + next);
  EXPECT_EQ(wrapText("a, b", "  "), "a, b");
}

} // namespace
