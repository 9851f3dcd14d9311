#include "smoother/stokes_patch/stokes_patches.h"
#include <stdlib.h>
#include "base/afford.h"
#include "device/upload.h"
#include "space/rt_device.h"

enum { SHARED_MOST = 227 * 1024, WAVE = 264 /* blocks per launch that work in global memory */ };

/* ---- tables -------------------------------------------------------------------------------------------- */

static int64_t count_numbers(const TesiStokesLocalAxis *l) {
  const int64_t M = l->nodes, N = l->modes;
  return M * M + N * N + N * M + M + N;
}

static double *append(double *at, const double *from, int count) {
  for (int i = 0; i < count; i++) *at++ = from[i];
  return at;
}

/* As TeskStokesKind says. */
static TesStatus upload_kinds(TesContext *ctx, const TesiStokesKind *kind, int d, TesiStokesPatches *p) {
  TesStatus status = TES_OK;
  TeskStokesKind *kinds = NULL;
  double *numbers = NULL, *at;
  int64_t all = 0;
  TES_ALLOC(&kinds, p->kinds[d]);
  for (int k = 0; k < p->kinds[d]; k++) all += count_numbers(kind[k].local);
  TES_ALLOC(&numbers, all);
  at = numbers;
  for (int k = 0; k < p->kinds[d]; k++) {
    const TesiStokesLocalAxis *l = kind[k].local;
    const int M = l->nodes, N = l->modes;
    at = append(at, l->Zc, M * M);
    at = append(at, l->Zd, N * N);
    at = append(at, l->G, N * M);
    at = append(at, l->lc, M);
    at = append(at, l->ld, N);
  }
  TES_TRY(tesi_upload_numbers(ctx, numbers, all, p->precision, &p->numbers[d]));
  const char *address = p->numbers[d];
  for (int k = 0; k < p->kinds[d]; k++) {
    const TesiStokesLocalAxis *l = kind[k].local;
    kinds[k] =
        (TeskStokesKind){.numbers = address, .nodes = l->nodes, .modes = l->modes, .first = kind[k].first};
    address += count_numbers(l) * (int64_t)tesi_precision_size(p->precision);
  }
  TES_TRY(tesi_upload(ctx, kinds, (size_t)p->kinds[d] * sizeof *kinds, &p->kind[d]));
  p->arguments.kind[d] = p->kind[d];
done:
  tesi_free(ctx, &kinds);
  tesi_free(ctx, &numbers);
  return status;
}

static TesStatus check_room(TesContext *ctx, double count, double size) {
  return tesi_afford(ctx, count * size, (double)tesi_context_device(ctx)->available(ctx) / 2,
                     "use equal cells in more directions, fewer cells or a lower degree",
                     "%.0f kinds of patches with inverse Schur complements of %.3g MB need on the device",
                     count, 1e-6 * size);
}

/* Combination of kinds number i: the x direction counts fastest. */
static void kinds_of(const TesiStokesPatches *p, int i, int kind[3]) {
  kind[0] = i % p->kinds[0];
  kind[1] = i / p->kinds[0] % p->kinds[1];
  kind[2] = i / p->kinds[0] / p->kinds[1];
}

static size_t inverse_bytes(const TesiStokesPatches *p, int pressures) {
  return (size_t)pressures * (size_t)pressures * tesi_precision_size(p->precision);
}

static TesStatus send_inverse(TesContext *ctx, const TesiStokesLocal *local, const TesiStokesPatches *p,
                              void *to, double *S) {
  TesStatus status = TES_OK;
  const int n = tesi_stokes_local_pressures(local);
  TES_TRY(tesi_stokes_local_invert(ctx, local, S));
  float *const single = (float *)S; /* from the front, behind what is read */
  for (int64_t j = 0; j < (int64_t)n * n && p->precision == TES_SINGLE; j++) single[j] = (float)S[j];
  TES_TRY(tesi_context_device(ctx)->to_device(ctx, to, S, inverse_bytes(p, n)));
done:
  return status;
}

