#include "mesh/forest/forest_p4est.h"
#ifdef TESI_P4EST
#include <p4est_to_p8est.h>
#include <p8est_bits.h>
#include <p8est_extended.h>
#include <p8est_ghost.h>
#include <p8est_io.h>
#include <p8est_lnodes.h>
#define TABLE tesi_p4est_3d
#include "mesh/forest/forest_p4est_body.h"
#endif
