/* Names of boundaries and materials become numbers. */
#include <stdio.h>
#include <string.h>
#include "problem/problem.h"
#include "mesh/inner_faces.h"
#include "problem/support.h"
#include "space/element.h"

/* Puts the place of an entry in front of the message about it. */
static TesStatus place(TesContext *ctx, const char *where, TesStatus found) {
  TesStatus status = TES_OK;
  char text[600];
  if (found != TES_INVALID_INPUT || !where) return found;
  snprintf(text, sizeof text, "%s", tes_context_message(ctx));
  tesi_context_forget(ctx);
  TES_FAIL(TES_INVALID_INPUT, "%s: %s", where, text);
done:
  return status;
}

/* Every face needs a condition, and a condition needs a name. */
static TesStatus refuse_unnamed(const TesMesh *mesh) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  int64_t tree;
  int face;
  double xi[3] = {0.5, 0.5, 0.5}, x[3] = {0};
  const int64_t unnamed = tesi_mesh_unnamed(mesh, &tree, &face);
  if (!unnamed) return TES_OK;
  xi[face / 2] = face % 2;
  tesi_trees_evaluate(mesh->coarse, tree, 1, xi, x);
  TES_FAIL(TES_INVALID_INPUT,
           "%lld faces of the coarse mesh lie on the boundary and have no name, so there is no condition for "
           "them; the first is face %d of cell %lld (both from 0), round (%g, %g, %g). Name them in the mesh "
           "(Gmsh: Physical Curve, in 3D Surface), or say what holds on all of them: boundary.all in a case, "
           "TesMeshDesc.rest in a program",
           (long long)unnamed, face, (long long)tree, x[0], x[1], x[2]);
done:
  return status;
}

/* Edges, corners and faces between cells can have values, springs or a load, as a force; they have no normal. */
static TesStatus check_group(const TesMesh *mesh, const TesBoundary *entry, int number) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const bool faces = tesi_mesh_is_inner(mesh, number);
  TES_CHECK(
      entry->condition != TES_FLUX && entry->condition != TES_SLIP,
      faces
          ? "boundary.%s: %s lies between cells, where values can be given (dirichlet), what enters there "
            "(neumann), or both (robin)"
          : "boundary.%s: %s is a group of curves or points, which have a displacement, a force, a traction "
            "(per length of curves, at each point) or springs (robin)",
      entry->name, entry->name);
  for (int c = 0; c < mesh->dim; c++)
    TES_CHECK(
        !entry->g[c] || !tesi_function_uses(entry->g[c]), "boundary.%s is \"%.200s\": %s", entry->name,
        tes_function_text(entry->g[c]),
        faces ? "faces between cells have two normals, so nx, ny, nz are not known there"
              : "curves and points have no normal nx, ny, nz, and no pressure; give a force, or a traction "
                "without a normal");
done:
  return status;
}

static TesStatus find_boundary(const TesMesh *mesh, const TesBoundary *entry, int *number) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_mesh_find_boundary(mesh, entry->name, number));
  const bool group = tesi_mesh_is_group(mesh, *number);
  if (group) TES_TRY(check_group(mesh, entry, *number));
  TES_CHECK(group || tesi_mesh_boundary_faces(mesh, *number) > 0,
            "boundary.%s: no face of the mesh has this name", entry->name);
done:
  return place(ctx, entry->where, status);
}

/* Only boundary values can use a normal. */
static TesStatus refuse_normal(TesContext *ctx, const char *what, const TesFunction *f) {
  TesStatus status = TES_OK;
  TES_CHECK(!tesi_function_uses(f), "%s is \"%.200s\": nx, ny, nz are known in boundary values alone", what,
            tes_function_text(f));
done:
  return status;
}

