#include "time/state.h"
#include <stdio.h>
#include <string.h>

TesiStateVector *tesi_state_add(TesiState *s, const char *name, int age, const TesSpace *space,
                                TesVector *vector, TesiStateMove move) {
  TesiStateVector *row = &s->vector[s->vectors++];
  *row = (TesiStateVector){.space = space, .vector = vector, .move = move};
  snprintf(row->name, sizeof row->name, age ? "%.28s-%d" : "%.31s", name, age);
  return row;
}

void tesi_state_add_real(TesiState *s, const char *name, int count, double *value) {
  s->number[s->numbers++] = (TesiStateNumber){.name = name, .count = count, .real = value};
}

void tesi_state_add_whole(TesiState *s, const char *name, int most, int *value) {
  s->number[s->numbers++] = (TesiStateNumber){.name = name, .count = 1, .whole = value, .most = most};
}

void tesi_state_add_fixed(TesiState *s, const char *name, double value) {
  s->number[s->numbers++] = (TesiStateNumber){.name = name, .count = 1, .fixed = value};
}

const TesiStateVector *tesi_state_vector(const TesiState *s, const char *name) {
  for (int i = 0; i < s->vectors; i++)
    if (!strcmp(s->vector[i].name, name)) return &s->vector[i];
  return NULL;
}

const TesiStateNumber *tesi_state_number(const TesiState *s, const char *name) {
  for (int i = 0; i < s->numbers; i++)
    if (!strcmp(s->number[i].name, name)) return &s->number[i];
  return NULL;
}

double tesi_state_get(const TesiStateNumber *n, int i) {
  return n->real ? n->real[i] : n->whole ? n->whole[i] : n->fixed;
}

void tesi_state_set(const TesiStateNumber *n, int i, double value) {
  if (n->real) n->real[i] = value;
  if (n->whole) n->whole[i] = (int)value;
}

void tesi_state_copy_numbers(const TesiState *from, const TesiState *to) {
  for (int k = 0; k < to->numbers; k++) {
    const TesiStateNumber *n = &to->number[k], *old = tesi_state_number(from, n->name);
    for (int i = 0; old && old->count == n->count && i < n->count; i++)
      tesi_state_set(n, i, tesi_state_get(old, i));
  }
}

TesStatus tesi_state_keep(const TesiState *s, TesiKept *kept) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  int count = 0, at = 0;
  for (int k = 0; k < s->numbers; k++) count += s->number[k].count;
  if (!kept->number) TES_ALLOC(&kept->number, count + 1);
  for (; kept->vectors < s->vectors; kept->vectors++)
    TES_TRY(tes_vector_create(ctx, s->vector[kept->vectors].vector->length, TES_DOUBLE,
                              &kept->vector[kept->vectors]));
  for (int i = 0; i < s->vectors; i++) TES_TRY(tes_vector_copy(s->vector[i].vector, 1, kept->vector[i]));
  for (int k = 0; k < s->numbers; k++)
    for (int i = 0; i < s->number[k].count; i++) kept->number[at++] = tesi_state_get(&s->number[k], i);
done:
  return status;
}

TesStatus tesi_state_go_back(const TesiState *s, const TesiKept *kept) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  int at = 0;
  if (!kept->number) return TES_OK;
  for (int i = 0; i < s->vectors; i++) TES_TRY(tes_vector_copy(kept->vector[i], 1, s->vector[i].vector));
  for (int k = 0; k < s->numbers; k++)
    for (int i = 0; i < s->number[k].count; i++) tesi_state_set(&s->number[k], i, kept->number[at++]);
done:
  return status;
}

void tesi_kept_free(TesContext *ctx, TesiKept *kept) {
  for (int i = 0; i < kept->vectors; i++) tes_vector_destroy(&kept->vector[i]);
  kept->vectors = 0;
  tesi_free(ctx, &kept->number);
}
