#include "operator/operator_wide.h"
#include <string.h>
#include "base/integer.h"
#include "device/copies.h"
#include "device/links.h"
#include "device/upload.h"
#include "operator/wide_blocks.h"

/* A device takes so many blocks one after the other. */
enum { FEW = 8 };

/* The traffic with another rank: from its wide vectors to wide vectors here, and the other way round. */
typedef struct Trade {
  int rank;
  TesiMoveList take, give;
  int64_t take_first, give_first; /* those of the first piece */
  int64_t count;                  /* the larger of the numbers sent and received */
  double *sent, *received;
} Trade;

/* The blocks of all trades on devices with kernels, [trade][block]: the begin in a wide vector of the sent block and of
 * the received block, their lengths, and their begin in messages. */
typedef struct Way {
  TesiLinks *links; /* NULL: there is none */
  int blocks;
  int teams;       /* of thread blocks: many short ranges are taken by one each */
  int64_t numbers; /* about how many go, or come */
  void *give, *given, *sent, *take, *taken, *received;
} Way;

struct TesiWide {
  TesContext *context, *alone; /* of the ranks' box; of the wide box */
  const TesSpace *narrow;      /* the rank's */
  TesSpace *space;
  TesOperator *op;           /* NULL: not asked for */
  bool ends[6];              /* whether the wide box ends at a face inside the whole box */
  double lower[3], upper[3]; /* of rings */
  TesiWideLine line[3];
  int pieces;
  TesiWidePiece piece[TESI_RT_PARTS];
  TesiMoveList own, others; /* of the rank's vectors: to wide ones; and what other ranks own */
  TesiMoves *move_own, *move_others;
  int trades;
  Trade *trade;
  TesiMessage *message;
  Way natural, ordered; /* on devices with kernels */
};

/* Kernels of patches need given values all around the box, and patches of Stokes have fewer kinds then. So where the
 * wide box ends inside the whole box, its last nodes count as given with value zero. The error of this reaches one
 * layer further than the error of a natural end. In other cases the ends are cuts. vertices: by direction. */
static TesStatus create_space(TesiWide *w, double *const vertices[3]) {
  TesContext *ctx = w->alone;
  TesStatus status = TES_OK;
  const TesSpace *from = w->narrow;
  const bool given_ends = tesi_has_kernels(ctx) || !from->element->nodal;
  TesMeshDesc mesh_desc = {.kind = TES_MESH_BOX, .dim = from->dim};
  TesiWideWindow wide[3];
  uint8_t given[6];
  TesSpaceDesc space_desc = {.degree = from->degree, .given = given, .element = from->element->element};
  TesMesh *mesh = NULL;
  for (int d = 0; d < from->dim; d++) {
    wide[d] = tesi_wide_window(&w->line[d], w->line[d].part);
    mesh_desc.cells[d] = wide[d].end - wide[d].first;
    mesh_desc.coordinates[d] = vertices[d];
    mesh_desc.periodic[d] = tesi_wide_is_round(&w->line[d], wide[d]);
  }
  TES_TRY(tes_mesh_create(ctx, &mesh_desc, &mesh));
  memcpy(given, from->given, 2 * (size_t)from->dim);
  for (int d = 0; d < from->dim; d++)
    if (!given_ends) mesh->window[d].first = wide[d].first, mesh->window[d].cells = w->line[d].cells;
  for (int f = 0; f < 2 * from->dim; f++)
    if (given_ends && w->ends[f]) given[f] = (uint8_t)((1u << from->parts) - 1);
  space_desc.mesh = mesh;
  TES_TRY(tes_space_create(ctx, &space_desc, &w->space));
done:
  tes_mesh_destroy(&mesh);
  return status;
}

/* *x <- the vertices of a wide box in a direction. */
static TesStatus place_vertices(TesiWide *w, int d, double **x) {
  const TesMesh *mesh = w->narrow->mesh;
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const TesiWideLine *line = &w->line[d];
  const TesiWideWindow wide = tesi_wide_window(line, line->part);
  const bool round = tesi_wide_is_round(line, wide);
  double *all = NULL;
  TES_TRY(tesi_mesh_gather_vertices(mesh, d, &all));
  w->lower[d] = all[0], w->upper[d] = all[line->cells];
  w->ends[2 * d] = line->ring ? !round : wide.first > 0;
  w->ends[2 * d + 1] = line->ring ? !round : wide.end < line->cells;
  TES_ALLOC(x, wide.end - wide.first + 1);
  for (int v = wide.first; v <= wide.end; v++) {
    const int rounds = v < 0 ? -1 : v > line->cells;
    (*x)[v - wide.first] = all[v - rounds * line->cells] + rounds * (all[line->cells] - all[0]);
  }
done:
  tesi_free(ctx, &all);
  return status;
}

