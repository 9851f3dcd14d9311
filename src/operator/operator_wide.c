#include "operator/operator_wide.h"
#include <string.h>
#include "device/copies.h"
#include "device/links.h"
#include "device/upload.h"

/* Layers of nodes first .. end - 1, counted over all ranks. */
typedef struct Layers {
  int64_t first, end;
} Layers;

/* What goes to another rank and comes from it: at most two blocks each way, below and above. */
typedef struct Trade {
  int rank;
  Layers give, take;
  double *sent, *received;
} Trade;

struct TesiWide {
  TesContext *context, *alone; /* of the ranks; of the wide box */
  const TesOperator *narrow;   /* the rank's */
  TesOperator *op;
  int64_t layer; /* nodes */
  Layers own, all;
  int trades;
  Trade *trade;
  TesiMessage *message;
  /* on devices with kernels; there, by trade: where what is given begins in a vector of the rank, and what is taken
   * in a wide one, and how many numbers they are */
  TesiLinks *links;
  int64_t numbers; /* that go, or come, about */
  void *give, *given, *take, *taken;
};

/* The cells of a rank in the direction that is cut, and the cells of its wide box. */
typedef struct Window {
  int first, end;
} Window;

static Window widen(Window own, int layers, int cells) {
  const int first = own.first > layers ? (own.first - layers) / 2 * 2 : 0;
  return (Window){first, layers < cells - own.end ? own.end + layers : cells};
}

static Layers nodes_of(Window w, int degree) {
  return (Layers){(int64_t)w.first * degree, (int64_t)w.end * degree + 1};
}

