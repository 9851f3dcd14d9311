#include "operator/operator_wide.h"
#include <string.h>
#include "device/copies.h"
#include "device/links.h"
#include "device/upload.h"

/* In a ring a rank above may also be the rank below, and a wide box that is all of the ring has the layers of a rank in
 * two blocks. */
enum { RUNS = 4 };

/* Layers of entries that follow each other in two vectors. */
typedef struct Run {
  int64_t from, to, count;
} Run;
typedef struct Runs {
  int count;
  Run run[RUNS];
} Runs;

/* One scalar of the space, and its first entry in vectors of the rank and in wide vectors. */
typedef struct Piece {
  bool nodes;    /* else modes, which are in one cell each */
  int step;      /* layers per cell */
  int64_t layer; /* entries of one */
  int64_t at, wide_at;
  Runs own; /* of the rank: from its vectors to wide ones */
} Piece;

/* The traffic with another rank: from its wide vectors to wide vectors here, and the other way round. */
typedef struct Trade {
  int rank;
  Runs take[TESI_RT_PARTS], give[TESI_RT_PARTS];
  int64_t count; /* the larger of the numbers sent and received */
  double *sent, *received;
} Trade;

/* The layers as blocks on devices with kernels. [trade][block]: the begin in a wide vector of the sent block and of
 * the received block, and their lengths. */
typedef struct Way {
  TesiLinks *links; /* NULL: there is none */
  int blocks;
  int64_t numbers; /* about how many go, or come */
  void *give, *given, *take, *taken;
} Way;

struct TesiWide {
  TesContext *context, *alone; /* of the ranks' box; of the wide box */
  const TesSpace *narrow;      /* the rank's */
  TesSpace *space;
  TesOperator *op;     /* NULL: not asked for */
  bool ends[2];        /* whether the wide box ends inside the whole box */
  double lower, upper; /* of a ring */
  int pieces, runs;    /* runs: the most of a piece in a trade */
  Piece piece[TESI_RT_PARTS];
  int trades;
  Trade *trade;
  TesiMessage *message;
  Way natural, ordered; /* on devices with kernels */
};

/* Cells in the direction that is cut: of a rank, or of its wide box. In a ring they may lie beyond the ends of the box,
 * where they stand for the cells at its other end. */
typedef struct Window {
  int first, end;
} Window;

/* The direction that is cut. */
typedef struct Line {
  int cells;
  bool ring;
} Line;

static int64_t modulo(int64_t i, int64_t n) {
  return (i % n + n) % n;
}

/* What would reach around a ring is all of it. */
static Window widen(Window own, TesiReach reach, Line line) {
  const int layers = tesi_min(reach.layers, line.cells), step = tesi_max(reach.step, 2);
  int first = own.first - layers, end = own.end + layers;
  if (!line.ring) first = tesi_max(first, 0), end = tesi_min(end, line.cells);
  first -= (int)modulo(first, step);
  return line.ring && end - first >= line.cells ? (Window){0, line.cells} : (Window){first, end};
}

/* Whether a wide box is all of a ring, and so periodic. */
static bool is_round(Window wide, Line line) {
  return line.ring && wide.end - wide.first == line.cells;
}

/* A ring has as many layers as cells times p->step; an open box has the layer of its last node too. */
static int64_t count_layers(const Piece *p, Window w, Line line) {
  return (int64_t)(w.end - w.first) * p->step + (p->nodes && !is_round(w, line));
}

/* The number of layer i of a window in the whole box. */
static int64_t number_of(const Piece *p, Window w, Line line, int64_t i) {
  const int64_t number = (int64_t)w.first * p->step + i;
  return line.ring ? modulo(number, (int64_t)line.cells * p->step) : number;
}

/* The place of a layer of the whole box in a window; -1: it is not there. */
static int64_t place_of(const Piece *p, Window w, Line line, int64_t number) {
  const int64_t i = number - (int64_t)w.first * p->step,
                place = line.ring ? modulo(i, (int64_t)line.cells * p->step) : i;
  return place >= 0 && place < count_layers(p, w, line) ? place : -1;
}

/* The lower rank owns the nodes on a cut; at the seam of a ring the first one does. */
static bool owns(const Piece *p, Window w, int64_t number) {
  const int64_t first = (int64_t)w.first * p->step, end = (int64_t)w.end * p->step;
  return p->nodes ? (number > first && number <= end) || (number == 0 && first == 0)
                  : number >= first && number < end;
}

