/* From the graph of terms to straight-line code. Only terms that the root needs are computed, in the order in which
 * they were parsed; a slot is free again after its last use. Terms that do not depend on the point come first, once
 * per call, and keep their slots. */
#include <stdio.h>
#include <string.h>
#include "io/expression/expression.h"

enum { STACK_DOUBLES = 8192, LARGEST_BLOCK = 256 };

typedef struct Builder {
  TesContext *ctx;
  const TesiTerms *terms;
  TesiProgram *program;
  int root;
  bool needed[TESI_EXPRESSION_TERMS], moving[TESI_EXPRESSION_TERMS]; /* moving: depends on more than t */
  int last_use[TESI_EXPRESSION_TERMS];
  TesiOperand where[TESI_EXPRESSION_TERMS];
  uint16_t free_slots[TESI_EXPRESSION_SLOTS];
  int free_count;
} Builder;

static void mark_moving(Builder *b) {
  for (int i = 0; i <= b->root; i++) {
    const TesiTerm *term = &b->terms->term[i];
    b->moving[i] = term->op == TESI_OP_VARIABLE && term->a != TESI_EXPRESSION_TIME;
    for (int k = 0; k < tesi_op_operands[term->op]; k++)
      b->moving[i] |= b->moving[tesi_term_operand(term, k)];
  }
}

/* Values of the prologue are kept to the end of the call. */
static void find_last_uses(Builder *b) {
  for (int i = 0; i <= b->root; i++)
    for (int k = 0; b->needed[i] && k < tesi_op_operands[b->terms->term[i].op]; k++) {
      const int j = tesi_term_operand(&b->terms->term[i], k);
      b->last_use[j] = b->moving[j] ? i : TESI_EXPRESSION_TERMS;
    }
}

static bool take_slot(Builder *b, TesiOperand *slot) {
  TesiProgram *p = b->program;
  if (b->free_count)
    *slot = (TesiOperand){TESI_SLOT, b->free_slots[--b->free_count]};
  else if (p->slots < TESI_EXPRESSION_SLOTS)
    *slot = (TesiOperand){TESI_SLOT, (uint16_t)p->slots++};
  else
    return false;
  return true;
}

static void release_operands(Builder *b, int i) {
  const TesiTerm *term = &b->terms->term[i];
  for (int k = 0; k < tesi_op_operands[term->op]; k++) {
    const int j = tesi_term_operand(term, k);
    if (b->last_use[j] != i || b->where[j].kind != TESI_SLOT) continue;
    b->last_use[j] = TESI_EXPRESSION_TERMS; /* the same operand twice is released once */
    b->free_slots[b->free_count++] = b->where[j].index;
  }
}

static bool emit(Builder *b, int i) {
  const TesiTerm *term = &b->terms->term[i];
  const int n = tesi_op_operands[term->op];
  TesiInstruction *instruction = &b->program->code[b->program->length++];
  instruction->op = (TesiOp)term->op;
  instruction->a = b->where[term->a];
  instruction->b = n > 1 ? b->where[term->b] : instruction->a;
  instruction->c = n > 2 ? b->where[term->c] : instruction->a;
  if (term->op == TESI_OP_TABLE) instruction->b.index = term->b, instruction->c.index = term->c;
  if (i == b->root && b->moving[i])
    b->where[i] = (TesiOperand){TESI_OUT, 0};
  else if (!take_slot(b, &b->where[i]))
    return false;
  instruction->out = b->where[i];
  release_operands(b, i);
  return true;
}

/* The terms whose moving[] has this value, in their order. */
static bool emit_all(Builder *b, bool moving) {
  for (int i = 0; i <= b->root; i++)
    if (b->needed[i] && tesi_op_operands[b->terms->term[i].op] && b->moving[i] == moving && !emit(b, i))
      return false;
  return true;
}

static int place_leaves(Builder *b) {
  int constants = 0;
  for (int i = 0; i <= b->root; i++) {
    const TesiTerm *term = &b->terms->term[i];
    if (!b->needed[i] || tesi_op_operands[term->op]) continue;
    if (term->op == TESI_OP_VARIABLE) b->program->variables = tesi_max(b->program->variables, term->a + 1);
    b->where[i] = term->op == TESI_OP_VARIABLE ? (TesiOperand){TESI_VARIABLE, term->a}
                                               : (TesiOperand){TESI_CONSTANT, (uint16_t)constants++};
  }
  return constants;
}

/* The number of points per block for which slots and the padded inputs of the last block fit into STACK_DOUBLES. */
static int block_size(int slots) {
  int block = LARGEST_BLOCK;
  while (block > 8 && block * slots > STACK_DOUBLES) block /= 2;
  return block;
}

static TesStatus fill_constants(Builder *b, int count) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  TesiProgram *p = b->program;
  TES_ALLOC(&p->constants, (int64_t)count * p->block);
  for (int i = 0; i <= b->root; i++)
    if (b->needed[i] && b->where[i].kind == TESI_CONSTANT)
      for (int j = 0; j < p->block; j++)
        p->constants[b->where[i].index * p->block + j] = b->terms->term[i].value;
