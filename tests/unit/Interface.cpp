// What a module offers: expressions of sizes, the attribute that carries them, layout ids.
#include "compiler/target/Interface.h"

#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace heed;

namespace {

const std::vector<std::string> names = {"past", "seq"};

std::optional<unsigned> sizeOf(llvm::StringRef name) {
  auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? std::nullopt : std::optional<unsigned>(it - names.begin());
}

/// An expression as it is printed again; "?" if it is none.
std::string normalized(llvm::StringRef text) {
  std::optional<SizeExpr> expr = SizeExpr::parse(text, sizeOf);
  return expr ? expr->str(names) : "?";
}

} // namespace

TEST(Interface, ExpressionsArePrintedInOneWay) {
  EXPECT_EQ(normalized("past + seq"), "past + seq");
  EXPECT_EQ(normalized("seq+past"), "past + seq");
  EXPECT_EQ(normalized("2 * past - 1 + seq*3"), "2 * past + 3 * seq - 1");
  EXPECT_EQ(normalized("past - past"), "0");
  EXPECT_EQ(normalized("0 * past + 7"), "7");
  EXPECT_EQ(normalized("-seq"), "-seq");
  EXPECT_EQ(normalized("-seq + 512"), "512 - seq");
  EXPECT_EQ(normalized("-2"), "-2");
  EXPECT_EQ(normalized("2 * 3 * past * 4"), "24 * past");
}

TEST(Interface, WhatIsNoExpressionIsRefused) {
  for (const char *text : {"", " ", "past seq", "past * seq", "+", "past +", "2 *", "past / 2", "other",
                           "1.5", "past()", "99999999999", "2147483647 * 2147483647 * 2147483647"})
    EXPECT_EQ(normalized(text), "?") << text;
}

TEST(Interface, RelationsBecomeConditionsOnZero) {
  auto of = [&](llvm::StringRef text) {
    std::optional<RelationInterface> relation = parseRelation(text, sizeOf);
    return relation ? relation->expression.str(names) + (relation->isEquality ? " = 0" : " >= 0") : "?";
  };
  EXPECT_EQ(of("seq <= 512"), "512 - seq >= 0");
  EXPECT_EQ(of("seq < 512"), "511 - seq >= 0");
  EXPECT_EQ(of("seq >= past"), "-past + seq >= 0");
  EXPECT_EQ(of("seq > past"), "-past + seq - 1 >= 0");
  EXPECT_EQ(of("2 * past == seq"), "2 * past - seq = 0");
  for (const char *text : {"seq", "seq = 3", "seq <= other", "seq <="})
    EXPECT_EQ(of(text), "?") << text;
}

TEST(Interface, SurvivesItsAttribute) {
  mlir::MLIRContext context;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    module @m attributes {heed.interface = {name = "m", entries = [{name = "f", symbol = "m_f", params,
      sizes = ["n", "most"], relations = ["n <= most"], arguments = [
        {name = "x", role = "input", type = i64, shape = ["n", 4], range = [0, "most - 1"], optional = "zeros"},
        {name = "s", role = "state", type = bf16, shape = ["most", "2 * n"], strided},
        {name = "y", role = "output", type = i1, shape = []}]}],
      parameters = {bytes = 192 : i64, list = [{name = "w", type = f32, shape = array<i64: 2, 3>,
        storage = "f32 panels of 16", offset = 64 : i64, bytes = 128 : i64}]}}} {})",
                                                        &context);
  mlir::Attribute before = module->getOperation()->getAttr(ModuleInterface::attributeName);
  mlir::FailureOr<ModuleInterface> interface = ModuleInterface::get(*module);
  ASSERT_TRUE(succeeded(interface));
  const EntryInterface &entry = interface->entries[0];
  EXPECT_TRUE(entry.hasParams);
  EXPECT_EQ(entry.numStrides(), 1u);
  EXPECT_EQ(entry.arguments[0].range->second.str(entry.sizes), "most - 1");
  EXPECT_EQ(entry.arguments[1].role, Role::State);
  EXPECT_EQ(cTypeName(entry.arguments[1].elementType), "uint16_t");
  EXPECT_EQ(typeCode(entry.arguments[2].elementType), std::make_pair(uint8_t(6), uint8_t(8)));
  EXPECT_EQ(interface->parameters[0].shape, (std::vector<int64_t>{2, 3}));
  interface->attach(*module);
  EXPECT_EQ(module->getOperation()->getAttr(ModuleInterface::attributeName), before);
}

TEST(Interface, LayoutIdSaysWhetherAnImageFits) {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  ModuleInterface interface;
  EXPECT_EQ(interface.layoutId(), "");
  interface.parameters = {{"w", builder.getF32Type(), {2, 3}, "f32", 0, 24}};
  interface.parameterBytes = 64;
  std::string id = interface.layoutId();
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(interface.layoutId(), id);
  auto differs = [&](auto &field, auto value) {
    auto before = field;
    field = value;
    EXPECT_NE(interface.layoutId(), id);
    field = before;
  };
  ParameterInterface &w = interface.parameters[0];
  differs(w.name, std::string("v"));
  differs(w.elementType, mlir::Type(builder.getF16Type()));
  differs(w.shape, std::vector<int64_t>{3, 2});
  differs(w.storage, std::string("f32 panels of 16"));
  differs(w.offset, uint64_t(64));
  differs(w.bytes, uint64_t(25));
  differs(interface.parameterBytes, uint64_t(128));
  EXPECT_EQ(interface.layoutId(), id);
}
