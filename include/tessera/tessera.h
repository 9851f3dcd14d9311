/** \file tessera.h
 *  All of Tessera: include this one. The headers are the manual. From a problem to its solution:
 *
 *  - context.h: device, threads, log, errors; status.h: what calls return; function.h: functions of space and time
 *  - mesh.h: boxes, domains, Gmsh files; names of boundaries and materials
 *  - problem.h: an equation with its data, solved in three calls; time.h: methods in time
 *  - adapt.h: solve, estimate, refine, and again; gradient.h: derivatives of values by data
 *  - case.h: all of that from a YAML file
 *  - communicator.h, and mpi.h, which this one leaves out: many processes with a part of the mesh each; petsc.h, left
 *    out as well: for PETSc
 *  - report.h, vtu.h, vtkhdf.h, output.h, checkpoint.h: numbers, files for ParaView, lines and pictures, restarts
 *
 *  What a problem is made of, for iterations of your own:
 *
 *  - space.h, vector.h: elements on a mesh, and numbers for them; functional.h: loads, boundary values, errors, values
 *  - operator.h, smoother.h, transfer.h, multigrid.h, solver.h: from y = A x to A x = b
 *
 *  Every tes_<noun>_destroy(&x) gives the reference back and sets x to NULL; NULL and a pointer to NULL are fine. */
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
