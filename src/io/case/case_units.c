/* Units in case files: whether a number with a unit is of the kind of its key. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"
#include "io/expression/units.h"

/* Keys by how their path begins and by their last name; NULL: any. */
typedef struct Kind {
  const char *begin, *name, *what;
  int dimension[2][TESI_DIMENSIONS]; /* either of them */
  bool either;
} Kind;
#define STRESS                                                                                               \
  { -1, 1, -2 }
#define LENGTH                                                                                               \
  { 1 }
static const Kind kinds[] = {
    {"data.young", NULL, "a stress, as 210 GPa", {STRESS}, false},
    {"data.lambda", NULL, "a stress, as 210 GPa", {STRESS}, false},
    {"data.mu", NULL, "a stress, as 80 GPa", {STRESS}, false},
    {"data.poisson", NULL, "a number without a unit", {{0}}, false},
    {"data.density", NULL, "a density, as 7850 kg/m^3", {{-3, 1}}, false},
    {"data.expansion", NULL, "an expansion, as 12e-6 1/K", {{0, 0, 0, -1}}, false},
    {"data.temperature", NULL, "a temperature, as 80 K", {{0, 0, 0, 1}}, false},
    {"data.gravity", NULL, "an acceleration, as 9.81 m/s^2", {{1, 0, -2}}, false},
    {"data.rotation.speed", NULL, "an angle per time, as 3000 rpm", {{0, 0, -1}}, false},
    {"data.rotation.point", NULL, "a length, as 3 mm", {LENGTH}, false},
    {"data.rotation.axis", NULL, "a number without a unit", {{0}}, false},
    {"mesh.", "lower", "a length, as 3 mm", {LENGTH}, false},
    {"mesh.", "upper", "a length, as 3 mm", {LENGTH}, false},
    {"mesh.", "centre", "a length, as 3 mm", {LENGTH}, false},
    {"mesh.", "radius", "a length, as 3 mm", {LENGTH}, false},
    {"mesh.", "inner_radius", "a length, as 3 mm", {LENGTH}, false},
    {"boundary.", "displacement", "a length, as 0.3 mm", {LENGTH}, false},
    {"boundary.", "radial", "a length, as 0.02 mm", {LENGTH}, false},
    {"boundary.", "velocity", "a velocity, as 2 m/s", {{1, 0, -1}}, false},
    {"boundary.", "pressure", "a stress, as 2 MPa", {STRESS}, false},
    {"boundary.",
     "traction",
     "a stress, as 2 MPa, or along curves a force per length",
     {STRESS, {0, 1, -2}},
     true},
    {"boundary.", "force", "a force, as 20 kN, or in 2D a force per length", {{1, 1, -2}, {0, 1, -2}}, true},
    {"time.end", NULL, "a time, as 2 s", {{0, 0, 1}}, false},
    {"time.start", NULL, "a time, as 2 s", {{0, 0, 1}}, false},
    {"time.step", NULL, "a time, as 2 ms", {{0, 0, 1}}, false},
    {"time.max_step", NULL, "a time, as 2 ms", {{0, 0, 1}}, false},
    {"time.min_step", NULL, "a time, as 2 ms", {{0, 0, 1}}, false},
    {"time.", NULL, "a number without a unit", {{0}}, false},
    {"solver.", NULL, "a number without a unit", {{0}}, false},
    {"adapt.fraction", NULL, "a number without a unit", {{0}}, false}};

static const Kind *kind_of(const TesiKey *key) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const Kind *k = &kinds[i];
    if (strncmp(key->path, k->begin, strlen(k->begin)) != 0) continue;
    if (k->name ? !strcmp(tesi_key_name(key), k->name)
                : !key->path[strlen(k->begin)] || k->begin[strlen(k->begin) - 1] == '.')
      return k;
  }
  return NULL;
}

TesStatus tesi_case_check_unit(TesiCaseReader *r, int row, const char *text) {
  const TesiKey *key = &tesi_case_keys[row];
  const Kind *kind = kind_of(key);
  int found[TESI_DIMENSIONS];
  if (!kind || !tesi_unit_quantity(text, found) || !memcmp(found, kind->dimension[0], sizeof found) ||
      (kind->either && !memcmp(found, kind->dimension[1], sizeof found)))
    return TES_OK;
  return tesi_case_refuse(r, key->path, "expected %s, got '%.60s', which is of another kind", kind->what,
                          text);
}
