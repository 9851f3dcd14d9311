/* Right-hand sides over meshes of any kind. */
#include <string.h>
#include "base/work.h"
#include "functional/batch_faces.h"
#include "functional/functional.h"
#include "functional/groups.h"
#include "device/kernel.h"
#include "space/slip.h"

/* ---- volume -------------------------------------------------------------------------------------------- */

/* Arrays of a thread, [batches][points][lane]: coordinates, weights, values; then a batch with its scratch. A call
 * evaluates functions at about this many points, so that the call itself costs little. */
enum { ARRAYS = 5, POINTS = 2048, BATCHES = 64, SLOPE_ARRAYS = 19 };

static int batches_at_once(const TesiBatches *b) {
  return tesi_max(1, tesi_min(BATCHES, (int)(POINTS / tesi_batches_array(b))));
}

/* f[lane] <- the function of the cell's material, or the function of all cells. Returns whether there is one. */
static bool sources(const TesiBatches *b, const TesFunction *all, const TesFunction *const *by_material,
                    const TesiBatch *batch, const TesFunction *f[TESI_BATCH]) {
  bool any = false;
  for (int l = 0; l < TESI_BATCH; l++) {
    const int material =
        by_material ? tes_mesh_material(b->space->mesh, batch->first + tesi_min(l, batch->count - 1)) : -1;
    f[l] = material >= 0 && by_material[material] ? by_material[material] : all;
    any = any || f[l];
  }
  return any;
}

/* The one f of all cells; NULL: materials have others. */
static const TesFunction *only_source(const TesiBatches *b, const TesiLoad *desc) {
  for (int i = 0; desc->material_f && i < b->materials; i++)
    if (desc->material_f[i] && desc->material_f[i] != desc->f) return NULL;
  return desc->f;
}

typedef struct Volume Volume;
struct Volume {
  /* Adds batches first .. first + count - 1, at most `most` of them. */
  TesStatus (*add)(const Volume *v, int64_t task, int64_t first, int count, double *memory);
  int most;
  TesiSums *sums;
  const TesiLoad *desc;
  const TesFunction *only;
  double *memory; /* [threads][share] */
  int64_t share;
  int set, *failed;
};

/* int f phi. Coordinates of a batch lie behind each other
 * (place) before they join those of the others. */
static TesStatus add_batches(const Volume *v, int64_t task, int64_t first, int count, double *memory) {
  const TesiBatches *b = v->sums->batches;
  const int64_t n = tesi_batches_array(b), all = n * batches_at_once(b);
  double *x = memory, *weight = memory + 3 * all, *values = memory + 4 * all,
         *scratch = memory + ARRAYS * all, *place = scratch + n, *work = place + 3 * n;
  TesiBatch batch[BATCHES];
  const TesFunction *f[TESI_BATCH];
  TesStatus status = TES_OK;
  for (int i = 0; i < count; i++) {
    const TesiBatchPoints at = {.x = {place, place + n, place + 2 * n}, .weight = weight + i * n};
    batch[i] = b->kind->batch(b, first + i);
    const bool any = sources(b, v->desc->f, v->desc->material_f, &batch[i], f);
    b->kind->points(b, &batch[i], !tesi_batch_constant(f), &at, work);
    for (int d = 0; d < 3 && v->only; d++) memcpy(x + d * all + i * n, place + d * n, (size_t)n * sizeof *x);
    if (v->only) continue;
    for (int64_t p = 0; p < n && !any; p++) values[i * n + p] = 0;
    if (any) status = tesi_batch_values(b, &batch[i], f, &at, values + i * n, scratch);
    if (status != TES_OK) return status;
  }
  if (v->only) tesi_function_values(v->only, count * n, x, x + all, x + 2 * all, 0, values);
  for (int i = 0; i < count; i++) {
    const TesiBatchPoints at = {.x = {x + i * n, x + all + i * n, x + 2 * all + i * n}};
    if (v->only) status = tesi_batch_check(b, &batch[i], v->only, &at, values + i * n);
    if (status != TES_OK) return status;
    for (int64_t p = 0; p < n; p++) values[i * n + p] *= weight[i * n + p];
    tesi_batch_integrate(v->sums, task, &batch[i], values + i * n, scratch);
  }
  return TES_OK;
}

