/* Expressions in named variables: text -> terms (a graph without repeated sub-expressions) -> program -> values.
 *
 * The terms stay with the function, so that it can be differentiated and written as C or CUDA text. */
#ifndef TESI_EXPRESSION_H
#define TESI_EXPRESSION_H

#include "base/base.h"
#include "io/expression/expression_ops.h"
#include "io/expression/words.h"

enum {
  TESI_EXPRESSION_TERMS = 4096,   /* largest number of different sub-expressions */
  TESI_EXPRESSION_SLOTS = 1024,   /* largest number of intermediate values in use at one time */
  TESI_EXPRESSION_NESTING = 200,  /* deepest nesting of parentheses, calls, signs and ?: */
  TESI_EXPRESSION_TEXT = 65536,   /* longest text, bytes */
  TESI_EXPRESSION_VARIABLES = 64, /* most of them */
  TESI_EXPRESSION_TIME = 3,       /* the number of the variable that is one number, not one per point */
  TESI_EXPRESSION_MESSAGE = 512
};

/* One node of the graph: an operation on earlier terms, a variable (a: its number) or a constant (value). For a table,
 * b is its number among the words, and c the number of differentiations. */
typedef struct TesiTerm {
  uint16_t op; /* TesiOp */
  uint16_t a, b, c;
  double value;
} TesiTerm;

/* Terms in an order in which operands come first; equal terms are stored once, found through a hash table. */
typedef struct TesiTerms {
  TesContext *ctx;
  TesiTerm *term; /* [capacity] */
  uint16_t *table;
  TesiWords *words; /* of the tables; NULL: there is none */
  int count, capacity, table_size;
  TesiDimension dimension; /* of the text that was parsed last */
  bool composed;           /* the text was put together from texts of keys: units in it are not compared */
  int varied;              /* the variable by which constants with a slope vary; 0: they do not vary */
  TesStatus status; /* of the first failure, after which calls do nothing. TES_INVALID_INPUT: too many terms */
} TesiTerms;

/* Each returns the index of its term, 0 after a failure. Operations on constants are evaluated at once, unless the
 * result is not finite; pow(a, n) with n = 0..4 becomes multiplications. */
int tesi_term_constant(TesiTerms *terms, double value);
int tesi_term_variable(TesiTerms *terms, int variable);
int tesi_term(TesiTerms *terms, TesiOp op, int a, int b, int c);
/* Table number `table` of terms->words, differentiated `order` times, at term a. */
int tesi_term_table(TesiTerms *terms, int table, int order, int a);
/* d term / d variable. *without <- an operation without a derivative (tgamma, lgamma), else -1. */
int tesi_term_derivative(TesiTerms *terms, int term, int variable, int *without);
/* Adds a term of another list at the same index, if all terms before it were added in this way. */
int tesi_term_copy(TesiTerms *terms, const TesiTerm *term);
void tesi_terms_free(TesiTerms *terms);
/* Operand k = 0, 1, 2 of a term, and how many its operation has. */
int tesi_term_operand(const TesiTerm *term, int k);
extern const uint8_t tesi_op_operands[TESI_OPS];
/* needed[i] (of TESI_EXPRESSION_TERMS) becomes true if term i is part of the value of `root`. */
void tesi_terms_needed(const TesiTerms *terms, int root, bool *needed);
/* The operation on numbers. */
double tesi_op_value(TesiOp op, double a, double b, double c);
/* lgamma() without its global variable signgam, which would be a data race. */
double tesi_lgamma(double a);

/* The names x, y, z, t, NULL; the second list also has nx, ny, nz. If the first three exist, r = sqrt(x^2 + y^2 +
 * z^2) is a name too. */
extern const char *const tesi_space_names[], *const tesi_boundary_names[];

/* Whether this name is a constant or function of all expressions. */
bool tesi_expression_knows(const char *name);

