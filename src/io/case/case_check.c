/* Checks that need more than one key. They come after the walk, which has checked each value. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "io/case/case_reader.h"
#include "mesh/mesh.h"

static const char *const face_paths[6] = {"boundary.left", "boundary.right", "boundary.bottom",
                                          "boundary.top",  "boundary.back",  "boundary.front"};

static TesStatus check_corners(TesiCaseReader *r, int d) {
  const TesMeshDesc *box = &r->draft.c.mesh;
  const TesiYaml *upper = tesi_case_given(r, "mesh.box.upper"), *lower = tesi_case_given(r, "mesh.box.lower");
  const int row = tesi_case_row(upper || !lower ? "mesh.box.upper" : "mesh.box.lower");
  if (tesi_case_has_list(r, d)) return TES_OK;
  if (!(box->lower[d] < box->upper[d]))
    return tesi_case_error(r, row, r->node[row],
                           "the box is reversed or empty in %c: lower is %.10g, upper %.10g", "xyz"[d],
                           box -> lower[d], box -> upper[d]);
  const double width = (box->upper[d] - box->lower[d]) / box->cells[d];
  if (!tesi_mesh_is_width(width) || !(box->lower[d] + width > box->lower[d]) ||
      !(box->upper[d] - width < box->upper[d]))
    return tesi_case_error(r, row, r->node[row],
                           "cells are %.3g wide in %c, from %.16g to %.16g: expected " TESI_MESH_WIDTHS
                           ", and more than the rounding of these numbers",
                           width, "xyz"[d], box -> lower[d], box -> upper[d]);
  return TES_OK;
}

/* Vertices and unknowns are counted in 64 bits. */
static TesStatus check_size(TesiCaseReader *r) {
  const TesMeshDesc *box = &r->draft.c.mesh;
  const int row = tesi_case_row("mesh.box.cells");
  double dofs = 1;
  for (int d = 0; d < box->dim; d++)
    dofs *= ldexp(box->cells[d], box->refine) * r->draft.c.problem.degree + 1;
  if (dofs > 1e15)
    return tesi_case_error(r, row, r->node[row], "makes %.3g unknowns; at most 1e15 can be numbered", dofs);
  return TES_OK;
}

/* At least three cells per direction: with fewer, two faces of a cell may have the same nodes. */
static TesStatus check_periodic(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesMeshDesc *box = &r->draft.c.mesh;
  const int row = tesi_case_row("mesh.box.periodic");
  for (int d = 0; d < 3; d++) {
    if (!(r->draft.periodic >> d & 1)) continue;
    if (d >= box->dim)
      TES_TRY(tesi_case_error(r, row, r->node[row], "a box of dim 2 has no direction z"));
    else if (ldexp(box->cells[d], box->refine) < 3)
      TES_TRY(tesi_case_error(r, row, r->node[row],
                              "%c has %g cells, refinement counted: a periodic direction needs 3 at least",
                              "xyz"[d], ldexp(box->cells[d], box->refine)));
    for (int f = 2 * d; f < 2 * d + 2; f++)
      if (tesi_case_given(r, face_paths[f]))
        TES_TRY(
            tesi_case_refuse(r, face_paths[f], "the box is periodic in %c: there is no such face", "xyz"[d]));
  }
done:
  return status;
}

static TesStatus check_box(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesMeshDesc *box = &r->draft.c.mesh;
  if (box->dim == 2) box->cells[2] = 1, box->lower[2] = box->upper[2] = 0;
  TES_TRY(check_size(r));
  for (int d = 0; d < 3; d++) {
    if (d < box->dim) TES_TRY(check_corners(r, d));
    if (!r->error_count) TES_TRY(tesi_case_spacing(r, d));
  }
  TES_TRY(check_periodic(r));
  if (!r->error_count && tesi_case_maps_spacing(r)) TES_TRY(tesi_case_map_spacing(r));
done:
  return status;
}

/* The condition of all other boundaries comes last; it is Dirichlet 0 by default. If it is given, it also holds on
 * faces without a name. */
static TesStatus add_all(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseFace *all = &r->draft.all;
  r->draft.c.mesh.rest = all->condition ? "rest" : NULL;
  if (!all->condition && !r->support->vector) TES_TRY(tes_function_create_constant(ctx, 0, &all->g[0]));
  if (!all->condition) all->condition = TESI_NAMED_DIRICHLET;
  TES_TRY(tesi_case_add_boundary(r, NULL, NULL, all));
done:
  return status;
}

