#include "operator/taylor_hood/taylor_hood_device.h"
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "device/kernel.h"
#include "device/table_text.h"
#include "device/upload.h"
#include "kernels/taylor_hood_arguments.h"
#include "mesh/forest/hanging.h"
#include "operator/mapped/mapped.h"

enum { AT_POINTS, AFFINE, ALIGNED }; /* numbers of taylor_hood_lines.h */
enum {
  LEAST = 2,
  MOST = 8 /* degrees */,
  BLOCK = 128 /* lines per block, at least */,
  RESIDENT = 768,     /* threads per multiprocessor, about: 85 registers */
  RESIDENT_TWO = 1152 /* of degree 2: 56 */
};

/* The kernels over one set of points. */
typedef struct Points {
  int q, each, threads; /* points per direction; cells and threads per block */
  size_t shared;
  void *numbers; /* device */
} Points;

struct TesiTaylorHoodDevice {
  TesiKernel divergence, gradient, grad_div, convection, backflow;
  Points few, many; /* k + 1, and the points of convection */
  TeskTaylorHood arguments;
  int numbers;       /* the known form of C */
  void *own_numbers; /* device: at the points of convection, where cells are not affine */
  bool hanging;
  int colours;    /* 1: all at once, by atomics */
  int64_t *first; /* of a colour; NULL: one colour */
  void *order, *velocity, *pressure, *velocity_mask, *pressure_mask, *velocity_halves,
      *pressure_halves; /* device */
  TesVector *rates;     /* a block each */
};

/* ---- C at the points ----------------------------------------------------------------------------------- */

typedef struct Fill {
  const TesiBatches *batches;
  int kind, entries;
  double *numbers, *memory; /* [threads][share] */
  int64_t share;
  bool *skew; /* [threads] some C is not diagonal */
} Fill;

enum { ARRAYS = 13 + 9 };

/* C and 1 / |J| of one lane at one point, `step` numbers apart; at.weight is w |J| there. */
static void put(const Fill *f, const TesiBatchPoints *at, double *X[3][3], int64_t i, double w, double *to,
                int64_t step, bool *skew) {
  const double round_off = 1e-12, size = at->weight[i] / w;
  const int dim = f->batches->dim;
  double beside = 0, most = 0;
  for (int e = 0; e < dim; e++)
    for (int c = 0; c < dim; c++) {
      const double value = e == c || !f->batches->box ? size * X[e][c][i] : 0;
      if (e != c) beside = fmax(beside, fabs(value));
      most = fmax(most, fabs(value));
      if (f->kind != ALIGNED) to[(e * dim + c) * step] = value;
      if (f->kind == ALIGNED && e == c) to[e * step] = value;
    }
  to[(f->entries - 1) * step] = 1 / size;
  *skew = *skew || beside > round_off * most;
}

static void fill_batch(const Fill *f, int64_t number, double *memory, bool *skew) {
  const TesiBatches *b = f->batches;
  const int64_t n = tesi_batches_array(b), points = f->kind == AT_POINTS ? b->points : 1;
  const TesiBatch batch = b->kind->batch(b, number);
  const TesiBatchPoints at = {.x = {memory, memory + n, memory + 2 * n},
                              .weight = memory + 3 * n,
                              .J = b->geometry ? memory + 4 * n : NULL};
  double *X[3][3];
  for (int i = 0; i < 9; i++) X[i / 3][i % 3] = memory + (13 + i) * n;
  b->kind->points(b, &batch, false, &at, memory + ARRAYS * n);
  for (int e = 0; e < b->dim; e++) {
    for (int c = 0; c < b->dim; c++)
      for (int64_t i = 0; i < n; i++) X[e][c][i] = e == c;
    b->kind->gradient(b, &batch, &at, X[e]);
  }
  for (int l = 0; l < batch.count; l++)
    for (int64_t p = 0; p < points; p++) {
      double w = 1;
      for (int64_t d = 0, rest = p; d < b->dim; d++, rest /= b->q) w *= b->weight[rest % b->q];
      put(f, &at, X, p * TESI_BATCH + l, w, f->numbers + (batch.first + l) * f->entries * points + p, points,
          skew);
    }
}

