#include "device/library.h"
#include <dlfcn.h>
#include <string.h>

void *tesi_library_open(const char *given, const char *const *names) {
  void *library = NULL;
  if (given && *given) return dlopen(given, RTLD_NOW | RTLD_LOCAL);
  for (; !library && *names; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return library;
}

/* ISO C has no cast from a data to a function pointer. */
bool tesi_library_find(void *library, const char *symbol, void *function) {
  void *address = dlsym(library, symbol);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

TesStatus tesi_library_get(TesContext *ctx, void *library, const char *name, const char *symbol,
                           void *function) {
  TesStatus status = TES_OK;
  if (!tesi_library_find(library, symbol, function))
    TES_FAIL(TES_MISSING, "%s is too old: it lacks %s", name, symbol);
done:
  return status;
}
