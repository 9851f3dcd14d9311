/* Output of a solution that a case requests: points, values, lines, pictures. */
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "io/case/case_reader.h"
#include "base/nearest.h"
#include "io/expression/units.h"
#include "io/number.h"

static TesStatus copy_place(const TesiCaseReader *r, const TesiYaml *node, char **copy) {
  char where[256];
  tesi_case_place(r, node, where);
  return tesi_copy_text(r->ctx, where, copy);
}

static bool is_text(const TesiYaml *node) {
  return node && node->kind == TESI_YAML_SCALAR && *node->text;
}

/* The known keys of a map; other keys are reported. */
static TesStatus check_keys(TesiCaseReader *r, int row, const TesiYaml *map, const char *const *known) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  for (const TesiYaml *child = map->first; child; child = child->next) {
    TesiNearest nearest = {.name = child->key};
    char list[120] = "";
    bool found = false;
    for (int i = 0; known[i]; i++) {
      found = found || !strcmp(known[i], child->key);
      tesi_nearest_try(&nearest, known[i]);
      snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", known[i]);
    }
    if (found) continue;
    TES_TRY(tesi_case_error(r, row, child,
                            nearest.best ? "unknown key '%.60s'; did you mean '%s'?"
                                         : "unknown key '%.60s'; known keys: %s",
                            child->key, nearest.best ? nearest.best : list));
  }
done:
  return status;
}

/* A list with one number per direction. */
static TesStatus read_point(TesiCaseReader *r, int row, const TesiYaml *node, double x[3]) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int dim = tesi_case_dim(r);
  bool valid = true;
  int n = 0;
  if (!node || node->kind != TESI_YAML_LIST || node->count != dim) {
    TES_TRY(tesi_case_error(r, row, node, "expected a point, a list of %d numbers", dim));
    goto done;
  }
  for (const TesiYaml *item = node->first; item; item = item->next)
    TES_TRY(tesi_case_number(r, row, item, &x[n++], &valid));
done:
  return status;
}

/* ---- points -------------------------------------------------------------------------------------------- */

