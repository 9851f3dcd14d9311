/* Run: ctest -R t9_cylinder_sweep. The flow past a cylinder in a channel at Reynolds number 100, cases/cylinder.yaml,
 * beside what is published: vortices that leave it in turn (Schaefer and Turek 1996, 2D-2) and an inflow that comes and
 * goes (2D-3, John 2004). Drag and lift coefficients are 20 times the forces.
 * Labels: slow
 * Timeout: 2400 */
#include <cJSON.h>
#include <math.h>
#include "program_testing.h"
#include "tessera/tessera.h"

enum { MOST = 20000, DRAG = 0, LIFT, PRESSURE, COLUMNS, HARMONICS = 6 };

/* Values every fifth step, and the steps' times. */
static struct {
  int count;
  double time[MOST], value[COLUMNS][MOST];
} series;

/* The place of a name in the first line, -1: it is not there. */
static int column_of(const char *line, const char *name) {
  const size_t length = strlen(name);
  for (int column = 0; line; column++) {
    if (!strncmp(line, name, length) && (line[length] == ',' || line[length] == '\n')) return column;
    line = strchr(line, ',');
    if (line) line++;
  }
  return -1;
}

static double number_at(const char *line, int column) {
  for (int i = 0; i < column; i++) line = strchr(line, ',') + 1;
  return atof(line);
}

static void read_series(const char *path) {
  static const char *const names[] = {"time", "drag", "lift", "front", "behind"};
  char line[1024];
  int at[5];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  for (int i = 0; i < 5; i++) {
    at[i] = column_of(line, names[i]);
    if (at[i] < 0) fail_msg("%s has no column %s: %s", path, names[i], line);
  }
  for (series.count = 0; series.count < MOST && fgets(line, sizeof line, file); series.count++) {
    const int i = series.count;
    series.time[i] = number_at(line, at[0]);
    series.value[DRAG][i] = 20 * number_at(line, at[1]);
    series.value[LIFT][i] = 20 * number_at(line, at[2]);
    series.value[PRESSURE][i] = number_at(line, at[3]) - number_at(line, at[4]);
  }
  fclose(file);
  assert_true(series.count > 100 && series.count < MOST);
}

/* A[n][n + 1] with its right-hand side; the solution stands there after. */
static void eliminate(int n, double A[][2 * HARMONICS + 2]) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
    for (int j = 0; j <= n; j++) {
      const double other = A[k][j];
      A[k][j] = A[pivot][j], A[pivot][j] = other;
    }
    for (int i = 0; i < n; i++) {
      const double factor = i == k ? 0 : A[i][k] / A[k][k];
      for (int j = k; j <= n; j++) A[i][j] -= factor * A[k][j];
    }
  }
  for (int k = 0; k < n; k++) A[k][n] /= A[k][k];
}

/* Functions of a fit, of a time since the middle of it: 1, t, t^2, .. or, with a frequency, 1 and harmonics. */
typedef struct Fit {
  int count;
  double middle, frequency; /* 0: powers */
  double of[2 * HARMONICS + 1];
} Fit;

static double basis(const Fit *f, int k, double time) {
  const double t = time - f->middle, angle = 2 * 3.14159265358979 * f->frequency * t * ((k + 1) / 2);
  if (f->frequency == 0) return pow(t, k);
  return k == 0 ? 1 : k % 2 ? cos(angle) : sin(angle);
}

/* Least squares over the values from one time to another. */
static Fit fit(int column, double from, double to, int count, double frequency) {
  Fit f = {.count = count, .middle = (from + to) / 2, .frequency = frequency};
  double A[2 * HARMONICS + 1][2 * HARMONICS + 2] = {{0}};
  for (int s = 0; s < series.count; s++) {
    const double time = series.time[s];
    if (time < from || time > to) continue;
    for (int i = 0; i < count; i++) {
      const double weight = basis(&f, i, time);
      for (int j = 0; j < count; j++) A[i][j] += weight * basis(&f, j, time);
      A[i][count] += weight * series.value[column][s];
    }
  }
  eliminate(count, A);
  for (int i = 0; i < count; i++) f.of[i] = A[i][count];
  return f;
}

static double value_of(const Fit *f, double time) {
  double sum = 0;
  for (int k = 0; k < f->count; k++) sum += f->of[k] * basis(f, k, time);
  return sum;
}

