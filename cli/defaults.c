/* Boundaries that a case leaves to the default, which is 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"

bool cli_is_default(const TesCase *input, const TesMesh *mesh, int boundary) {
  const char *name = tes_mesh_boundary_name(mesh, boundary);
  if (input->mesh.rest) return false; /* boundary.all is given */
  for (int i = 0; i < input->problem.boundaries; i++)
    if (input->problem.boundary[i].name && !strcmp(input->problem.boundary[i].name, name)) return false;
  return true;
}

/* has[boundaries] <- whether a face is on it; the faces of this rank. */
static void find_faces(const TesMesh *mesh, bool *has) {
  const TesMeshInfo info = tes_mesh_info(mesh);
  for (int64_t cell = 0; cell < info.cells; cell++)
    for (int face = 0, number; face < 2 * info.dim; face++)
      if (tes_mesh_on_boundary(mesh, cell, face, &number) && number >= 0) has[number] = true;
}

double cli_sum_of_ranks(TesContext *context, double here) {
  const double number[] = {here, 1};
  double sum = here;
  TesVector *vector[2] = {NULL};
  TesStatus status = TES_OK;
  if (!cli_ranks()) return here;
  for (int i = 0; i < 2 && status == TES_OK; i++) {
    status = tes_vector_create(context, 1, TES_DOUBLE, &vector[i]);
    if (status == TES_OK) status = tes_vector_set(vector[i], &number[i]);
  }
  if (tes_communicator_agree(cli_ranks(), status, NULL, 0) == TES_OK)
    tes_vector_dot(vector[0], vector[1], &sum);
  for (int i = 0; i < 2; i++) tes_vector_destroy(&vector[i]);
  return sum;
}

int cli_list_defaults(TesContext *context, const TesCase *input, const TesMesh *mesh, size_t size, char *text) {
  const int boundaries = tes_mesh_boundaries(mesh);
  bool *has = calloc((size_t)boundaries + 1, sizeof *has);
  int count = 0;
  text[0] = 0;
  if (has) find_faces(mesh, has);
  for (int i = 0; i < boundaries && has; i++) {
    const size_t length = strlen(text);
    if (!cli_is_default(input, mesh, i) || cli_sum_of_ranks(context, has[i]) == 0) continue;
    snprintf(text + length, size - length, "%s%s", count++ ? ", " : "", tes_mesh_boundary_name(mesh, i));
  }
  free(has);
  return count;
}
