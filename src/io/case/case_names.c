/* Boundaries and materials by name: the lists of the problem. */
#include <stdio.h>
#include <string.h>
#include "base/nearest.h"
#include "base/text.h"
#include "io/case/case_reader.h"

bool tesi_case_takes_names(const TesiCaseReader *r, int row) {
  if (row == tesi_case_row("data.materials")) return true;
  return row == tesi_case_row("boundary") && tesi_case_given(r, "mesh") && !tesi_case_given(r, "mesh.box");
}

/* The place of a key that names a part of the mesh: the key may be wrong, not its value. */
static void place_of(const TesiCaseReader *r, const TesiYaml *node, char where[256]) {
  TesiYaml at_key = *node;
  at_key.line = node->key_line, at_key.column = node->key_column;
  tesi_case_place(r, &at_key, where);
}

/* Pressure of elasticity: sigma n = -P n. */
static TesStatus press(TesiCaseReader *r, const TesFunction *pressure, TesBoundary *entry) {
  static const char *const normal[3] = {"nx", "ny", "nz"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const size_t size = strlen(tes_function_text(pressure)) + 16;
  char *text = NULL;
  TES_ALLOC(&text, size);
  for (int c = 0; c < tesi_case_dim(r); c++) {
    snprintf(text, size, "-(%s)*%s", tes_function_text(pressure), normal[c]);
    TES_TRY(tes_function_create_expression(ctx, text, (TesFunction **)&entry->g[c]));
    TES_TRY(tesi_function_set_where((TesFunction *)entry->g[c], tesi_function_where(pressure)));
  }
done:
  tesi_free(ctx, &text);
  return status;
}

TesStatus tesi_case_add_boundary(TesiCaseReader *r, const char *name, const char *where, TesiCaseFace *face) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesProblemDesc *p = &r->draft.c.problem;
  TesBoundary *entry = (TesBoundary *)&p->boundary[p->boundaries++];
  *entry = (TesBoundary){.condition = tesi_named_condition[face->condition],
                         .total = face->condition == TESI_NAMED_FORCE,
                         .priority = face->priority,
                         .g = {face->g[0], face->g[1], face->g[2]},
                         .alpha = face->alpha};
  const bool presses = face->pressure && !r->support->flow;
  TesFunction *pressure = presses ? face->pressure : NULL;
  if (face->pressure && !presses)
    entry->g[tesi_case_dim(r)] = face->pressure; /* alone: without g, which `pressure` does not have */
  if (face->free) entry->components = ~face->free & 7;
  if (face->condition == TESI_NAMED_RADIAL) {
    double radial;
    entry->g[3] = entry->g[0], entry->g[0] = NULL;
    if (tes_function_constant(entry->g[3], &radial) && radial == 0)
      tes_function_destroy((TesFunction **)&entry->g[3]);
  }
  *face = (TesiCaseFace){0};
  if (presses) TES_TRY(press(r, pressure, entry));
  TES_TRY(tesi_copy_text(ctx, name, &entry->name));
  TES_TRY(tesi_copy_text(ctx, where, &entry->where));
done:
  tes_function_destroy(&pressure);
  return status;
}

/* Whether a name may be the tag of a group of the file that has no name. */
static bool is_tag(const char *name) {
  return *name && strspn(name, "0123456789") == strlen(name);
}

/* Whether a key below `boundary` or `data.materials` can name this physical group of the file. */
static bool serves(const TesiCaseReader *r, const TesiGmshName *group, bool material) {
  const int dim = r->head.dim, least = r->support->groups ? 0 : dim - 1;
  if (group->dim == TESI_GMSH_ANY) return true;
  return material ? group->dim == dim : group->dim < dim && group->dim >= least;
}

