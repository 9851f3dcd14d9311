/* Chunks of batches: what a thread takes at a time. */
#include <string.h>
#include "base/team.h"
#include "operator/mapped/host/mapped_host.h"

/* Chunks share nodes along their borders, which are touched twice: few of them, but enough for many threads. */
enum { CHUNKS = 32, NODES_A_STEP = 1 << 12, MOST_COLOURS = 64 };

/* Cells that share a node share a corner: nodes of a face or an edge come with its corners, those of the larger
 * cell where they hang. A corner that hangs for one cell alone is no exception: what the two share has another one
 * inside what was refined, which does not hang. */
static int32_t corner(const TesiMapped *m, int64_t cell, int v) {
  const int64_t p = m->degree * ((v & 1) + m->n * ((v >> 1 & 1) + (int64_t)m->n * (v >> 2)));
  const int32_t i = m->index[cell * m->cell_nodes + p];
  return i < 0 ? ~i : i;
}

/* colour[chunk]: the lowest that no chunk with a common node has. Each corner remembers the colours at it. */
static TesStatus colour_chunks(TesContext *ctx, TesiMappedHost *plan, int64_t size, unsigned char *colour) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  const int lanes = plan->kernels.lanes;
  uint64_t *mask = NULL;
  TES_ALLOC(&mask, m->nodes);
  for (int64_t k = 0; k < plan->chunks; k++) {
    const int64_t first = k * size * lanes, end = tesi_min64((k + 1) * size, plan->batches) * lanes;
    uint64_t used = 0;
    int own = 0;
    for (int pass = 0; pass < 2; pass++) {
      for (int64_t c = first; c < end; c++)
        for (int v = 0; v < 1 << m->dim; v++) {
          uint64_t *at = &mask[corner(m, plan->cell[c], v)];
          if (pass == 0)
            used |= *at;
          else
            *at |= (uint64_t)1 << own;
        }
      while (pass == 0 && own < MOST_COLOURS && used >> own & 1) own++;
      TES_CHECK(own < MOST_COLOURS, "the cells need more than %d colours: too many share a node",
                MOST_COLOURS);
    }
    colour[k] = (unsigned char)own;
    plan->colours = tesi_max(plan->colours, own + 1);
  }
done:
  tesi_free(ctx, &mask);
  return status;
}

/* Chunks by colour, each in steps. */
static void order_chunks(TesiMappedHost *plan, int64_t size, int64_t step, const unsigned char *colour) {
  int64_t at = 0, steps = 0;
  for (int c = 0; c < plan->colours; c++) {
    plan->first_of_colour[c] = at;
    for (int64_t k = 0; k < plan->chunks; k++) {
      if (colour[k] != c) continue;
      const int64_t end = tesi_min64((k + 1) * size, plan->batches);
      plan->chunk[at++] = steps;
      for (int64_t b = k * size; b < end; b += step)
        plan->step[steps++] = (TesiMappedStep){.first = b, .end = tesi_min64(b + step, end)};
    }
  }
  plan->first_of_colour[plan->colours] = at;
  plan->chunk[at] = plan->steps = steps;
}

/* Nodes of a batch that have no owner get it. */
static void own_nodes(const TesiMappedHost *plan, int64_t b, int32_t *owner) {
  const TesiMapped *m = plan->m;
  for (int l = 0; l < plan->batch[b].count; l++) {
    const int32_t *index = m->index + plan->cell[b * plan->kernels.lanes + l] * m->cell_nodes;
    for (int64_t p = 0; p < m->cell_nodes; p++) {
      const int32_t i = index[p] < 0 ? ~index[p] : index[p];
      if (owner[i] < 0) owner[i] = (int32_t)b;
    }
  }
}

typedef struct Owners {
  const TesiMappedHost *plan;
  int32_t *owner;
  int64_t *taken; /* [colours] chunks */
} Owners;

static void own_chunks(const void *data, const TesiTeamMember *me) {
  const Owners *o = data;
  const TesiMappedHost *plan = o->plan;
  const TesiSpan nodes = tesi_team_part(me, 0, plan->m->nodes);
  for (int64_t i = nodes.first; i < nodes.end; i++) o->owner[i] = -1;
  for (int colour = 0; colour < plan->colours; colour++) {
    tesi_team_wait(me);
    for (int64_t k; (k = tesi_team_take(&o->taken[colour])) < plan->first_of_colour[colour + 1];)
      for (const TesiMappedStep *s = plan->step + plan->chunk[k]; s < plan->step + plan->chunk[k + 1]; s++)
        for (int64_t b = s->first; b < s->end; b++) own_nodes(plan, b, o->owner);
  }
}

/* owner[node]: the first batch, in the order of steps, that has it; -1: none has. Chunks of a colour share no node. */
static void find_owners(const TesiMappedHost *plan, int32_t *owner) {
  int64_t taken[MOST_COLOURS + 1];
  memcpy(taken, plan->first_of_colour, sizeof taken);
  tesi_team_run(plan->threads, own_chunks, &(Owners){plan, owner, taken});
}

/* The cache lines that each step is first to touch, as ranges in ascending order: streams that the hardware
 * foresees, if they are asked for in this order. */
