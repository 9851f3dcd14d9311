/* What the files of this folder share, and what other folders take beside the public calls. */
#ifndef TESI_FUNCTIONAL_H
#define TESI_FUNCTIONAL_H

#include "device/kernel.h"
#include "device/vector.h"
#include "functional/batch_faces.h"
#include "functional/fields.h"

/* TesLoadDesc of one component, over a space of one. */
typedef struct TesiLoad {
  const TesSpace *space;
  const TesFunction *f, *const *material_f, *const *g;
  /* Adds int h d phi_i / d x_direction, on the host, h of the cell's material or, if that is NULL, of all cells. */
  const TesFunction *h, *const *material_h;
  int direction;
} TesiLoad;
static inline TesiLoad tesi_load_of(const TesLoadDesc *desc, int component) {
  return (TesiLoad){.space = desc->space->scalar[component],
                    .f = desc->f[component],
                    .material_f = desc->material_f[component],
                    .g = desc->g[component]};
}

/* tes_functional_load(); given: nodes with given values get their part too, and any boundary may have a g. */
TesStatus tesi_functional_load(const TesiLoad *desc, bool given, TesVector *b);
/* The same for all components. */
TesStatus tesi_functional_load_all(const TesLoadDesc *desc, bool given, TesVector *b);
/* Refuses spaces of element rt, and what is no float64 vector of the space. */
TesStatus tesi_functional_check(const TesSpace *space, const TesVector *v, const char *what);
/* w_i <- int phi_i over the domain or a boundary: what integrals multiply u with. */
TesStatus tesi_functional_weights(const TesSpace *space, const TesValue *what, TesVector *w);
/* The cell of a point and its place there. */
TesStatus tesi_functional_locate(const TesSpace *space, const double *x, int64_t *cell, double *xi);
/* The place of a value is one of the mesh. */
TesStatus tesi_value_check_place(const TesMesh *mesh, const TesValue *what);
/* The value of an expression (NULL: the first field) in these fields: integral, mean, point or extreme value. The
 * quadrature has degree + 3 points per direction; all fields have spaces over one mesh. */
TesStatus tesi_functional_expression(const TesSpace *space, int fields, const TesiField *field,
                                     const TesValue *what, double *value);
/* The same of a derivative of the expression (`by`, as tesi_quantity_create_slope()), with `points` Gauss points per
 * direction (0: as above); cells[cells] (NULL: not wanted) gets the part of each cell, of values over cells alone. */
typedef struct TesiSumOf {
  int by, points;
  double *cells;
} TesiSumOf;
TesStatus tesi_functional_sum(const TesSpace *space, int fields, const TesiField *field, const TesValue *what,
                              const TesiSumOf *of, double *value);
/* b[length of part] += the derivatives of such a value by the nodal values of u, given ones too, where u is the vector
 * of some of the fields, over the space `part`: on several ranks what the cells of this one add. */
TesStatus tesi_functional_slope(const TesSpace *space, int fields, const TesiField *field,
                                const TesValue *what, const TesVector *u, const TesSpace *part, double *b);
/* The cells of this rank that have a point, as tesi_mesh_find(), that no rank has nearer; *all: of all ranks. All ranks
 * call it. */
TesStatus tesi_point_hits(const TesMesh *mesh, const double *x, double reach, TesiHit **hit, int64_t *count,
                          int64_t *all);
/* The mean of a quantity over the cells that have a point, as tesi_fields_at() takes it. */
TesStatus tesi_quantity_point(const TesiQuantity *q, const double *x, double *value);
/* The largest or smallest value of an expression, and its place (NULL: not wanted): tes_problem_extreme(). */
TesStatus tesi_functional_extreme(const TesSpace *space, int fields, const TesiField *field,
                                  const TesValue *what, double *value, double place[3]);
/* The integral of an expression, which may use normals, over some faces of the boundary. */
TesStatus tesi_functional_over_faces(const TesSpace *space, int fields, const TesiField *field, const char *of,
                                     int64_t faces, const TesiBoundaryFace *face, double *integral);
/* integral[boundaries] <- the integrals over the first boundaries of the mesh, in one pass; names between cells: 0. */
TesStatus tesi_functional_over_boundaries(const TesSpace *space, int fields, const TesiField *field,
                                          const char *of, int boundaries, double *integral);
/* `of` [count] at n points x[n][dim], to values[n][count]. moved[n]: how far a point lies outside of the mesh, in
 * lengths of a cell, 0: not at all; a point outside by at most a hundredth is moved to the mesh; a point further
 * outside is refused, or, with `holes`, gets NaN for moved and values; moved NULL: no point is moved. count 0: the mesh
 * keeps the points (geometry/kept.h), if all of them lie in it and may be moved. x NULL: tes_problem_sample(). */
TesStatus tesi_fields_at(const TesMesh *mesh, int fields, const TesiField *field, int64_t n, const double *x,
                         int count, const char *const *of, double *values, double *moved, bool holes);
/* v <- v with zeros at the given nodes of a box. */
TesStatus tesi_functional_clear(const TesSpace *space, TesVector *v);

/* Whether kernels sum over the cells. On meshes other than boxes they add by atomics, in no fixed order. */
static inline bool tesi_sums_on_device(const TesSpace *space) {
  return tesi_has_kernels(space->context) &&
         ((space->mesh->kind == TES_MESH_BOX && !tesi_space_is_periodic(space)) ||
          !tesi_context_deterministic(space->context));
}

/* The same by the host, whatever the device. */
TesStatus tesi_load_on_host(const TesiLoad *desc, bool given, TesVector *b);
/* The same by kernels. *done stays false where the host must do it: a function without text, a high degree, or a
 * value that is not finite, which the host tells of. f: the exact solution and its derivatives. */
TesStatus tesi_load_device(const TesiLoad *desc, bool given, TesVector *b, bool *done);
TesStatus tesi_lifting_device(const TesSpace *space, const TesFunction *const *g, TesVector *u, bool *done);
TesStatus tesi_clear_device(const TesSpace *space, TesVector *v);
TesStatus tesi_error_device(const TesSpace *space, const TesVector *u, const TesFunction *const f[4],
                            double *l2, double *h1, bool *done);

/* Plain, cell by cell and point by point, all basis functions at each point: the tests' oracle. b[length],
 * u[length]; q points per direction; h1 needs an `exact` that can be differentiated. */
TesStatus tesi_load_ref(const TesLoadDesc *desc, bool given, int q, double *b);
TesStatus tesi_load_component_ref(const TesiLoad *load, bool given, int q, double *b);
TesStatus tesi_error_ref(const TesSpace *space, const double *u, const TesFunction *const *exact, int q,
                         double *cell_l2, double *cell_h1);

#endif
