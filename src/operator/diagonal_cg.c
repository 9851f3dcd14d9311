#include "operator/diagonal_cg.h"
#include <math.h>
#include <string.h>
#include "device/links.h"
#include "device/recorded.h"
#include "kernels/krylov_arguments.h"
#include "parallel/comm.h"

/* ---- on a device with kernels -------------------------------------------------------------------------- */

enum { THREADS = 256, ENTRIES = 1024 /* per block, at least */ };
enum { START, BEGIN, FINISH, DIRECTION, DOT, UPDATE, KERNELS };

struct TesiJacobiDevice {
  TesiKernel kernel[KERNELS];
  unsigned parts; /* blocks of vector kernels */
  void *memory;   /* device: scalars, then parts of p.q, of r.r and of r.z */
  TeskOwned own;
  TesiLinks *sums; /* of all ranks; NULL: one */
  TesiRecorded step;
  int usual;             /* iterations of the last solve, where the host ends them */
  const TesOperator *op; /* of the recorded step, and the addresses it knows */
  const void *address[5];
};

TesStatus tesi_jacobi_device_create(const TesiLayout *layout, TesPrecision precision,
                                    TesiJacobiDevice **device) {
  static const char *const names[KERNELS] = {"tesk_jacobi_start",  "tesk_jacobi_begin",
                                             "tesk_jacobi_finish", "tesk_jacobi_direction",
                                             "tesk_jacobi_dot",    "tesk_jacobi_update"};
  TesContext *ctx = layout->context;
  TesStatus status = TES_OK;
  const bool several = tesi_ranks(ctx) > 1;
  const int64_t blocks = (layout->length + ENTRIES - 1) / ENTRIES;
  const TesiProgramDesc desc = {
      .file = "jacobi.cu", .real = precision, .macros = {{several ? "ranked" : NULL, 1}}};
  TesiJacobiDevice *d;
  TesiProgram *program;
  *device = NULL;
  if (!tesi_has_kernels(ctx) || (several && (!tesi_links_queued(ctx) || layout->blocks > TESK_OWNED)))
    return TES_OK;
  TES_NEW(&d);
  *device = d;
  d->own = tesi_layout_ranges(layout);
  d->parts = (unsigned)tesi_max(1, blocks < TESK_PARTS ? (int)blocks : TESK_PARTS);
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  for (int i = 0; i < KERNELS; i++)
    TES_TRY(tesi_kernel_get(ctx, program, names[i], THREADS * sizeof(double), &d->kernel[i]));
  if (several) TES_TRY(tesi_links_create_sums(ctx, 2, &d->sums));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, sizeof(TeskJacobi) + 3 * TESK_PARTS * sizeof(double),
                                             &d->memory));
done:
  if (status != TES_OK) tesi_jacobi_device_destroy(ctx, device);
  return status;
}

void tesi_jacobi_device_forget(TesContext *ctx, TesiJacobiDevice *device) {
  if (device) tesi_recorded_release(ctx, &device->step);
}

void tesi_jacobi_device_destroy(TesContext *ctx, TesiJacobiDevice **device) {
  if (!*device) return;
  tesi_jacobi_device_forget(ctx, *device);
  tesi_links_destroy(&(*device)->sums);
  tesi_context_device(ctx)->release(ctx, &(*device)->memory);
  tesi_free(ctx, device);
}

static TesStatus launch(TesContext *ctx, const TesiJacobiDevice *d, int kernel, void **arguments) {
  const TesiGrid grid = {kernel == FINISH || kernel == BEGIN ? 1 : d->parts, 1, 1};
  return tesi_kernel_launch(ctx, &d->kernel[kernel], grid, THREADS, THREADS * sizeof(double), arguments);
}

