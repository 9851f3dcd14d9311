#include "device/blocks.h"
#include <stdio.h>
#include <string.h>
#include "device/build.h"
#include "device/sha256.h"

enum { CACHE_FORMAT = 2, OWN_TEXTS = 2 /* texts of a program: its file and tables.h; then the headers */ };

struct TesiKernelEntry {
  TesiKernelEntry *next;
  char name[48];
  size_t shared;
  void *function; /* the device's handle; NULL before the program is loaded */
};

struct TesiProgram {
  TesiProgram *next;
  char key[65];
  char name[64];
  TesiBuild *build; /* the build in progress; NULL: done */
  bool loaded;
  void *module;
  TesiKernelEntry *entries;
};

static void add_text(TesiSha256 *sha, const char *text) {
  tesi_sha256_add(sha, text, strlen(text) + 1);
}

static bool is_header(const TesiText *text) {
  const size_t length = strlen(text->name);
  return length > 2 && !strcmp(text->name + length - 2, ".h");
}

/* The digest of all headers, 100 KB that programs share; it is computed once. */
static const char *headers_key(TesiKernelState *state) {
  TesiSha256 sha;
  if (state->headers[0]) return state->headers;
  tesi_sha256_init(&sha);
  for (const TesiText *t = tesi_kernel_texts; t->name; t++)
    if (is_header(t)) add_text(&sha, t->name), add_text(&sha, t->text);
  tesi_sha256_hex(&sha, state->headers);
  return state->headers;
}

/* Key: format, compiler and target, options in order, the headers, the file and tables.h. */
static void make_key(TesiKernelState *state, const TesiCompilation *compilation, char key[65]) {
  TesiSha256 sha;
  char format[32];
  snprintf(format, sizeof format, "format %d", CACHE_FORMAT);
  tesi_sha256_init(&sha);
  add_text(&sha, format);
  add_text(&sha, state->description);
  for (const char *const *o = compilation->options; *o; o++) add_text(&sha, *o);
  add_text(&sha, "texts");
  add_text(&sha, headers_key(state));
  for (int i = 0; i < OWN_TEXTS; i++) {
    add_text(&sha, compilation->texts[i].name);
    add_text(&sha, compilation->texts[i].text);
  }
  tesi_sha256_hex(&sha, key);
}

/* The file first, then tables.h and the headers. */
static TesStatus collect(TesContext *ctx, const TesiProgramDesc *desc, TesiText texts[TESI_TEXTS], int *count) {
  TesStatus status = TES_OK;
  int n = OWN_TEXTS;
  texts[0] = (TesiText){desc->text ? desc->file : NULL, desc->text};
  texts[1] = (TesiText){"tables.h", desc->tables ? desc->tables : ""};
  for (const TesiText *t = tesi_kernel_texts; t->name; t++) {
    if (!strcmp(t->name, desc->file)) texts[0] = *t;
    if (!is_header(t)) continue;
    if (n == TESI_TEXTS)
      TES_FAIL(TES_INTERNAL, "there are more than %d headers of kernels", TESI_TEXTS - OWN_TEXTS);
    texts[n++] = *t;
  }
  if (!texts[0].name) TES_FAIL(TES_INTERNAL, "there is no kernel file %s", desc->file);
  *count = n;
done:
  return status;
}

/* degree and precision are in the file's name for human readers */
static void name_program(const TesiProgramDesc *desc, const char *const *options, char *name, size_t size) {
  size_t used = (size_t)snprintf(name, size, "%.*s", (int)strcspn(desc->file, "."), desc->file);
  for (const char *const *o = options; *o && used < size; o++)
    if (!strncmp(*o, "DEGREE=", 7) || !strncmp(*o, "DIM=", 4) || !strncmp(*o, "real=", 5))
      used += (size_t)snprintf(name + used, size - used, "-%s", strchr(*o, '=') + 1);
}

/* The macros as a compiler gets them; NULL ends them. text: their memory. */
static void list_options(const TesiProgramDesc *desc, char text[TESI_OPTIONS][48],
                         const char *options[TESI_OPTIONS + 1]) {
  int n = 0;
  options[n++] = desc->real == TES_SINGLE ? "real=float" : "real=double";
  for (int i = 0; i < 3 && desc->types[i]; i++) options[n++] = desc->types[i];
  for (const TesiMacro *m = desc->macros; m->name; m++, n++) {
    snprintf(text[n], sizeof text[n], "%s=%d", m->name, m->value);
    options[n] = text[n];
  }
  options[n] = NULL;
}

TesStatus tesi_program_get(TesContext *ctx, const TesiProgramDesc *desc, TesiProgram **program) {
  TesStatus status = TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  const struct TesiKernelTable *table = tesi_context_device(ctx)->kernels;
  TesiText texts[TESI_TEXTS];
  char option[TESI_OPTIONS][48];
  const char *options[TESI_OPTIONS + 1];
  TesiCompilation compilation = {.texts = texts, .options = options, .description = state->description};
  TesiProgram *p = NULL;
  char key[65];
  *program = NULL;
  list_options(desc, option, options);
  if (!state->description[0]) TES_TRY(table->describe(ctx, state->description, sizeof state->description));
  TES_TRY(collect(ctx, desc, texts, &compilation.count));
  make_key(state, &compilation, key);
  for (TesiProgram *q = state->programs; q; q = q->next)
    if (!strcmp(q->key, key)) {
      *program = q;
      goto done;
    }
  TES_NEW(&p);
  memcpy(p->key, key, sizeof key);
  name_program(desc, options, p->name, sizeof p->name);
  /* belongs to the state's context, since the calling context may be destroyed before */
  TES_TRY(tesi_build_start(state->ctx, table, &compilation, p->name, p->key, &p->build));
  p->next = state->programs;
  state->programs = *program = p;
  p = NULL;
done:
  tesi_free(ctx, &p);
  return status;
}

