/* What a host program needs to call compiled models: loads modules, maps parameters, runs threads, checks
 * shapes, reads and writes tensors. C99 and C++11; link libheed_runtime, libpthreadpool and libdl.
 *
 *   heed_error error;
 *   heed_library *library;
 *   heed_params *params;
 *   heed_pool *pool;
 *   if (heed_library_open("minilm.so", &library, &error) ||
 *       heed_params_map(heed_library_module(library), "minilm.heed", &params, &error) ||
 *       heed_pool_create(4, &pool, &error))
 *     die(error.message);
 *   const heed_entry *entry = heed_find_entry(heed_library_module(library), "encode", &error);
 *   ...
 *   if (heed_call(entry, tensors, heed_params_data(params), NULL, heed_pool_context(pool), &error))
 *     die(error.message);
 *
 * Functions that can fail return 0 on success and otherwise leave one line in `error`, which may be null.
 * Nothing here throws, prints or ends the process. Objects may be used by several threads at once, except
 * that one is not closed while in use, and a workspace serves one call at a time. */
#ifndef HEED_H
#define HEED_H

#include "runtime/heed_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong: lower-case, the place first, expectation then finding, no final period. */
typedef struct heed_error {
  char message[1024];
} heed_error;

/* -- Modules -----------------------------------------------------------------------------------------------
 */

/* A module in a shared library. */
typedef struct heed_library heed_library;

/* Loads the shared library at `path` and compares its ABI version. A path without a slash is a file in the
 * current folder. */
int heed_library_open(const char *path, heed_library **library, heed_error *error);
void heed_library_close(heed_library *library);
const heed_module *heed_library_module(const heed_library *library);

/* The entry `name`; the only one where name is null. Null, with a line that lists the entries, if there is
 * none. */
const heed_entry *heed_find_entry(const heed_module *module, const char *name, heed_error *error);

/* The number of the argument `name` of an entry, or -1. */
int32_t heed_find_argument(const heed_entry *entry, const char *name);

/* -- Parameters --------------------------------------------------------------------------------------------
 */

/* A parameter image mapped into memory, shared by all processes that map it. */
typedef struct heed_params heed_params;

/* Maps the image at `path` for `module`, or the one embedded in the module where path is null. Takes constant
 * time: compares format version, layout id and file size, and reads no parameter. A module without parameters
 * takes no image. */
int heed_params_map(const heed_module *module, const char *path, heed_params **params, heed_error *error);
/* Where the image of a module lies unless told otherwise: beside it, with the suffix .heed in place of .so,
 * or added where there is no suffix. An error where it does not fit in `capacity`. */
int heed_params_beside(const char *module_path, char *path, size_t capacity, heed_error *error);
void heed_params_unmap(heed_params *params);
/* What entries take as `params`. */
const void *heed_params_data(const heed_params *params);

/* -- Threads -----------------------------------------------------------------------------------------------
 */

typedef struct heed_pool heed_pool;

/* A pool of `threads` threads, the caller's among them; 0: one for each processor. */
int heed_pool_create(int32_t threads, heed_pool **pool, heed_error *error);
void heed_pool_destroy(heed_pool *pool);
/* The context of calls on this pool; a copy of it may be given a `trace`. */
const heed_context *heed_pool_context(const heed_pool *pool);

/* -- Tensors -----------------------------------------------------------------------------------------------
 */

/* Reads a .npy file (format 1 to 3, little-endian, C order). Release tensors that
 * were read with heed_tensor_free. */
int heed_npy_read(const char *path, heed_tensor *tensor, heed_error *error);
/* Writes a .npy file, whole or not at all. Strided tensors are written dense. */
int heed_npy_write(const char *path, const heed_tensor *tensor, heed_error *error);

/* Reads the tensor `name` of a safetensors file, or the only one there is whatever its name. */
int heed_safetensors_read(const char *path, const char *name, heed_tensor *tensor, heed_error *error);
/* Writes a safetensors file of one tensor, whole or not at all. */
int heed_safetensors_write(const char *path, const char *name, const heed_tensor *tensor, heed_error *error);

/* Either of these by the suffix of the path: safetensors, else .npy. */
int heed_tensor_read(const char *path, const char *name, heed_tensor *tensor, heed_error *error);
int heed_tensor_write(const char *path, const char *name, const heed_tensor *tensor, heed_error *error);

/* A dense tensor of zeros, aligned to 64 bytes. */
int heed_tensor_allocate(heed_type type, int32_t rank, const int64_t *sizes, heed_tensor *tensor,
                         heed_error *error);
/* Releases what a reader or heed_tensor_allocate gave; leaves all fields zero. */
void heed_tensor_free(heed_tensor *tensor);

/* Elements; -1 where their bytes do not fit in 63 bits. */
int64_t heed_tensor_count(const heed_tensor *tensor);

/* "f32", "bf16", "i64", "i1", …; "?" for a type that no module has. */
const char *heed_type_name(heed_type type);

/* -- Calls -------------------------------------------------------------------------------------------------
 */

/* The value of an expression for these sizes of its entry. */
int64_t heed_evaluate(const heed_affine *expression, const int64_t *sizes);

/* Finds the sizes of an entry from the shapes of its arguments, and checks those against each other and the
 * entry's types and relations. `tensors` are one for each argument, in order. Outputs without a shape (sizes
 * null, rank not 0) and optional inputs that are absent (all fields zero) are passed over. `sizes` has room
 * for entry->size_count. */
int heed_infer_sizes(const heed_entry *entry, const heed_tensor *tensors, int64_t *sizes, heed_error *error);

/* Allocates the outputs that have no data yet, as these sizes make them. */
int heed_allocate_outputs(const heed_entry *entry, const int64_t *sizes, heed_tensor *tensors,
                          heed_error *error);

/* Scratch memory kept from call to call, so that calls of like sizes allocate nothing. Begins as zeros. */
typedef struct heed_workspace {
  void *data;
  size_t bytes;
} heed_workspace;
void heed_workspace_free(heed_workspace *workspace);

/* Calls an entry. `tensors` are one for each argument, in order, with their shapes; absent optional inputs
 * have all fields zero. The sizes are inferred, everything is checked, and the workspace grown where it is
 * too small; null: one for this call. `params` may be null where the entry has none, `context` always. */
int heed_call(const heed_entry *entry, const heed_tensor *tensors, const void *params,
              heed_workspace *workspace, const heed_context *context, heed_error *error);

/* One line for a status that an entry returned. `tensors` and `sizes`, where not null, are what it was called
 * with, and allow the line to say what was found. */
void heed_describe_status(const heed_entry *entry, int32_t status, const heed_tensor *tensors,
                          const int64_t *sizes, heed_error *error);

/* -- Programs ----------------------------------------------------------------------------------------------
 */

/* The program around one module that `heed compile` makes of a model when no suffix asks for a library:
 *   PROGRAM --input NAME=FILE … --output DIR [--entry NAME] [--params FILE] [--threads N]
 * Returns the exit status. */
int heed_program(const heed_module *module, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
