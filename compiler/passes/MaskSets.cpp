#include "compiler/passes/MaskSets.h"

using namespace mlir;
using namespace mlir::presburger;

namespace heed {

namespace v = maskVariable;

MaskSets::MaskSets(const MaskContext &context, MaskVariables &variables)
    : context(context), variables(variables) {}

MaskSets::Relation MaskSets::universe() const {
  return Relation(PresburgerSpace::getSetSpace(variables.size()));
}

MaskSets::Relation MaskSets::widen(Relation relation) const {
  if (unsigned missing = variables.size() - relation.getNumDimVars())
    relation.appendVar(VarKind::SetDim, missing);
  return relation;
}

/// `form` as a row of a relation with `columns` columns.
static SmallVector<int64_t> getRow(const Form &form, unsigned columns) {
  SmallVector<int64_t> row(form.coefficients.begin(), form.coefficients.end());
  row.resize(columns);
  row.back() = form.constant;
  return row;
}

static Form getForm(ArrayRef<int64_t> row) {
  Form form;
  form.coefficients.assign(row.begin(), row.end() - 1);
  form.constant = row.back();
  return form;
}

void MaskSets::require(Relation &relation, const Form &form) const {
  relation.addInequality(getRow(form, relation.getNumCols()));
}

static bool occurs(const IntegerRelation &relation, unsigned variable) {
  return relation.findConstraintWithNonZeroAt(variable, /*isEq=*/false) ||
         relation.findConstraintWithNonZeroAt(variable, /*isEq=*/true);
}

/// Whether no integers are in `relation`. What does not occur in it only costs time.
static bool isEmpty(IntegerRelation relation) {
  for (unsigned variable = relation.getNumDimVars(); variable-- > 0;)
    if (!occurs(relation, variable))
      relation.removeVar(variable);
  return relation.isIntegerEmpty();
}

void MaskSets::requireContext(Relation &relation) const {
  auto require = [&](const Form &form) { this->require(relation, form); };
  auto x = Form::variable;
  for (unsigned variable = variables.size(); variable-- > v::firstFree;) {
    if (!occurs(relation, variable)) // its dividend is of variables with lower numbers
      continue;
    if (variables.isBoolean(variable)) {
      require(x(variable));
      require(Form(1) - x(variable));
    }
    if (variables.isDivision(variable)) {
      Form rest = variables.getDividend(variable) - x(variable) * variables.getDivisor(variable);
      require(rest);
      require(Form(variables.getDivisor(variable) - 1) - rest);
    }
  }
  if (occurs(relation, v::query)) {
    require(x(v::query) - x(v::tileBegin));
    require(x(v::tileEnd) - 1 - x(v::query));
  }
  require(x(v::tileBegin));
  require(x(v::tileEnd) - x(v::tileBegin) - 1);
  require(x(v::tileBegin) + context.tileRows - x(v::tileEnd));
  require(context.getQueryLength() - x(v::tileEnd));
  require(context.getKeyLength());
  require(x(v::batch));
  require(x(v::head));
}

/// Adds to `result` the parts of `more` that are not empty.
static void unite(PresburgerSet &result, const PresburgerSet &more) {
  for (const IntegerRelation &part : more.getAllDisjuncts())
    if (!isEmpty(part))
      result = result.unionSet(PresburgerSet(IntegerPolyhedron(part)));
}

Bracket MaskSets::evaluate(const Condition &condition) const {
  PresburgerSpace space = PresburgerSpace::getSetSpace(variables.size());
  Set all = Set::getUniverse(space), none = Set::getEmpty(space);
  switch (condition.kind) {
  case Condition::Kind::unknown:
    return {all, all};
  case Condition::Kind::atLeastZero: {
    Relation yes = universe(), no = universe();
    require(yes, condition.form);
    require(no, condition.form * -1 - 1);
    return {Set(yes), Set(no)};
  }
  case Condition::Kind::all:
  case Condition::Kind::any:
    break;
  }
  // Of a conjunction one part false is enough, of a disjunction one part true.
  bool isAll = condition.kind == Condition::Kind::all;
  Set every = all, some = none;
  for (const Condition &part : condition.parts) {
    Bracket bracket = evaluate(part);
    if (!isAll)
      std::swap(bracket.maybeTrue, bracket.maybeFalse);
    Set both = none;
    unite(both, every.intersect(bracket.maybeTrue));
    both = both.coalesce();
    unite(some, bracket.maybeFalse);
    some = some.coalesce();
    if (both.getNumDisjuncts() <= maxPieces) // else the part may as well be true
      every = both;
    if (some.getNumDisjuncts() > maxPieces)
      some = all;
  }
  return isAll ? Bracket{every, some} : Bracket{some, every};
}

void MaskSets::tighten(Relation &relation, unsigned variable) {
  for (unsigned number = 0; number < relation.getNumInequalities(); ++number) {
    Form form = getForm(relation.getInequality64(number));
    int64_t coefficient = form.coefficient(variable), size = std::abs(coefficient);
    if (size <= 1)
      continue;
    form.coefficients[variable] = 0;
    bool isInvariant = true;
    for (auto [other, c] : llvm::enumerate(form.coefficients))
      isInvariant &= c == 0 || variables.isInvariant(other);
    if (!isInvariant)
      continue;
    Form quotient = variables.divide(form, size);
    while (relation.getNumDimVars() < variables.size()) { // a new division, which is invariant
      unsigned added = relation.appendVar(VarKind::SetDim);
      Form rest = variables.getDividend(added) - Form::variable(added) * variables.getDivisor(added);
      require(relation, rest);
      require(relation, Form(variables.getDivisor(added) - 1) - rest);
    }
    relation.removeInequality(number--);
    require(relation, quotient + Form::variable(variable) * (coefficient > 0 ? 1 : -1));
  }
}

/// Fourier and Motzkin's elimination; the variable's column stays, empty.
void MaskSets::eliminate(Relation &relation, unsigned variable) {
  tighten(relation, variable);
  relation.projectOut(variable);
  relation.insertVar(VarKind::SetDim, variable);
}

std::optional<KeyInterval> MaskSets::project(const Relation &pairs) {
  Relation relation = widen(pairs);
  Form key = Form::variable(v::key), query = Form::variable(v::query);
  require(relation, key);
  require(relation, context.getKeyLength() - 1 - key);
  require(relation, query);
  requireContext(relation);
  if (isEmpty(relation))
    return std::nullopt;
  eliminate(relation, v::query);
  for (unsigned variable = v::firstFree; variable < variables.size(); ++variable)
    if (!variables.isInvariant(variable))
      eliminate(relation, variable);
  tighten(relation, v::key);
  relation.removeTrivialRedundancy();

  // Equalities count as two inequalities. What follows from the context and the others says nothing.
  SmallVector<Form> forms;
  for (unsigned i = 0; i < relation.getNumInequalities(); ++i)
    forms.push_back(getForm(relation.getInequality64(i)));
  for (unsigned i = 0; i < relation.getNumEqualities(); ++i) {
    forms.push_back(getForm(relation.getEquality64(i)));
    forms.push_back(forms.back() * -1);
  }
  // The longest first, so that the simplest of several equivalent bounds stays.
  auto cost = [&](const Form &form) {
    int64_t cost = 0;
    for (auto [variable, c] : llvm::enumerate(form.coefficients))
      cost += c == 0 ? 0 : variables.isDivision(variable) ? 4 : 1;
    return cost;
  };
  SmallVector<std::pair<int64_t, size_t>> order;
  for (auto [number, form] : llvm::enumerate(forms))
    order.push_back({-cost(form), number});
  llvm::sort(order);
  forms = llvm::map_to_vector(order, [&](auto entry) { return forms[entry.second]; });
  for (size_t i = 0; i < forms.size();) {
    Relation others = universe();
    for (size_t j = 0; j < forms.size(); ++j)
      require(others, i == j ? forms[j] * -1 - 1 : forms[j]);
    requireContext(others);
    if (isEmpty(others))
      forms.erase(forms.begin() + i);
    else
      ++i;
  }

  KeyInterval interval;
  for (Form &form : forms) {
    int64_t coefficient = form.coefficient(v::key);
    if (coefficient != 0)
      form.coefficients[v::key] = 0;
    if (coefficient == 0)
      interval.conditions.push_back(form);
    else if (coefficient > 0) // k + form >= 0, coefficients being 1 after tightening
      interval.lows.push_back(form * -1);
    else
      interval.highs.push_back(form + 1);
  }
  return interval;
}

void MaskSets::requireInterval(Relation &relation, const KeyInterval &interval, const Form &key) const {
  for (const Form &low : interval.lows)
    require(relation, key - low);
  for (const Form &high : interval.highs)
    require(relation, high - key - 1);
  for (const Form &condition : interval.conditions)
    require(relation, condition);
}

bool MaskSets::mayMeet(const KeyInterval &a, const KeyInterval &b) const {
  Relation both = universe();
  requireInterval(both, a, Form::variable(v::key));
  requireInterval(both, b, Form::variable(v::key));
  requireContext(both);
  return !isEmpty(both);
}

bool MaskSets::mayHaveGap(const KeyInterval &a, const KeyInterval &b) const {
  // A key of each, with the end of one before the begin of the other.
  Relation both = universe();
  both.appendVar(VarKind::SetDim);
  requireInterval(both, a, Form::variable(v::key));
  requireInterval(both, b, Form::variable(variables.size()));
  requireContext(both);
  auto mayPrecede = [&](const KeyInterval &first, const KeyInterval &second) {
    for (const Form &high : first.highs)
      for (const Form &low : second.lows) {
        Relation apart = both;
        require(apart, low - high - 1);
        if (!isEmpty(apart))
          return true;
      }
    return false;
  };
  return mayPrecede(a, b) || mayPrecede(b, a);
}

bool MaskSets::isOutside(const Set &pairs, const Form &key) const {
  Relation some = universe();
  require(some, context.getKeyLength() - 1);
  Form distance = Form::variable(v::key) - key;
  require(some, distance);
  require(some, distance * -1);
  require(some, Form::variable(v::query));
  auto isNever = [&](Relation relation) {
    requireContext(relation);
    return isEmpty(relation);
  };
  Relation before = some, after = some;
  require(before, key * -1 - 1);
  require(after, key - context.getKeyLength());
  return isNever(before) && isNever(after) &&
         llvm::all_of(pairs.getAllDisjuncts(), [&](const IntegerRelation &part) {
           return isNever(some.intersect(widen(Relation(part))));
         });
}

} // namespace heed
