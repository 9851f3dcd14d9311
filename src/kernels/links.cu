/* Ranks exchange numbers of a vector. Where they write into each other's memory this is one launch (phases 3: pack,
 * meet, take), else two launches around messages (1: pack, 2: take). Each thread moves one number at a
 * time; no shared memory, no flops except one addition per copy. Bytes per number: the number twice, and its index.
 * Macros: real. */
#include "kernel.h"
#include "links_arguments.h"

#define THREADS 256
#include "links_meet.h"

#define EACH(i, n)                                                                                           \
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < (n);                                 \
       i += (long long)gridDim.x * THREADS)

/* In the round under way. */
TESK_DEVICE real *out_of(TeskLinks links, unsigned round, int link) {
  return (real *)links.out[(int)((round + 1) & 1) * links.links + link];
}

TESK_DEVICE const real *in_of(TeskLinks links, unsigned round, int link) {
  return (const real *)(links.in + ((round + 1) & 1) * links.half) + links.first[link];
}

/* Entries list[first] .. list[first of the next link - 1] of x go to a link. Then x[entry[i]] <- the sum of its
 * copies, in the order of the ranks: place[begin[i]] .. are received numbers, or -1: x itself. */
TESK_KERNEL(tesk_exchange_copies, THREADS, 1, (int)phases, (TeskLinks)links, (real *)x, (const int *)list,
            (const int *)entry, (const int *)begin, (const int *)place, (long long)count) {
  const unsigned round = *links.round + 1;
  if (phases & TESK_LINKS_PACK)
    for (int l = 0; l < links.links; l++) {
      const int *from = list + links.first[l];
      real *to = out_of(links, round, l);
      EACH(i, links.first[l + 1] - links.first[l]) to[i] = x[from[i]];
    }
  if (phases == TESK_LINKS_BOTH) meet(links, round);
  if (phases & TESK_LINKS_TAKE) {
    const real *in = in_of(links, round, 0);
    EACH(i, count) {
      real sum = 0;
      for (int c = begin[i]; c < begin[i + 1]; c++) sum += place[c] < 0 ? x[entry[i]] : in[place[c]];
      x[entry[i]] = sum;
    }
  }
  if (phases == TESK_LINKS_BOTH) end_round(links, round);
}

/* Entries of ranges, which `teams` teams of blocks take in turn: few long ranges all blocks together. */
#define MEMBERS(teams) (((int)gridDim.x - (int)blockIdx.x % (teams) + (teams)-1) / (teams))
#define EACH_OF_TEAM(i, n, teams)                                                                            \
  for (long long i = (long long)(blockIdx.x / (teams)) * THREADS + threadIdx.x; i < (n);                     \
       i += (long long)MEMBERS(teams) * THREADS)

/* Each link has `pieces` blocks, [link][piece]. given[] numbers of x from give[] on are sent to sent[] of the link, and
 * taken[] numbers are received from received[] on into x from take[] on. */
TESK_KERNEL(tesk_exchange_blocks, THREADS, 1, (int)phases, (TeskLinks)links, (real *)x,
            (const long long *)give, (const long long *)given, (const long long *)sent,
            (const long long *)take, (const long long *)taken, (const long long *)received, (int)pieces,
            (int)most) {
  const unsigned round = *links.round + 1;
  const int teams = most < (int)gridDim.x ? most : (int)gridDim.x, team = (int)blockIdx.x % teams;
  if (phases & TESK_LINKS_PACK)
    for (int l = 0; l < links.links; l++) {
      for (int p = l * pieces + team; p < (l + 1) * pieces; p += teams) {
        real *out = out_of(links, round, l) + sent[p];
        const real *from = x + give[p];
        EACH_OF_TEAM(i, given[p], teams) out[i] = from[i];
      }
    }
  if (phases == TESK_LINKS_BOTH) meet(links, round);
  if (phases & TESK_LINKS_TAKE)
    for (int l = 0; l < links.links; l++) {
      for (int p = l * pieces + team; p < (l + 1) * pieces; p += teams) {
        const real *in = in_of(links, round, l) + received[p];
        real *to = x + take[p];
        EACH_OF_TEAM(i, taken[p], teams) to[i] = in[i];
      }
    }
  if (phases == TESK_LINKS_BOTH) end_round(links, round);
}

/* Entries entry[count] of x go to all ranks, and to whole[own] .. here; the taken[link] numbers of a link go to
 * whole[take[link]] .. */
TESK_KERNEL(tesk_exchange_parts, THREADS, 1, (int)phases, (TeskLinks)links, (const real *)x,
            (const int *)entry, (long long)count, (real *)whole, (long long)own, (const long long *)take,
            (const long long *)taken) {
  const unsigned round = *links.round + 1;
  if (phases & TESK_LINKS_PACK) {
    EACH(i, count) {
      const real value = x[entry[i]];
      whole[own + i] = value;
      for (int l = 0; l < links.links; l++) out_of(links, round, l)[i] = value;
    }
  }
  if (phases == TESK_LINKS_BOTH) meet(links, round);
  if (phases & TESK_LINKS_TAKE)
    for (int l = 0; l < links.links; l++) {
      const real *in = in_of(links, round, l);
      EACH(i, taken[l]) whole[take[l] + i] = in[i];
    }
  if (phases == TESK_LINKS_BOTH) end_round(links, round);
}

/* to[i] <- x[entry[i]] */
TESK_KERNEL(tesk_pick_entries, THREADS, 1, (const real *TESK_RESTRICT)x, (const int *TESK_RESTRICT)entry,
            (long long)count, (real *)to) {
  EACH(i, count) to[i] = x[entry[i]];
}

/* x[entry[i]] <- 0 */
TESK_KERNEL(tesk_clear_entries, THREADS, 1, (real *)x, (const int *TESK_RESTRICT)entry, (long long)count) {
  EACH(i, count) x[entry[i]] = 0;
}

/* Ranges of count[] entries, a block each in turn: how = 0: y[to ..] <- x[from ..]; 1: y <- 0; 2: y <- y - x. x and y
 * may be one where ranges are in their place. */
TESK_KERNEL(tesk_move_ranges, THREADS, 1, (const real *)x, (const long long *)from, (real *)y,
            (const long long *)to, (const long long *)count, (long long)ranges, (int)how) {
  for (long long p = blockIdx.x; p < ranges; p += gridDim.x)
    for (long long i = threadIdx.x; i < count[p]; i += THREADS)
      y[to[p] + i] = how == 1 ? 0 : how == 2 ? y[to[p] + i] - x[from[p] + i] : x[from[p] + i];
}
