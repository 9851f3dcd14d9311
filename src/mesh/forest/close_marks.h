/* Which leaves of a balanced forest must be refined beside those that are marked, and which families cannot be
 * coarsened, so that it stays balanced. */
#ifndef TESI_CLOSE_MARKS_H
#define TESI_CLOSE_MARKS_H

#include "mesh/forest/forest.h"

/* mark[cells]: 0, or 1: refined; on return 1 for the fewest leaves with which leaves that meet, even at a vertex,
 * differ by one level at most. For a forest on one rank.
 *
 * A leaf has to be refined if it meets a smaller leaf that is refined. The smaller leaf is half as long, so that both
 * share a vertex of the larger leaf. The marked leaves of a level put their vertices in a set, and the unmarked leaves
 * of the level below look for their own in it, level after level. Vertices are known by hashes of 64 bits; where two
 * are equal by chance, a leaf more is refined. Cost: 2^dim hashes per marked leaf and per leaf of the level below. */
TesStatus tesi_forest_close_marks(const TesMesh *forest, int8_t *mark);
/* mark[cells] <- -1 for the leaves of the families that are coarsened, else 0: all families but those of which a leaf
 * meets a smaller leaf that stays. The same sets of vertices, with the leaves that stay as the marked ones. For a
 * forest on one rank. */
TesStatus tesi_forest_close_families(const TesMesh *forest, int8_t *mark);

#endif