static TesStatus find_lines(TesContext *ctx, TesiMappedHost *plan, const int32_t *owner,
                            const int32_t *step) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  const int64_t size = (int64_t)tesi_precision_size(m->precision) * m->components;
  const int64_t lines = (m->nodes * size + 63) / 64;
  int32_t *first = NULL;
  int64_t ranges = 0;
  TES_ALLOC(&first, lines);
  for (int64_t l = 0; l < lines; l++) first[l] = INT32_MAX;
  for (int64_t i = 0; i < m->nodes; i++)
    for (int64_t l = i * size / 64; owner[i] >= 0 && l <= ((i + 1) * size - 1) / 64; l++)
      first[l] = tesi_min(first[l], step[owner[i]]);
  for (int64_t l = 0; l < lines; l++) {
    if (first[l] == INT32_MAX) continue;
    plan->step[first[l]].lines++;
    if (l && first[l] == first[l - 1]) continue;
    plan->step[first[l]].ahead_end++;
    ranges++;
  }
  TES_ALLOC(&plan->ahead, ranges);
  for (int64_t k = 0, at = 0; k < plan->steps; k++) {
    at += plan->step[k].ahead_end;
    plan->step[k].ahead = plan->step[k].ahead_end = at - plan->step[k].ahead_end;
  }
  for (int64_t l = 0; l < lines;) {
    int64_t end = l + 1;
    while (end < lines && first[end] == first[l]) end++;
    if (first[l] != INT32_MAX) {
      int32_t *range = plan->ahead[plan->step[first[l]].ahead_end++];
      range[0] = (int32_t)l, range[1] = (int32_t)end;
    }
    l = end;
  }
done:
  tesi_free(ctx, &first);
  return status;
}

/* Joined rows all of whose nodes but the first no batch had before are stored, not added: their number becomes
 * negative, and those nodes need no zero: SET. */
enum { SET = -2 };

static void mark_rows(TesiMappedHost *plan, int32_t *owner) {
  const int64_t rows = plan->nodes / plan->n, length = (int64_t)(plan->n - 1) * plan->kernels.lanes;
  for (int64_t b = 0; b < plan->batches; b++)
    for (int64_t row = 0; plan->batch[b].kind == TESI_GATHER_JOINED && row < rows; row++) {
      int32_t *first = &plan->index[plan->batch[b].index + row], *of = owner + *first;
      bool own = true;
      for (int64_t i = 1; i <= length; i++) own = own && of[i] == b;
      if (!own) continue;
      for (int64_t i = 1; i <= length; i++) of[i] = SET;
      *first = ~*first;
    }
}

/* Batches to steps. */
static TesStatus steps_of(TesContext *ctx, const TesiMappedHost *plan, int32_t **step) {
  TesStatus status = TES_OK;
  TES_ALLOC(step, plan->batches);
  for (int64_t k = 0; k < plan->steps; k++)
    for (int64_t b = plan->step[k].first; b < plan->step[k].end; b++) (*step)[b] = (int32_t)k;
done:
  return status;
}

/* The ranges of nodes that each step sets to zero first; those that no cell has are the last one's. */
static TesStatus find_zeros(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  int32_t *owner = NULL, *step = NULL;
  TES_ALLOC(&owner, m->nodes);
  TES_TRY(steps_of(ctx, plan, &step));
  find_owners(plan, owner);
  TES_TRY(find_lines(ctx, plan, owner, step));
  mark_rows(plan, owner);
  int64_t ranges = 0;
  for (int64_t i = 0; i < m->nodes; i++) {
    if (owner[i] != SET) owner[i] = owner[i] < 0 ? (int32_t)plan->steps - 1 : step[owner[i]];
    if (owner[i] == SET || (i && owner[i] == owner[i - 1])) continue;
    plan->step[owner[i]].zero_end++;
    ranges++;
  }
  TES_ALLOC(&plan->zero, ranges);
  for (int64_t k = 0, at = 0; k < plan->steps; k++) {
    at += plan->step[k].zero_end;
    plan->step[k].zero = plan->step[k].zero_end = at - plan->step[k].zero_end;
  }
  for (int64_t i = 0; i < m->nodes;) {
    int64_t end = i + 1;
    while (end < m->nodes && owner[end] == owner[i]) end++;
    if (owner[i] != SET) {
      int32_t *range = plan->zero[plan->step[owner[i]].zero_end++];
      range[0] = (int32_t)i, range[1] = (int32_t)end;
    }
    i = end;
  }
done:
  tesi_free(ctx, &owner);
  tesi_free(ctx, &step);
  return status;
}

/* Batches of about so many nodes. */
static int64_t batches_of(const TesiMappedHost *plan, int64_t nodes) {
  const int64_t lanes = plan->kernels.lanes, inner = plan->m->global ? plan->m->degree : plan->n;
  const int64_t size = nodes / (inner * inner * (plan->dim == 3 ? inner : 1) * lanes * plan->components);
  return size < 1 ? 1 : size;
}

TesStatus tesi_mapped_make_chunks(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  unsigned char *colour = NULL;
  const int64_t size = (plan->batches + CHUNKS - 1) / CHUNKS,
                step = tesi_min64(size, batches_of(plan, NODES_A_STEP));
  plan->chunks = (plan->batches + size - 1) / size;
  TES_ALLOC(&plan->chunk, plan->chunks + 1);
  TES_ALLOC(&plan->step, plan->chunks * ((size + step - 1) / step));
  TES_ALLOC(&colour, plan->chunks);
  plan->colours = 1;
  if (plan->m->global) TES_TRY(colour_chunks(ctx, plan, size, colour));
  order_chunks(plan, size, step, colour);
  if (plan->m->global) TES_TRY(find_zeros(ctx, plan));
done:
  tesi_free(ctx, &colour);
  return status;
}
