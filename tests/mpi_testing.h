/* What tests on several ranks share: all ranks as one communicator, a context of each rank alone, and one of all. */
#ifndef MPI_TESTING_H
#define MPI_TESTING_H

#include <stdlib.h>
#include "parallel/comm.h"
#include "space/space.h"
#include "tessera/tessera.h"
#include "testing.h"

static TesCommunicator *world;
static TesContext *alone, *together;

/* 0; else the exit status: 77 without MPI. device: NULL: of TESSERA_TEST_DEVICE, else the processor. */
static inline int begin_on_ranks(const char *device) {
  const char *wished = device ? device : getenv("TESSERA_TEST_DEVICE");
  TesContextDesc desc = {.device = wished ? wished : "cpu", .threads = 1, .verbosity = TES_QUIET};
  const TesStatus status = tes_communicator_of_all(&world);
  if (status != TES_OK) return status == TES_MISSING ? 77 : 1;
  if (tes_context_create(&desc, &alone, NULL, 0) != TES_OK) return 1;
  desc.communicator = world;
  return tes_context_create(&desc, &together, NULL, 0) != TES_OK;
}

/* The exit status of a program of which so many tests failed. */
static inline int end_on_ranks(int failed) {
  if (failed && world->size > 1) abort(); /* others may wait for this one */
  tes_context_destroy(&alone);
  tes_context_destroy(&together);
  tes_communicator_destroy(&world);
  return failed;
}

/* ---- node by node -------------------------------------------------------------------------------------- */

static int sorted_dim;

static inline int compare_places(const void *a, const void *b) {
  const double *x = *(const double *const *)a, *y = *(const double *const *)b;
  for (int d = 0; d < sorted_dim; d++)
    if (fabs(x[d] - y[d]) > 1e-9) return x[d] < y[d] ? -1 : 1;
  return 0;
}

/* match[i]: the node of the whole space where node i of this rank's part is; each only once. */
static inline int64_t *match_nodes(const TesSpace *whole, const TesSpace *part) {
  const int64_t n = tes_space_length(whole), m = tes_space_length(part);
  const int dim = whole->dim;
  double *x = malloc((size_t)(n * dim) * sizeof *x), *y = malloc((size_t)(m * dim) * sizeof *y);
  const double **sorted = malloc((size_t)n * sizeof *sorted);
  int64_t *match = malloc((size_t)m * sizeof *match);
  char *taken = calloc((size_t)n, 1);
  assert_ok(alone, tes_space_coordinates(whole, x));
  assert_ok(together, tes_space_coordinates(part, y));
  for (int64_t i = 0; i < n; i++) sorted[i] = x + i * dim;
  sorted_dim = dim;
  qsort(sorted, (size_t)n, sizeof *sorted, compare_places);
  for (int64_t i = 0; i < m; i++) {
    const double *place = y + i * dim,
                 **found = bsearch(&place, sorted, (size_t)n, sizeof *sorted, compare_places);
    assert_non_null(found);
    match[i] = (*found - x) / dim;
    assert_false(taken[match[i]]);
    taken[match[i]] = 1;
  }
  free(x);
  free(y);
  free(sorted);
  free(taken);
  return match;
}

#endif