/* The functions of the data that materials can have too: their members in TesData, and their lists in TesiNumbered. */
static const struct Slot {
  const char *name;
  size_t of, list;
} slots[] = {{"a", offsetof(TesData, a), offsetof(TesiNumbered, a)},
             {"c", offsetof(TesData, c), offsetof(TesiNumbered, c)},
             {"lambda", offsetof(TesData, lambda), offsetof(TesiNumbered, lambda)},
             {"expansion", offsetof(TesData, expansion), offsetof(TesiNumbered, expansion)},
             {"temperature", offsetof(TesData, temperature), offsetof(TesiNumbered, temperature)},
             {"f", offsetof(TesData, f[0]), offsetof(TesiNumbered, f[0])},
             {"f", offsetof(TesData, f[1]), offsetof(TesiNumbered, f[1])},
             {"f", offsetof(TesData, f[2]), offsetof(TesiNumbered, f[2])}};
enum { SLOTS = sizeof slots / sizeof *slots };

static const TesFunction **slot_of(const TesData *data, int slot) {
  return (const TesFunction **)(void *)((char *)data + slots[slot].of);
}

static const TesFunction ***list_of(const TesiNumbered *n, int slot) {
  return (const TesFunction ***)(void *)((char *)n + slots[slot].list);
}

static TesStatus refuse_normals(TesContext *ctx, const TesData *data) {
  TesStatus status = TES_OK;
  for (int i = 0; i < SLOTS && status == TES_OK; i++)
    status = refuse_normal(ctx, slots[i].name, *slot_of(data, i));
  for (int i = 0; i < TESI_AXES && status == TES_OK; i++) status = refuse_normal(ctx, "b", data->b[i]);
  return status;
}

static TesStatus check_condition(TesContext *ctx, const TesBoundary *entry) {
  TesStatus status = TES_OK;
  TES_TRY(refuse_normal(ctx, "alpha", entry->alpha));
  TES_CHECK(entry->condition >= TES_DIRICHLET && entry->condition <= TES_FLUX,
            "the condition of boundary %s is %d, expected 0..%d", entry->name ? entry->name : "all",
            (int)entry->condition, TES_FLUX);
done:
  return status;
}

/* How a component is determined. Vectors of element rt only have nodes for components along the normals of faces. */
static TesiHow how_of(const TesiElement *element, const TesBoundary *entry, int number, int component) {
  const bool mixed = element && element->with_pressure, normal = component == number / 2;
  switch (entry->condition) {
  case TES_DIRICHLET:
    if (entry->components && !(entry->components >> component & 1)) return TESI_OPEN;
    return element && (element->weak || (mixed && !normal)) ? TESI_WEAK : TESI_STRONG;
  case TES_SLIP:
    return !mixed ? TESI_NORMAL : normal ? TESI_STRONG : TESI_FLUX;
  case TES_FLUX:
    return TESI_FLUX;
  default:
    return TESI_OPEN;
  }
}

/* Replaces the data of a boundary. */
static void set_given(TesiGiven *target, const TesiGiven *given) {
  TesiGiven old = *target;
  *target = *given;
  target->alpha = tesi_function_retain(given->alpha);
  for (int c = 0; c <= TESI_GIVEN_SCALARS; c++) {
    target->g[c] = tesi_function_retain(given->g[c]);
    tes_function_destroy((TesFunction **)&old.g[c]);
  }
  tes_function_destroy((TesFunction **)&old.alpha);
}

static void set_entry(const TesiElement *element, const TesBoundary *entry, int number, TesiGiven *target) {
  const bool mixed = entry->condition == TES_ROBIN || entry->condition == TES_FLUX;
  TesiGiven given = {.alpha = mixed ? entry->alpha : NULL, .priority = entry->priority, .total = entry->total};
  for (int c = 0; c < TESI_GIVEN_SCALARS; c++) given.how[c] = how_of(element, entry, number, c);
  for (int c = entry->condition == TES_SLIP ? TESI_GIVEN_SCALARS : 0; c <= TESI_GIVEN_SCALARS; c++)
    given.g[c] = entry->g[c]; /* slip: values along the normal */
  set_given(target, &given);
}

/* If two entries have one name, or two entries are for all other names, a reader would not know which one holds. */
static TesStatus refuse_twice(TesContext *ctx, const TesProblemDesc *desc, int entry) {
  TesStatus status = TES_OK;
  const char *name = desc->boundary[entry].name;
  for (int i = 0; i < entry; i++) {
    const char *before = desc->boundary[i].name;
    TES_CHECK(name ? !before || strcmp(name, before) != 0 : before != NULL,
              "boundary.%s: conditions are given twice, in the entries %d and %d (from 0)",
              name ? name : "all", i, entry);
  }
done:
  return place(ctx, desc->boundary[entry].where, status);
}

