/* Compares a case with the row of its equation and element (problem/support.h): keys, words, and shapes of values. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"
#include "io/expression/words.h"
#include "parallel/comm.h"
#include "problem/field_rows.h"

const TesiYaml *tesi_case_given(const TesiCaseReader *r, const char *path) {
  return r->node[tesi_case_row(path)];
}

TesStatus tesi_case_refuse(TesiCaseReader *r, const char *path, const char *format, ...) {
  const TesiYaml *node = tesi_case_given(r, path);
  char text[700];
  va_list arguments;
  if (!node) return TES_OK;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return tesi_case_error(r, tesi_case_row(path), node, "%s", text);
}

bool tesi_case_has(const TesiCaseReader *r, TesiHas what) {
  return r->support && r->support->has & TESI_BIT(what);
}

bool tesi_case_face_word(TesiCaseReader *r, int row, const char *text) {
  int *condition = (int *)((char *)&r->draft + tesi_case_keys[row].target);
  static const TesiNamed words[] = {TESI_NAMED_SLIP, TESI_NAMED_OUTFLOW, TESI_NAMED_ROLLER,
                                    TESI_NAMED_SYMMETRY};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(text, tesi_support_words[TESI_OF_CONDITION].word[words[i]]) != 0) continue;
    *condition = (int)words[i];
    return true;
  }
  return false;
}

/* ---- faces --------------------------------------------------------------------------------------------- */

/* An outflow of a scalar must be 0, since nothing diffuses out. An outflow of a flow is a list, or 0 for all
 * directions. */
static TesStatus check_outflow(TesiCaseReader *r, const char *path, const TesiCaseFace *face) {
  char below[80];
  snprintf(below, sizeof below, "%s.outflow", path);
  const bool list = r->entries[tesi_case_row(below)];
  if (!r->support->flow)
    return list || !tesi_function_is_zero(face->g[0])
               ? tesi_case_refuse(r, below, "expected 0: transport has no other outflow")
               : TES_OK;
  return list || tesi_function_is_zero(face->g[0])
             ? TES_OK
             : tesi_case_refuse(r, below, "expected 0 or a list of %d expressions", tesi_case_dim(r));
}

/* Values of displacements, tractions and g of Robin conditions must be lists. */
static TesStatus check_lists(TesiCaseReader *r, const char *path, const TesiCaseFace *face) {
  static const char *const keys[TESI_NAMED_COUNT] = {
      [TESI_NAMED_DISPLACEMENT] = "displacement", [TESI_NAMED_TRACTION] = "traction", [TESI_NAMED_ROBIN] = "robin.g"};
  char below[80];
  if (!keys[face->condition]) return TES_OK;
  snprintf(below, sizeof below, "%s.%s", path, keys[face->condition]);
  const TesiYaml *node = tesi_case_given(r, below);
  const bool given = face->condition == TESI_NAMED_DISPLACEMENT,
             scalar = node && node->kind == TESI_YAML_SCALAR;
  if (given && face->free == (1u << tesi_case_dim(r)) - 1)
    return tesi_case_refuse(r, below, "all components are null: a traction of 0 says that");
  return scalar && !(given && !strcmp(node->text, "exact"))
             ? tesi_case_refuse(r, below, "expected a list of expressions, one per direction")
             : TES_OK;
}

TesStatus tesi_case_check_face(TesiCaseReader *r, const char *name, const TesiCaseFace *face) {
  char path[64];
  TesiRefusal refusal;
  snprintf(path, sizeof path, "boundary.%s", name);
  if (!face->condition || !r->support) return TES_OK;
  if (tesi_support_refuses_word(r->support, TESI_GRID, TESI_OF_CONDITION, face->condition, &refusal))
    return tesi_case_refuse(r, path, "%s", refusal.reason);
  if (face->condition == TESI_NAMED_OUTFLOW) return check_outflow(r, path, face);
  if (face->condition == TESI_NAMED_VELOCITY && !face->g[0] && !face->g[1] && !face->g[2] && !r->error_count)
    return tesi_case_refuse(r, path, "no component of the velocity is given: that is outflow");
  return r->support->vector && !r->support->flow ? check_lists(r, path, face) : TES_OK;
}

