/* Chunks of batches: the portions of work of threads. */
#include "base/integer.h"
#include "base/team.h"
#include "geometry/lanes.h"
#include "operator/mapped/host/mapped_host.h"

/* A chunk is a thread's portion of work. Nodes at the borders of chunks are touched twice. So one thread has long
 * chunks; several threads have many chunks, so that all of them have work at any time. */
enum { CHUNKS_A_THREAD = 64, NODES_A_STEP = 1 << 12 };

/* Chunks of `size` batches in the order of batches. */
typedef struct Cut {
  const TesiMappedHost *plan;
  int64_t size;
} Cut;

/* Corner i of the cells of a chunk. Cells that share a node share a corner: a face or an edge with common nodes has
 * common corners (corners of the larger cell where nodes hang). A corner may hang for only one of the two cells; then
 * the shared face or edge has another corner that does not hang. */
static int64_t corner(const void *data, int64_t chunk, int64_t i) {
  const Cut *cut = data;
  const TesiMappedHost *plan = cut->plan;
  const TesiMapped *m = plan->m;
  const int64_t at = chunk * cut->size * plan->kernels.lanes + (i >> m->dim),
                end = tesi_min64((chunk + 1) * cut->size, plan->batches) * plan->kernels.lanes,
                v = i & ((1 << m->dim) - 1);
  if (at >= end) return -1;
  const int64_t p = m->degree * ((v & 1) + m->n * ((v >> 1 & 1) + m->n * (v >> 2)));
  const int32_t node = m->index[plan->cell[at] * m->cell_nodes + p];
  return node < 0 ? ~node : node;
}

static int64_t no_corner(const void *data, int64_t chunk, int64_t i) {
  (void)data, (void)chunk, (void)i;
  return -1;
}

/* Chunks in their order, each divided into steps. */
static void order_chunks(TesiMappedHost *plan, int64_t size, int64_t step, const int64_t *order) {
  int64_t steps = 0;
  for (int64_t at = 0; at < plan->chunks; at++) {
    const int64_t k = order[at], end = tesi_min64((k + 1) * size, plan->batches);
    plan->chunk[at] = steps;
    for (int64_t b = k * size; b < end; b += step)
      plan->step[steps++] = (TesiMappedStep){.first = b, .end = tesi_min64(b + step, end)};
  }
  plan->chunk[plan->chunks] = plan->steps = steps;
}

/* Makes a batch the owner of its nodes that have no owner. */
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
} Owners;

static void own_none(const void *data, TesiSpan nodes) {
  const Owners *o = data;
  for (int64_t i = nodes.first; i < nodes.end; i++) o->owner[i] = -1;
}

static void own_chunk(const void *data, TesiSpan chunk) {
  const Owners *o = data;
  const TesiMappedHost *plan = o->plan;
  for (const TesiMappedStep *s = plan->step + plan->chunk[chunk.first];
       s < plan->step + plan->chunk[chunk.end]; s++)
    for (int64_t b = s->first; b < s->end; b++) own_nodes(plan, b, o->owner);
}

/* owner[node]: the first batch, in the order of steps, that has the node; -1: no batch. */
static void find_owners(const TesiMappedHost *plan, int32_t *owner) {
  const Owners o = {plan, owner};
  tesi_team_for(plan->threads, plan->m->nodes, own_none, &o);
  tesi_sequence_run(plan->sequence, plan->threads, own_chunk, &o);
}

/* The step of each of `count` things; negative: no step. */
typedef struct Ranges {
  int64_t count, steps;
  const int32_t *of;
  int64_t *at; /* [threads][steps]: first the number of ranges that begin in a thread's span, then the place of its
                * next range */
  int32_t (*range)[2]; /* NULL: they are counted */
} Ranges;

static void visit_ranges(const void *data, TesiSpan span) {
  const Ranges *r = data;
  int64_t *const at = r->at + span.thread * r->steps, i = span.first;
  while (i > 0 && i < span.end && r->of[i] == r->of[i - 1]) i++; /* end of a range that began before */
  while (i < span.end) {
    const int64_t first = i++;
    const int32_t step = r->of[first];
    while (i < r->count && r->of[i] == step) i++;
    if (step < 0) continue;
    if (r->range) {
      int32_t *const range = r->range[at[step]];
      range[0] = (int32_t)first, range[1] = (int32_t)i;
    }
    at[step]++;
  }
}

