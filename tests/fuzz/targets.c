#include "targets.h"
#include <stdlib.h>
#include <string.h>
#include "base/context_new.h"
#include "io/expression/expression.h"
#include "mesh/forest/gmsh.h"
#include "tessera/case.h"

enum { OVERRIDES = 4, LARGEST = 1 << 16 };

static void demand(int condition) {
  if (!condition) abort();
}

static void swallow(void *user, TesLogLevel level, const char *line) {
  (void)user, (void)level, (void)line;
}

static TesContext *new_context(void) {
  TesContext *ctx;
  demand(tesi_context_new(&(TesContextDesc){.log = swallow, .threads = 1}, &ctx) == TES_OK);
  return ctx;
}

/* A copy with a 0 behind it, of exactly that size, so that reading past the end is found. */
static char *as_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  demand(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = 0;
  return text;
}

static void use_function(const TesFunction *f) {
  double x[11], y[11], z[11], out[11];
  char text[512];
  for (int i = 0; i < 11; i++) x[i] = 0.1 * i, y[i] = -3.5 + i, z[i] = 1e3 * i;
  (void)tes_function_evaluate(f, 11, x, y, z, 0.5, out);
  demand((tesi_expression_emit_c(f, "double f", "double", text, sizeof text) > 0) == !tesi_function_uses(f));
}

void fuzz_expression(const uint8_t *data, size_t size) {
  if (size > LARGEST) return;
  char *text = as_text(data, size);
  TesContext *ctx = new_context();
  TesFunction *f = NULL, *df = NULL;
  const TesStatus status = tes_function_create_expression(ctx, text, &f);
  demand(status == TES_OK || status == TES_INVALID_INPUT);
  demand((status == TES_OK) == (f != NULL));
  demand(status == TES_OK || *tes_context_message(ctx));
  if (f) {
    use_function(f);
    if (tes_function_create_derivative(f, 0, &df) == TES_OK) use_function(df);
  }
  tes_function_destroy(&df);
  tes_function_destroy(&f);
  demand(tes_context_memory(ctx) == 0);
  tes_context_destroy(&ctx);
  free(text);
}

/* Splits leading "#set ..." lines off; their ends become 0. Returns where the rest begins. */
static char *split_overrides(char *text, const char *overrides[OVERRIDES], int *count) {
  static const char mark[] = "#set ";
  *count = 0;
  while (*count < OVERRIDES && !strncmp(text, mark, sizeof mark - 1)) {
    char *end = strchr(text, '\n');
    if (!end) break;
    *end = 0;
    overrides[(*count)++] = text + sizeof mark - 1;
    text = end + 1;
  }
  return text;
}

void fuzz_case(const uint8_t *data, size_t size) {
  if (size > LARGEST) return;
  char *text = as_text(data, size);
  const char *overrides[OVERRIDES];
  int count;
  const char *rest = split_overrides(text, overrides, &count);
  TesContext *ctx = new_context();
  TesCase *c = NULL;
  const TesStatus status = tes_case_parse(ctx, rest, "fuzz.yaml", count, overrides, &c);
  demand(status == TES_OK || status == TES_INVALID_INPUT);
  demand((status == TES_OK) == (c != NULL));
  demand(status == TES_OK || *tes_context_message(ctx));
  if (c) {
    const TesMeshDesc *m = &c->mesh;
    const bool box = m->domain == TES_DOMAIN_BOX;
    demand(m->kind == TES_MESH_FOREST || (m->kind == TES_MESH_BOX && box));
    demand(!box || m->dim == 2 || m->dim == 3);
    for (int d = 0; box && d < m->dim; d++) demand(m->cells[d] >= 1 && m->lower[d] < m->upper[d]);
    demand(c->problem.boundaries >= 1);
    for (int i = 0; i < c->problem.boundaries; i++) demand(c->problem.boundary[i].g[0] != NULL);
    use_function(c->problem.data.f[0]);
  }
  tes_case_destroy(&c);
  demand(tes_context_memory(ctx) == 0);
  tes_context_destroy(&ctx);
  free(text);
}

void fuzz_mesh(const uint8_t *data, size_t size) {
  if (size > LARGEST) return;
  char *text = as_text(data, size);
  TesContext *ctx = new_context();
  TesiGmsh mesh;
  TesiTrees *trees = NULL;
  const TesiGmshOptions options = {.split = size % 2 == 1, .periodic = size % 3 == 1};
  TesStatus status = tesi_gmsh_parse(ctx, text, size, "fuzz.msh", options, &mesh);
  if (status == TES_OK) status = tesi_gmsh_trees(&mesh, 0, &trees);
  tesi_gmsh_free(&mesh);
  demand(status == TES_OK || status == TES_INVALID_INPUT || status == TES_OUT_OF_MEMORY);
  demand((status == TES_OK) == (trees != NULL));
  demand(status == TES_OK || *tes_context_message(ctx));
  tesi_trees_release(&trees);
  demand(tes_context_memory(ctx) == 0);
  tes_context_destroy(&ctx);
  free(text);
}
