/* Units after numbers, such as 210 GPa or 7850 kg/m^3, and the systems into which they are converted. */
#ifndef TESI_EXPRESSION_UNITS_H
#define TESI_EXPRESSION_UNITS_H

#include <stdbool.h>
#include <stddef.h>

/* The words of the key `units`. */
typedef enum TesiUnits { TESI_UNITS_NONE, TESI_UNITS_SI, TESI_UNITS_MM } TesiUnits;
extern const char *const tesi_units_words[];

/* Powers of length, mass, time and temperature. */
enum { TESI_DIMENSIONS = 4 };

/* The unit at the beginning of `text`: symbols with powers, joined by / and *, without blanks. *si: its value in m,
 * kg, s, K. Returns its length; 0: there is no unit. */
size_t tesi_unit_read(const char *text, double *si, int dimension[TESI_DIMENSIONS]);
/* The dimension of an expression. NUMBER: without a unit, a pure number in products with units, in the unit of the
 * other side in sums. ANY: not known, as of tables, 2*x and 1 + x; it suits all others. */
typedef struct TesiDimension {
  enum { TESI_DIMENSION_ANY, TESI_DIMENSION_NUMBER, TESI_DIMENSION_KNOWN } is;
  bool written; /* known from a unit in the text, not from coordinates and time alone */
  int power[TESI_DIMENSIONS];
} TesiDimension;

TesiDimension tesi_dimension_known(bool written, const int power[TESI_DIMENSIONS]);
/* Of a b; over: of a/b. */
TesiDimension tesi_dimension_product(TesiDimension a, TesiDimension b, bool over);
/* Of a^n. */
TesiDimension tesi_dimension_power(TesiDimension a, double n);
/* Of what a and b both are, as in a + b or a < b. False: units say that they are of different kinds. */
bool tesi_dimension_join(TesiDimension a, TesiDimension b, TesiDimension *joined);
/* False: a unit says that this is not of the kind `power`. */
bool tesi_dimension_may_be(TesiDimension a, const int power[TESI_DIMENSIONS]);

/* The factor from m, kg, s, K to a system of units. */
double tesi_unit_scale(TesiUnits system, const int dimension[TESI_DIMENSIONS]);
/* Whether the text is a number with a unit and nothing else. */
bool tesi_unit_quantity(const char *text, int dimension[TESI_DIMENSIONS]);
/* The name of a unit of a system, as "MPa/mm" or "m^2/s^2"; "": a number without a unit, or no system. */
enum { TESI_UNIT_TEXT = 24 };
void tesi_unit_name(TesiUnits system, const int dimension[TESI_DIMENSIONS], char text[TESI_UNIT_TEXT]);
/* "m, cm, mm, ..." */
const char *tesi_unit_list(void);

#endif
