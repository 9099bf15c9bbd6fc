// Loads modules and finds their entries.
#include "runtime/Error.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct heed_library {
  void *handle;
  const heed_module *module;
};

int heed_library_open(const char *path, heed_library **library, heed_error *error) {
  *library = nullptr;
  if (access(path, F_OK) != 0)
    return heed_fail(error, "%s: expected a shared library, but there is no such file", path);
  // dlopen searches the system's folders for a name without a slash.
  char *local = nullptr;
  if (!strchr(path, '/')) {
    local = static_cast<char *>(malloc(strlen(path) + 3));
    if (!local)
      return heed_fail(error, "%s: out of memory", path);
    strcpy(local, "./");
    strcat(local, path);
  }
  void *handle = dlopen(local ? local : path, RTLD_NOW | RTLD_LOCAL);
  free(local);
  if (!handle)
    return heed_fail(error, "%s: expected a shared library that can be loaded, but got: %s", path, dlerror());

  heed_module_query_fn query;
  void *symbol = dlsym(handle, "heed_module_query");
  memcpy(&query, &symbol, sizeof query);
  if (!query) {
    dlclose(handle);
    return heed_fail(error, "%s: expected a module with heed_module_query, but it has none", path);
  }
  const heed_module *module = query(HEED_ABI_VERSION);
  if (!module || module->struct_size < sizeof(heed_module)) {
    dlclose(handle);
    return heed_fail(error, "%s: expected a module that speaks ABI version %d, but it does not", path,
                     HEED_ABI_VERSION);
  }
  *library = static_cast<heed_library *>(malloc(sizeof(heed_library)));
  if (!*library) {
    dlclose(handle);
    return heed_fail(error, "%s: out of memory", path);
  }
  **library = {handle, module};
  return 0;
}

void heed_library_close(heed_library *library) {
  if (!library)
    return;
  dlclose(library->handle);
  free(library);
}

const heed_module *heed_library_module(const heed_library *library) { return library->module; }

const heed_entry *heed_find_entry(const heed_module *module, const char *name, heed_error *error) {
  if (!name && module->entry_count == 1)
    return module->entries[0];
  for (int32_t i = 0; name && i < module->entry_count; ++i)
    if (strcmp(module->entries[i]->name, name) == 0)
      return module->entries[i];
  heed_line names = {};
  for (int32_t i = 0; i < module->entry_count; ++i)
    heed_append(&names, "%s%s", i ? ", " : "", module->entries[i]->name);
  heed_fail(error, "%s: expected one of the entries %s, but got %s", module->name, names.text,
            name ? name : "none");
  return nullptr;
}

int32_t heed_find_argument(const heed_entry *entry, const char *name) {
  for (int32_t i = 0; i < entry->argument_count; ++i)
    if (strcmp(entry->arguments[i]->name, name) == 0)
      return i;
  return -1;
}
