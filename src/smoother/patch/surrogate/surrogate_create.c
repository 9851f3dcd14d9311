/* Set-up of surrogate patches, one plane of patches at a time: evaluate a, fit, assemble and diagonalize. */
#include <string.h>
#include "base/afford.h"
#include "base/real.h"
#include "base/simd_builds.h"
#include "base/team.h"
#include "basis/lagrange.h"
#include "smoother/patch/surrogate/surrogate.h"
#include "tensor/eigen_batch.h"

const TesiSurrogateKernels *tesi_surrogate_kernels(const TesOperator *op) {
  return TESI_SIMD_PICK(tes_context_simd_bits(op->context), tesi_surrogate_kernels) + op->precision;
}

static TesStatus fill_data(const TesOperator *op, TesiSurrogateData *data) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double nodes[TESI_MAX_POINTS], points[TESI_MAX_POINTS];
  data->space = op->space;
  data->points = op->space->degree + 1;
  tesi_gauss(data->points, points, data->weights);
  tesi_gauss_lobatto(data->points, nodes, NULL);
  tesi_lagrange(data->points, nodes, data->points, points, data->B, data->G);
  TES_TRY(tesi_coefficient_ratio(op, tesi_diffusion_of(op)->c_function, -1, &data->reaction));
  for (int face = 0; face < 6; face++)
    TES_TRY(tesi_coefficient_ratio(op, tesi_diffusion_of(op)->alpha_function[face], face, &data->robin[face]));
done:
  return status;
}

/* Number of values in the tables of a group. */
static int64_t table_size(const TesiSurrogate *s, const TesiPatchFamily *const f[3]) {
  int64_t size = 0;
  for (int d = 0; d < 3; d++) size += f[d]->m * f[d]->m + f[d]->m;
  return size * s->lanes;
}

/* Calls the function for every (x, y, z) triple of families; number of groups per plane. */
static int64_t groups_of(const TesiSurrogate *s, const TesiPatchFamily *const f[3]) {
  return ((int64_t)f[0]->count * f[1]->count + s->lanes - 1) / s->lanes;
}

static int colour_of(const TesiPatchFamily *const f[3]) {
  return f[0]->colour + 2 * f[1]->colour + 4 * f[2]->colour;
}

static TesStatus count_groups(TesContext *ctx, TesiSurrogate *s, size_t value) {
  TesStatus status = TES_OK;
  int64_t of_colour[8] = {0}, values = 0;
  for (int fz = 0; fz < s->axis[2].families; fz++)
    for (int fy = 0; fy < s->axis[1].families; fy++)
      for (int fx = 0; fx < s->axis[0].families; fx++) {
        const TesiPatchFamily *const f[3] = {&s->axis[0].family[fx], &s->axis[1].family[fy],
                                             &s->axis[2].family[fz]};
        const int64_t groups = groups_of(s, f) * f[2]->count;
        of_colour[colour_of(f)] += groups;
        values += groups * table_size(s, f);
      }
  for (int c = 0; c < 8; c++) s->first_of_colour[c + 1] = s->first_of_colour[c] + of_colour[c];
  s->groups = s->first_of_colour[8];
  const double bytes = (double)values * (double)value + (double)s->groups * (double)sizeof *s->group;
  TES_TRY(tesi_afford(ctx, bytes, 0.9 * (double)tes_memory_available(), "nodal needs 3 vectors",
                      "the eigenbases of %s patches need", s->local == TES_LOCAL_RANK1 ? "rank1" : "scaled"));
  TES_ALLOC(&s->group, s->groups);
  TES_TRY(tesi_alloc(ctx, (size_t)values, value, &s->tables));
done:
  return status;
}

/* Patches number first .. of the families f (x fastest) into a group; patch[] receives their indices (px, py). */
static void fill_group(const TesiSurrogate *s, const TesiPatchFamily *const f[3], int pz, int64_t first,
                       TesiPatchGroup *group, int patch[TESI_PATCH_LANES][2]) {
  const TesiAxis *axis = s->data.space->axis;
  const int64_t total = (int64_t)f[0]->count * f[1]->count;
  group->count = (int)(total - first < s->lanes ? total - first : s->lanes);
  group->colour = colour_of(f);
  for (int d = 0; d < 3; d++) group->m[d] = f[d]->m;
  for (int l = 0; l < s->lanes; l++) {
    const int64_t number = first + (l < group->count ? l : 0);
    const int px = f[0]->interval[number % f[0]->count], py = f[1]->interval[number / f[0]->count];
    patch[l][0] = px, patch[l][1] = py;
    group->node[l] = ((int64_t)s->axis[2].interval[pz].first * axis[1].nodes + s->axis[1].interval[py].first) *
                         axis[0].nodes +
                     s->axis[0].interval[px].first;
  }
}