static void list_needed(const TesiWide *w, const int from[3], const int to[3], TesiMoveList *blocks,
                        int64_t *of_first) {
  blocks->count = 0;
  for (int p = 0; p < w->pieces; p++) {
    const int64_t at = w->piece[p].wide_at; /* in vectors here */
    tesi_move_begin(blocks);
    tesi_wide_add_needed(&w->piece[p], w->line, from, to, at, blocks);
    if (p == 0) *of_first = blocks->count;
  }
}

static int64_t count_entries(const TesiMoveList *blocks) {
  int64_t count = 0;
  for (int64_t i = 0; i < blocks->count; i++) count += blocks->list[i].count;
  return count;
}

static TesStatus create_trades(TesiWide *w) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  const int ranks = tesi_ranks(ctx), rank = tesi_context_communicator(ctx)->rank;
  const int mine[3] = {w->line[0].part, w->line[1].part, w->line[2].part};
  TES_ALLOC(&w->trade, ranks);
  TES_ALLOC(&w->message, ranks);
  for (int r = 0; r < ranks; r++) {
    const int xy = w->line[0].parts * w->line[1].parts,
              theirs[3] = {r % w->line[0].parts, r % xy / w->line[0].parts, r / xy};
    Trade *t = &w->trade[w->trades];
    if (r == rank) continue;
    *t = (Trade){.rank = r};
    list_needed(w, theirs, mine, &t->take, &t->take_first);
    list_needed(w, mine, theirs, &t->give, &t->give_first);
    if (!t->take.count && !t->give.count) continue;
    w->trades++;
    TES_ALLOC(&t->take.list, t->take.count);
    TES_ALLOC(&t->give.list, t->give.count);
    list_needed(w, theirs, mine, &t->take, &t->take_first);
    list_needed(w, mine, theirs, &t->give, &t->give_first);
    t->count = tesi_max64(count_entries(&t->give), count_entries(&t->take));
    TES_ALLOC(&t->sent, t->count);
    TES_ALLOC(&t->received, t->count);
  }
done:
  return status;
}

/* The blocks of a trade on devices: of the space's order, or of another one, whose first piece has modes in the last
 * direction: layers of cells. */
static void find_block(const TesiWide *w, const TesiWideOrder *order, const Trade *t, bool takes, int block,
                       int64_t *start, int64_t *count) {
  const TesiMoveList *blocks = takes ? &t->take : &t->give;
  const int number = order ? block % order->blocks : 0, i = order ? block / order->blocks : block;
  *start = *count = 0;
  if (i >= (!order ? blocks->count : takes ? t->take_first : t->give_first)) return;
  *start = takes ? blocks->list[i].to : blocks->list[i].from;
  *count = blocks->list[i].count;
  if (!order) return;
  const int64_t layer = tesi_wide_length(&w->piece[0], w->line) / w->space->mesh->box[w->narrow->dim - 1],
                first = *start / layer, end = (*start + *count) / layer;
  *start = *count = 0;
  order->block(order->of, number, (int)first, (int)end, start, count);
}

static TesStatus upload_blocks(const TesiWide *w, const TesiWideOrder *order, bool takes, int blocks,
                               int64_t *count_of_trade, void **start, void **count, void **place) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  int64_t *numbers = NULL;
  const int64_t all = (int64_t)w->trades * blocks;
  const size_t bytes = (size_t)all * sizeof *numbers;
  TES_ALLOC(&numbers, 3 * all);
  for (int i = 0; i < w->trades; i++) {
    int64_t sum = 0;
    for (int64_t b = (int64_t)i * blocks; b < (int64_t)(i + 1) * blocks; b++) {
      find_block(w, order, &w->trade[i], takes, (int)(b % blocks), &numbers[b], &numbers[all + b]);
      numbers[2 * all + b] = sum;
      sum += numbers[all + b];
    }
    count_of_trade[i] = tesi_max64(count_of_trade[i], sum);
  }
  TES_TRY(tesi_upload(ctx, numbers, bytes, start));
  TES_TRY(tesi_upload(ctx, numbers + all, bytes, count));
  TES_TRY(tesi_upload(ctx, numbers + 2 * all, bytes, place));