static Layers common(Layers a, Layers b) {
  const Layers both = {a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
  return both.first < both.end ? both : (Layers){0, 0};
}

/* What a rank needs of another one that lies below it, or above. The one below owns the nodes on the cut. */
static Layers needed(Window own, Window wide, Window of, int degree) {
  const Layers mine = nodes_of(own, degree), all = nodes_of(wide, degree), theirs = nodes_of(of, degree);
  return of.first < own.first ? common((Layers){all.first, mine.first + 1}, theirs)
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

/* Kernels of patches are for boxes with given values all around. Where the wide box ends within the whole one its last
 * nodes are given ones then, as if they were zero: what comes of that reaches one layer further than what comes of a
 * natural end. Elsewhere the ends are cuts. */
static TesStatus create_operator(TesiWide *w, Window wide, const double *vertices) {
  TesContext *ctx = w->alone;
  TesStatus status = TES_OK;
  const TesSpace *from = w->narrow->space;
  const int d = from->dim - 1;
  TesMeshDesc mesh_desc = {.kind = TES_MESH_BOX, .dim = from->dim};
  uint8_t given[6];
  TesSpaceDesc space_desc = {.degree = from->degree, .given = given};
  TesOperatorDesc desc = w->narrow->desc;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  for (int e = 0; e < from->dim; e++) {
    mesh_desc.cells[e] = e == d ? wide.end - wide.first : from->mesh->box[e];
    mesh_desc.coordinates[e] = e == d ? vertices + wide.first : from->mesh->coordinates[e];
  }
  TES_TRY(tes_mesh_create(ctx, &mesh_desc, &mesh));
  const TesiWindow window = {wide.first, from->mesh->window[d].cells};
  memcpy(given, from->given, 2 * (size_t)from->dim);
  if (!tesi_has_kernels(ctx)) mesh->window[d] = window;
  if (tesi_has_kernels(ctx) && wide.first > 0) given[2 * d] = 1;
  if (tesi_has_kernels(ctx) && wide.end < window.cells) given[2 * d + 1] = 1;
  space_desc.mesh = mesh;
  TES_TRY(tes_space_create(ctx, &space_desc, &space));
  desc.space = space;
  TES_TRY(tes_operator_create(ctx, &desc, &w->op));
done:
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

static int64_t most(Layers a, Layers b) {
  return a.end - a.first > b.end - b.first ? a.end - a.first : b.end - b.first;
}

static TesStatus create_trades(TesiWide *w, int layers, const Window *window) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  const TesSpace *space = w->narrow->space;
  const int ranks = tesi_ranks(ctx), rank = tesi_context_communicator(ctx)->rank, d = space->dim - 1,
            cells = space->mesh->window[d].cells;
  TES_ALLOC(&w->trade, ranks);
  TES_ALLOC(&w->message, ranks);
  for (int r = 0; r < ranks; r++) {
    if (r == rank) continue;
    Trade *t = &w->trade[w->trades];
    const Window mine = widen(window[rank], layers, cells), theirs = widen(window[r], layers, cells);
    *t = (Trade){.rank = r,
                 .give = needed(window[r], theirs, window[rank], space->degree),
                 .take = needed(window[rank], mine, window[r], space->degree)};
    const int64_t count = most(t->give, t->take) * w->layer;
    if (!count) continue;
    w->trades++;
    TES_ALLOC(&t->sent, count);
    TES_ALLOC(&t->received, count);
  }
done:
  return status;
}

static TesStatus upload_blocks(TesiWide *w, bool takes, void **start, void **count) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  long long *numbers = NULL;
  const size_t bytes = (size_t)w->trades * sizeof *numbers;
  TES_ALLOC(&numbers, 2 * w->trades);
  for (int i = 0; i < w->trades; i++) {
    const Layers block = takes ? w->trade[i].take : w->trade[i].give;
    numbers[i] = block.end ? (block.first - (takes ? w->all.first : w->own.first)) * w->layer : 0;
    numbers[w->trades + i] = (block.end - block.first) * w->layer;
  }
  TES_TRY(tesi_upload(ctx, numbers, bytes, start));
  TES_TRY(tesi_upload(ctx, numbers + w->trades, bytes, count));
done:
  tesi_free(ctx, &numbers);
  return status;
}

static TesStatus create_links(TesiWide *w) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  TesiLink *link = NULL;
  if (!tesi_has_kernels(ctx)) return TES_OK;
  TES_ALLOC(&link, w->trades);
  for (int i = 0; i < w->trades; i++)
    link[i] = (TesiLink){w->trade[i].rank, most(w->trade[i].give, w->trade[i].take) * w->layer},
    w->numbers += link[i].count;
  TES_TRY(upload_blocks(w, false, &w->give, &w->given));
  TES_TRY(upload_blocks(w, true, &w->take, &w->taken));
  TES_TRY(tesi_links_create(ctx, w->trades, link, &w->links));
done:
  tesi_free(ctx, &link);
  return status;
}

TesStatus tesi_wide_create(const TesOperator *op, int layers, TesiWide **wide) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiWide *w = NULL;
  Window *window = NULL;
  double *vertices = NULL;
  *wide = NULL;
  const TesSpace *space = op->space;
  const int d = space->dim - 1, rank = tesi_context_communicator(ctx)->rank;
  TES_NEW(&w);
  w->context = tesi_context_retain(ctx);
  w->narrow = op;
  w->layer = space->length / space->axis[d].nodes;
  TES_TRY(tesi_context_create_alone(ctx, &w->alone));
  TES_TRY(gather_windows(space->mesh, &window));
  TES_TRY(tesi_mesh_gather_vertices(space->mesh, &vertices));
  const Window all = widen(window[rank], layers, space->mesh->window[d].cells);
  w->own = nodes_of(window[rank], space->degree);
  w->all = nodes_of(all, space->degree);
  TES_TRY(tesi_wide_report(w, create_operator(w, all, vertices)));
  TES_TRY(create_trades(w, layers, window));
  TES_TRY(create_links(w));
  *wide = w;
  w = NULL;
done:
  tesi_wide_destroy(&w);
  tesi_free(ctx, &window);
  tesi_free(ctx, &vertices);
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
  tesi_links_destroy(&w->links);
  void **blocks[] = {&w->give, &w->given, &w->take, &w->taken};
  for (int i = 0; i < 4; i++) tesi_context_device(ctx)->release(ctx, blocks[i]);
  tes_operator_destroy(&w->op);
  tes_context_destroy(&w->alone);
  tesi_free(ctx, &w);
  tes_context_destroy(&ctx);
}