/* S^+ of a combination of kinds with viscosity 1 and the mass term alpha / nu; the next one of the combination. */
typedef struct Inverse {
  int kinds, next;
  double ratio;
} Inverse;

/* All S^+ that the places need: table[i] for place i, -1 for exact places. */
typedef struct Inverses {
  int count, *first, *table; /* first: of a combination of kinds, -1: none */
  Inverse *inverse;
} Inverses;

static int combination(const TesiStokesPatches *p, const int kind[3]) {
  return kind[0] + p->kinds[0] * (kind[1] + p->kinds[1] * kind[2]);
}

static TesStatus list_inverses(TesContext *ctx, const TesiStokesPatches *p, const TesiStokesPlace *place,
                               int count, Inverses *list) {
  TesStatus status = TES_OK;
  const int kinds = p->kinds[0] * p->kinds[1] * p->kinds[2];
  TES_ALLOC(&list->first, kinds);
  TES_ALLOC(&list->table, count);
  TES_ALLOC(&list->inverse, count + 1);
  for (int k = 0; k < kinds; k++) list->first[k] = -1;
  for (int i = 0; i < count; i++) {
    const int k = combination(p, place[i].kind);
    const double ratio = p->arguments.alpha / place[i].nu;
    int t = list->first[k];
    list->table[i] = -1;
    if (place[i].exact) continue;
    while (t >= 0 && list->inverse[t].ratio != ratio) t = list->inverse[t].next;
    if (t < 0) {
      t = list->count++;
      list->inverse[t] = (Inverse){.kinds = k, .next = list->first[k], .ratio = ratio};
      list->first[k] = t;
    }
    list->table[i] = t;
  }
done:
  return status;
}

/* All kinds of a direction have the same modes. */
static int pressures_of(const TesiStokesKind *const kind[3]) {
  return kind[0]->local->modes * kind[1]->local->modes * kind[2]->local->modes;
}

static TesStatus upload_inverses(const TesOperator *op, const TesiStokesKind *const kind[3],
                                 const Inverses *list, TesiStokesPatches *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int n = pressures_of(kind);
  double *S = NULL;
  TES_TRY(check_room(ctx, list->count, (double)inverse_bytes(p, n)));
  TES_ALLOC(&S, (int64_t)n * n);
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)list->count * inverse_bytes(p, n), &p->inverses));
  for (int i = 0; i < list->count; i++) {
    TesiStokesLocal local = {
        .dim = p->arguments.parts.dim, .nu = 1, .alpha = list->inverse[i].ratio, .closed = true};
    int its[3];
    kinds_of(p, list->inverse[i].kinds, its);
    for (int d = 0; d < 3; d++) {
      local.axis[d] = kind[d][its[d]].local;
      local.closed = local.closed && !kind[d][its[d]].open;
    }
    TES_TRY(send_inverse(ctx, &local, p, (char *)p->inverses + (size_t)i * inverse_bytes(p, n), S));
  }
done:
  tesi_free(ctx, &S);
  return status;
}

