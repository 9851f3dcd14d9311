#include "operator/operator_wide.h"
#include <string.h>
#include "device/copies.h"
#include "device/links.h"
#include "device/upload.h"

/* Layers of entries first .. end - 1, counted over all ranks. */
typedef struct Layers {
  int64_t first, end;
} Layers;

/* One scalar of the space, and its first entry in vectors of the rank and in wide vectors. */
typedef struct Piece {
  bool nodes;    /* else modes, which are in one cell each */
  int step;      /* layers a cell */
  int64_t layer; /* entries of one */
  int64_t at, wide_at;
  Layers own, all;
} Piece;

/* The traffic with another rank: each piece has one block in each direction. */
typedef struct Trade {
  int rank;
  Layers give[TESI_RT_PARTS], take[TESI_RT_PARTS];
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
  TesOperator *op; /* NULL: not asked for */
  int pieces;
  Piece piece[TESI_RT_PARTS];
  int trades;
  Trade *trade;
  TesiMessage *message;
  Way natural, ordered; /* on devices with kernels */
};

/* The cells of a rank in the direction that is cut, and the cells of its wide box. */
typedef struct Window {
  int first, end;
} Window;

static Window widen(Window own, TesiReach reach, int cells) {
  const int layers = reach.layers, first = own.first > layers ? own.first - layers : 0;
  return (Window){first - first % tesi_max(reach.step, 2),
                  layers < cells - own.end ? own.end + layers : cells};
}

static Layers layers_of(const Piece *p, Window w) {
  return (Layers){(int64_t)w.first * p->step, (int64_t)w.end * p->step + p->nodes};
}

static Layers common(Layers a, Layers b) {
  const Layers both = {a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
  return both.first < both.end ? both : (Layers){0, 0};
}

/* The layers that a rank needs of another rank below or above. The lower rank owns the nodes on the cut. */
static Layers needed(const Piece *p, Window own, Window wide, Window of) {
  const Layers mine = layers_of(p, own), all = layers_of(p, wide), theirs = layers_of(p, of);
  return of.first < own.first ? common((Layers){all.first, mine.first + p->nodes}, theirs)
                              : common((Layers){mine.end, all.end}, theirs);
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
static TesStatus create_space(TesiWide *w, Window wide, const double *vertices) {
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
    mesh_desc.coordinates[e] = e == d ? vertices + wide.first : from->mesh->coordinates[e];
    mesh_desc.periodic[e] = from->mesh->box_periodic[e];
  }
  TES_TRY(tes_mesh_create(ctx, &mesh_desc, &mesh));
  const TesiWindow window = {wide.first, from->mesh->window[d].cells};
  memcpy(given, from->given, 2 * (size_t)from->dim);
  if (!given_ends) mesh->window[d] = window;
  const uint8_t all = (uint8_t)((1u << from->parts) - 1);
  if (given_ends && wide.first > 0) given[2 * d] = all;
  if (given_ends && wide.end < window.cells) given[2 * d + 1] = all;
  space_desc.mesh = mesh;
  TES_TRY(tes_space_create(ctx, &space_desc, &w->space));
done:
  tes_mesh_destroy(&mesh);
  return status;
}

static int64_t count_entries(const TesiWide *w, const Layers *block) {
  int64_t count = 0;
  for (int p = 0; p < w->pieces; p++) count += (block[p].end - block[p].first) * w->piece[p].layer;
  return count;
}

static TesStatus create_trades(TesiWide *w, TesiReach reach, const Window *window) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  const TesSpace *space = w->narrow;
  const int ranks = tesi_ranks(ctx), rank = tesi_context_communicator(ctx)->rank, d = space->dim - 1,
            cells = space->mesh->window[d].cells;
  TES_ALLOC(&w->trade, ranks);
  TES_ALLOC(&w->message, ranks);
  for (int r = 0; r < ranks; r++) {
    if (r == rank) continue;
    Trade *t = &w->trade[w->trades];
    const Window mine = widen(window[rank], reach, cells), theirs = widen(window[r], reach, cells);
    *t = (Trade){.rank = r};
    for (int p = 0; p < w->pieces; p++) {
      t->give[p] = needed(&w->piece[p], window[r], theirs, window[rank]);
      t->take[p] = needed(&w->piece[p], window[rank], mine, window[r]);
    }
    t->count = tesi_max(count_entries(w, t->give), count_entries(w, t->take));
    if (!t->count) continue;
    w->trades++;
    TES_ALLOC(&t->sent, t->count);
    TES_ALLOC(&t->received, t->count);
  }
done:
  return status;
}

