// The BERT family: BERT and MiniLM (Devlin et al. 2019; Wang et al. 2020), RoBERTa and XLM-R (Liu et al.
// 2019; Conneau et al. 2020), DistilBERT (Sanh et al. 2019). One encoder with three sets of names.
#include "compiler/Error.h"
#include "compiler/import/Family.h"

#include <cmath>

using namespace llvm;

namespace heed {

namespace {

/// What config.json says, in one set of names.
struct Encoder {
  std::string title;
  int64_t vocab, width, heads, layers, inner, positions;
  /// 0: the model has no token types.
  int64_t types = 0;
  double epsilon;
  std::string activation;
  /// Of RoBERTa: positions skip it and start behind it.
  std::optional<int64_t> padding;
};

/// The weights of one layer in the order of the arguments of @layer, by suffix: a linear layer or a norm has
/// a weight and a bias.
struct LayerNames {
  /// "encoder.layer.": what comes before the number.
  StringLiteral prefix;
  StringLiteral query, key, value, output, norm1, widen, narrow, norm2;
};

} // namespace

static constexpr LayerNames bertNames = {
    "encoder.layer.",       "attention.self.query",   "attention.self.key",
    "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
    "intermediate.dense",   "output.dense",           "output.LayerNorm"};
static constexpr LayerNames distilBertNames = {
    "transformer.layer.", "attention.q_lin", "attention.k_lin", "attention.v_lin",  "attention.out_lin",
    "sa_layer_norm",      "ffn.lin1",        "ffn.lin2",        "output_layer_norm"};

//===--- Text
//---------------------------------------------------------------------------------------------===//

static constexpr StringLiteral aliases = R"(!hidden = tensor<?x?x${width}xf32>
!heads = tensor<?x?x${heads}x${head_width}xf32>
!inner = tensor<?x?x${inner}xf32>
!vector = tensor<${width}xf32>
!inner_vector = tensor<${inner}xf32>
!project = tensor<${width}x${width}xf32>
!widen = tensor<${inner}x${width}xf32>
!narrow = tensor<${width}x${inner}xf32>
!words = tensor<${vocab}x${width}xf32>
!positions = tensor<${positions}x${width}xf32>
)";

static constexpr StringLiteral layer = R"(
  // Attention, then a feed-forward network, each added to its input and normalized (Vaswani et al. 2017, figure 1).
  func.func private @layer(%x: !hidden, %attention_mask: !ids,
      %w_q: !project, %b_q: !vector, %w_k: !project, %b_k: !vector, %w_v: !project, %b_v: !vector,
      %w_o: !project, %b_o: !vector, %gamma_1: !vector, %beta_1: !vector,
      %w_1: !widen, %b_1: !inner_vector, %w_2: !narrow, %b_2: !vector, %gamma_2: !vector, %beta_2: !vector)
      -> !hidden {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %x, %c0 : !hidden
    %seq = tensor.dim %x, %c1 : !hidden

    %query = attn.linear %x, %w_q, %b_q : !hidden, !project, !vector -> !hidden
    %key = attn.linear %x, %w_k, %b_k : !hidden, !project, !vector -> !hidden
    %value = attn.linear %x, %w_v, %b_v : !hidden, !project, !vector -> !hidden
    %q = tensor.expand_shape %query [[0], [1], [2, 3]] output_shape [%batch, %seq, ${heads}, ${head_width}]
      : !hidden into !heads
    %k = tensor.expand_shape %key [[0], [1], [2, 3]] output_shape [%batch, %seq, ${heads}, ${head_width}]
      : !hidden into !heads
    %v = tensor.expand_shape %value [[0], [1], [2, 3]] output_shape [%batch, %seq, ${heads}, ${head_width}]
      : !hidden into !heads
    %attended = attn.attention %q, %k, %v scale(${scale}) layout("bqhd,bkhd,bkhe->bqhe")
      reads(%attention_mask : !ids) maps [affine_map<(b, h, q, k) -> (b, k)>]
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index, %mask: i64):
        %padding = arith.constant 0 : i64
        %keep = arith.cmpi ne, %mask, %padding : i64
        attn.yield %keep : i1
      } : !heads, !heads, !heads -> !heads
    %concat = tensor.collapse_shape %attended [[0], [1], [2, 3]] : !heads into !hidden
    %projected = attn.linear %concat, %w_o, %b_o : !hidden, !project, !vector -> !hidden
    %added_1 = arith.addf %projected, %x : !hidden
    %normed_1 = attn.layer_norm %added_1, %gamma_1, %beta_1 epsilon(${epsilon}) : !hidden, !vector, !vector

    %wide = attn.linear %normed_1, %w_1, %b_1 : !hidden, !widen, !inner_vector -> !inner
    %active = attn.${activation} : !inner
    %narrow = attn.linear %active, %w_2, %b_2 : !inner, !narrow, !vector -> !hidden
    %added_2 = arith.addf %narrow, %normed_1 : !hidden
    %normed_2 = attn.layer_norm %added_2, %gamma_2, %beta_2 epsilon(${epsilon}) : !hidden, !vector, !vector
    return %normed_2 : !hidden
  }
)";

