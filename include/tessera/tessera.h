/** \file tessera.h
 *  All of Tessera: include this header. The headers are the manual. From a problem to its solution:
 *
 *  - context.h: device, threads, log, errors; status.h: what calls return; function.h: functions of space and time
 *  - mesh.h: boxes, domains, Gmsh files; names of boundaries and materials
 *  - problem.h: an equation with its data, solved in three calls; time.h: methods in time
 *  - adapt.h: solve, estimate, refine, and again; gradient.h: derivatives of values by data
 *  - case.h: problems, adaptive loops and gradients from a YAML file
 *  - communicator.h: many processes, each with a part of the mesh. This header does not include mpi.h (communicators of
 *  MPI) and petsc.h (objects for PETSc)
 *  - report.h, vtu.h, vtkhdf.h, output.h, checkpoint.h: numbers, files for ParaView, lines and pictures, restarts
 *
 *  The objects inside a problem, for your own iterations:
 *
 *  - space.h, vector.h: elements on a mesh, and their coefficients; functional.h: loads, boundary values, errors,
 *  values
 *  - operator.h, smoother.h, transfer.h, multigrid.h, solver.h: from y = A x to A x = b
 *
 *  Every tes_<noun>_destroy(&x) releases the reference and sets x to NULL; NULL and a pointer to NULL are allowed. */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "status.h"
#include "context.h"
#include "communicator.h"
#include "devices.h"
#include "function.h"
#include "mesh.h"
#include "space.h"
#include "vector.h"
#include "functional.h"
#include "operator.h"
#include "smoother.h"
#include "transfer.h"
#include "case.h"
#include "report.h"
#include "vtu.h"
#include "vtkhdf.h"
#include "checkpoint.h"
#include "multigrid.h"
#include "solver.h"
#include "time.h"
#include "problem.h"
#include "adapt.h"
#include "gradient.h"
#include "output.h"

#endif