/* Refuses a name that the mesh file does not have. Names of its cells are compared when the cells are read. */
static TesStatus check_name(TesiCaseReader *r, const TesiYaml *node, bool material) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiGmshHead *head = &r->head;
  const char **known = NULL;
  char text[800];
  TesiYaml at_key = *node;
  at_key.line = node->key_line, at_key.column = node->key_column;
  if (!head->dim || is_tag(node->key) || !strcmp(node->key, "rest")) return TES_OK;
  for (int64_t i = 0; i < head->names; i++)
    if (serves(r, &head->name[i], material) && !strcmp(head->name[i].name, node->key)) return TES_OK;
  TES_ALLOC(&known, head->names + 1);
  for (int64_t i = 0; i < head->names; i++)
    if (serves(r, &head->name[i], material)) known[i] = head->name[i].name;
  tesi_mesh_lacks(material ? "material" : "boundary", node->key, (int)head->names, known, text, sizeof text);
  TES_TRY(tesi_case_error(r, -1, &at_key, "%s", text));
done:
  tesi_free(ctx, &known);
  return status;
}

/* Forgets the values of rows below `boundary.all`: each face by name is read in these rows, and another face's values
 * must not be seen in them. */
static void forget_all(TesiCaseReader *r) {
  static const char above[] = "boundary.all.";
  for (int i = 0; i < tesi_case_key_count; i++)
    if (!strncmp(tesi_case_keys[i].path, above, strlen(above))) r->node[i] = NULL, r->entries[i] = 0;
}

/* Reads a face with the rows of `boundary.all`, and stores it. */
static TesStatus read_named(TesiCaseReader *r, const TesiYaml *node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int row = tesi_case_row("boundary.all");
  const TesiCaseFace all = r->draft.all;
  const TesiYaml *kept[TESI_CASE_ROWS];
  int entries[TESI_CASE_ROWS];
  TesiCaseFace face;
  char where[256];
  memcpy(kept, r->node, sizeof kept);
  memcpy(entries, r->entries, sizeof entries);
  forget_all(r);
  r->draft.all = (TesiCaseFace){0};
  r->row_path = "boundary.all", r->named_path = "boundary", r->named = node->key;
  status = tesi_case_row_value(r, row, node);
  face = r->draft.all;
  if (status == TES_OK) status = tesi_case_check_face(r, "all", &face);
  r->row_path = NULL;
  r->draft.all = all;
  memcpy(r->node, kept, sizeof kept);
  memcpy(r->entries, entries, sizeof entries);
  place_of(r, node, where);
  const bool none = !face.condition;
  const TesStatus added = tesi_case_add_boundary(r, node->key, where, &face);
  TES_TRY(status);
  TES_TRY(added);
  if (none && !r->error_count) {
    char words[TESI_REASON];
    tesi_support_list(r->support, TESI_OF_CONDITION, "or", words);
    TES_TRY(tesi_case_error(r, row, node, "%.60s has no condition: give %s", node->key, words));
  }
done:
  return status;
}

static TesStatus read_boundaries(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *map = tesi_case_given(r, "boundary");
  const int count = map && map->kind == TESI_YAML_MAP ? map->count : 0;
  TES_ALLOC((TesBoundary **)&r->draft.c.problem.boundary, count + 7); /* six faces and `all` */
  if (tesi_case_given(r, "mesh.box")) goto done;
  for (const TesiYaml *child = count ? map->first : NULL; child; child = child->next)
    if (strcmp(child->key, "all") && !(tesi_yaml_is_null(child) && *child->text)) { /* null removes it */
      TES_TRY(check_name(r, child, false));
      TES_TRY(read_named(r, child));
    }
done:
  return status;
}

static TesStatus read_function(TesiCaseReader *r, const char *path, const TesiYaml *node, TesFunction **slot,
                               const TesFunction **target) {
  TesFunction *kept = *slot;
  *slot = NULL;
  const TesStatus status = tesi_case_value(r, tesi_case_row(path), node);
  *target = *slot;
  *slot = kept;
  return status;
}

/* A list with one entry per direction. */
static TesStatus read_load(TesiCaseReader *r, const TesiYaml *node, const TesFunction **f) {
  TesFunction *kept[3];
  memcpy(kept, r->draft.f, sizeof kept);
  memset(r->draft.f, 0, sizeof r->draft.f);
  const TesStatus status = node->kind == TESI_YAML_LIST
                               ? tesi_case_value(r, tesi_case_row("data.f"), node)
                               : tesi_case_error(r, tesi_case_row("data.f"), node,
                                                 "expected a list of expressions, one per direction");
  for (int c = 0; c < 3; c++) f[c] = r->draft.f[c];
  memcpy(r->draft.f, kept, sizeof kept);
  return status;
}

