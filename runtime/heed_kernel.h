/* The binary interface of emitted code.
 *
 * This header is its own document: what a module compiled by heed expects from its caller, what it gives
 * back, and what it says of itself. Emitted code needs nothing else; a host program usually wants heed.h,
 * which loads modules and fills in most of what follows. C99 and C++11.
 *
 * A module is an object file, an archive or a shared library made from one model. It offers entries, each a
 * plain C function documented in the header generated beside it:
 *
 *   int32_t NAME(inputs…, states…, outputs…, const void *params, sizes…, strides…,
 *                void *workspace, size_t workspace_bytes, const heed_context *context);
 *   size_t NAME_workspace_bytes(sizes…, int32_t threads);
 *
 * - Tensors are pointers to dense row-major data aligned to their element; a strided one has in addition an
 *   int64_t stride in elements for every dimension but the last, whose stride is 1. A state is read and
 *   updated in place. Outputs are written by the entry. What is written may overlap nothing else, and nothing
 *   may overlap the workspace; between the rows of a strided tensor another may lie.
 * - Types: f32 is float, f64 double, f16 and bf16 uint16_t, iN intN_t, i1 uint8_t holding 0 or 1.
 * - `params` (absent where an entry has no parameters) points to the tensor data of the parameter image,
 *   `workspace` to scratch memory; both are aligned to 64 bytes. Neither is kept after the call.
 * - Sizes are the named dynamic dimensions, each an int64_t >= 0, in the order in which names first appear.
 * - The result is a status, 0 = ok. Everything the caller passes is checked before anything is read or
 *   written through it, so that on any other status the outputs are untouched.
 *
 * Emitted code allocates nothing, calls at most memcpy, memmove and memset, has no global state but one
 * atomic word that caches the detected CPU level, and may run in any number of threads at once.
 */
#ifndef HEED_KERNEL_H
#define HEED_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when anything here changes its meaning; structs may grow at the end without that. */
#define HEED_ABI_VERSION 1

/* [generated headers repeat from here] */
#ifndef HEED_CONTEXT_H
#define HEED_CONTEXT_H

/* An element type, as DLPack's DLDataType. */
typedef struct heed_type {
  uint8_t code;   /* enum heed_type_code */
  uint8_t bits;   /* of one element in memory: 8 for an i1 */
  uint16_t lanes; /* 1 */
} heed_type;

enum heed_type_code {
  HEED_TYPE_INT = 0,
  HEED_TYPE_UINT = 1,
  HEED_TYPE_FLOAT = 2,
  HEED_TYPE_BFLOAT = 4,
  HEED_TYPE_BOOL = 6
};

/* A tensor as it lies in memory. `strides` are in elements; null means dense row-major. */
typedef struct heed_tensor {
  void *data;
  heed_type type;
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides;
} heed_tensor;

/* What `trace` is told. */
enum heed_trace_kind {
  HEED_TRACE_BEGIN = 0, /* a kernel begins; `tensor` is null */
  HEED_TRACE_END = 1,   /* and has ended */
  HEED_TRACE_TENSOR = 2 /* an intermediate tensor is complete; it is readable during the call only */
};

/* What a call may use. A null context means the calling thread alone.
 *
 * A caller sets struct_size to sizeof(heed_context), so that fields added later are known to be absent. */
typedef struct heed_context {
  uint32_t struct_size; /* at least HEED_CONTEXT_MIN_BYTES */
  int32_t threads;      /* the most slots that a call may ask for; >= 1 */

  /* Runs task(arg, slot) exactly once for every slot in [0, slots), slots <= threads, and returns when all
   * are done. Tasks never wait for one another, so any schedule is right, in turn on one thread too.
   * Null: one slot, on the calling thread. */
  void *pool;
  void (*parallel)(void *pool, void (*task)(void *arg, int32_t slot), void *arg, int32_t slots);

  /* Called on the thread that called the entry, between kernels; null: not traced. `name` names the layer
   * and the kernel, or the tensor. */
  void *trace_data;
  void (*trace)(void *trace_data, int32_t kind, const char *name, const heed_tensor *tensor);
} heed_context;

/* The fields up to and including `parallel`; without the later ones a call is not traced. */
#define HEED_CONTEXT_MIN_BYTES offsetof(heed_context, trace_data)

/* A status is 0 or kind | index << 8: what is wrong, and with which argument, size or relation, each counted
 * from 0 in the order of the call. */
enum heed_status_kind {
  HEED_OK = 0,
  HEED_NULL_TENSOR = 1,          /* argument: null, but its size is not 0 and it is not optional */
  HEED_MISALIGNED_TENSOR = 2,    /* argument: not aligned to its element */
  HEED_OVERLAP = 3,              /* argument: shares memory that it, another or the entry writes */
  HEED_INDEX_OUT_OF_RANGE = 4,   /* argument: holds an index outside its range */
  HEED_BAD_SHAPE = 5,            /* argument: a dimension is negative, or the bytes do not fit in 63 bits */
  HEED_NEGATIVE_STRIDE = 6,      /* argument: strided, with a negative stride */
  HEED_NEGATIVE_SIZE = 7,        /* size: below 0 */
  HEED_RELATION_VIOLATED = 8,    /* relation: does not hold between these sizes */
  HEED_NULL_PARAMS = 9,          /* params is null */
  HEED_MISALIGNED_PARAMS = 10,   /* params is not aligned to 64 bytes */
  HEED_WORKSPACE_TOO_SMALL = 11, /* null, or smaller than NAME_workspace_bytes says */
  HEED_MISALIGNED_WORKSPACE = 12,
  HEED_BAD_CONTEXT = 13,    /* struct_size too small, or threads < 1 */
  HEED_UNSUPPORTED_CPU = 14 /* this machine lacks instructions that the module was compiled for */
};
#define HEED_STATUS_KIND(status) ((status) & 0xff)
#define HEED_STATUS_INDEX(status) ((status) >> 8)

