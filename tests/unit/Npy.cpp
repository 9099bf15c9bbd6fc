// .npy files: what is read, what is written, what is refused.
#include "tests/unit/RuntimeFixture.h"

#include <csignal>
#include <cstring>
#include <sys/resource.h>

using namespace heed::test;

namespace {

/// A .npy file of format `major` with this header, padded as numpy does, and data.
std::string npy(const std::string &header, const std::string &data, int major = 1) {
  std::string text = header;
  size_t prefix = major == 1 ? 10 : 12;
  while ((prefix + text.size() + 1) % 64 != 0)
    text += ' ';
  text += '\n';
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(major), 0};
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    file += static_cast<char>(text.size() >> 8 * i);
  return file + text + data;
}

std::string header(const std::string &descr, const std::string &shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

std::string bytesOf(std::vector<float> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)};
}

/// The message with which a file is refused, without its path; "" if it is read.
std::string refusal(const std::string &content) {
  TemporaryFolder folder;
  std::string path = folder.write("x.npy", content);
  heed_tensor tensor;
  heed_error error;
  if (heed_npy_read(path.c_str(), &tensor, &error) == 0) {
    heed_tensor_free(&tensor);
    return "";
  }
  EXPECT_EQ(tensor.data, nullptr);
  std::string message = error.message;
  EXPECT_EQ(message.rfind(path + ": ", 0), 0u) << message;
  return message.substr(path.size() + 2);
}

} // namespace

TEST(Npy, ReadsEveryFormat) {
  for (int major : {1, 2, 3}) {
    TemporaryFolder folder;
    std::string path = folder.write("x.npy", npy(header("<f4", "(2, 1)"), bytesOf({1.5f, -2}), major));
    heed_tensor tensor;
    heed_error error;
    ASSERT_EQ(heed_npy_read(path.c_str(), &tensor, &error), 0) << error.message;
    EXPECT_STREQ(heed_type_name(tensor.type), "f32");
    ASSERT_EQ(tensor.rank, 2);
    EXPECT_EQ(tensor.sizes[0], 2);
    EXPECT_EQ(tensor.sizes[1], 1);
    EXPECT_EQ(static_cast<float *>(tensor.data)[1], -2);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data) % HEED_ALIGNMENT, 0u);
    heed_tensor_free(&tensor);
    EXPECT_EQ(tensor.data, nullptr);
  }
}

TEST(Npy, ReadsScalarsEmptyTensorsAndFreeKeyOrder) {
  EXPECT_EQ(refusal(npy(header("<f4", "()"), bytesOf({1}))), "");
  EXPECT_EQ(refusal(npy(header("<f4", "(3, 0)"), "")), "");
  EXPECT_EQ(refusal(npy(R"({"shape":(1,),"descr":"<f4","fortran_order":True})", bytesOf({1}))), "");
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }", bytesOf({1, 2}))), "");
}

TEST(Npy, WritesWhatItReadsForEveryType) {
  heed_type types[] = {f32,
                       f64,
                       i64,
                       {HEED_TYPE_FLOAT, 16, 1},
                       {HEED_TYPE_BOOL, 8, 1},
                       {HEED_TYPE_INT, 8, 1},
                       {HEED_TYPE_INT, 16, 1},
                       {HEED_TYPE_INT, 32, 1},
                       {HEED_TYPE_UINT, 8, 1},
                       {HEED_TYPE_UINT, 64, 1}};
  TemporaryFolder folder;
  std::string path = folder.file("x.npy");
  for (heed_type type : types)
    for (std::vector<int64_t> sizes : {std::vector<int64_t>{}, {3}, {2, 0}, {2, 3, 1}}) {
      heed_tensor out, in;
      heed_error error;
      ASSERT_EQ(heed_tensor_allocate(type, sizes.size(), sizes.data(), &out, &error), 0);
      size_t bytes = heed_tensor_count(&out) * type.bits / 8;
      for (size_t i = 0; i < bytes; ++i)
        static_cast<char *>(out.data)[i] = i % 2;
      ASSERT_EQ(heed_npy_write(path.c_str(), &out, &error), 0) << error.message;
      ASSERT_EQ(heed_npy_read(path.c_str(), &in, &error), 0) << error.message;
      EXPECT_STREQ(heed_type_name(in.type), heed_type_name(type));
      ASSERT_EQ(in.rank, out.rank);
      EXPECT_EQ(std::memcmp(in.data, out.data, bytes), 0);
      EXPECT_EQ(folder.read("x.npy").find('\n') % 64, 63u) << "data should start on 64 bytes";
      heed_tensor_free(&out);
      heed_tensor_free(&in);
    }
}

TEST(Npy, WritesStridedTensorsDense) {
  float data[] = {1, 2, 9, 3, 4, 9};
  int64_t sizes[] = {2, 2}, strides[] = {3, 1};
  heed_tensor tensor = {data, f32, 2, sizes, strides};
  TemporaryFolder folder;
  ASSERT_EQ(heed_npy_write(folder.file("x.npy").c_str(), &tensor, nullptr), 0);
  EXPECT_EQ(folder.read("x.npy"), npy(header("<f4", "(2, 2)"), bytesOf({1, 2, 3, 4})));
}

