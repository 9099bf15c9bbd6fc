// From a Hugging Face folder (config.json and model.safetensors) to a module.
#pragma once

#include "llvm/Support/Error.h"

#include <string>

namespace heed {

/// Reads the folder and returns its model in the graph phase, as MLIR text with names and comments.
///
/// Weights stay in their files, which the module names relative to `outputFolder`, where the text will lie.
/// The entry is `encode`; arguments and results have the names that the transformers library gives them. A
/// folder of the sentence-transformers library adds the pooled `sentence_embedding`. Heads (language model,
/// classifier, pooler) are left out, as AutoModel's last_hidden_state needs none.
///
/// A model family, option, weight or pooling that is not known is an error that names it.
llvm::Expected<std::string> importHuggingFace(llvm::StringRef folder, llvm::StringRef outputFolder);

} // namespace heed
