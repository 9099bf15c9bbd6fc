// Safetensors files, read without trust and written so that equal contents give equal bytes.
//
// A file is an 8-byte little-endian length, that many bytes of JSON (name → type, shape, place), and the
// data.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// Element types, in the order of `storageTypeName`.
enum class StorageType { Bool, U8, I8, U16, I16, F16, BF16, U32, I32, F32, U64, I64, F64 };

/// "F32", as the format spells it.
llvm::StringRef storageTypeName(StorageType type);
std::optional<StorageType> parseStorageType(llvm::StringRef name);
/// Bytes of one element.
unsigned storageTypeBytes(StorageType type);

struct StoredTensor {
  std::string name;
  StorageType type;
  std::vector<int64_t> shape;
  /// From the start of the file, in bytes.
  uint64_t offset, bytes;
};

/// One file, mapped into memory.
class SafetensorsFile {
public:
  /// Maps and checks the file: every tensor lies inside, aligned to its element, apart from the others and
  /// without holes between them, and is as large as its shape says.
  static llvm::Expected<SafetensorsFile> open(llvm::StringRef path);

  llvm::StringRef getPath() const { return path; }
  /// In the order of their data.
  llvm::ArrayRef<StoredTensor> getTensors() const { return tensors; }
  const std::map<std::string, std::string> &getMetadata() const { return metadata; }
  /// Null if there is none.
  const StoredTensor *find(llvm::StringRef name) const;
  llvm::StringRef getData(const StoredTensor &tensor) const {
    return buffer->getBuffer().substr(tensor.offset, tensor.bytes);
  }

private:
  llvm::Error parseHeader();

  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::vector<StoredTensor> tensors;
  llvm::StringMap<unsigned> numbers;
  std::map<std::string, std::string> metadata;
};

/// The tensors of a model: of one file, or of all that an index (model.safetensors.index.json) or a list
/// names.
class Checkpoint {
public:
  /// Every path ends with .safetensors or .json.
  static llvm::Expected<Checkpoint> open(llvm::ArrayRef<std::string> paths);

  struct Entry {
    const SafetensorsFile *file;
    const StoredTensor *tensor;

    llvm::StringRef getData() const { return file->getData(*tensor); }
    /// "FILE: tensor NAME", to begin a message with.
    std::string str() const;
  };
  /// `source`: which of the paths given to `open`; without it, the first that has the tensor. An error if
  /// there is none.
  llvm::Expected<Entry> find(llvm::StringRef name, std::optional<unsigned> source = {}) const;
  bool contains(llvm::StringRef name) const;
  /// All tensors, in the order of paths and data.
  std::vector<Entry> getEntries() const;

private:
  llvm::Error addFile(llvm::StringRef path, unsigned source);
  llvm::Error addIndex(llvm::StringRef path, unsigned source);

  std::vector<std::string> paths;
  /// With the number of the path that each belongs to. Files stay where they are: entries point into them.
  std::vector<std::pair<unsigned, std::unique_ptr<SafetensorsFile>>> files;
};

/// A tensor to be written. `data` holds as many bytes as type and shape say.
struct TensorToWrite {
  std::string name;
  StorageType type;
  std::vector<int64_t> shape;
  llvm::StringRef data;
};

/// Writes a file: larger elements first, then by name, so that all are aligned and equal contents give equal
/// bytes. Names are distinct.
void writeSafetensors(llvm::raw_ostream &os, std::vector<TensorToWrite> tensors,
                      const std::map<std::string, std::string> &metadata = {});

/// `path` as seen from `folder` (empty: the current one), or `path` itself where one of them does not exist.
std::string relativePath(llvm::StringRef path, llvm::StringRef folder);

} // namespace heed
