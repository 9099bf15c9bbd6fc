// What families of models share: the folder as read, the weights it must hold, and the text to write.
//
// A new family is a function `Expected<ModelText> importNAME(ModelFolder &)` in import/NAME.cpp, declared
// here and entered in the table of HuggingFace.cpp.
#pragma once

#include "compiler/import/Json.h"
#include "compiler/import/Safetensors.h"

namespace heed {

struct ModelFolder {
  std::string configPath;
  nlohmann::json config;
  Checkpoint checkpoint;
};

/// What a family writes: definitions before the module, and its functions. The entry `encode` returns
/// last_hidden_state of type `!hidden` and ends with the placeholder of HuggingFace.cpp for pooling.
struct ModelText {
  /// One line that says what the model is.
  std::string title;
  std::string aliases, functions;
  /// The body of the entry and what the signature says of its inputs and sizes.
  std::string inputs, requirements, body;
  /// The value of the body that is last_hidden_state, and its width.
  std::string hidden;
  int64_t width;
};

/// Replaces every `${name}` by its value. Asserts that there is one.
std::string fillText(llvm::StringRef text, const std::map<std::string, std::string> &values);

/// Breaks a long line at commas. Later lines start with `indent`.
std::string wrapText(llvm::StringRef line, llvm::StringRef indent);

/// `value` as MLIR reads it back exactly.
std::string floatText(double value);

/// The weights a model must hold; the first fault is kept.
class Weights {
public:
  /// `prefix` begins the names of all weights if `probe` is found with it only: checkpoints of a model with a
  /// head
  /// ("bert.embeddings…") and of the bare model ("embeddings…") both occur.
  Weights(const Checkpoint &checkpoint, std::string prefix, llvm::StringRef probe);

  /// The name in the checkpoint of the weight `name`, which must have this shape.
  std::string get(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);

  /// The first fault, or the first tensor that was not asked for, unless its name, less the prefix, begins
  /// with one of `unused`.
  llvm::Error finish(llvm::ArrayRef<llvm::StringRef> unused);

private:
  const Checkpoint &checkpoint;
  std::string prefix;
  std::set<std::string> used;
  std::string fault;
};

llvm::Expected<ModelText> importBert(const ModelFolder &folder);
llvm::Expected<ModelText> importRoberta(const ModelFolder &folder);
llvm::Expected<ModelText> importDistilBert(const ModelFolder &folder);

} // namespace heed
