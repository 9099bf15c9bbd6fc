// Shared libraries: which are modules, and what they offer.
#include "tests/unit/RuntimeFixture.h"

using namespace heed::test;

/// The message with which a library made from this C source is refused, without its path.
static std::string refusal(const std::string &source) {
  TemporaryFolder folder;
  std::string path = folder.file("x.so"), c = folder.write("x.c", source);
  EXPECT_EQ(std::system(("clang-22 -shared -fPIC -o " + path + " " + c).c_str()), 0);
  heed_library *library;
  heed_error error;
  EXPECT_NE(heed_library_open(path.c_str(), &library, &error), 0);
  EXPECT_EQ(library, nullptr);
  std::string message = error.message;
  return message.substr(std::min(message.size(), path.size() + 2));
}

TEST(Library, ThatIsNoModuleIsRefused) {
  EXPECT_EQ(refusal("int x;"), "expected a module with heed_module_query, but it has none");
  EXPECT_EQ(refusal("const void *heed_module_query(unsigned version) { return 0; }"),
            "expected a module that speaks ABI version 1, but it does not");
  EXPECT_EQ(refusal("static unsigned table[2] = {4, 1};"
                    "const void *heed_module_query(unsigned version) { return table; }"),
            "expected a module that speaks ABI version 1, but it does not");
}

TEST(Library, ThatCannotBeLoadedIsRefused) {
  TemporaryFolder folder;
  heed_library *library;
  heed_error error;
  ASSERT_NE(heed_library_open(folder.file("none.so").c_str(), &library, &error), 0);
  EXPECT_EQ(std::string(error.message),
            folder.file("none.so") + ": expected a shared library, but there is no such file");
  for (const char *content : {"", "garbage",
                              "\x7f"
                              "ELF"}) {
    std::string path = folder.write("x.so", content);
    ASSERT_NE(heed_library_open(path.c_str(), &library, &error), 0);
    EXPECT_EQ(std::string(error.message)
                  .rfind(path + ": expected a shared library that can be loaded, but got: ", 0),
              0u)
        << error.message;
  }
  // A name without a slash is a file here, never one that the system finds elsewhere.
  ASSERT_NE(heed_library_open("libm.so.6", &library, &error), 0);
  EXPECT_STREQ(error.message, "libm.so.6: expected a shared library, but there is no such file");
}

TEST(Library, ListsItsEntries) {
  ToyModule toy;
  heed_error error;
  EXPECT_EQ(heed_find_entry(&toy.module, nullptr, &error), &toy.entry);
  EXPECT_EQ(heed_find_entry(&toy.module, "step", &error), &toy.entry);
  EXPECT_EQ(heed_find_entry(&toy.module, "prefill", &error), nullptr);
  EXPECT_STREQ(error.message, "toy: expected one of the entries step, but got prefill");
  const heed_entry *both[] = {&toy.entry, &toy.entry};
  toy.module.entries = both;
  toy.module.entry_count = 2;
  EXPECT_EQ(heed_find_entry(&toy.module, nullptr, &error), nullptr);
  EXPECT_STREQ(error.message, "toy: expected one of the entries step, step, but got none");
  EXPECT_EQ(heed_find_argument(&toy.entry, "state"), 2);
  EXPECT_EQ(heed_find_argument(&toy.entry, "z"), -1);
}