/* Sums of all ranks replace this rank's parts; returns the number of parts then. */
static TesStatus meet(const TesiJacobiDevice *d, int sums, double *partial) {
  return d->sums ? tesi_links_sums(d->sums, sums, TESK_PARTS, (int)d->parts, partial) : TES_OK;
}
static int parts_after(const TesContext *ctx, const TesiJacobiDevice *d) {
  return d->sums ? tesi_ranks(ctx) : (int)d->parts;
}

typedef struct Iteration {
  const TesiJacobi *jacobi;
  TesVector *r, *d;
} Iteration;

/* Scalars, parts of p.q, and parts of r.r and r.z. */
static TeskJacobi *scalars_of(const TesiJacobiDevice *d) {
  return d->memory;
}
static double *products_of(const TesiJacobiDevice *d) {
  return (double *)(scalars_of(d) + 1);
}
static double *parts_of(const TesiJacobiDevice *d) {
  return products_of(d) + TESK_PARTS;
}

static TesStatus iterate(void *user) {
  const Iteration *it = user;
  const TesiJacobi *j = it->jacobi;
  TesContext *ctx = j->op->context;
  TesStatus status = TES_OK;
  const TesiJacobiDevice *d = j->device;
  long long n = it->r->length;
  int parts = parts_after(ctx, d);
  TeskOwned own = d->own;
  TeskJacobi *scalars = scalars_of(d);
  double *products = products_of(d), *partial = parts_of(d);
  void *inverse = j->inverse->data, *p = j->p->data, *q = j->q->data, *r = it->r->data, *x = it->d->data;
  TES_TRY(launch(ctx, d, DIRECTION, (void *[]){&n, &r, &inverse, &p, &scalars}));
  TES_TRY(tes_operator_apply(j->op, j->p, j->q));
  TES_TRY(launch(ctx, d, DOT, (void *[]){&n, &p, &q, &own, &products}));
  TES_TRY(meet(d, 1, products));
  TES_TRY(launch(ctx, d, UPDATE,
                 (void *[]){&n, &p, &q, &inverse, &x, &r, &products, &parts, &own, &partial, &scalars}));
  TES_TRY(meet(d, 2, partial));
  TES_TRY(launch(ctx, d, FINISH, (void *[]){&parts, &partial, &scalars}));
done:
  return status;
}

static TesStatus iterate_all(void *user) {
  const TesiJacobi *j = ((const Iteration *)user)->jacobi;
  return tesi_recorded_while(j->op->context, &scalars_of(j->device)->go_on, iterate, user);
}

/* The recorded step has these addresses. */
static void expect(TesContext *ctx, const TesiJacobi *j, const TesVector *r, const TesVector *d) {
  TesiJacobiDevice *own = j->device;
  const void *address[5] = {j->inverse->data, j->p->data, j->q->data, r->data, d->data};
  if (own->op != j->op || memcmp(address, own->address, sizeof address)) tesi_jacobi_device_forget(ctx, own);
  own->op = j->op;
  memcpy(own->address, address, sizeof address);
}

static TesStatus read_scalars(TesContext *ctx, const TesiJacobiDevice *d, TeskJacobi *now) {
  return tesi_context_device(ctx)->to_host(ctx, now, scalars_of(d), sizeof *now);
}

/* Consecutive solves are similar: the norm is checked only from the last but one iteration of the previous solve
 * on. */
static TesStatus iterate_by_host(const TesiJacobi *j, double norm, double target, int most,
                                 Iteration *iteration, TeskJacobi *now) {
  TesContext *ctx = j->op->context;
  TesStatus status = TES_OK;
  TesiJacobiDevice *own = j->device;
  const int unseen = tesi_context_deterministic(ctx) ? 0 : own->usual - 2;
  now->norm = norm;
  for (int i = 0; now->norm > target && i < most; i++) {
    TES_TRY(tesi_recorded_run(ctx, &own->step, iterate, iteration));
    own->usual = i + 1;
    if (i < unseen) continue;
    TES_TRY(read_scalars(ctx, own, now));
    TES_TRY(tesi_work_go_on(ctx));
  }
done:
  return status;
}

