/* Arguments by value of the kernels of elasticity; the host includes this text too. */
#ifndef TESK_ELASTICITY_ARGUMENTS_H
#define TESK_ELASTICITY_ARGUMENTS_H

typedef struct TeskElastic {
  long long cells;  /* of this launch */
  long long blocks; /* blocks of cells; blocks behind them do rows of given entries */
  long long rows;   /* given entries of vectors, row[rows]; these rows are rows of the identity */
  long long length; /* entries of a component */
  double sign;      /* y += sign A x */
  int every;        /* given entries are read and added to like all others */
  const int *order; /* [cells]; NULL: 0, 1, ... */
  const int *index; /* [cell][N^DIM] node, or ~node where some component is given */
  const long long *row;
  const unsigned char *given;  /* [node] bit c: component c is */
  const unsigned short *masks; /* [cell] TesMask */
  const void *numbers; /* [cell][entries][points], or once per cell [cell][entries]: operator/elasticity */
  const void *tables;  /* see the kernels */
} TeskElastic;

#define TESK_ELASTIC_BLOCK 128 /* cells per block of elasticity_corners.cu */

/* The nodes of each block of cells; see operator/elasticity/elasticity_blocks.h. */
typedef struct TeskElasticBlocks {
  const int *first;                  /* [blocks + 1] */
  const int *node;                   /* [first[blocks]] node, or ~node as above */
  const unsigned short *corner;      /* [block][corner][cell] which of its nodes a corner is */
  const unsigned short *place_first; /* [first[b] + b + node of the block], and the end */
  const unsigned short *place; /* [block][corners and cells] corner * TESK_ELASTIC_BLOCK + cell, by node */
  int most;                    /* nodes of a block, at most */
} TeskElasticBlocks;

#endif
