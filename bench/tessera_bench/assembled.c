/* Figures of products with operators, and of assembled forms, for the tables of applications. */
#include "bench.h"
#include "device/kernel.h"
#include "operator/assembled/assembled.h"
#include "problem/problem.h"

typedef struct Products {
  const TesOperator *op;
  TesVector *x, *y;
  int count;
} Products;

static TesStatus multiply(void *data) {
  const Products *p = data;
  TesContext *ctx = p->op->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < p->count; i++) TES_TRY(tes_operator_apply(p->op, p->x, p->y));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  return status;
}

/* Ten products are queued before a wait: on a device a wait takes as long as several products. */
TesStatus bench_product(const TesProblem *problem, const TesOperator *op, double seconds, double *ms) {
  enum { QUEUED = 10 };
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Products p = {.op = op, .count = tesi_has_kernels(ctx) ? QUEUED : 1};
  double *values = NULL;
  uint64_t seed = 1;
  BenchTime time;
  TES_TRY(tesi_operator_new_vector(op, op->precision, &p.x));
  TES_TRY(tesi_operator_new_vector(op, op->precision, &p.y));
  TES_ALLOC(&values, op->length);
  for (int64_t i = 0; i < op->length; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values[i] = (double)(int32_t)(seed >> 32) / 2147483648.0;
  }
  TES_TRY(tes_vector_set(p.x, values));
  TES_TRY(tesi_problem_clear(problem, p.x));
  TES_TRY(bench_time(multiply, &p, seconds, &time));
  *ms = 1e3 * time.median / p.count;
done:
  tes_vector_destroy(&p.x);
  tes_vector_destroy(&p.y);
  tesi_free(ctx, &values);
  return status;
}

TesStatus bench_assemble(TesProblem *problem, double *seconds) {
  const double start = tesi_now();
  const TesStatus status = tesi_problem_assemble(problem);
  *seconds = tesi_now() - start;
  return status;
}

const char *bench_assembled_name(const TesProblem *problem, const char *text) {
  return bench_text("%s, %s", text, tesi_assembled_how(problem->assembled));
}

double bench_assembled_mib(const TesProblem *problem) {
  return tesi_assembled_bytes(problem->assembled) / 1048576;
}

bool bench_leaves_out(TesContext *ctx, TesStatus status) {
  if (status != TES_OUT_OF_MEMORY) return false;
  tesi_log(ctx, TES_LOG_WARNING, "warning: the row of assembled matrices is left out: %s",
           tes_context_message(ctx));
  tes_context_clear(ctx);
  return true;
}