/* The place of layer `first` of a piece in a wide vector. */
static int64_t wide_place(const Piece *p, int64_t first) {
  return p->wide_at + (first - p->all.first) * p->layer;
}

/* The blocks of a trade, one after another. */
static void find_block(const TesiWide *w, const TesiWideOrder *order, const Layers *layers, int block,
                       int64_t *start, int64_t *count) {
  const Piece *p = &w->piece[order ? 0 : block];
  const Layers of = layers[order ? 0 : block];
  *start = *count = 0;
  if (!of.end) return;
  if (order) { /* the first piece has modes: layers of cells */
    const int64_t first = (of.first - p->all.first) / p->step, end = (of.end - p->all.first) / p->step;
    order->block(order->of, block, (int)first, (int)end, start, count);
    return;
  }
  *start = wide_place(p, of.first);
  *count = (of.end - of.first) * p->layer;
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
      find_block(w, order, takes ? w->trade[i].take : w->trade[i].give, b % blocks, &numbers[b],
                 &numbers[all + b]);
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
  way->blocks = order ? order->blocks : w->pieces;
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

static void set_pieces(TesiWide *w, Window own, Window all) {
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
    p->own = layers_of(p, own);
    p->all = layers_of(p, all);
    wide_at += (p->all.end - p->all.first) * p->layer;
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
  TES_NEW(&w);
  w->context = tesi_context_retain(ctx);
  w->narrow = space;
  TES_TRY(tesi_context_create_alone(ctx, &w->alone));
  TES_TRY(gather_windows(space->mesh, &window));
  TES_TRY(tesi_mesh_gather_vertices(space->mesh, &vertices));
  const Window all = widen(window[rank], reach, space->mesh->window[d].cells);
  set_pieces(w, window[rank], all);
  TES_TRY(tesi_wide_report(w, create_space(w, all, vertices)));
  TES_TRY(create_trades(w, reach, window));
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

TesStatus tesi_wide_create(const TesOperator *op, TesiReach reach, TesiWide **wide) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesOperatorDesc desc = op->desc;
  TES_TRY(tesi_wide_create_space(op->space, reach, wide));
  desc.space = (*wide)->space;
  TES_TRY(tesi_wide_report(*wide, tes_operator_create((*wide)->alone, &desc, &(*wide)->op)));
done:
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
  const Piece *p = &w->piece[0];
  const int d = w->narrow->dim - 1;
  if (face / 2 != d) return false;
  return face % 2 ? p->all.end < layers_of(p, (Window){0, w->narrow->mesh->window[d].cells}).end
                  : p->all.first > 0;
}

TesStatus tesi_wide_report(const TesiWide *wide, TesStatus status) {
  if (status == TES_OK) return TES_OK;
  return tesi_fail(wide->context, status, __FILE__, __LINE__, __func__, "%s",
                   tes_context_message(wide->alone));
}

static void *piece_at(TesPrecision precision, const void *v, int64_t entry) {
  return (char *)v + entry * (int64_t)tesi_precision_size(precision);
}

static int64_t count_own(const Piece *p) {
  return (p->own.end - p->own.first) * p->layer;
}

void tesi_wide_cells(const TesiWide *w, int *first, int *end) {
  const Piece *p = &w->piece[0];
  *first = (int)((p->own.first - p->all.first) / p->step);
  *end = *first + (int)((p->own.end - p->own.first) / p->step);
}

void *tesi_wide_own(const TesiWide *w, TesPrecision precision, const void *of) {
  return piece_at(precision, of, wide_place(&w->piece[0], w->piece[0].own.first));
}

/* Copies a trade's blocks between a wide vector and its message, which has one piece after the other. */
static void move_blocks(const TesiWide *w, TesPrecision precision, const Layers *block, bool out, void *wide,
                        void *message) {
  const size_t size = tesi_precision_size(precision);
  char *at = message;
  for (int i = 0; i < w->pieces; i++) {
    const Piece *p = &w->piece[i];
    const size_t bytes = (size_t)((block[i].end - block[i].first) * p->layer) * size;
    if (!bytes) continue;
    void *place = piece_at(precision, wide, wide_place(p, block[i].first));
    memcpy(out ? at : place, out ? place : at, bytes);
    at += bytes;
  }
}

void tesi_wide_refresh_host(TesiWide *w, TesPrecision precision, void *x) {
  const TesCommunicator *communicator = tesi_context_communicator(w->context);
  const int64_t size = (int64_t)tesi_precision_size(precision);
  for (int i = 0; i < w->trades; i++) {
    const Trade *t = &w->trade[i];
    move_blocks(w, precision, t->give, true, x, t->sent);
    w->message[i] = (TesiMessage){t->rank, t->count * size, t->sent, t->received};
  }
  communicator->table->begin(communicator, w->trades, w->message);
  communicator->table->end(communicator);
  for (int i = 0; i < w->trades; i++)
    move_blocks(w, precision, w->trade[i].take, false, x, w->trade[i].received);
}

/* Copies between a vector of the rank and its entries in a wide vector, which may share memory. */
static void move_own(const TesiWide *w, TesPrecision precision, const void *narrow, void *wide, bool out) {
  for (int i = 0; i < w->pieces; i++) {
    const Piece *p = &w->piece[i];
    void *mine = piece_at(precision, narrow, p->at),
         *place = piece_at(precision, wide, wide_place(p, p->own.first));
    if (mine != place)
      memcpy(out ? mine : place, out ? place : mine, (size_t)count_own(p) * tesi_precision_size(precision));
  }
}

void tesi_wide_fill_host(TesiWide *w, TesPrecision precision, const void *x, void *to) {
  move_own(w, precision, x, to, false);
  tesi_wide_refresh_host(w, precision, to);
}

void tesi_wide_take_host(TesiWide *w, TesPrecision precision, const void *from, void *x) {
  const TesiLayout *layout = w->narrow->layout;
  move_own(w, precision, x, (void *)from, true);
  for (int i = 0; i < w->pieces; i++) /* the sum counts only the owner's copy */
    memset(piece_at(precision, x, w->piece[i].at), 0,
           (size_t)(layout->block[i].start - w->piece[i].at) * tesi_precision_size(precision));
  tesi_exchange_sum(layout->shared, precision, x);
}

/* The same on devices. */
static TesStatus move_own_there(const TesiWide *w, TesPrecision precision, const void *narrow, void *wide,
                                bool out) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < w->pieces && status == TES_OK; i++) {
    const Piece *p = &w->piece[i];
    void *mine = piece_at(precision, narrow, p->at),
         *place = piece_at(precision, wide, wide_place(p, p->own.first));
    if (mine != place)
      status = tesi_context_device(ctx)->copy(ctx, count_own(p), 1, precision, out ? place : mine, precision,
                                              out ? mine : place);
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
  for (int i = 0; i < w->pieces; i++) {
    const int64_t others = layout->block[i].start - w->piece[i].at;
    if (others)
      TES_TRY(
          tesi_context_device(ctx)->fill(ctx, precision, others, 0, piece_at(precision, x, w->piece[i].at)));
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
