/* Run: ctest -R t8_expression. Expressions: values against libm, messages, derivatives, C text, failing memory.
 * Labels: threads */
#include "io/expression/expression.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "bare_testing.h"
#include "failing_allocator.h"

enum { POINTS = 603 }; /* two blocks of 256, one of 88, and 3 */

typedef double (*Formula)(double x, double y, double z, double t);

/* Points in (0, 1)^3: the domain of all functions. */
static void points(double *x, double *y, double *z) {
  uint64_t seed = 7;
  for (int i = 0; i < POINTS; i++) {
    x[i] = 0.5 + 0.499 * test_random(&seed);
    y[i] = 0.5 + 0.499 * test_random(&seed);
    z[i] = 0.5 + 0.499 * test_random(&seed);
  }
}

/* Values at n points by this text; out is poisoned with NaN beforehand. */
static void values(const char *text, int n, const double *x, const double *y, const double *z, double t,
                   double *out) {
  TesFunction *f;
  if (tes_function_create_expression(ctx, text, &f)) fail_msg("%s: %s", text, tes_context_message(ctx));
  assert_string_equal(tes_function_text(f), text);
  for (int i = 0; i < n; i++) out[i] = NAN;
  if (tes_function_evaluate(f, n, x, y, z, t, out)) fail_msg("%s: %s", text, tes_context_message(ctx));
  tes_function_destroy(&f);
}

static void compare(const char *text, Formula formula) {
  double x[POINTS], y[POINTS], z[POINTS], out[POINTS];
  points(x, y, z);
  values(text, POINTS, x, y, z, 0.75, out);
  for (int i = 0; i < POINTS; i++) {
    const double expected = formula(x[i], y[i], z[i], 0.75);
    if (!(fabs(out[i] - expected) <= 4e-15 * (1 + fabs(expected))))
      fail_msg("%s: %.17g, expected %.17g at point %d", text, out[i], expected, i);
  }
}

/* The text of the formula is both the expression and its value in C. */
// clang-format off
#define CASES(CASE)                                                                                          \
  CASE(x) CASE(t) CASE(y + t) CASE(sin(t)) CASE(x - y - z) CASE(x - (y - z)) CASE(x / y / z)                 \
  CASE(-x * y + +z) CASE(2 * x + 3 * y * z - 4e-1) CASE(x < y) CASE(x <= y) CASE(x > y) CASE(x >= y)         \
  CASE(x == x + 0) CASE(x != y) CASE(!(x < y)) CASE(!x) CASE(x < y && y < z) CASE(x < y || y < z && z < x)   \
  CASE(x < y ? y - x : z < 0.5 ? 2 : x) CASE((x < 0.5) == (y < 0.5))                                         \
  CASE(1 / (0.05 + 2 * (x * x + y * y))) CASE(sin(x) + cos(y) * tan(z)) CASE(asin(x) + acos(y) * atan(z))    \
  CASE(atan2(x, -y)) CASE(sinh(x) + cosh(y) * tanh(z)) CASE(asinh(x) + acosh(1 + y) * atanh(z))              \
  CASE(exp(x) + exp2(y) * expm1(z)) CASE(log(x) + log2(y) + log10(z) * log1p(x)) CASE(sqrt(x) + cbrt(y))     \
  CASE(pow(x, y)) CASE(pow(x, 2)) CASE(pow(x, 3)) CASE(pow(x, 4) + pow(y, 0) + pow(z, 1)) CASE(pow(-x, 3))   \
  CASE(pow(x, -1.5)) CASE(fabs(x - y)) CASE(floor(3 * x) + ceil(3 * y) + round(3 * z) + trunc(-3 * x))       \
  CASE(fmin(x, y) + fmax(y, z)) CASE(hypot(x, y)) CASE(erf(x) + erfc(y)) CASE(tgamma(x) + lgamma(y))         \
  CASE(fmod(5 * x, y)) CASE(copysign(x, y - z)) CASE(.5 + 1. + 1.25e+1)                                      \
  CASE(x + x * y + x * y * z + x * y) CASE(x + (y + (z + (x - (y - (z - x * y))))))                          \
  CASE(cos(3 * t) * x + exp(-t))
// clang-format on