static TesStatus read_points(TesiCaseReader *r, int row, const TesiYaml *node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  if (node->kind == TESI_YAML_SCALAR) return tesi_case_wrong(r, row, node);
  TES_ALLOC(&c->point, node->count + 1);
  for (const TesiYaml *item = node->first; item; item = item->next) {
    TesCasePoint *point = &c->point[c->points++];
    if (item->key) TES_TRY(tesi_copy_text(ctx, item->key, &point->name));
    TES_TRY(copy_place(r, item, &point->where));
    TES_TRY(read_point(r, row, item, point->x));
  }
done:
  return status;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static TesStatus read_count(TesiCaseReader *r, int row, const TesiYaml *node, int low, int high, int *count) {
  if (!node) return TES_OK;
  if (is_text(node) && tesi_integer_parse(node->text, count) && *count >= low && *count <= high)
    return TES_OK;
  return tesi_case_error(r, row, node, "expected an integer from %d to %d", low, high);
}

static TesStatus read_line(TesiCaseReader *r, int row, const TesiYaml *node, TesCaseLine *line) {
  static const char *const keys[] = {"from", "to", "count", "file", NULL};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  if (node->kind != TESI_YAML_MAP) return tesi_case_error(r, row, node, "expected {from, to, count, file}");
  const TesiYaml *from = tesi_yaml_find(node, "from"), *to = tesi_yaml_find(node, "to"),
                 *file = tesi_yaml_find(node, "file");
  line->count = 101;
  TES_TRY(check_keys(r, row, node, keys));
  TES_TRY(read_point(r, row, from ? from : node, line->from));
  TES_TRY(read_point(r, row, to ? to : node, line->to));
  if (!r->error_count && !memcmp(line->from, line->to, sizeof line->from))
    TES_TRY(tesi_case_error(r, row, to,
                            "`from` and `to` are the same point: a line has two (points: output.points)"));
  TES_TRY(read_count(r, row, tesi_yaml_find(node, "count"), 2, 1000000, &line->count));
  if (!is_text(file))
    TES_TRY(tesi_case_error(r, row, node, "a line needs a file, to which it is written"));
  else
    TES_TRY(tesi_case_file_name(r, row, file, &line->file));
  TES_TRY(copy_place(r, node, &line->where));
done:
  return status;
}

static TesStatus read_lines(TesiCaseReader *r, int row, const TesiYaml *node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  if (node->kind != TESI_YAML_LIST) return tesi_case_wrong(r, row, node);
  TES_ALLOC(&c->line, node->count + 1);
  for (const TesiYaml *item = node->first; item; item = item->next)
    TES_TRY(read_line(r, row, item, &c->line[c->lines++]));
done:
  return status;
}

static TesStatus refuse_of(TesiCaseReader *r, int row, const TesiYaml *of) {
  return tesi_case_error(r, row, of, "expected an expression");
}

/* ---- values -------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  TesValueKind kind;
} kinds[] = {{"point", TES_VALUE_POINT}, {"mean", TES_VALUE_MEAN},   {"integral", TES_VALUE_INTEGRAL},
             {"force", TES_VALUE_FORCE}, {"error", TES_VALUE_ERROR}, {"max", TES_VALUE_MAXIMUM},
             {"min", TES_VALUE_MINIMUM}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The child that gives the kind, and the number of such children. */
static const TesiYaml *find_kind(const TesiYaml *map, TesValueKind *kind, int *count) {
  const TesiYaml *found = NULL;
  *count = 0;
  for (int i = 0; i < KINDS; i++) {
    const TesiYaml *node = tesi_yaml_find(map, kinds[i].name);
    if (!node) continue;
    ++*count;
    found = node, *kind = kinds[i].kind;
  }
  return found;
}

/* On a boundary, in a direction. */
static TesStatus check_force(TesiCaseReader *r, int row, const TesiYaml *node, const TesCaseValue *v) {
  const char *of = v->value.of ? v->value.of : "";
  if (!v->place) return tesi_case_error(r, row, node, "expected the name of a boundary, got 'domain'");
  if (strlen(of) == 1 && strchr(tesi_case_dim(r) == 2 ? "xy" : "xyz", *of)) return TES_OK;
  return tesi_case_error(r, row, node, "a force is in a direction: {force: %.40s, of: x}, %s", v->place,
                         tesi_case_dim(r) == 2 ? "or y" : "y or z");
}

/* The names that the problem will have; returns how many. */
static int fields_of(TesiCaseReader *r, TesiFieldNames *names, TesiField *field, const TesiFieldRow **row) {
  tesi_field_names_set(r->draft.c.problem.name, names);
  const TesiFieldsOf of = tesi_support_fields(r->support, tesi_case_dim(r), tesi_case_given(r, "time"),
                                              r->draft.c.problem.average, names);
  return tesi_fields_named(&of, field, row);
}

/* The value of `of` must be known before anything is computed. */
static TesStatus check_of(TesiCaseReader *r, int row, const TesiYaml *node, const char *text, bool boundary) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  char message[512];
  TesiFieldNames names;
  status = tesi_quantity_check(ctx, text, boundary, fields_of(r, &names, field, NULL), field);
  if (status != TES_INVALID_INPUT) return status;
  snprintf(message, sizeof message, "%s", tes_context_message(ctx));
  tesi_context_forget(ctx);
  return tesi_case_error(r, row, node, "%s", message);
}

static bool is_one_of(const char *text, const char *const words[]) {
  bool found = !text;
  for (int i = 0; words[i] && !found; i++) found = !strcmp(text, words[i]);
  return found;
}

