// Parameter images: mapped in constant time where they fit, refused where they do not.
#include "tests/unit/RuntimeFixture.h"

#include <cstdint>

using namespace heed::test;

namespace {

/// An image whose header begins as agreed and whose data starts at `start`.
std::string image(const std::string &version, const std::string &layout, size_t dataBytes,
                  size_t start = 4096) {
  std::string header = R"({"__metadata__":{"heed.format_version":")" + version + R"(","heed.layout_id":")" +
                       layout + R"(","by":"test"},"w":{"dtype":"F32","shape":[32],"data_offsets":[0,128]}})";
  header.resize(start - 8, ' ');
  std::string file;
  for (int i = 0; i < 8; ++i)
    file += static_cast<char>(header.size() >> 8 * i);
  return file + header + std::string(dataBytes, 'w');
}

const std::string layout = "0123456789abcdef";

/// The message with which a file is refused, without its path; "" if it is mapped.
std::string refusal(const std::string &content) {
  TemporaryFolder folder;
  ToyModule toy;
  toy.module.parameters = &toy.parameters;
  std::string path = folder.write("toy.heed", content);
  heed_params *params;
  heed_error error;
  if (heed_params_map(&toy.module, path.c_str(), &params, &error) == 0) {
    heed_params_unmap(params);
    return "";
  }
  EXPECT_EQ(params, nullptr);
  std::string message = error.message;
  EXPECT_EQ(message.rfind(path + ": ", 0), 0u) << message;
  return message.substr(path.size() + 2);
}

} // namespace

TEST(Params, AreMappedWhereTheyFit) {
  TemporaryFolder folder;
  ToyModule toy;
  toy.module.parameters = &toy.parameters;
  heed_params *params;
  heed_error error;
  std::string path = folder.write("toy.heed", image("1", layout, 128));
  ASSERT_EQ(heed_params_map(&toy.module, path.c_str(), &params, &error), 0) << error.message;
  auto *data = static_cast<const char *>(heed_params_data(params));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % HEED_ALIGNMENT, 0u);
  EXPECT_EQ(std::string(data, 128), std::string(128, 'w'));
  heed_params_unmap(params);
}

TEST(Params, AreFoundInTheModuleOrBesideIt) {
  ToyModule toy;
  heed_params *params;
  heed_error error;
  alignas(64) static const char embedded[128] = "w";
  toy.module.parameters = &toy.parameters;
  toy.parameters.embedded = embedded;
  ASSERT_EQ(heed_params_map(&toy.module, nullptr, &params, &error), 0);
  EXPECT_EQ(heed_params_data(params), embedded);
  heed_params_unmap(params);

  toy.parameters.embedded = nullptr;
  ASSERT_NE(heed_params_map(&toy.module, nullptr, &params, &error), 0);
  EXPECT_STREQ(error.message, "toy: expected a parameter image, but got none");
  toy.module.parameters = nullptr;
  ASSERT_EQ(heed_params_map(&toy.module, nullptr, &params, &error), 0);
  EXPECT_EQ(heed_params_data(params), nullptr);
  heed_params_unmap(params);
  ASSERT_NE(heed_params_map(&toy.module, "x.heed", &params, &error), 0);
  EXPECT_STREQ(error.message, "x.heed: expected no parameters, as toy has none");

  char path[32];
  ASSERT_EQ(heed_params_beside("a/minilm.so", path, sizeof path, &error), 0);
  EXPECT_STREQ(path, "a/minilm.heed");
  ASSERT_EQ(heed_params_beside("./minilm", path, sizeof path, &error), 0);
  EXPECT_STREQ(path, "./minilm.heed");
  EXPECT_NE(heed_params_beside("./a-name-of-32-bytes-and-more.so", path, sizeof path, &error), 0);
}

TEST(Params, OfAnotherBuildAreRefused) {
  EXPECT_EQ(refusal(image("2", layout, 128)), "expected format version 1, but got 2");
  EXPECT_EQ(
      refusal(image("1", "fedcba9876543210", 128)),
      "expected the parameters of this module, layout 0123456789abcdef, but got layout fedcba9876543210");
  EXPECT_EQ(refusal(image("1", layout, 127)), "expected 4224 bytes, but got 4223");
  EXPECT_EQ(refusal(image("1", layout, 129)), "expected 4224 bytes, but got 4225");
  EXPECT_EQ(refusal(image("1", layout, 128, 4160)),
            "expected tensor data to start on a page, but it starts at byte 4160");
}

TEST(Params, ThatAreNoImageAreRefused) {
  EXPECT_EQ(refusal(""), "expected a parameter image, but got an empty file");
  EXPECT_EQ(refusal("short"), "expected a parameter image, but its 5 bytes do not hold a header");
  EXPECT_EQ(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10)),
            "expected a parameter image, but its 10 bytes do not hold a header");
  EXPECT_EQ(refusal(std::string("\0\0\0\0\0\0\0\x80{}", 10)),
            "expected a parameter image, but its 10 bytes do not hold a header");
  EXPECT_EQ(refusal(std::string("\2\0\0\0\0\0\0\0{}", 10)),
            "expected a parameter image that heed wrote, but its header is another one");
  std::string cut = image("1", layout, 128).substr(0, 60);
  cut.replace(0, 8, std::string("\x34\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(refusal(cut), "expected a layout id in the header, but there is none");

  TemporaryFolder folder;
  ToyModule toy;
  toy.module.parameters = &toy.parameters;
  heed_params *params;
  heed_error error;
  ASSERT_NE(heed_params_map(&toy.module, folder.path.c_str(), &params, &error), 0);
  EXPECT_EQ(std::string(error.message),
            folder.path.string() + ": expected a parameter image, but got something that is no file");
  ASSERT_NE(heed_params_map(&toy.module, folder.file("none").c_str(), &params, &error), 0);
  EXPECT_EQ(std::string(error.message),
            folder.file("none") + ": expected a parameter image, but got: No such file or directory");
}
