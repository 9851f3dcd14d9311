/* The mesh in case files: its domain, its kind, adaptation. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"
#include "parallel/comm.h"

static const struct {
  const char *path;
  TesDomain domain;
  int dim;
} meshes[] = {{"mesh.box", TES_DOMAIN_BOX, 0},         {"mesh.ball", TES_DOMAIN_BALL, 3},
              {"mesh.shell", TES_DOMAIN_SHELL, 3},     {"mesh.l_shape", TES_DOMAIN_L_SHAPE, 2},
              {"mesh.fichera", TES_DOMAIN_FICHERA, 3}, {"mesh.channel", TES_DOMAIN_CHANNEL, 2},
              {"mesh.file", TES_DOMAIN_FILE, 0}};
enum { MESHES = sizeof meshes / sizeof *meshes };

int tesi_case_dim(TesiCaseReader *r) {
  r->asked_too_early = r->asked_too_early || !r->mesh_known;
  return r->draft.c.mesh.dim;
}

static TesStatus choose_domain(TesiCaseReader *r) {
  TesMeshDesc *mesh = &r->draft.c.mesh;
  int count = 0;
  for (int i = 0; i < MESHES; i++) {
    const TesiYaml *node = tesi_case_given(r, meshes[i].path);
    if (!node) continue;
    count++;
    mesh->domain = meshes[i].domain;
    if (!mesh->dim) mesh->dim = meshes[i].dim;
  }
  if (count != 1)
    return tesi_case_refuse(
        r, "mesh", "expected exactly one of box, ball, shell, l_shape, fichera, channel, file, got %d", count);
  for (int i = 0; i < 2; i++) {
    static const char *const of_files[] = {"mesh.split", "mesh.periodic"};
    if (tesi_case_given(r, of_files[i]) && mesh->domain != TES_DOMAIN_FILE)
      return tesi_case_refuse(r, of_files[i], "is for meshes from a file (mesh.file)%s",
                              i ? "; boxes have mesh.box.periodic" : "");
  }
  if (tesi_case_given(r, "mesh.refine_times") && !tesi_case_given(r, "mesh.refine_where"))
    return tesi_case_refuse(r, "mesh.refine_times",
                            "expected mesh.refine_where beside it, which says where cells are refined");
  return TES_OK;
}

/* A periodic box with continuous elements, for which not all smoothers exist. */
static bool is_periodic(const TesiCaseReader *r) {
  return r->draft.periodic && r->support && !r->support->modes;
}

static bool is_patch_of_cells(TesSmootherKind s) {
  return s == TES_SMOOTHER_CELL_PATCH || s == TES_SMOOTHER_LINE_PATCH;
}

static bool varies(const TesFunction *f) {
  double value;
  return f && !tes_function_constant(f, &value);
}

/* On several ranks boxes become trees if boxes of kind box work on one rank only: with varying coefficients, with a
 * velocity, if they are periodic, in time, and for equations whose rows have several ranks on trees only. Problems that
 * have no trees keep their boxes. */
static bool is_for_one_rank(const TesiCaseReader *r) {
  const TesiCaseDraft *d = &r->draft;
  if (tesi_ranks(r->ctx) == 1 || !r->support || !(r->support->meshes & TESI_ON_TREES)) return false;
  const unsigned meshes = r->support->ranks.meshes;
  if (meshes && !(meshes & TESI_ON_GRID)) return true;
  return tesi_case_given(r, "time") || tesi_case_given(r, "data.b") || r->draft.periodic || varies(d->a) ||
         varies(d->reaction);
}

bool tesi_case_maps_spacing(const TesiCaseReader *r) {
  static const char *const others[] = {"mesh.kind", "mesh.map", "mesh.refine_where", "adapt"};
  bool maps = is_for_one_rank(r) && tesi_case_given(r, "mesh.box.spacing") && !r->draft.periodic;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) maps = maps && !tesi_case_given(r, others[i]);
  return maps;
}

/* Whether the case has keys that only trees have. */
static bool needs_trees(const TesiCaseReader *r) {
  return tesi_case_given(r, "mesh.refine_where") || tesi_case_given(r, "adapt") ||
         tesi_case_given(r, "mesh.map") ||
         (is_periodic(r) && (tesi_case_given(r, "solver.coarse") || tesi_case_given(r, "solver.coarsening") ||
                             is_patch_of_cells(r->draft.c.problem.solver.smoother)));
}

static bool wants_trees(const TesiCaseReader *r) {
  const bool graded = tesi_case_given(r, "mesh.box.spacing");
  return needs_trees(r) || (is_for_one_rank(r) && (!graded || tesi_case_maps_spacing(r)));
}