static TesStatus check_error(TesiCaseReader *r, int row, const TesiYaml *node, const TesCaseValue *v) {
  static const char *const norms[] = {"l2", "h1", NULL}, *const of_flows[] = {"l2", "velocity_l2",
                                                                              "pressure_l2", NULL};
  const char *of = v->value.of;
  const bool flow = r->support->flow, pressure = of && !strcmp(of, "pressure_l2");
  const bool known = flow && pressure ? r->draft.exact_pressure != NULL : r->draft.exact[0] != NULL;
  const char *wrong = v->place   ? "the error is that on the domain: {error: domain, of: l2}"
                      : known    ? NULL
                      : !flow    ? "the error needs data.exact"
                      : pressure ? "the error needs data.exact.pressure"
                                 : "the error needs data.exact.velocity";
  if (!v->place && !is_one_of(of, flow ? of_flows : norms))
    return tesi_case_error(r, row, node, "expected %s, got '%.60s'",
                           flow ? "l2, velocity_l2 or pressure_l2" : "l2 or h1", of);
  return wrong ? tesi_case_error(r, row, node, "%s", wrong) : TES_OK;
}

static TesStatus read_value(TesiCaseReader *r, int row, const TesiYaml *node, TesCaseValue *v) {
  static const char *const keys[] = {"point", "mean", "integral", "force", "error", "max", "min", "of", NULL};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  int count = 0;
  const TesiYaml *of = NULL, *what = NULL;
  TES_TRY(tesi_copy_text(ctx, node->key, &v->name));
  TES_TRY(copy_place(r, node, &v->where));
  if (node->kind == TESI_YAML_MAP) {
    TES_TRY(check_keys(r, row, node, keys));
    what = find_kind(node, &v->value.kind, &count);
    of = tesi_yaml_find(node, "of");
  }
  if (count == 0 && is_text(of)) {
    TES_TRY(tesi_case_read_derived(r, of, v));
    goto done;
  }
  if (count != 1) {
    TES_TRY(tesi_case_error(r, row, node,
                            "expected exactly one of point, mean, integral, force, error, max, min, or "
                            "{of: EXPRESSION} in other values"));
    goto done;
  }
  if (v->value.kind == TES_VALUE_FORCE && !tesi_case_has(r, TESI_HAS_FORCE)) {
    char others[TESI_REASON];
    tesi_support_who(TESI_HAS_FORCE, others);
    TES_TRY(tesi_case_error(r, row, what, "it belongs to %s", others));
    goto done;
  }
  if (v->value.kind == TES_VALUE_POINT)
    TES_TRY(read_point(r, row, what, v->value.point));
  else if (!is_text(what))
    TES_TRY(tesi_case_error(r, row, what, "expected domain, or the name of a boundary or material"));
  else if (strcmp(what->text, "domain"))
    TES_TRY(tesi_copy_text(ctx, what->text, &v->place));
  if (of && !is_text(of)) TES_TRY(refuse_of(r, row, of));
  if (is_text(of)) TES_TRY(tesi_copy_text(ctx, of->text, (char **)&v->value.of));
  if (v->value.kind == TES_VALUE_ERROR)
    TES_TRY(check_error(r, row, of ? of : node, v));
  else if (v->value.kind == TES_VALUE_FORCE)
    TES_TRY(check_force(r, row, of ? of : node, v));
  else if (is_text(of))
    TES_TRY(check_of(r, row, of, of->text, v->place != NULL));
done:
  return status;
}

static TesStatus read_values(TesiCaseReader *r, int row, const TesiYaml *node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  if (node->kind != TESI_YAML_MAP) return tesi_case_wrong(r, row, node);
  TES_ALLOC(&c->value, node->count + 1);
  for (const TesiYaml *item = node->first; item; item = item->next)
    if (!(tesi_yaml_is_null(item) && *item->text)) /* null removes it */
      TES_TRY(read_value(r, row, item, &c->value[c->values++]));
  TES_TRY(tesi_case_resolve_derived(r, row, node));
done:
  return status;
}

/* ---- pictures ------------------------------------------------------------------------------------------ */

