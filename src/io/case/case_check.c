/* Checks that need more than one key. They come after the walk found every single value valid. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"

static const char *const face_paths[6] = {"boundary.left", "boundary.right", "boundary.bottom",
                                          "boundary.top",  "boundary.back",  "boundary.front"};

static const TesiYaml *given(const TesiCaseReader *r, const char *path) {
  return r->node[tesi_case_row(path)];
}

static TesStatus check_dim(TesiCaseReader *r) {
  TesCaseBox *box = &r->result->box;
  const int row = tesi_case_row("mesh.box.cells"), entries = r->entries[row];
  if (!box->dim && !entries)
    return tesi_case_error(r, row, r->node[row], "give one number a direction, or dim as well");
  if (!box->dim) box->dim = entries;
  return TES_OK;
}

/* Lists must have an entry a direction. */
static TesStatus check_entries(TesiCaseReader *r, const char *path) {
  const int row = tesi_case_row(path), entries = r->entries[row], dim = r->result->box.dim;
  if (!entries || entries == dim) return TES_OK;
  return tesi_case_error(r, row, r->node[row], "expected %d entries, as dim is %d, got %d", dim, dim,
                         entries);
}

static TesStatus check_corners(TesiCaseReader *r, int d) {
  const TesCaseBox *box = &r->result->box;
  const TesiYaml *upper = given(r, "mesh.box.upper"), *lower = given(r, "mesh.box.lower");
  const int row = tesi_case_row(upper || !lower ? "mesh.box.upper" : "mesh.box.lower");
  if (tesi_case_has_list(r, d)) return TES_OK;
  if (!(box->lower[d] < box->upper[d]))
    return tesi_case_error(r, row, r->node[row],
                           "the box is reversed or empty in %c: lower is %.10g, upper %.10g", "xyz"[d],
                           box -> lower[d], box -> upper[d]);
  const double width = (box->upper[d] - box->lower[d]) / box->cells[d];
  if (!isfinite(width) || !(box->lower[d] + width > box->lower[d]) ||
      !(box->upper[d] - width < box->upper[d]))
    return tesi_case_error(r, row, r->node[row],
                           "cells of width %.3g cannot be told apart in %c from %.10g to %.10g", width,
                           "xyz"[d], box -> lower[d], box -> upper[d]);
  return TES_OK;
}

/* Vertices and unknowns are counted in 64 bits. */
static TesStatus check_size(TesiCaseReader *r) {
  const TesCaseBox *box = &r->result->box;
  const int row = tesi_case_row("mesh.box.cells");
  double dofs = 1;
  for (int d = 0; d < box->dim; d++) dofs *= (double)box->cells[d] * r->result->degree + 1;
  if (dofs > 1e15)
    return tesi_case_error(r, row, r->node[row], "makes %.3g unknowns; at most 1e15 can be numbered", dofs);
  return TES_OK;
}

/* Three cells a direction: with fewer, two faces of a cell may have the same nodes. */
static TesStatus check_periodic(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesCaseBox *box = &r->result->box;
  const int row = tesi_case_row("mesh.box.periodic");
  for (int d = 0; d < 3; d++) {
    if (!(box->periodic >> d & 1)) continue;
    if (d >= box->dim)
      TES_TRY(tesi_case_error(r, row, r->node[row], "a box of dim 2 has no direction z"));
    else if (ldexp(box->cells[d], r->result->forest.refine) < 3)
      TES_TRY(tesi_case_error(r, row, r->node[row],
                              "a periodic direction needs 3 cells at least, refinement counted"));
    for (int f = 2 * d; f < 2 * d + 2; f++)
      if (given(r, face_paths[f]))
        TES_TRY(tesi_case_error(r, tesi_case_row(face_paths[f]), given(r, face_paths[f]),
                                "the box is periodic in %c: there is no such face", "xyz"[d]));
  }
done:
  return status;
}

