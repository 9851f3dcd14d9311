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

/* ---- an array in blocks, which are compressed in parallel and passed on in order ------------------------- */

typedef struct TesiVtuStream TesiVtuStream;
typedef struct TesiVtuStreamDesc {
  int64_t bytes; /* bytes of the whole array */
  size_t block;  /* bytes of a block; the last one may have less */
  int level;     /* of zlib */
  /* Bytes of a number. If not 0, bytes are reordered: the first bytes of all numbers, then the second bytes, as by
   * the filter `shuffle` of HDF5. 0: the order stays. */
  int shuffle;
  bool whole; /* the last block is filled up with zeros */
  /* Not NULL: while it is false, one thread compresses, since others use the cores of the context. */
  const atomic_bool *awaited;
  TesStatus (*put)(void *user, const void *packed, size_t size);
  void *user;
} TesiVtuStreamDesc;

TesStatus tesi_vtu_stream_begin(TesContext *ctx, const TesiVtuStreamDesc *desc, TesiVtuStream **stream);
/* For tesi_vtu_item_write(); `user` is the TesiVtuStream. */
TesStatus tesi_vtu_stream_write(void *user, const void *data, size_t bytes);
/* Passes on the remaining blocks. Destroys *stream, on failure too. */
TesStatus tesi_vtu_stream_end(TesiVtuStream **stream);
void tesi_vtu_stream_discard(TesiVtuStream **stream);

/* ---- the values of an array of the file, for some of the cells ----------------------------------------- */

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

/* Data that all arrays of a file share. */
typedef struct TesiVtuCells {
  TesContext *ctx;
  const TesVtuDesc *desc;
  int nodes;      /* a cell */
  bool wide;      /* 64-bit indices */
  int64_t first;  /* number of cells in front of them in the file */
  double *matrix; /* [degree + 1][degree + 1], from given nodes to equispaced nodes */
  int *order;     /* [nodes]: the lexicographic number of each VTK node */
} TesiVtuCells;

/* VTK's number for the type of the cells. */
unsigned char tesi_vtu_type(int dim);
TesStatus tesi_vtu_cells_create(TesContext *ctx, const TesVtuDesc *desc, TesiVtuCells *cells);
void tesi_vtu_cells_free(TesiVtuCells *cells);
TesiVtuItem tesi_vtu_item(const TesiVtuCells *cells, TesiVtuKind kind, const TesVtuArray *array,
                          int components);
/* Values of a function at n points of a cell, x = [3][n]. Values that are not finite become NaN, which viewers leave
 * blank: a file for viewing need not fail at a point that the method never uses, such as a corner at which f is
 * singular. */
void tesi_vtu_function(const TesFunction *function, int n, const double *x, double *values);
/* Writes the arrays of a description, to a file or a step of a file. */
typedef TesStatus (*TesiVtuSink)(void *user, TesContext *ctx, const TesVtuDesc *desc);
/* Passes the fields that files have to the sink: for tes_vtu_write_problem(). */
TesStatus tesi_vtu_problem(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                           TesiVtuSink sink, void *user);
/* The same for flows and for element dg. */
TesStatus tesi_vtu_quantities(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                              TesiVtuSink sink, void *user);
enum { TESI_VTU_OF_MESH = 2 };
/* The data of cells that a mesh has: their level, their material; returns their number. */
int tesi_vtu_mesh_fields(const TesMesh *mesh, TesVtuArray cells[TESI_VTU_OF_MESH]);
/* Errors: TES_INVALID_INPUT. */
TesStatus tesi_vtu_check(TesContext *ctx, const TesVtuDesc *desc);
/* Passes the whole array to `take`, some cells at a time. */
typedef TesStatus (*TesiVtuTake)(void *user, const void *data, size_t bytes);
TesStatus tesi_vtu_item_write(const TesiVtuCells *cells, const TesiVtuItem *item, TesiVtuTake take,
                              void *user);
/* The number of cells written at a time, for an array of `count` cells. */
int64_t tesi_vtu_item_piece(const TesiVtuCells *cells, const TesiVtuItem *item, int64_t count);
/* On several ranks, rank 0 calls the first function for the arrays of all ranks, one after the other, and the third
 * function at the end. Meanwhile the other ranks run the second function: they send the arrays that rank 0 requests.
 * parts: the cells of each rank. */
TesStatus tesi_vtu_item_gather(const TesiVtuCells *cells, const TesiSlices *parts, const TesiVtuItem *item,
                               TesiVtuTake take, void *user);
TesStatus tesi_vtu_item_follow(const TesiVtuCells *cells);
void tesi_vtu_item_release(TesContext *ctx);

#endif
