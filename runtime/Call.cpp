// Calls entries with tensors whose shapes are known.
#include "runtime/Error.h"

#include <stdlib.h>
#include <string.h>

int64_t heed_evaluate(const heed_affine *expression, const int64_t *sizes) {
  // Unsigned, as sizes may be anything; who calls an entry has them checked there.
  uint64_t value = expression->constant;
  for (int32_t i = 0; i < expression->term_count; ++i)
    value += static_cast<uint64_t>(expression->coefficients[i]) * sizes[expression->sizes[i]];
  return static_cast<int64_t>(value);
}

static const char *roleName(const heed_argument *argument) {
  return argument->role == HEED_INPUT ? "input" : argument->role == HEED_STATE ? "state" : "output";
}

static bool isAbsent(const heed_tensor *tensor) { return !tensor->data && !tensor->sizes; }

static bool sameType(heed_type a, heed_type b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

static void appendShape(heed_line *line, const heed_tensor *tensor) {
  heed_append(line, "[");
  for (int32_t i = 0; i < tensor->rank; ++i)
    heed_append(line, i ? ", %lld" : "%lld", static_cast<long long>(tensor->sizes[i]));
  heed_append(line, "]");
}

/// Whether all sizes of an expression have been found.
static bool isKnown(const heed_affine *expression, const int64_t *sizes) {
  for (int32_t i = 0; i < expression->term_count; ++i)
    if (sizes[expression->sizes[i]] < 0)
      return false;
  return true;
}

/// "[batch = 2, seq, 384]": what a shape should be, as far as the sizes are known.
static void appendExpected(heed_line *line, const heed_argument *argument, const int64_t *sizes) {
  heed_append(line, "[");
  for (int32_t i = 0; i < argument->rank; ++i) {
    const heed_affine *dim = argument->shape[i];
    heed_append(line, i ? ", %s" : "%s", dim->text);
    if (sizes && dim->term_count && isKnown(dim, sizes))
      heed_append(line, " = %lld", static_cast<long long>(heed_evaluate(dim, sizes)));
  }
  heed_append(line, "]");
}

static int failShape(const heed_argument *argument, const heed_tensor *tensor, const int64_t *sizes,
                     heed_error *error) {
  heed_line expected = {}, found = {};
  appendExpected(&expected, argument, sizes);
  appendShape(&found, tensor);
  return heed_fail(error, "%s '%s': expected shape %s, but got %s", roleName(argument), argument->name,
                   expected.text, found.text);
}

/// Finds the one unknown size of `dim`, if there is one and it is a whole number of at least 0.
static bool solve(const heed_affine *dim, int64_t value, int64_t *sizes) {
  int32_t unknown = -1;
  int64_t rest = value, product;
  if (__builtin_sub_overflow(rest, dim->constant, &rest))
    return false;
  for (int32_t i = 0; i < dim->term_count; ++i) {
    if (sizes[dim->sizes[i]] < 0) {
      if (unknown >= 0)
        return false;
      unknown = i;
    } else if (__builtin_mul_overflow(dim->coefficients[i], sizes[dim->sizes[i]], &product) ||
               __builtin_sub_overflow(rest, product, &rest)) {
      return false;
    }
  }
  if (unknown < 0 || rest % dim->coefficients[unknown] != 0 || rest / dim->coefficients[unknown] < 0)
    return false;
  sizes[dim->sizes[unknown]] = rest / dim->coefficients[unknown];
  return true;
}

/// Whether an argument's shape is given.
static bool hasShape(const heed_argument *argument, const heed_tensor *tensor) {
  return !isAbsent(tensor) && !(argument->role == HEED_OUTPUT && !tensor->sizes && argument->rank);
}

/// An error where a tensor is missing, or of the wrong type or rank.
static int checkKind(const heed_argument *argument, const heed_tensor *tensor, heed_error *error) {
  bool mayBeAbsent = argument->role == HEED_OUTPUT || (argument->flags & HEED_ARGUMENT_OPTIONAL);
  if (isAbsent(tensor) && !mayBeAbsent)
    return heed_fail(error, "%s '%s': expected a tensor, but got none", roleName(argument), argument->name);
  if (!hasShape(argument, tensor))
    return 0;
  if (!sameType(tensor->type, argument->type))
    return heed_fail(error, "%s '%s': expected %s, but got %s", roleName(argument), argument->name,
                     heed_type_name(argument->type), heed_type_name(tensor->type));
  if (tensor->rank != argument->rank) {
    heed_line expected = {};
    appendExpected(&expected, argument, nullptr);
    return heed_fail(error, "%s '%s': expected rank %d, shape %s, but got rank %d", roleName(argument),
                     argument->name, argument->rank, expected.text, tensor->rank);
  }
  if (tensor->strides && !(argument->flags & HEED_ARGUMENT_STRIDED))
    return heed_fail(error, "%s '%s': expected a dense tensor, but got strides", roleName(argument),
                     argument->name);
  if (tensor->strides && tensor->rank && tensor->strides[tensor->rank - 1] != 1)
    return heed_fail(error, "%s '%s': expected the last stride to be 1, but got %lld", roleName(argument),
                     argument->name, static_cast<long long>(tensor->strides[tensor->rank - 1]));
  return 0;
}

/// "seq = 600" for every size of an expression.
static void appendSizes(heed_line *line, const heed_entry *entry, const heed_affine *expression,
                        const int64_t *sizes) {
  for (int32_t i = 0; i < expression->term_count; ++i)
    heed_append(line, i ? ", %s = %lld" : "%s = %lld", entry->sizes[expression->sizes[i]]->name,
                static_cast<long long>(sizes[expression->sizes[i]]));
}

static int failRelation(const heed_entry *entry, const heed_relation *relation, const int64_t *sizes,
                        heed_error *error) {
  heed_line found = {};
  if (sizes)
    appendSizes(&found, entry, relation->expression, sizes);
  return heed_fail(error, "%s: expected %s%s%s", entry->name, relation->text, sizes ? ", but got " : "",
                   found.text);
}

int heed_infer_sizes(const heed_entry *entry, const heed_tensor *tensors, int64_t *sizes, heed_error *error) {
  for (int32_t i = 0; i < entry->argument_count; ++i)
    if (checkKind(entry->arguments[i], &tensors[i], error))
      return -1;
  for (int32_t i = 0; i < entry->size_count; ++i)
    sizes[i] = -1;
  // A dimension such as "past + seq" gives a size once the others are known, in whatever order they come.
  for (bool progress = true; progress;) {
    progress = false;
    for (int32_t i = 0; i < entry->argument_count; ++i)
      if (const heed_argument *argument = entry->arguments[i]; hasShape(argument, &tensors[i]))
        for (int32_t j = 0; j < argument->rank; ++j)
          progress |= solve(argument->shape[j], tensors[i].sizes[j], sizes);
  }
  for (int32_t i = 0; i < entry->argument_count; ++i)
    if (const heed_argument *argument = entry->arguments[i]; hasShape(argument, &tensors[i]))
      for (int32_t j = 0; j < argument->rank; ++j)
        if (isKnown(argument->shape[j], sizes) &&
            tensors[i].sizes[j] != heed_evaluate(argument->shape[j], sizes))
          return failShape(argument, &tensors[i], sizes, error);
  for (int32_t i = 0; i < entry->size_count; ++i)
    if (sizes[i] < 0)
      return heed_fail(error, "%s: expected size '%s' to follow from the shapes given, but it does not",
                       entry->name, entry->sizes[i]->name);
  for (int32_t i = 0; i < entry->relation_count; ++i) {
    const heed_relation *relation = entry->relations[i];
    int64_t value = heed_evaluate(relation->expression, sizes);
    if (relation->kind == HEED_EQUAL_ZERO ? value != 0 : value < 0)
      return failRelation(entry, relation, sizes, error);
  }
  return 0;
}

int heed_allocate_outputs(const heed_entry *entry, const int64_t *sizes, heed_tensor *tensors,
                          heed_error *error) {
  for (int32_t i = 0; i < entry->argument_count; ++i) {
    const heed_argument *argument = entry->arguments[i];
    if (argument->role != HEED_OUTPUT || tensors[i].data)
      continue;
    int64_t shape[64];
    if (argument->rank > 64)
      return heed_fail(error, "output '%s': expected rank 64 or less, but got %d", argument->name,
                       argument->rank);
    for (int32_t j = 0; j < argument->rank; ++j)
      shape[j] = heed_evaluate(argument->shape[j], sizes);
    heed_error reason;
    if (heed_tensor_allocate(argument->type, argument->rank, shape, &tensors[i], &reason))
      return heed_fail(error, "output '%s': %s", argument->name, reason.message);
  }
  return 0;
}

void heed_workspace_free(heed_workspace *workspace) {
  free(workspace->data);
  *workspace = {};
}

/// Makes the workspace at least as large as asked.
static int grow(heed_workspace *workspace, size_t bytes, heed_error *error) {
  if (bytes <= workspace->bytes)
    return 0;
  size_t rounded = (bytes + HEED_ALIGNMENT - 1) / HEED_ALIGNMENT * HEED_ALIGNMENT;
  heed_workspace_free(workspace);
  workspace->data = rounded >= bytes ? aligned_alloc(HEED_ALIGNMENT, rounded) : nullptr;
  if (!workspace->data)
    return heed_fail(error, "out of memory for a workspace of %zu bytes", bytes);
  workspace->bytes = rounded;
  return 0;
}

namespace {
/// The arrays of a uniform call, in one allocation.
struct Arrays {
  explicit Arrays(const heed_entry *entry) {
    size_t tensorBytes = entry->argument_count * sizeof(void *),
           sizeBytes = entry->size_count * sizeof(int64_t),
           strideBytes = entry->stride_count * sizeof(int64_t);
    memory = static_cast<char *>(malloc(tensorBytes + sizeBytes + strideBytes + 1));
    if (!memory)
      return;
    tensors = reinterpret_cast<void **>(memory);
    sizes = reinterpret_cast<int64_t *>(memory + tensorBytes);
    strides = reinterpret_cast<int64_t *>(memory + tensorBytes + sizeBytes);
  }
  ~Arrays() { free(memory); }
  Arrays(const Arrays &) = delete;

  char *memory;
  void **tensors;
  int64_t *sizes, *strides;
};
} // namespace

static void gather(const heed_entry *entry, const heed_tensor *tensors, Arrays &arrays) {
  int64_t *stride = arrays.strides;
  for (int32_t i = 0; i < entry->argument_count; ++i) {
    const heed_argument *argument = entry->arguments[i];
    arrays.tensors[i] = tensors[i].data;
    if (!(argument->flags & HEED_ARGUMENT_STRIDED) || argument->rank < 2)
      continue;
    uint64_t rowMajor = 1;
    for (int32_t j = argument->rank - 1; j > 0; --j) {
      rowMajor *= tensors[i].sizes[j];
      stride[j - 1] = tensors[i].strides ? tensors[i].strides[j - 1] : static_cast<int64_t>(rowMajor);
    }
    stride += argument->rank - 1;
  }
}

int heed_call(const heed_entry *entry, const heed_tensor *tensors, const void *params,
              heed_workspace *workspace, const heed_context *context, heed_error *error) {
  Arrays arrays(entry);
  if (!arrays.memory)
    return heed_fail(error, "%s: out of memory", entry->name);
  if (heed_infer_sizes(entry, tensors, arrays.sizes, error))
    return -1;
  for (int32_t i = 0; i < entry->argument_count; ++i)
    if (entry->arguments[i]->role == HEED_OUTPUT && !tensors[i].sizes && entry->arguments[i]->rank)
      return heed_fail(error, "output '%s': expected a tensor, but got none", entry->arguments[i]->name);
  gather(entry, tensors, arrays);

  heed_workspace own = {};
  heed_workspace *used = workspace ? workspace : &own;
  size_t bytes = entry->workspace_bytes(arrays.sizes, context ? context->threads : 1);
  if (bytes == SIZE_MAX)
    return heed_fail(error, "%s: expected sizes whose memory can be counted, but they are too large",
                     entry->name);
  if (grow(used, bytes, error))
    return -1;
  int32_t status =
      entry->call(arrays.tensors, arrays.sizes, arrays.strides, params, used->data, used->bytes, context);
  heed_workspace_free(&own);
  if (status == HEED_OK)
    return 0;
  heed_describe_status(entry, status, tensors, arrays.sizes, error);
  return -1;
}

static int64_t readIndex(const heed_tensor *tensor, int64_t i) {
  switch (tensor->type.bits) {
  case 8:
    return static_cast<const int8_t *>(tensor->data)[i];
  case 16:
    return static_cast<const int16_t *>(tensor->data)[i];
  case 32:
    return static_cast<const int32_t *>(tensor->data)[i];
  default:
    return static_cast<const int64_t *>(tensor->data)[i];
  }
}

static void describeIndex(const heed_argument *argument, const heed_tensor *tensor, const int64_t *sizes,
                          heed_error *error) {
  heed_line line = {};
  heed_append(&line, "%s '%s': expected indices in [%s, %s]", roleName(argument), argument->name,
              argument->lower->text, argument->upper->text);
  if (tensor && tensor->data && tensor->sizes && sizes) {
    int64_t lower = heed_evaluate(argument->lower, sizes), upper = heed_evaluate(argument->upper, sizes);
    if (argument->lower->term_count || argument->upper->term_count)
      heed_append(&line, " = [%lld, %lld]", static_cast<long long>(lower), static_cast<long long>(upper));
    for (int64_t i = 0, count = heed_tensor_count(tensor); i < count; ++i)
      if (int64_t index = readIndex(tensor, i); index < lower || index > upper) {
        heed_append(&line, ", but element %lld is %lld", static_cast<long long>(i),
                    static_cast<long long>(index));
        break;
      }
  }
  heed_fail(error, "%s", line.text);
}

void heed_describe_status(const heed_entry *entry, int32_t status, const heed_tensor *tensors,
                          const int64_t *sizes, heed_error *error) {
  int32_t kind = HEED_STATUS_KIND(status), index = HEED_STATUS_INDEX(status);
  const heed_argument *argument =
      kind >= HEED_NULL_TENSOR && kind <= HEED_NEGATIVE_STRIDE && index >= 0 && index < entry->argument_count
          ? entry->arguments[index]
          : nullptr;
  const heed_tensor *tensor = tensors && argument ? &tensors[index] : nullptr;
  const char *role = argument ? roleName(argument) : "argument", *name = argument ? argument->name : "?";
  switch (kind) {
  case HEED_OK:
    return void(heed_fail(error, "%s: ok", entry->name));
  case HEED_NULL_TENSOR:
    return void(heed_fail(error, "%s '%s': expected a tensor, but got a null pointer", role, name));
  case HEED_MISALIGNED_TENSOR:
    return void(
        heed_fail(error, "%s '%s': expected a pointer aligned to its elements, but it is not", role, name));
  case HEED_OVERLAP:
    return void(
        heed_fail(error,
                  "%s '%s': expected memory of its own, but it overlaps another tensor, the workspace or the "
                  "parameters",
                  role, name));
  case HEED_INDEX_OUT_OF_RANGE:
    if (argument && argument->lower && argument->upper)
      return describeIndex(argument, tensor, sizes, error);
    break;
  case HEED_BAD_SHAPE:
    return void(heed_fail(error, "%s '%s': expected a shape whose bytes fit in 63 bits, but they do not",
                          role, name));
  case HEED_NEGATIVE_STRIDE:
    return void(heed_fail(error, "%s '%s': expected strides of at least 0, but one is negative", role, name));
  case HEED_NEGATIVE_SIZE:
    if (index >= 0 && index < entry->size_count) {
      heed_line found = {};
      if (sizes)
        heed_append(&found, ", but got %lld", static_cast<long long>(sizes[index]));
      return void(
          heed_fail(error, "size '%s': expected at least 0%s", entry->sizes[index]->name, found.text));
    }
    break;
  case HEED_RELATION_VIOLATED:
    if (index >= 0 && index < entry->relation_count)
      return void(failRelation(entry, entry->relations[index], sizes, error));
    break;
  case HEED_NULL_PARAMS:
    return void(heed_fail(error, "%s: expected parameters, but got a null pointer", entry->name));
  case HEED_MISALIGNED_PARAMS:
    return void(
        heed_fail(error, "%s: expected parameters aligned to 64 bytes, but they are not", entry->name));
  case HEED_WORKSPACE_TOO_SMALL: {
    heed_line needed = {};
    if (sizes)
      heed_append(&needed, " of %zu bytes on one thread", entry->workspace_bytes(sizes, 1));
    return void(
        heed_fail(error, "%s: expected a workspace%s, but got a smaller one", entry->name, needed.text));
  }
  case HEED_MISALIGNED_WORKSPACE:
    return void(heed_fail(error, "%s: expected a workspace aligned to 64 bytes, but it is not", entry->name));
  case HEED_BAD_CONTEXT:
    return void(heed_fail(
        error, "%s: expected a context with its size and at least one thread, but got another", entry->name));
  case HEED_UNSUPPORTED_CPU:
    return void(heed_fail(
        error, "%s: expected a CPU with the instructions it was compiled for, but this one lacks some",
        entry->name));
  }
  heed_fail(error, "%s: expected a status of this interface, but got %d", entry->name, status);
}