/* The tables of direction d of a group. */
static bool fill_direction(const TesiSurrogate *s, const TesiSurrogateKernels *kernels,
                           const TesiPatchFamily *family, int d, int pz, const double *factors,
                           int patch[TESI_PATCH_LANES][2], void *tables) {
  enum { L = TESI_EIGEN_LANES };
  _Alignas(64) double f[TESI_FACTOR * L], h[2 * L];
  const TesiAxis *axis = &s->data.space->axis[d];
  for (int first = 0; first < s->lanes; first += L) {
    for (int l = 0; l < L; l++) {
      const int *p = patch[first + l], interval = d == 0 ? p[0] : d == 1 ? p[1] : pz;
      const double *of_patch = factors + (3 * ((int64_t)p[1] * s->axis[0].count + p[0]) + d) * TESI_FACTOR;
      const int cell = tesi_interval_cell(axis, &s->axis[d].interval[interval]);
      for (int q = 0; q < family->cells * s->data.points; q++) f[q * L + l] = of_patch[q];
      for (int c = 0; c < family->cells; c++) h[c * L + l] = axis->h[cell + c];
    }
    if (!kernels->fill(&s->data, family, d, f, h, first, tables)) return false;
  }
  return true;
}

/* S = 1, lambda = 0 for a direction that does not exist. */
static void fill_absent(const TesOperator *op, int lanes, void *tables) {
  for (int l = 0; l < lanes; l++) tesi_number_set(op->precision, tables, l, 1);
}

static bool fill_tables(const TesOperator *op, const TesiSurrogate *s, const TesiPatchFamily *const f[3],
                        int pz, const double *factors, const TesiPatchGroup *group,
                        int patch[TESI_PATCH_LANES][2]) {
  const size_t value = tesi_precision_size(op->precision);
  char *tables = (char *)s->tables + (size_t)group->tables * value;
  bool right = true;
  for (int d = 0; d < 3; d++) {
    if (d < op->space->dim)
      right = right && fill_direction(s, tesi_surrogate_kernels(op), f[d], d, pz, factors, patch, tables);
    else
      fill_absent(op, s->lanes, tables);
    tables += (size_t)((f[d]->m * f[d]->m + f[d]->m) * s->lanes) * value;
  }
  return right;
}

/* The places of the next group of a colour and of its tables. */
typedef struct Cursor {
  int64_t group[8], value;
} Cursor;

/* Groups of the families f in plane pz, the first of which is `group`, with tables from value `tables` on. */
typedef struct Families {
  const TesOperator *op;
  const TesiSurrogate *s;
  const TesiPatchFamily *const *f;
  int pz;
  const double *factors;
  TesiPatchGroup *group;
  int64_t tables, size; /* numbers per group */
  atomic_bool *wrong;
} Families;

static void fill_span(const void *data, TesiSpan span) {
  const Families *of = data;
  for (int64_t g = span.first; g < span.end; g++) {
    int patch[TESI_PATCH_LANES][2];
    TesiPatchGroup *group = &of->group[g];
    fill_group(of->s, of->f, of->pz, g * of->s->lanes, group, patch);
    group->tables = of->tables + g * of->size;
    if (!fill_tables(of->op, of->s, of->f, of->pz, of->factors, group, patch)) atomic_store(of->wrong, true);
  }
}

/* All groups of the families f in plane pz. */
static TesStatus fill_families(const TesOperator *op, TesiSurrogate *s, const TesiPatchFamily *const f[3],
                               int pz, const double *factors, Cursor *cursor) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int64_t groups = groups_of(s, f), size = table_size(s, f);
  TesiPatchGroup *group = s->group + cursor->group[colour_of(f)];
  atomic_bool wrong = false;
  tesi_team_for(tesi_team_threads(ctx, 16 * groups * size), groups, fill_span,
                &(Families){op, s, f, pz, factors, group, cursor->value, size, &wrong});
  cursor->group[colour_of(f)] += groups;
  cursor->value += groups * size;
  if (wrong)
    TES_FAIL(TES_NAN, "the local eigenproblems of a patch smoother failed: is the coefficient a finite?");