static constexpr StringLiteral positionIds = R"(
  // The number of tokens up to here that are not padding, counted from the number of padding, which padding keeps.
  func.func private @position_ids(%input_ids: !ids) -> !ids {
    %none = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %input_ids, %c0 : !ids
    %seq = tensor.dim %input_ids, %c1 : !ids
    %ids = tensor.empty(%batch, %seq) : !ids
    %zeros = linalg.fill ins(%none : i64) outs(%ids : !ids) -> !ids
    %count = linalg.generic {
        indexing_maps = [affine_map<(b, s, t) -> (b, t)>, affine_map<(b, s, t) -> (b, s)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%input_ids : !ids) outs(%zeros : !ids) {
    ^bb0(%id: i64, %so_far: i64):
      %padding = arith.constant ${padding} : i64
      %s = linalg.index 1 : index
      %t = linalg.index 2 : index
      %is_before = arith.cmpi ule, %t, %s : index
      %is_token = arith.cmpi ne, %id, %padding : i64
      %counts = arith.andi %is_before, %is_token : i1
      %one = arith.extui %counts : i1 to i64
      %next = arith.addi %so_far, %one : i64
      linalg.yield %next : i64
    } -> !ids
    %position_ids = linalg.generic {
        indexing_maps = [affine_map<(b, s) -> (b, s)>, affine_map<(b, s) -> (b, s)>, affine_map<(b, s) -> (b, s)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%input_ids, %count : !ids, !ids) outs(%ids : !ids) {
    ^bb0(%id: i64, %number: i64, %unused: i64):
      %padding = arith.constant ${padding} : i64
      %is_token = arith.cmpi ne, %id, %padding : i64
      %position = arith.addi %number, %padding : i64
      %chosen = arith.select %is_token, %position, %padding : i64
      linalg.yield %chosen : i64
    } -> !ids
    return %position_ids : !ids
  }
)";

static constexpr StringLiteral embeddings = R"(    // Embeddings.
    %words = attn.param "${words}" : !words
    %embedded = attn.embedding %words, %input_ids : (!words, !ids) -> !hidden
)";

static constexpr StringLiteral typeEmbeddings = R"(    %types = attn.param "${types}" : !types
    %type = attn.embedding %types, %token_type_ids : (!types, !ids) -> !hidden
    %typed = arith.addf %embedded, %type : !hidden
)";

static constexpr StringLiteral learnedPositions = R"(    %positions = attn.param "${positions}" : !positions
    %placed = attn.learned_positions ${typed}, %positions : !hidden, !positions
)";

static constexpr StringLiteral numberedPositions = R"(    %positions = attn.param "${positions}" : !positions
    %position_ids = func.call @position_ids(%input_ids) : (!ids) -> !ids
    %position = attn.embedding %positions, %position_ids : (!positions, !ids) -> !hidden
    %placed = arith.addf ${typed}, %position : !hidden
)";

