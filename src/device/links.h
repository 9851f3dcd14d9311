/* Numbers that ranks give to each other from the memory of their devices with kernels: for each of a list of other
 * ranks, as many as come from there. A round: they are packed, they go, and they are taken where they came.
 * All ranks that a rank has in its list have it in theirs, with the same count, and run the same rounds. */
#ifndef TESI_LINKS_H
#define TESI_LINKS_H

#include "device/kernel.h"
#include "kernels/links_arguments.h"

typedef struct TesiLink {
  int rank;
  int64_t count; /* numbers, at most, one way */
} TesiLink;

/* Of src/kernels/links.cu. */
typedef enum TesiLinksKernel {
  TESI_EXCHANGE_COPIES,
  TESI_EXCHANGE_BLOCKS,
  TESI_EXCHANGE_PARTS,
  TESI_PICK_ENTRIES,
  TESI_CLEAR_ENTRIES,
  TESI_LINKS_KERNELS
} TesiLinksKernel;

typedef struct TesiLinks TesiLinks;

/* How numbers go, for all links of this context: on several ranks called once, by all of them. TESSERA_TRANSPORT says
 * mpi or peer, in the place of what works. Errors: TES_INVALID_INPUT (another word), TES_MISSING (it does not work
 * here). */
TesStatus tesi_links_choose(TesContext *ctx);
TesStatus tesi_links_create(TesContext *ctx, int count, const TesiLink *link, TesiLinks **links);
void tesi_links_destroy(TesiLinks **links);
/* A round of a kernel TESI_EXCHANGE_ that moves n numbers about. arguments: the kernel's, but for the first two, which
 * are made here. */
TesStatus tesi_links_exchange(TesiLinks *links, TesiLinksKernel which, TesPrecision precision, int64_t n,
                              void **arguments);

/* Whether ranks write into each other's memory, so that a round needs no host and can be recorded. */
bool tesi_links_peer(const TesContext *ctx);
/* Links to all other ranks, for sums over all ranks; and a round of them, where ranks write into each other's memory:
 * partial[sums][stride], device memory: `parts` parts of each sum <- the sum of each rank, rank after rank. */
TesStatus tesi_links_create_sums(TesContext *ctx, int sums, TesiLinks **links);
TesStatus tesi_links_sums(TesiLinks *links, int sums, int stride, int parts, double *partial);

/* Another kernel, over n numbers. */
TesStatus tesi_links_launch(TesContext *ctx, TesiLinksKernel which, TesPrecision precision, int64_t n,
                            void **arguments);

#endif
