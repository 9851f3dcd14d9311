/* The spaces of a multigrid: meshes coarsened as a whole, and degrees. */
#include <math.h>
#include <stdlib.h>
#include "multigrid/multigrid.h"
#include "device/kernel.h"
#include "operator/mapped/mapped.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"
#include "space/space.h"

/* Nodes of a level that is solved as it is, rather than with a lower degree below it. On boxes, which end with two
 * cells per direction, this is for elasticity, whose components are solved together: 9^3 nodes of degree 4 take longer
 * than all levels above. Degree 2 is the least there: degree 1 locks in the few long cells of a beam. */
enum { MAX_LEVELS = TESI_MULTIGRID_LEVELS, SMALL = 1000, SMALL_COUPLED = 150 };

typedef struct Levels {
  TesContext *context;
  int count; /* finest first while they are made */
  TesSpace **space;
  int64_t whole;  /* of several ranks: unknowns of levels that every rank has */
  bool hands;     /* there: levels are whole from where cuts would part cells of the next one */
  TesSpace *part; /* this rank's of the largest such level */
} Levels;

/* Transport with its velocity: levels that are smoothed in the order of the flow are nearly solved by that on one rank,
 * and its coarsest one is solved by factors, which are for one rank. */
static bool is_carried(const TesOperator *op) {
  return tesi_transport_of(op) && !tesi_is_upwind(op);
}

/* Unknowns of a level below which, with all levels below, it takes one GPU less time than two: its launches take 65 us,
 * the exchanges between two GPUs as long again (an H200: docs/parallel.md). The variable is for tests. */
static int64_t most_of_whole(const TesMultigridDesc *desc) {
  enum { WHOLE = 1 << 20 };
  const TesOperator *op = desc->op;
  TesContext *ctx = op->context;
  const char *wish = getenv("TESSERA_WHOLE_LEVELS");
  const bool one = op->space->scalars == 1 && !op->space->product && !op->space->slip &&
                   (tesi_is_separable(op) || tesi_mapped_of(op)),
             serves = op->local && (one || !op->space->element->nodal) && desc->coarse <= TES_COARSE_DIRECT;
  if (op->local && is_carried(op))
    return wish                                     ? atoll(wish)
           : desc->coarse_dofs > TESI_WHOLE_CARRIED ? desc->coarse_dofs
                                                    : TESI_WHOLE_CARRIED;
  if (desc->spread || !serves || !tesi_has_kernels(ctx)) return 0;
  return wish ? atoll(wish) : WHOLE;
}

TesStatus tesi_multigrid_gather(const TesSpace *part, TesSpace **whole) {
  TesContext *ctx = part->context;
  TesStatus status = TES_OK;
  TesContext *alone = NULL;
  TesMesh *mesh = NULL;
  *whole = NULL;
  TES_TRY(tesi_context_create_alone(ctx, &alone));
  TES_TRY(tesi_mesh_gather(part->mesh, alone, &mesh));
  TES_TRY(tesi_space_create_on(part, mesh, part->degree, whole));
done:
  tes_mesh_destroy(&mesh);
  if (status != TES_OK && alone && *tes_context_message(alone))
    status = tesi_fail(ctx, status, __FILE__, __LINE__, __func__, "%s", tes_context_message(alone));
  tes_context_destroy(&alone);
  return status;
}

/* The last level becomes one that every rank has. */
static TesStatus make_whole(Levels *s) {
  TesSpace **last = &s->space[s->count - 1], *whole = NULL;
  const TesStatus status = tesi_multigrid_gather(*last, &whole);
  if (status != TES_OK) return status;
  s->part = *last;
  *last = whole;
  return status;
}

/* Whether cells become others on one rank than here, where `coarse` (NULL: none) is what cuts let be. */
static TesStatus cuts_part_cells(const TesMesh *mesh, const TesMesh *coarse, bool *part) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesContext *alone = NULL;
  TesMesh *whole = NULL, *below = NULL;
  TES_TRY(tesi_context_create_alone(ctx, &alone));
  TES_TRY(tesi_mesh_gather(mesh, alone, &whole));
  TES_TRY(tes_mesh_coarsen(whole, &below));
  *part = below && !coarse;
  for (int d = 0; d < mesh->dim && below && coarse; d++)
    *part = *part || below->box[d] != coarse->window[d].cells;
done:
  tes_mesh_destroy(&below);
  tes_mesh_destroy(&whole);
  tes_context_destroy(&alone);
  return status;
}

static TesStatus add_level(Levels *s, const TesMesh *mesh, int degree) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TES_CHECK(s->count < MAX_LEVELS, "more than %d levels", MAX_LEVELS);
  TES_TRY(tesi_space_create_on(s->space[s->count - 1], mesh, degree, &s->space[s->count]));
  s->count++;
  if (!s->part && s->space[s->count - 1]->layout->global <= s->whole) TES_TRY(make_whole(s));
done:
  return status;
}

/* The last level once more, on every rank. */
static TesStatus add_copy(Levels *s) {
  const TesSpace *last = s->space[s->count - 1];
  s->whole = last->layout->global;
  return add_level(s, last->mesh, last->degree);
}

