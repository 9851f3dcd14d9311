#include "krylov/cg_passes.h"
#include "base/integer.h"
#include "base/team.h"
#include "device/kernel.h"

/* Sums are over blocks of entries whose length depends on the number of entries alone; a block is done piece by piece,
 * so that what one loop leaves is in the nearest cache for the next one. */
enum { BLOCKS = 256, PIECE = 1024 };

typedef struct Pass {
  const void *z; /* float or double */
  bool single;
  double scale, a, factor;
  const double *q, *p_in;
  double *p, *x, *r;
  float *rounded;
  int64_t n;
  const TesiLayout *layout; /* NULL: all entries are owned */
  double (*sums)[2];
} Pass;

/* z[i], as double, of a piece. */
static const double *piece_of(const Pass *p, int64_t first, int64_t n, double *buffer) {
  const float *z = (const float *)p->z + first;
  if (!p->single) return (const double *)p->z + first;
  for (int64_t i = 0; i < n; i++) buffer[i] = z[i];
  return buffer;
}

static double product(int64_t n, const double *a, const double *b) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* The owned part of a . b; entries first .. first + n - 1. */
static double product_of_owned(const Pass *p, int64_t first, int64_t n, const double *a, const double *b) {
  double sum = 0;
  if (!p->layout) return product(n, a, b);
  for (int k = 0; k < p->layout->blocks; k++) {
    const TesiOwned *own = &p->layout->block[k];
    for (int64_t r = tesi_owned_run_at(own, first), runs = tesi_owned_runs(own); r < runs; r++) {
      const TesiOwned run = tesi_owned_run(own, r);
      const int64_t begin = tesi_max64(first, run.start), end = tesi_min64(first + n, run.start + run.owned);
      if (begin >= end) break;
      sum += product(end - begin, a + begin - first, b + begin - first);
    }
  }
  return sum;
}

typedef void PieceLoop(const Pass *p, int64_t first, int64_t n, double sums[2]);

static void product_piece(const Pass *p, int64_t first, int64_t n, double sums[2]) {
  double buffer[PIECE];
  sums[0] += product_of_owned(p, first, n, piece_of(p, first, n, buffer), p->q + first);
}

static void products_piece(const Pass *p, int64_t first, int64_t n, double sums[2]) {
  sums[0] += product_of_owned(p, first, n, p->p_in + first, p->q + first);
  sums[1] += product_of_owned(p, first, n, p->p_in + first, p->r + first);
}

static void direction_piece(const Pass *p, int64_t first, int64_t n, double sums[2]) {
  (void)sums;
  double buffer[PIECE], *to = p->p + first;
  const double *z = piece_of(p, first, n, buffer), scale = p->scale, a = p->a;
  if (a == 0)
    for (int64_t i = 0; i < n; i++) to[i] = scale * z[i];
  else
    for (int64_t i = 0; i < n; i++) to[i] = scale * z[i] + a * to[i];
}

static void update_piece(const Pass *p, int64_t first, int64_t n, double sums[2]) {
  double *x = p->x + first, *r = p->r + first;
  const double *from = p->p_in + first, *q = p->q + first, a = p->a;
  for (int64_t i = 0; i < n; i++) x[i] += a * from[i];
  for (int64_t i = 0; i < n; i++) r[i] -= a * q[i];
  sums[0] += product_of_owned(p, first, n, r, r);
  if (!p->rounded) return;
  float *rounded = p->rounded + first;
  const double factor = p->factor;
  for (int64_t i = 0; i < n; i++) rounded[i] = (float)(factor * r[i]);
}

typedef struct Blocks {
  const Pass *pass;
  PieceLoop *loop;
} Blocks;

static void run_blocks(const void *data, TesiSpan span) {
  const Blocks *b = data;
  const Pass *p = b->pass;
  for (int64_t block = span.first; block < span.end; block++) {
    const int64_t begin = p->n * block / BLOCKS, end = p->n * (block + 1) / BLOCKS;
    p->sums[block][0] = p->sums[block][1] = 0;
    for (int64_t first = begin; first < end; first += PIECE)
      b->loop(p, first, tesi_min64(PIECE, end - first), p->sums[block]);
  }
}

/* sums: of all ranks, NULL: none are needed. */
static void run(const TesVector *like, Pass pass, PieceLoop *loop, int count, double *sums) {
  TesContext *ctx = like->context;
  double parts[BLOCKS][2];
  pass.n = like->length;
  pass.sums = parts;
  pass.layout = like->layout;
  tesi_team_for(tesi_team_threads(ctx, pass.n), BLOCKS, run_blocks, &(Blocks){&pass, loop});
  for (int s = 0; s < count; s++) {
    sums[s] = 0;
    for (int i = 0; i < BLOCKS; i++) sums[s] += parts[i][s];
  }
  if (count) tesi_reduce(ctx, TESI_SUM, count, sums);
}

/* Whether the passes below are for these vectors; else z is float64, and its scale 1. */
static bool is_plain(const TesVector *v) {
  return !tesi_has_kernels(v->context);
}

static Pass of_image(const TesiImage *image) {
  return (Pass){.z = image->z->data, .single = image->z->precision == TES_SINGLE, .scale = image->scale};
}

TesStatus tesi_cg_product(const TesiImage *image, const TesVector *q, double *dot) {
  Pass pass = of_image(image);
  pass.q = q->data;
  if (!is_plain(q)) return tes_vector_dot(image->z, q, dot);
  run(q, pass, product_piece, 1, dot);
  *dot *= image->scale;
  return TES_OK;
}

TesStatus tesi_cg_direction(const TesiImage *image, double a, TesVector *p) {
  Pass pass = of_image(image);
  pass.p = p->data, pass.a = a;
  if (!is_plain(p)) return a == 0 ? tes_vector_copy(image->z, 1, p) : tes_vector_xpay(image->z, a, p);
  run(p, pass, direction_piece, 0, NULL);
  return TES_OK;
}

TesStatus tesi_cg_products(const TesVector *p, const TesVector *q, const TesVector *r, double dot[2]) {
  if (!is_plain(p)) {
    const TesStatus status = tes_vector_dot(p, q, &dot[0]);
    return status == TES_OK ? tes_vector_dot(p, r, &dot[1]) : status;
  }
  run(p, (Pass){.p_in = p->data, .q = q->data, .r = r->data}, products_piece, 2, dot);
  return TES_OK;
}

TesStatus tesi_cg_update(const TesiCgUpdate *u, double *square) {
  TesContext *ctx = u->r->context;
  TesStatus status = TES_OK;
  if (is_plain(u->r)) {
    const Pass pass = {.a = u->a,
                       .factor = u->factor,
                       .p_in = u->p->data,
                       .q = u->q->data,
                       .x = u->x->data,
                       .r = u->r->data,
                       .rounded = u->rounded ? u->rounded->data : NULL};
    run(u->r, pass, update_piece, 1, square);
    return TES_OK;
  }
  TES_TRY(tes_vector_axpy(u->a, u->p, u->x));
  TES_TRY(tes_vector_axpy(-u->a, u->q, u->r));
  TES_TRY(tes_vector_dot(u->r, u->r, square));
  if (u->rounded) TES_TRY(tes_vector_copy(u->r, u->factor, u->rounded));
done:
  return status;
}