done:
  return status;
}

TesStatus tesi_program_create(TesContext *ctx, const TesiTerms *terms, int root, TesiProgram *program,
                              char *message) {
  TesStatus status = TES_OK;
  Builder *b = NULL;
  *program = (TesiProgram){0};
  TES_NEW(&b);
  b->ctx = ctx, b->terms = terms, b->program = program, b->root = root;
  tesi_terms_needed(terms, root, b->needed);
  mark_moving(b);
  find_last_uses(b);
  program->constant_count = place_leaves(b);
  TES_ALLOC(&program->code, root + 1);
  bool fits = emit_all(b, false);
  program->prologue = program->length;
  fits = fits && emit_all(b, true);
  if (!fits) {
    snprintf(message, TESI_EXPRESSION_MESSAGE, "more than %d intermediate values at once",
             TESI_EXPRESSION_SLOTS);
    status = TES_INVALID_INPUT;
    goto done;
  }
  program->result = b->where[root];
  program->words = terms->words;
  program->block = block_size(program->slots);
  TES_TRY(fill_constants(b, program->constant_count));
done:
  if (status) tesi_program_free(ctx, program);
  tesi_free(ctx, &b);
  return status;
}

void tesi_program_free(TesContext *ctx, TesiProgram *program) {
  tesi_free(ctx, &program->code);
  tesi_free(ctx, &program->constants);
}

/* ---- running ------------------------------------------------------------------------------------------- */

typedef struct Frame {
  const TesiProgram *program;
  const double *variables[TESI_EXPRESSION_VARIABLES];
  double *slots, *out;
} Frame;

static double *address(const Frame *f, TesiOperand operand) {
  switch ((TesiOperandKind)operand.kind) {
  case TESI_VARIABLE:
    return (double *)f->variables[operand.index];
  case TESI_CONSTANT:
    return f->program->constants + operand.index * f->program->block;
  case TESI_SLOT:
    return f->slots + operand.index * f->program->block;
  case TESI_OUT:
    break;
  }
  return f->out;
}

static void run(const Frame *f, const TesiKernel *kernels, int first, int end, int n) {
  for (int i = first; i < end; i++) {
    const TesiInstruction *c = &f->program->code[i];
    if (c->op == TESI_OP_TABLE) {
      tesi_table_values(&f->program->words->table[c->b.index], c->c.index, n, address(f, c->a),
                        address(f, c->out));
      continue;
    }
    kernels[c->op](n, address(f, c->a), address(f, c->b), address(f, c->c), address(f, c->out));
  }
}

/* One block of n points, n a multiple of 8 and at most the block size. */
static void run_block(const Frame *f, const TesiKernel *kernels, int n) {
  run(f, kernels, f->program->prologue, f->program->length, n);
  if (f->program->result.kind != TESI_OUT)
    memcpy(f->out, address(f, f->program->result), (size_t)n * sizeof *f->out);
}

/* Computes the values that do not depend on the point, eight equal numbers at a time. One of them then fills the
 * slot, as far as blocks of n points read it. */
static void run_prologue(const Frame *f, const TesiKernel *kernels, int n) {
  for (int i = 0; i < f->program->prologue; i++) {
    double *to = address(f, f->program->code[i].out);
    run(f, kernels, i, i + 1, 8);
    for (int j = 8; j < n; j++) to[j] = to[0];
  }
}

void tesi_program_run(const TesiProgram *program, const TesiKernel *kernels, int64_t n,
                      const double *const *variables, double *out) {
  const int block = program->block;
  _Alignas(64) double slots[STACK_DOUBLES], time[LARGEST_BLOCK], last[TESI_EXPRESSION_VARIABLES][8], tail[8];
  Frame f = {.program = program, .variables = {[TESI_EXPRESSION_TIME] = time}, .slots = slots, .out = out};
  const int most = n < block ? (int)(n + 7) / 8 * 8 : block; /* points per block in this call */
  for (int i = 0; i < most && program->variables > TESI_EXPRESSION_TIME; i++)
    time[i] = *variables[TESI_EXPRESSION_TIME];
  run_prologue(&f, kernels, most);
  const int64_t whole = n - n % 8;
  int64_t i = 0;
  for (int count; i < whole; i += count) {
    count = whole - i < block ? (int)(whole - i) : block;
    for (int d = 0; d < program->variables; d++)
      if (d != TESI_EXPRESSION_TIME) f.variables[d] = variables[d] ? variables[d] + i : NULL;
    f.out = out + i;
    run_block(&f, kernels, count);
  }
  if (i == n) return;
  for (int d = 0; d < program->variables; d++) { /* the last n mod 8 points; the last point is repeated */
    if (d == TESI_EXPRESSION_TIME || !variables[d]) continue;
    for (int j = 0; j < 8; j++) last[d][j] = variables[d][i + j < n ? i + j : n - 1];
    f.variables[d] = last[d];
  }
  f.out = tail;
  run_block(&f, kernels, 8);
  memcpy(out + i, tail, (size_t)(n - i) * sizeof *out);
}