done:
  return status;
}

static TesStatus fill_plane(const TesOperator *op, TesiSurrogate *s, const TesiPatchFamily *z, int pz,
                            const double *factors, Cursor *cursor) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  for (int fy = 0; fy < s->axis[1].families; fy++)
    for (int fx = 0; fx < s->axis[0].families; fx++) {
      const TesiPatchFamily *const f[3] = {&s->axis[0].family[fx], &s->axis[1].family[fy], z};
      TES_TRY(fill_families(op, s, f, pz, factors, cursor));
    }
done:
  return status;
}

static const TesiPatchFamily *family_of(const TesiSurrogateAxis *axis, int p) {
  for (int f = 0; f < axis->families; f++)
    for (int i = 0; i < axis->family[f].count; i++)
      if (axis->family[f].interval[i] == p) return &axis->family[f];
  return NULL;
}

/* The layers of plane pz: *have is the first cell layer held (-1: none). */
static TesStatus move_layers(const TesOperator *op, const TesiSurrogate *s, int pz, TesiLayer layer[2],
                             int have[2]) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiPatchFamily *family = family_of(&s->axis[2], pz);
  const int first = tesi_interval_cell(&op->space->axis[2], &s->axis[2].interval[pz]);
  const int cells = op->space->dim > 2 ? family->cells : 1;
  if (have[1] == first) {
    const TesiLayer swap = layer[0];
    layer[0] = layer[1], layer[1] = swap;
    have[0] = first, have[1] = -1;
  }
  for (int c = 0; c < cells; c++) {
    if (have[c] == first + c) continue;
    TES_TRY(tesi_evaluate_layer(op, &s->data, first + c, &layer[c]));
    have[c] = first + c;
  }
done:
  return status;
}

static TesStatus fill_groups(const TesOperator *op, TesiSurrogate *s) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = op->space->axis;
  const int n = s->data.points;
  const int64_t points = (int64_t)axis[0].cells * axis[1].cells * n * n * (op->space->dim > 2 ? n : 1);
  TesiLayer layer[2] = {{NULL, NULL}, {NULL, NULL}};
  double *factors = NULL;
  int have[2] = {-1, -1};
  Cursor cursor = {.value = 0};
  memcpy(cursor.group, s->first_of_colour, sizeof cursor.group);
  for (int i = 0; i < 2; i++) {
    TES_ALLOC(&layer[i].a, points);
    TES_ALLOC(&layer[i].log_a, points);
  }
  TES_ALLOC(&factors, (int64_t)s->axis[0].count * s->axis[1].count * 3 * TESI_FACTOR);
  for (int pz = 0; pz < s->axis[2].count; pz++) {
    TES_TRY(move_layers(op, s, pz, layer, have));
    tesi_fit_factors(&s->data, s->axis, s->local, pz, layer, tes_context_threads(ctx), factors);
    TES_TRY(fill_plane(op, s, family_of(&s->axis[2], pz), pz, factors, &cursor));
  }
done:
  for (int i = 0; i < 2; i++) {
    tesi_free(ctx, &layer[i].a);
    tesi_free(ctx, &layer[i].log_a);
  }
  tesi_free(ctx, &factors);
  return status;
}

TesStatus tesi_surrogate_create(const TesOperator *op, TesLocalSolver local, TesiSurrogate *surrogate) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  surrogate->local = local;
  surrogate->lanes = op->precision == TES_DOUBLE ? 8 : 16;
  TES_TRY(fill_data(op, &surrogate->data));
  for (int d = 0; d < 3; d++)
    TES_TRY(tesi_surrogate_axis_create(ctx, &op->space->axis[d], &surrogate->axis[d]));
  TES_TRY(count_groups(ctx, surrogate, tesi_precision_size(op->precision)));
  TES_TRY(fill_groups(op, surrogate));
done:
  return status;
}

void tesi_surrogate_destroy(TesContext *ctx, TesiSurrogate *surrogate) {
  for (int d = 0; d < 3; d++) tesi_surrogate_axis_destroy(ctx, &surrogate->axis[d]);
  tesi_free(ctx, &surrogate->group);
  tesi_free(ctx, &surrogate->tables);
}