static TesStatus check_faces(TesiCaseReader *r) {
  static const char *const names[6] = {"left", "right", "bottom", "top", "back", "front"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_TRY(tesi_case_check_face(r, "all", &r->draft.all));
  for (int i = 0; i < 6; i++) TES_TRY(tesi_case_check_face(r, names[i], &r->draft.face[i]));
done:
  return status;
}

/* ---- the row ------------------------------------------------------------------------------------------- */

/* The key that requires a mesh other than a box of kind box; NULL: there is none. */
static const char *unlike_box(const TesiCaseReader *r) {
  static const char *const keys[] = {"adapt", "mesh.refine_where", "mesh.map"};
  for (int i = 0; i < 3; i++)
    if (tesi_case_given(r, keys[i])) return keys[i];
  return tesi_case_given(r, "mesh.box") && r->draft.c.mesh.kind != TES_MESH_FOREST ? NULL : "mesh";
}

static TesStatus tell(TesiCaseReader *r, const TesiRefusal *refusal) {
  const char *key = strcmp(refusal->key, "mesh") ? refusal->key : unlike_box(r);
  const int row = tesi_case_row(key ? key : refusal->key);
  return tesi_case_error(r, row, r->node[row], "%s", refusal->reason);
}

/* The features whose keys are given. Features without a key, or that need more than their key, are left out. */
static uint64_t keys_given(const TesiCaseReader *r) {
  const bool in_time = tesi_case_given(r, "time");
  const uint64_t others = TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_GRAD_DIV) | TESI_BIT(TESI_HAS_ADAPT) |
                          TESI_BIT(TESI_HAS_SERIES) | TESI_BIT(TESI_HAS_AVERAGE) |
                          TESI_BIT(TESI_HAS_OTHER_RESTART) |
                          TESI_BIT(in_time ? TESI_HAS_CHECKPOINT : TESI_HAS_REMESH) |
                          (r->draft.c.adapt.estimator == TES_ESTIMATE_DWR ? 0 : TESI_BIT(TESI_HAS_DWR));
  uint64_t given = 0;
  for (int i = 0; i < TESI_HAS_COUNT; i++) {
    const int row = tesi_case_row(tesi_has_key((TesiHas)i));
    if (row >= 0 && r->node[row]) given |= TESI_BIT(i);
  }
  return given & ~others;
}

/* Reports everything that the row refuses. */
static TesStatus compare(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiCaseDraft *d = &r->draft;
  const TesProblemDesc *p = &d->c.problem;
  TesiRefusal refusal[TESI_CASE_ERRORS];
  const TesiAsked asked = {.mesh = tesi_case_mesh_row(r),
                           .dim = tesi_case_dim(r),
                           .degree = p->degree,
                           .whole = true,
                           .ranks = tesi_ranks(r->ctx) > 1,
                           .has = keys_given(r),
                           .word = {[TESI_OF_FORM] = d->form,
                                    [TESI_OF_STABILIZATION] = d->stabilization,
                                    [TESI_OF_TIME_METHOD] = (int)p->time.method,
                                    [TESI_OF_METHOD] = (int)p->solver.method,
                                    [TESI_OF_SMOOTHER] = (int)p->solver.smoother,
                                    [TESI_OF_LOCAL] = (int)p->solver.local,
                                    [TESI_OF_ORDER] = (int)p->solver.order,
                                    [TESI_OF_COARSENING] = (int)p->solver.coarsening,
                                    [TESI_OF_COARSE] = (int)p->solver.coarse}};
  const int count = tesi_support_refuse(r->support, &asked, TESI_CASE_ERRORS, refusal);
  for (int i = 0; i < count; i++) TES_TRY(tell(r, &refusal[i]));
done:
  return status;
}

