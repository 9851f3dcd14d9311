/* Run: ctest -R t6_krylov_kernels. The vector kernels of GMRES on devices (src/kernels/krylov.cu) beside plain loops in
 * float64: every pair of precisions of the cycle, the basis and products, lengths that are no multiple of anything,
 * first, middle and last columns; outputs are poisoned. In the emulator, and on a GPU where there is one. */
#include "device/kernel.h"
#include "device/vector.h"
#include "device_testing.h"
#include "kernels/krylov_arguments.h"

enum { COLUMNS = 10, THREADS = 256, READ_AT_ONCE = 8 };

/* Of the cycle, the basis and products. */
typedef struct Reals {
  TesPrecision cycle, basis, product;
} Reals;
static const Reals reals[] = {{TES_SINGLE, TES_SINGLE, TES_SINGLE},
                              {TES_SINGLE, TES_SINGLE, TES_DOUBLE},
                              {TES_SINGLE, TES_DOUBLE, TES_DOUBLE},
                              {TES_DOUBLE, TES_DOUBLE, TES_DOUBLE}};

typedef struct Fixture {
  TesContext *ctx;
  const Reals *reals;
  TesiProgram *program;
  int64_t n;
  int column;
  unsigned parts;
  TesVector *basis[COLUMNS], *image[COLUMNS], *last, *next, *in, *out, *w, *r; /* in: NULL where it is last */
  TesVector *H, *L, *cosine, *sine, *g, *y, *scale, *partial, *squares;
  void *scalars, *addresses; /* device */
  TeskArnoldi arnoldi;
} Fixture;

static double eps_of(TesPrecision precision) {
  return precision == TES_SINGLE ? 1.2e-7 : 1e-13;
}

static double *values_of(const TesVector *v) {
  double *values = test_malloc((size_t)tes_vector_length(v) * sizeof *values);
  assert_ok(v->context, tes_vector_get(v, values));
  return values;
}

static double dot(int64_t n, const double *a, const double *b) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void compare(int64_t n, const double *got, const double *expected, double tolerance, const char *what) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < n; i++) {
    worst = test_larger(worst, fabs(got[i] - expected[i]));
    largest = test_larger(largest, fabs(expected[i]));
  }
  if (!(worst <= tolerance * largest)) fail_msg("%s: error %.3g of %.3g", what, worst, largest);
}

static void compare_vectors(const TesVector *got, const double *expected, double tolerance, const char *what) {
  double *values = values_of(got);
  compare(tes_vector_length(got), values, expected, tolerance, what);
  test_free(values);
}

static void launch(const Fixture *f, const char *name, unsigned x, unsigned y, void **arguments) {
  TesiKernel kernel = {0};
  const size_t shared = (THREADS + COLUMNS + READ_AT_ONCE) * sizeof(double);
  assert_ok(f->ctx, tesi_kernel_get(f->ctx, f->program, name, shared, &kernel));
  assert_ok(f->ctx, tesi_kernel_launch(f->ctx, &kernel, (TesiGrid){x, y, 1}, THREADS, shared, arguments));
}

static TeskKrylov scalars_of(const Fixture *f) {
  TeskKrylov scalars;
  assert_ok(f->ctx, tesi_context_device(f->ctx)->to_host(f->ctx, &scalars, f->scalars, sizeof scalars));
  return scalars;
}