TesiMeshRow tesi_case_mesh_row(const TesiCaseReader *r) {
  const TesMeshDesc *mesh = &r->draft.c.mesh;
  const bool grid = mesh->kind == TES_MESH_BOX && !is_for_one_rank(r);
  const bool may = mesh->kind != TES_MESH_FOREST && mesh->domain == TES_DOMAIN_BOX && !wants_trees(r);
  return !grid && !may ? TESI_TREES : r->draft.periodic ? TESI_PERIODIC : TESI_GRID;
}

/* Refuses keys that a grid cannot have. */
static TesStatus refuse_box(TesiCaseReader *r) {
  static const struct {
    const char *path, *reason;
  } needs[] = {{"mesh.ball", "the grid of a box"},
               {"mesh.shell", "the grid of a box"},
               {"mesh.l_shape", "the grid of a box"},
               {"mesh.fichera", "the grid of a box"},
               {"mesh.channel", "the grid of a box"},
               {"mesh.file", "the grid of a box"},
               {"mesh.map", "straight"},
               {"mesh.refine_where", "one grid, whose cells are not refined in places"},
               {"adapt", "one grid, whose cells are not refined in places"}};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int row = tesi_case_row("mesh.kind");
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (tesi_case_given(r, needs[i].path))
      TES_TRY(tesi_case_error(r, row, r->node[row], "a mesh of kind box is %s: leave %s out, or kind: forest",
                              needs[i].reason, needs[i].path));
done:
  return status;
}

static TesStatus choose_kind(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesMeshDesc *mesh = &r->draft.c.mesh;
  if (mesh->kind == TES_MESH_BOX) TES_TRY(refuse_box(r));
  mesh->as_grid = mesh->domain == TES_DOMAIN_BOX && mesh->kind != TES_MESH_FOREST && !needs_trees(r);
  mesh->kind = tesi_case_mesh_row(r) == TESI_TREES ? TES_MESH_FOREST : TES_MESH_BOX;
  if (mesh->domain == TES_DOMAIN_BOX && mesh->kind == TES_MESH_BOX && is_for_one_rank(r))
    TES_TRY(tesi_case_refuse(
        r, "mesh.box.spacing",
        "a box that is no mesh of trees, of equal cells, works on one rank with this problem"));
  if (mesh->kind == TES_MESH_BOX && tesi_ranks(r->ctx) > 1 && r->support) {
    const int asked = r->draft.c.problem.degree, degree = asked ? asked : r->support->degree.usual;
    int cells[3];
    for (int d = 0; d < 3; d++) cells[d] = tesi_max(mesh->cells[d], 1) << mesh->refine;
    tesi_problem_choose_grid(r->ctx, r->support, mesh->dim ? mesh->dim : 3, degree, cells, mesh->ranks_along);
  }
done:
  return status;
}

/* The path of a mesh is relative to its case; with --set it is relative to the caller. */
TesStatus tesi_case_beside(TesiCaseReader *r, const TesiYaml *node, char **of) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const char *slash = strrchr(r->name, '/');
  char *file = *of, *path = NULL;
  if (!file || file[0] == '/' || !node || node->source || !slash) return TES_OK;
  const size_t folder = (size_t)(slash - r->name) + 1, length = strlen(file);
  TES_ALLOC(&path, folder + length + 1);
  memcpy(path, r->name, folder);
  memcpy(path + folder, file, length + 1);
  tesi_free(ctx, of);
  *of = path;
done:
  return status;
}

static TesStatus check_adapt(TesiCaseReader *r) {
  TesCase *c = &r->draft.c;
  static const char *const kinds[] = {[TES_GOAL_POINT] = "adapt.goal.point",
                                      [TES_GOAL_MEAN] = "adapt.goal.mean",
                                      [TES_GOAL_INTEGRAL] = "adapt.goal.integral",
                                      [TES_GOAL_FORCE] = "adapt.goal.force"};
  const TesiYaml *node = tesi_case_given(r, "adapt"), *goal = tesi_case_given(r, "adapt.goal");
  int goals = 0;
  c->adaptive = node != NULL;
  for (int i = 0; i <= TES_GOAL_FORCE; i++)
    if (tesi_case_given(r, kinds[i])) c->adapt.goal.kind = (TesGoalKind)i, goals++;
  if (c->adaptive && c->adapt.estimator == TES_ESTIMATE_DWR && goals != 1)
    return tesi_case_error(r, tesi_case_row("adapt.goal"), goal ? goal : node,
                           "dual-weighted residuals need one goal: point, mean, integral or force");
  if (goals && !tesi_case_has(r, TESI_HAS_FORCE_GOAL) && c->adapt.goal.kind != TES_GOAL_POINT &&
      tesi_case_given(r, "adapt.goal.of") && r->draft.goal_of && strcmp(r->draft.goal_of, "u")) {
    char others[TESI_REASON];
    tesi_support_who(TESI_HAS_FORCE_GOAL, others);
    return tesi_case_refuse(r, "adapt.goal.of", "other functions than u belong to points, and to %s", others);
  }
  if (c->adaptive && c->adapt.estimator == TES_ESTIMATE_RESIDUAL && goal)
    return tesi_case_error(r, tesi_case_row("adapt.goal"), goal,
                           "the residual estimator serves the energy norm, no goal: estimator: dwr");
  return TES_OK;
}