done:
  tesi_free(ctx, &numbers);
  return status;
}

/* order NULL: the order of the space. */
static TesStatus create_way(const TesiWide *w, const TesiWideOrder *order, Way *way) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  TesiLink *link = NULL;
  int64_t *count = NULL, most = 0;
  if (!tesi_has_kernels(ctx)) return TES_OK;
  TES_ALLOC(&link, w->trades);
  TES_ALLOC(&count, w->trades);
  for (int i = 0; i < w->trades; i++)
    most = tesi_max64(most, tesi_max64(w->trade[i].take.count, w->trade[i].give.count));
  way->blocks = (int)most * (order ? order->blocks : 1);
  way->teams = most > FEW ? INT32_MAX : 1;
  TES_TRY(upload_blocks(w, order, false, way->blocks, count, &way->give, &way->given, &way->sent));
  TES_TRY(upload_blocks(w, order, true, way->blocks, count, &way->take, &way->taken, &way->received));
  for (int i = 0; i < w->trades; i++) {
    link[i] = (TesiLink){w->trade[i].rank, count[i]};
    way->numbers += count[i];
  }
  TES_TRY(tesi_links_create(ctx, w->trades, link, &way->links));
done:
  tesi_free(ctx, &link);
  tesi_free(ctx, &count);
  return status;
}

static void free_way(TesContext *ctx, Way *way) {
  void **blocks[] = {&way->give, &way->given, &way->sent, &way->take, &way->taken, &way->received};
  tesi_links_destroy(&way->links);
  for (int i = 0; i < 6; i++) tesi_context_device(ctx)->release(ctx, blocks[i]);
}

static TesStatus exchange(Way *way, TesPrecision precision, void *x) {
  void *arguments[] = {NULL,           NULL,         &x,         &way->give,
                       &way->given,    &way->sent,   &way->take, &way->taken,
                       &way->received, &way->blocks, &way->teams};
  return tesi_links_exchange(way->links, TESI_EXCHANGE_BLOCKS, precision, way->numbers, arguments);
}

static void list_own(TesiWide *w) {
  w->own.count = 0;
  for (int p = 0; p < w->pieces; p++) {
    tesi_move_begin(&w->own);
    tesi_wide_add_own(&w->piece[p], w->line, &w->own);
  }
}

static TesStatus set_pieces(TesiWide *w) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  const TesSpace *space = w->narrow;
  int64_t wide_at = 0;
  w->pieces = space->scalars;
  for (int i = 0; i < w->pieces; i++) {
    TesiWidePiece *p = &w->piece[i];
    *p = (TesiWidePiece){.at = space->first[i], .wide_at = wide_at};
    for (int d = 0; d < 3; d++) {
      p->nodes[d] = space->scalar[i]->axis[d].basis == TESI_NODES;
      p->step[d] = space->scalar[i]->axis[d].step;
    }
    wide_at += tesi_wide_length(p, w->line);
  }
  list_own(w);
  TES_ALLOC(&w->own.list, w->own.count);
  list_own(w);
  TES_TRY(tesi_move_list_layout(space->layout, true, &w->others));
  TES_TRY(tesi_moves_create(ctx, &w->own, &w->move_own));
  TES_TRY(tesi_moves_create(ctx, &w->others, &w->move_others));
done:
  return status;
}

TesStatus tesi_wide_create_space(const TesSpace *space, TesiReach reach, TesiWide **wide) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiWide *w = NULL;
  double *vertices[3] = {NULL, NULL, NULL};
  *wide = NULL;
  TES_NEW(&w);
  w->context = tesi_context_retain(ctx);
  w->narrow = space;
  TES_TRY(tesi_context_create_alone(ctx, &w->alone));
  for (int d = 0; d < 3; d++) TES_TRY(tesi_wide_line_create(space->mesh, d, reach, &w->line[d]));
  for (int d = 0; d < space->dim; d++) TES_TRY(place_vertices(w, d, &vertices[d]));
  TES_TRY(set_pieces(w));
  TES_TRY(tesi_wide_report(w, create_space(w, vertices)));
  TES_TRY(create_trades(w));
  TES_TRY(create_way(w, NULL, &w->natural));
  TES_TRY(tesi_prepare_copies(ctx, space->layout->shared));
  *wide = w;
  w = NULL;
