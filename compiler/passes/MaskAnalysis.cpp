#include "compiler/passes/MaskAnalysis.h"

#include "compiler/passes/MaskSets.h"

using namespace mlir;

namespace heed {

namespace v = maskVariable;

/// The intervals of `pairs`, in groups without gaps. `isExact` is cleared where a group has one.
static std::vector<KeyGroup> getGroups(MaskSets &sets, const MaskSets::Set &pairs, bool &isExact) {
  std::vector<KeyGroup> groups;
  for (const presburger::IntegerRelation &part : pairs.getAllDisjuncts())
    if (std::optional<KeyInterval> interval = sets.project(MaskSets::Relation(part)))
      groups.push_back({*interval});
  auto mayHaveGap = [&](const KeyGroup &a, const KeyGroup &b) {
    return llvm::any_of(a, [&](const KeyInterval &i) {
      return llvm::any_of(b, [&](const KeyInterval &j) { return sets.mayHaveGap(i, j); });
    });
  };
  for (size_t i = 0; i < groups.size(); ++i)
    for (size_t j = i + 1; j < groups.size();)
      if (mayHaveGap(groups[i], groups[j])) {
        ++j;
      } else {
        llvm::append_range(groups[i], groups[j]);
        groups.erase(groups.begin() + j);
      }
  for (; groups.size() > MaskAnalysis::maxGroups; isExact = false) {
    KeyGroup last = groups.back();
    groups.pop_back();
    llvm::append_range(groups.back(), last);
  }
  return groups;
}

bool MaskAnalysis::isUpperBound() const {
  return isSharp && touched.size() == 1 && llvm::all_of(touched[0], [](const KeyInterval &interval) {
           return llvm::all_of(interval.lows, [](const Form &low) { return low == 0; });
         });
}

MaskAnalysis MaskAnalysis::of(const MaskContext &context) {
  MaskAnalysis analysis;
  Condition condition = translateMask(context, analysis.variables, analysis.gaps);
  MaskSets sets(context, analysis.variables);
  analysis.keyLength = context.getKeyLength();
  Bracket bracket = sets.evaluate(condition);
  analysis.isSharp = true;
  analysis.touched = getGroups(sets, bracket.maybeTrue, analysis.isSharp);
  analysis.dropped = getGroups(sets, bracket.maybeFalse, analysis.isSharp);
  for (const KeyGroup &touched : analysis.touched)
    for (const KeyInterval &one : touched)
      for (const KeyGroup &dropped : analysis.dropped)
        for (const KeyInterval &other : dropped)
          analysis.isSharp = analysis.isSharp && !sets.mayMeet(one, other);

  // A witness is enough: the first key, the last one, or one of the two diagonals.
  Form query = Form::variable(v::query);
  Form shift = Form(0);
  if (context.hasQueryOffset)
    shift = shift + Form::variable(v::queryOffset);
  if (context.hasKeyOffset)
    shift = shift - Form::variable(v::keyOffset);
  Form witnesses[] = {Form(0), analysis.keyLength - 1, query + shift,
                      query + analysis.keyLength - context.getQueryLength()};
  analysis.keepsSome =
      llvm::any_of(witnesses, [&](const Form &key) { return sets.isOutside(bracket.maybeFalse, key); });
  return analysis;
}

} // namespace heed
