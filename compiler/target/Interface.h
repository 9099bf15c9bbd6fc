// What a module offers to its callers: entries, arguments, sizes, parameters.
//
// Pass DescribeInterface computes it from the graph; it then travels as the module attribute
// `heed.interface`, so that every phase, the generated header and the emitted tables say the same.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>
#include <vector>

namespace heed {

/// constant + Σ coefficient · size, over the named sizes of one entry.
struct SizeExpr {
  int64_t constant = 0;
  /// (index of the size, coefficient), ascending, no coefficient 0.
  std::vector<std::pair<unsigned, int64_t>> terms;

  /// The size number `size` itself, or the number `constant`.
  static SizeExpr ofSize(unsigned size);
  static SizeExpr ofConstant(int64_t constant);

  /// Reads "2 * past + seq - 1". `sizeOf` gives the index of a name; it may add names. Nothing if the text is
  /// not such an expression, a name is refused, or a number does not fit.
  static std::optional<SizeExpr> parse(llvm::StringRef text,
                                       llvm::function_ref<std::optional<unsigned>(llvm::StringRef)> sizeOf);

  std::string str(llvm::ArrayRef<std::string> sizes) const;
  bool isConstant() const { return terms.empty(); }
  bool operator==(const SizeExpr &other) const { return constant == other.constant && terms == other.terms; }
  SizeExpr operator*(int64_t factor) const;
  SizeExpr operator+(const SizeExpr &other) const;
  SizeExpr operator-(const SizeExpr &other) const { return *this + other * -1; }
};

enum class Role { Input, State, Output };

struct ArgumentInterface {
  std::string name;
  Role role = Role::Input;
  mlir::Type elementType;
  std::vector<SizeExpr> shape;
  /// What a null pointer stands for ("ones", "zeros"), where it is allowed.
  std::optional<std::string> defaultValue;
  /// Inclusive bounds of index data.
  std::optional<std::pair<SizeExpr, SizeExpr>> range;
  bool strided = false;
  /// In panels, as the entry `<symbol>_pack_<name>` makes them.
  bool packed = false;

  unsigned rank() const { return shape.size(); }
  unsigned numStrides() const { return strided && rank() ? rank() - 1 : 0; }
};

/// `expression` is 0, or at least 0.
struct RelationInterface {
  bool isEquality = false;
  SizeExpr expression;
  std::string text;
};

struct EntryInterface {
  /// The function in the module, and its name in C.
  std::string name, symbol;
  /// Inputs, states, outputs.
  std::vector<ArgumentInterface> arguments;
  std::vector<std::string> sizes;
  std::vector<RelationInterface> relations;
  bool hasParams = false;

  /// Index of a size by name.
  std::optional<unsigned> findSize(llvm::StringRef size) const;
  /// Whether the relations make two expressions equal.
  bool areEqual(const SizeExpr &a, const SizeExpr &b) const;
  unsigned numStrides() const;
};

struct ParameterInterface {
  std::string name;
  mlir::Type elementType;
  std::vector<int64_t> shape;
  /// How the elements lie in the image: "f32", "f32 panels of 16".
  std::string storage;
  /// From the start of the tensor data, in bytes; `offset` is a multiple of 64.
  uint64_t offset = 0, bytes = 0;
};

struct ModuleInterface {
  static constexpr llvm::StringLiteral attributeName = "heed.interface";

  std::string name;
  std::vector<EntryInterface> entries;
  std::vector<ParameterInterface> parameters;
  /// Bytes of tensor data of the parameter image.
  uint64_t parameterBytes = 0;

  /// Reads the module's attribute; an error on the module if it is absent or malformed.
  static mlir::FailureOr<ModuleInterface> get(mlir::ModuleOp module);
  /// Writes the module's attribute.
  void attach(mlir::ModuleOp module) const;

  /// 32 hex digits over names, types, shapes, storage and places of the parameters: code and image fit
  /// together when they agree. Empty where there are no parameters.
  std::string layoutId() const;
};

/// A data type as DLPack codes it (code, bits), and as C writes it. `type` must be an element type of the
/// dialect or an integer of 1, 8, 16, 32 or 64 bits.
std::pair<uint8_t, uint8_t> typeCode(mlir::Type type);
llvm::StringRef cTypeName(mlir::Type type);
/// Bytes of one element in memory.
unsigned elementBytes(mlir::Type type);
/// Whether `type` can cross the interface.
bool isInterfaceType(mlir::Type type);

/// Whether `name` can name something in C as it is.
bool isCIdentifier(llvm::StringRef name);

/// Reads "a + 1 <= b" with ==, <=, <, >= or >.
std::optional<RelationInterface>
parseRelation(llvm::StringRef text, llvm::function_ref<std::optional<unsigned>(llvm::StringRef)> sizeOf);

} // namespace heed