/* The ranges [begin, end) of step k, ascending, go to (*range)[first[k]] .. (*range)[first[k + 1] - 1]; first[steps +
 * 1]. */
static TesStatus list_ranges(TesContext *ctx, const TesiMappedHost *plan, int64_t count, const int32_t *of,
                             int64_t *first, int32_t (**range)[2]) {
  TesStatus status = TES_OK;
  Ranges r = {.count = count, .steps = plan->steps, .of = of};
  int64_t ranges = 0;
  TES_ALLOC(&r.at, plan->threads * plan->steps);
  tesi_team_for(plan->threads, count, visit_ranges, &r);
  for (int64_t k = 0; k < plan->steps; k++) {
    first[k] = ranges;
    for (int t = 0; t < plan->threads; t++) {
      int64_t *const at = &r.at[t * plan->steps + k], begin = ranges;
      ranges += *at;
      *at = begin;
    }
  }
  first[plan->steps] = ranges;
  TES_ALLOC(range, ranges);
  r.range = *range;
  tesi_team_for(plan->threads, count, visit_ranges, &r);
done:
  tesi_free(ctx, &r.at);
  return status;
}

typedef struct Lines {
  int64_t nodes, size; /* bytes of a node */
  const int32_t *owner, *step;
  int32_t *of; /* [lines] */
} Lines;

static void find_steps_of_lines(const void *data, TesiSpan span) {
  const Lines *s = data;
  for (int64_t l = span.first; l < span.end; l++) {
    const int64_t end = tesi_min64(s->nodes, (64 * (l + 1) + s->size - 1) / s->size);
    int32_t least = INT32_MAX;
    for (int64_t i = 64 * l / s->size; i < end; i++)
      if (s->owner[i] >= 0) least = tesi_min(least, s->step[s->owner[i]]);
    s->of[l] = least < INT32_MAX ? least : -1;
  }
}

/* The cache lines that each step is first to touch, as ascending ranges: the hardware recognises them as streams if
 * they are loaded in this order. first: work [steps + 1]. */
static TesStatus find_lines(TesContext *ctx, TesiMappedHost *plan, const int32_t *owner, const int32_t *step,
                            int64_t *first) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  const int64_t size = (int64_t)tesi_precision_size(m->precision) * m->components;
  const int64_t lines = (m->nodes * size + 63) / 64;
  int32_t *of = NULL;
  TES_ALLOC(&of, lines);
  tesi_team_for(plan->threads, lines, find_steps_of_lines, &(Lines){m->nodes, size, owner, step, of});
  TES_TRY(list_ranges(ctx, plan, lines, of, first, &plan->ahead));
  for (int64_t k = 0; k < plan->steps; k++) {
    TesiMappedStep *const s = &plan->step[k];
    s->ahead = first[k], s->ahead_end = first[k + 1];
    for (int64_t i = s->ahead; i < s->ahead_end; i++) s->lines += plan->ahead[i][1] - plan->ahead[i][0];
  }
done:
  tesi_free(ctx, &of);
  return status;
}

/* If all nodes of a joined row except the first appear in no earlier batch, the row is stored, not added: its number
 * becomes negative, and these nodes (SET) need not be zeroed. */
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

typedef struct Zeros {
  int32_t *owner; /* batches become steps */
  const int32_t *step, last;
} Zeros;

static void find_steps_of_nodes(const void *data, TesiSpan span) {
  const Zeros *z = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int32_t owner = z->owner[i];
    z->owner[i] = owner == SET ? SET : owner < 0 ? z->last : z->step[owner];
  }
}

typedef struct Given {
  const TesiMapped *m;
  const int32_t *owner, *step;
  int32_t last, *of; /* [constrained] */
} Given;

