/* Rows of tests/data/golden.json, run again and compared. They are made by tests/golden_make.py, which says how.
 *
 * Exactly: exit status, status, unknowns, levels with their cells, iterations; of adaptive solves also cells, unknowns,
 * hanging nodes and iterations of each step. Of the others, g golden and r found:
 *   residuals in float64   |r_i - g_i| <= 1e-10 g_0 + 1e-12          (they are told relative to the right-hand side)
 *   with float32 cycles    ... + F before_i, before_i = g_{i-1}; before_0 = min(1, 100 g_0), 0 for a start from zero
 *   errors                 |r - g| <= 1e-8 g + 1e-13, + F before_n with float32 cycles
 *   steps                  |r - g| <= 1e-8 |g| + 1e-13, + a hundredth of the tolerance with float32 cycles
 *   fractional iterations  what these bounds of the first and last residual allow
 * Why: sums in another order make a float32 cycle another one by some 1e-7 of what it is applied to, which is as large
 * as the residual before. On boxes 1e-6 of that residual was seen, 2e-5 in errors: F = 1e-4. On forests the bounds of
 * the spectrum that Chebyshev's smoother estimates are good to four digits only where materials jump (2e-4 of the
 * residual before), and full multigrid in float32 makes their start, whose round-off is larger beside its residual than
 * that of a cycle (2.6e-3 of the residual before was seen between 128 and 512 bits): F = 1e-2. A start that is not
 * zero comes from full multigrid or the mesh before, which made the residual at least a hundred times smaller.
 *
 * Measured at commit c0337f0, the golden values being those of 512 bits and one thread: 512 bits with two threads, 256
 * and 128 bits with one and two, and clang with 128 bits and few specialised degrees. Histories of float64 differ by at
 * most 9.7e-12 (a tenth of the bound), errors by 1.2e-14 + 1e-11 g, steps by 5e-12 g; float32 stays below 0.35 of
 * its bounds. Where cells tie (cases/plate.yaml and cases/fichera.yaml are symmetric), round-off chooses which of two
 * equal ones is refined: cells and unknowns are the same, bounds a hundred times as large, and a residual next to the
 * tolerance may end one iteration earlier or later (fichera: 8.9e-10 or 1.04e-9 after the third).
 *
 * TESSERA_TEST_PROGRAM: another program ("tessera" with its path). TESSERA_TEST_ROW: only rows whose name has this in
 * it. TESSERA_TEST_BRIEF: 25 small rows, one of each kind. */
#ifndef TESI_GOLDEN_TESTING_H
#define TESI_GOLDEN_TESTING_H

#include <math.h>
#include "program_testing.h"

#define FLOAT_BOX 1e-4
#define FLOAT_FOREST 1e-2

typedef struct Golden {
  cJSON *rows;
  char info[sizeof output];
  int run, skipped, wrong;
  struct {
    double part; /* of the bound */
    char row[96];
  } largest[4]; /* residuals, errors, steps, fractional iterations */
} Golden;

static const char *const golden_kinds[4] = {"residuals", "errors", "steps", "fractional iterations"};

static inline const char *golden_text(const cJSON *row, const char *key) {
  return cJSON_GetStringValue(cJSON_GetObjectItem(row, key));
}

static inline double golden_number(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItem(object, key);
  return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static inline bool golden_is(const cJSON *row, const char *flag) {
  return cJSON_IsTrue(cJSON_GetObjectItem(row, flag));
}

/* Whether the program was built with this part, as `tessera info` says. */
static inline bool golden_built_in(const Golden *s, const char *part) {
  for (const char *line = s->info; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, part, strlen(part)) != 0) continue;
    const char *end = strchr(line, '\n'), *not = strstr(line, "not "), *found = strstr(line, "built in");
    return found && (!end || found < end) && !(not &&not < found);
  }
  return false;
}

static inline bool golden_needs(const cJSON *row, const char *part) {
  const cJSON *need;
  cJSON_ArrayForEach(need,
                     cJSON_GetObjectItem(row, "needs")) if (!strcmp(need->valuestring, part)) return true;
  return false;
}

