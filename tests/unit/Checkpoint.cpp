#include "compiler/import/Safetensors.h"

#include "tests/unit/TemporaryFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace heed;
using namespace heed::test;

namespace {

/// The message of a file that must be refused, less its path.
std::string refusal(const std::string &bytes) {
  TemporaryFolder folder;
  std::string path = folder.write("t.safetensors", bytes);
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (file)
    return "accepted";
  std::string message = llvm::toString(file.takeError());
  EXPECT_PRED2(contains, message, path + ":");
  EXPECT_EQ(message.find("\n"), std::string::npos);
  return message.substr(std::min(message.size(), path.size() + 1));
}

/// The same of a header, before 8 bytes of data. `'` stands for `"`.
std::string headerRefusal(std::string header) {
  std::replace(header.begin(), header.end(), '\'', '"');
  header.resize(llvm::alignTo(header.size(), 8), ' ');
  return refusal(safetensors(header, std::string(8, '\0')));
}

TEST(CheckpointFile, ReadsTypesShapesAndData) {
  TemporaryFolder folder;
  std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"z":{"dtype":"I64","shape":[3,0],)"
      R"("data_offsets":[8,8]}})";
  header.resize(llvm::alignTo(header.size(), 8), ' ');
  auto file = SafetensorsFile::open(folder.write("t.safetensors", safetensors(header, "abcdefgh")));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  ASSERT_EQ(file->getTensors().size(), 3u);
  const StoredTensor *b = file->find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->type, StorageType::BF16);
  EXPECT_EQ(b->shape, std::vector<int64_t>{2});
  EXPECT_EQ(file->getData(*b), "efgh");
  EXPECT_EQ(file->getData(*file->find("a")), "abcd");
  EXPECT_TRUE(file->find("a")->shape.empty());
  EXPECT_EQ(file->getData(*file->find("z")), "");
  EXPECT_EQ(file->find("c"), nullptr);
  EXPECT_EQ(file->getMetadata().at("format"), "pt");
}

TEST(CheckpointFile, KnowsEveryElementType) {
  for (StorageType type :
       {StorageType::Bool, StorageType::U8, StorageType::I8, StorageType::U16, StorageType::I16,
        StorageType::F16, StorageType::BF16, StorageType::U32, StorageType::I32, StorageType::F32,
        StorageType::U64, StorageType::I64, StorageType::F64})
    EXPECT_EQ(parseStorageType(storageTypeName(type)), type);
  EXPECT_EQ(parseStorageType("F8_E4M3"), std::nullopt);
}

TEST(CheckpointFile, RefusesWhatIsNoFile) {
  llvm::Expected<SafetensorsFile> absent = SafetensorsFile::open("/nowhere/t.safetensors");
  ASSERT_FALSE(bool(absent));
  EXPECT_EQ(llvm::toString(absent.takeError()), "/nowhere/t.safetensors: No such file or directory");
  TemporaryFolder folder;
  llvm::Expected<SafetensorsFile> directory = SafetensorsFile::open(folder.file(""));
  ASSERT_FALSE(bool(directory));
  EXPECT_PRED2(contains, llvm::toString(directory.takeError()), ": Is a directory");
}

TEST(CheckpointFile, RefusesLengths) {
  EXPECT_EQ(refusal(""), " expected a safetensors file of at least 8 bytes, but got 0");
  EXPECT_EQ(refusal("1234567"), " expected a safetensors file of at least 8 bytes, but got 7");
  std::string huge("\0\0\0\0\0\0\0\x80", 8);
  EXPECT_EQ(refusal(huge + "{}"),
            " expected a safetensors header of at most 2 bytes, but its length is 9223372036854775808");
  EXPECT_EQ(refusal(std::string(8, '\xff') + "{}"),
            " expected a safetensors header of at most 2 bytes, but its length is 18446744073709551615");
  EXPECT_EQ(refusal(safetensors("{}", "").substr(0, 9)),
            " expected a safetensors header of at most 1 bytes, but its length is 2");
}

