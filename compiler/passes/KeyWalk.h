// The order in which a tile of queries visits keys.
#pragma once

#include "compiler/passes/MaskAnalysis.h"

#include "llvm/Support/MathExtras.h"

namespace heed {

/// Keys [begin, end).
template <class Value> struct KeySpan {
  Value begin, end;
};

/// Keys [begin, end), of which [fullBegin, fullEnd) are whole tiles that every query keeps; the others are
/// asked one by one.
template <class Value> struct KeySegment {
  Value begin, fullBegin, fullEnd, end;
};

/// Computes the segments of a tile from an analysis. `Ops` says what numbers are: values of emitted code, or
/// integers where one looks at an analysis without running anything. It has
/// - `Value`, and `constant(int64_t)`, `add(a, b)`, `subtract(a, b)`, `min(a, b)`, `max(a, b)`;
/// - `less(a, b, x, y)`: x where a < b, else y; `isEmpty(a, b)`: whether a ≥ b is known;
/// - `alignDown(a, size)`: the largest multiple of `size` that is at most a;
/// - `maxOf(forms)` and `minOf(forms)`: of forms of the analysis.
template <class Ops> class KeyWalk {
public:
  using Value = typename Ops::Value;
  using Segments = llvm::SmallVector<KeySegment<Value>>;
  using Spans = llvm::SmallVector<KeySpan<Value>>;

  /// Begins lie on multiples of `panel`; full parts are multiples of `tile`, a multiple of `panel`.
  KeyWalk(Ops ops, const MaskAnalysis &analysis, int64_t panel, int64_t tile)
      : ops(ops), analysis(analysis), panel(panel), tile(tile) {}

  /// The segments in ascending order without overlap, all below `length`, the number of keys.
  Segments getSegments(Value length) {
    Spans spans, holes;
    for (const KeyGroup &group : analysis.touched) {
      Span span = getSpan(group);
      Value begin = ops.alignDown(span.begin, panel);
      Value end = ops.min(alignUp(span.end, panel), length);
      spans.push_back({begin, ops.less(span.begin, span.end, end, begin)});
    }
    for (const KeyGroup &group : analysis.dropped)
      holes.push_back(getSpan(group));
    for (size_t i = 0; i < spans.size(); ++i)
      for (size_t j = spans.size() - 1; j > i; --j)
        sort(spans[j - 1], spans[j]);

    bool hasFull = llvm::none_of(analysis.dropped, [&](const KeyGroup &group) { return holdsAll(group); });
    Segments segments;
    for (size_t i = 0; i < spans.size(); ++i) {
      Span span = spans[i];
      if (i > 0) { // what overlaps has been visited
        span.begin = ops.max(span.begin, segments.back().end);
        span.end = ops.max(span.end, span.begin);
      }
      if (!hasFull) {
        segments.push_back({span.begin, span.begin, span.begin, span.end});
        continue;
      }
      Span full = span;
      for (auto [group, hole] : llvm::zip_equal(analysis.dropped, holes))
        full = cut(full, group, hole);
      Value begin = alignUp(full.begin, panel);
      Value end = ops.add(begin, ops.alignDown(ops.subtract(full.end, begin), tile));
      segments.push_back({span.begin, ops.less(begin, end, begin, span.begin),
                          ops.less(begin, end, end, span.begin), span.end});
    }
    return segments;
  }

  /// The full parts of segments, in ascending order.
  Spans getFull(llvm::ArrayRef<KeySegment<Value>> segments) {
    Spans full;
    for (const auto &segment : segments)
      if (!ops.isEmpty(segment.fullBegin, segment.fullEnd))
        full.push_back({segment.fullBegin, segment.fullEnd});
    return full;
  }

  /// What a part of a tile asks: the segments of its own queries beside what is full for all of the tile's.
  Spans getAsked(llvm::ArrayRef<KeySegment<Value>> own, llvm::ArrayRef<KeySpan<Value>> full) {
    Spans asked;
    for (const auto &segment : own)
      for (size_t i = 0; i <= full.size(); ++i) { // before the full part of number i, or behind all
        Span span{segment.begin, segment.end};
        bool isEmpty = i < full.size() && ops.isEmpty(span.begin, full[i].begin);
        if (i > 0)
          span.begin = ops.max(span.begin, full[i - 1].end);
        if (i < full.size())
          span.end = ops.min(span.end, full[i].begin);
        if (!isEmpty && !ops.isEmpty(span.begin, span.end))
          asked.push_back(span);
      }
    return asked;
  }

private:
  using Span = KeySpan<Value>;

  Value alignUp(Value value, int64_t size) {
    return ops.alignDown(ops.add(value, ops.constant(size - 1)), size);
  }

  /// Whether the interval begins with the first key, or ends with the last, for every tile.
  bool hasFirst(const KeyInterval &interval) {
    return interval.conditions.empty() && interval.lows.size() == 1 && interval.lows[0] == 0;
  }
  bool hasLast(const KeyInterval &interval) {
    return interval.conditions.empty() && interval.highs.size() == 1 &&
           interval.highs[0] == analysis.keyLength;
  }
  bool holdsAll(const KeyGroup &group) {
    return llvm::any_of(group,
                        [&](const KeyInterval &interval) { return hasFirst(interval) && hasLast(interval); });
  }

  /// The least span that holds the group.
  Span getSpan(const KeyGroup &group) {
    std::optional<Span> hull;
    for (const KeyInterval &interval : group) {
      Span span{ops.maxOf(interval.lows), ops.minOf(interval.highs)};
      if (!interval.conditions.empty())
        span.end = ops.less(ops.minOf(interval.conditions), ops.constant(0), span.begin, span.end);
      if (!hull) {
        hull = span;
        continue;
      }
      auto [begin, end] = *hull; // an empty span does not count
      hull->begin =
          ops.less(begin, end, ops.less(span.begin, span.end, ops.min(begin, span.begin), begin), span.begin);
      hull->end = ops.less(begin, end, ops.less(span.begin, span.end, ops.max(end, span.end), end), span.end);
    }
    return *hull;
  }

  void sort(Span &a, Span &b) {
    Span first{ops.less(b.begin, a.begin, b.begin, a.begin), ops.less(b.begin, a.begin, b.end, a.end)};
    Span second{ops.less(b.begin, a.begin, a.begin, b.begin), ops.less(b.begin, a.begin, a.end, b.end)};
    a = first, b = second;
  }

  /// The larger part of `span` beside `hole`; a hole at either end of the keys leaves but one.
  Span cut(Span span, const KeyGroup &group, Span hole) {
    bool isSimple = group.size() == 1;
    if (isSimple && hasLast(group[0]))
      return {span.begin, ops.min(span.end, hole.begin)};
    if (isSimple && hasFirst(group[0]))
      return {ops.max(span.begin, hole.end), span.end};
    Value leftEnd = ops.min(span.end, ops.less(hole.begin, hole.end, hole.begin, span.end));
    Value rightBegin = ops.max(span.begin, hole.end);
    Value left = ops.subtract(leftEnd, span.begin), right = ops.subtract(span.end, rightBegin);
    return {ops.less(left, right, rightBegin, span.begin), ops.less(left, right, span.end, leftEnd)};
  }

  Ops ops;
  const MaskAnalysis &analysis;
  int64_t panel, tile;
};

/// Numbers of one tile, to look at an analysis without emitting code.
class IntegerOps {
public:
  using Value = int64_t;