static void find_steps_of_given(const void *data, TesiSpan span) {
  const Given *g = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int32_t owner = g->owner[g->m->constrained_nodes[i]];
    g->of[i] = owner < 0 ? g->last : g->step[owner];
  }
}

/* Rows of constrained nodes are set by the step that is first to touch them, at its end. */
static TesStatus find_given(TesContext *ctx, TesiMappedHost *plan, const int32_t *owner, const int32_t *step,
                            int64_t *first) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  int32_t *of = NULL;
  TES_ALLOC(&of, m->constrained);
  tesi_team_for(plan->threads, m->constrained, find_steps_of_given,
                &(Given){m, owner, step, (int32_t)plan->steps - 1, of});
  TES_TRY(list_ranges(ctx, plan, m->constrained, of, first, &plan->given));
  for (int64_t k = 0; k < plan->steps; k++)
    plan->step[k].given = first[k], plan->step[k].given_end = first[k + 1];
done:
  tesi_free(ctx, &of);
  return status;
}

/* The ranges of nodes that each step sets to zero before it adds. The last step sets the nodes to zero that belong
 * to no cell. */
static TesStatus find_zeros(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  int32_t *owner = NULL, *step = NULL;
  int64_t *first = NULL;
  TES_ALLOC(&owner, m->nodes);
  TES_ALLOC(&first, plan->steps + 1);
  TES_TRY(steps_of(ctx, plan, &step));
  find_owners(plan, owner);
  TES_TRY(find_lines(ctx, plan, owner, step, first));
  TES_TRY(find_given(ctx, plan, owner, step, first));
  mark_rows(plan, owner);
  tesi_team_for(plan->threads, m->nodes, find_steps_of_nodes, &(Zeros){owner, step, (int32_t)plan->steps - 1});
  TES_TRY(list_ranges(ctx, plan, m->nodes, owner, first, &plan->zero));
  for (int64_t k = 0; k < plan->steps; k++)
    plan->step[k].zero = first[k], plan->step[k].zero_end = first[k + 1];
done:
  tesi_free(ctx, &owner);
  tesi_free(ctx, &step);
  tesi_free(ctx, &first);
  return status;
}

/* Batches of about so many nodes. */
static int64_t batches_of(const TesiMappedHost *plan, int64_t nodes) {
  const int64_t lanes = plan->kernels.lanes, inner = plan->m->global ? plan->m->degree : plan->n;
  const int64_t size = nodes / (inner * inner * (plan->dim == 3 ? inner : 1) * lanes * plan->components);
  return size < 1 ? 1 : size;
}

/* Chunks of nodes that no other chunk has, in their own order. */
static TesStatus find_order(TesContext *ctx, TesiMappedHost *plan, int64_t size, int64_t *order) {
  const bool global = plan->m->global;
  return tesi_sequence_create(ctx, global ? plan->threads : 1, plan->chunks, global ? plan->m->nodes : 0,
                              global ? corner : no_corner, &(Cut){plan, size}, &plan->sequence, order);
}

/* Batches of a chunk: whole groups of TESI_LANES cells, since factors are filled by groups. */
static int64_t size_of(const TesiMappedHost *plan) {
  const int64_t chunks = CHUNKS_A_THREAD * plan->threads, size = (plan->batches + chunks - 1) / chunks,
                group = tesi_max(TESI_LANES / plan->kernels.lanes, 1);
  return size > 0 ? (size + group - 1) / group * group : group; /* a rank may have no cells */
}

TesStatus tesi_mapped_make_chunks(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  int64_t *order = NULL;
  const int64_t size = size_of(plan), step = tesi_min64(size, batches_of(plan, NODES_A_STEP));
  plan->chunks = (plan->batches + size - 1) / size;
  TES_ALLOC(&plan->chunk, plan->chunks + 1);
  TES_ALLOC(&plan->step, plan->chunks * ((size + step - 1) / step));
  TES_ALLOC(&order, plan->chunks);
  TES_TRY(find_order(ctx, plan, size, order));
  order_chunks(plan, size, step, order);
  if (plan->m->global) TES_TRY(find_zeros(ctx, plan));
done:
  tesi_free(ctx, &order);
  return status;
}