TEST(CheckpointFile, RefusesEveryTruncation) {
  TemporaryFolder folder;
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  writeSafetensors(os, {{"a", StorageType::F32, {2, 2}, "0123456789abcdef"}}, {{"k", "v"}});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(refusal(bytes.substr(0, size)), "accepted") << size;
}

TEST(CheckpointFile, RefusesGarbage) {
  EXPECT_EQ(headerRefusal("garbage!"), " header:1:1: expected JSON, but got a syntax error");
  EXPECT_EQ(refusal(safetensors("", "")), " header:1:1: expected JSON, but got a syntax error");
  EXPECT_EQ(headerRefusal("{'a':\n[1,}"), " header:2:4: expected JSON, but got a syntax error");
  EXPECT_EQ(headerRefusal("[]"), " expected the header to be a JSON object, but it is a array");
  EXPECT_EQ(headerRefusal("{'a\xff':1}"), " header:1:4: expected JSON, but got a syntax error");
  EXPECT_PRED2(contains, headerRefusal(std::string(100000, '[')), "expected JSON, but got a syntax error");
  std::string noise;
  for (uint32_t state = 1; noise.size() < 4096; state = state * 1664525 + 1013904223)
    noise += char(state >> 24);
  EXPECT_NE(refusal(noise), "accepted");
  EXPECT_NE(refusal(safetensors(noise, noise)), "accepted");
}

TEST(CheckpointFile, RefusesEntries) {
  std::string wants = " tensor \"a\": expected dtype, shape and two data_offsets, but got other fields";
  EXPECT_EQ(headerRefusal("{'a':1}"), wants);
  EXPECT_EQ(headerRefusal("{'a':{'dtype':'F32','shape':[2]}}"), wants);
  EXPECT_EQ(headerRefusal("{'a':{'dtype':'F32','shape':[2],'data_offsets':[0]}}"), wants);
  EXPECT_EQ(headerRefusal("{'a':{'dtype':'F32','shape':2,'data_offsets':[0,8]}}"), wants);
  EXPECT_EQ(headerRefusal("{'a':{'dtype':'F32','shape':[2],'data_offsets':[0,8],'more':1}}"), wants);
  EXPECT_EQ(headerRefusal("{'a':{'dtype':'F8_E5M2','shape':[8],'data_offsets':[0,8]}}"),
            " tensor \"a\": expected a known element type, but got \"F8_E5M2\"");
  EXPECT_EQ(headerRefusal("{'__metadata__':{'a':1}}"),
            " expected \"__metadata__\" to hold names and text, but it does not");
  EXPECT_EQ(headerRefusal("{'line\\nbreak':{'dtype':'?','shape':[],'data_offsets':[0,8]}}"),
            " tensor \"line\\nbreak\": expected a known element type, but got \"?\"");
}

TEST(CheckpointFile, RefusesDuplicateNames) {
  EXPECT_EQ(headerRefusal("{'a':{'dtype':'U8','shape':[8],'data_offsets':[0,8]},"
                          "'a':{'dtype':'U8','shape':[8],'data_offsets':[0,8]}}"),
            " header: expected names to occur once, but got \"a\" twice");
  EXPECT_EQ(headerRefusal("{'a':{'dtype':'U8','shape':[8],'shape':[8],'data_offsets':[0,8]}}"),
            " header: expected names to occur once, but got \"shape\" twice");
}

