#include "device/cuda/staged.h"
#include <string.h>
#include "base/team.h"

typedef struct Piece {
  char *to;
  const char *from;
} Piece;

static void copy_span(const void *data, TesiSpan span) {
  const Piece *p = data;
  memcpy(p->to + span.first, p->from + span.first, (size_t)(span.end - span.first));
}

static void copy_by_all(TesContext *ctx, void *to, const void *from, size_t bytes) {
  const Piece piece = {to, from};
  tesi_team_for(tesi_team_threads(ctx, (int64_t)(bytes / sizeof(double))), (int64_t)bytes, copy_span, &piece);
}

/* Whether the halves serve a copy. */
static bool are_pinned(const TesiCuDriver *cu, TesiStaged *staged, size_t bytes) {
  if (bytes < TESI_STAGED_LEAST || staged->refused) return false;
  for (int i = 0; i < 2 && !staged->refused; i++)
    if (!staged->half[i] && cu->pin(&staged->half[i], TESI_STAGED_HALF)) staged->refused = true;
  if (staged->refused) tesi_staged_destroy(cu, staged);
  return !staged->refused;
}

static size_t piece_at(size_t bytes, size_t at) {
  return bytes - at < TESI_STAGED_HALF ? bytes - at : TESI_STAGED_HALF;
}

int tesi_staged_to_device(TesContext *ctx, const TesiCuDriver *cu, TesiCuStream stream, TesiStaged *staged,
                          TesiCuAddress device, const void *host, size_t bytes) {
  int error = 0;
  if (!are_pinned(cu, staged, bytes)) {
    error = cu->to_device(device, host, bytes, stream);
    return error ? error : cu->stream_synchronize(stream);
  }
  for (size_t at = 0, i = 0; at < bytes && !error; at += TESI_STAGED_HALF, i++) {
    void *const half = staged->half[i % 2];
    copy_by_all(ctx, half, (const char *)host + at, piece_at(bytes, at));
    error = cu->stream_synchronize(stream); /* the other half has been fetched */
    if (!error) error = cu->to_device(device + at, half, piece_at(bytes, at), stream);
  }
  return error ? error : cu->stream_synchronize(stream);
}

int tesi_staged_to_host(TesContext *ctx, const TesiCuDriver *cu, TesiCuStream stream, TesiStaged *staged,
                        void *host, TesiCuAddress device, size_t bytes) {
  if (!are_pinned(cu, staged, bytes)) {
    const int error = cu->to_host(host, device, bytes, stream);
    return error ? error : cu->stream_synchronize(stream);
  }
  int error = cu->to_host(staged->half[0], device, piece_at(bytes, 0), stream);
  for (size_t at = 0, i = 0; at < bytes && !error; at += TESI_STAGED_HALF, i++) {
    const size_t next = at + TESI_STAGED_HALF;
    error = cu->stream_synchronize(stream); /* this half is there */
    if (!error && next < bytes)
      error = cu->to_host(staged->half[(i + 1) % 2], device + next, piece_at(bytes, next), stream);
    if (!error) copy_by_all(ctx, (char *)host + at, staged->half[i % 2], piece_at(bytes, at));
  }
  return error;
}

void tesi_staged_destroy(const TesiCuDriver *cu, TesiStaged *staged) {
  for (int i = 0; i < 2; i++)
    if (staged->half[i]) cu->unpin(staged->half[i]);
  staged->half[0] = staged->half[1] = NULL;
}
