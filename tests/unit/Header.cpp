// The generated header: what it says, and that C99 and C++11 compilers take it.
#include "compiler/target/Header.h"
#include "tests/unit/RuntimeFixture.h"

#include "mlir/Parser/Parser.h"

using namespace heed;

namespace {

std::string headerOf(const char *interface, const HeaderOptions &options = {}) {
  mlir::MLIRContext context;
  std::string source =
      "module @m attributes {heed.interface = {name = \"m\", " + std::string(interface) + "}} {}";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  mlir::FailureOr<ModuleInterface> described = ModuleInterface::get(*module);
  return generateHeader(*described, "x86-64-v3", options);
}

constexpr const char *twoEntries = R"(entries = [
  {name = "m", symbol = "m", params, sizes = ["batch", "seq"], relations = ["seq <= 512"], arguments = [
    {name = "input_ids", role = "input", type = i64, shape = ["batch", "seq"], range = [0, 30521]},
    {name = "attention_mask", role = "input", type = i64, shape = ["batch", "seq"], optional = "ones"},
    {name = "cache", role = "state", type = bf16, shape = ["batch", 12, "seq", 64], strided},
    {name = "last hidden.state", role = "output", type = f32, shape = ["batch", "seq", 384]}]},
  {name = "odd", symbol = "m_odd", sizes = ["int", "x"], arguments = [
    {name = "x", role = "input", type = f16, shape = ["x"]},
    {name = "workspace", role = "input", type = i1, shape = []},
    {name = "0", role = "output", type = i8, shape = ["int"]}]}],
  parameters = {bytes = 64 : i64, list = [{name = "w", type = f32, shape = array<i64: 16>, storage = "f32",
    offset = 0 : i64, bytes = 64 : i64}]})";

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(Header, DeclaresTheCallInTheAgreedOrder) {
  std::string header = headerOf(twoEntries);
  for (const char *part :
       {"int32_t m(const int64_t *input_ids, const int64_t *attention_mask, uint16_t *cache, float "
        "*last_hidden_state,\n"
        "          const void *params, int64_t batch, int64_t seq, int64_t cache_stride0, int64_t "
        "cache_stride1,\n"
        "          int64_t cache_stride2, void *workspace, size_t workspace_bytes, const heed_context "
        "*context);\n",
        "size_t m_workspace_bytes(int64_t batch, int64_t seq, int32_t threads);\n",
        "int32_t m_odd(const uint16_t *x_, const uint8_t *workspace_, int8_t *_0, int64_t int_, int64_t x,\n",
        "const struct heed_module *m_module_query(uint32_t abi_version);\n"})
    EXPECT_TRUE(contains(header, part)) << part << "\nin\n" << header;
}

TEST(Header, DocumentsWhatACallerMustKnow) {
  std::string header = headerOf(twoEntries, {true, 4096, false});
  for (const char *part :
       {"compiled by heed for x86-64-v3", "0  input_ids: i64 [batch, seq], indices in [0, 30521]",
        "1  attention_mask: i64 [batch, seq]; null stands for ones",
        "2  cache: bf16 [batch, 12, seq, 64], strided", "Sizes: batch, seq\n *   seq <= 512\n",
        "at most 4096 bytes of stack", "64 bytes aligned to 64", "HEED_INDEX_OUT_OF_RANGE",
        "before anything is read or written"})
    EXPECT_TRUE(contains(header, part)) << part << "\nin\n" << header;
  std::string unchecked = headerOf(twoEntries, {false, std::nullopt, true});
  EXPECT_FALSE(contains(unchecked, "before anything is read or written"));
  EXPECT_TRUE(contains(unchecked, "is undefined behaviour"));
  EXPECT_TRUE(contains(unchecked, "part of the object"));
  EXPECT_EQ(headerOf(twoEntries), headerOf(twoEntries)) << "expected equal input to give equal text";
}

TEST(Header, CompilesAsC99AndCxx11WithAndWithoutTheRuntime) {
  test::TemporaryFolder folder;
  folder.write("m.h", headerOf(twoEntries));
  std::string c =
      folder.write("both.c", "#include \"m.h\"\n#include \"runtime/heed.h\"\n#include \"m.h\"\n"
                             "int f(void) { return HEED_STATUS_KIND(m_odd(0, 0, 0, 0, 0, 0, 0, 0)); }\n");
  std::string other = folder.write("after.c", "#include \"runtime/heed_kernel.h\"\n#include \"m.h\"\n"
                                              "heed_module_query_fn query = m_module_query;\n");
  std::string alone = folder.write("alone.c", "#include \"m.h\"\nheed_context context;\n");
  for (const char *compiler : {"clang-22 -std=c99 -x c", "gcc -std=c99 -x c", "clang++-22 -std=c++11 -x c++",
                               "g++ -std=c++11 -x c++"})
    for (const std::string &source : {c, other, alone}) {
      std::string command = std::string(compiler) + " -Wall -Wextra -Werror -pedantic -fsyntax-only -I" +
                            folder.path.string() + (source == alone ? "" : " -I.") + " " + source;
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
}
