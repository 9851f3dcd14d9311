/* The rows as tables of Markdown: docs/support.md between its marks, and `tessera info --support`. */
#include <stdio.h>
#include <string.h>
#include "problem/field_rows.h"
#include "problem/support.h"

typedef struct Page {
  char *buffer;
  size_t size, length; /* length may be larger than size: the length of the complete text */
} Page;

static void put(Page *p, const char *format, ...) TESI_PRINTF(2, 3);
static void put(Page *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const bool room = p->length < p->size;
  const int n =
      vsnprintf(room ? p->buffer + p->length : NULL, room ? p->size - p->length : 0, format, arguments);
  va_end(arguments);
  if (n > 0) p->length += (size_t)n;
}

static void put_degrees(Page *p, const TesiSupport *row) {
  put(p, row->degree.least == row->degree.most ? "%d" : "%d to %d", row->degree.least, row->degree.most);
  if (row->degree.on_cells)
    put(p, ", %d on other meshes than open boxes%s", row->degree.on_cells,
        row->degree.carrying ? " or with a velocity" : "");
  put(p, " (%d)", row->degree.usual);
}

static void put_kernels(Page *p, const TesiSupport *row) {
  const bool carries = row->has & TESI_BIT(TESI_HAS_B);
  if (row->degree.kernels)
    put(p, "to %d%s", row->degree.kernels, carries ? " with a velocity" : "");
  else if (row->degree.kernels_in_space)
    put(p, "all in 2D, to %d in 3D", row->degree.kernels_in_space);
  else
    put(p, "all");
}

static const char *const mesh_words[TESI_MESH_ROWS] = {"boxes", "periodic boxes", "trees"};

static void put_elements(Page *p) {
  const TesiSupport *row;
  put(p, "| Problem | Unknowns | Meshes | Degrees (usual) | Degrees with kernels |\n|---|---|---|---|---|\n");
  for (int i = 0; (row = tesi_support_row(i)); i++) {
    char name[80];
    tesi_support_name(row, name);
    put(p, "| %s | %s | ", name, row->unknowns);
    for (int m = 0, count = 0; m < TESI_MESH_ROWS; m++)
      if (row->meshes >> m & 1) put(p, "%s%s", count++ ? ", " : "", mesh_words[m]);
    put(p, " | ");
    put_degrees(p, row);
    put(p, " | ");
    put_kernels(p, row);
    put(p, " |\n");
  }
}

static void put_words(Page *p) {
  static const TesiWordsOf parts[] = {TESI_OF_CONDITION,   TESI_OF_FORM,   TESI_OF_STABILIZATION,
                                      TESI_OF_TIME_METHOD, TESI_OF_METHOD, TESI_OF_LOCAL};
  const TesiSupport *row;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    put(p, "\n| Problem | `%s` |\n|---|---|\n", tesi_support_words[parts[k]].key);
    for (int i = 0; (row = tesi_support_row(i)); i++) {
      char name[80], words[TESI_REASON];
      if (!row->words[parts[k]]) continue;
      tesi_support_name(row, name);
      tesi_support_list(row, parts[k], "and", words);
      put(p, "| %s | %s |\n", name, words);
    }
  }
}

static void put_smoothers(Page *p) {
  const TesiSupport *row;
  put(p, "\n| Problem | `solver.smoother` on boxes | on periodic boxes | on trees |\n|---|---|---|---|\n");
  for (int i = 0; (row = tesi_support_row(i)); i++) {
    char name[80];
    tesi_support_name(row, name);
    put(p, "| %s |", name);
    for (int m = 0; m < TESI_MESH_ROWS; m++) {
      int count = 0;
      for (int w = 0; tesi_smoother_words[w]; w++)
        if (row->meshes >> m & 1 && row->smoother[m] >> w & 1)
          put(p, "%s %s", count++ ? "," : "", tesi_smoother_words[w]);
      put(p, count ? " |" : " - |");
    }
    put(p, "\n");
  }
}

