/* Eigenbases and places of vertex patches, made on the host and copied to the device. */
#include "base/real.h"
#include "basis/eigen.h"
#include "basis/lagrange.h"
#include "device/upload.h"
#include "smoother/patch/patch_local.h"

enum { N = 2 * TESI_MAX_DEGREE };

/* Writes S (stride between modes' components given by `step`) and lambda into table `number` of a host array. */
typedef struct Tables {
  TesPrecision precision;
  int nodes, row;
  int64_t size;
  void *values;
} Tables;

/* Zeros beyond the m modes, and ones as their eigenvalues. */
static void put_table(const Tables *t, int64_t number, int m, const double *S, const double *lambda) {
  const int64_t at = number * t->size;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) tesi_number_set(t->precision, t->values, at + i * t->row + j, S[i * m + j]);
  for (int j = 0; j < t->row; j++)
    tesi_number_set(t->precision, t->values, at + t->nodes * t->row + j, j < m ? lambda[j] : 1);
}

static TesStatus make_tables(TesContext *ctx, const TesOperator *op, const TesiPatchLocal *local,
                             int64_t count, Tables *tables) {
  *tables = (Tables){op->precision, local->nodes, local->row, local->table_size, NULL};
  return tesi_alloc(ctx, (size_t)(count * local->table_size), tesi_precision_size(op->precision),
                    &tables->values);
}

/* ---- exact local matrices of a separable operator ------------------------------------------------------ */

/* K = a (stiffness) + end terms + (x: c M) and M of one interval. */
static void assemble(const TesOperator *op, int d, const TesiPatchInterval *interval, double *K, double *M) {
  const TesiAxis *axis = &op->space->axis[d];
  const int k = axis->degree, n = k + 1, m = interval->end - interval->first;
  double mass[TESI_MAX_POINTS * TESI_MAX_POINTS], stiffness[TESI_MAX_POINTS * TESI_MAX_POINTS];
  tesi_cell_matrices(k, mass, stiffness);
  for (int i = 0; i < m * m; i++) K[i] = M[i] = 0;
  for (int cell = tesi_interval_cell(axis, interval); cell < axis->cells && cell * k < interval->end; cell++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const int row = cell * k + i - interval->first, column = cell * k + j - interval->first;
        if (row < 0 || row >= m || column < 0 || column >= m) continue;
        M[row * m + column] += axis->h[cell] * mass[i * n + j];
        K[row * m + column] += tesi_diffusion_of(op)->a / axis->h[cell] * stiffness[i * n + j];
      }
  for (int i = 0; d == 0 && i < m * m; i++) K[i] += tesi_diffusion_of(op)->c * M[i];
  if (interval->first == 0) K[0] += tesi_diffusion_of(op)->alpha[2 * d];
  if (interval->end == axis->nodes) K[m * m - 1] += tesi_diffusion_of(op)->alpha[2 * d + 1];
}

/* The table of interval p of an axis: equal cells share the tables of a family. */
static int table_of(const TesiAxis *axis, const TesiSurrogateAxis *patches, int p) {
  if (!axis->uniform) return p;
  for (int f = 0; f < patches->families; f++)
    for (int i = 0; i < patches->family[f].count; i++)
      if (patches->family[f].interval[i] == p) return patches->family[f].interval[0];
  return p;
}

static TesStatus fill_axis(const TesOperator *op, int d, const TesiSurrogateAxis *patches, int64_t first,
                           const Tables *tables) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *work = NULL;
  TES_ALLOC(&work, 3 * N * N + N);
  double *K = work, *M = K + N * N, *S = M + N * N, *lambda = S + N * N;
  for (int p = 0; p < patches->count; p++) {
    if (table_of(&op->space->axis[d], patches, p) != p) continue;
    assemble(op, d, &patches->interval[p], K, M);
    const int m = patches->interval[p].end - patches->interval[p].first;
    TES_TRY(tesi_eigen(ctx, m, K, M, S, lambda));
    put_table(tables, first + p, m, S, lambda);
  }
done:
  tesi_free(ctx, &work);
  return status;
}