static constexpr StringLiteral embeddingNorm = R"(    %gamma = attn.param "${gamma}" : !vector
    %beta = attn.param "${beta}" : !vector
    %x0 = attn.layer_norm %placed, %gamma, %beta epsilon(${epsilon}) : !hidden, !vector, !vector
)";

//===--- Writing
//------------------------------------------------------------------------------------------===//

/// The parameters of layer `number` and the call that applies it.
static std::string layerCall(const Encoder &encoder, const LayerNames &names, int64_t number,
                             Weights &weights) {
  int64_t width = encoder.width, inner = encoder.inner;
  std::string prefix = names.prefix.str() + std::to_string(number) + ".", text, arguments, types;
  text = fmt::format("\n    // Layer {}.\n", number);
  auto add = [&](const std::string &value, const std::string &name, ArrayRef<int64_t> shape, StringRef type) {
    text += fmt::format("    %{}_{} = attn.param \"{}\" : {}\n", value, number,
                        weights.get(prefix + name, shape), type.str());
    arguments += fmt::format(", %{}_{}", value, number);
    types += ", " + type.str();
  };
  auto addLinear = [&](const std::string &value, StringRef name, int64_t out, int64_t in, StringRef matrix,
                       StringRef vector) {
    add("w_" + value, name.str() + ".weight", {out, in}, matrix);
    add("b_" + value, name.str() + ".bias", {out}, vector);
  };
  auto addNorm = [&](const std::string &value, StringRef name) {
    add("gamma_" + value, name.str() + ".weight", {width}, "!vector");
    add("beta_" + value, name.str() + ".bias", {width}, "!vector");
  };
  addLinear("q", names.query, width, width, "!project", "!vector");
  addLinear("k", names.key, width, width, "!project", "!vector");
  addLinear("v", names.value, width, width, "!project", "!vector");
  addLinear("o", names.output, width, width, "!project", "!vector");
  addNorm("1", names.norm1);
  addLinear("1", names.widen, inner, width, "!widen", "!inner_vector");
  addLinear("2", names.narrow, width, inner, "!narrow", "!vector");
  addNorm("2", names.norm2);
  std::string call =
      fmt::format("    %x{} = func.call @layer(%x{}, %attention_mask{})", number + 1, number, arguments);
  std::string type = fmt::format("      : (!hidden, !ids{}) -> !hidden", types);
  text += wrapText(call, "        ") + "\n" + wrapText(type, "        ") + "\n";
  return text;
}