/* Constants, density, f. */
static TesStatus read_elastic_material(TesiCaseReader *r, const TesiYaml *map, TesData *data) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  const TesFunction *young = NULL, *poisson = NULL;
  const struct {
    const char *key, *path;
    TesFunction **slot;
    const TesFunction **target;
  } known[] = {{"lambda", "data.lambda", &d->lambda, &data->lambda},
               {"mu", "data.mu", &d->a, &data->a},
               {"young", "data.young", &d->young, &young},
               {"poisson", "data.poisson", &d->poisson, &poisson},
               {"density", "data.density", &d->reaction, &data->c},
               {"expansion", "data.expansion", &d->expansion, &data->expansion},
               {"temperature", "data.temperature", &d->temperature, &data->temperature}};
  for (const TesiYaml *child = map->first; child; child = child->next) {
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(child->key, known[i].key)) i++;
    if (i < sizeof known / sizeof *known)
      TES_TRY(read_function(r, known[i].path, child, known[i].slot, known[i].target));
    else if (!strcmp(child->key, "f"))
      TES_TRY(read_load(r, child, data->f));
    else
      TES_TRY(
          tesi_case_error(r, tesi_case_row("data"), child,
                          "unknown key '%.60s'; known keys: lambda, mu, young, poisson, density, expansion, "
                          "temperature, f",
                          child->key));
  }
  if (!r->error_count)
    TES_TRY(tesi_case_elastic_constants(r, map, "data", (TesFunction **)&young, (TesFunction **)&poisson,
                                        (TesFunction **)&data->lambda, (TesFunction **)&data->a));
done:
  tes_function_destroy((TesFunction **)&young);
  tes_function_destroy((TesFunction **)&poisson);
  return status;
}

static TesStatus read_material(TesiCaseReader *r, const TesiYaml *map) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  TesMaterial *material = (TesMaterial *)&d->c.problem.material[d->c.problem.materials++];
  const int row = tesi_case_row("data.materials");
  char where[256];
  place_of(r, map, where);
  TES_TRY(tesi_copy_text(ctx, map->key, &material->name));
  TES_TRY(tesi_copy_text(ctx, where, &material->where));
  if (map->kind != TESI_YAML_MAP) {
    TES_TRY(tesi_case_error(r, row, map, "expected a, c or f of material %.60s", map->key));
    goto done;
  }
  r->row_path = "data", r->named_path = "data.materials", r->named = map->key;
  if (tesi_case_has(r, TESI_HAS_LAMBDA)) {
    TES_TRY(read_elastic_material(r, map, &material->data));
    goto done;
  }
  for (const TesiYaml *child = map->first; child; child = child->next) {
    if (!strcmp(child->key, "a"))
      TES_TRY(read_function(r, "data.a", child, &d->a, &material->data.a));
    else if (!strcmp(child->key, "c"))
      TES_TRY(read_function(r, "data.c", child, &d->reaction, &material->data.c));
    else if (!strcmp(child->key, "f"))
      TES_TRY(read_function(r, "data.f", child, &d->f[0], &material->data.f[0]));
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
  const TesiYaml *map = tesi_case_given(r, "data.materials");
  const int row = tesi_case_row("data.materials");
  if (!map || map->kind != TESI_YAML_MAP) return TES_OK;
  if (tesi_case_given(r, "mesh.box"))
    return tesi_case_error(r, row, map,
                           "a box has no materials: they are for meshes that name them (mesh.file)");
  TES_ALLOC((TesMaterial **)&r->draft.c.problem.material, map->count);
  for (const TesiYaml *child = map->first; child; child = child->next) {
    TES_TRY(check_name(r, child, true));
    TES_TRY(read_material(r, child));
  }
done:
  return status;
}

TesStatus tesi_case_read_names(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_TRY(read_boundaries(r));
  TES_TRY(read_materials(r));
done:
  return status;
}
