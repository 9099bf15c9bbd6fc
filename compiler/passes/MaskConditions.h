// A keep region as a Boolean expression over affine inequalities.
#pragma once

#include "compiler/passes/MaskForms.h"
#include "dialect/Attn.h"

namespace heed {

/// When a pair is kept.
struct Condition {
  enum class Kind {
    atLeastZero, ///< form >= 0
    all,         ///< every part; true without parts
    any,         ///< some part; false without parts
    unknown      ///< nothing is known
  };
  Kind kind = Kind::all;
  Form form;
  std::vector<Condition> parts;

  static Condition atLeastZero(Form form);
  static Condition always() { return {Kind::all, {}, {}}; }
  static Condition never() { return {Kind::any, {}, {}}; }
  static Condition unknown() { return {Kind::unknown, {}, {}}; }
  static Condition equal(const Form &a, const Form &b);
  Condition operator!() const;
  Condition operator&&(const Condition &other) const;
  Condition operator||(const Condition &other) const;
};

/// Why part of a mask is not analysed.
struct MaskGap {
  mlir::Operation *op; ///< inside of the region
  std::string reason;
};

/// What the analysis needs to know of an attention.
struct MaskContext {
  mlir::Region *keep;
  mlir::ArrayAttr readMaps;
  std::optional<int64_t> queryLength, keyLength; ///< where static
  bool isSquare = false;                         ///< as many keys as queries, whatever their number
  bool hasQueryOffset = false, hasKeyOffset = false;
  int64_t tileRows; ///< most queries of a tile

  static MaskContext of(attn::AttentionOp op, int64_t tileRows);
  Form getQueryLength() const;
  Form getKeyLength() const;
};

/// The condition that the region of `context` yields. Divisions and symbols are added to `variables`, what is
/// not understood to `gaps`. Arithmetic is taken to stay within its types.
Condition translateMask(const MaskContext &context, MaskVariables &variables, std::vector<MaskGap> &gaps);

} // namespace heed
