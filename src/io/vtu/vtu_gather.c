/* Arrays of files that rank 0 writes for all ranks. */
#include "io/vtu/vtu.h"

/* Sends to rank 0. A message of the same size comes back; it has no meaning. */
typedef struct Sender {
  TesContext *ctx;
  char *back;
  size_t room;
} Sender;

static TesStatus send_piece(void *user, const void *data, size_t bytes) {
  Sender *s = user;
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  if (bytes > s->room) {
    tesi_free(ctx, &s->back);
    TES_ALLOC(&s->back, bytes);
    s->room = bytes;
  }
  communicator->table->begin(communicator, 1, &(TesiMessage){0, (int64_t)bytes, data, s->back});
  communicator->table->end(communicator);
done:
  return status;
}

/* A rank sends its data in the pieces in which it makes them. After a failure of `take` the remaining data are still
 * received. */
static TesStatus receive_pieces(const TesiVtuCells *cells, const TesiVtuItem *item, int rank, int64_t count,
                                TesiVtuTake take, void *user) {
  TesContext *ctx = cells->ctx;
  TesStatus status = TES_OK;
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  const int64_t piece = tesi_vtu_item_piece(cells, item, count);
  char *sent = NULL, *data = NULL;
  TES_ALLOC(&sent, piece * (int64_t)item->bytes + 1);
  TES_ALLOC(&data, piece * (int64_t)item->bytes + 1);
  for (int64_t at = 0; at < count; at += piece) {
    const int64_t n = count - at < piece ? count - at : piece, bytes = n * (int64_t)item->bytes;
    communicator->table->begin(communicator, 1, &(TesiMessage){rank, bytes, sent, data});
    communicator->table->end(communicator);
    if (status == TES_OK) status = take(user, data, (size_t)bytes);
  }
done:
  tesi_free(ctx, &sent);
  tesi_free(ctx, &data);
  return status;
}

/* The requests of rank 0. */
typedef struct Wish {
  bool ends;
  TesiVtuKind kind;
  int number; /* of a field, or: */
} Wish;
enum { COORDINATES = -1, NO_ARRAY = -2 };

static int number_of(const TesVtuDesc *d, const TesiVtuItem *item) {
  if (!item->array) return NO_ARRAY;
  if (item->array == &d->coordinates) return COORDINATES;
  return (int)(item->array - (item->kind == TESI_VTU_POINTS ? d->point_fields : d->cell_fields));
}

static const TesVtuArray *array_of(const TesVtuDesc *d, const Wish *wish) {
  if (wish->number == NO_ARRAY) return NULL;
  if (wish->number == COORDINATES) return &d->coordinates;
  return (wish->kind == TESI_VTU_POINTS ? d->point_fields : d->cell_fields) + wish->number;
}

TesStatus tesi_vtu_item_gather(const TesiVtuCells *cells, const TesiSlices *parts, const TesiVtuItem *item,
                               TesiVtuTake take, void *user) {
  TesContext *ctx = cells->ctx;
  Wish wish = {false, item->kind, number_of(cells->desc, item)};
  tesi_broadcast(ctx, 0, sizeof wish, &wish);
  TesStatus status = tesi_vtu_item_write(cells, item, take, user);
  for (int r = 1; r < tesi_ranks(ctx); r++) {
    const int64_t count = (int64_t)(parts->begin[r + 1] - parts->begin[r]);
    const TesStatus received = receive_pieces(cells, item, r, count, take, user);
    status = status == TES_OK ? received : status;
  }
  return tesi_agree(ctx, status);
}

TesStatus tesi_vtu_item_follow(const TesiVtuCells *cells) {
  TesContext *ctx = cells->ctx;
  const TesVtuDesc *d = cells->desc;
  TesStatus status = TES_OK;
  Sender sender = {.ctx = ctx};
  Wish wish;
  for (tesi_broadcast(ctx, 0, sizeof wish, &wish); !wish.ends; tesi_broadcast(ctx, 0, sizeof wish, &wish)) {
    const TesVtuArray *array = array_of(d, &wish);
    const int components = !array                       ? 0
                           : wish.number == COORDINATES ? d->dim
                           : array->components          ? array->components
                                                        : 1;
    const TesiVtuItem item = tesi_vtu_item(cells, wish.kind, array, components);
    status = tesi_agree(ctx, tesi_vtu_item_write(cells, &item, send_piece, &sender));
  }
  tesi_free(ctx, &sender.back);
  return status;
}

void tesi_vtu_item_release(TesContext *ctx) {
  Wish wish = {.ends = true};
  tesi_broadcast(ctx, 0, sizeof wish, &wish);
}