#endif /* HEED_CONTEXT_H */
/* [to here] */

/* What a module says of itself. All of it is constant data inside the module. Every struct starts with its
 * size, so that a reader can tell which fields are there; lists are arrays of pointers, so that structs can
 * grow. Text is UTF-8 and ends with a zero. */

/* constant + sum of coefficients[i] * size number sizes[i]. */
typedef struct heed_affine {
  uint32_t struct_size;
  int32_t term_count;
  const int32_t *sizes; /* indices into heed_entry.sizes */
  const int64_t *coefficients;
  int64_t constant;
  const char *text; /* as written in the model: "past + seq" */
} heed_affine;

enum heed_role { HEED_INPUT = 0, HEED_STATE = 1, HEED_OUTPUT = 2 };
enum heed_space { HEED_HOST = 0, HEED_DEVICE = 1 };
enum heed_argument_flag {
  HEED_ARGUMENT_OPTIONAL = 1, /* may be null: see default_value */
  HEED_ARGUMENT_STRIDED = 2,
  HEED_ARGUMENT_PACKED = 4 /* a matrix in panels, as the entry SYMBOL_pack_NAME makes them */
};

typedef struct heed_argument {
  uint32_t struct_size;
  int32_t role;  /* enum heed_role */
  int32_t space; /* enum heed_space: where the pointer must point to */
  uint32_t flags;
  const char *name;
  heed_type type;
  int32_t rank;
  const heed_affine *const *shape; /* one for each dimension */
  /* What a null pointer stands for: "ones" or "zeros". Null unless HEED_ARGUMENT_OPTIONAL. */
  const char *default_value;
  /* Inclusive bounds of index data, checked by the entry; both null: any value. */
  const heed_affine *lower, *upper;
} heed_argument;

typedef struct heed_size {
  uint32_t struct_size;
  const char *name;
} heed_size;

enum heed_relation_kind { HEED_EQUAL_ZERO = 0, HEED_AT_LEAST_ZERO = 1 };

/* A condition on the sizes, checked by the entry. */
typedef struct heed_relation {
  uint32_t struct_size;
  int32_t kind; /* enum heed_relation_kind, of `expression` */
  const heed_affine *expression;
  const char *text; /* as written in the model: "seq <= 512" */
} heed_relation;

typedef struct heed_entry {
  uint32_t struct_size;
  int32_t argument_count;
  int32_t size_count;
  int32_t stride_count; /* for each strided argument, in order, rank - 1 */
  int32_t relation_count;
  int32_t has_params;
  const char *name;                      /* in the model */
  const char *symbol;                    /* in C */
  const heed_argument *const *arguments; /* inputs, states, outputs */
  const heed_size *const *sizes;
  const heed_relation *const *relations;

  /* The entry in a form that needs no signature: tensors as `arguments`, sizes as `sizes`, then strides. An
   * array may be null where its count is 0; params is ignored where has_params is 0. */
  int32_t (*call)(void *const *tensors, const int64_t *sizes, const int64_t *strides, const void *params,
                  void *workspace, size_t workspace_bytes, const heed_context *context);

  /* Bytes of workspace for these sizes on at most `threads` threads (>= 1). SIZE_MAX: a size is negative, a
   * relation is violated, or the sum overflows. */
  size_t (*workspace_bytes)(const int64_t *sizes, int32_t threads);
} heed_entry;

/* A parameter image is a safetensors file whose header begins with exactly
 *
 *   {"__metadata__":{"heed.format_version":"1","heed.layout_id":"<layout_id>"
 *
 * and is padded with spaces so that the first tensor lies on a page (4096 bytes) of the file; every tensor
 * starts on 64 bytes. An entry's `params` points to that first page of tensors. */
#define HEED_PARAMS_FORMAT_VERSION 1
#define HEED_PARAMS_PAGE 4096
#define HEED_ALIGNMENT 64

typedef struct heed_parameter {
  uint32_t struct_size;
  int32_t rank;
  const char *name;
  heed_type type;       /* of the logical tensor */
  const int64_t *shape; /* of the logical tensor */
  const char *storage;  /* how the elements lie in the image: "f32", "f32 panels of 16", "q8_0", … */
  uint64_t offset;      /* from `params`, in bytes; a multiple of 64 */
  uint64_t bytes;
} heed_parameter;

typedef struct heed_parameters {
  uint32_t struct_size;
  uint32_t format_version;
  const char *layout_id; /* of names, shapes, storage and offsets: an image fits when it has the same */
  uint64_t bytes;        /* of tensor data: the file's size less its header */
  const void *embedded;  /* the tensor data where it is part of the module, else null */
  int32_t parameter_count;
  const heed_parameter *const *parameters;
} heed_parameters;

typedef struct heed_module {
  uint32_t struct_size;
  uint32_t abi_version; /* HEED_ABI_VERSION of the compiler */
  const char *name;
  const char *target; /* as the compiler was told: "x86-64-v3" */
  int32_t entry_count;
  const heed_entry *const *entries;
  const heed_parameters *parameters; /* null: none */
} heed_module;

/* Every module NAME defines NAME_module_query; a shared library exports it as heed_module_query too. Null
 * when the module does not speak that version. */
typedef const heed_module *(*heed_module_query_fn)(uint32_t abi_version);

#ifdef __cplusplus
}
#endif

#endif