/* "z=0.5" */
static TesStatus read_slice(TesiCaseReader *r, int row, const TesiYaml *node, TesCasePicture *picture) {
  const char *axis = is_text(node) ? strchr("xyz", node->text[0]) : NULL,
             *equals = axis ? node->text + 1 : NULL;
  if (tesi_case_dim(r) == 2)
    return tesi_case_error(r, row, node, "the mesh has two dimensions, and is shown as it is");
  while (equals && *equals == ' ') equals++;
  bool valid = false;
  if (equals && *equals == '=') {
    const char *text = equals + 1 + strspn(equals + 1, " ");
    const TesStatus status = tesi_case_part(r, row, "mesh.box.lower", text, &picture->at, &valid);
    if (status != TES_OK) return status;
  }
  if (!valid) return tesi_case_error(r, row, node, "expected a direction and a number, as \"z=0.5\"");
  picture->slice = 1 + (node->text[0] - 'x');
  return TES_OK;
}

static bool take_edges(const TesiYaml *node, bool *edges) {
  *edges = is_text(node) && !strcmp(node->text, "true");
  return *edges || (is_text(node) && !strcmp(node->text, "false"));
}

/* A number, which may have a unit of any kind. */
static bool take_number(TesiCaseReader *r, int row, const TesiYaml *node, double *value) {
  bool valid = false;
  return is_text(node) && tesi_case_part(r, row, NULL, node->text, value, &valid) == TES_OK && valid;
}

static bool take_range(TesiCaseReader *r, int row, const TesiYaml *node, double range[2]) {
  int n = 0;
  for (const TesiYaml *item = node->first; node->kind == TESI_YAML_LIST && item; item = item->next, n++)
    if (n == 2 || !take_number(r, row, item, &range[n])) return false;
  return n == 2 && range[0] < range[1];
}

static bool take_colours(const TesiYaml *node, TesColourMap *colours) {
  static const char *const words[] = {"auto", "viridis", "diverging", NULL};
  for (int i = 0; is_text(node) && words[i]; i++) {
    *colours = (TesColourMap)i;
    if (!strcmp(node->text, words[i])) return true;
  }
  return false;
}

/* A list, or true: the vector of the unknowns. */
static bool is_arrows(TesiCaseReader *r, const TesiYaml *node) {
  bool texts = node->kind == TESI_YAML_LIST && node->count == tesi_case_dim(r);
  for (const TesiYaml *item = node->first; item; item = item->next) texts = texts && is_text(item);
  const bool vector = r->support->flow || tesi_case_has(r, TESI_HAS_START_DISPLACEMENT);
  return texts ||
         (is_text(node) && (!strcmp(node->text, "false") || (vector && !strcmp(node->text, "true"))));
}

static TesStatus read_arrows(TesiCaseReader *r, int row, const TesiYaml *node, TesCasePicture *picture) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *item = node->first;
  const bool none = is_text(node) && !strcmp(node->text, "false");
  for (int d = 0; d < tesi_case_dim(r) && !none; d++, item = item ? item->next : NULL) {
    TES_TRY(tesi_copy_text(ctx, item ? item->text : tesi_field_names[d][0], &picture->arrows[d]));
    TES_TRY(check_of(r, row, item ? item : node, picture->arrows[d], false));
  }
done:
  return status;
}

