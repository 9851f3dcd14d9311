/* The parts by themselves: an operator, a multigrid in float32, and an iteration written by hand around them,
 * with a right-hand side and a coefficient that are C functions of the caller. */
#include <math.h>
#include <stdio.h>
#include <tessera/tessera.h>

#define TRY(call)                                                                                            \
  do {                                                                                                       \
    const TesStatus status_ = (call);                                                                        \
    if (status_ != TES_OK) {                                                                                 \
      fprintf(stderr, "%s\n", tes_context_message(ctx));                                                     \
      return tes_status_exit(status_);                                                                       \
    }                                                                                                        \
  } while (0)

/* a(x, y) = 1 + contrast exp(-20 r^2): a bump in the middle of the square. */
static void bump(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                 double *out) {
  const double contrast = *(const double *)user;
  (void)z, (void)t;
  for (int64_t i = 0; i < n; i++)
    out[i] = 1 + contrast * exp(-20 * ((x[i] - 0.5) * (x[i] - 0.5) + (y[i] - 0.5) * (y[i] - 0.5)));
}

int main(void) {
  double contrast = 9;
  TesContext *ctx;
  if (tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK) return 1;

  TesFunction *a, *f;
  TRY(tes_function_create_callback(ctx, bump, &contrast, NULL, &a));
  TRY(tes_function_create_constant(ctx, 1, &f));

  TesMesh *mesh;
  TesSpace *space;
  TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {24, 24}}, &mesh));
  TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 4}, &space));

  /* The operator in float64 outside, the cycle in float32 inside; a Chebyshev smoother needs no patches. */
  const TesTermDesc diffusion = {.term = TES_TERM_DIFFUSION, .a = {.all = a}};
  const TesOperatorDesc operator_desc = {.space = space, .form = {.terms = 1, .term = &diffusion}};
  TesOperator *op;
  TRY(tes_operator_create(ctx, &operator_desc, &op));
  TesMultigridDesc desc = {.op = op, .precision = TES_SINGLE, .smoother = {.kind = TES_SMOOTHER_CHEBYSHEV}};
  TesMultigrid *multigrid;
  TRY(tes_multigrid_create(ctx, &desc, &multigrid));

  TesVector *b, *x, *r, *r_single, *e_single;
  const int64_t length = tes_space_length(space);
  TRY(tes_vector_create(ctx, length, TES_DOUBLE, &b));
  TRY(tes_vector_create(ctx, length, TES_DOUBLE, &x));
  TRY(tes_vector_create(ctx, length, TES_DOUBLE, &r));
  TRY(tes_vector_create(ctx, length, TES_SINGLE, &r_single));
  TRY(tes_vector_create(ctx, length, TES_SINGLE, &e_single));
  TRY(tes_functional_load(&(TesLoadDesc){.space = space, .f = {f}}, b));

  /* Defect correction: x <- x + M (b - A x). The residual is scaled before it is rounded to float32. */
  double first, norm, scale;
  int iteration = 0;
  TRY(tes_vector_norm(b, &first));
  for (;; iteration++) {
    TRY(tes_operator_residual(op, b, x, r));
    TRY(tes_vector_norm(r, &norm));
    printf("%2d  %.3e\n", iteration, norm / first);
    if (!(norm > 1e-10 * first) || iteration == 60) break;
    TRY(tes_vector_maximum(r, &scale));
    TRY(tes_vector_copy(r, 1 / scale, r_single));
    TRY(tes_multigrid_cycle(multigrid, r_single, e_single, true));
    TRY(tes_vector_axpy(scale, e_single, x));
  }

  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_vector_destroy(&r);
  tes_vector_destroy(&r_single);
  tes_vector_destroy(&e_single);
  tes_multigrid_destroy(&multigrid);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&a);
  tes_function_destroy(&f);
  tes_context_destroy(&ctx);
  return norm <= 1e-10 * first && iteration < 60 ? 0 : 1;
}
