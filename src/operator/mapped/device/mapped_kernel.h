/* The kernel of mapped cells for one set of parameters (src/kernels/mapped.cu, mapped_plane.cu). mapped_device.c
 * builds its operator on it, and bench_mapped times it alone. The caller owns vectors and geometry. */
#ifndef TESI_MAPPED_KERNEL_H
#define TESI_MAPPED_KERNEL_H

#include "device/kernel.h"
#include "device/vector.h"
#include "kernels/mapped_arguments.h"

typedef enum TesiMappedGeometry {
  TESI_MAPPED_STORED,
  TESI_MAPPED_VERTICES,
  TESI_MAPPED_AFFINE,
  TESI_MAPPED_WEIGHTS,
  TESI_MAPPED_HALVES /* float32, 3D, with stiffness */
} TesiMappedGeometry;
/* element vectors; global vectors with atomic additions; global vectors, where the cells of a launch share no node */
typedef enum TesiMappedOutput {
  TESI_MAPPED_ELEMENT,
  TESI_MAPPED_ATOMIC,
  TESI_MAPPED_COLOURED
} TesiMappedOutput;

typedef struct TesiMappedKernelDesc {
  int dim, n, q, components; /* nodes and points per direction, q >= n */
  bool collocated;           /* the points are the nodes */
  bool mass, stiffness;
  TesPrecision precision, factors; /* of vectors and arithmetic; of stored factors */
  TesiMappedGeometry geometry;
  int cell_degree; /* with weights: 1 or 2, of the cells' polynomials */
  TesiMappedOutput output;
  bool ordered;                         /* cells are taken from TeskMapped.order */
  bool hanging;                         /* cells have masks of hanging nodes, TeskMapped.masks */
  bool rows;                            /* the index has rows of consecutive nodes (TeskMapped) */
  bool meet;                            /* blocks write zeros and meet: all blocks run at the same time
                                         * (kernel_make_for) */
  bool dot;                             /* 3D: adds x . y to TeskMapped.parts */
  const double *point, *weight, *I, *D; /* [q], [q], [q][n], [q][q] */
} TesiMappedKernelDesc;

/* The layout of threads. A group of threads works for `cells` cells. */
typedef struct TesiMappedCut {
  int cells, group, groups, warps, blocks, buffers;
  int index_once; /* the index is not kept in the L2 cache */
  /* geometry: 0 loaded when needed, 1 copied to shared memory before, 2 (stored factors) brought into the L2 cache
   * before */
  int stage;
  int layers;    /* of the q points in the slow direction: how many have staged factors */
  int ahead;     /* blocks stay resident, and fetch geometry and index of their next cells ahead */
  int gradients; /* 1D derivatives on the way to the points */
  int merge;     /* nodes that neighbouring cells of a warp share get one addition */
  int wide;      /* factors are loaded 128 bytes at a time */
  int layered;   /* one thread per layer of points (mapped_layers.cu) */
} TesiMappedCut;

typedef struct TesiMappedKernel {
  TesiKernel kernel;
  TesiMappedCut cut;
  int pitch[4]; /* PY, PZ, PB, PC */
  size_t shared;
  TesPrecision precision;
  bool meet;
  int64_t most_blocks;  /* of a launch */
  int64_t resident;     /* number of blocks that certainly run at the same time */
  double cell_shared;   /* bytes written to and read from shared memory, per cell; 2D: 0 */
  TeskMapped arguments; /* points and weights filled in; the caller sets the rest */
} TesiMappedKernel;

TesStatus tesi_mapped_kernel_make(TesContext *ctx, const TesiMappedKernelDesc *desc, TesiMappedKernel *kernel);
/* The same for this many cells, run by tesi_mapped_kernel_run_on_zeros(). */
TesStatus tesi_mapped_kernel_make_for(TesContext *ctx, const TesiMappedKernelDesc *desc, int64_t cells,
                                      TesiMappedKernel *kernel);
/* y += A x (global; y = x in constrained rows) or y = A x (element) for the cells `first` .. of
 * kernel->arguments.order or all. */
TesStatus tesi_mapped_kernel_run(TesContext *ctx, const TesiMappedKernel *kernel, const TeskMapped *arguments,
                                 const void *x, void *y);

/* Within each run of this many cells (whole blocks), cells whose hanging nodes need the same work (TeskMapped.masks)
 * are put together. Runs are long, so that few blocks have cells of several kinds, and short enough for neighbours to
 * stay near. */
int64_t tesi_mapped_window(const TesiMappedCut *cut);
/* Two integers on the device for kernels whose blocks meet; NULL for other kernels. Freed by the device's release. */
TesStatus tesi_mapped_meeting_make(TesContext *ctx, const TesiMappedKernel *kernel, void **meeting);
/* y [length] = A x in the global form, atomics: as tesi_mapped_kernel_run() after zeros. */
TesStatus tesi_mapped_kernel_run_on_zeros(TesContext *ctx, const TesiMappedKernel *kernel,
                                          const TeskMapped *arguments, int64_t length, void *meeting,
                                          const void *x, void *y);

/* Codes for an index with n nodes per row: code[rows] (TeskMapped). False where the nodes of a row are not
 * consecutive. */
bool tesi_mapped_find_rows(const int32_t *index, int n, int64_t rows, int32_t *code);
/* Whether an index with codes is faster. */
bool tesi_mapped_wants_rows(const TesiMappedKernelDesc *desc);
/* Coefficients c[7][3] of the trilinear map with vertices v[8][3] (mapped_geometry.h). */
void tesi_mapped_trilinear(const double *v, double *c);

/* Numbers of a cell's geometry (TeskMapped.geometry). */
int tesi_mapped_numbers(const TesiMappedKernelDesc *desc);
/* The fastest setting measured on an H200, or a setting by rule where nothing was measured. */
TesiMappedCut tesi_mapped_choose_cut(const TesiMappedKernelDesc *desc);
/* Shared memory that a group needs for staged geometry. */
int tesi_mapped_stage_bytes(const TesiMappedKernelDesc *desc, const TesiMappedCut *cut);
/* Pitches with the fewest bank conflicts; by_z: whether neighbouring threads have neighbouring z in x-lines and in
 * y-lines. */
void tesi_mapped_pitches(int n, int q, const TesiMappedCut *cut, size_t size, int pitch[4], int by_z[2]);

#endif