/* The longest of a box's cells over its shortest one, by their mean widths. */
static double slenderness(const TesMesh *mesh) {
  const TesMeshInfo info = tes_mesh_info(mesh);
  double least = INFINITY, most = 0;
  for (int d = 0; d < mesh->dim; d++) {
    const int cells = info.cells_along[d];
    const double h = (info.coordinates[d][cells] - info.coordinates[d][0]) / cells;
    least = fmin(least, h), most = fmax(most, h);
  }
  return most / least;
}

/* Whether a box, which loses half of its cells in the directions that have enough, has longer cells then. */
static bool stretches(const TesMesh *fine, const TesMesh *coarse) {
  const double even = 1.5;
  return slenderness(coarse) > 1.05 * fmax(slenderness(fine), even);
}

static TesStatus coarsen_meshes(Levels *s, int64_t enough, bool keeps_shape, bool *ended) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesMesh *coarse = NULL;
  for (;;) {
    const TesSpace *last = s->space[s->count - 1];
    if (last->layout->global <= enough) break;
    TES_TRY(tes_mesh_coarsen(last->mesh, &coarse));
    bool part = false;
    if (s->hands && !s->part && s->count > 1) TES_TRY(cuts_part_cells(last->mesh, coarse, &part));
    if (part) {
      TES_TRY(make_whole(s));
      tes_mesh_destroy(&coarse);
      continue;
    }
    if (!coarse) break;
    *ended = keeps_shape && stretches(last->mesh, coarse);
    if (*ended) break;
    TES_TRY(add_level(s, coarse, last->degree));
    tes_mesh_destroy(&coarse);
  }
done:
  tes_mesh_destroy(&coarse);
  return status;
}

/* Half; 2 below a finest degree of 3: from 3 to 1 a correction misses what cells of split tetrahedra want (10
 * iterations of Poisson in the place of 5, 27 of elasticity in the place of 17), and degree 2 costs a third of degree
 * 3. Between degrees 7 and 1 it saves nothing: Kershaw's cells take 14 iterations in the place of 10. */
static int next_degree(int degree, int finest) {
  return degree == 3 && finest == 3 ? 2 : degree / 2;
}

/* A product keeps its degrees. */
static TesStatus coarsen_degrees(Levels *s, int64_t small, int least) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  for (;;) {
    const TesSpace *last = s->space[s->count - 1];
    if (last->degree <= least || last->scalar[0]->layout->global <= small || last->product) break;
    TES_TRY(add_level(s, last->mesh, tesi_max(next_degree(last->degree, s->space[0]->degree), least)));
  }
done:
  return status;
}

TesStatus tesi_multigrid_spaces(const TesMultigridDesc *desc, TesSpace *space[TESI_MULTIGRID_LEVELS],
                                int *count, TesSpace **part) {
  const TesSpace *finest = desc->op->space;
  const TesCoarsening coarsening = desc->coarsening;
  TesContext *ctx = finest->context;
  TesStatus status = TES_OK;
  Levels s = {.context = ctx, .count = 1, .space = space, .whole = most_of_whole(desc)};
  s.hands = tesi_ranks(ctx) > 1 && !finest->element->nodal && !desc->spread;
  TES_CHECK(coarsening >= TES_COARSEN_AUTO && coarsening <= TES_COARSEN_NONE,
            "coarsening is %d, expected 0..3", (int)coarsening);
  TES_CHECK(coarsening != TES_COARSEN_DEGREE || finest->element->nodal,
            "levels of elements rt and dg are meshes: coarsening is mesh");
  TES_CHECK(desc->coarse_dofs >= 0, "coarse_dofs is %lld, expected >= 0", (long long)desc->coarse_dofs);
  space[0] = tesi_space_retain(finest);
  if (coarsening == TES_COARSEN_NONE) {
    if (tesi_ranks(ctx) > 1 && desc->coarse == TES_COARSE_SPARSE) TES_TRY(add_copy(&s));
    goto done;
  }
  if (coarsening == TES_COARSEN_DEGREE) TES_TRY(coarsen_degrees(&s, 0, 1));
  const bool box = finest->mesh->kind == TES_MESH_BOX, couples = desc->op->kind == &tesi_operator_elasticity;
  bool ended = false;
  TES_TRY(coarsen_meshes(&s, desc->coarse_dofs, box && couples, &ended));
  const bool few = box && !ended; /* cells: two per direction */
  const int64_t small = few ? SMALL_COUPLED : SMALL;
  if (!box || couples)
    TES_TRY(coarsen_degrees(&s, desc->coarse_dofs > small ? desc->coarse_dofs : small,
                            few || desc->thin ? 2 : 1));
  if (desc->op->local && !s.part && is_carried(desc->op)) TES_TRY(add_copy(&s));
done:
  for (int l = 0; l < s.count / 2; l++) {
    TesSpace *fine = space[l];
    space[l] = space[s.count - 1 - l], space[s.count - 1 - l] = fine;
  }
  *part = s.part;
  *count = s.count;
  return status;
}