static void add_layer(Runs *runs, int64_t from, int64_t to) {
  Run *last = runs->count ? &runs->run[runs->count - 1] : NULL;
  if (last && from == last->from + last->count && to == last->to + last->count)
    last->count++;
  else if (runs->count < RUNS)
    runs->run[runs->count++] = (Run){from, to, 1};
}

/* The layers that a wide box needs of another rank, from the wide box of that rank. */
static Runs needed(const Piece *p, Line line, Window wide, Window other, Window other_wide) {
  Runs runs = {0};
  for (int64_t i = 0; i < count_layers(p, wide, line); i++) {
    const int64_t number = number_of(p, wide, line, i);
    if (owns(p, other, number)) add_layer(&runs, place_of(p, other_wide, line, number), i);
  }
  return runs;
}

/* windows[ranks] */
static TesStatus gather_windows(const TesMesh *mesh, Window **windows) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int ranks = tesi_ranks(ctx), rank = tesi_context_communicator(ctx)->rank, d = mesh->dim - 1;
  double *ends = NULL;
  TES_ALLOC(windows, ranks);
  TES_ALLOC(&ends, 2 * ranks);
  ends[2 * rank] = mesh->window[d].first;
  ends[2 * rank + 1] = mesh->window[d].first + mesh->box[d];
  tesi_reduce(ctx, TESI_SUM, 2 * ranks, ends);
  for (int r = 0; r < ranks; r++) (*windows)[r] = (Window){(int)ends[2 * r], (int)ends[2 * r + 1]};
done:
  tesi_free(ctx, &ends);
  return status;
}

/* Kernels of patches need given values all around the box, and patches of Stokes have fewer kinds then. So where the
 * wide box ends inside the whole box, its last nodes count as given with value zero. The error of this reaches one
 * layer further than the error of a natural end. In other cases the ends are cuts. */
static TesStatus create_space(TesiWide *w, Window wide, Line line, const double *vertices) {
  TesContext *ctx = w->alone;
  TesStatus status = TES_OK;
  const TesSpace *from = w->narrow;
  const int d = from->dim - 1;
  const bool given_ends = tesi_has_kernels(ctx) || !from->element->nodal;
  TesMeshDesc mesh_desc = {.kind = TES_MESH_BOX, .dim = from->dim};
  uint8_t given[6];
  TesSpaceDesc space_desc = {.degree = from->degree, .given = given, .element = from->element->element};
  TesMesh *mesh = NULL;
  for (int e = 0; e < from->dim; e++) {
    mesh_desc.cells[e] = e == d ? wide.end - wide.first : from->mesh->box[e];
    mesh_desc.coordinates[e] = e == d ? vertices : from->mesh->coordinates[e];
    mesh_desc.periodic[e] = e == d ? is_round(wide, line) : from->mesh->box_periodic[e];
  }
  TES_TRY(tes_mesh_create(ctx, &mesh_desc, &mesh));
  memcpy(given, from->given, 2 * (size_t)from->dim);
  if (!given_ends) mesh->window[d] = (TesiWindow){wide.first, line.cells};
  for (int end = 0; end < 2; end++)
    if (given_ends && w->ends[end]) given[2 * d + end] = (uint8_t)((1u << from->parts) - 1);
  space_desc.mesh = mesh;
  TES_TRY(tes_space_create(ctx, &space_desc, &w->space));
done:
  tes_mesh_destroy(&mesh);
  return status;
}

/* *x <- the vertices of a wide box. */
static TesStatus place_vertices(TesiWide *w, Window wide, Line line, double **x) {
  const TesMesh *mesh = w->narrow->mesh;
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  double *all = NULL;
  TES_TRY(tesi_mesh_gather_vertices(mesh, &all));
  w->lower = all[0], w->upper = all[line.cells];
  TES_ALLOC(x, wide.end - wide.first + 1);
  for (int v = wide.first; v <= wide.end; v++) {
    const int rounds = v < 0 ? -1 : v > line.cells;
    (*x)[v - wide.first] = all[v - rounds * line.cells] + rounds * (all[line.cells] - all[0]);
  }
done:
  tesi_free(ctx, &all);
  return status;
}

static int64_t count_entries(const TesiWide *w, const Runs *runs) {
  int64_t count = 0;
  for (int p = 0; p < w->pieces; p++)
    for (int i = 0; i < runs[p].count; i++) count += runs[p].run[i].count * w->piece[p].layer;
  return count;
}