/* Refuses keys of the hierarchy that boxes do not have, and keys that only boxes have. */
static TesStatus check_hierarchy(TesiCaseReader *r) {
  static const char *const keys[] = {"solver.coarsening", "solver.coarse"};
  const bool trees = r->draft.c.mesh.kind == TES_MESH_FOREST,
             sparse = r->draft.c.problem.solver.coarse == TES_COARSE_SPARSE;
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  for (int i = 0; i < 2 - sparse && !trees; i++)
    if (tesi_case_given(r, keys[i]))
      TES_TRY(tesi_case_refuse(r, keys[i],
                               "only meshes of trees have this; a box becomes one with mesh.kind: forest"));
  if (trees && !tesi_case_maps_spacing(r))
    TES_TRY(tesi_case_refuse(r, "mesh.box.spacing",
                             "a box that is a mesh of trees (adapt, refine_where, kind: forest) has equal "
                             "cells: leave spacing out"));
done:
  return status;
}

static TesStatus check_shell(TesiCaseReader *r) {
  const TesMeshDesc *f = &r->draft.c.mesh;
  const int row = tesi_case_row("mesh.shell.inner_radius");
  const double radius = f->radius == 0 ? 1 : f->radius;
  if (f->domain != TES_DOMAIN_SHELL || !r->node[row] || f->inner_radius < radius) return TES_OK;
  return tesi_case_error(r, row, r->node[row], "expected less than the outer radius %g, got %g", radius,
                         f->inner_radius);
}

/* ---- data that are needed before all other keys -------------------------------------------------------- */

static TesStatus find_box_dim(TesiCaseReader *r) {
  TesMeshDesc *box = &r->draft.c.mesh;
  const int row = tesi_case_row("mesh.box.cells"), entries = r->entries[row];
  if (!box->dim && !entries)
    return tesi_case_error(r, row, r->node[row],
                           "%d says not whether the box is 2D or 3D: give one number per direction, e.g. "
                           "cells: [%d, %d], or dim as well",
                           box->cells[0], box->cells[0], box->cells[0]);
  if (!box->dim) box->dim = entries;
  return TES_OK;
}

/* Dimension and names of the file; failures are reported at the key. */
static TesStatus read_head(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesMeshDesc desc = r->draft.c.mesh;
  const int row = tesi_case_row("mesh.file");
  char message[900];
  TES_TRY(tesi_case_beside(r, r->node[row], &r->draft.file));
  desc.file = r->draft.file, desc.split = r->draft.split, desc.file_periodic = r->draft.file_periodic;
  status = tesi_gmsh_head(ctx, &desc, &r->head);
  r->draft.c.mesh.dim = r->head.dim;
  if (status != TES_INVALID_INPUT && status != TES_IO) goto done;
  snprintf(message, sizeof message, "%s", tes_context_message(ctx));
  tesi_context_forget(ctx);
  if (status == TES_IO && !r->error_count) r->failure = TES_IO;
  status = TES_OK;
  TES_TRY(tesi_case_error(r, row, r->node[row], "%s", message));
done:
  return status;
}

/* Lists below `mesh` with one entry per direction. */
static TesStatus compare_lists(TesiCaseReader *r) {
  static const char *const paths[] = {"mesh.box.cells",   "mesh.box.lower",    "mesh.box.upper",
                                      "mesh.ball.centre", "mesh.shell.centre", "mesh.map"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int dim = r->draft.c.mesh.dim;
  for (size_t i = 0; i < sizeof paths / sizeof *paths && dim; i++) {
    const int row = tesi_case_row(paths[i]);
    if (r->node[row] && r->entries[row] && r->entries[row] != dim)
      TES_TRY(tesi_case_error(r, row, r->node[row], "expected %d entries, as dim is %d, got %d", dim, dim,
                              r->entries[row]));
  }
done:
  return status;
}

TesStatus tesi_case_know_mesh(TesiCaseReader *r, bool valid) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *mesh = tesi_case_given(r, "mesh");
  const int before = r->error_count;
  r->mesh_known = true;
  if (!valid || !mesh || mesh->kind != TESI_YAML_MAP) goto done;
  TES_TRY(choose_domain(r));
  if (r->error_count > before) goto done;
  if (tesi_case_given(r, "mesh.box")) TES_TRY(find_box_dim(r));
  if (tesi_case_given(r, "mesh.file")) TES_TRY(read_head(r));
  TES_TRY(compare_lists(r));
done:
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

TesStatus tesi_case_check_mesh(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_TRY(choose_kind(r));
  TES_TRY(check_hierarchy(r));
  TES_TRY(check_adapt(r));
  TES_TRY(check_shell(r));
done:
  return status;
}
