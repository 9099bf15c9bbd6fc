// Random and adversarial inputs for an entry; see Inputs.h.
#include "compiler/interpreter/Inputs.h"

#include "llvm/ADT/StringExtras.h"

#include <random>

using namespace mlir;

namespace heed {

namespace {
enum class Kind { Ordinary, Large, Equal, Zeros, Subnormal, NaN, Infinity };

constexpr struct {
  Kind kind;
  llvm::StringLiteral name;
} kinds[] = {
    {Kind::Ordinary, "ordinary values"}, {Kind::Equal, "equal values"},
    {Kind::Large, "large values"},       {Kind::Zeros, "zeros"},
    {Kind::Subnormal, "tiny values"},    {Kind::NaN, "a row of NaN"},
    {Kind::Infinity, "an infinity"},
};

/// The standard's distributions differ between libraries; this one does not.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// In [0, 1).
  double uniform() { return static_cast<double>(engine() >> 11) * 0x1p-53; }
  /// In [low, high].
  int64_t integer(int64_t low, int64_t high) {
    uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    return static_cast<int64_t>(static_cast<uint64_t>(low) + (span == 0 ? engine() : engine() % span));
  }
  /// Of mean 0 and variance 1. Source: Box and Muller 1958.
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * M_PI * uniform()); }

private:
  std::mt19937_64 engine;
};
} // namespace

static int64_t evaluate(const SizeExpr &expression, ArrayRef<int64_t> sizes) {
  int64_t value = expression.constant;
  for (auto [size, coefficient] : expression.terms)
    value += coefficient * sizes[size];
  return value;
}

static bool obeys(const EntryInterface &entry, ArrayRef<int64_t> sizes) {
  for (const RelationInterface &relation : entry.relations) {
    int64_t value = evaluate(relation.expression, sizes);
    if (relation.isEquality ? value != 0 : value < 0)
      return false;
  }
  for (const ArgumentInterface &argument : entry.arguments)
    for (const SizeExpr &size : argument.shape)
      if (evaluate(size, sizes) < 0)
        return false;
  return true;
}

/// Raises single sizes by what relations lack until all hold, if that is possible.
static bool repair(const EntryInterface &entry, std::vector<int64_t> &sizes) {
  for (unsigned attempt = 0; attempt < 8 && !obeys(entry, sizes); ++attempt)
    for (const RelationInterface &relation : entry.relations) {
      int64_t value = evaluate(relation.expression, sizes);
      for (auto [size, coefficient] : relation.expression.terms) {
        bool holds = relation.isEquality ? value == 0 : value >= 0;
        int64_t changed = sizes[size] - value / coefficient;
        if (holds || std::abs(coefficient) != 1 || changed < 0)
          continue;
        sizes[size] = changed;
        value = evaluate(relation.expression, sizes);
      }
    }
  return obeys(entry, sizes);
}

/// Sizes worth trying: an ordinary choice, all 1, around the tiles, and each size 0 in turn.
static std::vector<std::vector<int64_t>> chooseSizes(const EntryInterface &entry,
                                                     const InputOptions &options) {
  size_t count = entry.sizes.size();
  std::vector<std::vector<int64_t>> choices;
  auto add = [&](std::vector<int64_t> sizes) {
    for (int64_t &size : sizes)
      size = std::min(size, options.maxSize);
    if (repair(entry, sizes) && !llvm::is_contained(choices, sizes))
      choices.push_back(std::move(sizes));
  };
  static constexpr int64_t patterns[][4] = {{2, 7, 5, 3},    {1, 1, 1, 1},    {3, 16, 2, 17}, {1, 17, 33, 2},
                                            {2, 15, 31, 64}, {1, 64, 65, 16}, {1, 65, 63, 1}};
  for (const auto &pattern : patterns) {
    std::vector<int64_t> sizes(count);
    for (size_t i = 0; i < count; ++i)
      sizes[i] = pattern[i % 4];
    add(std::move(sizes));
  }
  for (size_t zero = 0; zero < count; ++zero) {
    std::vector<int64_t> sizes(count, 3);
    sizes[zero] = 0;
    add(std::move(sizes));
  }
  return choices;
}

static double makeFloat(Kind kind, Random &random, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  switch (kind) {
  case Kind::Equal:
    return 30;
  case Kind::Large: // scores of 1e4 to 1e8, and the whole range of f16
    return random.normal() * (type.isF16() ? 1.5e4 : 1e4);
  case Kind::Zeros:
    return random.uniform() < 0.5 ? 0.0 : -0.0;
  case Kind::Subnormal:
    return random.normal() * llvm::APFloat::getSmallestNormalized(semantics).convertToDouble() / 4;
  default:
    return random.normal();
  }
}