/* Waits for the build and loads its result. A failure is reported at every launch. */
static TesStatus finish(TesContext *ctx, TesiProgram *program) {
  TesStatus status = TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  TesiBuilt built = {0};
  if (program->loaded) return TES_OK;
  TES_TRY(tesi_build_wait(ctx, program->build, &built));
  if (built.compiled) tesi_log(ctx, TES_LOG_DETAIL, "compiled %s in %.2f s", program->name, built.seconds);
  if (!built.kept && !state->cache_warned) {
    state->cache_warned = true;
    tesi_log(ctx, TES_LOG_DETAIL, "compiled kernels are not kept: the cache is off or cannot be written");
  }
  TES_TRY(tesi_context_device(ctx)->kernels->load(ctx, built.image, built.bytes, &program->module));
  program->loaded = true;
  tesi_build_destroy(&program->build);
done:
  return status;
}

static TesStatus resolve(TesContext *ctx, TesiProgram *program, TesiKernelEntry *entry) {
  TesStatus status = TES_OK;
  TES_TRY(finish(ctx, program));
  TES_TRY(tesi_context_device(ctx)->kernels->get(ctx, program->module, entry->name, entry->shared,
                                                 &entry->function));
done:
  return status;
}

TesStatus tesi_kernel_get(TesContext *ctx, TesiProgram *program, const char *name, size_t shared,
                          TesiKernel *kernel) {
  TesStatus status = TES_OK;
  TesiKernelEntry *entry = program->entries;
  while (entry && (strcmp(entry->name, name) != 0 || entry->shared != shared)) entry = entry->next;
  if (!entry) {
    TES_NEW(&entry);
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->shared = shared;
    entry->next = program->entries;
    program->entries = entry;
  }
  *kernel = (TesiKernel){.entry = entry, .program = program};
  if (program->loaded || tesi_context_device(ctx)->kernels->at_once) TES_TRY(resolve(ctx, program, entry));
done:
  return status;
}

TesStatus tesi_kernel_launch(TesContext *ctx, const TesiKernel *kernel, TesiGrid grid, unsigned threads,
                             size_t shared, void **arguments) {
  TesStatus status = TES_OK;
  if (!grid.x || !grid.y || !grid.z) return TES_OK;
  if (!kernel->entry->function) TES_TRY(resolve(ctx, kernel->program, kernel->entry));
  TES_TRY(tesi_context_device(ctx)->kernels->launch(ctx, kernel->entry->function, grid, kernel->together,
                                                    threads, shared, arguments));
done:
  return status;
}

void tesi_kernels_wait(TesContext *ctx) {
  const TesiKernelState *state = tesi_context_device_state(ctx);
  for (TesiProgram *p = state->programs; p; p = p->next)
    for (TesiKernelEntry *e = p->entries; e; e = e->next)
      if (!e->function && resolve(ctx, p, e) != TES_OK) tesi_context_forget(ctx);
}

TesStatus tesi_kernel_use(TesContext *ctx, const TesiKernel *kernel, unsigned threads, size_t shared,
                          TesiKernelUse *use) {
  TesStatus status = TES_OK;
  const struct TesiKernelTable *table = tesi_context_device(ctx)->kernels;
  *use = (TesiKernelUse){0};
  if (!table->use) return TES_OK;
  if (!kernel->entry->function) TES_TRY(resolve(ctx, kernel->program, kernel->entry));
  TES_TRY(table->use(ctx, kernel->entry->function, threads, shared, use));
done:
  return status;
}

int tesi_kernel_multiprocessors(const TesContext *ctx) {
  return tesi_context_device(ctx)->kernels->multiprocessors(ctx);
}

int64_t tesi_kernel_resident(const TesContext *ctx, int64_t each) {
  const struct TesiKernelTable *table = tesi_context_device(ctx)->kernels;
  return table->in_turn ? 1 : table->multiprocessors(ctx) * each;
}

void tesi_kernel_state_destroy(TesiKernelState *state) {
  TesContext *ctx = state->ctx;
  const TesiDevice *device = tesi_context_device(ctx);
  if (state->partial) device->release(ctx, &state->partial);
  while (state->programs) {
    TesiProgram *program = state->programs;
    state->programs = program->next;
    tesi_build_destroy(&program->build);
    if (program->loaded) device->kernels->unload(ctx, program->module);
    while (program->entries) {
      TesiKernelEntry *entry = program->entries;
      program->entries = entry->next;
      tesi_free(ctx, &entry);
    }
    tesi_free(ctx, &program);
  }
  tesi_blocks_free(ctx, &state->blocks);
}