static TesStatus create_trades(TesiWide *w, TesiReach reach, const Window *window, Line line) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  const int ranks = tesi_ranks(ctx), rank = tesi_context_communicator(ctx)->rank;
  const Window mine = widen(window[rank], reach, line);
  TES_ALLOC(&w->trade, ranks);
  TES_ALLOC(&w->message, ranks);
  for (int r = 0; r < ranks; r++) {
    if (r == rank) continue;
    Trade *t = &w->trade[w->trades];
    const Window theirs = widen(window[r], reach, line);
    *t = (Trade){.rank = r};
    for (int p = 0; p < w->pieces; p++) {
      t->take[p] = needed(&w->piece[p], line, mine, window[r], theirs);
      t->give[p] = needed(&w->piece[p], line, theirs, window[rank], mine);
    }
    for (int p = 0; p < w->pieces; p++)
      w->runs = tesi_max(w->runs, tesi_max(t->take[p].count, t->give[p].count));
    t->count = tesi_max(count_entries(w, t->give), count_entries(w, t->take));
    if (!t->count) continue;
    w->trades++;
    TES_ALLOC(&t->sent, t->count);
    TES_ALLOC(&t->received, t->count);
  }
done:
  return status;
}

/* The blocks of a trade, one after another, with all runs of a piece, or of a block of the order. */
static void find_block(const TesiWide *w, const TesiWideOrder *order, const Trade *t, bool takes, int block,
                       int64_t *start, int64_t *count) {
  const int number = block / w->runs, i = block % w->runs, piece = order ? 0 : number;
  const Piece *p = &w->piece[piece];
  const Runs *runs = takes ? &t->take[piece] : &t->give[piece];
  *start = *count = 0;
  if (i >= runs->count) return;
  const int64_t place = takes ? runs->run[i].to : runs->run[i].from, layers = runs->run[i].count;
  if (order) { /* the first piece has modes: layers of cells */
    order->block(order->of, number, (int)(place / p->step), (int)((place + layers) / p->step), start, count);
    return;
  }
  *start = p->wide_at + place * p->layer;
  *count = layers * p->layer;
}

static TesStatus upload_blocks(const TesiWide *w, const TesiWideOrder *order, bool takes, int blocks,
                               int64_t *count_of_trade, void **start, void **count) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  int64_t *numbers = NULL;
  const int all = w->trades * blocks;
  const size_t bytes = (size_t)all * sizeof *numbers;
  TES_ALLOC(&numbers, 2 * all);
  for (int i = 0; i < w->trades; i++) {
    int64_t sum = 0;
    for (int b = i * blocks; b < (i + 1) * blocks; b++) {
      find_block(w, order, &w->trade[i], takes, b % blocks, &numbers[b], &numbers[all + b]);
      sum += numbers[all + b];
    }
    count_of_trade[i] = tesi_max(count_of_trade[i], sum);
  }
  TES_TRY(tesi_upload(ctx, numbers, bytes, start));
  TES_TRY(tesi_upload(ctx, numbers + all, bytes, count));
done:
  tesi_free(ctx, &numbers);
  return status;
}

/* order NULL: the order of the space. */
static TesStatus create_way(const TesiWide *w, const TesiWideOrder *order, Way *way) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  TesiLink *link = NULL;
  int64_t *count = NULL;
  if (!tesi_has_kernels(ctx)) return TES_OK;
  TES_ALLOC(&link, w->trades);
  TES_ALLOC(&count, w->trades);
  way->blocks = w->runs * (order ? order->blocks : w->pieces);
  TES_TRY(upload_blocks(w, order, false, way->blocks, count, &way->give, &way->given));
  TES_TRY(upload_blocks(w, order, true, way->blocks, count, &way->take, &way->taken));
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
  void **blocks[] = {&way->give, &way->given, &way->take, &way->taken};
  tesi_links_destroy(&way->links);
  for (int i = 0; i < 4; i++) tesi_context_device(ctx)->release(ctx, blocks[i]);
}

static TesStatus exchange(Way *way, TesPrecision precision, void *x) {
  void *arguments[] = {NULL, NULL, &x, &way->give, &way->given, &way->take, &way->taken, &way->blocks};
  return tesi_links_exchange(way->links, TESI_EXCHANGE_BLOCKS, precision, way->numbers, arguments);
}

