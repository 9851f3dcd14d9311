/* Meshes of trees in case files: which domain, names of the mesh as keys, adaptation. */
#include <string.h>
#include "io/case/case_reader.h"

static const struct {
  const char *path;
  TesDomain domain;
  int dim;
} meshes[] = {{"mesh.box", TES_DOMAIN_BOX, 0},         {"mesh.ball", TES_DOMAIN_BALL, 3},
              {"mesh.shell", TES_DOMAIN_SHELL, 3},     {"mesh.l_shape", TES_DOMAIN_L_SHAPE, 2},
              {"mesh.fichera", TES_DOMAIN_FICHERA, 3}, {"mesh.channel", TES_DOMAIN_CHANNEL, 2},
              {"mesh.file", TES_DOMAIN_FILE, 0}};
enum { MESHES = sizeof meshes / sizeof *meshes };

static const TesiYaml *given(const TesiCaseReader *r, const char *path) {
  return r->node[tesi_case_row(path)];
}

bool tesi_case_takes_names(const TesiCaseReader *r, int row) {
  if (row == tesi_case_row("data.materials")) return true;
  return row == tesi_case_row("boundary") && given(r, "mesh") && !given(r, "mesh.box");
}

static TesStatus choose_mesh(TesiCaseReader *r) {
  TesCaseForest *forest = &r->result->forest;
  int count = 0;
  for (int i = 0; i < MESHES; i++) {
    const TesiYaml *node = given(r, meshes[i].path);
    if (!node) continue;
    count++;
    forest->domain = meshes[i].domain;
    if (!forest->dim) forest->dim = meshes[i].dim;
  }
  if (count != 1)
    return tesi_case_error(
        r, tesi_case_row("mesh"), given(r, "mesh"),
        "expected exactly one of box, ball, shell, l_shape, fichera, channel, file, got %d", count);
  forest->used = forest->domain != TES_DOMAIN_BOX || given(r, "mesh.refine") ||
                 given(r, "mesh.refine_where") || given(r, "adapt") || r->result->box.periodic;
  if (given(r, "mesh.refine_times") && !given(r, "mesh.refine_where"))
    return tesi_case_error(r, tesi_case_row("mesh.refine_times"), given(r, "mesh.refine_times"),
                           "expected mesh.refine_where beside it, which says where cells are refined");
  return TES_OK;
}

/* Name and place of a key that the mesh will know or not. */
static TesStatus keep_name(const TesiCaseReader *r, const TesiYaml *node, char **name, char **where) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiYaml at_key = *node; /* the key is what may be wrong, not its value */
  char place[256];
  at_key.line = node->key_line, at_key.column = node->key_column;
  tesi_case_place(r, &at_key, place);
  *name = tesi_strdup(ctx, node->key);
  *where = tesi_strdup(ctx, place);
  if (!*name || !*where) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a name");
done:
  return status;
}

/* A face read as `boundary.all` is, and put where it belongs. */
static TesStatus read_named(TesiCaseReader *r, const TesiYaml *node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = r->result;
  const int row = tesi_case_row("boundary.all");
  const TesCaseFace all = c->boundary_all;
  const TesiYaml *kept = r->node[row];
  TesCaseNamed *named = &c->named[c->named_count];
  c->boundary_all = (TesCaseFace){0};
  r->row_path = "boundary.all", r->named_path = "boundary", r->named = node->key;
  status = tesi_case_row_value(r, row, node);
  r->row_path = NULL;
  named->face = c->boundary_all;
  c->boundary_all = all;
  r->node[row] = kept;
  c->named_count++;
  TES_TRY(status);
  TES_TRY(keep_name(r, node, &named->name, &named->where));
  if (named->face.condition == TES_CASE_NO_CONDITION && !r->error_count)
    TES_TRY(
        tesi_case_error(r, row, node, "%.60s has no condition: give dirichlet, neumann or robin", node->key));
done:
  return status;
}

static TesStatus read_boundaries(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *map = given(r, "boundary");
  if (!map || map->kind != TESI_YAML_MAP) return TES_OK;
  TES_ALLOC(&r->result->named, map->count);
  for (const TesiYaml *child = map->first; child; child = child->next)
    if (strcmp(child->key, "all") && !(tesi_yaml_is_null(child) && *child->text)) /* null takes it away */
      TES_TRY(read_named(r, child));
done:
  return status;
}

static TesStatus read_function(TesiCaseReader *r, const char *path, const TesiYaml *node,
                               TesFunction **target, TesFunction **slot) {
  TesFunction *kept = *slot;
  *slot = NULL;
  const TesStatus status = tesi_case_value(r, tesi_case_row(path), node);
  *target = *slot;
  *slot = kept;
  return status;
}

static TesStatus read_material(TesiCaseReader *r, const TesiYaml *map) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = r->result;
  TesCaseMaterial *material = &c->materials[c->material_count];
  const int row = tesi_case_row("data.materials");
  c->material_count++;
  TES_TRY(keep_name(r, map, &material->name, &material->where));
  if (map->kind != TESI_YAML_MAP) {
    TES_TRY(tesi_case_error(r, row, map, "expected a, c or f of material %.60s", map->key));
    goto done;
  }
  r->row_path = "data", r->named_path = "data.materials", r->named = map->key;
  for (const TesiYaml *child = map->first; child; child = child->next) {
    if (!strcmp(child->key, "a"))
      TES_TRY(read_function(r, "data.a", child, &material->a, &c->a));
    else if (!strcmp(child->key, "c"))
      TES_TRY(read_function(r, "data.c", child, &material->c, &c->c));
    else if (!strcmp(child->key, "f"))
      TES_TRY(read_function(r, "data.f", child, &material->f, &c->f));
    else
      TES_TRY(tesi_case_error(r, tesi_case_row("data"), child, "unknown key '%.60s'; known keys: a, c, f",
                              child->key));
  }