#pragma GCC diagnostic ignored "-Wparentheses" /* precedences are what is tested */
static int case_number;
static double case_value(int number, double x, double y, double z, double t) {
  int i = 0;
  (void)x, (void)y, (void)z, (void)t;
#define CASE(formula)                                                                                        \
  if (number == i++) return formula;
  CASES(CASE)
#undef CASE
  return NAN;
}

static double current(double x, double y, double z, double t) {
  return case_value(case_number, x, y, z, t);
}

static const char *const case_text[] = {
#define CASE(formula) #formula,
    CASES(CASE)
#undef CASE
};
enum { CASE_COUNT = sizeof case_text / sizeof *case_text };

static void values_are_those_of_c(void **state) {
  (void)state;
  for (case_number = 0; case_number < CASE_COUNT; case_number++) compare(case_text[case_number], current);
}

static double remainder_and_constants(double x, double y, double z, double t) {
  (void)z, (void)t;
  return fmod(x, 0.3) + M_PI * y + M_E + fabs(x - y) + fmin(x, 0.5) + fmax(y, 0.5);
}

static double powers(double x, double y, double z, double t) {
  return x * x - pow(y, 9) + pow(2, -z) - x * x * x * y + 512 * t + pow(x * y, 2) * 3;
}

/* Powers bind from the right, more than a sign before them and less than a sign behind them. */
static void signs_of_powers(void **state) {
  (void)state;
  compare("x^2 + -y^3^2 + 2^-z - x**3*y + 2^3**2*t + (x*y)^2*3", powers);
}

static void names_that_differ_from_c(void **state) {
  (void)state;
  compare("x % 0.3 + pi*y + e + abs(x - y) + min(x, 0.5) + max(y, 0.5)", remainder_and_constants);
}

/* Every width this machine has gives libm's values, and the same value wherever in a batch a point stands. */
static void widths_agree(void **state) {
  (void)state;
  double x[POINTS], y[POINTS], z[POINTS], out[POINTS], one;
  points(x, y, z);
  for (int bits = 128; bits <= 512; bits *= 2) {
#if defined(__x86_64__)
    if (bits == 256 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) continue;
    if (bits == 512 && !__builtin_cpu_supports("avx512bw")) continue;
#endif
    tesi_context_set_simd_bits(ctx, bits);
    values_are_those_of_c(NULL);
    values("exp(x)*sin(30*y) + pow(x, z)", POINTS, x, y, z, 0, out);
    for (int i = 0; i < POINTS; i += 7) {
      values("exp(x)*sin(30*y) + pow(x, z)", 1, x + i, y + i, z + i, 0, &one);
      assert_true(one == out[i]);
    }
  }
  tesi_context_set_simd_bits(ctx, 0);
}

static void special_arguments(void **state) {
  (void)state;
  const double x[8] = {1e300, -1e300, 1e5, 0, -0.0, 700, -700, 1e-320};
  double out[8];
  values("sin(x)", 8, x, NULL, NULL, 0, out);
  for (int i = 0; i < 8; i++) assert_near(out[i], sin(x[i]), 1e-15);
  values("atan(x) + erf(x) + tanh(x)", 8, x, NULL, NULL, 0, out);
  for (int i = 0; i < 8; i++) assert_near(out[i], atan(x[i]) + erf(x[i]) + tanh(x[i]), 1e-14);
  values("fabs(x) < 1000 ? exp(x) : 0", 8, x, NULL, NULL, 0, out);
  for (int i = 0; i < 8; i++) {
    const double expected = fabs(x[i]) < 1000 ? exp(x[i]) : 0;
    assert_near(out[i], expected, 1e-14 * expected);
  }
  values("pow(x, 3) < 0", 8, x, NULL, NULL, 0, out);
  for (int i = 0; i < 8; i++) assert_near(out[i], x[i] < 0, 0);
}

static void constants_are_folded(void **state) {
  (void)state;
  const char *texts[] = {"1", "2*pi/pi - 1", "sin(pi/2)", "1 ? 1 : x", "pow(x,0)", "(3 > 2) + 0*1", "--1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    TesFunction *f;
    double value = NAN;
    assert_int_equal(tes_function_create_expression(ctx, texts[i], &f), TES_OK);
    assert_true(tes_function_constant(f, &value));
    assert_near(value, 1, 0);
    assert_string_equal(tes_function_text(f), texts[i]);
    tes_function_destroy(&f);
  }
}

