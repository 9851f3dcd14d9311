/* Operators and cycles for arrays of others, in one call: SciPy asks thousands of times, and most of a call from Python
 * would be the making of objects. */
#include "run.h"

static TesStatus apply(const PyLinear *linear, const TesVector *x, TesVector *y) {
  return linear->op ? tes_operator_apply(linear->op, x, y) : tes_multigrid_cycle(linear->cycle, x, y, true);
}

TesStatus py_apply(const PyLinear *linear, int64_t length, void *x, void *y) {
  TesVector *of_x = NULL, *of_y = NULL;
  const size_t bytes = (size_t)length * (linear->precision == TES_SINGLE ? sizeof(float) : sizeof(double));
  if ((char *)x < (char *)y + bytes && (char *)y < (char *)x + bytes) return TES_INVALID_INPUT;
  TesStatus status = tes_vector_wrap(linear->context, x, length, linear->precision, &of_x);
  if (status == TES_OK) status = tes_vector_wrap(linear->context, y, length, linear->precision, &of_y);
  if (status == TES_OK) status = apply(linear, of_x, of_y);
  tes_vector_destroy(&of_x);
  tes_vector_destroy(&of_y);
  return status;
}

TesStatus py_apply_unknowns(const PyLinear *linear, const double *x, double *y) {
  double *in = tes_vector_data(linear->in), *out = tes_vector_data(linear->out);
  float *in_single = tes_vector_data(linear->in), *out_single = tes_vector_data(linear->out);
  const bool is_single = linear->precision == TES_SINGLE;
  for (int64_t i = 0; i < linear->unknowns; i++)
    if (is_single)
      in_single[linear->unknown[i]] = (float)x[i];
    else
      in[linear->unknown[i]] = x[i];
  const TesStatus status = apply(linear, linear->in, linear->out);
  for (int64_t i = 0; i < linear->unknowns; i++)
    y[i] = is_single ? (double)out_single[linear->unknown[i]] : out[linear->unknown[i]];
  return status;
}