static ModelText write(const Encoder &encoder, const LayerNames &names, Weights &weights) {
  ModelText text;
  text.title = fmt::format("{}: {} layers, {} heads, width {}.", encoder.title, encoder.layers, encoder.heads,
                           encoder.width);
  int64_t headWidth = encoder.width / encoder.heads;
  std::map<std::string, std::string> values = {{"width", std::to_string(encoder.width)},
                                               {"heads", std::to_string(encoder.heads)},
                                               {"head_width", std::to_string(headWidth)},
                                               {"inner", std::to_string(encoder.inner)},
                                               {"vocab", std::to_string(encoder.vocab)},
                                               {"epsilon", floatText(encoder.epsilon)},
                                               {"scale", floatText(1 / std::sqrt(double(headWidth)))},
                                               {"activation", encoder.activation},
                                               {"padding", std::to_string(encoder.padding.value_or(0))}};

  auto input = [](StringRef name, const std::string &more) {
    return fmt::format(
        "      %{0}: !ids {{attn.name = \"{0}\", attn.shape = [\"batch\", \"seq\"],\n        {1}}}",
        name.str(), more);
  };
  text.inputs = input("input_ids", fmt::format("attn.range = [0, {}]", encoder.vocab - 1)) + ",\n" +
                input("attention_mask", "attn.optional = \"ones\", attn.range = [0, 1]");
  values["positions"] = std::to_string(encoder.positions);
  text.aliases = fillText(aliases, values);
  text.requirements =
      fmt::format("\"seq <= {}\"", encoder.positions - (encoder.padding ? *encoder.padding + 1 : 0));

  values["words"] = weights.get("embeddings.word_embeddings.weight", {encoder.vocab, encoder.width});
  values["typed"] = "%embedded";
  text.body = fillText(embeddings, values);
  if (encoder.types) {
    text.inputs +=
        ",\n" + input("token_type_ids",
                      fmt::format("attn.optional = \"zeros\", attn.range = [0, {}]", encoder.types - 1));
    text.aliases += fmt::format("!types = tensor<{}x{}xf32>\n", encoder.types, encoder.width);
    values["types"] = weights.get("embeddings.token_type_embeddings.weight", {encoder.types, encoder.width});
    values["typed"] = "%typed";
    text.body += fillText(typeEmbeddings, values);
  }
  values["positions"] =
      weights.get("embeddings.position_embeddings.weight", {encoder.positions, encoder.width});
  text.body += fillText(encoder.padding ? numberedPositions : learnedPositions, values);
  values["gamma"] = weights.get("embeddings.LayerNorm.weight", {encoder.width});
  values["beta"] = weights.get("embeddings.LayerNorm.bias", {encoder.width});
  text.body += fillText(embeddingNorm, values);
  for (int64_t i = 0; i < encoder.layers; ++i)
    text.body += layerCall(encoder, names, i, weights);

  text.functions = fillText(layer, values);
  if (encoder.padding)
    text.functions += fillText(positionIds, values);
  text.hidden = fmt::format("%x{}", encoder.layers);
  text.width = encoder.width;
  return text;
}

//===--- Configurations
//-----------------------------------------------------------------------------------===//

/// Fields that say how a model was trained, is fed or is used, and nothing of the hidden states.
static constexpr StringRef harmlessFields[] = {"_attn_implementation_autoset",
                                               "_name_or_path",
                                               "architectures",
                                               "attention_dropout",
                                               "attention_probs_dropout_prob",
                                               "bos_token_id",
                                               "chunk_size_feed_forward",
                                               "classifier_dropout",
                                               "cls_token_id",
                                               "directionality",
                                               "dropout",
                                               "dtype",
                                               "eos_token_id",
                                               "finetuning_task",
                                               "gradient_checkpointing",
                                               "hidden_dropout_prob",
                                               "id2label",
                                               "initializer_range",
                                               "label2id",
                                               "language",
                                               "mask_token_id",
                                               "model_type",
                                               "name",
                                               "num_labels",
                                               "output_past",
                                               "pad_token_id",
                                               "pooler_fc_size",
                                               "pooler_num_attention_heads",
                                               "pooler_num_fc_layers",
                                               "pooler_size_per_head",
                                               "pooler_type",
                                               "problem_type",
                                               "qa_dropout",
                                               "return_dict",
                                               "sep_token_id",
                                               "seq_classif_dropout",
                                               "sinusoidal_pos_embds",
                                               "task_specific_params",
                                               "tie_weights_",
                                               "tie_word_embeddings",
                                               "torch_dtype",
                                               "torchscript",
                                               "transformers_version",
                                               "use_cache"};

/// Options that would change what is computed, at the only value known here.
static void expectPlainEncoder(Fields &fields) {
  for (StringRef name : {"add_cross_attention", "is_decoder", "is_encoder_decoder", "output_attentions",
                         "output_hidden_states", "use_bfloat16"})
    fields.expect(name, false);
  fields.expect("position_embedding_type", "absolute");
  fields.expect("pruned_heads", nlohmann::json::object());
  fields.ignore(harmlessFields);
}

/// The op that computes the activation a configuration names, applied to `%wide`.
static std::string activationOp(Fields &fields, StringRef name) {
  std::string function =
      fields.string(name, {"gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish"}, "gelu");
  if (function == "gelu_new" || function == "gelu_pytorch_tanh")
    return "gelu %wide form(tanh)";
  return (function == "swish" ? "silu" : function) + " %wide";
}

