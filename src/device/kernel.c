#include "device/kernel.h"
#include <stdio.h>
#include <string.h>
#include "device/cache.h"
#include "device/sha256.h"

enum { CACHE_FORMAT = 1, MAX_TEXTS = 32 };

struct TesiProgram {
  TesiProgram *next;
  char key[65];
  char name[64];
  void *module;
};

static void add_text(TesiSha256 *sha, const char *text) {
  tesi_sha256_add(sha, text, strlen(text) + 1);
}

/* Key: format, compiler and target, options in order, names and texts of all files. */
static void make_key(const char *compiler, const TesiCompilation *compilation, char key[65]) {
  TesiSha256 sha;
  char format[32];
  snprintf(format, sizeof format, "format %d", CACHE_FORMAT);
  tesi_sha256_init(&sha);
  add_text(&sha, format);
  add_text(&sha, compiler);
  for (const char *const *o = compilation->options; *o; o++) add_text(&sha, *o);
  add_text(&sha, "texts");
  for (int i = 0; i < compilation->count; i++) {
    add_text(&sha, compilation->texts[i].name);
    add_text(&sha, compilation->texts[i].text);
  }
  tesi_sha256_hex(&sha, key);
}

/* The file first, then tables.h and the headers. */
static TesStatus collect(TesContext *ctx, const TesiProgramDesc *desc, TesiText texts[MAX_TEXTS],
                         int *count) {
  TesStatus status = TES_OK;
  int n = 2;
  texts[0].name = NULL;
  texts[1] = (TesiText){"tables.h", desc->tables ? desc->tables : ""};
  for (const TesiText *t = tesi_kernel_texts; t->name; t++) {
    const size_t length = strlen(t->name);
    if (!strcmp(t->name, desc->file)) texts[0] = *t;
    if (length > 2 && !strcmp(t->name + length - 2, ".h") && n < MAX_TEXTS) texts[n++] = *t;
  }
  if (!texts[0].name) TES_FAIL(TES_INTERNAL, "there is no kernel file %s", desc->file);
  *count = n;
done:
  return status;
}

/* The image: from the cache, or compiled and kept there. */
static TesStatus get_image(TesContext *ctx, const TesiCompilation *compilation, const TesiProgram *program,
                           char **image, size_t *bytes) {
  TesStatus status = TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  TES_TRY(tesi_cache_read(ctx, program->name, program->key, image, bytes));
  if (*image) goto done;
  const double start = tesi_now();
  TES_TRY(tesi_context_device(ctx)->kernels->compile(ctx, compilation, image, bytes));
  tesi_log(ctx, TES_LOG_DETAIL, "compiled %s in %.2f s", program->name, tesi_now() - start);
  if (!tesi_cache_write(program->name, program->key, *image, *bytes) && !state->cache_warned) {
    state->cache_warned = true;
    tesi_log(ctx, TES_LOG_DETAIL, "compiled kernels are not kept: the cache is off or cannot be written");
  }
done:
  return status;
}

/* degree and precision in the file's name tell a person what is what */
static void name_program(const TesiProgramDesc *desc, char *name, size_t size) {
  size_t used = (size_t)snprintf(name, size, "%.*s", (int)strcspn(desc->file, "."), desc->file);
  for (const char *const *o = desc->options; *o && used < size; o++)
    if (!strncmp(*o, "DEGREE=", 7) || !strncmp(*o, "DIM=", 4) || !strncmp(*o, "real=", 5))
      used += (size_t)snprintf(name + used, size - used, "-%s", strchr(*o, '=') + 1);
}

TesStatus tesi_program_get(TesContext *ctx, const TesiProgramDesc *desc, TesiProgram **program) {
  TesStatus status = TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  const struct TesiKernelTable *table = tesi_context_device(ctx)->kernels;
  TesiText texts[MAX_TEXTS];
  TesiCompilation compilation = {.texts = texts, .options = desc->options};
  TesiProgram *p = NULL;
  char *image = NULL, key[65];
  size_t bytes = 0;
  *program = NULL;
  if (!state->description[0]) TES_TRY(table->describe(ctx, state->description, sizeof state->description));
  TES_TRY(collect(ctx, desc, texts, &compilation.count));
  make_key(state->description, &compilation, key);
  for (TesiProgram *q = state->programs; q; q = q->next)
    if (!strcmp(q->key, key)) {
      *program = q;
      goto done;
    }
  TES_NEW(&p);
  memcpy(p->key, key, sizeof key);
  name_program(desc, p->name, sizeof p->name);
  TES_TRY(get_image(ctx, &compilation, p, &image, &bytes));
  TES_TRY(table->load(ctx, image, bytes, &p->module));
  p->next = state->programs;
  state->programs = *program = p;
  p = NULL;
done:
  tesi_free(ctx, &image);
  tesi_free(ctx, &p);
  return status;
}

TesStatus tesi_kernel_get(TesContext *ctx, TesiProgram *program, const char *name, size_t shared,
                          TesiKernel *kernel) {
  kernel->program = program;
  return tesi_context_device(ctx)->kernels->get(ctx, program->module, name, shared, &kernel->function);
}

TesStatus tesi_kernel_launch(TesContext *ctx, const TesiKernel *kernel, TesiGrid grid, unsigned threads,
                             size_t shared, void **arguments) {
  if (!grid.x || !grid.y || !grid.z) return TES_OK;
  return tesi_context_device(ctx)->kernels->launch(ctx, kernel->function, grid, threads, shared, arguments);
}

void tesi_kernel_state_destroy(TesiKernelState *state) {
  TesContext *ctx = state->ctx;
  const TesiDevice *device = tesi_context_device(ctx);
  if (state->partial) device->release(ctx, &state->partial);
  while (state->programs) {
    TesiProgram *program = state->programs;
    state->programs = program->next;
    device->kernels->unload(ctx, program->module);
    tesi_free(ctx, &program);
  }
}