static void functions_that_vary_are_not_constant(void **state) {
  (void)state;
  TesFunction *f;
  assert_int_equal(tes_function_create_expression(ctx, "t", &f), TES_OK);
  assert_false(tes_function_constant(f, NULL));
  tes_function_destroy(&f);
}

static void a_nan_names_its_point(void **state) {
  (void)state;
  TesFunction *f;
  const double x[3] = {1, 0.25, -4};
  double out[3];
  assert_int_equal(tes_function_create_expression(ctx, "sqrt(x)", &f), TES_OK);
  assert_int_equal(tes_function_evaluate(f, 3, x, NULL, NULL, 0, out), TES_NAN);
  assert_non_null(strstr(tes_context_message(ctx), "sqrt(x)"));
  assert_non_null(strstr(tes_context_message(ctx), "(-4, 0, 0)"));
  tes_context_clear(ctx);
  tes_function_destroy(&f);
}

static const struct {
  const char *text, *message;
} wrong[] = {
    {"x + sni(y)", "unknown name 'sni' at column 5 of \"x + sni(y)\"; did you mean 'sin'?"},
    {"Sin(x)", "unknown name 'Sin' at column 1 of \"Sin(x)\"; did you mean 'sin'?"},
    {"expp(x)", "did you mean 'exp'?"},
    {"w", "unknown name 'w' at column 1 of \"w\"; variables here: x, y, z, t"},
    {"", "the expression is empty"},
    {"  \n ", "the expression is empty"},
    {"x^", "expected a number, a name or '(', found the end at column 3"},
    {"^2", "expected a number, a name or '(', found '^' at column 1"},
    {"x***2", "expected a number, a name or '(', found '*' at column 4"},
    {"x $ 2", "unexpected '$' at column 3"},
    {"x = 2", "unexpected '=' at column 3 of \"x = 2\"; for equality use =="},
    {"x & y", "for 'and' use &&"},
    {"|x|", "for 'or' use ||, for absolute values abs(a)"},
    {"2x", "expected an operator or the end, found 'x' at column 2 of \"2x\"; a product is written with *"},
    {"x(1)", "expected an operator, found '(' at column 2 of \"x(1)\"; a product is written with *"},
    {"sin x", "sin is a function and needs its argument in parentheses, at column 1"},
    {"pow(x)", "pow takes 2 arguments, got 1, at column 1"},
    {"sin()", "sin takes 1 argument, got 0, at column 1"},
    {"sin(x,y)", "sin takes 1 argument, got 2,"},
    {"min(x,y,z,t)", "min takes 2 arguments, got 4,"},
    {"(x", "expected ')' or an operator, found the end at column 3"},
    {"sin(x", "expected ')' or an operator, found the end at column 6"},
    {"pow(x", "expected ',' or an operator, found the end"},
    {"x)", "expected an operator or the end, found ')' at column 2"},
    {"x +", "expected a number, a name or '(', found the end at column 4"},
    {"* x", "expected a number, a name or '(', found '*' at column 1"},
    {"x ? y", "expected ':' of a ?:, found the end"},
    {"0 < x < 1", "second comparison in a row at column 7 of \"0 < x < 1\"; write a < b && b < c"},
    {"1e999", "number too large at column 1"},
    {"1/0", "\"1/0\" is infinite or undefined"},
    {"log(-1)", "infinite or undefined"},
    {"x + 1.2.3", "expected an operator or the end, found '.3' at column 8"},
    {"x $ y", "unexpected '$' at column 3"},
    {"x \xc3\x97 y", "unexpected character at column 3"},
    {"a_name_that_is_longer_than_any_name_can_be", "unknown name 'a_name_that_is_l...'"},
};

static void mistakes_are_explained(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TesFunction *f = (TesFunction *)&f;
    tes_context_clear(ctx);
    assert_int_equal(tes_function_create_expression(ctx, wrong[i].text, &f), TES_INVALID_INPUT);
    assert_null(f);
    if (!strstr(tes_context_message(ctx), wrong[i].message))
      fail_msg("\"%s\": message is\n  %s, expected\n  %s", wrong[i].text, tes_context_message(ctx),
               wrong[i].message);
  }
  tes_context_clear(ctx);
}

