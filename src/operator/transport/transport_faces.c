/* Flux of a velocity through boundaries: weights +- (b . n) w|J| at the points of the boundary faces. */
#include "operator/transport/transport_operator.h"

static TesStatus put_face(const TesiBatches *batches, const TesFunction *const b[3], int sign,
                          const TesiBoundaryFace *face, const TesiFaceRule *rule, double *weight) {
  double x[3 * TESI_FACE_MOST] = {0}, normal[3 * TESI_FACE_MOST] = {0}, speed[TESI_FACE_MOST],
               value[TESI_FACE_MOST];
  TesStatus status = TES_OK;
  const int n = rule->points;
  batches->kind->face(batches, rule, face->cell, face->face, x, weight, normal);
  for (int p = 0; p < n; p++) speed[p] = 0;
  for (int r = 0; r < rule->dim && status == TES_OK; r++) {
    if (!b[r]) continue;
    status = tes_function_evaluate(b[r], n, x, x + n, x + 2 * n, 0, value);
    for (int p = 0; p < n; p++) speed[p] += normal[r * n + p] * value[p];
  }
  for (int p = 0; p < n; p++) weight[p] *= sign * speed[p];
  return status;
}

TesStatus tesi_transport_faces(const TesSpace *space, const TesFunction *const b[3],
                               const signed char *through, TesiFaceMass *mass) {
  enum { DEGREE = 8 };
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiCellView *view;
  TesiBatches *batches = NULL;
  TesiBoundaryFace *face = NULL;
  bool *wanted = NULL;
  int64_t faces = 0;
  TES_ALLOC(&wanted, tes_mesh_boundaries(space->mesh) + 1);
  for (int i = 0; i < tes_mesh_boundaries(space->mesh); i++) wanted[i] = through[i];
  TES_TRY(tesi_batches_create(space, space->degree + TESI_TRANSPORT_MORE, &batches));
  TES_TRY(tesi_boundary_faces(batches, wanted, false, &face, &faces));
  if (!faces) goto done;
  TES_CHECK(space->degree <= DEGREE, "what flows through boundaries is known up to degree %d, got %d", DEGREE,
            space->degree);
  TES_TRY(tesi_space_cells(space, &view));
  tesi_face_rule(space->dim, space->degree, batches->q, batches->geometry, &mass->rule);
  TES_TRY(tesi_face_mass_create(view, faces, mass));
  for (int64_t i = 0; i < faces; i++) {
    mass->cell[i] = (int32_t)face[i].cell, mass->face[i] = (int8_t)face[i].face;
    TES_TRY(put_face(batches, b, through[face[i].boundary], &face[i], &mass->rule,
                     mass->weight + i * mass->rule.points));
  }
  TES_TRY(tesi_face_mass_upload(ctx, mass));
done:
  tesi_free(ctx, &face);
  tesi_free(ctx, &wanted);
  if (batches) tesi_batches_destroy(&batches);
  return status;
}