TEST(Npy, RefusesWhatIsNoNpyFile) {
  EXPECT_EQ(refusal(""), "expected a .npy file, but it does not begin like one");
  EXPECT_EQ(refusal("garbage of some length"), "expected a .npy file, but it does not begin like one");
  EXPECT_EQ(refusal("\x93NUMPY"), "expected a header, but the file ends");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x01\x00\x40", 9)), "expected a header, but the file ends");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x01\x00\x40\x00{", 11)),
            "expected a header of 64 bytes, but the file ends");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x04\x00", 8)), "expected format 1.0, 2.0 or 3.0, but got 4.0");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
            "expected a header of at most 65536 bytes, but got 4294967295");
}

TEST(Npy, RefusesHeadersThatAreNoDictionary) {
  const char *keys = "expected the keys 'descr', 'fortran_order' and 'shape', once each in the header";
  EXPECT_EQ(refusal(npy("[]", "")), "expected a dictionary in the header");
  EXPECT_EQ(refusal(npy("{}", "")), keys);
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'fortran_order': False}", "")), keys);
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'descr': '<f4'}", "")), keys);
  EXPECT_EQ(refusal(npy("{'color': '<f4'}", "")), keys);
  EXPECT_EQ(refusal(npy(header("<f4", "()") + "x", "")),
            "expected nothing after the dictionary in the header");
  EXPECT_EQ(refusal(npy("{'descr': [('a', '<f4')]}", "")),
            "expected 'descr' to be a plain element type in the header");
  EXPECT_EQ(refusal(npy("{'descr", "")), "expected a key and a value in the header");
  EXPECT_EQ(refusal(npy("{'fortran_order': 1}", "")),
            "expected 'fortran_order' to be True or False in the header");
  for (const char *shape : {"(3)", "[3]", "(-1,)", "(3,", "(99999999999999999999,)", "3"})
    EXPECT_EQ(refusal(npy(header("<f4", shape), "")),
              "expected 'shape' to be a tuple of at most 32 sizes in the header")
        << shape;
}

TEST(Npy, RefusesTypesOrdersAndSizesItCannotPass) {
  EXPECT_EQ(refusal(npy(header(">f4", "(1,)"), bytesOf({1}))), "expected little-endian data, but got '>f4'");
  for (const char *descr : {"<c8", "|O", "<U4", "|V2", "<f16", "f4"})
    EXPECT_EQ(refusal(npy(header(descr, "(1,)"), bytesOf({1}))),
              "expected floats of 16 to 64 bits, integers or bools, but got '" + std::string(descr) + "'");
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }", bytesOf({1, 2}))),
            "expected data in C order, but it is in Fortran order");
  EXPECT_EQ(refusal(npy(header("<f4", "(3,)"), bytesOf({1, 2}))), "expected 12 bytes of data, but got 8");
  EXPECT_EQ(refusal(npy(header("<f4", "(1,)"), bytesOf({1, 2}))), "expected 4 bytes of data, but got 8");
  EXPECT_EQ(refusal(npy(header("<f4", "(4611686018427387904,)"), "")),
            "expected a shape whose bytes fit in 63 bits, but they do not");
  EXPECT_EQ(refusal(npy(header("|b1", "(2,)"), std::string("\1\2"))),
            "expected bools of 0 or 1, but element 1 is 2");
}

TEST(Npy, LeavesNothingWhereTheDiskIsFull) {
  // A limit on the size of files fails a write as a full disk does.
  TemporaryFolder folder;
  std::vector<float> values(1 << 20);
  int64_t size = values.size();
  heed_tensor tensor = {values.data(), f32, 1, &size, nullptr};
  heed_error error;
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {4096, before.rlim_max};
  auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  int failed = heed_npy_write(folder.file("x.npy").c_str(), &tensor, &error);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  ASSERT_NE(failed, 0);
  EXPECT_EQ(std::string(error.message),
            folder.file("x.npy") + ": expected to write a file, but got: File too large");
  EXPECT_TRUE(folder.list().empty());
}

TEST(Npy, RefusesPlacesItCannotUse) {
  TemporaryFolder folder;
  heed_tensor tensor;
  heed_error error;
  std::string missing = folder.file("missing/x.npy");
  ASSERT_NE(heed_npy_read(missing.c_str(), &tensor, &error), 0);
  EXPECT_EQ(std::string(error.message),
            missing + ": expected a .npy file, but got: No such file or directory");
  ASSERT_NE(heed_npy_read(folder.path.c_str(), &tensor, &error), 0);
  EXPECT_EQ(std::string(error.message),
            folder.path.string() + ": expected a .npy file, but it is no regular file");

  float one = 1;
  heed_tensor scalar = {&one, f32, 0, nullptr, nullptr};
  ASSERT_NE(heed_npy_write(missing.c_str(), &scalar, &error), 0);
  EXPECT_EQ(std::string(error.message),
            missing + ": expected to write a file, but got: No such file or directory");
  scalar.type = {HEED_TYPE_BFLOAT, 16, 1};
  ASSERT_NE(heed_npy_write(folder.file("x.npy").c_str(), &scalar, &error), 0);
  EXPECT_EQ(std::string(error.message),
            folder.file("x.npy") + ": expected a type that .npy has, but got bf16");
  EXPECT_TRUE(folder.list().empty());
}

TEST(Npy, LeavesNothingWhereTheLastStepFails) {
  // The file is written beside its place and renamed: a folder in that place refuses the renaming.
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "x.npy" / "inside");
  float one = 1;
  heed_tensor scalar = {&one, f32, 0, nullptr, nullptr};
  heed_error error;
  EXPECT_NE(heed_npy_write(folder.file("x.npy").c_str(), &scalar, &error), 0);
  EXPECT_EQ(folder.list(), std::vector<std::string>{"x.npy"});
}
