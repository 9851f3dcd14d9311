/* Compressed blocks: a batch of them is filled, compressed in parallel, and passed on in order. */
#include <string.h>
#include <zlib.h>
#include "base/work.h"
#include "io/vtu/vtu.h"

enum { BLOCKS_PER_THREAD = 2 };

struct TesiVtuStream {
  TesContext *ctx;
  TesiVtuStreamDesc desc;
  int batch;             /* blocks per batch */
  int64_t bytes;         /* still to come */
  size_t *sizes;         /* [batch] packed blocks */
  unsigned char *plain;  /* [batch][block] */
  unsigned char *mixed;  /* the same shuffled, or NULL */
  unsigned char *packed; /* [batch][bound] */
  size_t filled, bound;
};

TesStatus tesi_vtu_stream_begin(TesContext *ctx, const TesiVtuStreamDesc *desc, TesiVtuStream **stream) {
  TesStatus status = TES_OK;
  TesiVtuStream *s = NULL;
  *stream = NULL;
  TES_NEW(&s);
  s->ctx = ctx, s->desc = *desc, s->bytes = desc->bytes;
  const int64_t block = (int64_t)desc->block, blocks = (desc->bytes + block - 1) / block,
                batch = (int64_t)BLOCKS_PER_THREAD * tes_context_threads(ctx);
  s->batch = (int)(blocks < batch ? blocks : batch);
  s->bound =
      compressBound(desc->block) + 8 * (size_t)desc->shuffle; /* a plane may begin another kind of block */
  TES_ALLOC(&s->sizes, s->batch);
  TES_ALLOC(&s->plain, s->batch * block);
  if (desc->shuffle) TES_ALLOC(&s->mixed, s->batch * block);
  TES_ALLOC(&s->packed, (int64_t)s->batch * (int64_t)s->bound);
  *stream = s;
  s = NULL;
done:
  tesi_vtu_stream_discard(&s);
  return status;
}

static const unsigned char *shuffled(const TesiVtuStream *s, size_t first, size_t length) {
  const unsigned char *from = s->plain + first;
  unsigned char *to = s->mixed + first;
  const size_t size = (size_t)s->desc.shuffle, numbers = length / size;
  for (size_t byte = 0; byte < size; byte++)
    for (size_t i = 0; i < numbers; i++) to[byte * numbers + i] = from[i * size + byte];
  return to;
}

/* Whether deflate gains little: in a sample from the middle all bytes are about as frequent, and few have the
 * successor that they had before. */
static bool is_noise(const unsigned char *bytes, size_t length) {
  enum { SAMPLE = 2048, KINDS = 256 };
  unsigned count[KINDS] = {0}, equal = 0, repeated = 0;
  unsigned char next[KINDS] = {0};
  if (length < 2 * SAMPLE) return false;
  const unsigned char *b = bytes + (length - SAMPLE) / 2;
  for (int i = 0; i < SAMPLE; i++) {
    repeated += count[b[i]] && next[b[i]] == b[i + 1];
    equal += count[b[i]]++; /* pairs of equal bytes */
    next[b[i]] = b[i + 1];
  }
  return equal < 2 * SAMPLE / KINDS * SAMPLE / 2 && repeated < SAMPLE / 4;
}

/* One stream of the shuffled bytes; returns zlib's code. The last bits of numbers are noise, on which deflate spends
 * most of its time: these are stored as they are. */
static int compress_shuffled(const TesiVtuStream *s, const unsigned char *from, size_t length,
                             unsigned char *to, uLongf *size) {
  const size_t bytes = (size_t)s->desc.shuffle, plane = length / bytes;
  z_stream z = {.next_out = to, .avail_out = (uInt)*size};
  int code = deflateInit(&z, s->desc.level);
  for (size_t b = 0; b < bytes && code == Z_OK; b++) {
    const bool last = b + 1 == bytes;
    code = deflateParams(&z, is_noise(from + b * plane, plane) ? 0 : s->desc.level, Z_DEFAULT_STRATEGY);
    z.next_in = (unsigned char *)from + b * plane, z.avail_in = (uInt)plane;
    if (code == Z_OK) code = deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
    if (code == Z_STREAM_END) code = last ? Z_OK : Z_BUF_ERROR;
  }
  *size = z.total_out;
  const int end = deflateEnd(&z);
  return code == Z_OK ? end : code;
}

/* Block number b of the batch; returns zlib's code. */
static int compress_block(TesiVtuStream *s, int b) {
  const size_t block = s->desc.block, first = (size_t)b * block;
  const size_t length = s->filled - first < block && !s->desc.whole ? s->filled - first : block;
  unsigned char *to = s->packed + (size_t)b * s->bound;
  uLongf size = (uLongf)s->bound;
  const int code = s->mixed ? compress_shuffled(s, shuffled(s, first, length), length, to, &size)
                            : compress2(to, &size, s->plain + first, (uLong)length, s->desc.level);
  s->sizes[b] = size;
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
  const size_t block = s->desc.block;
  const int blocks = (int)((s->filled + block - 1) / block);
  const int threads = s->desc.awaited && !atomic_load(s->desc.awaited) ? 1 : tes_context_threads(ctx);
  atomic_bool failed = false;
  if (s->desc.whole) memset(s->plain + s->filled, 0, (size_t)blocks * block - s->filled);
  TES_TRY(tesi_work_share(ctx, threads, blocks, 1, compress_blocks, &(Batch){s, &failed}));
  if (failed) TES_FAIL(TES_OUT_OF_MEMORY, "no memory to compress a field of a file");
  for (int b = 0; b < blocks; b++)
    TES_TRY(s->desc.put(s->desc.user, s->packed + (size_t)b * s->bound, s->sizes[b]));
  s->filled = 0;
done:
  return status;
}

TesStatus tesi_vtu_stream_write(void *user, const void *data, size_t bytes) {
  TesiVtuStream *stream = user;
  TesContext *ctx = stream->ctx;
  TesStatus status = TES_OK;
  const size_t room = (size_t)stream->batch * stream->desc.block;
  const char *from = data;
  if ((int64_t)bytes > stream->bytes) TES_FAIL(TES_INTERNAL, "an array of a file is longer than announced");
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
  if (s->bytes) TES_FAIL(TES_INTERNAL, "an array of a file is shorter than announced");
  if (s->filled) TES_TRY(write_batch(s));
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
  tesi_free(ctx, &s->mixed);
  tesi_free(ctx, &s->packed);
  tesi_free(ctx, &s);
}