static const struct {
  TesiHas what;
  const char *text;
} features[] = {{TESI_HAS_TIME, "steps in time"},
                {TESI_HAS_CFL, "steps by the velocity (`time.cfl`)"},
                {TESI_HAS_TOLERANCE, "steps by an error (`time.tolerance`)"},
                {TESI_HAS_STEADY_END, "end in a steady state (`time.steady`)"},
                {TESI_HAS_ADAPT, "adaptive solves (`adapt`)"},
                {TESI_HAS_REMESH, "meshes that change in time (`adapt`, `time`)"},
                {TESI_HAS_DWR, "goals (`adapt.goal`)"},
                {TESI_HAS_FORCE_GOAL, "forces as goals (`adapt.goal.force`)"},
                {TESI_HAS_CHECKPOINT, "files of steady solutions (`output.checkpoint`)"},
                {TESI_HAS_RESTART, "restart in time (`--restart`)"},
                {TESI_HAS_OTHER_RESTART, "start from another mesh, degree or element (`data.initial.file`)"},
                {TESI_HAS_POINTS, "values at points and lines (`output.points`, `output.lines`)"},
                {TESI_HAS_FORCE, "forces (`output.values`)"},
                {TESI_HAS_BALANCE, "balance of what goes in and out"},
                {TESI_HAS_SERIES, "series in time (`output.series`)"},
                {TESI_HAS_AVERAGE, "means of values in time (`output.average`)"},
                {TESI_HAS_FIELD_AVERAGE, "means of fields in time (`output.average`)"},
                {TESI_HAS_MEAN_VELOCITY, "a mean velocity that is kept (`data.mean_velocity`)"},
                {TESI_HAS_GRAD_DIV, "grad-div term (`space.stabilization`)"},
                {TESI_HAS_MATERIALS, "materials (`data.materials`)"}};

/* Files of problems in time are those of the restart. */
static void put_matrix(Page *p) {
  const TesiSupport *row;
  put(p, "\n| |");
  for (int i = 0; (row = tesi_support_row(i)); i++)
    put(p, " %s %s |", tesi_equation_words[row->equation], tesi_element_words[row->element]);
  put(p, "\n|---|");
  for (int i = 0; tesi_support_row(i); i++) put(p, "---|");
  for (size_t k = 0; k < sizeof features / sizeof *features; k++) {
    put(p, "\n| %s |", features[k].text);
    for (int i = 0; (row = tesi_support_row(i)); i++)
      put(p, row->has & TESI_BIT(features[k].what) ? " yes |" : " - |");
  }
  put(p, "\n");
}

/* Whether several ranks have a feature that one rank has. */
static void put_on_ranks(Page *p, const TesiSupport *row, bool wanted) {
  int count = 0;
  for (int i = 0; i < TESI_HAS_COUNT; i++) {
    const bool has = row->ranks.has >> i & 1;
    if (!(row->has >> i & 1) || has != wanted || i == TESI_HAS_ADDED_LOAD) continue;
    put(p, "%s`%s`", count++ ? ", " : "", tesi_has_key((TesiHas)i));
  }
  put(p, count ? " |" : "- |");
}

static void put_ranks(Page *p) {
  const TesiSupport *row;
  put(p, "\n| On several ranks | meshes | has | has not |\n|---|---|---|---|\n");
  for (int i = 0; (row = tesi_support_row(i)); i++) {
    char name[80];
    tesi_support_name(row, name);
    if (!row->ranks.meshes) continue;
    put(p, "| %s | ", name);
    for (int m = 0, count = 0; m < TESI_MESH_ROWS; m++)
      if (row->ranks.meshes >> m & 1) put(p, "%s%s", count++ ? ", " : "", mesh_words[m]);
    put(p, " | ");
    put_on_ranks(p, row, true);
    put(p, " ");
    put_on_ranks(p, row, false);
    put(p, "\n");
  }
}

static void put_reasons(Page *p) {
  const TesiSupport *row;
  put(p, "\n| Problem | has not | because |\n|---|---|---|\n");
  for (int i = 0; (row = tesi_support_row(i)); i++) {
    char name[80];
    tesi_support_name(row, name);
    for (const TesiLack *lack = row->lacks; lack && lack->reason; lack++)
      put(p, "| %s | `%s` | %s |\n", name, tesi_has_key(lack->what), lack->reason);
  }
}

static void put_keys(Page *p) {
  put(p, "\n| Key | belongs to |\n|---|---|\n");
  for (int i = 0; i < TESI_HAS_COUNT; i++) {
    char others[TESI_REASON];
    if (strncmp(tesi_has_key((TesiHas)i), "data.", 5)) continue;
    tesi_support_who((TesiHas)i, others);
    put(p, "| `%s` | %s |\n", tesi_has_key((TesiHas)i), others);
  }
}