/* The largest value of a fit, *at a time. */
static double largest_of(const Fit *f, double from, double to, double *at) {
  enum { STEPS = 20000 };
  double most = -INFINITY;
  for (int i = 0; i <= STEPS; i++) {
    const double time = from + (to - from) * i / STEPS, value = value_of(f, time);
    if (value > most) most = value, *at = time;
  }
  return most;
}

/* Times at which the lift rises through 0, between values; returns how many. */
static int find_rises(double from, double *rise, int most) {
  int count = 0;
  for (int i = 1; i < series.count && count < most; i++) {
    const double a = series.value[LIFT][i - 1], b = series.value[LIFT][i], *t = series.time + i - 1;
    if (t[0] >= from && a < 0 && b >= 0) rise[count++] = t[0] - a * (t[1] - t[0]) / (b - a);
  }
  return count;
}

static const char options[] = "solve " CASES "cylinder.yaml --quiet --device cpu --set output.vtu=null --set "
                              "output.png=null --set output.series.file=cylinder.csv";

/* Over the last three periods before t = 8, by six harmonics: the noise of single steps is 0.002. */
static void vortices_leave_in_turn(void **state) {
  double rise[16], at, when;
  (void)state;
  if (!tes_has_part("p4est")) skip();
  assert_run(options, 0);
  read_series("cylinder.csv");
  const int count = find_rises(6, rise, 16);
  assert_true(count >= 4);
  const double from = rise[count - 4], to = rise[count - 1], frequency = 3 / (to - from);
  const Fit drag = fit(DRAG, from, to, 2 * HARMONICS + 1, frequency),
            lift = fit(LIFT, from, to, 2 * HARMONICS + 1, frequency),
            pressure = fit(PRESSURE, from, to, 2 * HARMONICS + 1, frequency);
  const double largest_drag = largest_of(&drag, from, from + 1 / frequency, &at),
               largest_lift = largest_of(&lift, from, from + 1 / frequency, &when),
               difference = value_of(&pressure, when + 0.5 / frequency), strouhal = frequency / 10;
  printf("2D-2: drag %.4f, lift %.4f, Strouhal number %.4f, pressure difference %.4f\n", largest_drag,
         largest_lift, strouhal, difference);
  assert_near(largest_drag, 3.23, 0.01 + 1e-3 * 3.23);
  assert_near(largest_lift, 1.00, 0.02 + 1e-2);
  assert_near(strouhal, 0.300, 0.005);
  assert_near(difference, 2.48, 0.02 + 1e-3 * 2.48);
}

/* Extrema by polynomials through the values near them. */
static void an_inflow_comes_and_goes(void **state) {
  double at_drag, at_lift;
  (void)state;
  if (!tes_has_part("p4est")) skip();
  assert_run("solve " CASES "cylinder.yaml --quiet --device cpu --set output.vtu=null --set output.png=null "
             "--set output.series.file=pulse.csv --set "
             "'boundary.inflow.velocity=[\"6*y*(0.41 - y)/(0.41*0.41)*sin(pi*t/8)\", 0]'",
             0);
  read_series("pulse.csv");
  const Fit drag = fit(DRAG, 3.6, 4.3, 5, 0), lift = fit(LIFT, 5.62, 5.76, 5, 0),
            end = fit(PRESSURE, 7.9, 8, 3, 0);
  const double largest_drag = largest_of(&drag, 3.6, 4.3, &at_drag),
               largest_lift = largest_of(&lift, 5.62, 5.76, &at_lift), difference = value_of(&end, 8);
  printf("2D-3: drag %.5f at %.3f, lift %.5f at %.3f, pressure difference %.5f\n", largest_drag, at_drag,
         largest_lift, at_lift, difference);
  assert_near(largest_drag, 2.950921575, 1e-3 * 2.95);
  assert_near(at_drag, 3.93625, 0.03);
  assert_near(largest_lift, 0.47795, 1e-2 * 0.478);
  assert_near(at_lift, 5.693125, 0.01);
  assert_near(difference, -0.1116, 1e-3 * 0.1116);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vortices_leave_in_turn),
                                     cmocka_unit_test(an_inflow_comes_and_goes)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