static TesStatus check_faces(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  for (int i = 0; i < 6; i++) {
    const TesiYaml *node = tesi_case_given(r, face_paths[i]);
    char where[256];
    if (i / 2 >= tesi_case_dim(r) && node)
      TES_TRY(tesi_case_error(r, tesi_case_row(face_paths[i]), node, "a box of dim 2 has no such face"));
    if (i / 2 >= tesi_case_dim(r) || !r->draft.face[i].condition) continue;
    tesi_case_place(r, node, where);
    TES_TRY(tesi_case_add_boundary(r, face_paths[i] + strlen("boundary."), where, &r->draft.face[i]));
  }
done:
  return status;
}

/* As few trees as possible, each refined: a multigrid coarsens no further than trees. Periodic directions keep two. */
static void make_trees(TesMeshDesc *mesh) {
  bool even = true;
  while (even && mesh->refine < 18) {
    for (int d = 0; d < mesh->dim; d++)
      even = even && mesh->cells[d] % 2 == 0 && (!mesh->periodic[d] || mesh->cells[d] >= 4);
    for (int d = 0; even && d < mesh->dim; d++) mesh->cells[d] /= 2;
    mesh->refine += even;
  }
}

static TesStatus warn(TesiCaseReader *r, const char *path, const char *text) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  char line[400], where[256];
  if (c->warning_count == (int)(sizeof c->warnings / sizeof *c->warnings)) goto done;
  tesi_case_place(r, tesi_case_given(r, path), where);
  snprintf(line, sizeof line, "%s: %s: %s", where, path, text);
  TES_TRY(tesi_copy_text(ctx, line, &c->warnings[c->warning_count]));
  c->warning_count++;
done:
  return status;
}

/* Refuses keys that do not suit a deformed mesh. */
static TesStatus check_map(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int row = tesi_case_row("mesh.map"), checkpoint = tesi_case_row("output.checkpoint");
  const bool graded = tesi_case_maps_spacing(r);
  if (!r->node[row] && !graded) return TES_OK;
  for (int d = 0; d < 3; d++)
    if (tesi_function_timed(r->draft.map[d]))
      TES_TRY(tesi_case_error(r, row, r->node[row], "the mesh does not move: t is no name here"));
  if (r->draft.periodic) TES_TRY(tesi_case_error(r, row, r->node[row], "a periodic box is not deformed"));
  if (r->node[checkpoint])
    TES_TRY(tesi_case_error(r, checkpoint, r->node[checkpoint], "does not hold the map of a deformed mesh (%s)",
                            graded ? "mesh.box.spacing, which is one on several ranks" : "mesh.map"));
done:
  return status;
}

static TesStatus refuse_degree(TesiCaseReader *r) {
  const int row = tesi_case_row("solver.smoother_degree");
  return tesi_case_error(r, row, r->node[row],
                         "is for the polynomials of smoother: chebyshev, cell_patch or line_patch");
}

static TesStatus check_solver(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesCase *c = &r->draft.c;
  const TesSolveOptions *o = &c->problem.solver;
  const TesSmootherKind s = o->smoother;
  const int row = tesi_case_row("solver.post_smoothing");
  const bool patch = s == TES_SMOOTHER_AUTO || s == TES_SMOOTHER_PATCH || s == TES_SMOOTHER_PATCH_ADDITIVE;
  if (r->draft.pre == 0 && r->draft.post == 0)
    TES_TRY(tesi_case_error(r, row, r->node[row],
                            "pre_smoothing and post_smoothing are both 0: nothing would smooth"));
  if (o->smoother_degree && s != TES_SMOOTHER_AUTO && s != TES_SMOOTHER_CHEBYSHEV &&
      s != TES_SMOOTHER_CELL_PATCH && s != TES_SMOOTHER_LINE_PATCH)
    TES_TRY(refuse_degree(r));
  if (o->precision == TES_SOLVE_SINGLE && o->tolerance < 1e-6)
    TES_TRY(warn(r, "solver.precision", "single raises solver.tolerance to 1e-6: take mixed to go below"));
  if (c->mesh.kind == TES_MESH_FOREST) {
    if (o->local != TES_LOCAL_AUTO)
      TES_TRY(warn(r, "solver.local_solver", "has no effect on meshes of trees"));
    if (o->order != TES_ORDER_AUTO) TES_TRY(warn(r, "solver.order", "has no effect on meshes of trees"));
    goto done;
  }
  if (!patch && o->local != TES_LOCAL_AUTO)
    TES_TRY(warn(r, "solver.local_solver", "has no effect with a point smoother"));
  if (s != TES_SMOOTHER_AUTO && s != TES_SMOOTHER_PATCH && s != TES_SMOOTHER_GAUSS_SEIDEL &&
      o->order != TES_ORDER_AUTO)
    TES_TRY(warn(r, "solver.order", "has no effect with a smoother that is not multiplicative"));
done:
  return status;
}