/* The patches, colour by colour, x fastest. */
static void list_patches(const TesOperator *op, const TesiSurrogateAxis axis[3], const int64_t first_table[3],
                         TesiPatchLocal *local, TesiLocalPatch *patch) {
  const TesSpace *space = op->space;
  int64_t count = 0;
  for (int colour = 0; colour < 8; colour++) {
    local->first_of_colour[colour] = count;
    for (int z = 0; z < axis[2].count; z++)
      for (int y = 0; y < axis[1].count; y++)
        for (int x = 0; x < axis[0].count; x++) {
          const int p[3] = {x, y, z};
          const TesiPatchInterval *interval[3];
          for (int d = 0; d < 3; d++) interval[d] = &axis[d].interval[p[d]];
          if (interval[0]->colour + 2 * interval[1]->colour + 4 * interval[2]->colour != colour) continue;
          TesiLocalPatch *to = &patch[count++];
          to->node = ((long long)interval[2]->first * space->axis[1].nodes + interval[1]->first) *
                         space->axis[0].nodes +
                     interval[0]->first;
          for (int d = 0; d < 3; d++) {
            to->m[d] = interval[d]->end - interval[d]->first;
            to->table[d] = first_table[d] + (d < space->dim ? table_of(&space->axis[d], &axis[d], p[d]) : 0);
          }
        }
  }
  local->first_of_colour[8] = count;
}

TesStatus tesi_patch_local_separable(const TesOperator *op, TesiPatchLocal *local) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiSurrogateAxis axis[3] = {{0}};
  TesiLocalPatch *patch = NULL;
  Tables tables = {0};
  int64_t first[3] = {0}, count = 0, patches = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(tesi_surrogate_axis_create(ctx, &op->space->axis[d], &axis[d]));
    first[d] = d < op->space->dim ? count : 0;
    count += d < op->space->dim ? axis[d].count : 0;
    patches *= axis[d].count;
  }
  TES_TRY(make_tables(ctx, op, local, count, &tables));
  for (int d = 0; d < op->space->dim; d++) TES_TRY(fill_axis(op, d, &axis[d], first[d], &tables));
  TES_ALLOC(&patch, patches);
  list_patches(op, axis, first, local, patch);
  local->table_count = count;
  TES_TRY(tesi_upload(op->context, tables.values,
                      (size_t)(count * local->table_size) * tesi_precision_size(op->precision),
                      &local->tables));
  TES_TRY(tesi_upload(op->context, patch, (size_t)patches * sizeof *patch, &local->patches));
done:
  for (int d = 0; d < 3; d++) tesi_surrogate_axis_destroy(ctx, &axis[d]);
  tesi_free(ctx, &tables.values);
  tesi_free(ctx, &patch);
  return status;
}

/* ---- surrogates ---------------------------------------------------------------------------------------- */

/* Copies S and lambda of direction d from one lane of a group to a table. */
static void put_lane(const Tables *t, int64_t number, const TesiSurrogate *s, int m, int64_t at, int lane) {
  double S[N * N], lambda[N];
  for (int i = 0; i < m * m + m; i++) {
    const int64_t from = at + (int64_t)i * s->lanes + lane;
    const double value = tesi_number_get(t->precision, s->tables, from);
    *(i < m * m ? &S[i] : &lambda[i - m * m]) = value;
  }
  put_table(t, number, m, S, lambda);
}

/* Groups are already sorted by colour. */
static void convert_groups(const TesOperator *op, const TesiSurrogate *s, TesiPatchLocal *local,
                           const Tables *tables, TesiLocalPatch *patch) {
  const int dim = op->space->dim;
  int64_t count = 0;
  int colour = 0;
  for (int64_t g = 0; g < s->groups; g++) {
    const TesiPatchGroup *group = &s->group[g];
    while (colour <= group->colour) local->first_of_colour[colour++] = count;
    for (int lane = 0; lane < group->count; lane++, count++) {
      int64_t at = group->tables;
      patch[count].node = group->node[lane];
      for (int d = 0; d < dim; d++) {
        patch[count].m[d] = group->m[d];
        patch[count].table[d] = count * dim + d;
        put_lane(tables, count * dim + d, s, group->m[d], at, lane);
        at += (int64_t)(group->m[d] * group->m[d] + group->m[d]) * s->lanes;
      }
    }
  }
  while (colour <= 8) local->first_of_colour[colour++] = count;
}

TesStatus tesi_patch_local_surrogate(const TesOperator *op, const TesiSurrogate *surrogate,
                                     TesiPatchLocal *local) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiLocalPatch *patch = NULL;
  Tables tables = {0};
  int64_t patches = 0;
  for (int64_t g = 0; g < surrogate->groups; g++) patches += surrogate->group[g].count;
  local->table_count = patches * op->space->dim;
  TES_TRY(make_tables(ctx, op, local, local->table_count, &tables));
  TES_ALLOC(&patch, patches);
  convert_groups(op, surrogate, local, &tables, patch);
  TES_TRY(tesi_upload(op->context, tables.values,
                      (size_t)(local->table_count * local->table_size) * tesi_precision_size(op->precision),
                      &local->tables));
  TES_TRY(tesi_upload(op->context, patch, (size_t)patches * sizeof *patch, &local->patches));
done:
  tesi_free(ctx, &tables.values);
  tesi_free(ctx, &patch);
  return status;
}