static void fillFloats(Tensor &tensor, Kind kind, Random &random) {
  auto type = cast<FloatType>(tensor.elementType);
  for (double &value : tensor.values)
    value = makeFloat(kind, random, type);
  int64_t size = tensor.size(), width = tensor.rank() ? tensor.dim(-1) : 1;
  if (size != 0 && kind == Kind::NaN) {
    int64_t row = random.integer(0, size / width - 1);
    std::fill_n(tensor.values.begin() + row * width, width, std::numeric_limits<double>::quiet_NaN());
  }
  if (size != 0 && kind == Kind::Infinity)
    tensor.values[random.integer(0, size - 1)] = std::numeric_limits<double>::infinity();
  tensor.round();
}

/// 0/1 data in the shapes that masks come in.
static void fillMask(Tensor &tensor, unsigned variant, Random &random) {
  int64_t size = tensor.size(), width = tensor.rank() ? tensor.dim(-1) : 1, rows = width ? size / width : 0;
  int64_t emptyRow = rows ? random.integer(0, rows - 1) : 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t kept = random.integer(1, width);
    for (int64_t i = 0; i < width; ++i) {
      bool values[] = {true, i < kept, random.uniform() < 0.7, i >= width - kept, row != emptyRow};
      tensor.integers[row * width + i] = values[variant % std::size(values)];
    }
  }
}

static void fillIntegers(Tensor &tensor, int64_t low, int64_t high, Random &random) {
  for (int64_t &value : tensor.integers)
    value = random.integer(low, std::max(low, high));
  if (!tensor.integers.empty()) { // both ends of the range, at random places
    tensor.integers[random.integer(0, tensor.size() - 1)] = low;
    tensor.integers[random.integer(0, tensor.size() - 1)] = std::max(low, high);
  }
}

/// One call: `kind` of data for one float argument at a time where it marks a row, for all otherwise.
static std::optional<InputCase> makeCase(const EntryInterface &entry, ArrayRef<int64_t> sizes, Kind kind,
                                         unsigned variant, Random &random) {
  InputCase result;
  result.sizes.assign(sizes.begin(), sizes.end());
  bool marksOne = kind == Kind::NaN || kind == Kind::Infinity;
  SmallVector<unsigned> floats;
  for (auto [number, argument] : llvm::enumerate(entry.arguments))
    if (argument.role != Role::Output && isa<FloatType>(argument.elementType))
      floats.push_back(number);
  if (floats.empty() && kind != Kind::Ordinary)
    return std::nullopt;
  for (auto [number, argument] : llvm::enumerate(entry.arguments)) {
    if (argument.role == Role::Output)
      continue;
    SmallVector<int64_t> shape;
    for (const SizeExpr &size : argument.shape)
      shape.push_back(evaluate(size, sizes));
    Tensor &tensor = result.inputs.emplace_back(argument.elementType, shape);
    result.absent.push_back(argument.defaultValue && variant % 3 == 1);
    int64_t low = argument.range ? evaluate(argument.range->first, sizes) : 0;
    int64_t high = argument.range ? evaluate(argument.range->second, sizes) : 1;
    if (result.absent.back()) {
      std::fill(tensor.values.begin(), tensor.values.end(), *argument.defaultValue == "ones");
      std::fill(tensor.integers.begin(), tensor.integers.end(), *argument.defaultValue == "ones");
    } else if (tensor.isFloat()) {
      bool isMarked = !marksOne || number == floats[variant % floats.size()];
      fillFloats(tensor, isMarked ? kind : Kind::Ordinary, random);
    } else if (low == 0 && high == 1) {
      fillMask(tensor, variant, random);
    } else {
      fillIntegers(tensor, low, high, random);
    }
  }
  return result;
}

std::vector<InputCase> makeInputCases(const EntryInterface &entry, const InputOptions &options) {
  std::vector<InputCase> cases;
  std::vector<std::vector<int64_t>> choices = chooseSizes(entry, options);
  // Every size with ordinary data first, in five variants of masks; then every kind of data on some sizes.
  size_t ordinary = std::max<size_t>(choices.size(), 5);
  for (size_t number = 0; number < ordinary + 2 * std::size(kinds) && !choices.empty(); ++number) {
    if (options.count && cases.size() == options.count)
      break;
    const auto &[kind, name] = number < ordinary ? kinds[0] : kinds[(number - ordinary) % std::size(kinds)];
    const std::vector<int64_t> &sizes = choices[number % choices.size()];
    Random random(options.seed * 1000003 + number);
    std::optional<InputCase> made = makeCase(entry, sizes, kind, number, random);
    if (!made)
      continue;
    made->name = name.str();
    for (auto [size, value] : llvm::zip_equal(entry.sizes, sizes))
      made->name += ", " + size + " " + std::to_string(value);
    cases.push_back(std::move(*made));
  }
  return cases;
}

} // namespace heed