/* n times `item`, between `before` and `after`. The caller frees. */
static char *repeated(const char *before, const char *item, int n, const char *after) {
  char *text = malloc(strlen(before) + strlen(item) * (size_t)n + strlen(after) + 1), *end = text;
  assert_non_null(text);
  end += sprintf(end, "%s", before);
  for (int i = 0; i < n; i++) end += sprintf(end, "%s", item);
  sprintf(end, "%s", after);
  return text;
}

static void expect_refusal(char *text, const char *message) {
  TesFunction *f;
  tes_context_clear(ctx);
  assert_int_equal(tes_function_create_expression(ctx, text, &f), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(ctx), message)) fail_msg("message is %s", tes_context_message(ctx));
  tes_context_clear(ctx);
  free(text);
}

static void limits_are_told(void **state) {
  (void)state;
  expect_refusal(repeated("", "(", 5000, "x"), "nested deeper than 200 levels");
  expect_refusal(repeated("", "-", 5000, "x"), "nested deeper than 200 levels");
  expect_refusal(repeated("x", "?x:x", 5000, ""), "nested deeper than 200 levels");
  expect_refusal(repeated("x", " ", 70000, "x"), "longer than 65536 bytes");
  char *many = malloc(65536), *end = many + sprintf(many, "x");
  for (int i = 0; i < 5000; i++) end += sprintf(end, "+%d*x", i);
  expect_refusal(many, "more than 4096 different terms");
}

/* As long as it may be, and with more values alive than fit in large blocks. */
static void long_expressions_work(void **state) {
  (void)state;
  char *text = repeated("x", "+x", 3000, "");
  const double x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  double out[9];
  values(text, 9, x, NULL, NULL, 0, out);
  for (int i = 0; i < 9; i++) assert_near(out[i], 3001 * x[i], 1e-9);
  free(text);
  char many[8192], *end = many;
  for (int i = 1; i <= 150; i++)
    end += sprintf(end, "sin(%d*x)*(1+", i); /* 150 sines wait for their factor */
  end += sprintf(end, "x");
  for (int i = 1; i <= 150; i++) end += sprintf(end, ")");
  double expected = x[4];
  for (int i = 150; i >= 1; i--) expected = sin(i * x[4]) * (1 + expected);
  values(many, 9, x, NULL, NULL, 0, out);
  assert_near(out[4], expected, 1e-12);
}

static void large_batches_run_in_parallel(void **state) {
  (void)state;
  const int n = 200003;
  double *x = malloc((size_t)n * sizeof *x), *out = malloc((size_t)n * sizeof *out);
  for (int i = 0; i < n; i++) x[i] = i * 1e-3;
  values("x*x - 3*x", n, x, NULL, NULL, 0, out);
  for (int i = 0; i < n; i++) assert_near(out[i], x[i] * x[i] - 3 * x[i], 1e-15 * (1 + x[i] * x[i]) * 4);
  free(x), free(out);
}

/* Against central differences. */
static void check_derivative(const char *text, int d) {
  TesFunction *f, *df;
  double x[POINTS], y[POINTS], z[POINTS], plus[POINTS], minus[POINTS], out[POINTS];
  double *const coordinate[3] = {x, y, z}, h = 1e-5, time = 0.6;
  points(x, y, z);
  assert_int_equal(tes_function_create_expression(ctx, text, &f), TES_OK);
  if (tes_function_create_derivative(f, d, &df)) fail_msg("%s: %s", text, tes_context_message(ctx));
  assert_int_equal(tes_function_evaluate(df, POINTS, x, y, z, time, out), TES_OK);
  for (int side = -1; side <= 1; side += 2) {
    for (int i = 0; d < 3 && i < POINTS; i++) coordinate[d][i] += side * h;
    assert_int_equal(
        tes_function_evaluate(f, POINTS, x, y, z, time + (d == 3) * side * h, side > 0 ? plus : minus),
        TES_OK);
    for (int i = 0; d < 3 && i < POINTS; i++) coordinate[d][i] -= side * h;
  }
  for (int i = 0; i < POINTS; i++) {
    const double expected = (plus[i] - minus[i]) / (2 * h), scale = 1 + fabs(expected);
    if (!(fabs(out[i] - expected) <= 2e-6 * scale * scale * scale))
      fail_msg("d/d%c %s = %.12g, expected %.12g at (%g, %g, %g)", "xyzt"[d], text, out[i], expected, x[i],
               y[i], z[i]);
  }
  tes_function_destroy(&df);
  tes_function_destroy(&f);
}