static inline void golden_read(Golden *s) {
  memset(s, 0, sizeof *s);
  FILE *file = fopen(TESI_SOURCE_DIR "/tests/data/golden.json", "r");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  const size_t length = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(length + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, length, file), length);
  text[length] = 0;
  fclose(file);
  s->rows = cJSON_Parse(text);
  free(text);
  assert_true(cJSON_GetArraySize(s->rows) > 400);
  assert_run("info", 0);
  snprintf(s->info, sizeof s->info, "%s", output);
}

/* What is wrong with a row is told at once, and all rows are run. */
__attribute__((format(printf, 3, 4))) static inline void golden_wrong(Golden *s, const cJSON *row,
                                                                      const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("WRONG %s: ", golden_text(row, "name"));
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
  s->wrong++;
}

static inline void golden_near(Golden *s, const cJSON *row, int kind, const char *what, double found,
                               double golden, double bound) {
  if (golden_is(row, "ties")) bound *= 100;
  const double part = fabs(found - golden) / bound;
  if (isnan(found) && isnan(golden)) return;
  if (!(part <= 1))
    golden_wrong(s, row, "%s %.17g, golden %.17g, differ by %.2e, bound %.2e", what, found, golden,
                 fabs(found - golden), bound);
  if (!(part > s->largest[kind].part)) return;
  s->largest[kind].part = part;
  snprintf(s->largest[kind].row, sizeof s->largest[kind].row, "%s", golden_text(row, "name"));
}

static inline bool golden_same(Golden *s, const cJSON *row, const char *what, const cJSON *found,
                               const cJSON *golden) {
  if (cJSON_Compare(found, golden, true)) return true;
  char *a = found ? cJSON_PrintUnformatted(found) : NULL, *b = cJSON_PrintUnformatted(golden);
  golden_wrong(s, row, "%s %s, golden %s", what, a ? a : "missing", b);
  free(a);
  free(b);
  return false;
}

/* The same for a number of iterations. */
static inline bool golden_iterations(Golden *s, const cJSON *row, const char *what, const cJSON *found,
                                     const cJSON *golden) {
  const bool near = found && fabs(found->valuedouble - golden->valuedouble) <= 1;
  return (golden_is(row, "ties") && near) || golden_same(s, row, what, found, golden);
}

/* What a float32 cycle of the iteration before i can change (see above). */
static inline double golden_float(const cJSON *row, int i) {
  const cJSON *residuals = cJSON_GetObjectItem(row, "residuals");
  const double first = cJSON_GetArrayItem(residuals, 0)->valuedouble;
  if (!strcmp(golden_text(row, "precision"), "double")) return 0;
  const double factor = golden_needs(row, "p4est") ? FLOAT_FOREST : FLOAT_BOX;
  if (i > 0) return factor * cJSON_GetArrayItem(residuals, i - 1)->valuedouble;
  return first == 1 ? 0 : factor * fmin(1, 100 * first);
}

static inline double golden_bound(const cJSON *row, int i) {
  return 1e-10 * cJSON_GetArrayItem(cJSON_GetObjectItem(row, "residuals"), 0)->valuedouble + 1e-12 +
         golden_float(row, i);
}

