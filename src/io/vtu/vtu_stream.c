/* Compressed blocks: a batch of them is filled, compressed in parallel, written in order. */
#include <string.h>
#include <zlib.h>
#include "base/work.h"
#include "io/vtu/vtu.h"

enum { BLOCK = 1 << 18, BLOCKS_PER_THREAD = 2 };

struct TesiVtuStream {
  TesContext *ctx;
  TesiFile *file;
  int level, batch;      /* blocks a batch */
  int64_t header, bytes; /* where the header stands; bytes still to come */
  int64_t blocks, done;
  uint64_t *sizes;       /* [3 + blocks], the header */
  unsigned char *plain;  /* [batch][BLOCK] */
  unsigned char *packed; /* [batch][bound] */
  size_t filled, bound;
};

static TesStatus reserve_header(TesiVtuStream *s, int64_t bytes) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  s->header = tesi_file_position(s->file);
  s->bytes = bytes;
  s->blocks = (bytes + BLOCK - 1) / BLOCK;
  TES_ALLOC(&s->sizes, 3 + s->blocks);
  s->sizes[0] = (uint64_t)s->blocks;
  s->sizes[1] = BLOCK;
  s->sizes[2] = (uint64_t)(bytes % BLOCK);
  TES_TRY(tesi_file_write(s->file, s->sizes, (size_t)(3 + s->blocks) * sizeof *s->sizes));
done:
  return status;
}

TesStatus tesi_vtu_stream_begin(TesContext *ctx, TesiFile *file, int64_t bytes, int level,
                                TesiVtuStream **stream) {
  TesStatus status = TES_OK;
  TesiVtuStream *s = NULL;
  *stream = NULL;
  TES_NEW(&s);
  s->ctx = ctx, s->file = file, s->level = level;
  TES_TRY(reserve_header(s, bytes));
  const int64_t batch = (int64_t)BLOCKS_PER_THREAD * tes_context_threads(ctx);
  s->batch = (int)(s->blocks < batch ? s->blocks : batch);
  s->bound = compressBound(BLOCK);
  TES_ALLOC(&s->plain, (int64_t)s->batch * BLOCK);
  TES_ALLOC(&s->packed, (int64_t)s->batch * (int64_t)s->bound);
  *stream = s;
  s = NULL;
done:
  tesi_vtu_stream_discard(&s);
  return status;
}

/* Block number b of the batch; returns zlib's code. */
static int compress_block(TesiVtuStream *s, int b) {
  const size_t first = (size_t)b * BLOCK, length = s->filled - first < BLOCK ? s->filled - first : BLOCK;
  uLongf size = (uLongf)s->bound;
  const int code =
      compress2(s->packed + (size_t)b * s->bound, &size, s->plain + first, (uLong)length, s->level);
  s->sizes[3 + s->done + b] = size;
  return code;
}

typedef struct Batch {
  TesiVtuStream *stream;
  atomic_bool *failed;
} Batch;

static void compress_blocks(const void *data, TesiSpan span) {
  const Batch *batch = data;
  for (int64_t b = span.first; b < span.end; b++)
    if (compress_block(batch->stream, (int)b) != Z_OK) atomic_store(batch->failed, true);
}

static TesStatus write_batch(TesiVtuStream *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const int blocks = (int)((s->filled + BLOCK - 1) / BLOCK);
  atomic_bool failed = false;
  TES_TRY(tesi_work_share(ctx, tes_context_threads(ctx), blocks, 1, compress_blocks, &(Batch){s, &failed}));
  if (failed) TES_FAIL(TES_OUT_OF_MEMORY, "no memory to compress a VTU file");
  for (int b = 0; b < blocks; b++)
    TES_TRY(tesi_file_write(s->file, s->packed + (size_t)b * s->bound, s->sizes[3 + s->done + b]));
  s->done += blocks;
  s->filled = 0;
done:
  return status;
}

TesStatus tesi_vtu_stream_write(TesiVtuStream *stream, const void *data, size_t bytes) {
  TesContext *ctx = stream->ctx;
  TesStatus status = TES_OK;
  const size_t room = (size_t)stream->batch * BLOCK;
  const char *from = data;
  if ((int64_t)bytes > stream->bytes)
    TES_FAIL(TES_INTERNAL, "an array of a VTU file is longer than announced");
  stream->bytes -= (int64_t)bytes;
  while (bytes) {
    const size_t n = bytes < room - stream->filled ? bytes : room - stream->filled;
    memcpy(stream->plain + stream->filled, from, n);
    stream->filled += n, from += n, bytes -= n;
    if (stream->filled == room) TES_TRY(write_batch(stream));
  }
done:
  return status;
}

TesStatus tesi_vtu_stream_end(TesiVtuStream **stream) {
  TesiVtuStream *s = *stream;
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  if (s->bytes) TES_FAIL(TES_INTERNAL, "an array of a VTU file is shorter than announced");
  if (s->filled) TES_TRY(write_batch(s));
  TES_TRY(tesi_file_patch(s->file, s->header, s->sizes, (size_t)(3 + s->blocks) * sizeof *s->sizes));
done:
  tesi_vtu_stream_discard(stream);
  return status;
}

void tesi_vtu_stream_discard(TesiVtuStream **stream) {
  TesiVtuStream *s = *stream;
  *stream = NULL;
  if (!s) return;
  TesContext *ctx = s->ctx;
  tesi_free(ctx, &s->sizes);
  tesi_free(ctx, &s->plain);
  tesi_free(ctx, &s->packed);
  tesi_free(ctx, &s);
}