TEST(CheckpointFile, RefusesShapes) {
  auto shaped = [](const std::string &shape) {
    return headerRefusal("{'a':{'dtype':'F32','shape':" + shape + ",'data_offsets':[0,8]}}");
  };
  EXPECT_EQ(shaped("[3]"), " tensor \"a\": expected 12 bytes for F32[3], but got 8");
  EXPECT_EQ(shaped("[-2]"), " tensor \"a\": expected sizes in [0, 2^63), but got -2");
  EXPECT_EQ(shaped("[2.0]"), " tensor \"a\": expected sizes in [0, 2^63), but got 2.0");
  EXPECT_EQ(shaped("[9223372036854775808]"),
            " tensor \"a\": expected sizes in [0, 2^63), but got 9223372036854775808");
  EXPECT_EQ(shaped("[4294967296,4294967296]"),
            " tensor \"a\": expected a size in [0, 2^63) bytes, but shape [4294967296,4294967296] overflows");
  // 2^62 elements fit, 2^64 bytes do not: the product would wrap to 0.
  EXPECT_PRED2(contains, shaped("[4611686018427387904]"), "overflows");
}

TEST(CheckpointFile, RefusesOffsets) {
  auto placed = [](const std::string &offsets, const std::string &type = "F32") {
    return headerRefusal("{'a':{'dtype':'" + type + "','shape':[1],'data_offsets':" + offsets + "}}");
  };
  EXPECT_EQ(placed("[8,12]"),
            " tensor \"a\": expected data within the 8 bytes there are, but got offsets [8,12]");
  EXPECT_EQ(placed("[4,0]"),
            " tensor \"a\": expected data within the 8 bytes there are, but got offsets [4,0]");
  EXPECT_PRED2(contains, placed("[-4,0]"), "but got offsets [-4,0]");
  EXPECT_PRED2(contains, placed("[18446744073709551612,0]"), "but got offsets [18446744073709551612,0]");
  EXPECT_PRED2(contains, placed("[0,18446744073709551616]"), "expected data within the 8 bytes");
  EXPECT_PRED2(contains, placed("['0','4']"), "expected data within the 8 bytes");
  EXPECT_PRED2(contains, placed("[2,6]"), "expected data on a multiple of 4 bytes, but it starts at byte ");
}

TEST(CheckpointFile, RefusesOverlapsAndHoles) {
  auto two = [](const std::string &a, const std::string &b) {
    return headerRefusal("{'a':{'dtype':'I16','shape':[2],'data_offsets':" + a +
                         "},'b':{'dtype':'I16','shape':[2],'data_offsets':" + b + "}}");
  };
  EXPECT_EQ(two("[0,4]", "[4,8]"), "accepted");
  EXPECT_PRED2(contains, two("[0,4]", "[2,6]"), "tensor \"b\": expected data from byte ");
  EXPECT_PRED2(contains, two("[0,4]", "[2,6]"), "an overlap from");
  EXPECT_PRED2(contains, two("[0,4]", "[0,4]"), "an overlap from");
  EXPECT_PRED2(contains, headerRefusal("{'a':{'dtype':'I16','shape':[2],'data_offsets':[4,8]}}"),
               "a hole up to");
  EXPECT_PRED2(contains, headerRefusal("{'a':{'dtype':'I16','shape':[2],'data_offsets':[0,4]}}"),
               "expected the last tensor to end with the file");
}

TEST(CheckpointFile, WritesEqualBytesForEqualContents) {
  std::string one, other;
  TensorToWrite a{"a", StorageType::I8, {3}, "abc"}, b{"b", StorageType::F32, {1}, "0123"},
      c{"c", StorageType::I8, {1}, "x"};
  llvm::raw_string_ostream first(one), second(other);
  writeSafetensors(first, {a, b, c});
  writeSafetensors(second, {c, b, a});
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.size() % 4, 0u);

  TemporaryFolder folder;
  auto file = SafetensorsFile::open(folder.write("t.safetensors", one));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(file->getTensors().front().name, "b"); // larger elements first
  EXPECT_EQ(file->getData(*file->find("a")), "abc");
  EXPECT_EQ(file->getData(*file->find("c")), "x");
}

//===--- Several files
//------------------------------------------------------------------------------------===//

std::string file(const std::string &name, const std::string &data) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  writeSafetensors(os, {{name, StorageType::U8, {int64_t(data.size())}, data}});
  return bytes;
}

