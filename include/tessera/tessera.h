/** \file tessera.h
 *  All of Tessera: include this one. The headers below are the manual, from the ground up.
 *
 *  Every tes_<noun>_destroy(&x) gives the reference back and sets x to NULL; NULL and a pointer to NULL are fine. */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "status.h"
#include "context.h"
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
#include "checkpoint.h"
#include "multigrid.h"
#include "solver.h"
#include "time.h"
#include "problem.h"
#include "adapt.h"
#include "output.h"

#endif