static void make_vectors(Fixture *f) {
  TesContext *ctx = f->ctx;
  const Reals *t = f->reals;
  for (int i = 0; i < COLUMNS; i++) {
    f->basis[i] = test_vector(ctx, f->n, t->basis, i < f->column ? (uint64_t)i + 1 : 0);
    f->image[i] = test_vector(ctx, f->n, t->cycle, i < f->column ? (uint64_t)i + 50 : 0);
  }
  f->last = test_vector(ctx, f->n, t->basis, 31);
  f->next = test_vector(ctx, f->n, t->basis, 0);
  f->in = t->basis == t->cycle ? NULL : test_vector(ctx, f->n, t->cycle, 0);
  f->out = test_vector(ctx, f->n, t->cycle, 32);
  f->w = test_vector(ctx, f->n, t->product, 33);
  f->r = test_vector(ctx, f->n, TES_DOUBLE, 34);
  f->H = test_vector(ctx, COLUMNS * (COLUMNS + 1), TES_DOUBLE, 0);
  f->L = test_vector(ctx, COLUMNS * COLUMNS, TES_DOUBLE, 35);
  f->cosine = test_vector(ctx, COLUMNS, TES_DOUBLE, 0);
  f->sine = test_vector(ctx, COLUMNS, TES_DOUBLE, 0);
  f->g = test_vector(ctx, COLUMNS + 1, TES_DOUBLE, 0);
  f->y = test_vector(ctx, COLUMNS, TES_DOUBLE, 0);
  f->scale = test_vector(ctx, COLUMNS, TES_DOUBLE, 36);
  f->partial = test_vector(ctx, 2 * COLUMNS * TESK_PARTS, TES_DOUBLE, 0);
  f->squares = test_vector(ctx, TESK_PARTS, TES_DOUBLE, 0);
  assert_ok(ctx, tes_vector_fill(f->cosine, 1)); /* rotations of the columns before: none */
  assert_ok(ctx, tes_vector_fill(f->sine, 0));
  assert_ok(ctx, tes_vector_fill(f->g, 1));
}

static Fixture open_fixture(TesContext *ctx, const Reals *t, int64_t n, int column) {
  static const char *const basis_real[] = {"basis_real=double", "basis_real=float"},
                           *const product_real[] = {"product_real=double", "product_real=float"};
  Fixture f = {.ctx = ctx, .reals = t, .n = n, .column = column, .parts = n > 1000 ? 7 : 1};
  const TesiDevice *device = tesi_context_device(ctx);
  void *address[2 * COLUMNS];
  const TesiProgramDesc desc = {
      .file = "krylov.cu", .real = t->cycle, .types = {basis_real[t->basis], product_real[t->product]}};
  assert_ok(ctx, tesi_program_get(ctx, &desc, &f.program));
  make_vectors(&f);
  for (int i = 0; i < COLUMNS; i++) address[i] = f.basis[i]->data, address[COLUMNS + i] = f.image[i]->data;
  assert_ok(ctx, device->allocate(ctx, sizeof address, &f.addresses));
  assert_ok(ctx, device->to_device(ctx, f.addresses, address, sizeof address));
  const TeskKrylov scalars = {.b_norm = 1.5, .factor = 64, .inverse = 0.03, .column = column, .most = 99};
  assert_ok(ctx, device->allocate(ctx, sizeof scalars, &f.scalars));
  assert_ok(ctx, device->to_device(ctx, f.scalars, &scalars, sizeof scalars));
  f.arnoldi = (TeskArnoldi){.scalars = f.scalars,
                            .last = f.last->data,
                            .next = f.last->data,
                            .in = f.in ? f.in->data : NULL,
                            .out = f.out->data,
                            .basis = f.addresses,
                            .image = (void *const *)f.addresses + COLUMNS,
                            .H = f.H->data,
                            .L = f.L->data,
                            .cosine = f.cosine->data,
                            .sine = f.sine->data,
                            .g = f.g->data,
                            .y = f.y->data,
                            .scale = f.scale->data,
                            .n = COLUMNS,
                            .parts = (int)f.parts};
  return f;
}

static void close_fixture(Fixture *f) {
  const TesiDevice *device = tesi_context_device(f->ctx);
  TesVector **all[] = {&f->last,   &f->next, &f->in, &f->out, &f->w,     &f->r,       &f->H,      &f->L,
                       &f->cosine, &f->sine, &f->g,  &f->y,   &f->scale, &f->partial, &f->squares};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tes_vector_destroy(all[i]);
  for (int i = 0; i < COLUMNS; i++) tes_vector_destroy(&f->basis[i]), tes_vector_destroy(&f->image[i]);
  device->release(f->ctx, &f->scalars);
  device->release(f->ctx, &f->addresses);
}

/* A column as the host makes it: h, and the next u. */
typedef struct Plain {
  double h[COLUMNS], *u, *last, *out;
} Plain;

