/* The solution along a line, as CSV. */
#include <math.h>
#include <string.h>
#include "functional/functional.h"
#include "io/file.h"
#include "io/number.h"
#include "mesh/mesh.h"
#include "problem/problem.h"
#include "tessera/output.h"

/* x[count][dim]; the ends are exact. */
static void place_points(const TesLineDesc *desc, int dim, int count, double *x) {
  for (int i = 0; i < count * dim; i++) {
    const double t = (double)(i / dim) / (count - 1);
    x[i] = (1 - t) * desc->from[i % dim] + t * desc->to[i % dim];
  }
}

static TesStatus put_number(TesiFile *file, const char *before, double value) {
  char text[40] = "";
  if (isfinite(value)) tesi_number_write(text, sizeof text, value);
  return tesi_file_printf(file, "%s%s", before, text);
}

static TesStatus write_rows(const TesProblem *p, TesiFile *file, int count, const double *x, int fields,
                            const char *const *name, const double *values) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int dim = p->mesh->dim;
  TES_TRY(tesi_file_printf(file, "s,x,y%s", dim == 3 ? ",z" : ""));
  for (int f = 0; f < fields; f++) TES_TRY(tesi_file_printf(file, ",%s", name[f]));
  for (int i = 0; i < count; i++) {
    double s = 0;
    for (int d = 0; d < dim; d++) s = hypot(s, x[i * dim + d] - x[d]);
    TES_TRY(put_number(file, "\n", s));
    for (int d = 0; d < dim; d++) TES_TRY(put_number(file, ",", x[i * dim + d]));
    for (int f = 0; f < fields; f++) TES_TRY(put_number(file, ",", values[i * fields + f]));
  }
  TES_TRY(tesi_file_printf(file, "\n"));
done:
  return status;
}

TesStatus tes_line_write(const TesProblem *problem, const TesLineDesc *desc, const char *path, int *missed) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const int dim = problem->mesh->dim, count = desc->count ? desc->count : 101;
  const TesProblemInfo info = tes_problem_info(problem);
  TesiField field[TESI_FIELDS];
  const int fields = info.fields, known = tesi_problem_fields(problem, field);
  double *x = NULL, *values = NULL, *moved = NULL;
  int outside = 0;
  TesiFile *file = NULL;
  TES_CHECK(count >= 2 && count <= 100000000, "%d points on a line, expected 2 or more", count);
  TES_ALLOC(&x, (int64_t)count * dim);
  TES_ALLOC(&values, (int64_t)count * fields);
  TES_ALLOC(&moved, count);
  place_points(desc, dim, count, x);
  TES_TRY(tesi_fields_at(problem->mesh, known, field, count, x, fields, info.field, values, moved, true));
  for (int i = 0; i < count; i++) outside += isnan(moved[i]);
  TES_CHECK(outside < count, "no point of the line to %s lies in the mesh", path);
  TES_TRY(tesi_file_create(ctx, path, &file));
  TES_TRY(write_rows(problem, file, count, x, fields, info.field, values));
  TES_TRY(tesi_file_commit(&file));
  if (missed) *missed = outside;
done:
  tesi_file_discard(&file);
  tesi_free(ctx, &x);
  tesi_free(ctx, &values);
  tesi_free(ctx, &moved);
  return status;
}
