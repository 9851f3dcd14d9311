/* The parts of a VTU writer. */
#ifndef TESI_VTU_H
#define TESI_VTU_H

#include "io/file.h"
#include "parallel/rank_slices.h"
#include "tessera/vtu.h"

/* VTK's number of the node at (i, j, k) of a Lagrange cell of this degree, for files of version 2.2 and VTK 9.1 or
 * newer.
 * Corners come first, then edges, faces, the interior; see vtu_order.c. k is 0 in 2D. */
int tesi_vtu_node(int dim, int degree, int i, int j, int k);

/* ---- an array in blocks, which are compressed side by side and handed over in their order -------------- */

typedef struct TesiVtuStream TesiVtuStream;
typedef struct TesiVtuStreamDesc {
  int64_t bytes; /* of the whole array */
  size_t block;  /* bytes of a block; the last one may have less */
  int level;     /* of zlib */
  /* Bytes of a number: their first bytes come first, then their second ones, as the filter `shuffle` of HDF5 has it;
   * 0: as they are. */
  int shuffle;
  bool whole; /* zeros fill the last block */
  TesStatus (*put)(void *user, const void *packed, size_t size);
  void *user;
} TesiVtuStreamDesc;

TesStatus tesi_vtu_stream_begin(TesContext *ctx, const TesiVtuStreamDesc *desc, TesiVtuStream **stream);
/* `user` is the TesiVtuStream, for tesi_vtu_item_write(). */
TesStatus tesi_vtu_stream_write(void *user, const void *data, size_t bytes);
/* Hands over what is left. Destroys *stream whether it succeeds or not. */
TesStatus tesi_vtu_stream_end(TesiVtuStream **stream);
void tesi_vtu_stream_discard(TesiVtuStream **stream);

/* ---- what an array of the file holds for some cells ---------------------------------------------------- */

typedef enum TesiVtuKind {
  TESI_VTU_POINTS, /* coordinates and point fields: interpolated, in VTK's order of nodes */
  TESI_VTU_CELLS,  /* cell fields */
  TESI_VTU_CONNECTIVITY,
  TESI_VTU_OFFSETS,
  TESI_VTU_TYPES
} TesiVtuKind;

typedef struct TesiVtuItem {
  TesiVtuKind kind;
  const TesVtuArray *array; /* of POINTS and CELLS */
  int components;           /* of the array, and in the file */
  int written;
  size_t bytes; /* a cell */
} TesiVtuItem;

/* What is the same for all arrays of a file. */
typedef struct TesiVtuCells {
  TesContext *ctx;
  const TesVtuDesc *desc;
  int nodes;      /* a cell */
  bool wide;      /* 64-bit indices */
  int64_t first;  /* cells before them in the file */
  double *matrix; /* [degree + 1][degree + 1], from the given nodes to equispaced ones */
  int *order;     /* [nodes]: the lexicographic number of VTK's node */
} TesiVtuCells;

/* VTK's number of the type of cells. */
unsigned char tesi_vtu_type(int dim);
TesStatus tesi_vtu_cells_create(TesContext *ctx, const TesVtuDesc *desc, TesiVtuCells *cells);
void tesi_vtu_cells_free(TesiVtuCells *cells);
TesiVtuItem tesi_vtu_item(const TesiVtuCells *cells, TesiVtuKind kind, const TesVtuArray *array,
                          int components);
/* Values of a function at n points of a cell, x = [3][n]: NaN, which viewers leave blank, where it is not finite,
 * as a singular f at a corner: a file that is looked at need not fail for a point that the method never asks for. */
void tesi_vtu_function(const TesFunction *function, int n, const double *x, double *values);
/* Writes what a description says, to a file or a step of one. */
typedef TesStatus (*TesiVtuSink)(void *user, TesContext *ctx, const TesVtuDesc *desc);
/* Hands over the fields of a problem that files have: of tes_vtu_write_problem(). */
TesStatus tesi_vtu_problem(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                           TesiVtuSink sink, void *user);
/* The same of flows and of element dg. */
TesStatus tesi_vtu_quantities(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                              TesiVtuSink sink, void *user);
/* Errors: TES_INVALID_INPUT. */
TesStatus tesi_vtu_check(TesContext *ctx, const TesVtuDesc *desc);
/* Hands over the whole array, some cells at a time. */
typedef TesStatus (*TesiVtuTake)(void *user, const void *data, size_t bytes);
TesStatus tesi_vtu_item_write(const TesiVtuCells *cells, const TesiVtuItem *item, TesiVtuTake take,
                              void *user);
/* Into how many cells at a time an array of `count` cells is cut there. */
int64_t tesi_vtu_item_piece(const TesiVtuCells *cells, const TesiVtuItem *item, int64_t count);
/* On several ranks rank 0 calls the first function for the arrays of all ranks, one after the other, and the third
 * one when it wants no more. The others follow meanwhile: they hand over what it asks for. parts: cells of ranks. */
TesStatus tesi_vtu_item_gather(const TesiVtuCells *cells, const TesiSlices *parts, const TesiVtuItem *item,
                               TesiVtuTake take, void *user);
TesStatus tesi_vtu_item_follow(const TesiVtuCells *cells);
void tesi_vtu_item_release(TesContext *ctx);

#endif
