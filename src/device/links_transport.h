/* How the numbers of a round travel between ranks (links.h). A transport is a row of functions. */
#ifndef TESI_LINKS_TRANSPORT_H
#define TESI_LINKS_TRANSPORT_H

#include "device/links.h"
#include "parallel/comm.h"

/* What a rank tells another one of the memory in which it receives. */
typedef struct TesiLinksOffer {
  TesiShared name;
  int64_t first, total; /* place of the first number of the other rank there; numbers of all ranks there */
  int64_t place;        /* of the other rank's flag */
} TesiLinksOffer;

struct TesiLinks {
  TesContext *context;
  const TesiLinksTransport *transport;
  int count;
  TesiLink *link;
  TesiMessage *message;
  int64_t total;                 /* numbers, of all links */
  void *sent, *received;         /* mpi: host */
  char *out, *in;                /* device; peer: `in` is flags and two buffers, and there is no `out` */
  size_t flags_bytes, half;      /* peer: bytes of the flags and of a buffer; else 0 */
  TesiShared own;                /* peer: of `in` */
  TesiLinksOffer *offer;         /* peer: of the other ranks */
  void **others, *flags;         /* peer */
  void *first, *ends[2], *round; /* device; ends: by precision */
  TesiKernel sums;               /* tesk_links_sums */
};

struct TesiLinksTransport {
  const char *name, *description;
  bool queued; /* a round needs no host, so that it can be recorded */
  bool loops;  /* in loops of recordings too */
  /* Whether all ranks of this context can use it. Every rank calls it. Errors: TES_MISSING, on every rank. */
  TesStatus (*ready)(TesContext *ctx);
  /* Memory of a TesiLinks whose links are known. */
  TesStatus (*create)(TesiLinks *links);
  void (*destroy)(TesiLinks *links);
  /* Where the numbers of link i are packed, in odd or in even rounds. first: how many numbers earlier links have. */
  char *(*end)(const TesiLinks *links, int i, int64_t first, bool odd, size_t size);
  /* Optional: moves what is packed in `out` to `in` of the other ranks. NULL: kernels that pack wait for the other
   * ranks and take, in one launch. */
  TesStatus (*move)(TesiLinks *links, TesPrecision precision);
};

extern const TesiLinksTransport tesi_links_by_peer, tesi_links_by_nccl, tesi_links_by_mpi;

/* Sends bytes[i] to link i, and receives as many, in host memory. */
void tesi_links_trade(const TesiLinks *links, size_t bytes, const void *sent, void *received);
/* Writes links->message: a round's messages between these two arrays. */
void tesi_links_messages(const TesiLinks *links, TesPrecision precision, const void *sent, void *received);
/* Device memory `out` and `in`, and the place in `out`. */
TesStatus tesi_links_buffers(TesiLinks *links);
void tesi_links_release(TesiLinks *links);
char *tesi_links_end(const TesiLinks *links, int i, int64_t first, bool odd, size_t size);

#endif
