/* Checks output requests on the mesh: places by name, points and lines in its cells. */
#include <math.h>
#include <string.h>
#include "geometry/locate.h"
#include "io/case/case_reader.h"
#include "io/utf8.h"
#include "base/nearest.h"
#include "mesh/inner_faces.h"
#include "mesh/mesh.h"

/* A boundary, else a material. */
static bool find_place(const TesMesh *mesh, const char *name, TesValue *value) {
  for (int i = 0; i < tes_mesh_boundaries(mesh); i++)
    if (!strcmp(tes_mesh_boundary_name(mesh, i), name)) {
      value->where = TES_ON_BOUNDARY, value->number = i;
      return true;
    }
  for (int i = 0; i < tes_mesh_materials(mesh); i++)
    if (!strcmp(tes_mesh_material_name(mesh, i), name)) {
      value->where = TES_ON_MATERIAL, value->number = i;
      return true;
    }
  return false;
}

/* "the mesh has no boundary or material called ..". */
static TesStatus tell_places(const TesMesh *mesh, const char *name, char *text, size_t size) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int boundaries = tes_mesh_boundaries(mesh), materials = tes_mesh_materials(mesh);
  const char **known = NULL;
  char line[200];
  tesi_text_line(name, line, sizeof line);
  TES_ALLOC(&known, boundaries + materials + 1);
  known[0] = "domain";
  for (int i = 0; i < boundaries; i++) known[1 + i] = tes_mesh_boundary_name(mesh, i);
  for (int i = 0; i < materials; i++) known[1 + boundaries + i] = tes_mesh_material_name(mesh, i);
  tesi_mesh_lacks("boundary or material", line, boundaries + materials + 1, known, text, size);
done:
  tesi_free(ctx, &known);
  return status;
}

TesStatus tes_case_value(const TesCase *input, int i, const TesMesh *mesh, TesValue *value) {
  TesContext *ctx = input->context;
  TesStatus status = TES_OK;
  char text[800];
  TES_CHECK(i >= 0 && i < input->values, "value %d, the case has %d", i, input->values);
  const TesCaseValue *v = &input->value[i];
  TES_CHECK(!v->derived, "%s: output.values.%s is made of other values: tes_case_derive()", v->where, v->name);
  *value = v->value;
  if (!v->place) return TES_OK;
  const bool found = find_place(mesh, v->place, value);
  TES_CHECK(!found || value->where != TES_ON_BOUNDARY || value->kind == TES_VALUE_FORCE ||
                !tesi_mesh_is_group(mesh, value->number) || tesi_mesh_is_inner(mesh, value->number),
            "%s: output.values.%s: %.60s is a group of curves or points, where only a force is taken",
            v->where, v->name, v->place);
  if (found && (value->kind != TES_VALUE_FORCE || value->where == TES_ON_BOUNDARY)) return TES_OK;
  TES_TRY(tell_places(mesh, v->place, text, sizeof text));
  TES_FAIL(TES_INVALID_INPUT, "%s: output.values.%s: %s", v->where, v->name, text);
done:
  return status;
}

/* *inside <- whether a point lies in the mesh, or is moved into it. */
static TesStatus check_point(const TesMesh *mesh, const double *x, bool *inside) {
  TesContext *ctx = mesh->context;
  TesiHit *hit = NULL;
  int64_t count;
  const TesStatus status = tesi_mesh_find(mesh, 1, x, 0.01, &hit, &count);
  *inside = tesi_reduce_any(ctx, count > 0);
  tesi_free(ctx, &hit);
  return status;
}

/* Some points of the line must lie in the mesh. */
static TesStatus check_line(const TesMesh *mesh, const TesCaseLine *line) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int dim = mesh->dim;
  TesiHit *hit = NULL;
  int64_t hits;
  double *x = NULL;
  TES_ALLOC(&x, (int64_t)line->count * dim);
  for (int i = 0; i < line->count * dim; i++) {
    const double t = (double)(i / dim) / (line->count - 1);
    x[i] = (1 - t) * line->from[i % dim] + t * line->to[i % dim];
  }
  TES_TRY(tesi_mesh_find(mesh, line->count, x, 0.01, &hit, &hits));
  TES_CHECK(tesi_reduce_any(ctx, hits > 0),
            "%s: output.lines: no point of the line to %.200s lies in the mesh", line->where, line->file);
done:
  tesi_free(ctx, &x);
  tesi_free(ctx, &hit);
  return status;
}

/* *crossed <- whether the plane of a slice may meet a cell: the box of the corners of each cell, longer by a half. */
static TesStatus find_slice(const TesMesh *mesh, int direction, double at, bool *crossed) {
  static const double corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  *crossed = false;
  for (int64_t cell = 0; cell < mesh->cells && !*crossed; cell++) {
    double x[8][3], low = INFINITY, high = -INFINITY;
    TES_TRY(tesi_mesh_points(mesh, cell, 8, corners[0], x[0], NULL));
    for (int i = 0; i < 8; i++) low = fmin(low, x[i][direction]), high = fmax(high, x[i][direction]);
    *crossed = fabs(at - (low + high) / 2) <= high - low;
  }
done:
  status = tesi_agree(ctx, status);
  *crossed = tesi_reduce_any(ctx, *crossed);
  return status;
}

static TesStatus check_picture(const TesCase *input, const TesMesh *mesh) {
  TesContext *ctx = input->context;
  TesStatus status = TES_OK;
  const TesCasePicture *picture = &input->picture;
  bool crossed = true;
  TES_CHECK(!picture->slice || mesh->dim == 3,
            "output.png: slice: the mesh has two dimensions, and is shown as it is");
  if (picture->slice) TES_TRY(find_slice(mesh, picture->slice - 1, picture->at, &crossed));
  TES_CHECK(crossed, "output.png: the slice %c = %g misses the mesh", "xyz"[tesi_max(picture->slice, 1) - 1],
            picture -> at);
done:
  return status;
}

TesStatus tes_case_check_outputs(const TesCase *input, const TesMesh *mesh) {
  TesContext *ctx = input->context;
  TesStatus status = TES_OK;
  bool inside;
  TES_TRY(check_picture(input, mesh));
  for (int i = 0; i < input->points; i++) {
    const double *x = input->point[i].x;
    TES_TRY(check_point(mesh, x, &inside));
    TES_CHECK(inside, "%s: output.points: the point (%g, %g, %g) lies in no cell", input->point[i].where,
              x[0], x[1], mesh->dim == 3 ? x[2] : 0);
  }
  for (int i = 0; i < input->lines; i++) TES_TRY(check_line(mesh, &input->line[i]));
  if (input->adaptive && input->adapt.estimator == TES_ESTIMATE_DWR &&
      input->adapt.goal.kind == TES_GOAL_POINT) {
    const double *x = input->adapt.goal.point;
    TES_TRY(check_point(mesh, x, &inside));
    TES_CHECK(inside, "adapt.goal.point: the point (%g, %g, %g) lies in no cell", x[0], x[1],
              mesh->dim == 3 ? x[2] : 0);
  }
  for (int i = 0; i < input->values; i++) {
    TesValue value;
    if (input->value[i].derived) continue;
    TES_TRY(tes_case_value(input, i, mesh, &value));
    if (value.kind != TES_VALUE_POINT) continue;
    TES_TRY(check_point(mesh, value.point, &inside));
    TES_CHECK(inside, "%s: output.values.%s: the point (%g, %g, %g) lies in no cell", input->value[i].where,
              input->value[i].name, value.point[0], value.point[1], mesh->dim == 3 ? value.point[2] : 0);
  }
done:
  return status;
}
