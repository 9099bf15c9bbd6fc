// A folder of its own for a test, removed with it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace heed::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "heed-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }

  std::string file(const std::string &name) const { return path / name; }
  /// Writes a file, with the folders that it lies in.
  std::string write(const std::string &name, const std::string &bytes) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::string read(const std::string &name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(path))
      names.push_back(entry.path().filename());
    return names;
  }

  std::filesystem::path path;
};

/// For EXPECT_PRED2, which prints both.
inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// A safetensors file of this header and data.
inline std::string safetensors(const std::string &header, const std::string &data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(uint64_t(header.size()) >> 8 * i);
  return bytes + header + data;
}

} // namespace heed::test