static inline void golden_compare_residuals(Golden *s, const cJSON *row, const cJSON *report) {
  const cJSON *golden = cJSON_GetObjectItem(row, "residuals"),
              *found = cJSON_GetObjectItem(report, "residuals");
  const int all = cJSON_GetArraySize(golden) - 1, mine = cJSON_GetArraySize(found) - 1,
            n = mine < all ? mine : all;
  char what[64];
  if (mine != all && !golden_is(row, "ties")) {
    golden_wrong(s, row, "%d residuals, golden %d", mine + 1, all + 1);
    return;
  }
  for (int i = 0; i <= n; i++) {
    snprintf(what, sizeof what, "residual %d", i);
    golden_near(s, row, 0, what, cJSON_GetArrayItem(found, i)->valuedouble,
                cJSON_GetArrayItem(golden, i)->valuedouble, golden_bound(row, i));
  }
  /* n log(tolerance) / log(r_n / r_0): its derivative by the logarithms of both residuals */
  const double first = cJSON_GetArrayItem(golden, 0)->valuedouble,
               last = cJSON_GetArrayItem(golden, n)->valuedouble;
  const double change = golden_bound(row, n) / last + golden_bound(row, 0) / first,
               fraction = golden_number(row, "fractional");
  if (n > 0 && mine == all && change < 0.1)
    golden_near(s, row, 3, golden_kinds[3], golden_number(report, "fractional_iterations"), fraction,
                1.2 * fraction * change / fabs(log(last / first)) + 1e-12);
}

static inline void golden_compare_errors(Golden *s, const cJSON *row, const cJSON *report) {
  const cJSON *golden = cJSON_GetObjectItem(row, "errors"), *found = cJSON_GetObjectItem(report, "errors");
  const double answer = golden_is(row, "answer") ? 1e-6 : 1e-8; /* the solver, too, may be another one */
  const int n = cJSON_GetArraySize(cJSON_GetObjectItem(row, "residuals")) - 1;
  const char *const names[2] = {"l2", "h1"};
  for (int i = 0; golden && i < 2; i++) {
    const double g = golden_number(golden, names[i]);
    golden_near(s, row, 1, names[i], golden_number(found, names[i]), g,
                answer * g + 1e-13 + golden_float(row, n));
  }
}

static inline void golden_compare_steps(Golden *s, const cJSON *row, const cJSON *report) {
  static const char *const counts[] = {"cells", "dofs", "hanging", "iterations"};
  static const char *const values[] = {"estimate", "error", "goal", "l2", "h1"};
  const cJSON *all = cJSON_GetObjectItem(row, "steps"), *found = cJSON_GetObjectItem(report, "steps"), *golden;
  const double rough =
      strcmp(golden_text(row, "precision"), "double") ? 0.01 * golden_number(row, "tolerance") : 0;
  char what[64];
  int step = 0;
  cJSON_ArrayForEach(golden, all) {
    const cJSON *mine = cJSON_GetArrayItem(found, step++);
    for (int i = 0; i < 4; i++) {
      snprintf(what, sizeof what, "step %d of %d: %s", step, cJSON_GetArraySize(all), counts[i]);
      if (!(i == 3 ? golden_iterations : golden_same)(s, row, what, cJSON_GetObjectItem(mine, counts[i]),
                                                      cJSON_GetObjectItem(golden, counts[i])))
        return;
    }
    for (int i = 0; i < 5; i++) {
      const double g = golden_number(golden, values[i]);
      snprintf(what, sizeof what, "step %d of %d: %s", step, cJSON_GetArraySize(all), values[i]);
      golden_near(s, row, 2, what, golden_number(mine, values[i]), g, 1e-8 * fabs(g) + 1e-13 + rough);
    }
  }
  if (cJSON_GetArraySize(found) != step)
    golden_wrong(s, row, "%d steps, golden %d", cJSON_GetArraySize(found), step);
}

/* [[cells, dofs], ...] of all levels, as the rows have it. */
static inline cJSON *golden_hierarchy(const cJSON *report) {
  cJSON *all = cJSON_CreateArray();
  const cJSON *level;
  cJSON_ArrayForEach(level, cJSON_GetObjectItem(report, "hierarchy")) {
    const double pair[2] = {golden_number(level, "cells"), golden_number(level, "dofs")};
    cJSON_AddItemToArray(all, cJSON_CreateDoubleArray(pair, 2));
  }
  return all;
}

