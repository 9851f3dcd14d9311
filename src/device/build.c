#include "device/build.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/context_new.h"
#include "base/text.h"
#include "device/cache.h"

struct TesiBuild {
  TesContext *owner, *ctx; /* the calling context; a context for memory and messages of the thread */
  const struct TesiKernelTable *table;
  TesiText texts[TESI_TEXTS];
  const char *options[TESI_OPTIONS + 1];
  char option_text[TESI_OPTIONS][128], description[128], name[64], key[65];
  TesiCompilation compilation;
  char *tables; /* copy of a generated text */
  pthread_t thread;
  bool running;
  TesStatus status;
  char *image;
  TesiBuilt built;
};

static sem_t processors;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_processors(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  sem_init(&processors, 0, count > 1 ? (unsigned)count : 1);
}

/* The cache's image, or the compiler's. `ctx` receives messages and owns the image. */
static TesStatus make_image(TesContext *ctx, TesiBuild *b) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_cache_read(ctx, b->name, b->key, &b->image, &b->built.bytes));
  b->built.kept = true;
  if (!b->image) {
    const double start = tesi_now();
    TES_TRY(b->table->compile(ctx, &b->compilation, &b->image, &b->built.bytes));
    b->built.seconds = tesi_now() - start;
    b->built.compiled = true;
    b->built.kept = tesi_cache_write(b->name, b->key, b->image, b->built.bytes);
  }
  b->built.image = b->image;
done:
  return status;
}

static void *run(void *argument) {
  TesiBuild *b = argument;
  while (sem_wait(&processors)) {
  }
  b->status = make_image(b->ctx, b);
  sem_post(&processors);
  return NULL;
}

/* Texts of src/kernels live as long as the program; generated texts and options do not. */
static TesStatus copy_compilation(TesiBuild *b, const TesiCompilation *c) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  int n = 0;
  for (int i = 0; i < c->count && i < TESI_TEXTS; i++) b->texts[i] = c->texts[i];
  TES_TRY(tesi_copy_text(ctx, c->texts[1].text, &b->tables));
  b->texts[1].text = b->tables;
  for (; n < TESI_OPTIONS && c->options[n]; n++) {
    snprintf(b->option_text[n], sizeof *b->option_text, "%s", c->options[n]);
    b->options[n] = b->option_text[n];
  }
  snprintf(b->description, sizeof b->description, "%s", c->description);
  b->compilation = (TesiCompilation){b->texts, c->count, b->options, b->description};
done:
  return status;
}

TesStatus tesi_build_start(TesContext *ctx, const struct TesiKernelTable *table,
                           const TesiCompilation *compilation, const char *name, const char *key,
                           TesiBuild **build) {
  TesStatus status = TES_OK;
  TesiBuild *b = NULL;
  *build = NULL;
  TES_NEW(&b);
  b->owner = ctx;
  b->table = table;
  TES_TRY(tesi_context_new(NULL, &b->ctx));
  snprintf(b->name, sizeof b->name, "%s", name);
  snprintf(b->key, sizeof b->key, "%s", key);
  TES_TRY(copy_compilation(b, compilation));
  pthread_once(&once, count_processors);
  if (table->at_once)
    TES_TRY(make_image(ctx, b));
  else if (pthread_create(&b->thread, NULL, run, b) == 0)
    b->running = true;
  else
    b->status = make_image(b->ctx, b); /* no threads left */
  *build = b;
  b = NULL;
done:
  tesi_build_destroy(&b);
  return status;
}

static void join(TesiBuild *b) {
  if (b->running) pthread_join(b->thread, NULL);
  b->running = false;
}

TesStatus tesi_build_wait(TesContext *ctx, TesiBuild *build, TesiBuilt *built) {
  TesStatus status = TES_OK;
  join(build);
  if (build->status != TES_OK) TES_FAIL(build->status, "%s", tes_context_message(build->ctx));
  *built = build->built;
done:
  return status;
}

void tesi_build_destroy(TesiBuild **build) {
  if (!build || !*build) return;
  TesiBuild *b = *build;
  TesContext *owner = b->owner;
  *build = NULL;
  join(b);
  if (b->ctx) {
    if (b->table->at_once)
      tesi_free(owner, &b->image);
    else
      tesi_free(b->ctx, &b->image);
    tesi_free(b->ctx, &b->tables);
    tes_context_destroy(&b->ctx);
  }
  tesi_free(owner, &b);
}