/* int h d phi / d x_c */
static TesStatus add_slopes(const Volume *v, int64_t task, int64_t first, int count, double *memory) {
  const TesiBatches *b = v->sums->batches;
  const int64_t n = tesi_batches_array(b);
  double *x = memory, *weight = x + 3 * n, *h = weight + n, *J = h + n, *slopes = J + 9 * n,
         *work = slopes + 5 * n;
  const TesiBatch batch = b->kind->batch(b, first);
  const TesiBatchPoints at = {.x = {x, x + n, x + 2 * n}, .weight = weight, .J = J};
  const TesFunction *of[TESI_BATCH];
  (void)count; /* 1 */
  if (!sources(b, v->desc->h, v->desc->material_h, &batch, of)) return TES_OK;
  b->kind->points(b, &batch, true, &at, work);
  const TesStatus status = tesi_batch_values(b, &batch, of, &at, h, slopes);
  if (status != TES_OK) return status;
  for (int64_t p = 0; p < n; p++) h[p] *= weight[p];
  tesi_batch_integrate_slope(v->sums, task, &batch, &at, v->desc->direction, h, slopes);
  return TES_OK;
}

static TesStatus add_task(const Volume *v, int64_t task, double *memory) {
  const TesiBatches *b = v->sums->batches;
  int64_t first;
  const int64_t count = tesi_batches_of_task(b, task, &first), end = first + count;
  TesStatus status = TES_OK;
  for (int64_t i = first; i < end && status == TES_OK; i += v->most)
    status = v->add(v, task, i, (int)(end - i < v->most ? end - i : v->most), memory);
  return status;
}

static void add_tasks(const void *data, TesiSpan span) {
  const Volume *v = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t task = tesi_batches_set_task(v->sums->batches, v->set, i);
    const TesStatus status = add_task(v, task, v->memory + v->share * span.thread);
    if (status != TES_OK) {
#pragma omp atomic write
      *v->failed = status;
    }
  }
}

/* `slopes`: of h, else of f. */
static TesStatus add_volume(const TesiBatches *b, const TesiLoad *desc, bool slopes, bool given,
                            double *values) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, b->cells * tesi_batches_array(b) / TESI_BATCH);
  TesiSums sums = {0};
  int failed = TES_OK;
  const int most = slopes ? 1 : batches_at_once(b), arrays = slopes ? SLOPE_ARRAYS : ARRAYS * most + 4;
  Volume volume = {.add = slopes ? add_slopes : add_batches,
                   .most = most,
                   .sums = &sums,
                   .desc = desc,
                   .only = only_source(b, desc),
                   .share = arrays * tesi_batches_array(b) + tesi_batches_work(b),
                   .failed = &failed};
  TES_ALLOC(&volume.memory, volume.share * threads);
  TES_TRY(tesi_sums_create(b, given, values, &sums));
  for (int set = 0; set < b->sets; set++) {
    volume.set = set;
    TES_TRY(tesi_work_share(ctx, threads, tesi_batches_set_size(b, set), 1, add_tasks, &volume));
    TES_TRY((TesStatus)failed);
  }
  tesi_sums_finish(&sums);
done:
  tesi_sums_free(&sums);
  tesi_free(ctx, &volume.memory);
  return status;
}

/* ---- boundaries ---------------------------------------------------------------------------------------- */

/* local[nodes of the face] <- int g phi */
static TesStatus face_flux(const TesiBatches *b, const TesiFaceRule *rule, const TesiBoundaryFace *face,
                           const TesFunction *g, double *local) {
  enum { MOST = TESI_MAX_POINTS * TESI_MAX_POINTS };
  double x[3 * MOST], weight[MOST], normal[3 * MOST], value[MOST];
  const int n = rule->points;
  b->kind->face(b, rule, face->cell, face->face, x, weight, normal);
  const TesStatus status = tesi_boundary_values(g, n, x, normal, value);
  if (status != TES_OK) return status;
  for (int p = 0; p < n; p++) value[p] *= weight[p];
  memset(local, 0, (size_t)rule->nodes * sizeof *local);
  tesi_face_project(rule, value, local);
  if (b->kind->constrain) b->kind->constrain(b, rule, face->cell, face->face, local);
  return TES_OK;
}

typedef struct Flux {
  const TesiBatches *b;
  const TesiFaceRule *rule;
  const TesiBoundaryFace *face;
  const TesFunction *const *g;
  double *local; /* [faces][nodes] */
  int *failed;
} Flux;

static void integrate_faces(const void *data, TesiSpan span) {
  const Flux *f = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const TesiBoundaryFace *face = &f->face[i];
    const TesStatus status =
        face_flux(f->b, f->rule, face, f->g[face->boundary], f->local + i * f->rule->nodes);
    if (status != TES_OK) {
#pragma omp atomic write
      *f->failed = status;
    }
  }
}