static void derivatives_match_differences(void **state) {
  (void)state;
  const char *texts[] = {
      "x*x*y - x/z + 3",
      "sin(pi*x)*sin(pi*y)*sin(pi*z)*cos(t)",
      "tan(x)+asin(y/2)+acos(z/2)+atan(x*y)",
      "sinh(x)+cosh(y)*tanh(z)",
      "asinh(x)+acosh(2+y)+atanh(z/2)",
      "exp(x)+exp2(y*z)+expm1(x*z)",
      "log(1+x)+log2(1+y)+log10(2+z)+log1p(x*y)",
      "sqrt(1+x)+cbrt(1+y*z)",
      "pow(1+x,2.5)+pow(1+x,y)+pow(2,z)",
      "atan2(1+x,1+y*z)",
      "hypot(1+x,y*z)",
      "erf(x)+erfc(y*z)",
      "abs(x-3)+fmin(x,3+y)+fmax(x,-y)",
      "x<5 ? x*y : z",
      "(7+x)%10 + floor(x)*0",
      "copysign(x,-1-y)",
      "-(x+y)*!(z-8)+(x<y-2)",
      "tgamma(3)*x",
      "exp(-x*x-y*y)/(1+z*z+t*t)",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int d = 0; d < 4; d++) check_derivative(texts[i], d);
}

static void derivatives_of_constants_and_of_what_has_none(void **state) {
  (void)state;
  TesFunction *f, *df;
  double value = NAN;
  assert_int_equal(tes_function_create_expression(ctx, "sin(y)*3", &f), TES_OK);
  assert_int_equal(tes_function_create_derivative(f, 0, &df), TES_OK);
  assert_true(tes_function_constant(df, &value));
  assert_near(value, 0, 0);
  tes_function_destroy(&df);
  assert_int_equal(tes_function_create_derivative(f, 4, &df), TES_INVALID_INPUT);
  tes_function_destroy(&f);
  tes_context_clear(ctx);
  assert_int_equal(tes_function_create_expression(ctx, "lgamma(x)", &f), TES_OK);
  assert_int_equal(tes_function_create_derivative(f, 0, &df), TES_INVALID_INPUT);
  assert_null(df);
  assert_non_null(strstr(tes_context_message(ctx), "lgamma() has no derivative"));
  tes_function_destroy(&f);
  tes_context_clear(ctx);
}

static void c_text_is_readable(void **state) {
  (void)state;
  static const struct {
    const char *text, *emitted;
  } expected[] = {
      {"2", "f(double x, double y, double z, double t) {\n  return 2.0;\n}\n"},
      {"z", "f(double x, double y, double z, double t) {\n  return z;\n}\n"},
      {"x*x", "f(double x, double y, double z, double t) {\n  const double v1 = x * x;\n  return v1;\n}\n"},
      {"x < -0.1 ? sin(y) : 1e-30",
       "f(double x, double y, double z, double t) {\n  const double v3 = x < (-0.1) ? 1 : 0;\n"
       "  const double v5 = sin(y);\n  const double v7 = v3 != 0 ? v5 : 1e-30;\n  return v7;\n}\n"},
      {"sin(t)",
       "f(double x, double y, double z, double t) {\n  const double v1 = sin(t);\n  return v1;\n}\n"},
      {"x*cos(2*t)",
       "#define f_parts 1\nvoid f_early(double t, double *early) {\n  const double v3 = 2.0 * t;\n"
       "  const double v4 = cos(v3);\n  early[0] = v4;\n}\n"
       "f_late(double x, double y, double z, double t, const double *early) {\n"
       "  const double v5 = x * early[0];\n  return v5;\n}\n"
       "f(double x, double y, double z, double t) {\n  double early[1];\n  f_early(t, early);\n"
       "  return f_late(x, y, z, t, early);\n}\n"},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    TesFunction *f;
    char text[512];
    assert_int_equal(tes_function_create_expression(ctx, expected[i].text, &f), TES_OK);
    const int length = tesi_expression_emit_c(f, "f", "double", text, sizeof text);
    assert_string_equal(text, expected[i].emitted);
    assert_int_equal(length, strlen(text));
    assert_int_equal(tesi_expression_emit_c(f, "f", "double", text, 10), length);
    assert_int_equal(strlen(text), 9);
    tes_function_destroy(&f);
  }
}

