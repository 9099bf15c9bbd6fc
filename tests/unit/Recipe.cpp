#include "compiler/import/Recipe.h"
#include "compiler/import/ParameterImage.h"
#include "compiler/import/ParameterSources.h"

#include "dialect/Attn.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "tests/unit/TemporaryFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <list>
#include <numeric>

using namespace heed;
using namespace heed::test;

namespace {

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}
template <typename T> std::vector<T> valuesOf(llvm::StringRef bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

struct RecipeTest : testing::Test {
  TemporaryFolder folder;
  mlir::MLIRContext context;
  std::vector<TensorToWrite> tensors;
  std::list<std::string> storage;

  void add(const std::string &name, StorageType type, std::vector<int64_t> shape, const std::string &bytes) {
    tensors.push_back({name, type, std::move(shape), storage.emplace_back(bytes)});
  }
  void addCounting(const std::string &name, std::vector<int64_t> shape, float first = 0) {
    int64_t size = 1;
    for (int64_t dim : shape)
      size *= dim;
    std::vector<float> values(size);
    std::iota(values.begin(), values.end(), first);
    add(name, StorageType::F32, shape, bytesOf(values));
  }

  Checkpoint checkpoint() {
    std::string file;
    llvm::raw_string_ostream os(file);
    writeSafetensors(os, tensors);
    return llvm::cantFail(Checkpoint::open(folder.write("source.safetensors", file)));
  }

  /// A module with these recipes, in which parameters of these names and types are laid out in order.
  mlir::OwningOpRef<mlir::ModuleOp>
  module(const std::string &recipes, const std::vector<std::pair<std::string, std::string>> &parameters) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "module @m attributes {heed.params = \"source.safetensors\", heed.recipe = {" + recipes + "}} {}",
        &context);
    ModuleInterface interface;
    interface.name = "m";
    for (auto &[name, type] : parameters) {
      auto tensor = llvm::cast<mlir::RankedTensorType>(mlir::parseType(type, &context));
      ParameterInterface parameter = llvm::cantFail(describeParameter(*module, name, tensor));
      parameter.offset = interface.parameterBytes;
      interface.parameterBytes = llvm::alignTo(parameter.offset + parameter.bytes, 64);
      interface.parameters.push_back(parameter);
    }
    interface.attach(*module);
    return module;
  }

  /// The bytes of the one parameter `name`, or the message of the error.
  std::string make(const std::string &recipes, const std::string &name, const std::string &type) {
    auto described = module(recipes, {{name, type}});
    std::string data;
    llvm::raw_string_ostream os(data);
    if (llvm::Error error = writeParameterData(*described, checkpoint(), os))
      return llvm::toString(std::move(error));
    EXPECT_EQ(data.size() % 64, 0u);
    return data.substr(0, ModuleInterface::get(*described)->parameters[0].bytes);
  }
  std::vector<float> makeFloats(const std::string &recipes, const std::string &name,
                                const std::string &type) {
    return valuesOf<float>(make(recipes, name, type));
  }
};