/* edges, range, title, colours, warp, arrows */
static TesStatus read_look(TesiCaseReader *r, int row, const TesiYaml *node, TesCasePicture *picture) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *range = tesi_yaml_find(node, "range"), *title = tesi_yaml_find(node, "title"),
                 *colours = tesi_yaml_find(node, "colours"), *warp = tesi_yaml_find(node, "warp"),
                 *edges = tesi_yaml_find(node, "edges"), *arrows = tesi_yaml_find(node, "arrows"),
                 *wrong = NULL;
  const char *expected = NULL;
  if (edges && !take_edges(edges, &picture->edges)) wrong = edges, expected = "true or false";
  if (range && !take_range(r, row, range, picture->range))
    wrong = range, expected = "two numbers that ascend, as [0, 1]";
  if (title && !is_text(title)) wrong = title, expected = "a text";
  if (colours && !take_colours(colours, &picture->colours))
    wrong = colours, expected = "auto, viridis or diverging";
  if (warp && !take_number(r, row, warp, &picture->warp))
    wrong = warp, expected = "the number that displacements are multiplied by";
  else if (warp && !tesi_case_has(r, TESI_HAS_START_DISPLACEMENT))
    wrong = warp, expected = "a problem with a displacement, which is elasticity";
  if (arrows && !is_arrows(r, arrows))
    wrong = arrows,
    expected = tesi_case_dim(r) == 2
                   ? "a list of 2 expressions, as [-ux, -uy], or true in problems with a vector"
                   : "a list of 3 expressions, as [-ux, -uy, -uz], or true in problems with a vector";
  if (wrong) TES_TRY(tesi_case_error(r, row, wrong, "expected %s", expected));
  if (arrows && !wrong) TES_TRY(read_arrows(r, row, arrows, picture));
  if (title && !wrong) TES_TRY(tesi_copy_text(ctx, title->text, &picture->title));
done:
  return status;
}

static TesStatus read_picture(TesiCaseReader *r, int row, const TesiYaml *node) {
  static const char *const keys[] = {"file",  "of",    "slice",   "edges", "width",  "every",
                                     "range", "title", "colours", "warp",  "arrows", NULL};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCasePicture *picture = &r->draft.c.picture;
  const bool map = node->kind == TESI_YAML_MAP;
  const TesiYaml *file = map ? tesi_yaml_find(node, "file") : node,
                 *of = map ? tesi_yaml_find(node, "of") : NULL,
                 *slice = map ? tesi_yaml_find(node, "slice") : NULL,
                 *every = map ? tesi_yaml_find(node, "every") : NULL;
  if (map) TES_TRY(check_keys(r, row, node, keys));
  if (file && !is_text(file)) {
    TES_TRY(tesi_case_wrong(r, row, node));
    goto done;
  }
  if (file && !(map && tesi_yaml_is_null(file))) TES_TRY(tesi_case_file_name(r, row, file, &picture->file));
  if (of && !is_text(of)) TES_TRY(refuse_of(r, row, of));
  if (is_text(of)) TES_TRY(tesi_copy_text(ctx, of->text, &picture->of));
  if (is_text(of)) TES_TRY(check_of(r, row, of, of->text, false));
  if (slice) TES_TRY(read_slice(r, row, slice, picture));
  if (!map) goto done;
  TES_TRY(read_count(r, row, tesi_yaml_find(node, "width"), 200, 8000, &picture->width));
  if (every) TES_TRY(tesi_case_every(r, row, every, &picture->every));
  TES_TRY(read_look(r, row, node, picture));
done:
  return status;
}

/* Units of the picture, and of values that are some value of a field, or a force of elasticity. */
static void find_units(TesiCaseReader *r) {
  TesiField field[TESI_FIELDS];
  const TesiFieldRow *row[TESI_FIELDS];
  TesiFieldNames names;
  TesCase *c = &r->draft.c;
  TesCasePicture *picture = &c->picture;
  if (!r->draft.units || !r->support || !r->mesh_known) return;
  const int fields = fields_of(r, &names, field, row);
  tesi_case_unit_of(r, fields, field, row, picture->of, picture->unit);
  for (int i = 0; i < c->values; i++) {
    const TesValue *v = &c->value[i].value;
    const int force[TESI_DIMENSIONS] = {tesi_case_dim(r) == 3 ? 1 : 0, 1, -2};
    if (c->value[i].derived || v->kind == TES_VALUE_INTEGRAL || v->kind == TES_VALUE_ERROR) continue;
    if (v->kind != TES_VALUE_FORCE)
      tesi_case_unit_of(r, fields, field, row, v->of, c->value[i].unit);
    else if (!r->support->flow)
      tesi_unit_name((TesiUnits)r->draft.units, force, c->value[i].unit);
  }
}

/* ---- plots --------------------------------------------------------------------------------------------- */