done:
  tesi_wide_destroy(&w);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &vertices[d]);
  return status;
}

TesStatus tesi_wide_continue(const TesiWide *w, const TesFunction *f, TesFunction **result) {
  const TesMesh *mesh = w->narrow->mesh;
  TesStatus status = TES_OK;
  *result = f ? tesi_function_retain(f) : NULL;
  for (int d = 0; d < mesh->dim && f && status == TES_OK; d++) {
    if (!tesi_mesh_ring(mesh, d)) continue;
    TesFunction *inner = *result;
    *result = NULL;
    status = tesi_function_continue(inner, d, w->lower[d], w->upper[d], result);
    tes_function_destroy(&inner);
  }
  return status;
}

/* Coefficients 0..3 of a term. */
static const TesFunction **coefficient(TesTermDesc *term, int number) {
  return number ? &term->b[number - 1] : &term->a.all;
}

static TesStatus continue_terms(const TesiWide *w, const TesForm *form, TesTermDesc *terms) {
  TesStatus status = TES_OK;
  for (int i = 0; i < form->terms; i++) {
    terms[i] = form->term[i];
    for (int c = 0; c < 4; c++) *coefficient(&terms[i], c) = NULL;
  }
  for (int i = 0; i < 4 * form->terms && status == TES_OK; i++)
    status = tesi_wide_continue(w, *coefficient((TesTermDesc *)&form->term[i / 4], i % 4),
                                (TesFunction **)coefficient(&terms[i / 4], i % 4));
  return status;
}

TesStatus tesi_wide_create(const TesOperator *op, TesiReach reach, TesiWide **wide) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesOperatorDesc desc = op->desc;
  TesTermDesc *terms = NULL;
  TES_TRY(tesi_wide_create_space(op->space, reach, wide));
  desc.space = (*wide)->space;
  TES_ALLOC(&terms, desc.form.terms + 1);
  TES_TRY(continue_terms(*wide, &desc.form, terms));
  desc.form.term = terms;
  TES_TRY(tesi_wide_report(*wide, tes_operator_create((*wide)->alone, &desc, &(*wide)->op)));
done:
  for (int i = 0; terms && i < desc.form.terms; i++)
    for (int c = 0; c < 4; c++) tes_function_destroy((TesFunction **)coefficient(&terms[i], c));
  tesi_free(ctx, &terms);
  if (status != TES_OK) tesi_wide_destroy(wide);
  return status;
}

void tesi_wide_destroy(TesiWide **wide) {
  if (!*wide) return;
  TesiWide *w = *wide;
  TesContext *ctx = w->context;
  *wide = NULL;
  for (int i = 0; i < w->trades; i++) {
    tesi_free(ctx, &w->trade[i].take.list);
    tesi_free(ctx, &w->trade[i].give.list);
    tesi_free(ctx, &w->trade[i].sent);
    tesi_free(ctx, &w->trade[i].received);
  }
  tesi_free(ctx, &w->trade);
  tesi_free(ctx, &w->message);
  tesi_moves_destroy(&w->move_own);
  tesi_moves_destroy(&w->move_others);
  tesi_free(ctx, &w->own.list);
  tesi_free(ctx, &w->others.list);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &w->line[d].first);
  free_way(ctx, &w->natural);
  free_way(ctx, &w->ordered);
  tes_operator_destroy(&w->op);
  tes_space_destroy(&w->space);
  tes_context_destroy(&w->alone);
  tesi_free(ctx, &w);
  tes_context_destroy(&ctx);
}

const TesOperator *tesi_wide_operator(const TesiWide *wide) {
  return wide->op;
}

const TesSpace *tesi_wide_space(const TesiWide *wide) {
  return wide->space;
}

bool tesi_wide_ends(const TesiWide *w, int face) {
  return w->ends[face];
}

TesStatus tesi_wide_report(const TesiWide *wide, TesStatus status) {
  if (status == TES_OK) return TES_OK;
  return tesi_fail(wide->context, status, __FILE__, __LINE__, __func__, "%s",
                   tes_context_message(wide->alone));
}

static void *piece_at(TesPrecision precision, const void *v, int64_t entry) {
  return (char *)v + entry * (int64_t)tesi_precision_size(precision);
}