/* The integrals at once, the sums in the order of the faces: surfaces are small. */
static TesStatus add_faces(const TesiBatches *b, const TesFunction *const *g, bool given,
                           const TesiBoundaryFace *face, int64_t faces, double *values) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TesiFaceRule *rule = NULL;
  double *local = NULL;
  int failed = TES_OK;
  TES_NEW(&rule);
  tesi_face_rule(b->dim, b->n - 1, b->q, b->geometry, rule);
  TES_ALLOC(&local, faces * rule->nodes);
  const Flux flux = {b, rule, face, g, local, &failed};
  TES_TRY(tesi_work_for(ctx, tesi_team_threads(ctx, 4 * faces * rule->points), faces, integrate_faces, &flux));
  TES_TRY((TesStatus)failed);
  for (int64_t i = 0; i < faces; i++)
    for (int p = 0; p < rule->nodes; p++) {
      bool is_given;
      const int64_t node =
          b->kind->node(b, face[i].cell, tesi_face_node(b->dim, b->n, face[i].face, p), &is_given);
      if (given || !is_given) values[node] += local[i * rule->nodes + p];
    }
done:
  tesi_free(ctx, &rule);
  tesi_free(ctx, &local);
  return status;
}

/* Cells of groups add to given nodes too. */
static TesStatus add_groups(const TesiBatches *b, const TesFunction *const *g, bool given, double *values) {
  const TesiCellView *s = b->view;
  bool any;
  const TesStatus status = tesi_groups_add(b, g, &any, values);
  for (int64_t i = 0; any && !given && i < s->cells * s->cell_nodes; i++)
    if (s->index[i] < 0) values[~s->index[i]] = 0;
  return status;
}

static TesStatus add_boundaries(const TesiBatches *b, const TesFunction *const *g, bool given, double *values) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TesiBoundaryFace *face = NULL;
  int64_t faces;
  bool *wanted = NULL;
  TES_ALLOC(&wanted, b->boundaries + 1);
  for (int i = 0; i < b->boundaries; i++) {
    wanted[i] = g[i];
    TES_CHECK(given || !g[i] || !tes_space_given(b->space, i),
              "a flux is given on boundary %d, where values are given", i);
  }
  TES_TRY(tesi_boundary_faces(b, wanted, true, &face, &faces));
  TES_TRY(add_faces(b, g, given, face, faces, values));
  if (b->view) TES_TRY(add_groups(b, g, given, values));
done:
  tesi_free(ctx, &wanted);
  tesi_free(ctx, &face);
  return status;
}

TesStatus tesi_load_on_host(const TesiLoad *desc, bool given, TesVector *v) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  TesiBatches *b = NULL;
  const bool device = tesi_has_kernels(ctx);
  double *values = device ? NULL : v->data;
  TES_TRY(tesi_batches_create(desc->space, desc->space->degree + 3, &b));
  if (device)
    TES_ALLOC(&values, b->length);
  else
    TES_TRY(tes_vector_fill(v, 0));
  if (desc->f || desc->material_f) TES_TRY(add_volume(b, desc, false, given, values));
  if (desc->h || desc->material_h) TES_TRY(add_volume(b, desc, true, given, values));
  if (desc->g) TES_TRY(add_boundaries(b, desc->g, given, values));
  const TesiLayout *layout = desc->space->layout;
  tesi_exchange_sum(given ? layout->shared : layout->sum, TES_DOUBLE, values);
  if (device) TES_TRY(tes_vector_set(v, values));
done:
  if (device) tesi_free(ctx, &values);
  tesi_batches_destroy(&b);
  return status;
}

TesStatus tesi_functional_check(const TesSpace *space, const TesVector *v, const char *what) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_CHECK(space->element->nodal, "%s over a space of element rt, whose problem knows it", what);
  TES_CHECK(v->length == space->length && v->precision == TES_DOUBLE,
            "%s needs a float64 vector of the space", what);
done:
  return status;
}

static bool is_nothing(const TesiLoad *desc) {
  return !desc->material_f && !desc->h && !desc->material_h && !desc->g &&
         (!desc->f || tesi_function_is_zero(desc->f));
}

TesStatus tesi_functional_load(const TesiLoad *desc, bool given, TesVector *b) {
  TesContext *ctx = desc->space->context;
  TesStatus status = TES_OK;
  bool done = false;
  if (is_nothing(desc)) return tes_vector_fill(b, 0);
  const bool host = desc->h || desc->material_h;
  if (!host && tesi_sums_on_device(desc->space)) TES_TRY(tesi_load_device(desc, given, b, &done));
  if (!done) TES_TRY(tesi_load_on_host(desc, given, b));
done:
  return status;
}

TesStatus tes_functional_load(const TesLoadDesc *desc, TesVector *b) {
  return tesi_functional_load_all(desc, false, b);
}

TesStatus tesi_functional_load_all(const TesLoadDesc *desc, bool given, TesVector *b) {
  const TesSpace *space = desc->space;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_functional_check(space, b, "a load"));
  for (int c = 0; c < space->scalars; c++) {
    const TesiLoad load = tesi_load_of(desc, c);
    TesVector of_b = tesi_space_scalar_range(space, b, c);
    TES_TRY(tesi_functional_load(&load, given, &of_b));
  }
  if (!given) TES_TRY(tesi_space_project(space, TES_DOUBLE, b->data));
done:
  return status;
}