static Plain plain_step(const Fixture *f) {
  const int j = f->column;
  const double own = 0.03, factor = 64;
  double *scale = values_of(f->scale), *L = values_of(f->L), *w = values_of(f->w), *u[COLUMNS];
  Plain p = {
      .u = test_malloc((size_t)f->n * sizeof *p.u), .last = values_of(f->last), .out = values_of(f->out)};
  scale[j] = own;
  for (int i = 0; i <= j; i++) u[i] = i < j ? values_of(f->basis[i]) : p.last;
  for (int i = 0; i <= j; i++) {
    p.h[i] = scale[i] * own * dot(f->n, u[i], w);
    for (int k = 0; k < i; k++)
      p.h[i] -= (i < j ? L[i * COLUMNS + k] : scale[k] * own * dot(f->n, u[k], p.last)) * p.h[k];
  }
  for (int64_t i = 0; i < f->n; i++) {
    p.u[i] = own * w[i];
    for (int k = 0; k <= j; k++) p.u[i] -= p.h[k] * scale[k] * u[k][i];
    p.u[i] *= factor;
  }
  for (int i = 0; i < j; i++) test_free(u[i]);
  test_free(scale);
  test_free(L);
  test_free(w);
  return p;
}

/* moves: one place for the last vector in all steps. */
static void check_step_where(Fixture *f, bool moves) {
  const int j = f->column;
  const double eps = eps_of(f->reals->basis);
  long long n = f->n;
  void *w = f->w->data, *partial = f->partial->data, *squares = f->squares->data;
  Plain p = plain_step(f);
  launch(f, "tesk_gmres_dots", f->parts, (COLUMNS + 3) / 4, (void *[]){&n, &w, &partial, &f->arnoldi});
  launch(f, "tesk_gmres_project", 1, 1, (void *[]){&partial, &f->arnoldi});
  double *H = values_of(f->H);
  compare(j + 1, H + (int64_t)j * (COLUMNS + 1), p.h, 1e-11, "h");
  test_free(H);
  launch(f, "tesk_gmres_update", f->parts, 1, (void *[]){&n, &w, &squares, &f->arnoldi});
  compare_vectors(moves ? f->last : f->next, p.u, eps, "the next vector of the basis");
  compare_vectors(moves ? f->basis[j] : f->last, p.last, 0, "the vector that moved, or stayed");
  if (moves) compare_vectors(f->image[j], p.out, 0, "its image");
  if (f->in) compare_vectors(f->in, p.u, eps_of(f->reals->cycle), "what the cycle is given");
  launch(f, "tesk_gmres_finish", 1, 1, (void *[]){&squares, &f->arnoldi});
  const TeskKrylov after = scalars_of(f);
  const double norm = sqrt(dot(f->n, p.u, p.u));
  assert_near(after.inverse * norm, 1, 4 * eps);
  assert_near(after.relative, norm / 64 / hypot(p.h[j], norm / 64), 4 * eps);
  assert_int_equal(after.column, j + 1);
  test_free(p.u);
  test_free(p.last);
  test_free(p.out);
}

static void check_step(Fixture *f) {
  check_step_where(f, true);
}

static void check_step_in_place(Fixture *f) {
  f->arnoldi.next = f->next->data;
  check_step_where(f, false);
}

/* Of two columns; images are of vectors of the basis before they are scaled. */
static void check_correction(Fixture *f) {
  long long n = f->n;
  const double H[] = {2, 0, 3, 4}, g[] = {5, 6}, scale[] = {0.5, 0.25};
  const double y1 = g[1] / H[3], y0 = (g[0] - H[2] * y1) / H[0];
  double all[COLUMNS * (COLUMNS + 1)] = {0}, of_g[COLUMNS + 1] = {5, 6}, of_scale[COLUMNS] = {0.5, 0.25};
  all[0] = H[0], all[COLUMNS + 1] = H[2], all[COLUMNS + 2] = H[3];
  assert_ok(f->ctx, tes_vector_set(f->H, all));
  assert_ok(f->ctx, tes_vector_set(f->g, of_g));
  assert_ok(f->ctx, tes_vector_set(f->scale, of_scale));
  double *x = values_of(f->r), *image[] = {values_of(f->image[0]), values_of(f->image[1])};
  for (int64_t i = 0; i < f->n; i++)
    x[i] += 1.5 * (y0 * scale[0] * image[0][i] + y1 * scale[1] * image[1][i]);
  TesiKernel solve = {0};
  assert_ok(f->ctx, tesi_kernel_get(f->ctx, f->program, "tesk_gmres_solve", 0, &solve));
  assert_ok(f->ctx, tesi_kernel_launch(f->ctx, &solve, (TesiGrid){1, 1, 1}, 32, 0, (void *[]){&f->arnoldi}));
  launch(f, "tesk_gmres_correct", f->parts, 1, (void *[]){&n, &f->r->data, &f->arnoldi});
  compare_vectors(f->r, x, 1e-14, "the corrected solution");
  test_free(x);
  test_free(image[0]);
  test_free(image[1]);
}