TEST_F(RecipeTest, WithoutOneATensorStaysAsItIs) {
  addCounting("w", {2, 3});
  EXPECT_EQ(makeFloats("", "w", "tensor<2x3xf32>"), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  add("i", StorageType::I64, {2}, bytesOf<int64_t>({-1, 1}));
  EXPECT_EQ(valuesOf<int64_t>(make("", "i", "tensor<2xi64>")), (std::vector<int64_t>{-1, 1}));
  add("s", StorageType::F32, {}, bytesOf<float>({7}));
  EXPECT_EQ(makeFloats("", "s", "tensor<f32>"), std::vector<float>{7});
  add("none", StorageType::F32, {3, 0}, "");
  EXPECT_EQ(make("", "none", "tensor<3x0xf32>"), "");
}

TEST_F(RecipeTest, SlicesPermutesAndConcatenates) {
  addCounting("a", {3, 4});
  addCounting("b", {4, 1}, 100);
  EXPECT_EQ(makeFloats("w = {tensor = \"a\", slices = [array<i64: 1, 2>, array<i64: 2, 2>]}", "w",
                       "tensor<2x2xf32>"),
            (std::vector<float>{6, 7, 10, 11}));
  EXPECT_EQ(makeFloats("w = {tensor = \"a\", permutation = array<i64: 1, 0>}", "w", "tensor<4x3xf32>"),
            (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  std::string parts = "parts = [{tensor = \"a\", permutation = array<i64: 1, 0>}, {tensor = \"b\"}]";
  EXPECT_EQ(makeFloats("w = {concatenation = 1, " + parts + "}", "w", "tensor<4x4xf32>"),
            (std::vector<float>{0, 4, 8, 100, 1, 5, 9, 101, 2, 6, 10, 102, 3, 7, 11, 103}));
  EXPECT_EQ(makeFloats(
                "w = {concatenation = 0, parts = [{tensor = \"b\"}, {tensor = \"b\", slices = [array<i64: 3, "
                "1>, array<i64: 0, 1>]}]}",
                "w", "tensor<5x1xf32>"),
            (std::vector<float>{100, 101, 102, 103, 103}));
}

/// What linalg.pack makes of `values` [rows, columns], inner_dims_pos = [dim].
std::vector<float> packed(const std::vector<float> &values, int64_t rows, int64_t columns, int dim,
                          int64_t width) {
  int64_t outer[2] = {rows, columns};
  outer[dim] = (outer[dim] + width - 1) / width;
  std::vector<float> result;
  for (int64_t i = 0; i < outer[0]; ++i)
    for (int64_t j = 0; j < outer[1]; ++j)
      for (int64_t k = 0; k < width; ++k) {
        int64_t row = dim == 0 ? i * width + k : i, column = dim == 1 ? j * width + k : j;
        result.push_back(row < rows && column < columns ? values[row * columns + column] : 0);
      }
  return result;
}

TEST_F(RecipeTest, PanelsAreWhatPackMakes) {
  for (auto [rows, columns] :
       {std::pair<int64_t, int64_t>{1, 1}, {4, 3}, {5, 2}, {16, 1}, {33, 7}, {1000, 300}}) {
    tensors.clear();
    addCounting("w", {rows, columns});
    std::vector<float> values = valuesOf<float>(tensors[0].data);
    for (int dim : {0, 1})
      for (int64_t width : {1, 4, 16}) {
        auto logical = mlir::RankedTensorType::get({rows, columns}, mlir::Float32Type::get(&context));
        auto owner = mlir::parseSourceString<mlir::ModuleOp>("module {}", &context);
        std::string name = addPanelRecipe(*owner, "w", logical, dim, width), recipes, type;
        EXPECT_EQ(addPanelRecipe(*owner, "w", logical, dim, width), name);
        llvm::raw_string_ostream(type) << getPanelType(logical, dim, width);
        llvm::raw_string_ostream(recipes) << (*owner)->getAttr("heed.recipe");
        recipes = recipes.substr(1, recipes.size() - 2);
        EXPECT_EQ(makeFloats(recipes, name, type), packed(values, rows, columns, dim, width))
            << rows << "x" << columns << " along " << dim << " by " << width;
      }
  }
}

TEST_F(RecipeTest, PanelsCrossParts) {
  addCounting("a", {3, 2});
  addCounting("b", {4, 2}, 100);
  std::string recipes = "w = {concatenation = 0, parts = [{tensor = \"a\"}, {tensor = \"b\"}]}";
  auto owner = mlir::parseSourceString<mlir::ModuleOp>(
      "module attributes {heed.recipe = {" + recipes + "}} {}", &context);
  auto logical = mlir::RankedTensorType::get({7, 2}, mlir::Float32Type::get(&context));
  EXPECT_EQ(addPanelRecipe(*owner, "w", logical, 0, 4), "w#panels4");
  recipes.clear();
  llvm::raw_string_ostream(recipes) << (*owner)->getAttr("heed.recipe");
  EXPECT_EQ(makeFloats(recipes.substr(1, recipes.size() - 2), "w#panels4", "tensor<2x2x4xf32>"),
            (std::vector<float>{0, 2, 4, 100, 1, 3, 5, 101, 102, 104, 106, 0, 103, 105, 107, 0}));
}

TEST_F(RecipeTest, WidensExactly) {
  std::vector<uint16_t> all(65536);
  std::iota(all.begin(), all.end(), 0);
  add("h", StorageType::F16, {65536}, bytesOf(all));
  add("b", StorageType::BF16, {65536}, bytesOf(all));
  std::vector<uint32_t> h = valuesOf<uint32_t>(make("", "h", "tensor<65536xf32>"));
  std::vector<uint32_t> b = valuesOf<uint32_t>(make("", "b", "tensor<65536xf32>"));
  for (uint32_t bits : all) {
    llvm::APFloat half(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
    bool loses;
    half.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
    if (!half.isNaN())
      ASSERT_EQ(h[bits], half.bitcastToAPInt().getZExtValue()) << bits;
    else
      ASSERT_TRUE(std::isnan(llvm::bit_cast<float>(h[bits]))) << bits;
    ASSERT_EQ(b[bits], bits << 16);
  }
}

TEST_F(RecipeTest, NarrowsToNearestEven) {
  // Around every f16: itself, the middle to the next, and the neighbours of both.
  std::vector<uint32_t> bits;
  for (uint32_t half = 0; half < 0x8000; ++half) {
    llvm::APFloat value(llvm::APFloat::IEEEhalf(), llvm::APInt(16, half)), next = value;
    bool loses;
    value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
    uint32_t exact = value.bitcastToAPInt().getZExtValue();
    for (uint32_t middle : {exact, exact + 0x1000})
      for (int32_t step : {-1, 0, 1})
        for (uint32_t sign : {0u, 0x80000000u})
          bits.push_back((middle + step) ^ sign);
  }
  for (uint32_t special :
       {0x33000000u, 0x33000001u, 0x32ffffffu, 0x477fefffu, 0x477ff000u, 0x7f7fffffu, 0x7f800001u})
    bits.push_back(special);
  int64_t count = bits.size();
  std::string type = "tensor<" + std::to_string(count);
  add("w", StorageType::F32, {count}, bytesOf(bits));
  for (bool brain : {false, true}) {
    std::vector<uint16_t> made = valuesOf<uint16_t>(make("", "w", type + (brain ? "xbf16>" : "xf16>")));
    ASSERT_EQ(int64_t(made.size()), count);
    const llvm::fltSemantics &semantics = brain ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
    for (int64_t i = 0; i < count; ++i) {
      llvm::APFloat value(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits[i]));
      bool loses, isNaN = value.isNaN();
      value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
      llvm::APFloat got(semantics, llvm::APInt(16, made[i]));
      if (isNaN)
        ASSERT_TRUE(got.isNaN() && !got.isSignaling()) << std::hex << bits[i];
      else
        ASSERT_EQ(made[i], value.bitcastToAPInt().getZExtValue()) << std::hex << bits[i];
    }
  }
}

TEST_F(RecipeTest, RefusesWhatTheSourceLacks) {
  addCounting("w", {2, 3});
  add("i", StorageType::I8, {2}, "ab");
  std::string path = folder.file("source.safetensors");
  EXPECT_EQ(make("", "v", "tensor<2xf32>"), path + ": expected tensor \"v\", but there is none");
  EXPECT_EQ(make("", "w", "tensor<3x2xf32>"), path + ": tensor \"w\": expected shape [3, 2], but got [2, 3]");
  EXPECT_EQ(make("", "i", "tensor<2xf32>"),
            path + ": tensor \"i\": expected elements that convert to F32, but got I8");
  EXPECT_EQ(
      make("w = {tensor = \"w\", slices = [array<i64: 1, 2>, array<i64: 0, 3>]}", "w", "tensor<2x3xf32>"),
      path + ": tensor \"w\": expected at least 1 + 2 in dimension 0, but got 2");
  EXPECT_EQ(make("w = {tensor = \"w\", slices = [array<i64: 0, 2>]}", "w", "tensor<2x3xf32>"),
            path + ": tensor \"w\": expected 1 dimensions for its recipe, but got 2");
  EXPECT_EQ(make("w = {tensor = \"w\", permutation = array<i64: 0, 0>}", "w", "tensor<2x3xf32>"),
            path + ": tensor \"w\": expected a permutation of 2 dimensions in its recipe, but got [0, 0]");
  EXPECT_EQ(
      make("w = {concatenation = 1, parts = [{tensor = \"w\"}, {tensor = \"w\", permutation = array<i64: 1, "
           "0>}]}",
           "w", "tensor<2x6xf32>"),
      "parameter \"w\": expected parts that differ in dimension 1 only, but got [2, 5] and [3, 2]");
}

TEST_F(RecipeTest, OpensWhatTheModuleNames) {
  addCounting("w", {2});
  checkpoint();
  auto described = module("", {});
  EXPECT_TRUE(bool(openParameters(*described, folder.file(""))));
  folder.write("below/x", "");
  rebaseParameters(*described, folder.file(""), folder.file("below"));
  EXPECT_EQ(llvm::cast<mlir::StringAttr>((*described)->getAttr("heed.params")), "../source.safetensors");
  EXPECT_TRUE(bool(openParameters(*described, folder.file("below"))));

  llvm::Expected<Checkpoint> other =
      openParameters(*described, folder.file(""), {folder.file("other.safetensors")});
  ASSERT_FALSE(bool(other));
  EXPECT_EQ(llvm::toString(other.takeError()),
            folder.file("other.safetensors") + ": No such file or directory");
  (*described)->removeAttr("heed.params");
  llvm::Expected<Checkpoint> none = openParameters(*described, folder.file(""));
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(llvm::toString(none.takeError()),
            "expected the module to name its parameters in heed.params, but it names none");
}

//===--- The image
//----------------------------------------------------------------------------------------===//

struct RecipeImage : RecipeTest {
  std::string write(mlir::ModuleOp module) {
    llvm::SmallString<0> bytes;
    llvm::raw_svector_ostream os(bytes);
    llvm::cantFail(writeParameterImage(module, checkpoint(), os));
    return bytes.str().str();
  }
};

TEST_F(RecipeImage, BeginsOnAPageAndNamesItsLayout) {
  addCounting("a", {3});
  addCounting("w", {20, 3});
  auto described =
      module("\"w#panels16\" = {tensor = \"w\", logical = tensor<20x3xf32>, panels = {dim = 0, width = "
             "16}}",
             {{"a", "tensor<3xf32>"}, {"w#panels16", "tensor<2x3x16xf32>"}});
  std::string bytes = write(*described), id = ModuleInterface::get(*described)->layoutId();
  std::string begin = "{\"__metadata__\":{\"heed.format_version\":\"1\",\"heed.layout_id\":\"" + id + "\",\"";
  EXPECT_EQ(bytes.substr(8, begin.size()), begin);
  EXPECT_EQ(bytes.size(), 4096u + 64 + 384);

  auto file = SafetensorsFile::open(folder.write("m.heed", bytes)); // a file like any other: no holes
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(file->find("a")->offset, 4096u);
  EXPECT_EQ(file->find("w#panels16")->offset, 4160u);
  EXPECT_EQ(file->find("w#panels16")->shape, (std::vector<int64_t>{2, 3, 16}));
  EXPECT_EQ(file->getMetadata().at("w#panels16"), "f32[20, 3] as f32 panels of 16");
  EXPECT_EQ(valuesOf<float>(file->getData(*file->find("a"))), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(write(*described), bytes);
}

TEST_F(RecipeImage, IsCheckedByItsDigest) {
  addCounting("a", {3});
  auto described = module("", {{"a", "tensor<3xf32>"}});
  std::string bytes = write(*described), path = folder.write("m.heed", bytes);
  EXPECT_EQ(llvm::toString(checkParameterImage(path)), "");
  bytes[4100] ^= 1;
  folder.write("m.heed", bytes);
  EXPECT_PRED2(contains, llvm::toString(checkParameterImage(path)), "m.heed: expected data with digest ");
  std::string source = folder.file("source.safetensors");
  EXPECT_EQ(llvm::toString(checkParameterImage(source)),
            source + ": expected a parameter image with heed.digest, but it has none");
}

TEST_F(RecipeImage, WritesNothingWhereTheSourceDoesNotFit) {
  addCounting("a", {3});
  auto described = module("", {{"a", "tensor<3xf32>"}, {"b", "tensor<3xf32>"}});
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os(bytes);
  EXPECT_EQ(llvm::toString(writeParameterImage(*described, checkpoint(), os)),
            folder.file("source.safetensors") + ": expected tensor \"b\", but there is none");
  EXPECT_TRUE(bytes.empty());
}

} // namespace
