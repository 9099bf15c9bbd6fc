// Tensors as safetensors files: what is read, what is written, what is refused.
#include "tests/unit/RuntimeFixture.h"

#include <cstring>

using namespace heed::test;

namespace {

std::string file(const std::string &header, const std::string &data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(header.size() >> 8 * i);
  return bytes + header + data;
}

const std::string two =
    R"({"__metadata__":{"a\"}":"b"}, "x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
    R"("y" : {"shape":[2, 1],"data_offsets":[4, 8],"dtype":"BF16"}})";

/// The message with which tensor `y` of a file is refused, without the path; "" if it is read.
std::string refusal(const std::string &content, const char *name = "y") {
  TemporaryFolder folder;
  std::string path = folder.write("x.safetensors", content);
  heed_tensor tensor;
  heed_error error;
  if (heed_tensor_read(path.c_str(), name, &tensor, &error) == 0) {
    heed_tensor_free(&tensor);
    return "";
  }
  EXPECT_EQ(tensor.data, nullptr);
  std::string message = error.message;
  EXPECT_EQ(message.rfind(path + ": ", 0), 0u) << message;
  return message.substr(path.size() + 2);
}

std::string one(const std::string &dtype, const std::string &shape, const std::string &offsets) {
  return R"({"y":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

} // namespace

TEST(Safetensors, ReadsATensorByNameOrTheOnlyOne) {
  TemporaryFolder folder;
  std::string path = folder.write("x.safetensors", file(two, "abcdefgh"));
  heed_tensor tensor;
  heed_error error;
  ASSERT_EQ(heed_safetensors_read(path.c_str(), "y", &tensor, &error), 0) << error.message;
  EXPECT_STREQ(heed_type_name(tensor.type), "bf16");
  ASSERT_EQ(tensor.rank, 2);
  EXPECT_EQ(tensor.sizes[0], 2);
  EXPECT_EQ(std::memcmp(tensor.data, "efgh", 4), 0);
  heed_tensor_free(&tensor);
  EXPECT_EQ(refusal(file(one("F32", "[1]", "[0,4]"), "abcd"), "another"), "");
  EXPECT_EQ(refusal(file(two, "abcdefgh"), "z"), "expected a tensor 'z', or one alone, but got 2 others");
  EXPECT_EQ(refusal(file("{}", "")), "expected a tensor 'y', or one alone, but got 0 others");
}

TEST(Safetensors, WritesWhatItReads) {
  TemporaryFolder folder;
  std::string path = folder.file("x.safetensors");
  heed_type bf16 = {HEED_TYPE_BFLOAT, 16, 1};
  for (heed_type type : {f32, bf16, i64})
    for (std::vector<int64_t> sizes : {std::vector<int64_t>{}, {3}, {0, 2}, {2, 3}}) {
      heed_tensor out, in;
      heed_error error;
      ASSERT_EQ(heed_tensor_allocate(type, sizes.size(), sizes.data(), &out, &error), 0);
      size_t bytes = heed_tensor_count(&out) * type.bits / 8;
      for (size_t i = 0; i < bytes; ++i)
        static_cast<char *>(out.data)[i] = i + 1;
      ASSERT_EQ(heed_tensor_write(path.c_str(), "a \"name\"\\", &out, &error), 0) << error.message;
      ASSERT_EQ(heed_tensor_read(path.c_str(), "a \"name\"\\", &in, &error), 0) << error.message;
      EXPECT_STREQ(heed_type_name(in.type), heed_type_name(type));
      EXPECT_EQ(in.rank, out.rank);
      EXPECT_EQ(std::memcmp(in.data, out.data, bytes), 0);
      heed_tensor_free(&out);
      heed_tensor_free(&in);
    }
}

TEST(Safetensors, RefusesWhatIsNoSuchFile) {
  EXPECT_EQ(refusal(""), "expected a safetensors file, but it ends before its header");
  EXPECT_EQ(refusal("garbage"), "expected a safetensors file, but it ends before its header");
  EXPECT_EQ(refusal(std::string("\0\0\0\0\0\0\0\x80{}", 10)),
            "expected a header within 10 bytes, but got one of 9223372036854775808");
  EXPECT_EQ(refusal(std::string("\3\0\0\0\0\0\0\0{}", 10)),
            "expected a header within 10 bytes, but got one of 3");
  EXPECT_EQ(refusal(file("[]", "")), "expected an object in the header");
  EXPECT_EQ(refusal(file("{", "")),
            "expected names of less than 256 bytes, without \\u escapes, and their tensors in the header");
  EXPECT_EQ(refusal(file("{} x", "")), "expected nothing after the object in the header");
  EXPECT_EQ(refusal(file(R"({"__metadata__":3})", "")), "expected __metadata__ to hold texts in the header");
  EXPECT_EQ(refusal(file(R"({"y":[]})", "")), "expected a tensor to be an object in the header");
  for (const char *tensor :
       {R"({})", R"({"dtype":"F32"})", R"({"color":1})", R"({"dtype":"F32","dtype":"F32"})"})
    EXPECT_EQ(refusal(file(R"({"y":)" + std::string(tensor) + "}", "")),
              "expected a tensor to have 'dtype', 'shape' and 'data_offsets' in the header");
  std::string body = R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(refusal(file(R"({"y":)" + body + R"(,"y":)" + body + "}", "")),
            "expected each name once in the header");
}

TEST(Safetensors, RefusesTensorsThatDoNotLieInTheFile) {
  EXPECT_EQ(refusal(file(one("F33", "[1]", "[0,4]"), "abcd")), "expected a known dtype in the header");
  EXPECT_EQ(refusal(file(one("F32", "[-1]", "[0,4]"), "abcd")),
            "expected a shape of at most 32 sizes in the header");
  EXPECT_EQ(refusal(file(one("F32", "[1]", "[0]"), "abcd")), "expected two data_offsets in the header");
  EXPECT_EQ(refusal(file(one("F32", "[1]", "[0,99999999999999999999]"), "abcd")),
            "expected two data_offsets in the header");
  EXPECT_EQ(refusal(file(one("F32", "[1]", "[4,8]"), "abcd")),
            "expected data_offsets within 4 bytes, but got [4, 8]");
  EXPECT_EQ(refusal(file(one("F32", "[1]", "[4,0]"), "abcd")),
            "expected data_offsets within 4 bytes, but got [4, 0]");
  EXPECT_EQ(refusal(file(one("F32", "[2]", "[0,4]"), "abcd")), "expected 8 bytes of data, but got 4");
  EXPECT_EQ(refusal(file(one("F32", "[4611686018427387904]", "[0,4]"), "abcd")),
            "expected a shape whose bytes fit in 63 bits, but they do not");
  EXPECT_EQ(refusal(file(one("BOOL", "[2]", "[0,2]"), "\1\2")),
            "expected bools of 0 or 1, but element 1 is 2");
}