/* The scalars of a solve of r; share: the target is a share of |r|. */
static TesStatus begin(const TesiJacobi *j, double target, int share, int most, TesVector *r) {
  TesContext *ctx = j->op->context;
  TesStatus status = TES_OK;
  const TesiJacobiDevice *own = j->device;
  TeskJacobi *scalars = scalars_of(own);
  long long n = r->length;
  int parts = parts_after(ctx, own);
  TeskOwned owned = own->own;
  double *partial = parts_of(own);
  const void *inverse = j->inverse->data;
  TES_TRY(launch(ctx, own, START, (void *[]){&n, &r->data, &inverse, &owned, &partial}));
  TES_TRY(meet(own, 2, partial));
  TES_TRY(launch(ctx, own, BEGIN, (void *[]){&parts, &partial, &target, &share, &most, &scalars}));
done:
  return status;
}

TesStatus tesi_jacobi_queue(const TesiJacobi *j, double share, int most, TesVector *r, TesVector *d) {
  Iteration iteration = {j, r, d};
  const TesStatus status = begin(j, share, 1, most, r);
  return status == TES_OK ? iterate_all(&iteration) : status;
}

static TesStatus on_device(const TesiJacobi *j, double norm, double target, int most, TesVector *r,
                           TesVector *d) {
  TesContext *ctx = j->op->context;
  TesStatus status = TES_OK;
  TesiJacobiDevice *own = j->device;
  Iteration iteration = {j, r, d};
  TeskJacobi now;
  if (!(norm > target)) return isfinite(norm) ? tes_vector_fill(d, 0) : TES_NAN;
  expect(ctx, j, r, d);
  TES_TRY(begin(j, target, 0, most, r));
  if (tesi_recorded_can_loop(ctx)) {
    TES_TRY(tesi_recorded_run(ctx, &own->step, iterate_all, &iteration));
    TES_TRY(read_scalars(ctx, own, &now));
    TES_TRY(tesi_work_go_on(ctx));
  } else {
    TES_TRY(iterate_by_host(j, norm, target, most, &iteration, &now));
  }
  if (!isfinite(now.norm)) return TES_NAN;
  if (now.norm > target) return TES_NOT_CONVERGED;
done:
  return status;
}

/* ---- vector by vector ---------------------------------------------------------------------------------- */

static TesStatus scale(const TesVector *r, const TesVector *inverse, TesVector *z) {
  return tesi_device_multiply(r->context, TES_DOUBLE, r->length, 1, r->data, inverse->data, z->data);
}

TesStatus tesi_jacobi_cg(const TesiJacobi *j, double norm, double target, int most, TesVector *r,
                         TesVector *d) {
  TesContext *ctx = j->op->context;
  TesStatus status = TES_OK;
  double rz = 0;
  if (j->device) return on_device(j, norm, target, most, r, d);
  TES_TRY(tes_vector_fill(d, 0));
  for (int i = 0; norm > target; i++) {
    double before = rz, pq;
    if (i == most) return TES_NOT_CONVERGED;
    TES_TRY(scale(r, j->inverse, j->z));
    TES_TRY(tes_vector_dot(r, j->z, &rz));
    TES_TRY(i ? tes_vector_xpay(j->z, rz / before, j->p) : tes_vector_copy(j->z, 1, j->p));
    TES_TRY(tes_operator_apply(j->op, j->p, j->q));
    if (j->add) TES_TRY(j->add(j->user, j->p, j->q));
    TES_TRY(tes_vector_dot(j->p, j->q, &pq));
    TES_TRY(tes_vector_axpy(rz / pq, j->p, d));
    TES_TRY(tes_vector_axpy(-rz / pq, j->q, r));
    TES_TRY(tes_vector_norm(r, &norm));
    TES_TRY(tesi_work_go_on(ctx));
  }
  if (!isfinite(norm)) return TES_NAN;
done:
  return status;
}
