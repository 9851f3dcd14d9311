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

/* Whether it is so on any rank; all ranks call it. */
static bool on_any_rank(TesContext *context, bool here) {
  const double number = here;
  double most = number;
  TesVector *one = NULL;
  if (cli_ranks() && tes_vector_create(context, 1, TES_DOUBLE, &one) == TES_OK &&
      tes_vector_set(one, &number) == TES_OK)
    tes_vector_maximum(one, &most);
  tes_vector_destroy(&one);
  return most > 0;
}

int cli_list_defaults(TesContext *context, const TesCase *input, const TesMesh *mesh, size_t size, char *text) {
  const int boundaries = tes_mesh_boundaries(mesh);
  bool *has = calloc((size_t)boundaries + 1, sizeof *has);
  int count = 0;
  text[0] = 0;
  if (has) find_faces(mesh, has);
  for (int i = 0; i < boundaries && has; i++) {
    const size_t length = strlen(text);
    if (!cli_is_default(input, mesh, i) || !on_any_rank(context, has[i])) continue;
    snprintf(text + length, size - length, "%s%s", count++ ? ", " : "", tes_mesh_boundary_name(mesh, i));
  }
  free(has);
  return count;
}