done:
  r->row_path = NULL;
  return status;
}

static TesStatus read_materials(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *map = given(r, "data.materials");
  if (!map || map->kind != TESI_YAML_MAP) return TES_OK;
  TES_ALLOC(&r->result->materials, map->count);
  for (const TesiYaml *child = map->first; child; child = child->next) TES_TRY(read_material(r, child));
done:
  return status;
}

/* The mesh stands beside its case; with --set it is the caller's. */
static TesStatus locate_file(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *node = given(r, "mesh.file");
  const char *slash = strrchr(r->name, '/');
  char *file = r->result->forest.file, *path = NULL;
  if (!file || file[0] == '/' || !node || node->source || !slash) return TES_OK;
  const size_t folder = (size_t)(slash - r->name) + 1, length = strlen(file);
  TES_ALLOC(&path, folder + length + 1);
  memcpy(path, r->name, folder);
  memcpy(path + folder, file, length + 1);
  tesi_free(ctx, &r->result->forest.file);
  r->result->forest.file = path;
done:
  return status;
}

static TesStatus check_adapt(TesiCaseReader *r) {
  TesCaseAdapt *adapt = &r->result->adapt;
  const TesiYaml *node = given(r, "adapt"), *goal = given(r, "adapt.goal");
  adapt->used = node != NULL;
  adapt->has_point = given(r, "adapt.goal.point") != NULL;
  if (adapt->used && adapt->estimator == TES_CASE_DWR && adapt->has_point == (adapt->boundary != NULL))
    return tesi_case_error(r, tesi_case_row("adapt.goal"), goal ? goal : node,
                           "dual-weighted residuals need one goal: point or mean");
  if (adapt->used && adapt->estimator == TES_CASE_RESIDUAL && goal)
    return tesi_case_error(r, tesi_case_row("adapt.goal"), goal,
                           "the residual estimator serves the energy norm, no goal: estimator: dwr");
  return TES_OK;
}

/* Keys of the hierarchy that boxes do not have, and what only boxes have. */
static TesStatus check_hierarchy(TesiCaseReader *r) {
  static const char *const keys[] = {"solver.coarse", "solver.coarsening"};
  const TesCaseSmoother s = r->result->smoother;
  const bool used = r->result->forest.used;
  const int smoother = tesi_case_row("solver.smoother"), spacing = tesi_case_row("mesh.box.spacing");
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  for (int i = 0; i < 2 && !r->result->forest.used; i++)
    if (given(r, keys[i]))
      TES_TRY(tesi_case_error(r, tesi_case_row(keys[i]), given(r, keys[i]),
                              "only meshes of trees have this; a box becomes one with mesh.refine or adapt"));
  if (used && s != TES_CASE_SMOOTHER_AUTO && s != TES_CASE_SMOOTHER_JACOBI &&
      s != TES_CASE_SMOOTHER_CHEBYSHEV && s != TES_CASE_SMOOTHER_CELL_PATCH)
    TES_TRY(tesi_case_error(r, smoother, r->node[smoother],
                            "meshes of trees have auto, jacobi, chebyshev and cell_patch, got %s",
                            tes_case_choice("solver.smoother", (int)s)));
  if (used && r->node[spacing])
    TES_TRY(tesi_case_error(r, spacing, r->node[spacing],
                            "a box with refine, adapt or periodic has equal cells: leave spacing out"));
done:
  return status;
}

/* Lists with one number a direction, where the directions are known before the mesh is read. */
static TesStatus check_points(TesiCaseReader *r) {
  static const char *const paths[] = {"mesh.ball.centre", "mesh.shell.centre", "adapt.goal.point"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesCase *c = r->result;
  const int cells = r->entries[tesi_case_row("mesh.box.cells")], dim = c->forest.domain != TES_DOMAIN_BOX
                                                                           ? c->forest.dim
                                                                       : c->box.dim ? c->box.dim
                                                                                    : cells;
  for (int i = 0; i < 3 && dim; i++) {
    const int row = tesi_case_row(paths[i]);
    if (r->node[row] && r->entries[row] && r->entries[row] != dim)
      TES_TRY(tesi_case_error(r, row, r->node[row], "expected %d entries, as dim is %d, got %d", dim, dim,
                              r->entries[row]));
  }
done:
  return status;
}

static TesStatus check_shell(TesiCaseReader *r) {
  const TesCaseForest *f = &r->result->forest;
  const int row = tesi_case_row("mesh.shell.inner_radius");
  const double radius = f->radius == 0 ? 1 : f->radius;
  if (f->domain != TES_DOMAIN_SHELL || !r->node[row] || f->inner_radius < radius) return TES_OK;
  return tesi_case_error(r, row, r->node[row], "expected less than the outer radius %g, got %g", radius,
                         f->inner_radius);
}

TesStatus tesi_case_check_forest(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_TRY(choose_mesh(r));
  TES_TRY(check_hierarchy(r));
  TES_TRY(check_adapt(r));
  TES_TRY(check_points(r));
  TES_TRY(check_shell(r));
  TES_TRY(locate_file(r));
  if (!r->error_count && r->result->forest.domain != TES_DOMAIN_BOX) TES_TRY(read_boundaries(r));
  TES_TRY(read_materials(r));
  if (!r->error_count && r->result->forest.used && r->result->degree > 8) {
    const int row = tesi_case_row("space.degree");
    TES_TRY(tesi_case_error(r, row, r->node[row], "expected 1 to 8 on this mesh, got %d", r->result->degree));
  }
done:
  return status;
}
