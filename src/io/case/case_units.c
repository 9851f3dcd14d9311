/* Units in case files: checks that the unit of a number suits its key. */
#include <string.h>
#include "io/case/case_reader.h"
#include "io/expression/expression.h"
#include "io/number.h"

/* Keys by the beginning of their path and their last name; NULL: any. */
enum { EITHER = 3 };
typedef struct Kind {
  const char *begin, *name, *what;
  int options, dimension[EITHER][TESI_DIMENSIONS];
  const char *problem; /* NULL: all */
} Kind;
#define NUMBER                                                                                               \
  "a number without a unit", 1, {                                                                            \
    { 0 }                                                                                                    \
  }
#define STRESS                                                                                               \
  { -1, 1, -2 }
#define LENGTH                                                                                               \
  { 1 }
#define VELOCITY                                                                                             \
  { 1, 0, -1 }
#define TIME                                                                                                 \
  { 0, 0, 1 }
#define LINE_FORCE                                                                                           \
  { 0, 1, -2 }
#define FORCE                                                                                                \
  { 1, 1, -2 }
#define VOLUME_FORCE                                                                                         \
  { -2, 1, -2 }
static const Kind kinds[] = {
    {"data.young", NULL, "a stress, as 210 GPa", 1, {STRESS}, NULL},
    {"data.lambda", NULL, "a stress, as 210 GPa", 1, {STRESS}, NULL},
    {"data.mu", NULL, "a stress, as 80 GPa", 1, {STRESS}, NULL},
    {"data.poisson", NULL, NUMBER, NULL},
    {"data.density", NULL, "a density, as 7850 kg/m^3", 1, {{-3, 1}}, NULL},
    {"data.expansion", NULL, "an expansion, as 12e-6 1/K", 1, {{0, 0, 0, -1}}, NULL},
    {"data.temperature", NULL, "a temperature, as 80 K", 1, {{0, 0, 0, 1}}, NULL},
    {"data.gravity", NULL, "an acceleration, as 9.81 m/s^2", 1, {{1, 0, -2}}, NULL},
    {"data.rotation.speed", NULL, "an angle per time, as 3000 rpm", 1, {{0, 0, -1}}, NULL},
    {"data.rotation.point", NULL, "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"data.rotation.axis", NULL, NUMBER, NULL},
    {"data.f", NULL, "a force per volume, as 78 kN/m^3", 1, {VOLUME_FORCE}, "elasticity"},
    {"data.f", NULL, "an acceleration, as 9.81 m/s^2", 1, {{1, 0, -2}}, "navier_stokes"},
    {"data.f", NULL, "a force per volume or an acceleration", 2, {VOLUME_FORCE, {1, 0, -2}}, "stokes"},
    {"data.nu", NULL, "a viscosity, as 1e-6 m^2/s", 1, {{2, 0, -1}}, "navier_stokes"},
    {"data.nu", NULL, "a viscosity, as 1e-3 Pa*s or 1e-6 m^2/s", 2, {{-1, 1, -1}, {2, 0, -1}}, "stokes"},
    {"data.mean_velocity", NULL, "a velocity, as 2 m/s", 1, {VELOCITY}, NULL},
    {"data.b", NULL, "a velocity, as 2 m/s", 1, {VELOCITY}, NULL},
    {"data.initial.displacement", NULL, "a length, as 0.3 mm", 1, {LENGTH}, NULL},
    {"data.initial.velocity", NULL, "a velocity, as 2 m/s", 1, {VELOCITY}, NULL},
    {"data.exact.velocity", NULL, "a velocity, as 2 m/s", 1, {VELOCITY}, NULL},
    {"mesh.map", NULL, "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"mesh.box.spacing", NULL, "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"mesh.", "lower", "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"mesh.", "upper", "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"mesh.", "centre", "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"mesh.", "radius", "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"mesh.", "inner_radius", "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"boundary.", "displacement", "a length, as 0.3 mm", 1, {LENGTH}, NULL},
    {"boundary.", "radial", "a length, as 0.02 mm", 1, {LENGTH}, NULL},
    {"boundary.", "velocity", "a velocity, as 2 m/s", 1, {VELOCITY}, NULL},
    {"boundary.", "pressure", "a stress, as 2 MPa", 1, {STRESS}, "elasticity"},
    {"boundary.", "pressure", "a pressure, as 2 kPa, or by density, in m^2/s^2", 2, {STRESS, {2, 0, -2}}, NULL},
    {"boundary.",
     "traction",
     "a stress, as 2 MPa, or along curves a force per length",
     2,
     {STRESS, LINE_FORCE},
     NULL},
    {"boundary.", "force", "a force, as 20 kN, or in 2D a force per length", 2, {FORCE, LINE_FORCE}, NULL},
    {"boundary.",
     "alpha",
     "a stress per length, as 5 N/mm^3, along curves a stress, at points a force per length",
     3,
     {VOLUME_FORCE, STRESS, LINE_FORCE},
     "elasticity"},
    {"boundary.",
     "g",
     "a stress, along curves a force per length, at points a force",
     3,
     {STRESS, LINE_FORCE, FORCE},
     "elasticity"},
    {"time.end", NULL, "a time, as 2 s", 1, {TIME}, NULL},
    {"time.start", NULL, "a time, as 2 s", 1, {TIME}, NULL},
    {"time.step", NULL, "a time, as 2 ms", 1, {TIME}, NULL},
    {"time.max_step", NULL, "a time, as 2 ms", 1, {TIME}, NULL},
    {"time.min_step", NULL, "a time, as 2 ms", 1, {TIME}, NULL},
    {"time.", NULL, NUMBER, NULL},
    {"output.average.from", NULL, "a time, as 2 s", 1, {TIME}, NULL},
    {"output.points", NULL, "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"output.lines", NULL, "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"output.values", NULL, "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"adapt.goal.point", NULL, "a length, as 3 mm", 1, {LENGTH}, NULL},
    {"solver.", NULL, NUMBER, NULL},
    {"adapt.fraction", NULL, NUMBER, NULL}};

static bool is_problem(const TesiCaseReader *r, const char *problem) {
  const TesiYaml *given = tesi_case_given(r, "problem");
  return !problem || (given && given->text && !strcmp(given->text, problem));
}

static const Kind *kind_of(const TesiCaseReader *r, const TesiKey *key) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const Kind *k = &kinds[i];
    const size_t length = strlen(k->begin);
    if (strncmp(key->path, k->begin, length) != 0 || !is_problem(r, k->problem)) continue;
    if (k->name ? !strcmp(tesi_key_name(key), k->name)
                : !key->path[length] || key->path[length] == '.' || k->begin[length - 1] == '.')
      return k;
  }
  return NULL;
}

/* Of an expression with units. ANY: it has none, or names that only its key knows. */
static TesiDimension dimension_of(const TesiCaseReader *r, const char *text) {
  const TesiWords *words = tesi_words_of(r->ctx);
  TesiTerms terms = {.ctx = r->ctx};
  char message[TESI_EXPRESSION_MESSAGE];
  double number;
  int root;
  if (!words || words->units == TESI_UNITS_NONE || tesi_number_parse(text, &number))
    return (TesiDimension){0};
  const TesStatus status = tesi_expression_parse(&terms, text, tesi_boundary_names, &root, message);
  tesi_terms_free(&terms);
  return status == TES_OK ? terms.dimension : (TesiDimension){0};
}

static TesStatus check(TesiCaseReader *r, int row, int like, const TesiYaml *node, const char *text) {
  const Kind *kind = kind_of(r, &tesi_case_keys[like]);
  const TesiDimension dimension = kind ? dimension_of(r, text) : (TesiDimension){0};
  if (!kind || !dimension.written) return TES_OK;
  for (int i = 0; i < kind->options; i++)
    if (tesi_dimension_may_be(dimension, kind->dimension[i])) return TES_OK;
  return tesi_case_error(r, row, node, "expected %s, got '%.60s', which is of another kind", kind->what, text);
}

TesStatus tesi_case_check_unit_like(TesiCaseReader *r, int row, int like, const char *text) {
  return check(r, row, like, r->node[row], text);
}

TesStatus tesi_case_check_unit(TesiCaseReader *r, int row, const TesiYaml *node) {
  return check(r, row, row, node, node->text);
}

/* ---- the unit of a quantity ---------------------------------------------------------------------------- */

/* Displacements, velocities, and what is called temperature. Other scalars may be anything. */
static bool unit_of_solution(const TesiCaseReader *r, int dimension[TESI_DIMENSIONS]) {
  static const int length[TESI_DIMENSIONS] = LENGTH, velocity[TESI_DIMENSIONS] = VELOCITY,
                   temperature[TESI_DIMENSIONS] = {0, 0, 0, 1};
  const char *name = r->draft.c.problem.name;
  const int *is = is_problem(r, "elasticity")            ? length
                  : r->support->flow                     ? velocity
                  : name && !strcmp(name, "temperature") ? temperature
                                                         : NULL;
  if (is) memcpy(dimension, is, sizeof length);
  return is;
}

/* A pressure of Stokes is divided by the density where the viscosity is: its number tells, if it has a unit. */
static bool unit_of_pressure(const TesiCaseReader *r, int dimension[TESI_DIMENSIONS]) {
  const TesiYaml *nu = tesi_case_given(r, "data.nu");
  const int kinematic[TESI_DIMENSIONS] = {2, 0, -1};
  const TesiDimension of_nu = is_problem(r, "navier_stokes") ? tesi_dimension_known(true, kinematic)
                              : nu && nu->text               ? dimension_of(r, nu->text)
                                                             : (TesiDimension){0};
  if (!of_nu.written) return false;
  memcpy(dimension, of_nu.power, sizeof of_nu.power);
  dimension[2]--;
  return true;
}

/* A factor of the unit of a row of field_rows.c, as [u]^2. Returns its length; 0: it is not known. */
static size_t read_word(const TesiCaseReader *r, const char *text, int dimension[TESI_DIMENSIONS]) {
  static const struct {
    const char *word;
    int dimension[TESI_DIMENSIONS];
    bool (*find)(const TesiCaseReader *r, int dimension[TESI_DIMENSIONS]);
  } words[] = {{"1", {0}, NULL},         {"length", LENGTH, NULL},       {"time", TIME, NULL},
               {"stress", STRESS, NULL}, {"[u]", {0}, unit_of_solution}, {"[p]", {0}, unit_of_pressure}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const size_t length = strlen(words[i].word);
    if (strncmp(text, words[i].word, length) != 0) continue;
    memcpy(dimension, words[i].dimension, sizeof words[i].dimension);
    if (words[i].find && !words[i].find(r, dimension)) return 0;
    const bool squared = !strncmp(text + length, "^2", 2);
    for (int d = 0; d < TESI_DIMENSIONS && squared; d++) dimension[d] *= 2;
    return length + (squared ? 2 : 0);
  }
  return 0;
}

/* "[u]/length": a factor, and others that divide it. */
static bool read_row_unit(const TesiCaseReader *r, const char *text, int dimension[TESI_DIMENSIONS]) {
  int by[TESI_DIMENSIONS];
  size_t length = read_word(r, text, dimension);
  while (length && text[length] == '/') {
    const size_t more = read_word(r, text + length + 1, by);
    if (!more) return false;
    for (int d = 0; d < TESI_DIMENSIONS; d++) dimension[d] -= by[d];
    length += 1 + more;
  }
  return length && !text[length];
}

void tesi_case_unit_of(const TesiCaseReader *r, int fields, const TesiField *field,
                       const TesiFieldRow *const *row, const char *of, char *text) {
  int dimension[TESI_DIMENSIONS];
  *text = 0;
  for (int i = 0; i < fields; i++)
    if (!strcmp(field[i].name, of ? of : field[0].name) && row[i]->unit &&
        read_row_unit(r, row[i]->unit, dimension))
      tesi_unit_name((TesiUnits)r->draft.units, dimension, text);
}