static void set_pieces(TesiWide *w, Window own, Window all, Line line) {
  const TesSpace *space = w->narrow;
  const int d = space->dim - 1;
  int64_t wide_at = 0;
  w->pieces = space->scalars;
  for (int i = 0; i < w->pieces; i++) {
    const TesSpace *scalar = space->scalar[i];
    const TesiAxis *axis = &scalar->axis[d];
    Piece *p = &w->piece[i];
    *p = (Piece){.nodes = axis->basis == TESI_NODES,
                 .step = axis->step,
                 .layer = scalar->length / axis->nodes,
                 .at = space->first[i],
                 .wide_at = wide_at};
    for (int64_t l = 0; l < axis->nodes; l++)
      add_layer(&p->own, l, place_of(p, all, line, number_of(p, own, line, l)));
    wide_at += count_layers(p, all, line) * p->layer;
  }
}

TesStatus tesi_wide_create_space(const TesSpace *space, TesiReach reach, TesiWide **wide) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiWide *w = NULL;
  Window *window = NULL;
  double *vertices = NULL;
  *wide = NULL;
  const int d = space->dim - 1, rank = tesi_context_communicator(ctx)->rank;
  const Line line = {space->mesh->window[d].cells, tesi_mesh_ring(space->mesh, d)};
  TES_NEW(&w);
  w->context = tesi_context_retain(ctx);
  w->narrow = space;
  TES_TRY(tesi_context_create_alone(ctx, &w->alone));
  TES_TRY(gather_windows(space->mesh, &window));
  const Window all = widen(window[rank], reach, line);
  TES_TRY(place_vertices(w, all, line, &vertices));
  w->ends[0] = line.ring ? !is_round(all, line) : all.first > 0;
  w->ends[1] = line.ring ? !is_round(all, line) : all.end < line.cells;
  set_pieces(w, window[rank], all, line);
  TES_TRY(tesi_wide_report(w, create_space(w, all, line, vertices)));
  TES_TRY(create_trades(w, reach, window, line));
  TES_TRY(create_way(w, NULL, &w->natural));
  TES_TRY(tesi_prepare_copies(ctx, space->layout->shared));
  *wide = w;
  w = NULL;
done:
  tesi_wide_destroy(&w);
  tesi_free(ctx, &window);
  tesi_free(ctx, &vertices);
  return status;
}

TesStatus tesi_wide_continue(const TesiWide *w, const TesFunction *f, TesFunction **result) {
  const TesMesh *mesh = w->narrow->mesh;
  const int d = mesh->dim - 1;
  *result = tesi_mesh_ring(mesh, d) ? NULL : tesi_function_retain(f);
  return f && !*result ? tesi_function_continue(f, d, w->lower, w->upper, result) : TES_OK;
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
    tesi_free(ctx, &w->trade[i].sent);
    tesi_free(ctx, &w->trade[i].received);
  }
  tesi_free(ctx, &w->trade);
  tesi_free(ctx, &w->message);
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
  return face / 2 == w->narrow->dim - 1 && w->ends[face % 2];
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
  const Piece *p = &w->piece[0];
  *first = (int)(p->own.run[0].to / p->step);
  *end = *first + (int)(p->own.run[0].count / p->step);
}

void *tesi_wide_own(const TesiWide *w, TesPrecision precision, const void *of) {
  return piece_at(precision, of, w->piece[0].own.run[0].to * w->piece[0].layer);
}

/* Copies a trade's blocks between a wide vector and its message, which has one piece after the other. */
static void move_blocks(const TesiWide *w, TesPrecision precision, const Trade *t, bool takes, void *wide,
                        void *message) {
  char *at = message;
  for (int b = 0; b < w->pieces * w->runs; b++) {
    int64_t start, count;
    find_block(w, NULL, t, takes, b, &start, &count);
    const size_t bytes = (size_t)count * tesi_precision_size(precision);
    void *place = piece_at(precision, wide, start);
    memcpy(takes ? place : at, takes ? at : place, bytes);
    at += bytes;
  }
}

void tesi_wide_refresh_host(TesiWide *w, TesPrecision precision, void *x) {
  const TesCommunicator *communicator = tesi_context_communicator(w->context);
  const int64_t size = (int64_t)tesi_precision_size(precision);
  for (int i = 0; i < w->trades; i++) {
    const Trade *t = &w->trade[i];
    move_blocks(w, precision, t, false, x, t->sent);
    w->message[i] = (TesiMessage){t->rank, t->count * size, t->sent, t->received};
  }
  communicator->table->begin(communicator, w->trades, w->message);
  communicator->table->end(communicator);
  for (int i = 0; i < w->trades; i++) move_blocks(w, precision, &w->trade[i], true, x, w->trade[i].received);
}