/* r->support <- the row; the degree and the right-hand side get its defaults. */
static TesStatus find_row(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  TesProblemDesc *p = &d->c.problem;
  TesiRefusal refusal;
  r->support = tesi_support_find(p->equation, p->element,
                                 unlike_box(r) ? TESI_TREES
                                 : d->periodic ? TESI_PERIODIC
                                               : TESI_GRID,
                                 &refusal);
  if (!r->support) return tell(r, &refusal);
  if (!tesi_case_given(r, "space.degree")) p->degree = r->support->degree.usual;
  if (!tesi_case_given(r, "data.f") && r->support->f != 1) {
    tes_function_destroy(&d->f[0]);
    if (!r->support->vector) TES_TRY(tes_function_create_constant(ctx, r->support->f, &d->f[0]));
  }
done:
  return status;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* Required numbers must be positive, or not negative. For functions the operator checks values at points. */
static TesStatus check_number(TesiCaseReader *r, const char *path, const TesFunction *f, bool wanted,
                              bool positive) {
  double value;
  const bool constant = f && tes_function_constant(f, &value);
  if (!tesi_case_given(r, path) || (!constant && !wanted) || (constant && (positive ? value > 0 : value >= 0)))
    return TES_OK;
  return tesi_case_refuse(r, path, "expected a number %s 0, got '%.60s'",
                          positive ? ">" : ">=", tes_function_text(f));
}

/* data.mean_velocity has one number per direction. */
static TesStatus check_mean_velocity(TesiCaseReader *r) {
  static const char key[] = "data.mean_velocity";
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesFunction *const *mean = r->draft.mean_velocity;
  double value;
  if (r->error_count) return TES_OK;
  for (int c = 0; c < 3; c++)
    if (mean[c] && !tes_function_constant(mean[c], &value))
      TES_TRY(tesi_case_refuse(r, key, "expected a number or null in entry %d, got '%.60s'", c + 1,
                               tes_function_text(mean[c])));
  if (!mean[0] && !mean[1] && !mean[2])
    TES_TRY(tesi_case_refuse(r, key, "expected a number in some direction"));
done:
  return status;
}

static TesStatus check_shapes_of_flow(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiCaseDraft *d = &r->draft;
  const TesiYaml *exact = tesi_case_given(r, "data.exact"), *initial = tesi_case_given(r, "data.initial");
  if (exact && exact->kind != TESI_YAML_MAP)
    TES_TRY(tesi_case_refuse(r, "data.exact", "expected {velocity: [..], pressure: ..}"));
  if (tesi_case_given(r, "data.exact.pressure") && !tesi_case_given(r, "data.exact.velocity"))
    TES_TRY(tesi_case_refuse(r, "data.exact", "velocity is missing"));
  if (!r->entries[tesi_case_row("data.f")])
    TES_TRY(tesi_case_refuse(r, "data.f", "expected a list of expressions, one per direction"));
  if (initial && initial->kind != TESI_YAML_MAP && tesi_case_has(r, TESI_HAS_TIME))
    TES_TRY(tesi_case_refuse(r, "data.initial", "expected {velocity: [..], pressure: ..} or {file: FILE}"));
  TES_TRY(check_number(r, "data.nu", d->a, r->support->numbers & TESI_NUMBER_A, true));
  TES_TRY(check_number(r, "data.alpha", d->reaction, true, false));
  if (tesi_case_has(r, TESI_HAS_MEAN_VELOCITY)) TES_TRY(check_mean_velocity(r));
done:
  return status;
}

/* The name of the unknown: it and its derivatives must differ from all other names. */
static TesStatus check_name(TesiCaseReader *r) {
  static const char key[] = "space.name";
  const char *name = r->draft.c.problem.name;
  TesiFieldNames names = {0};
  if (!tesi_case_given(r, key) || !name) return TES_OK;
  if (strlen(name) >= TESI_FIELD_NAME - 1 || !strcmp(name, "name"))
    return tesi_case_refuse(r, key, "expected at most 30 letters, and another word than `name`");
  tesi_field_names_set(name, &names);
  for (int i = 0; i < 5; i++) {
    const char *word = i ? names.slope[i - 1] : name,
               *refused = tesi_field_name_taken(word) ? "expressions have this name already"
                                                      : tesi_word_refused(tesi_words_of(r->ctx), word);
    if (refused) return tesi_case_refuse(r, key, "%.60s: %s", word, refused);
  }
  return TES_OK;
}

static TesStatus check_shapes_of_scalar(TesiCaseReader *r) {
  static const char *const keys[] = {"data.f", "data.exact"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *initial = tesi_case_given(r, "data.initial");
  for (int i = 0; i < 2; i++)
    if (r->entries[tesi_case_row(keys[i])])
      TES_TRY(tesi_case_refuse(r, keys[i], "expected one expression, got a list"));
  if (initial && initial->kind == TESI_YAML_MAP && !r->error_count && !tesi_case_given(r, "data.initial.file"))
    TES_TRY(tesi_case_refuse(r, "data.initial", "expected one expression, or {file: FILE}"));
done:
  return status;
}

TesStatus tesi_case_check_support(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  TES_TRY(find_row(r));
  if (!r->support) goto done;
  TES_TRY(check_name(r));
  TES_TRY(check_faces(r));
  TES_TRY(compare(r));
  if (r->support->flow)
    TES_TRY(check_shapes_of_flow(r));
  else
    TES_TRY(r->support->vector ? tesi_case_check_elasticity(r) : check_shapes_of_scalar(r));
  d->c.problem.grad_div = d->stabilization == TESI_GRAD_DIV;
  if (d->c.problem.grad_div) d->stabilization = TES_STREAMLINE_AUTO;
done:
  return status;
}