static void fill_span(const void *data, TesiSpan span) {
  const Fill *f = data;
  for (int64_t i = span.first; i < span.end; i++)
    fill_batch(f, i, f->memory + span.thread * f->share, &f->skew[span.thread]);
}

/* *skew <- whether some C is not diagonal. Then `kind` must not be ALIGNED, and *numbers stays NULL. */
static TesStatus upload_numbers(TesContext *ctx, const TesiBatches *b, int kind, bool *skew, void **numbers) {
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, b->cells * b->points);
  Fill f = {.batches = b, .kind = kind, .entries = (kind == ALIGNED ? b->dim : b->dim * b->dim) + 1};
  const int64_t count = b->cells * f.entries * (kind == AT_POINTS ? b->points : 1);
  f.share = ARRAYS * tesi_batches_array(b) + tesi_batches_work(b);
  *skew = false;
  TES_ALLOC(&f.numbers, count);
  TES_ALLOC(&f.memory, threads * f.share);
  TES_ALLOC(&f.skew, threads);
  TES_TRY(tesi_work_for(ctx, threads, b->batches, fill_span, &f));
  for (int t = 0; t < threads; t++) *skew = *skew || f.skew[t];
  if (kind != ALIGNED || !*skew) TES_TRY(tesi_upload_numbers(ctx, f.numbers, count, TES_DOUBLE, numbers));
done:
  tesi_free(ctx, &f.numbers);
  tesi_free(ctx, &f.memory);
  tesi_free(ctx, &f.skew);
  return status;
}

/* On affine cells one point is enough, and its numbers hold at the points of convection too. */
static TesStatus upload_geometry(const TesiTaylorHood *m, TesiTaylorHoodDevice *d) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiGeometry *geometry;
  TesiBatches *middle = NULL;
  bool skew;
  TES_TRY(tesi_mesh_geometry(m->velocity->mesh, &geometry));
  d->numbers = m->v->box || geometry->kind == TES_GEOMETRY_AFFINE ? ALIGNED : AT_POINTS;
  if (d->numbers == AT_POINTS) {
    TES_TRY(upload_numbers(ctx, m->v, d->numbers, &skew, &d->few.numbers));
    TES_TRY(upload_numbers(ctx, m->over, d->numbers, &skew, &d->own_numbers));
    d->many.numbers = d->own_numbers;
    goto done;
  }
  TES_TRY(tesi_batches_create(m->velocity, 1, &middle));
  TES_TRY(upload_numbers(ctx, middle, d->numbers, &skew, &d->few.numbers));
  if (!d->few.numbers) {
    d->numbers = AFFINE;
    TES_TRY(upload_numbers(ctx, middle, d->numbers, &skew, &d->few.numbers));
  }
  d->many.numbers = d->few.numbers;
done:
  tesi_batches_destroy(&middle);
  return status;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