/* Without an entry, values are 0, and groups of curves and points have no force. */
static TesStatus number_boundaries(TesContext *ctx, const TesiElement *element, const TesProblemDesc *desc,
                                   TesiGiven *given) {
  TesStatus status = TES_OK;
  const TesMesh *mesh = desc->mesh;
  const int names = tes_mesh_boundaries(mesh);
  for (int number = 0; number <= names; number++) {
    const bool open = number < names ? tesi_mesh_is_group(mesh, number) : desc->boundaries > 0;
    set_entry(element, &(TesBoundary){.condition = open ? TES_NEUMANN : TES_DIRICHLET}, number,
              &given[number]);
  }
  for (int i = 0; i < desc->boundaries; i++) {
    TES_TRY(check_condition(ctx, &desc->boundary[i]));
    TES_TRY(refuse_twice(ctx, desc, i));
    for (int number = 0; number < names && !desc->boundary[i].name; number++)
      if (!tesi_mesh_is_group(mesh, number)) set_entry(element, &desc->boundary[i], number, &given[number]);
  }
  for (int i = 0; i < desc->boundaries; i++) {
    int number;
    if (!desc->boundary[i].name) continue;
    TES_TRY(find_boundary(mesh, &desc->boundary[i], &number));
    set_entry(element, &desc->boundary[i], number, &given[number]);
  }
done:
  return status;
}

static void set_function(const TesFunction **target, const TesFunction *function) {
  tes_function_destroy((TesFunction **)target);
  *target = tesi_function_retain(function);
}

static TesStatus number_materials(TesContext *ctx, const TesProblemDesc *desc, TesiNumbered *n) {
  TesStatus status = TES_OK;
  for (int i = 0; i < desc->materials; i++) {
    const TesMaterial *material = &desc->material[i];
    int number;
    TES_TRY(refuse_normals(ctx, &material->data));
    TES_TRY(place(ctx, material->where, tes_mesh_find_material(desc->mesh, material->name, &number)));
    for (int k = 0; k < SLOTS; k++) set_function(&(*list_of(n, k))[number], *slot_of(&material->data, k));
  }
done:
  return status;
}

static TesStatus allocate(const TesMesh *mesh, TesiNumbered *n) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int materials = tes_mesh_materials(mesh);
  for (int i = 0; i < SLOTS; i++) TES_ALLOC(list_of(n, i), materials + 1);
  TES_ALLOC(&n->given, tes_mesh_boundaries(mesh) + 1);
done:
  return status;
}

static void retain_data(TesiNumbered *n, const TesData *data) {
  for (int i = 0; i < SLOTS; i++) *slot_of(&n->data, i) = tesi_function_retain(*slot_of(data, i));
  for (int i = 0; i < TESI_AXES; i++) n->data.b[i] = tesi_function_retain(data->b[i]);
}

TesStatus tesi_numbered_create(TesContext *ctx, const TesiEquation *equation, const TesProblemDesc *desc,
                               double f, TesiNumbered *numbered) {
  TesStatus status = TES_OK;
  const TesiElement *element = equation->support ? tesi_element(equation->support->element) : NULL;
  TES_TRY(refuse_normals(ctx, &desc->data));
  for (int i = 0; i <= TESI_AXES; i++) TES_TRY(refuse_normal(ctx, "exact", desc->exact[i]));
  TES_TRY(allocate(desc->mesh, numbered));
  retain_data(numbered, &desc->data);
  if (!desc->data.c) TES_TRY(tes_function_create_constant(ctx, 0, (TesFunction **)&numbered->data.c));
  for (int i = 0; i < TESI_AXES; i++)
    if (!desc->data.f[i] && f != 0)
      TES_TRY(tes_function_create_constant(ctx, f, (TesFunction **)&numbered->data.f[i]));
  TES_TRY(number_boundaries(ctx, element, desc, numbered->given));
  TES_TRY(number_materials(ctx, desc, numbered));
  if (desc->boundaries) TES_TRY(refuse_unnamed(desc->mesh));
done:
  return status;
}

