#include "io/expression/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/expression/expression_token.h"
#include "io/number.h"

const char *const tesi_units_words[] = {"none", "SI", "mm-N-MPa", NULL};

static const struct Unit {
  const char *name;
  double si;
  int dimension[TESI_DIMENSIONS];
} units[] = {{"m", 1, {1}},
             {"cm", 1e-2, {1}},
             {"mm", 1e-3, {1}},
             {"um", 1e-6, {1}},
             {"km", 1e3, {1}},
             {"in", 0.0254, {1}},
             {"kg", 1, {0, 1}},
             {"g", 1e-3, {0, 1}},
             {"t", 1e3, {0, 1}},
             {"s", 1, {0, 0, 1}},
             {"ms", 1e-3, {0, 0, 1}},
             {"min", 60, {0, 0, 1}},
             {"h", 3600, {0, 0, 1}},
             {"K", 1, {0, 0, 0, 1}},
             {"N", 1, {1, 1, -2}},
             {"kN", 1e3, {1, 1, -2}},
             {"MN", 1e6, {1, 1, -2}},
             {"Pa", 1, {-1, 1, -2}},
             {"kPa", 1e3, {-1, 1, -2}},
             {"MPa", 1e6, {-1, 1, -2}},
             {"GPa", 1e9, {-1, 1, -2}},
             {"bar", 1e5, {-1, 1, -2}},
             {"psi", 6894.757293168362, {-1, 1, -2}},
             {"J", 1, {2, 1, -2}},
             {"W", 1, {2, 1, -3}},
             {"kW", 1e3, {2, 1, -3}},
             {"Hz", 1, {0, 0, -1}},
             {"rad", 1, {0}},
             {"deg", 3.14159265358979323846 / 180, {0}},
             {"rpm", 3.14159265358979323846 / 30, {0, 0, -1}}};
enum { UNITS = sizeof units / sizeof *units };

const char *tesi_unit_list(void) {
  return "m, cm, mm, um, km, in, kg, g, t, s, ms, min, h, K, N, kN, MN, Pa, kPa, MPa, GPa, bar, psi, J, W, "
         "kW, Hz, rad, "
         "deg, rpm, with powers, / and *, as kg/m^3";
}

/* A symbol with its power; 0: there is none. */
static size_t read_factor(const char *text, int sign, double *si, int dimension[TESI_DIMENSIONS]) {
  size_t length = 0;
  const struct Unit *unit = NULL;
  int power = 0;
  while (tesi_is_letter(text[length]) || tesi_is_digit(text[length])) length++;
  for (int i = 0; i < UNITS; i++)
    if (strlen(units[i].name) == length && !strncmp(units[i].name, text, length)) unit = &units[i];
  if (!unit || text[length] == '(') return 0;
  if (text[length] == '^' &&
      (tesi_is_digit(text[length + 1]) || (text[length + 1] == '-' && tesi_is_digit(text[length + 2])))) {
    const bool negative = text[++length] == '-';
    length += negative;
    while (tesi_is_digit(text[length]) && power < 10) power = 10 * power + text[length++] - '0';
    power *= negative ? -1 : 1;
  } else {
    power = 1;
  }
  *si *= pow(unit->si, sign * power);
  for (int d = 0; d < TESI_DIMENSIONS; d++) dimension[d] += sign * power * unit->dimension[d];
  return length;
}

size_t tesi_unit_read(const char *text, double *si, int dimension[TESI_DIMENSIONS]) {
  *si = 1;
  memset(dimension, 0, TESI_DIMENSIONS * sizeof *dimension);
  const bool inverse = text[0] == '1' && text[1] == '/'; /* 1/K */
  size_t length = read_factor(text + (inverse ? 2 : 0), inverse ? -1 : 1, si, dimension);
  if (inverse && length) length += 2;
  while (length && (text[length] == '/' || text[length] == '*')) {
    const size_t more = read_factor(text + length + 1, text[length] == '/' ? -1 : 1, si, dimension);
    if (!more) break;
    length += 1 + more;
  }
  return length;
}

/* The units of mm-N-MPa are mm, t, s, K. */
double tesi_unit_scale(TesiUnits system, const int dimension[TESI_DIMENSIONS]) {
  return system == TESI_UNITS_MM ? pow(10, 3 * (dimension[0] - dimension[1])) : 1;
}

bool tesi_unit_quantity(const char *text, int dimension[TESI_DIMENSIONS]) {
  double number, si;
  text += strspn(text, " +-");
  size_t at = tesi_number_read(text, &number);
  if (!at) return false;
  at += strspn(text + at, " ");
  const size_t length = tesi_unit_read(text + at, &si, dimension);
  return length && !text[at + length + strspn(text + at + length, " ")];
}

/* Adds the units of positive powers (sign 1), or of negative ones, with a sign between them. */
static void add_powers(int sign, int units, const char *const *name, const int *power,
                       char text[TESI_UNIT_TEXT]) {
  for (int i = 0; i < units; i++) {
    const size_t at = strlen(text);
    const char *between = sign < 0 ? "/" : at ? "*" : "";
    if (sign * power[i] < 1) continue;
    if (sign < 0 && !at) between = "1/";
    if (sign * power[i] == 1)
      snprintf(text + at, TESI_UNIT_TEXT - at, "%s%s", between, name[i]);
    else
      snprintf(text + at, TESI_UNIT_TEXT - at, "%s%s^%d", between, name[i], sign * power[i]);
  }
}

/* What has mass is a stress, or a force, times powers of length and time. */
void tesi_unit_name(TesiUnits system, const int dimension[TESI_DIMENSIONS], char text[TESI_UNIT_TEXT]) {
  const bool mm = system == TESI_UNITS_MM;
  const int mass = dimension[1];
  const bool force = mass == 1 && dimension[0] >= 0;
  const int power[] = {mass, dimension[0] + (force ? -1 : mass), dimension[2] + 2 * mass, dimension[3]};
  const char *const name[] = {force ? "N" : mm ? "MPa" : "Pa", mm ? "mm" : "m", "s", "K"};
  text[0] = 0;
  if (system == TESI_UNITS_NONE) return;
  add_powers(1, 4, name, power, text);
  add_powers(-1, 4, name, power, text);
}