/* Entries of this rank in its vectors and in wide ones. */
typedef struct Own {
  void *mine, *place;
  int64_t count;
} Own;

static Own own_run(const Piece *p, int i, TesPrecision precision, const void *narrow, const void *wide) {
  const Run *run = &p->own.run[i];
  return (Own){piece_at(precision, narrow, p->at + run->from * p->layer),
               piece_at(precision, wide, p->wide_at + run->to * p->layer), run->count * p->layer};
}

/* Copies between a vector of the rank and its entries in a wide vector, which may share memory. */
static void move_own(const TesiWide *w, TesPrecision precision, const void *narrow, void *wide, bool out) {
  for (int p = 0; p < w->pieces; p++)
    for (int i = 0; i < w->piece[p].own.count; i++) {
      const Own own = own_run(&w->piece[p], i, precision, narrow, wide);
      if (own.mine != own.place)
        memcpy(out ? own.mine : own.place, out ? own.place : own.mine,
               (size_t)own.count * tesi_precision_size(precision));
    }
}

void tesi_wide_fill_host(TesiWide *w, TesPrecision precision, const void *x, void *to) {
  move_own(w, precision, x, to, false);
  tesi_wide_refresh_host(w, precision, to);
}

/* The entries at an end of a piece that other ranks own. */
static void find_others(const TesiWide *w, int piece, int end, int64_t *start, int64_t *count) {
  const TesiOwned *own = &w->narrow->layout->block[piece];
  const int64_t at = w->piece[piece].at, behind = own->start + own->owned;
  *start = end ? behind : at;
  *count = end ? at + w->narrow->scalar[piece]->length - behind : own->start - at;
}

void tesi_wide_take_host(TesiWide *w, TesPrecision precision, const void *from, void *x) {
  const TesiLayout *layout = w->narrow->layout;
  move_own(w, precision, x, (void *)from, true);
  for (int i = 0; i < 2 * w->pieces; i++) { /* the sum counts only the owner's copy */
    int64_t start, count;
    find_others(w, i / 2, i % 2, &start, &count);
    memset(piece_at(precision, x, start), 0, (size_t)count * tesi_precision_size(precision));
  }
  tesi_exchange_sum(layout->shared, precision, x);
}

/* The same on devices. */
static TesStatus move_own_there(const TesiWide *w, TesPrecision precision, const void *narrow, void *wide,
                                bool out) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  for (int p = 0; p < w->pieces; p++)
    for (int i = 0; i < w->piece[p].own.count && status == TES_OK; i++) {
      const Own own = own_run(&w->piece[p], i, precision, narrow, wide);
      if (own.mine != own.place)
        status = tesi_context_device(ctx)->copy(ctx, own.count, 1, precision, out ? own.place : own.mine,
                                                precision, out ? own.mine : own.place);
    }
  return status;
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
  TesStatus status = TES_OK;
  if (w->natural.links)
    status = move_own_there(w, precision, x, to, false);
  else
    move_own(w, precision, x, to, false);
  return status == TES_OK ? tesi_wide_refresh(w, precision, to) : status;
}

TesStatus tesi_wide_take(TesiWide *w, TesPrecision precision, const void *from, void *x) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = w->narrow->layout;
  if (!w->natural.links) {
    tesi_wide_take_host(w, precision, from, x);
    return TES_OK;
  }
  TES_TRY(move_own_there(w, precision, x, (void *)from, true));
  for (int i = 0; i < 2 * w->pieces; i++) {
    int64_t start, count;
    find_others(w, i / 2, i % 2, &start, &count);
    if (count)
      TES_TRY(tesi_context_device(ctx)->fill(ctx, precision, count, 0, piece_at(precision, x, start)));
  }
  TES_TRY(tesi_sum_copies(ctx, layout->shared, precision, x));
done:
  return status;
}

void tesi_wide_cut_host(const TesiWide *w, TesPrecision precision, const void *from, void *x) {
  move_own(w, precision, x, (void *)from, true);
}

TesStatus tesi_wide_cut(const TesiWide *w, TesPrecision precision, const void *from, void *x) {
  if (w->natural.links) return move_own_there(w, precision, x, (void *)from, true);
  tesi_wide_cut_host(w, precision, from, x);
  return TES_OK;
}