static inline void golden_compare(Golden *s, const cJSON *row, int status, const cJSON *report) {
  static const char *const counts[] = {"status", "dofs", "levels", "iterations"};
  const bool answer = golden_is(row, "answer");
  bool same = true;
  if (status != (int)golden_number(row, "exit"))
    golden_wrong(s, row, "exit status %d, golden %d", status, (int)golden_number(row, "exit"));
  for (int i = 0; i < (answer ? 2 : 4); i++)
    same &= (i == 3 ? golden_iterations : golden_same)(
        s, row, counts[i], cJSON_GetObjectItem(report, counts[i]), cJSON_GetObjectItem(row, counts[i]));
  golden_compare_steps(s, row, report);
  if (!answer) {
    cJSON *hierarchy = golden_hierarchy(report);
    same &= golden_same(s, row, "levels of [cells, dofs]", hierarchy, cJSON_GetObjectItem(row, "hierarchy"));
    cJSON_Delete(hierarchy);
  }
  if (same && !answer) golden_compare_residuals(s, row, report);
  if (same) golden_compare_errors(s, row, report);
}

static inline void golden_command(const cJSON *row, int threads, char *command, size_t size) {
  const char *program = getenv("TESSERA_TEST_PROGRAM"), *name = golden_text(row, "case");
  size_t length =
      (size_t)snprintf(command, size, "%s solve %s/%s.yaml --quiet --json - --threads %d %s 2>messages",
                       program ? program : PROGRAM,
                       strcmp(name, "golden") ? TESI_SOURCE_DIR "/cases" : TESI_SOURCE_DIR "/tests/data",
                       name, threads, golden_text(row, "options"));
  const cJSON *set;
  cJSON_ArrayForEach(set, cJSON_GetObjectItem(row, "sets")) if (length < size) length +=
      (size_t)snprintf(command + length, size - length, " --set '%s'", set->valuestring);
  assert_true(length < size);
}

static inline void golden_run(Golden *s, const cJSON *row, int threads) {
  char command[4096];
  golden_command(row, threads, command, sizeof command);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  const size_t length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = 0;
  const int ended = pclose(pipe), status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  s->run++;
  if (status == 3 && golden_needs(row, "emulator")) { /* no compiler for its kernels */
    s->run--, s->skipped++;
    return;
  }
  const int before = s->wrong;
  cJSON *report = cJSON_Parse(output);
  if (report)
    golden_compare(s, row, status, report);
  else
    golden_wrong(s, row, "exit status %d and no report", status);
  cJSON_Delete(report);
  if (s->wrong == before) return;
  printf("      %s\n", command);
  fflush(stdout);
  assert_int_equal(system("cat messages"), 0);
}

static inline bool golden_lacks(const Golden *s, const cJSON *row) {
  const cJSON *need;
  cJSON_ArrayForEach(need, cJSON_GetObjectItem(row, "needs")) {
    if (strcmp(need->valuestring, "emulator") != 0 && !golden_built_in(s, need->valuestring)) return true;
  }
  return false;
}

/* The rows of the quick round (sweep false) or of the slow one, number i with threads[i % 2] threads. */
static inline void golden_rows(Golden *s, bool sweep, const int threads[2]) {
  const char *only = getenv("TESSERA_TEST_ROW");
  const cJSON *row;
  int i = 0;
  cJSON_ArrayForEach(row, s->rows) {
    i++;
    if (golden_is(row, "sweep") != sweep || (only && !strstr(golden_text(row, "name"), only))) continue;
    if (test_brief() && !golden_is(row, "brief")) continue;
    if (golden_lacks(s, row))
      s->skipped++;
    else
      golden_run(s, row, threads[i % 2]);
  }
}

static inline void golden_tell(Golden *s) {
  printf("%d rows run, %d that this build cannot run; the largest differences, in parts of their bounds:\n",
         s->run, s->skipped);
  for (int i = 0; i < 4; i++)
    printf("  %-22s %.2g  %s\n", golden_kinds[i], s->largest[i].part, s->largest[i].row);
  const int wrong = s->wrong;
  cJSON_Delete(s->rows);
  if (wrong) fail_msg("%d differences from tests/data/golden.json", wrong);
}

#endif
