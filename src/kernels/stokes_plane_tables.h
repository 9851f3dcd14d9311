/* The tables of a kind of intervals for stokes_plane.cu, rows padded to four numbers; the host uses their sizes
 * too. */
#ifndef TESK_STOKES_PLANE_TABLES_H
#define TESK_STOKES_PLANE_TABLES_H

#include "four.h"

#define N (2 * N1)
#define L (N + 1)
#define FIRST (OPEN ? 0 : 1) /* nodes FIRST .. FIRST + C - 1 may be unknowns */
#define C (OPEN ? N + 1 : N - 1)
#define CHUNK (N1 < 5 ? N1 : 1) /* of rows of S^+ whose loads are under way together */

#define ROW_N ((N + 3) / 4 * 4)
#define ROW_C ((C + 3) / 4 * 4)
#define ROW_L ((L + 3) / 4 * 4)
#define AT_FORWARD 0                         /* Zd': [N][ROW_N] */
#define AT_BACK (AT_FORWARD + N * ROW_N)     /* Zd */
#define AT_OUTER (AT_BACK + N * ROW_N)       /* nu Zd' Ld to the neighbours below and above: [N][ROW_N] */
#define AT_NODES (AT_OUTER + N * ROW_N)      /* Zc': [C][ROW_C] */
#define AT_NODES_BACK (AT_NODES + C * ROW_C) /* Zc */
#define AT_MASS (AT_NODES_BACK + C * ROW_C)  /* Zc' Mc of all nodes: [C][ROW_L] */
#define AT_G (AT_MASS + C * ROW_L)           /* G: [N][ROW_C] */
#define AT_GT (AT_G + N * ROW_C)             /* G': [C][ROW_N] */
#define AT_ENDS (AT_GT + C * ROW_N)          /* nu Zc' Lc to both ends: [C][4] */
#define AT_GE (AT_ENDS + C * 4)              /* Zd' D to both ends: [N][4] */
#define AT_LC (AT_GE + N * 4)                /* nu lc, nu ld */
#define AT_LD (AT_LC + ROW_C)
#define AT_REST (AT_LD + ROW_N) /* whether each end is known (1); the constant pressure in both cells */
#define TABLE (AT_REST + 4)

#endif