static TesStatus check_box(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCaseBox *box = &r->result->box;
  static const char *const lists[3] = {"mesh.box.cells", "mesh.box.lower", "mesh.box.upper"};
  TES_TRY(check_dim(r));
  for (int i = 0; i < 3 && !r->error_count; i++) TES_TRY(check_entries(r, lists[i]));
  if (r->error_count) goto done;
  if (box->dim == 2) box->cells[2] = 1, box->lower[2] = box->upper[2] = 0;
  TES_TRY(check_size(r));
  for (int d = 0; d < 3; d++) {
    if (d < box->dim) TES_TRY(check_corners(r, d));
    if (!r->error_count) TES_TRY(tesi_case_spacing(r, d));
  }
  TES_TRY(check_periodic(r));
done:
  return status;
}

/* `all` is Dirichlet 0 where it is not given. */
static TesStatus complete_all(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCaseFace *all = &r->result->boundary_all;
  r->result->all_given = all->condition != TES_CASE_NO_CONDITION;
  if (r->result->all_given) goto done;
  TES_TRY(tes_function_create_constant(ctx, 0, &all->value));
  all->condition = TES_CASE_DIRICHLET;
done:
  return status;
}

static TesStatus check_faces(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesCaseFace *all = &r->result->boundary_all;
  TES_TRY(complete_all(r));
  for (int i = 0; i < 6; i++) {
    TesCaseFace *face = &r->result->boundary[i];
    const TesiYaml *node = given(r, face_paths[i]);
    if (i / 2 >= r->result->box.dim) {
      if (node)
        TES_TRY(tesi_case_error(r, tesi_case_row(face_paths[i]), node, "a box of dim 2 has no such face"));
      continue;
    }
    if (face->condition != TES_CASE_NO_CONDITION) continue;
    face->condition = all->condition;
    face->value = tesi_function_retain(all->value);
    face->alpha = tesi_function_retain(all->alpha);
  }
done:
  return status;
}

static TesStatus warn(TesiCaseReader *r, const char *path, const char *text) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = r->result;
  char line[400], where[256];
  if (c->warning_count == (int)(sizeof c->warnings / sizeof *c->warnings)) goto done;
  tesi_case_place(r, given(r, path), where);
  snprintf(line, sizeof line, "%s: %s: %s", where, path, text);
  c->warnings[c->warning_count] = tesi_strdup(ctx, line);
  if (!c->warnings[c->warning_count]) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a warning");
  c->warning_count++;
done:
  return status;
}

static TesStatus check_solver(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesCase *c = r->result;
  const TesCaseSmoother s = c->smoother;
  const int row = tesi_case_row("solver.post_smoothing");
  const bool patch =
      s == TES_CASE_SMOOTHER_AUTO || s == TES_CASE_SMOOTHER_PATCH || s == TES_CASE_SMOOTHER_PATCH_ADDITIVE;
  if (c->pre_smoothing == 0 && c->post_smoothing == 0)
    TES_TRY(tesi_case_error(r, row, r->node[row],
                            "pre_smoothing and post_smoothing are both 0: nothing would smooth"));
  if (c->forest.used) {
    if (c->local_solver != TES_CASE_LOCAL_AUTO)
      TES_TRY(warn(r, "solver.local_solver", "has no effect on meshes of trees"));
    if (c->order != TES_CASE_ORDER_AUTO) TES_TRY(warn(r, "solver.order", "has no effect on meshes of trees"));
    goto done;
  }
  if (!patch && c->local_solver != TES_CASE_LOCAL_AUTO)
    TES_TRY(warn(r, "solver.local_solver", "has no effect with a point smoother"));
  if (s != TES_CASE_SMOOTHER_AUTO && s != TES_CASE_SMOOTHER_PATCH && s != TES_CASE_SMOOTHER_GAUSS_SEIDEL &&
      c->order != TES_CASE_ORDER_AUTO)
    TES_TRY(warn(r, "solver.order", "has no effect with a smoother that is not multiplicative"));
done:
  return status;
}

TesStatus tesi_case_check(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_TRY(tesi_case_check_forest(r));
  if (r->error_count) goto done;
  if (given(r, "mesh.box")) TES_TRY(check_box(r));
  if (given(r, "mesh.box"))
    TES_TRY(check_faces(r));
  else
    TES_TRY(complete_all(r));
  TES_TRY(check_solver(r));
done:
  return status;
}
