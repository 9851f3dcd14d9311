/* Numbers that ranks give to each other from the memory of their devices with kernels: for each of a list of other
 * ranks, as many as come from there. A round: kernels pack (src/kernels/links.cu), tesi_links_run(), kernels take.
 * All ranks that a rank has in its list have it in theirs, with the same count, and run the same rounds. */
#ifndef TESI_LINKS_H
#define TESI_LINKS_H

#include "device/kernel.h"
#include "kernels/links_arguments.h"

typedef struct TesiLink {
  int rank;
  int64_t count; /* numbers, at most, one way */
} TesiLink;

typedef enum TesiLinksKernel {
  TESI_PACK_ENTRIES,
  TESI_PACK_FOR_ALL,
  TESI_PICK_ENTRIES,
  TESI_SUM_COPIES,
  TESI_PACK_BLOCKS,
  TESI_TAKE_BLOCKS,
  TESI_CLEAR_ENTRIES,
  TESI_MEET,
  TESI_LINKS_KERNELS
} TesiLinksKernel;

typedef struct TesiLinks TesiLinks;

/* How numbers go, for all links of this context: on several ranks called once, by all of them. TESSERA_TRANSPORT says
 * mpi or peer, in the place of what works. Errors: TES_INVALID_INPUT (another word), TES_MISSING (it does not work
 * here). */
TesStatus tesi_links_choose(TesContext *ctx);
TesStatus tesi_links_create(TesContext *ctx, int count, const TesiLink *link, TesiLinks **links);
void tesi_links_destroy(TesiLinks **links);
/* The argument of kernels that pack and take numbers of this precision. */
TeskLinks tesi_links_arguments(const TesiLinks *links, TesPrecision precision);
/* What was packed goes, and what others packed is there for kernels that are queued after it. */
TesStatus tesi_links_run(TesiLinks *links, TesPrecision precision);

/* Whether ranks write into each other's memory, so that a round needs no host and can be recorded. */
bool tesi_links_peer(const TesContext *ctx);
/* Links to all other ranks, for sums over all ranks; and a round of them, where ranks write into each other's memory:
 * partial[sums][stride], device memory: `parts` parts of each sum <- the sum of each rank, rank after rank. */
TesStatus tesi_links_create_sums(TesContext *ctx, int sums, TesiLinks **links);
TesStatus tesi_links_sums(TesiLinks *links, int sums, int stride, int parts, double *partial);

/* A kernel of src/kernels/links.cu over n numbers of each of `count` links. */
TesStatus tesi_links_launch(TesContext *ctx, TesiLinksKernel kernel, TesPrecision precision, int64_t n,
                            int count, void **arguments);

#endif