TEST(CheckpointShards, FindsTensorsInShards) {
  TemporaryFolder folder;
  folder.write("1.safetensors", file("a", "one"));
  folder.write("2.safetensors", file("b", "two"));
  std::string index = folder.write(
      "i.json", R"({"metadata":{"total_size":6},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  auto checkpoint = Checkpoint::open(index);
  ASSERT_TRUE(bool(checkpoint)) << llvm::toString(checkpoint.takeError());
  EXPECT_EQ(checkpoint->find("b")->getData(), "two");
  EXPECT_EQ(checkpoint->getEntries().size(), 2u);
  EXPECT_TRUE(checkpoint->contains("a"));
  auto absent = checkpoint->find("c");
  ASSERT_FALSE(bool(absent));
  EXPECT_EQ(llvm::toString(absent.takeError()), index + ": expected tensor \"c\", but there is none");
}

TEST(CheckpointShards, TellsSourcesApart) {
  TemporaryFolder folder;
  auto checkpoint = Checkpoint::open(
      {folder.write("1.safetensors", file("a", "one")), folder.write("2.safetensors", file("a", "two"))});
  ASSERT_TRUE(bool(checkpoint)) << llvm::toString(checkpoint.takeError());
  EXPECT_EQ(checkpoint->find("a")->getData(), "one");
  EXPECT_EQ(checkpoint->find("a", 1)->getData(), "two");
  auto absent = checkpoint->find("a", 2);
  EXPECT_FALSE(bool(absent));
  llvm::consumeError(absent.takeError());
}

TEST(CheckpointShards, RefusesIndices) {
  TemporaryFolder folder;
  folder.write("1.safetensors", file("a", "one"));
  auto refusal = [&](const std::string &index) {
    auto checkpoint = Checkpoint::open(folder.write("i.json", index));
    return checkpoint ? "accepted" : llvm::toString(checkpoint.takeError());
  };
  EXPECT_EQ(refusal(R"({"weight_map":{"a":"1.safetensors"}})"), "accepted");
  EXPECT_PRED2(contains, refusal("{"), "i.json:1:2: expected JSON, but got a syntax error");
  EXPECT_PRED2(contains, refusal("[]"), "i.json: expected a JSON object, but got []");
  EXPECT_PRED2(contains, refusal("{}"), "expected \"weight_map\" to hold names of tensors and files");
  EXPECT_PRED2(contains, refusal(R"({"weight_map":{"a":1}})"), "expected \"weight_map\" to hold names");
  EXPECT_PRED2(contains, refusal(R"({"weight_map":{"a":"../1.safetensors"}})"),
               "expected the name of a .safetensors file beside it, but got \"../1.safetensors\"");
  EXPECT_PRED2(contains, refusal(R"({"weight_map":{"a":"/etc/passwd"}})"), "but got \"/etc/passwd\"");
  EXPECT_PRED2(contains, refusal(R"({"weight_map":{"a":"2.safetensors"}})"), "No such file or directory");
  EXPECT_PRED2(contains, refusal(R"({"weight_map":{"b":"1.safetensors"}})"),
               "1.safetensors: expected tensor \"b\", which ");
  EXPECT_PRED2(contains, refusal(R"({"weight_map":{"a":"1.safetensors","b":"1.safetensors"}})"),
               "but it is absent");
  folder.write("1.safetensors", "");
  EXPECT_PRED2(contains, refusal(R"({"weight_map":{"a":"1.safetensors"}})"), "at least 8 bytes");
}

TEST(CheckpointPaths, AreRelativeToAFolder) {
  TemporaryFolder folder;
  std::string path = folder.write("a/b/m.safetensors", "");
  folder.write("a/c/d/x", "");
  EXPECT_EQ(relativePath(path, folder.file("a/b")), "m.safetensors");
  EXPECT_EQ(relativePath(path, folder.file("a")), "b/m.safetensors");
  EXPECT_EQ(relativePath(path, folder.file("a/c/d")), "../../b/m.safetensors");
  EXPECT_EQ(relativePath("gone", folder.file("")), "gone");
}

} // namespace
