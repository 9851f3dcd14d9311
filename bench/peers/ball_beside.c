/* Times the operator of `tessera bench adaptive --geometry vertices` and deal.II's operator (dealii_ball.cc as a
 * library) in one process. They take turns with a few applications each, so that both see the same state of the
 * machine. The first application of each turn, which finds other data in the caches, is not counted. One thread,
 * float64, processor time. README.md explains how to build and run it.
 *
 *   ball_beside SECONDS DOFS DIM:DEGREES...     ball_beside 2 4e5 3:34 2:23
 *
 * Prints a line per degree, mesh and variant: median and fastest milliseconds, million unknowns per second (hanging
 * and boundary nodes counted), and the median over the rounds of the variant's time by Tessera's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "../common.h"
#include "tessera/tessera.h"

void *deal_make(int dim, int degree, double dofs, int shells);
void deal_apply(void *op, int variant);
double deal_size(void *op);

enum { VARIANTS = 4, ROUNDS = 100000 };

typedef struct Ours {
  TesContext *context;
  TesMesh *mesh;
  TesSpace *space;
  TesFunction *a;
  TesOperator *op;
  TesVector *x, *y;
} Ours;

static void check(TesStatus status, const Ours *o) {
  if (status == TES_OK) return;
  fprintf(stderr, "ball_beside: %s\n", o->context ? tes_context_message(o->context) : "no context");
  exit(1);
}

static void make_mesh(Ours *o, int dim, int level, int shells) {
  const TesMeshDesc desc = {.domain = TES_DOMAIN_BALL, .dim = dim, .refine = level, .geometry_degree = 1};
  check(tes_mesh_create(o->context, &desc, &o->mesh), o);
  for (int t = 0; shells && t < (dim == 3 ? 2 : 3); t++) {
    const int64_t cells = tes_mesh_info(o->mesh).cells;
    int8_t *mark = malloc((size_t)cells);
    TesMesh *next;
    if (!mark) exit(1);
    for (int64_t c = 0; c < cells; c++)
      mark[c] = bench_cuts(o->mesh, c, 0.35) || bench_cuts(o->mesh, c, 0.75);
    check(tes_mesh_adapt(o->mesh, mark, &next), o);
    free(mark);
    tes_mesh_destroy(&o->mesh);
    o->mesh = next;
  }
}

static void release(Ours *o) {
  tes_vector_destroy(&o->x);
  tes_vector_destroy(&o->y);
  tes_operator_destroy(&o->op);
  tes_function_destroy(&o->a);
  tes_space_destroy(&o->space);
  tes_mesh_destroy(&o->mesh);
  tes_context_destroy(&o->context);
}

/* The level at which both programs have the same number of unknowns. */
static void make_space(Ours *o, int dim, int degree, int shells, double unknowns) {
  for (int level = 0; level < 12; level++) {
    make_mesh(o, dim, level, shells);
    const TesSpaceDesc desc = {.mesh = o->mesh, .degree = degree};
    check(tes_space_create(o->context, &desc, &o->space), o);
    const double size = (double)(tes_space_length(o->space) + tes_space_hanging(o->space));
    if (size == unknowns) return;
    if (size > unknowns) break;
    tes_space_destroy(&o->space);
    tes_mesh_destroy(&o->mesh);
  }
  fprintf(stderr, "ball_beside: no level has %.0f unknowns\n", unknowns);
  exit(1);
}

static void make_operator(Ours *o) {
  check(tes_function_create_expression(o->context, "1 / (0.05 + 2*(x*x + y*y + z*z))", &o->a), o);
  const TesTermDesc diffusion = {.a = {.all = o->a}};
  const TesOperatorDesc desc = {
      .space = o->space, .form = {.terms = 1, .term = &diffusion}, .precision = TES_DOUBLE};
  check(tes_operator_create(o->context, &desc, &o->op), o);
  const int64_t length = tes_operator_info(o->op).length;
  double *values = malloc((size_t)length * sizeof *values);
  if (!values) exit(1);
  for (int64_t i = 0; i < length; i++) values[i] = 2. * rand() / RAND_MAX - 1;
  check(tes_vector_create(o->context, length, TES_DOUBLE, &o->x), o);
  check(tes_vector_create(o->context, length, TES_DOUBLE, &o->y), o);
  check(tes_vector_set(o->x, values), o);
  free(values);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Seconds of an application. Variant VARIANTS is Tessera's. */
static double apply(const Ours *o, void *theirs, int variant) {
  enum { FEW = 3 };
  double start = 0;
  for (int i = 0; i <= FEW; i++) {
    if (i == 1) start = now();
    if (variant < VARIANTS)
      deal_apply(theirs, variant);
    else
      check(tes_operator_apply(o->op, o->x, o->y), o);
  }
  return (now() - start) / FEW;
}

static void measure(double seconds, double dofs, int dim, int degree, int shells) {
  static const char *const names[] = {"stored", "merged", "vertices", "weights"};
  static const char *const factors[] = {"auto", "stored", "vertices", "affine", "matrix", "weights"};
  static double times[VARIANTS + 1][ROUNDS], sorted[ROUNDS], ratio[ROUNDS];
  void *theirs = deal_make(dim, degree, dofs, shells);
  Ours o = {0};
  const double size = deal_size(theirs);
  int rounds = 0;
  check(tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 1}, &o.context, NULL, 0), &o);
  make_space(&o, dim, degree, shells, size);
  make_operator(&o);
  for (const double end = now() + seconds; rounds < ROUNDS && (rounds < 5 || now() < end); rounds++)
    for (int v = 0; v <= VARIANTS; v++) times[v][rounds] = apply(&o, theirs, v);
  for (int v = 0; v <= VARIANTS; v++) {
    for (int r = 0; r < rounds; r++) ratio[r] = times[v][r] / times[VARIANTS][r], sorted[r] = times[v][r];
    qsort(ratio, (size_t)rounds, sizeof *ratio, ascending);
    qsort(sorted, (size_t)rounds, sizeof *sorted, ascending);
    const double median = sorted[rounds / 2];
    printf("%s,%d,%s,%d,%.0f,%s,%.3f,%.3f,%.2f,%.3f\n", v < VARIANTS ? "deal.II" : "tessera", dim,
           shells ? "shells" : "uniform", degree, size,
           v < VARIANTS ? names[v] : factors[tes_operator_info(o.op).factors], 1e3 * median, 1e3 * sorted[0],
           1e-6 * size / median, ratio[rounds / 2]);
  }
  fflush(stdout);
  release(&o);
}

int main(int count, char **arguments) {
  if (count < 4) return fprintf(stderr, "ball_beside SECONDS DOFS DIM:DEGREES...\n"), 2;
  printf("program,dim,mesh,degree,dofs,variant,median_ms,fastest_ms,mdofs_per_s,times_tessera\n");
  for (int i = 3; i < count; i++)
    for (const char *c = arguments[i] + 1; *c; c++)
      for (int shells = 0; *c >= '1' && *c <= '8' && shells < 2; shells++)
        measure(atof(arguments[1]), atof(arguments[2]), arguments[i][0] - '0', *c - '0', shells);
  return 0;
}