void tesi_wide_cells(const TesiWide *w, int *first, int *end) {
  const TesiWideLine *line = &w->line[w->narrow->dim - 1];
  const TesiWideWindow own = tesi_wide_part(line, line->part);
  *first = own.first - tesi_wide_window(line, line->part).first;
  *end = *first + own.end - own.first;
}

bool tesi_wide_is_together(const TesiWide *w) {
  return w->own.count == 1;
}

void *tesi_wide_own(const TesiWide *w, TesPrecision precision, const void *of) {
  return piece_at(precision, of, w->own.list[0].to);
}

/* Copies a trade's blocks between a wide vector and its message, which has one after the other. */
static void move_blocks(TesPrecision precision, const TesiMoveList *blocks, bool takes, void *wide,
                        void *message) {
  char *at = message;
  for (int64_t b = 0; b < blocks->count; b++) {
    const TesiMove *block = &blocks->list[b];
    const size_t bytes = (size_t)block->count * tesi_precision_size(precision);
    void *place = piece_at(precision, wide, takes ? block->to : block->from);
    memcpy(takes ? place : at, takes ? at : place, bytes);
    at += bytes;
  }
}

void tesi_wide_refresh_host(TesiWide *w, TesPrecision precision, void *x) {
  const TesCommunicator *communicator = tesi_context_communicator(w->context);
  const int64_t size = (int64_t)tesi_precision_size(precision);
  for (int i = 0; i < w->trades; i++) {
    const Trade *t = &w->trade[i];
    move_blocks(precision, &t->give, false, x, t->sent);
    w->message[i] = (TesiMessage){t->rank, t->count * size, t->sent, t->received};
  }
  communicator->table->begin(communicator, w->trades, w->message);
  communicator->table->end(communicator);
  for (int i = 0; i < w->trades; i++)
    move_blocks(precision, &w->trade[i].take, true, x, w->trade[i].received);
}

void tesi_wide_fill_host(TesiWide *w, TesPrecision precision, const void *x, void *to) {
  tesi_moves_host(&w->own, TESI_MOVE_COPY, precision, x, to, false);
  tesi_wide_refresh_host(w, precision, to);
}

/* The sum counts only the owner's copy. */
void tesi_wide_take_host(TesiWide *w, TesPrecision precision, const void *from, void *x) {
  tesi_wide_cut_host(w, precision, from, x);
  tesi_moves_host(&w->others, TESI_MOVE_CLEAR, precision, NULL, x, false);
  tesi_exchange_sum(w->narrow->layout->shared, precision, x);
}

TesStatus tesi_wide_refresh(TesiWide *w, TesPrecision precision, void *x) {
  if (w->natural.links) return exchange(&w->natural, precision, x);
  tesi_wide_refresh_host(w, precision, x);
  return TES_OK;
}

TesStatus tesi_wide_set_order(TesiWide *w, const TesiWideOrder *order) {
  return create_way(w, order, &w->ordered);
}

TesStatus tesi_wide_refresh_ordered(TesiWide *w, TesPrecision precision, void *x) {
  return exchange(&w->ordered, precision, x);
}

TesStatus tesi_wide_fill(TesiWide *w, TesPrecision precision, const void *x, void *to) {
  const TesStatus status = tesi_moves_run(w->move_own, TESI_MOVE_COPY, precision, x, to, false);
  return status == TES_OK ? tesi_wide_refresh(w, precision, to) : status;
}

TesStatus tesi_wide_take(TesiWide *w, TesPrecision precision, const void *from, void *x) {
  TesStatus status = tesi_wide_cut(w, precision, from, x);
  if (status == TES_OK) status = tesi_moves_run(w->move_others, TESI_MOVE_CLEAR, precision, NULL, x, false);
  return status == TES_OK ? tesi_sum_copies(w->context, w->narrow->layout->shared, precision, x) : status;
}

void tesi_wide_cut_host(const TesiWide *w, TesPrecision precision, const void *from, void *x) {
  tesi_moves_host(&w->own, TESI_MOVE_COPY, precision, x, (void *)from, true);
}

TesStatus tesi_wide_cut(const TesiWide *w, TesPrecision precision, const void *from, void *x) {
  return tesi_moves_run(w->move_own, TESI_MOVE_COPY, precision, x, (void *)from, true);
}