static TesStatus upload_patches(TesContext *ctx, const TesiStokesPlace *place, int count, int pressures,
                                const Inverses *list, TesiStokesPatches *p) {
  TesStatus status = TES_OK;
  TeskStokesPatch *patches = NULL;
  TES_ALLOC(&patches, count);
  for (int i = 0; i < count; i++) {
    patches[i].inverse = place[i].exact
                             ? place[i].exact
                             : (char *)p->inverses + (size_t)list->table[i] * inverse_bytes(p, pressures);
    patches[i].nu = place[i].nu;
    for (int d = 0; d < 3; d++) {
      patches[i].vertex[d] = place[i].vertex[d];
      patches[i].kind[d] = place[i].kind[d];
    }
  }
  TES_TRY(tesi_upload(ctx, patches, (size_t)count * sizeof *patches, &p->patches));
done:
  tesi_free(ctx, &patches);
  return status;
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

/* Numbers of the largest part of a patch. */
static int largest_part(const TesiStokesKind *const kind[3], const int kinds[3], int dim) {
  int most = 1;
  for (int part = 0; part <= dim; part++) {
    int size = 1;
    for (int d = 0; d < dim; d++) {
      int extent = 0;
      for (int k = 0; k < kinds[d]; k++) {
        const TesiStokesLocalAxis *l = kind[d][k].local;
        extent = tesi_max(extent, d == part ? l->nodes : l->modes);
      }
      size *= extent;
    }
    most = tesi_max(most, size);
  }
  return most;
}

static TesStatus compile(TesContext *ctx, int dim, TesiStokesPatches *p) {
  TesStatus status = TES_OK;
  const int most = p->arguments.most;
  const size_t memory = (size_t)(dim + 2) * (size_t)most * tesi_precision_size(p->precision);
  TesiProgram *program;
  p->threads = (unsigned)tesi_min(256, (most + 31) / 32 * 32);
  p->shared = memory <= SHARED_MOST && !getenv("TESSERA_PATCH_GLOBAL") /* for tests */ ? memory : 0;
  const TesiProgramDesc desc = {.file = "stokes_patch.cu",
                                .real = p->precision,
                                .macros = {{"THREADS", (int)p->threads}, {"GLOBAL_WORK", !p->shared}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_patch", p->shared, &p->kernel));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_patch_exact", p->shared, &p->exact));
  if (!p->shared) TES_TRY(tesi_context_device(ctx)->allocate(ctx, WAVE * memory, &p->work));
done:
  return status;
}

TesStatus tesi_stokes_patches_create(const TesOperator *op, TesPrecision precision,
                                     const TesiStokesKind *const kind[3], const int kinds[3],
                                     const TesiStokesPlace *place, int count, TesiStokesPatches *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  *p = (TesiStokesPatches){.precision = precision, .kinds = {kinds[0], kinds[1], kinds[2]}};
  TeskStokesPatches *a = &p->arguments;
  Inverses list = {0};
  TES_TRY(tesi_rt_parts(ctx, s->space, &a->parts));
  a->n = s->space->degree + 1;
  a->alpha = s->alpha;
  a->most = largest_part(kind, kinds, s->space->dim);
  for (int d = 0; d < 3; d++) {
    a->nodes[d] = tesi_nodal(s->space, d)->nodes;
    a->modes[d] = tesi_modal(s->space, d)->nodes;
    TES_TRY(upload_kinds(ctx, kind[d], d, p));
  }
  TES_TRY(list_inverses(ctx, p, place, count, &list));
  TES_TRY(upload_inverses(op, kind, &list, p));
  TES_TRY(upload_patches(ctx, place, count, pressures_of(kind), &list, p));
  TES_TRY(compile(ctx, s->space->dim, p));
done:
  tesi_free(ctx, &list.first);
  tesi_free(ctx, &list.table);
  tesi_free(ctx, &list.inverse);
  return status;
}

void tesi_stokes_patches_free(TesContext *ctx, TesiStokesPatches *p) {
  const TesiDevice *device = tesi_context_device(ctx);
  for (int d = 0; d < 3; d++) {
    device->release(ctx, &p->kind[d]);
    device->release(ctx, &p->numbers[d]);
  }
  device->release(ctx, &p->inverses);
  device->release(ctx, &p->patches);
  device->release(ctx, &p->work);
}

TesStatus tesi_stokes_patches_solve(TesContext *ctx, const TesiStokesPatches *p, bool exact, int first,
                                    int count, const void *r, void *x) {
  TesStatus status = TES_OK;
  const int step = p->shared ? count : WAVE;
  void *work = p->work;
  for (int i = 0; i < count; i += step) {
    const TeskStokesPatch *patches = (const TeskStokesPatch *)p->patches + first + i;
    void *arguments[] = {(void *)&p->arguments, &patches, &r, &x, &work};
    TES_TRY(tesi_kernel_launch(ctx, exact ? &p->exact : &p->kernel,
                               (TesiGrid){(unsigned)tesi_min(step, count - i), 1, 1}, p->threads, p->shared,
                               arguments));
  }
done:
  return status;
}