  /// `values`: one per variable of `variables` that is not a division.
  IntegerOps(const MaskVariables &variables, llvm::ArrayRef<int64_t> values)
      : variables(&variables), values(values) {}

  int64_t constant(int64_t value) { return value; }
  int64_t add(int64_t a, int64_t b) { return a + b; }
  int64_t subtract(int64_t a, int64_t b) { return a - b; }
  int64_t min(int64_t a, int64_t b) { return std::min(a, b); }
  int64_t max(int64_t a, int64_t b) { return std::max(a, b); }
  int64_t less(int64_t a, int64_t b, int64_t x, int64_t y) { return a < b ? x : y; }
  bool isEmpty(int64_t begin, int64_t end) { return begin >= end; }
  int64_t alignDown(int64_t value, int64_t size) { return llvm::divideFloorSigned(value, size) * size; }
  int64_t maxOf(llvm::ArrayRef<Form> forms) {
    int64_t result = variables->evaluate(forms[0], values);
    for (const Form &form : forms.drop_front())
      result = std::max(result, variables->evaluate(form, values));
    return result;
  }
  int64_t minOf(llvm::ArrayRef<Form> forms) {
    int64_t result = variables->evaluate(forms[0], values);
    for (const Form &form : forms.drop_front())
      result = std::min(result, variables->evaluate(form, values));
    return result;
  }

private:
  const MaskVariables *variables;
  llvm::ArrayRef<int64_t> values;
};

} // namespace heed