static TesStatus add_plot_line(TesiCaseReader *r, int row, const TesiYaml *item) {
  TesCase *c = &r->draft.c;
  TesiNearest nearest = {.name = is_text(item) ? item->text : ""};
  char list[200] = "";
  for (int i = 0; i < c->values; i++) {
    if (!strcmp(nearest.name, c->value[i].name)) {
      c->plot.of[c->plot.lines++] = i;
      return TES_OK;
    }
    tesi_nearest_try(&nearest, c->value[i].name);
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", c->value[i].name);
  }
  return tesi_case_error(r, row, item,
                         nearest.best ? "no value is called '%.60s'; did you mean '%.60s'?"
                                      : "no value is called '%.60s'; output.values has %s",
                         nearest.name, nearest.best ? nearest.best : list);
}

static TesStatus read_plot(TesiCaseReader *r, int row, const TesiYaml *node) {
  static const char *const keys[] = {"file", "of", NULL};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  const bool map = node->kind == TESI_YAML_MAP;
  const TesiYaml *file = map ? tesi_yaml_find(node, "file") : node,
                 *of = map ? tesi_yaml_find(node, "of") : NULL;
  if (map) TES_TRY(check_keys(r, row, node, keys));
  const char *wrong = !is_text(file) ? "expected a file, or {file: plot.svg, of: [names of values]}"
                      : !tesi_case_given(r, "output.series")
                          ? "a plot shows output.values of output.series: output.series is missing"
                      : !c->values ? "a plot shows output.values of output.series: output.values is missing"
                      : of && (of->kind != TESI_YAML_LIST || !of->first)
                          ? "expected a list of names of output.values"
                          : NULL;
  if (wrong) TES_TRY(tesi_case_error(r, row, of && is_text(file) ? of : node, "%s", wrong));
  if (wrong) goto done;
  TES_TRY(tesi_case_file_name(r, row, file, &c->plot.file));
  TES_ALLOC(&c->plot.of, c->values + (of ? of->count : 0) + 1);
  for (const TesiYaml *item = of ? of->first : NULL; item; item = item->next)
    TES_TRY(add_plot_line(r, row, item));
  for (int i = 0; !of && i < c->values; i++) c->plot.of[c->plot.lines++] = i;
done:
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

TesStatus tesi_case_read_outputs(TesiCaseReader *r) {
  static const struct {
    const char *path;
    TesStatus (*read)(TesiCaseReader *r, int row, const TesiYaml *node);
  } rows[] = {{"output.points", read_points},
              {"output.values", read_values},
              {"output.lines", read_lines},
              {"output.png", read_picture},
              {"output.plot", read_plot}};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  r->draft.c.picture.width = 900;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const int row = tesi_case_row(rows[i].path);
    if (r->node[row]) TES_TRY(rows[i].read(r, row, r->node[row]));
  }
  find_units(r);
done:
  return status;
}

void tesi_case_clear_outputs(TesCase *c) {
  TesContext *ctx = c->context;
  for (int i = 0; i < c->points; i++) {
    tesi_free(ctx, &c->point[i].name);
    tesi_free(ctx, &c->point[i].where);
  }
  for (int i = 0; i < c->lines; i++) {
    tesi_free(ctx, &c->line[i].file);
    tesi_free(ctx, &c->line[i].where);
  }
  for (int i = 0; i < c->values; i++) {
    tesi_free(ctx, &c->value[i].name);
    tesi_free(ctx, &c->value[i].place);
    tesi_free(ctx, &c->value[i].where);
    tesi_free(ctx, &c->value[i].value.of);
    tesi_case_free_derived(ctx, &c->value[i].derived);
  }
  tesi_free(ctx, &c->point);
  tesi_free(ctx, &c->line);
  tesi_free(ctx, &c->value);
  tesi_free(ctx, &c->picture.file);
  tesi_free(ctx, &c->picture.of);
  tesi_free(ctx, &c->picture.title);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &c->picture.arrows[d]);
  tesi_free(ctx, &c->plot.file);
  tesi_free(ctx, &c->plot.of);
}