/* The first vector of the basis, of a residual; and products' operands in float64. */
static void check_begin(Fixture *f) {
  long long n = f->n;
  double scale = 0.125, *r = values_of(f->r), *e = values_of(f->out);
  for (int64_t i = 0; i < f->n; i++) r[i] *= scale;
  TesVector *z = test_vector(f->ctx, f->n, TES_DOUBLE, 0);
  launch(f, "tesk_gmres_begin", f->parts, 1, (void *[]){&n, &f->r->data, &scale, &f->arnoldi});
  launch(f, "tesk_gmres_widen", f->parts, 1, (void *[]){&n, &z->data, &f->arnoldi});
  compare_vectors(f->last, r, 0, "the first vector of the basis");
  if (f->in) compare_vectors(f->in, r, 0, "what the cycle is given first");
  compare_vectors(z, e, 0, "a float64 operand");
  tes_vector_destroy(&z);
  test_free(r);
  test_free(e);
}

/* One of two starts: r or old_r, scaled by a power of two to entries of about 1. */
static void check_start(Fixture *f, int take) {
  long long n = f->n;
  void *none = NULL;
  TeskKrylov scalars = scalars_of(f);
  scalars.old = take, scalars.b_norm = 3 * sqrt((double)f->n), scalars.root = sqrt((double)f->n);
  assert_ok(f->ctx, tesi_context_device(f->ctx)->to_device(f->ctx, f->scalars, &scalars, sizeof scalars));
  TesVector *old = test_vector(f->ctx, f->n, TES_DOUBLE, 41),
            *old_r = test_vector(f->ctx, f->n, TES_DOUBLE, 42), *x = test_vector(f->ctx, f->n, TES_DOUBLE, 43);
  double *expected = values_of(take ? old_r : f->r), *of_x = values_of(take ? old : x);
  launch(f, "tesk_start_take", f->parts, 1,
         (void *[]){&n, &old->data, &old_r->data, &x->data, &f->r->data, &none, &none, &none,
                    &f->arnoldi.last, &f->arnoldi.in, &f->scalars});
  compare_vectors(f->r, expected, 0, "the residual that is taken");
  compare_vectors(x, of_x, 0, "the start that is taken");
  for (int64_t i = 0; i < f->n; i++) expected[i] /= 4; /* 3 lies below 4 */
  compare_vectors(f->last, expected, 0, "the basis of a start");
  if (f->in) compare_vectors(f->in, expected, 0, "what the cycle is given of a start");
  TesVector *all[] = {old, old_r, x};
  for (int i = 0; i < 3; i++) tes_vector_destroy(&all[i]);
  test_free(expected);
  test_free(of_x);
}

static void on_all(void (*check)(Fixture *f), int count, const int *column) {
  static const char *const devices[] = {"emulator", "cuda"};
  static const int64_t lengths[] = {1, 77, 3001, 9000};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (size_t t = 0; ctx && t < sizeof reals / sizeof *reals; t++)
      for (int l = 0; l < 4; l++)
        for (int c = 0; c < count; c++) {
          Fixture f = open_fixture(ctx, &reals[t], lengths[l], column[c]);
          check(&f);
          close_fixture(&f);
        }
    tes_context_destroy(&ctx);
  }
}

static void steps(void **state) {
  (void)state;
  on_all(check_step, 5, (const int[]){0, 1, 3, 4, COLUMNS - 1});
  on_all(check_step_in_place, 5, (const int[]){0, 1, 3, 4, COLUMNS - 1});
}
static void corrections(void **state) {
  (void)state;
  on_all(check_correction, 1, (const int[]){2});
}
static void check_starts(Fixture *f) {
  check_begin(f);
  check_start(f, 0);
  check_start(f, 1);
}
static void starts(void **state) {
  (void)state;
  on_all(check_starts, 1, (const int[]){0});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps), cmocka_unit_test(corrections),
                                     cmocka_unit_test(starts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