const TesOperator *tesi_wide_operator(const TesiWide *wide) {
  return wide->op;
}

TesStatus tesi_wide_report(const TesiWide *wide, TesStatus status) {
  if (status == TES_OK) return TES_OK;
  return tesi_fail(wide->context, status, __FILE__, __LINE__, __func__, "%s",
                   tes_context_message(wide->alone));
}

void *tesi_wide_own(const TesiWide *w, TesPrecision precision, const void *of) {
  return (char *)of + (size_t)((w->own.first - w->all.first) * w->layer) * tesi_precision_size(precision);
}

void tesi_wide_fill_host(TesiWide *w, TesPrecision precision, const void *x, void *to) {
  const TesCommunicator *communicator = tesi_context_communicator(w->context);
  const size_t layer = (size_t)w->layer * tesi_precision_size(precision);
  for (int i = 0; i < w->trades; i++) {
    const Trade *t = &w->trade[i];
    memcpy(t->sent, (const char *)x + (size_t)(t->give.end ? t->give.first - w->own.first : 0) * layer,
           (size_t)(t->give.end - t->give.first) * layer);
    w->message[i] = (TesiMessage){t->rank, most(t->give, t->take) * (int64_t)layer, t->sent, t->received};
  }
  communicator->table->begin(communicator, w->trades, w->message);
  char *own = tesi_wide_own(w, precision, to);
  if (own != x) memcpy(own, x, (size_t)(w->own.end - w->own.first) * layer);
  communicator->table->end(communicator);
  for (int i = 0; i < w->trades; i++) {
    const Layers take = w->trade[i].take;
    if (take.end)
      memcpy((char *)to + (size_t)(take.first - w->all.first) * layer, w->trade[i].received,
             (size_t)(take.end - take.first) * layer);
  }
}

void tesi_wide_take_host(TesiWide *w, TesPrecision precision, const void *from, void *x) {
  const TesiLayout *layout = w->narrow->space->layout;
  const size_t size = tesi_precision_size(precision), layer = (size_t)w->layer * size;
  const void *own = tesi_wide_own(w, precision, from);
  if (own != x) memcpy(x, own, (size_t)(w->own.end - w->own.first) * layer);
  memset(x, 0, (size_t)layout->block[0].start * size); /* the owner's copies alone are summed */
  tesi_exchange_sum(layout->shared, precision, x);
}

TesStatus tesi_wide_fill(TesiWide *w, TesPrecision precision, const void *x, void *to) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  const int64_t count = (w->own.end - w->own.first) * w->layer;
  void *own = tesi_wide_own(w, precision, to);
  if (!w->links) {
    tesi_wide_fill_host(w, precision, x, to);
    return TES_OK;
  }
  void *arguments[] = {NULL, NULL, &x, &w->give, &w->given, &to, &w->take, &w->taken};
  if (own != x) TES_TRY(tesi_context_device(ctx)->copy(ctx, count, 1, precision, x, precision, own));
  TES_TRY(tesi_links_exchange(w->links, TESI_EXCHANGE_BLOCKS, precision, w->numbers, arguments));
done:
  return status;
}

TesStatus tesi_wide_take(TesiWide *w, TesPrecision precision, const void *from, void *x) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiLayout *layout = w->narrow->space->layout;
  const int64_t count = (w->own.end - w->own.first) * w->layer;
  const void *own = tesi_wide_own(w, precision, from);
  if (!w->links) {
    tesi_wide_take_host(w, precision, from, x);
    return TES_OK;
  }
  if (own != x) TES_TRY(device->copy(ctx, count, 1, precision, own, precision, x));
  if (layout->block[0].start) TES_TRY(device->fill(ctx, precision, layout->block[0].start, 0, x));
  TES_TRY(tesi_sum_copies(ctx, layout->shared, precision, x));
done:
  return status;
}
