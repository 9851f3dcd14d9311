/* The Krylov methods on devices with kernels (src/kernels/krylov.cu): an iteration, its cycle included, is one recorded
 * graph. Its scalars stay on the device, and one number is returned. */
#ifndef TESI_KRYLOV_DEVICE_H
#define TESI_KRYLOV_DEVICE_H

#include "device/links.h"
#include "device/recorded.h"
#include "kernels/krylov_arguments.h"
#include "krylov/solver.h"

typedef struct TesiKrylovDevice {
  TesContext *context;
  TesiProgram *program;
  TesiKernel kernel[8]; /* of the method */
  TesiKernel start[3];  /* of one of two starts (queued.h) */
  TesiRecorded step;
  TesiRecorded *steps; /* GMRES with a cycle, [columns + 1]: of each column, and of the first column after a rough
                        * start */
  int columns;
  const void *x;       /* of the recorded step of conjugate gradients */
  void *memory;        /* device: scalars, parts of sums, and for GMRES all that `arnoldi` points to */
  TeskKrylov *scalars; /* device */
  double *partial, *squares;
  double *history; /* device, [max_iterations + 1]: for solves that the device ends */
  TeskArnoldi arnoldi;
  unsigned parts;  /* blocks of vector kernels */
  TesiLinks *sums; /* of several ranks; NULL on one */
} TesiKrylovDevice;

/* Makes the device part of a solver whose vectors exist; for V-cycles only queued.h needs it. */
TesStatus tesi_krylov_device_create(TesSolver *solver, TesiKrylovDevice **device);
void tesi_krylov_device_destroy(TesiKrylovDevice **device);

/* A step with zero vectors before the first solve: exchanges between ranks allocate their buffers, and the driver loads
 * kernels, which takes a millisecond or more. All ranks call it. */
TesStatus tesi_krylov_device_prepare(TesSolver *solver);

/* device->kernel[] <- the kernels with these names. */
TesStatus tesi_krylov_kernels(TesiKrylovDevice *device, int count, const char *const *names,
                              TesiKernel *kernel);
TesStatus tesi_cg_device_kernels(TesiKrylovDevice *device);
TesStatus tesi_gmres_device_kernels(TesiKrylovDevice *device);
TesStatus tesi_cycle_device_kernels(TesiKrylovDevice *device);
/* The places of the last vector and the next vector of step `column`, and of the input and output of the cycle. */
void tesi_gmres_device_place(const TesSolver *solver, int column, TeskArnoldi *arnoldi);
/* Releases all recordings of steps. */
void tesi_krylov_device_forget(TesiKrylovDevice *device);

enum { TESI_ANY_COLUMN = -1 };

/* An iteration of a TesiIteration, which can be recorded; x: the vector that conjugate gradients and cycles correct. */
typedef struct TesiIteration {
  TesSolver *solver;
  const TesVector *b; /* of cycles */
  TesVector *x, *r;   /* r: of cycles */
  int column; /* GMRES: which column; TESI_ANY_COLUMN: the column that the device counts, in one recording for
                       * all columns */
  bool rough; /* GMRES: the cycle smooths before its coarse correction too */
} TesiIteration;
TesStatus tesi_cg_device_step(void *iteration);
TesStatus tesi_gmres_device_step(void *iteration);
TesStatus tesi_cycle_device_step(void *iteration);
/* x <- x + the correction by the columns so far. */
TesStatus tesi_gmres_device_correct(TesSolver *solver, TesVector *x);

/* A vector kernel over n entries, in `rows` rows of device->parts blocks, or (rows 0) in one block of 256 threads;
 * `extra`: numbers of shared memory beside those that a sum needs. */
TesStatus tesi_krylov_launch(TesiKrylovDevice *device, int kernel, unsigned rows, int extra, void **arguments);
/* On several ranks: sums[count], of which each block has written a part, become the sums of each rank. */
TesStatus tesi_krylov_meet(TesiKrylovDevice *device, int count, double *sums);
/* The one number that an iteration returns to the host. */
TesStatus tesi_krylov_relative(TesiKrylovDevice *device, double *relative);

TesStatus tesi_solver_cg_device(TesSolver *solver, const TesVector *b, TesVector *x);
TesStatus tesi_solver_gmres_device(TesSolver *solver, const TesVector *b, TesVector *x);

#endif