/* Parses `text` into terms. variables: their names, NULL ends the list. Words of the context are known too. On
 * TES_INVALID_INPUT `message` (of TESI_EXPRESSION_MESSAGE bytes) says what is wrong and at which column. Nothing is
 * recorded on the context, since only the caller knows the place of the text. */
TesStatus tesi_expression_parse(TesiTerms *terms, const char *text, const char *const *variables, int *root,
                                char *message);

/* ---- programs: straight-line code on blocks of points -------------------------------------------------- */

/* The kind of place of an operand. */
typedef enum TesiOperandKind { TESI_VARIABLE, TESI_CONSTANT, TESI_SLOT, TESI_OUT } TesiOperandKind;
typedef struct TesiOperand {
  uint16_t kind, index;
} TesiOperand;

typedef struct TesiInstruction {
  TesiOp op;
  TesiOperand a, b, c, out;
} TesiInstruction;

typedef struct TesiProgram {
  TesiInstruction *code; /* [length], the first `prologue` do not depend on x, y, z */
  double *constants;     /* [constant_count][block], each repeated */
  int length, prologue, constant_count, slots;
  const TesiWords *words; /* words of the terms, which the program keeps alive */
  int variables;          /* 1 + the largest number of a variable in use */
  int block; /* points per block: fewer if many slots are needed, so that all fit into 64 KiB of stack */
  TesiOperand result;
} TesiProgram;

TesStatus tesi_program_create(TesContext *ctx, const TesiTerms *terms, int root, TesiProgram *program,
                              char *message);
void tesi_program_free(TesContext *ctx, TesiProgram *program);

/* One operation on n numbers, n a multiple of 8; out does not overlap a, b, c. */
typedef void (*TesiKernel)(int n, const double *a, const double *b, const double *c, double *out);
extern const TesiKernel tesi_expression_kernels_128[TESI_OPS], tesi_expression_kernels_256[TESI_OPS],
    tesi_expression_kernels_512[TESI_OPS];

/* Values at n points. variables[TESI_EXPRESSION_TIME]: one number; the others: [n] each, NULL if the program does
 * not use them. */
void tesi_program_run(const TesiProgram *program, const TesiKernel *kernels, int64_t n,
                      const double *const *variables, double *out);

/* ---- functions made from expressions ------------------------------------------------------------------- */

/* Creates the function of an expression in `variables`, whose first takes the place of x. Messages as above. */
TesStatus tesi_function_from_text(TesContext *ctx, const char *text, const char *const *variables,
                                  TesFunction **function, char *message);

/* The derivative of a text by the constant for which words of the context have slopes (TesiConstant). Messages as
 * above. */
TesStatus tesi_function_slope_of_text(TesContext *ctx, const char *text, const char *const *variables,
                                      TesFunction **slope, char *message);

/* Values of a constant or of an expression in one variable at s[n], finite or not; nothing is recorded on the
 * context. */
void tesi_expression_values(const TesFunction *function, int64_t n, const double *s, double *out);

/* Writes a C (and CUDA) function that computes the same, e.g. for declaration "static double f" and real "double"
 *   static double f(double x, double y, double z, double t) {
 *     const double v0 = x * x;
 *     return v0;
 *   }
 * If functions of t alone are called, as in exp(x * cos(t)), two functions are written, and one that calls both. A loop
 * over points can then call the first function once:
 *   #define f_parts 1
 *   static void f_early(double t, double *early);      early[f_parts]
 *   static double f_late(double x, double y, double z, double t, const double *early);
 * Like snprintf: returns the length without the final 0, which may be more than `size`; -1 for callbacks and
 * functions of further variables, which have no text. */
int tesi_expression_emit_c(const TesFunction *function, const char *declaration, const char *real,
                           char *buffer, size_t size);
int tesi_terms_emit_c(const TesiTerms *terms, int root, const char *declaration, const char *real,
                      char *buffer, size_t size);

#endif