static TesStatus check_expansion(TesiCaseReader *r) {
  const TesProblemDesc *p = &r->draft.c.problem;
  bool warm = tesi_case_given(r, "data.temperature");
  for (int i = 0; i < p->materials; i++) warm = warm || p->material[i].data.temperature;
  return !warm && tesi_case_given(r, "data.expansion")
             ? warn(r, "data.expansion", "has no effect without data.temperature")
             : TES_OK;
}

/* The constants that the case gives instead of lambda and mu. */
static void tell_constants(const TesiCaseReader *r, TesiTold *told) {
  const TesiYaml *young = tesi_case_given(r, "data.young"), *poisson = tesi_case_given(r, "data.poisson");
  if (young && poisson)
    snprintf(told->constants, sizeof told->constants, "young = %.80s   poisson = %.80s", young->text,
             poisson->text);
  else if (!tesi_case_given(r, "data.lambda") && r->draft.c.problem.materials)
    snprintf(told->constants, sizeof told->constants, "of each material");
}

/* text <- with "3", "[0, 1]" or "{speed = 2}", as it was given. */
static void add_given(const TesiYaml *node, char *text, size_t size) {
  const bool map = node->kind == TESI_YAML_MAP;
  if (node->kind == TESI_YAML_SCALAR) {
    snprintf(text + strlen(text), size - strlen(text), "%.80s", node->text);
    return;
  }
  for (const TesiYaml *item = node->first; item; item = item->next) {
    snprintf(text + strlen(text), size - strlen(text), "%s%s%s", item == node->first ? map ? "{" : "[" : ", ",
             map ? item->key : "", map ? " = " : "");
    add_given(item, text, size);
  }
  snprintf(text + strlen(text), size - strlen(text), "%s", map ? "}" : "]");
}

/* The loads by name, a line each, and f and the density beside them. */
static void tell_loads(const TesiCaseReader *r, TesiTold *told) {
  static const char *const keys[] = {"data.density", "data.gravity", "data.rotation", "data.f"};
  if (!tesi_case_given(r, keys[1]) && !tesi_case_given(r, keys[2])) return;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const TesiYaml *node = tesi_case_given(r, keys[i]);
    const size_t at = strlen(told->loads);
    if (!node) continue;
    snprintf(told->loads + at, sizeof told->loads - at, "\n          %s = ", strchr(keys[i], '.') + 1);
    add_given(node, told->loads, sizeof told->loads);
  }
}

/* One line per material, as it was given. */
static void tell_materials(const TesiCaseReader *r, TesiTold *told) {
  const TesiYaml *all = tesi_case_given(r, "data.materials");
  for (const TesiYaml *material = all ? all->first : NULL; material; material = material->next) {
    tesi_told_add(told, "\n          %.60s:", material->key);
    for (const TesiYaml *key = material->first; key; key = key->next)
      tesi_told_add(told, "%s %s%s%.80s", key == material->first ? "" : "  ", key->key,
                    key->kind == TESI_YAML_SCALAR ? " = " : "",
                    key->kind == TESI_YAML_SCALAR ? key->text : "");
  }
}

/* To be called when the data are in their places. */
static TesStatus tell_problem(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  const TesiSupport *row = r->support;
  TesiTold *told = NULL;
  c->about = (TesCaseProblem){.flow = row->flow,
                              .vector = row->vector,
                              .balance = row->has & TESI_BIT(TESI_HAS_BALANCE),
                              .modes = row->modes,
                              .halved = row->halved,
                              .field = row->field};
  TES_NEW(&told);
  tell_constants(r, told);
  tell_loads(r, told);
  row->tell(&c->problem, c->mesh.dim, told);
  tell_materials(r, told);
  TES_TRY(tesi_copy_text(ctx, told->text, &c->about.text));
done:
  tesi_free(ctx, &told);
  return status;
}

