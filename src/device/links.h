/* Exchanges numbers between ranks from the memory of their devices with kernels. Each rank has a list of other ranks,
 * and sends to each as many numbers as it receives. A round packs the numbers, sends them, and unpacks them at the
 * receiver. If rank a is in the list of b, b is in the list of a with the same count, and both run the same rounds. */
#ifndef TESI_LINKS_H
#define TESI_LINKS_H

#include "device/kernel.h"
#include "kernels/links_arguments.h"

enum { TESI_LINKS_THREADS = 256 /* of a block */ };

typedef struct TesiLink {
  int rank;
  int64_t count; /* largest number of values in one direction */
} TesiLink;

/* Of src/kernels/links.cu. */
typedef enum TesiLinksKernel {
  TESI_EXCHANGE_COPIES,
  TESI_EXCHANGE_BLOCKS,
  TESI_EXCHANGE_PARTS,
  TESI_PICK_ENTRIES,
  TESI_CLEAR_ENTRIES,
  TESI_MOVE_RANGES,
  TESI_LINKS_KERNELS
} TesiLinksKernel;

typedef struct TesiLinks TesiLinks;
typedef struct TesiLinksTransport TesiLinksTransport; /* links_transport.h */

/* Chooses how numbers are sent, for all links of this context; on several ranks all call it once. TESSERA_TRANSPORT may
 * say peer, nccl or mpi. Errors: TES_INVALID_INPUT (another word), TES_MISSING (not available here). */
TesStatus tesi_links_choose(TesContext *ctx);
TesStatus tesi_links_create(TesContext *ctx, int count, const TesiLink *link, TesiLinks **links);
void tesi_links_destroy(TesiLinks **links);
/* A round with a kernel TESI_EXCHANGE_ that moves n numbers. arguments: of the kernel, except the first two, which are
 * added here. */
TesStatus tesi_links_exchange(TesiLinks *links, TesiLinksKernel which, TesPrecision precision, int64_t n,
                              void **arguments);

/* Several ranks: whether a round needs no host, so that it can be recorded. */
bool tesi_links_queued(const TesContext *ctx);
/* Whether rounds may be in loops of recordings; true on one rank. */
bool tesi_links_loop(const TesContext *ctx);
/* Links to all other ranks, for sums over all ranks, and a round of them, which no host sees.
 * partial[sums][stride] in device memory: the `parts` parts of each sum are replaced by the sums of the ranks, rank
 * after rank. */
TesStatus tesi_links_create_sums(TesContext *ctx, int sums, TesiLinks **links);
TesStatus tesi_links_sums(TesiLinks *links, int sums, int stride, int parts, double *partial);

/* A round with another kernel, over n numbers. */
TesStatus tesi_links_launch(TesContext *ctx, TesiLinksKernel which, TesPrecision precision, int64_t n,
                            void **arguments);

#endif
