/* Coefficients of patches as products of functions of one variable.
 *
 * rank1: means of log a over planes, f_x(x) = exp(mean_yz log a - mean log a) and so on: exact if a is such a
 * product. A local matrix that is too small makes the sweep diverge. So every factor is increased in turn until 0.6
 * a <= f_x f_y f_z in all its planes. scaled: the same for a constant, max(mean a, 0.6 max a). */
#include <math.h>
#include "base/team.h"
#include "smoother/patch/surrogate/surrogate.h"

static const double safe = 0.6;

/* The Gauss points of one patch: weights of mean 1 in total, rows of a and log a along x. */
typedef struct Points {
  int n[3];
  double w[3][TESI_FACTOR];
  const double *a[TESI_FACTOR][TESI_FACTOR], *log_a[TESI_FACTOR][TESI_FACTOR]; /* [z][y] */
} Points;

static void fill_weights(const TesiSurrogateData *data, int d, const TesiSurrogateAxis *patches, int p,
                         Points *points) {
  const TesiAxis *axis = &data->space->axis[d];
  const int first = tesi_interval_cell(axis, &patches->interval[p]);
  const int end = axis->degree ? tesi_min((patches->interval[p].end - 1) / axis->degree + 1, axis->cells) : 1;
  double length = 0;
  points->n[d] = 0;
  for (int c = first; c < end; c++) length += axis->h[c];
  if (axis->degree == 0) points->w[d][points->n[d]++] = 1;
  for (int c = first; axis->degree && c < end; c++)
    for (int q = 0; q < data->points; q++)
      points->w[d][points->n[d]++] = data->weights[q] * axis->h[c] / length;
}

static void locate(const TesiSurrogateData *data, const TesiSurrogateAxis axis[3], const int p[3],
                   const TesiLayer layer[2], Points *points) {
  const TesiAxis *axes = data->space->axis;
  const int n = data->points, planes = data->space->dim > 2 ? n : 1;
  int64_t cell[3];
  for (int d = 0; d < 3; d++) {
    fill_weights(data, d, &axis[d], p[d], points);
    cell[d] = tesi_interval_cell(&axes[d], &axis[d].interval[p[d]]);
  }
  for (int z = 0; z < points->n[2]; z++)
    for (int y = 0; y < points->n[1]; y++) {
      const int64_t row = ((cell[1] + y / n) * planes + z % planes) * n + y % n;
      const int64_t offset = row * axes[0].cells * n + cell[0] * n;
      points->a[z][y] = layer[z / planes].a + offset;
      points->log_a[z][y] = layer[z / planes].log_a + offset;
    }
}

static double constant_factor(const Points *points, bool lift) {
  double mean = 0, largest = 0;
  for (int z = 0; z < points->n[2]; z++)
    for (int y = 0; y < points->n[1]; y++) {
      double sum = 0;
      for (int x = 0; x < points->n[0]; x++) {
        const double a = points->a[z][y][x];
        sum += points->w[0][x] * a;
        largest = fmax(largest, a);
      }
      mean += points->w[2][z] * points->w[1][y] * sum;
    }
  return lift ? fmax(mean, safe * largest) : mean;
}

/* f_x takes the mean, f_y and f_z have mean log 0. */
static void fit_logarithms(const Points *points, double f[3][TESI_FACTOR]) {
  const int *n = points->n;
  double mean = 0;
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < n[d]; i++) f[d][i] = 0;
  for (int z = 0; z < n[2]; z++)
    for (int y = 0; y < n[1]; y++) {
      const double wz = points->w[2][z], wy = points->w[1][y], *row = points->log_a[z][y];
      double sum = 0;
      for (int x = 0; x < n[0]; x++) {
        sum += points->w[0][x] * row[x];
        f[0][x] += wz * wy * row[x];
      }
      f[1][y] += wz * sum;
      f[2][z] += wy * sum;
      mean += wz * wy * sum;
    }
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < n[d]; i++) f[d][i] = exp(f[d][i] - (d ? mean : 0));
}

/* f_d[i] <- f_d[i] max(1, 0.6 max over plane i of a / (f_x f_y f_z)), d = x, y, z in turn. */
static void lift_factors(const Points *points, double f[3][TESI_FACTOR]) {
  const int *n = points->n;
  for (int d = 0; d < 3; d++) {
    double largest[TESI_FACTOR] = {0}, inverse[TESI_FACTOR];
    for (int x = 0; x < n[0]; x++) inverse[x] = 1 / f[0][x];
    for (int z = 0; z < n[2]; z++)
      for (int y = 0; y < n[1]; y++) {
        const double *row = points->a[z][y], rest = 1 / (f[1][y] * f[2][z]);
        double of_row = 0;
        for (int x = 0; x < n[0]; x++) {
          const double ratio = row[x] * inverse[x] * rest;
          if (d == 0) largest[x] = ratio > largest[x] ? ratio : largest[x];
          of_row = ratio > of_row ? ratio : of_row;
        }
        if (d == 1) largest[y] = fmax(largest[y], of_row);
        if (d == 2) largest[z] = fmax(largest[z], of_row);
      }
    for (int i = 0; i < n[d]; i++) f[d][i] *= fmax(1, safe * largest[i]);
  }
}