static TesStatus upload_cells(const TesiTaylorHood *m, TesiTaylorHoodDevice *d) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiCellView *v, *p;
  int32_t *order = NULL;
  double halves[2 * (MOST + 1) * (MOST + 1)];
  TES_TRY(tesi_space_cells(m->velocity, &v));
  TES_TRY(tesi_space_cells(m->pressure, &p));
  for (int64_t i = 0; i < v->cells; i++) d->hanging = d->hanging || v->mask[i] >> 3;
  const size_t cells = (size_t)v->cells, of_v = (size_t)v->cell_nodes, of_p = (size_t)p->cell_nodes;
  TES_TRY(tesi_upload(ctx, v->index, cells * of_v * sizeof *v->index, &d->velocity));
  TES_TRY(tesi_upload(ctx, p->index, cells * of_p * sizeof *p->index, &d->pressure));
  TES_TRY(tesi_upload(ctx, v->mask, cells * sizeof *v->mask, &d->velocity_mask));
  TES_TRY(tesi_upload(ctx, p->mask, cells * sizeof *p->mask, &d->pressure_mask));
  tesi_hanging_halves(v->n, halves);
  TES_TRY(tesi_upload_numbers(ctx, halves, 2 * v->n * v->n, TES_DOUBLE, &d->velocity_halves));
  tesi_hanging_halves(p->n, halves);
  TES_TRY(tesi_upload_numbers(ctx, halves, 2 * p->n * p->n, TES_DOUBLE, &d->pressure_halves));
  d->colours = 1;
  d->arguments = (TeskTaylorHood){.cells = v->cells,
                                  .velocities = m->velocity->length,
                                  .velocity = d->velocity,
                                  .pressure = d->pressure,
                                  .velocity_mask = d->velocity_mask,
                                  .pressure_mask = d->pressure_mask,
                                  .velocity_halves = d->velocity_halves,
                                  .pressure_halves = d->pressure_halves};
  if (!tesi_context_deterministic(ctx)) goto done;
  TES_TRY(tesi_colour_cells(ctx, v->cells, v->cell_nodes, v->index, v->length, &d->colours, &d->first, &order));
  TES_TRY(tesi_upload(ctx, order, cells * sizeof *order, &d->order));
done:
  tesi_free(ctx, &order);
  return status;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

/* bw and pw include the weights of the points. */
static TesStatus make_tables(TesContext *ctx, const TesiBatches *v, const TesiBatches *p, char **text) {
  TesiTableText t = {.context = ctx, .type = "double"};
  tesi_table_text_add(&t, "b", v->B, v->q * v->n);
  tesi_table_text_weigh(&t, "bw", v->B, v->weight, v->q, v->n);
  tesi_table_text_add(&t, "d", v->D, v->q * v->q);
  tesi_table_text_add(&t, "w", v->weight, v->q);
  if (p->q == v->q) tesi_table_text_weigh(&t, "pw", p->B, p->weight, p->q, p->n);
  return tesi_table_text_end(&t, text);
}

/* Cells and threads per block, for arrays of q points per direction; a cell has `lines` lines at a time. */
static void cut(int dim, int q, int arrays, Points *points) {
  const int lines = dim == 3 ? q * q : q, size = (q | 1) * lines;
  points->q = q;
  points->each = tesi_max(1, BLOCK / (dim * lines));
  points->threads = (points->each * dim * lines + 31) / 32 * 32;
  points->shared = (size_t)(points->each * arrays * size) * sizeof(double);
}

static TesStatus get_program(const TesiTaylorHood *m, const TesiTaylorHoodDevice *d, const char *file,
                             const Points *points, int each, const char *tables, TesiProgram **program) {
  const int resident = points == &d->few && m->velocity->degree == 2 ? RESIDENT_TWO : RESIDENT;
  const TesiProgramDesc desc = {
      .file = file,
      .macros = {{"TESK_CONSTANT_TABLES", 1},
                 {"DIM", m->dim},
                 {"N", m->velocity->degree + 1},
                 {"Q", points->q},
                 {"CELLS", each},
                 {"NUMBERS", d->numbers},
                 {"HANGING", d->hanging},
                 {"THREADS", points->threads},
                 {"BLOCKS", tesi_max(1, (resident + points->threads / 2) / points->threads)}},
      .tables = tables};
  return tesi_program_get(m->context, &desc, program);
}