/// Sizes no model reaches and no product of two of which overflows.
static constexpr int64_t maxWidth = 1 << 20, maxRows = 1 << 30;

static void checkHeads(Fields &fields, StringRef name, const Encoder &encoder) {
  if (encoder.width % encoder.heads)
    fields.fail(name, fmt::format("a divisor of the width {}", encoder.width));
}

/// BERT's names of fields, which RoBERTa shares.
static Encoder readBertConfig(Fields &fields, StringRef title) {
  Encoder encoder;
  encoder.title = title.str();
  encoder.vocab = fields.integer("vocab_size", 1, maxRows);
  encoder.width = fields.integer("hidden_size", 1, maxWidth);
  encoder.heads = fields.integer("num_attention_heads", 1, maxWidth);
  encoder.layers = fields.integer("num_hidden_layers", 1, 1024);
  encoder.inner = fields.integer("intermediate_size", 1, maxWidth);
  encoder.positions = fields.integer("max_position_embeddings", 1, maxRows);
  encoder.types = fields.integer("type_vocab_size", 1, maxRows);
  encoder.epsilon = fields.number("layer_norm_eps", 0, 1, 1e-12);
  encoder.activation = activationOp(fields, "hidden_act");
  checkHeads(fields, "num_attention_heads", encoder);
  expectPlainEncoder(fields);
  return encoder;
}

static Expected<ModelText> importEncoder(const ModelFolder &folder, const Encoder &encoder,
                                         const LayerNames &names, StringRef prefix,
                                         ArrayRef<StringRef> unused) {
  Weights weights(folder.checkpoint, prefix.str(), "embeddings.word_embeddings.weight");
  ModelText text = write(encoder, names, weights);
  if (Error error = weights.finish(unused))
    return error;
  return text;
}

Expected<ModelText> importBert(const ModelFolder &folder) {
  Fields fields(folder.config, folder.configPath);
  Encoder encoder = readBertConfig(fields, "BERT");
  if (Error error = fields.finish())
    return error;
  return importEncoder(folder, encoder, bertNames, "bert.",
                       {"embeddings.position_ids", "pooler.dense.", "cls.", "classifier.", "qa_outputs."});
}

Expected<ModelText> importRoberta(const ModelFolder &folder) {
  Fields fields(folder.config, folder.configPath);
  Encoder encoder = readBertConfig(fields, "RoBERTa");
  encoder.padding = fields.integer("pad_token_id", 0, encoder.positions - 2, 1);
  if (Error error = fields.finish())
    return error;
  return importEncoder(
      folder, encoder, bertNames, "roberta.",
      {"embeddings.position_ids", "pooler.dense.", "lm_head.", "classifier.", "qa_outputs."});
}

Expected<ModelText> importDistilBert(const ModelFolder &folder) {
  Fields fields(folder.config, folder.configPath);
  Encoder encoder;
  encoder.title = "DistilBERT";
  encoder.vocab = fields.integer("vocab_size", 1, maxRows);
  encoder.width = fields.integer("dim", 1, maxWidth);
  encoder.heads = fields.integer("n_heads", 1, maxWidth);
  encoder.layers = fields.integer("n_layers", 1, 1024);
  encoder.inner = fields.integer("hidden_dim", 1, maxWidth);
  encoder.positions = fields.integer("max_position_embeddings", 1, maxRows);
  encoder.epsilon = 1e-12; // not in the configuration
  encoder.activation = activationOp(fields, "activation");
  checkHeads(fields, "n_heads", encoder);
  expectPlainEncoder(fields);
  if (Error error = fields.finish())
    return error;
  return importEncoder(folder, encoder, distilBertNames, "distilbert.",
                       {"embeddings.position_ids", "pre_classifier.", "classifier.", "qa_outputs.",
                        "vocab_transform.", "vocab_layer_norm.", "vocab_projector."});
}

} // namespace heed