static void fit_patch(const TesiSurrogateData *data, const TesiSurrogateAxis axis[3], TesLocalSolver local,
                      const int p[3], const TesiLayer layer[2], double f[3][TESI_FACTOR]) {
  Points points;
  locate(data, axis, p, layer, &points);
  if (local == TES_LOCAL_RANK1) {
    fit_logarithms(&points, f);
    lift_factors(&points, f);
  } else {
    const double factor = constant_factor(&points, local == TES_LOCAL_SCALED);
    for (int d = 0; d < 3; d++)
      for (int i = 0; i < points.n[d]; i++) f[d][i] = d ? 1 : factor;
  }
}

typedef struct Fit {
  const TesiSurrogateData *data;
  const TesiSurrogateAxis *axis;
  TesLocalSolver local;
  int pz;
  const TesiLayer *layer;
  double *factors;
} Fit;

static void fit_rows(const void *data, TesiSpan span) {
  const Fit *f = data;
  for (int64_t py = span.first; py < span.end; py++)
    for (int px = 0; px < f->axis[0].count; px++)
      fit_patch(f->data, f->axis, f->local, (const int[3]){px, (int)py, f->pz}, f->layer,
                (double(*)[TESI_FACTOR])f->factors + 3 * (py * f->axis[0].count + px));
}

void tesi_fit_factors(const TesiSurrogateData *data, const TesiSurrogateAxis axis[3], TesLocalSolver local,
                      int pz, const TesiLayer layer[2], int threads, double *factors) {
  tesi_team_share(threads, axis[1].count, 1, fit_rows, &(Fit){data, axis, local, pz, layer, factors});
}

/* Coordinates of the Gauss points of direction d, [cells * points]. */
static void gauss_coordinates(const TesiSurrogateData *data, int d, double *x) {
  const TesiAxis *axis = &data->space->axis[d];
  double points[TESI_MAX_POINTS], weights[TESI_MAX_POINTS];
  tesi_gauss(data->points, points, weights);
  for (int c = 0; c < axis->cells; c++)
    for (int q = 0; q < data->points; q++)
      x[c * data->points + q] = axis->x[c * axis->degree] + axis->h[c] * points[q];
}

/* One line of points along x: coordinates y, z; work [2][length]. */
static TesStatus evaluate_line(const TesOperator *op, int64_t length, const double *x, double y, double z,
                               double *work, double *a, double *log_a) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  for (int64_t i = 0; i < length; i++) work[i] = y, work[length + i] = z, a[i] = 1;
  if (tesi_diffusion_of(op)->a_function)
    TES_TRY(tes_function_evaluate(tesi_diffusion_of(op)->a_function, length, x, work, work + length, 0, a));
  for (int64_t i = 0; i < length; i++) {
    TES_CHECK(a[i] > 0, "%sthe diffusion coefficient a is %g at (%.6g, %.6g, %.6g), expected > 0",
              tesi_function_where(tesi_diffusion_of(op)->a_function), a[i], x[i], y, z);
    log_a[i] = log(a[i]);
  }
done:
  return status;
}

TesStatus tesi_evaluate_layer(const TesOperator *op, const TesiSurrogateData *data, int cz, TesiLayer *layer) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = data->space->axis;
  const int n = data->points, planes = data->space->dim > 2 ? n : 1;
  const int64_t length = (int64_t)axis[0].cells * n;
  double *x = NULL, *y = NULL, *z = NULL, *work = NULL;
  TES_ALLOC(&x, length);
  TES_ALLOC(&y, axis[1].cells * n);
  TES_ALLOC(&z, axis[2].cells * n);
  TES_ALLOC(&work, 2 * length);
  gauss_coordinates(data, 0, x);
  gauss_coordinates(data, 1, y);
  if (planes > 1) gauss_coordinates(data, 2, z);
  for (int cy = 0; cy < axis[1].cells; cy++)
    for (int qz = 0; qz < planes; qz++)
      for (int qy = 0; qy < n; qy++) {
        const int64_t row = (((int64_t)cy * planes + qz) * n + qy) * length;
        TES_TRY(evaluate_line(op, length, x, y[cy * n + qy], z[cz * n + qz], work, layer->a + row,
                              layer->log_a + row));
      }
done:
  tesi_free(ctx, &x);
  tesi_free(ctx, &y);
  tesi_free(ctx, &z);
  tesi_free(ctx, &work);
  return status;
}