static void nothing(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                    double *out) {
  (void)user, (void)n, (void)x, (void)y, (void)z, (void)t, (void)out;
}

static void callbacks_have_no_text(void **state) {
  (void)state;
  TesFunction *f, *df;
  char text[8];
  assert_int_equal(tes_function_create_callback(ctx, nothing, NULL, NULL, &f), TES_OK);
  assert_int_equal(tesi_expression_emit_c(f, "f", "double", text, sizeof text), -1);
  assert_int_equal(tes_function_create_derivative(f, 0, &df), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  tes_function_destroy(&f);
}

/* Writes all cases as C text into one file. */
static void write_source(const char *path) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "#include <math.h>\n");
  for (int i = 0; i < CASE_COUNT; i++) {
    TesFunction *f;
    char text[4096], declaration[32];
    snprintf(declaration, sizeof declaration, "double f%d", i);
    assert_int_equal(tes_function_create_expression(ctx, case_text[i], &f), TES_OK);
    assert_true(tesi_expression_emit_c(f, declaration, "double", text, sizeof text) < (int)sizeof text);
    fprintf(file, "%s", text);
    tes_function_destroy(&f);
  }
  assert_int_equal(fclose(file), 0);
}

static void emitted_c_text_computes_the_same(void **state) {
  (void)state;
  if (system("cc --version > /dev/null 2>&1")) skip();
  char folder[] = "/tmp/t8_expression_XXXXXX", source[64], library[64], command[256];
  assert_non_null(mkdtemp(folder));
  snprintf(source, sizeof source, "%s/f.c", folder);
  snprintf(library, sizeof library, "%s/f.so", folder);
  snprintf(command, sizeof command, "cc -O1 -Wall -Werror -shared -fPIC -o %s %s -lm", library, source);
  write_source(source);
  assert_int_equal(system(command), 0);
  void *handle = dlopen(library, RTLD_NOW);
  assert_non_null(handle);
  for (case_number = 0; case_number < CASE_COUNT; case_number++) {
    char name[16];
    Formula f;
    snprintf(name, sizeof name, "f%d", case_number);
    *(void **)&f = dlsym(handle, name);
    assert_non_null(f);
    compare(case_text[case_number], f);
  }
  dlclose(handle);
  remove(library), remove(source), remove(folder);
}

static TesStatus make_and_destroy(TesContext *c, void *user) {
  const char *texts[] = {"sin(pi*x)*exp(y) + pow(z, t)", "3*pi"};
  (void)user;
  for (int i = 0; i < 2; i++) {
    TesFunction *f = NULL, *df = NULL;
    double x = 0.5, out;
    TesStatus status = tes_function_create_expression(c, texts[i], &f);
    if (!status) status = tes_function_create_derivative(f, 0, &df);
    if (!status) status = tes_function_evaluate(f, 1, &x, NULL, NULL, 0, &out);
    tes_function_destroy(&df);
    tes_function_destroy(&f);
    if (status) return status;
  }
  return TES_OK;
}

static void failing_memory_is_survived(void **state) {
  (void)state;
  assert_true(every_allocation_fails(make_and_destroy, NULL) > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_c),
      cmocka_unit_test(signs_of_powers),
      cmocka_unit_test(names_that_differ_from_c),
      cmocka_unit_test(widths_agree),
      cmocka_unit_test(special_arguments),
      cmocka_unit_test(constants_are_folded),
      cmocka_unit_test(functions_that_vary_are_not_constant),
      cmocka_unit_test(a_nan_names_its_point),
      cmocka_unit_test(mistakes_are_explained),
      cmocka_unit_test(limits_are_told),
      cmocka_unit_test(long_expressions_work),
      cmocka_unit_test(large_batches_run_in_parallel),
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(derivatives_of_constants_and_of_what_has_none),
      cmocka_unit_test(c_text_is_readable),
      cmocka_unit_test(callbacks_have_no_text),
      cmocka_unit_test(emitted_c_text_computes_the_same),
      cmocka_unit_test(failing_memory_is_survived),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
