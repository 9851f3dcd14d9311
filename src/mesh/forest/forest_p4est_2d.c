#include "mesh/forest/forest_p4est.h"
#ifdef TESI_P4EST
#include <p4est_bits.h>
#include <p4est_extended.h>
#include <p4est_ghost.h>
#include <p4est_io.h>
#include <p4est_lnodes.h>
#define TABLE tesi_p4est_2d
#include "mesh/forest/forest_p4est_body.h"
#endif