TesStatus tesi_numbered_copy(const TesMesh *mesh, const TesiNumbered *from, TesiNumbered *to) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TES_TRY(allocate(mesh, to));
  retain_data(to, &from->data);
  for (int i = 0; i <= tes_mesh_boundaries(mesh); i++) set_given(&to->given[i], &from->given[i]);
  for (int i = 0; i < tes_mesh_materials(mesh); i++)
    for (int k = 0; k < SLOTS; k++) set_function(&(*list_of(to, k))[i], (*list_of(from, k))[i]);
done:
  return status;
}

/* *f <- factor f + offset at a time; NULL stays NULL. */
static TesStatus bind_affine(const TesFunction **f, double time, double factor, double offset) {
  TesFunction *shifted = NULL, *bound = NULL;
  if (!*f) return TES_OK;
  TesStatus status = tesi_function_affine(*f, factor, offset, &shifted);
  if (status == TES_OK) status = tesi_function_at(shifted, time, &bound);
  tes_function_destroy(&shifted);
  if (status != TES_OK) return status;
  tes_function_destroy((TesFunction **)f);
  *f = bound;
  return TES_OK;
}

static TesStatus bind(const TesFunction **f, double time) {
  return bind_affine(f, time, 1, 0);
}

static bool is_c(int slot) {
  return slots[slot].of == offsetof(TesData, c);
}

TesStatus tesi_numbered_at(const TesMesh *mesh, double time, double factor, double offset, TesiNumbered *n) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  for (int k = 0; k < TESI_AXES; k++) TES_TRY(bind(&n->data.b[k], time));
  for (int k = 0; k < SLOTS; k++) {
    const double by = is_c(k) ? factor : 1, more = is_c(k) ? offset : 0;
    TES_TRY(bind_affine(slot_of(&n->data, k), time, by, more));
    for (int i = 0; i < tes_mesh_materials(mesh); i++)
      TES_TRY(bind_affine(&(*list_of(n, k))[i], time, by, more));
  }
  for (int i = 0; i < tes_mesh_boundaries(mesh); i++) {
    for (int k = 0; k <= TESI_AXES; k++) TES_TRY(bind(&n->given[i].g[k], time));
    TES_TRY(bind(&n->given[i].alpha, time));
  }
done:
  return status;
}

void tesi_numbered_free(const TesMesh *mesh, TesiNumbered *numbered) {
  if (!mesh) return;
  TesContext *ctx = mesh->context;
  for (int i = 0; numbered->given && i < tes_mesh_boundaries(mesh); i++)
    set_given(&numbered->given[i], &(TesiGiven){.priority = 0});
  for (int k = 0; k < SLOTS; k++) {
    const TesFunction ***list = list_of(numbered, k);
    for (int i = 0; *list && i < tes_mesh_materials(mesh); i++) set_function(&(*list)[i], NULL);
    tesi_free(ctx, list);
    set_function(slot_of(&numbered->data, k), NULL);
  }
  for (int i = 0; i < TESI_AXES; i++) set_function(&numbered->data.b[i], NULL);
  tesi_free(ctx, &numbered->given);
}

bool tesi_numbered_timed(const TesMesh *mesh, const TesiNumbered *n, bool strong) {
  bool timed = false;
  for (int i = 0; i < tes_mesh_boundaries(mesh); i++)
    for (int c = 0; c <= TESI_GIVEN_SCALARS; c++) {
      const bool values = c < TESI_GIVEN_SCALARS && n->given[i].how[c] == TESI_STRONG;
      timed = timed || (values == strong && tesi_function_timed(n->given[i].g[c]));
    }
  return timed;
}

bool tesi_numbered_heated(const TesMesh *mesh, const TesiNumbered *n) {
  bool heated = !tesi_function_is_zero(n->data.expansion);
  for (int i = 0; n->expansion && i < tes_mesh_materials(mesh); i++)
    heated = heated || !tesi_function_is_zero(n->expansion[i]);
  return heated;
}