TesStatus tesi_case_check(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesMeshDesc *mesh = &r->draft.c.mesh;
  TES_TRY(tesi_case_check_support(r));
  TES_TRY(tesi_case_check_time(r));
  if (r->error_count) goto done;
  TES_TRY(tesi_case_check_mesh(r));
  if (r->error_count) goto done;
  TES_TRY(tesi_case_read_names(r));
  if (r->error_count) goto done;
  TES_TRY(tesi_case_add_loads(r));
  if (tesi_case_given(r, "mesh.box")) TES_TRY(check_box(r));
  if (tesi_case_given(r, "mesh.box")) TES_TRY(check_faces(r));
  TES_TRY(check_map(r));
  TES_TRY(tesi_case_read_fields(r));
  TES_TRY(add_all(r));
  TES_TRY(check_solver(r));
  TES_TRY(check_expansion(r));
  TES_TRY(tesi_case_read_outputs(r));
  if (!r->error_count) TES_TRY(tesi_case_put_in_folder(&r->draft.c));
  for (int d = 0; d < 3; d++) mesh->periodic[d] = r->draft.periodic >> d & 1;
  if (!r->error_count && mesh->domain == TES_DOMAIN_BOX && mesh->kind == TES_MESH_FOREST) make_trees(mesh);
done:
  return status;
}

static void drop(TesiCaseFace *face) {
  for (int i = 0; i < 3; i++) tes_function_destroy(&face->g[i]);
  tes_function_destroy(&face->pressure);
  tes_function_destroy(&face->alpha);
}

/* In descriptions 0 means the default; in cases -1 does. 0 steps are -1 in descriptions. */
static int steps(int given) {
  return given < 0 ? 0 : given == 0 ? -1 : given;
}

TesStatus tesi_case_finish(TesiCaseReader *r, bool valid) {
  TesiCaseDraft *d = &r->draft;
  TesCase *c = &d->c;
  const int pressure = c->mesh.dim == 2 ? 2 : 3; /* after an error there may be a third velocity in 2D */
  c->problem.data = (TesData){.a = d->a,
                              .c = d->reaction,
                              .lambda = d->lambda,
                              .expansion = d->expansion,
                              .temperature = d->temperature,
                              .f = {d->f[0], d->f[1], d->f[2]}};
  tes_function_destroy(&d->young);
  tes_function_destroy(&d->poisson);
  for (int i = 0; i < 3; i++) tes_function_destroy(&d->gravity[i]);
  tes_function_destroy(&d->speed);
  for (int i = 0; i < 3; i++) c->problem.exact[i] = d->exact[i];
  for (int i = 0; i < 3; i++) c->problem.data.b[i] = d->b[i];
  c->problem.stabilization = (TesStreamline)d->stabilization;
  if (d->form <= TES_FLOW_SYMMETRIC) c->problem.flow_form = (TesFlowForm)d->form;
  if (d->form > TES_FLOW_SYMMETRIC + 1) c->problem.transport_form = TES_TRANSPORT_CONSERVATIVE;
  for (int i = 0; i < 3; i++) c->problem.initial[i] = d->initial[i];
  for (int i = 0; i < 3; i++) {
    const bool flow = r->support && r->support->flow; /* the velocity is its solution */
    if (flow) tes_function_destroy((TesFunction **)&c->problem.initial[i]);
    *(flow ? &c->problem.initial[i] : &c->problem.initial_velocity[i]) = d->initial_velocity[i];
  }
  for (int i = 0; i < 3; i++) {
    const bool mean =
        d->mean_velocity[i] && tes_function_constant(d->mean_velocity[i], &c->problem.mean_velocity[i]);
    if (mean) c->problem.mean_components |= 1u << i;
    tes_function_destroy(&d->mean_velocity[i]);
  }
  if (d->initial_pressure) tes_function_destroy((TesFunction **)&c->problem.initial[pressure]);
  if (d->initial_pressure) c->problem.initial[pressure] = d->initial_pressure;
  c->problem.solver.guess = d->guess == 0 ? -1 : d->guess;
  if (d->exact_pressure) tes_function_destroy((TesFunction **)&c->problem.exact[pressure]);
  if (d->exact_pressure) c->problem.exact[pressure] = d->exact_pressure;
  c->problem.solver.pre = steps(d->pre), c->problem.solver.post = steps(d->post);
  c->mesh.file = d->file;
  c->mesh.split = d->split, c->mesh.file_periodic = d->file_periodic;
  c->mesh.file_groups = r->support && r->support->groups;
  if (d->refine_times == 0) tes_function_destroy(&d->where);
  for (int i = 0; i < 3; i++) c->mesh.map[i] = d->map[i];
  c->mesh.refine_where = d->where, c->mesh.refine_times = d->refine_times;
  for (int i = 0; i < 3; i++) {
    if (c->adapt.goal.where)
      tesi_free(r->ctx, &d->goal[i]);
    else
      c->adapt.goal.where = d->goal[i];
  }
  c->adapt.goal.of = d->goal_of;
  c->adapt.max_dofs = d->max_dofs;
  drop(&d->all);
  for (int i = 0; i < 6; i++) drop(&d->face[i]);
  return valid ? tell_problem(r) : TES_OK;
}