/* The problems that have a name, in words; or the kind of the name. */
static const char *whose(const TesiFieldRow *row) {
  static const char *const kinds[] = {"elasticity",        "scalars",    "flows",
                                      "scalars, flows",    "elasticity", "scalars, elasticity",
                                      "flows, elasticity", "all"};
  static const char *const names[] = {[TESI_FROM_U] = "all",
                                      [TESI_FROM_P] = "flows",
                                      [TESI_FROM_DATA] = "elasticity",
                                      [TESI_FROM_MEAN] = "means of fields in time",
                                      [TESI_FROM_SQUARE] = "means of fields in time",
                                      [TESI_FROM_RATE] = "in time"};
  if (row->from == TESI_FROM_TEXT) return kinds[row->of];
  return row->from == TESI_FROM_U && row->part ? "flows, elasticity" : names[row->from];
}

static void put_names(Page *p) {
  const TesiFieldRow *row;
  put(p, "\n| Name | of | what it is | unit | computed as |\n|---|---|---|---|---|\n");
  for (int i = 0; (row = tesi_field_row(i)); i++) {
    put(p, "| `%s` | %s%s | %s | %s | ", row->name, whose(row),
        row->dim == 3   ? ", 3D"
        : row->dim == 2 ? ", 2D"
                        : "",
        row->meaning, row->unit);
    put(p, row->text ? "`%s` |\n" : "%s|\n", row->text ? row->text : "");
  }
}

bool tesi_support_feature(int number, TesiHas *what) {
  if (number >= (int)(sizeof features / sizeof *features)) return false;
  *what = features[number].what;
  return true;
}

/* Meshes and degrees of a row, in columns. */
static void put_head_row(Page *p, const TesiSupport *row) {
  static const char *const meshes[TESI_MESH_ROWS] = {"boxes", "periodic boxes", "trees"};
  Page cell = {.buffer = (char[120]){0}, .size = 120};
  for (int m = 0, count = 0; m < TESI_MESH_ROWS; m++)
    if (row->meshes >> m & 1) put(&cell, "%s%s", count++ ? ", " : "", meshes[m]);
  put(p, " *      %-14s%-4s%-30s", tesi_equation_words[row->equation], tesi_element_words[row->element],
      cell.buffer);
  put(p, row->degree.least == row->degree.most ? "%d" : "%d to %d", row->degree.least, row->degree.most);
  if (row->degree.on_cells) put(p, " (%d)", row->degree.on_cells);
  put(p, "; kernels: ");
  put_kernels(p, row);
  put(p, "\n");
}

size_t tesi_support_head(char *buffer, size_t size) {
  static const struct {
    const char *member;
    TesiHas what;
  } members[] = {{"time", TESI_HAS_TIME},
                 {"time.cfl", TESI_HAS_CFL},
                 {"time.tolerance", TESI_HAS_TOLERANCE},
                 {"data.b", TESI_HAS_B},
                 {"material", TESI_HAS_MATERIALS},
                 {"balance", TESI_HAS_BALANCE},
                 {"average", TESI_HAS_FIELD_AVERAGE},
                 {"mean_velocity", TESI_HAS_MEAN_VELOCITY},
                 {"grad_div", TESI_HAS_GRAD_DIV}};
  Page p = {buffer, size, 0};
  const TesiSupport *row;
  if (size) *buffer = 0;
  put(&p,
      " *  Equations, elements, meshes and degrees (in brackets: on other meshes than open boxes):\n *\n");
  for (int i = 0; (row = tesi_support_row(i)); i++) put_head_row(&p, row);
  put(&p, " *\n *  Members of TesProblemDesc belong to\n *\n");
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    char others[TESI_REASON];
    tesi_support_who(members[i].what, others);
    put(&p, " *      %-16s%s\n", members[i].member, others);
  }
  return p.length;
}

size_t tesi_support_table(char *buffer, size_t size) {
  Page p = {buffer, size, 0};
  if (size) *buffer = 0;
  put_elements(&p);
  put_matrix(&p);
  put_reasons(&p);
  put_words(&p);
  put_smoothers(&p);
  put_ranks(&p);
  put_keys(&p);
  put_names(&p);
  return p.length;
}