static TesStatus get_kernels(const TesiTaylorHood *m, TesiTaylorHoodDevice *d) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  char *few = NULL, *many = NULL;
  TesiProgram *program;
  TES_TRY(make_tables(ctx, m->v, m->p, &few));
  TES_TRY(make_tables(ctx, m->over, m->p, &many));
  TES_TRY(get_program(m, d, "taylor_hood.cu", &d->few, d->few.each, few, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_divergence", d->few.shared, &d->divergence));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_gradient", d->few.shared, &d->gradient));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_grad_div", d->few.shared, &d->grad_div));
  TES_TRY(get_program(m, d, "convection.cu", &d->many, d->many.each, many, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_convection", d->many.shared, &d->convection));
  TES_TRY(get_program(m, d, "taylor_hood_faces.cu", &d->many, 1, many, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_backflow", d->many.shared, &d->backflow));
done:
  tesi_free(ctx, &few);
  tesi_free(ctx, &many);
  return status;
}

static unsigned blocks_of(int64_t cells, const Points *points) {
  return (unsigned)((cells + points->each - 1) / points->each);
}

TesStatus tesi_taylor_hood_device_create(TesiTaylorHood *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesiTaylorHoodDevice *d;
  const int k = m->velocity->degree;
  if (k < LEAST || k > MOST)
    TES_FAIL(TES_MISSING, "flows have kernels for degrees %d to %d of the velocity, got %d", LEAST, MOST, k);
  TES_NEW(&d);
  m->device = d;
  cut(m->dim, m->v->q, 2 * m->dim, &d->few);
  cut(m->dim, m->over->q, 3 * m->dim, &d->many);
  TES_TRY(upload_cells(m, d));
  TES_TRY(upload_geometry(m, d));
  TES_TRY(get_kernels(m, d));
  TES_TRY(tes_vector_create(ctx, blocks_of(d->arguments.cells, &d->many) + (unsigned)d->colours, TES_DOUBLE,
                            &d->rates));
done:
  return status;
}

void tesi_taylor_hood_device_destroy(TesContext *ctx, TesiTaylorHoodDevice **device) {
  TesiTaylorHoodDevice *d = *device;
  if (!d) return;
  void **all[] = {&d->order,           &d->velocity,      &d->pressure,
                  &d->velocity_mask,   &d->pressure_mask, &d->velocity_halves,
                  &d->pressure_halves, &d->few.numbers,   &d->own_numbers};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tes_vector_destroy(&d->rates);
  tesi_free(ctx, &d->first);
  tesi_free(ctx, device);
}

/* ---- passes -------------------------------------------------------------------------------------------- */

/* The arguments of a colour. */
static TeskTaylorHood of_colour(const TesiTaylorHoodDevice *d, const Points *points, int colour) {
  TeskTaylorHood a = d->arguments;
  a.numbers = points->numbers;
  if (!d->first) return a;
  a.order = (const int *)d->order + d->first[colour];
  a.cells = d->first[colour + 1] - d->first[colour];
  return a;
}

/* out += the result of the kernel for `in`. gamma: for tesk_grad_div, else NULL. */
static TesStatus add(const TesiTaylorHood *m, const TesiKernel *kernel, const TesVector *in,
                     const TesVector *gamma, TesVector *out) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiTaylorHoodDevice *d = m->device;
  for (int c = 0; c < d->colours; c++) {
    TeskTaylorHood a = of_colour(d, &d->few, c);
    void *const plain[] = {(void *)&in->data, &out->data, &a}, *const weighed[] = {
                                                                   (void *)&in->data,
                                                                   gamma ? (void *)&gamma->data : NULL,
                                                                   &out->data, &a};
    TES_TRY(tesi_kernel_launch(ctx, kernel, (TesiGrid){blocks_of(a.cells, &d->few), 1, 1},
                               (unsigned)d->few.threads, d->few.shared, (void **)(gamma ? weighed : plain)));
  }
done:
  return status;
}

static TesStatus couple(const TesiTaylorHood *m, const TesiKernel *kernel, const TesVector *in,
                        const TesVector *gamma, TesVector *out) {
  const TesStatus status = tes_vector_fill(out, 0);
  return status == TES_OK ? add(m, kernel, in, gamma, out) : status;
}

TesStatus tesi_taylor_hood_device_divergence(const TesiTaylorHood *m, const TesVector *u, TesVector *b) {
  return couple(m, &m->device->divergence, u, NULL, b);
}

TesStatus tesi_taylor_hood_device_gradient(const TesiTaylorHood *m, const TesVector *p, TesVector *b) {
  return couple(m, &m->device->gradient, p, NULL, b);
}

TesStatus tesi_taylor_hood_device_add_gradient(const TesiTaylorHood *m, const TesVector *p, TesVector *b) {
  return add(m, &m->device->gradient, p, NULL, b);
}

TesStatus tesi_taylor_hood_device_grad_div(const TesiTaylorHood *m, const TesVector *gamma,
                                           const TesVector *u, TesVector *b) {
  return couple(m, &m->device->grad_div, u, gamma, b);
}

TesStatus tesi_taylor_hood_device_convection(const TesiTaylorHood *m, const TesVector *u, TesVector *b,
                                             TesVector *of_cell, double *most) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiTaylorHoodDevice *d = m->device;
  int reach = !b;
  double *rates = d->rates->data;
  void *to = b ? b->data : NULL, *cells = of_cell ? of_cell->data : NULL;
  if (!reach) TES_TRY(tes_vector_fill(b, 0));
  for (int c = 0; c < d->colours; c++) {
    TeskTaylorHood a = of_colour(d, &d->many, c);
    const unsigned blocks = blocks_of(a.cells, &d->many);
    TES_TRY(tesi_kernel_launch(ctx, &d->convection, (TesiGrid){blocks, 1, 1}, (unsigned)d->many.threads,
                               d->many.shared, (void *[]){(void *)&u->data, &to, &rates, &reach, &cells, &a}));
    rates += blocks;
  }
  TES_TRY(tes_vector_maximum(d->rates, most));
done:
  return status;
}

/* ---- open faces ---------------------------------------------------------------------------------------- */

static TesStatus upload_faces(const TesiTaylorHood *m, TesiTaylorHoodFaces *faces) {
  enum { FACE = TESI_MAX_POINTS * TESI_MAX_POINTS };
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const int points = faces->rule.points;
  int32_t *list = NULL;
  double *normals = NULL, x[3 * FACE], weight[FACE], normal[3 * FACE];
  TES_ALLOC(&list, 2 * faces->count);
  TES_ALLOC(&normals, faces->count * m->dim * points);
  for (int64_t i = 0; i < faces->count; i++) {
    const TesiBoundaryFace *face = &faces->face[i];
    m->over->kind->face(m->over, &faces->rule, face->cell, face->face, x, weight, normal);
    for (int p = 0; p < m->dim * points; p++)
      normals[i * m->dim * points + p] = weight[p % points] * normal[p];
    list[2 * i] = (int32_t)face->cell, list[2 * i + 1] = face->face;
  }
  TES_TRY(tesi_upload_numbers(ctx, normals, faces->count * m->dim * points, TES_DOUBLE, &faces->normals));
  TES_TRY(tesi_upload(ctx, list, 2 * (size_t)faces->count * sizeof *list, &faces->list));
done:
  tesi_free(ctx, &list);
  tesi_free(ctx, &normals);
  return status;
}

TesStatus tesi_taylor_hood_device_backflow(const TesiTaylorHood *m, TesiTaylorHoodFaces *faces,
                                           const TesVector *u, TesVector *b) {
  enum { BLOCKS = 4096 };
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiTaylorHoodDevice *d = m->device;
  TeskTaylorHood a = d->arguments;
  long long count = faces->count;
  if (!count) return TES_OK;
  if (!faces->list) TES_TRY(upload_faces(m, faces));
  const unsigned blocks = tesi_context_deterministic(ctx) ? 1 : (unsigned)(count < BLOCKS ? count : BLOCKS);
  TES_TRY(tesi_kernel_launch(
      ctx, &d->backflow, (TesiGrid){blocks, 1, 1}, (unsigned)d->many.threads, d->many.shared,
      (void *[]){(void *)&u->data, &b->data, &faces->list, &faces->normals, &count, &a}));
done:
  return status;
}
