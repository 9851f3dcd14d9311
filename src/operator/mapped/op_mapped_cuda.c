/* Mapped operators as kernels (GPU, emulator): the plan of src/kernels/mapped.cu and mapped_plane.cu for a TesiMapped. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "operator/mapped/op_mapped_cuda.h"

enum { TIMES = 3 };

/* ---- data of the device ------------------------------------------------------------------------------------------------- */
/* Rows [row] of cells first, first + 1, ... as they are uploaded: in the plan's order and precision. May be in place where the order is
 * theirs. */
static void pack_rows(const TesiMappedPlan *plan, TesPrecision precision, int64_t first, int64_t count,
                      int64_t row, const double *values, void *packed) {
  for (int64_t c = 0; c < count; c++) {
    const double *from = values + (plan->place ? plan->place[first + c] - first : c) * row;
    if (precision == TES_SINGLE)
      for (int64_t i = 0; i < row; i++) ((float *)packed)[c * row + i] = (float)from[i];
    else if (from != packed)
      memcpy((double *)packed + c * row, from, (size_t)row * sizeof *from);
  }
}

/* Rows of `row` numbers a cell, in the given precision: windows of cells, inside which they change places, at a time. */
static TesStatus upload_rows(TesContext *ctx, const TesiMapped *m, TesFactors kind, int64_t row,
                             TesPrecision precision, TesiMappedPlan *plan) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(precision);
  const int64_t window = tesi_mapped_window(&plan->kernel.cut), windows = ((int64_t)1 << 24) / (row * window),
                most = tesi_min64(m->cells, (windows ? windows : 1) * window); /* about 128 MiB */
  double *values = NULL, *packed = NULL;
  TES_ALLOC(&values, most * (row < 24 ? 24 : row)); /* 24: of vertices */
  if (plan->place) TES_ALLOC(&packed, most * row);
  TES_TRY(device->allocate(ctx, (size_t)(m->cells * row) * size + 16,
                           &plan->geometry)); /* copies of whole 16 bytes */
  for (int64_t first = 0; first < m->cells; first += most) {
    const int64_t count = tesi_min64(most, m->cells - first);
    double *const to = packed ? packed : values;
    if (kind == TES_FACTORS_STORED) TES_TRY(tesi_mapped_fill_factors(m, first, count, values));
    if (kind == TES_FACTORS_VERTICES) TES_TRY(tesi_mapped_fill_vertices(m, first, count, values));
    if (kind == TES_FACTORS_AFFINE) TES_TRY(tesi_mapped_fill_affine(m, first, count, values));
    for (int64_t i = 0; kind == TES_FACTORS_VERTICES && m->dim == 3 && i < count; i++)
      tesi_mapped_trilinear(values + 24 * i, values + 21 * i);
    pack_rows(plan, precision, first, count, row, values, to);
    TES_TRY(device->to_device(ctx, (char *)plan->geometry + (size_t)(first * row) * size, to,
                              (size_t)(count * row) * size));
  }
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &packed);
  return status;
}

static TesStatus upload(TesContext *ctx, const void *values, size_t bytes, void **address) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TES_TRY(device->allocate(ctx, bytes, address));
  TES_TRY(device->to_device(ctx, *address, values, bytes));
done:
  return status;
}

/* The numbers of the index, `row` a cell, in the plan's order. */
static TesStatus upload_index(TesContext *ctx, const TesiMapped *m, const int32_t *values, int64_t row,
                              TesiMappedPlan *plan) {
  TesStatus status = TES_OK;
  const size_t bytes = (size_t)(m->cells * row) * sizeof(int32_t);
  int32_t *index = NULL;
  if (!plan->place) return upload(ctx, values, bytes, &plan->index);
  TES_ALLOC(&index, m->cells * row);
  for (int64_t c = 0; c < m->cells; c++)
    memcpy(index + c * row, values + plan->place[c] * row, (size_t)row * sizeof *index);
  TES_TRY(upload(ctx, index, bytes, &plan->index));
done:
  tesi_free(ctx, &index);
  return status;
}

/* The index's short form, if it has one: codes [cells][n^2], else NULL. */
static TesStatus find_rows(TesContext *ctx, const TesiMapped *m, const TesiMappedKernelDesc *desc,
                           int32_t **codes) {
  TesStatus status = TES_OK;
  const int64_t rows = m->cells * m->n * m->n;
  *codes = NULL;
  if (!tesi_mapped_wants_rows(desc)) return TES_OK;
  TES_ALLOC(codes, rows);
  if (!tesi_mapped_find_rows(m->index, m->n, rows, *codes)) tesi_free(ctx, codes);
done:
  return status;
}

/* Adds to the mask of the first cell of each block of a launch what is to be done in the block; place[cells]: NULL: 0, 1, ... */
static void add_directions(const TesiMapped *m, int64_t block, int64_t cells, const int32_t *place,
                           const int32_t *order, uint16_t *masks) {
  for (int64_t first = 0; first < cells; first += block) {
    unsigned directions = 0;
    for (int64_t c = first; c < tesi_min64(first + block, cells); c++)
      directions |= tesi_mapped_directions(m, order ? order[c] : place[c]);
    masks[order ? order[first] : first] |= (uint16_t)(directions << TESK_DIRECTIONS);
  }
}

/* `order`: of the cells of all launches, where they are not 0, 1, ... */
static TesStatus upload_masks(TesContext *ctx, const TesiMapped *m, TesiMappedPlan *plan,
                              const int32_t *order) {
  TesStatus status = TES_OK;
  const int64_t block = plan->kernel.cut.cells * plan->kernel.cut.groups;
  uint16_t *masks = NULL;
  if (!m->mask) return TES_OK;
  TES_ALLOC(&masks, m->cells);
  for (int64_t c = 0; c < m->cells; c++) masks[c] = m->mask[plan->place ? plan->place[c] : c];
  for (int i = 0; i < plan->launches; i++)
    add_directions(m, block, plan->first ? plan->first[i + 1] - plan->first[i] : m->cells, plan->place,
                   order ? order + plan->first[i] : NULL, masks);
  TES_TRY(upload(ctx, masks, (size_t)m->cells * sizeof *masks, &plan->masks));
done:
  tesi_free(ctx, &masks);
  return status;
}

/* Numbers a cell. */
static int64_t row_length(const TesiMapped *m, TesFactors kind) {
  if (kind == TES_FACTORS_STORED) return m->factors * m->cell_points;
  if (kind == TES_FACTORS_VERTICES) return m->dim == 3 ? 21 : 8;
  return m->factors;
}

static TesiMappedKernelDesc describe(const TesiMapped *m, TesFactors kind) {
  const bool colours = m->desc.conflicts == TES_CONFLICTS_COLOURS;
  return (TesiMappedKernelDesc){.dim = m->dim,
                                .n = m->n,
                                .q = m->q,
                                .components = m->components,
                                .collocated = m->collocated,
                                .mass = m->mass,
                                .stiffness = m->stiffness,
                                .precision = m->precision,
                                .factors = m->precision,
                                .geometry = kind == TES_FACTORS_STORED     ? TESI_MAPPED_STORED
                                            : kind == TES_FACTORS_VERTICES ? TESI_MAPPED_VERTICES
                                                                           : TESI_MAPPED_AFFINE,
                                .output = !m->global ? TESI_MAPPED_ELEMENT
                                          : colours  ? TESI_MAPPED_COLOURED
                                                     : TESI_MAPPED_ATOMIC,
                                .ordered = m->global && colours,
                                .hanging = m->mask != NULL,
                                .point = m->point,
                                .weight = m->weight,
                                .I = m->I,
                                .D = m->D};
}

static void release_plan(TesContext *ctx, TesiMappedPlan *plan) {
  const TesiDevice *device = tesi_context_device(ctx);
  device->release(ctx, &plan->geometry);
  device->release(ctx, &plan->index);
  device->release(ctx, &plan->order);
  device->release(ctx, &plan->masks);
  device->release(ctx, &plan->meeting);
  tesi_free(ctx, &plan->first);
  tesi_free(ctx, &plan->place);
  memset(plan, 0, sizeof *plan);
}

static TesStatus make_colours(TesContext *ctx, const TesiMapped *m, TesiMappedPlan *plan) {
  TesStatus status = TES_OK;
  int32_t *order = NULL;
  TES_TRY(tesi_mapped_make_colours(m, &plan->launches, &plan->first, &order));
  TES_TRY(upload(ctx, order, (size_t)m->cells * sizeof *order, &plan->order));
  TES_TRY(upload_masks(ctx, m, plan, order));
done:
  tesi_free(ctx, &order);
  return status;
}

static TesStatus make_plan(const TesOperator *op, TesFactors kind, TesiMappedPlan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = op->mapped;
  TesiMappedKernelDesc desc;
  int32_t *codes = NULL;
  memset(plan, 0, sizeof *plan);
  plan->factors = kind;
  desc = describe(m, kind);
  TES_TRY(find_rows(ctx, m, &desc, &codes));
  desc.rows = codes != NULL;
  TES_TRY(tesi_mapped_kernel_make_for(ctx, &desc, m->cells, &plan->kernel));
  if (m->mask && !desc.ordered)
    TES_TRY(tesi_mapped_group_hanging(m, tesi_mapped_window(&plan->kernel.cut), &plan->place));
  TES_TRY(upload_rows(ctx, m, kind, row_length(m, kind), m->precision, plan));
  if (m->global)
    TES_TRY(upload_index(ctx, m, codes ? codes : m->index, codes ? m->n * m->n : m->cell_nodes, plan));
  plan->launches = 1;
  if (!desc.ordered) TES_TRY(upload_masks(ctx, m, plan, NULL));
  TES_TRY(tesi_mapped_meeting_make(ctx, &plan->kernel, &plan->meeting));
  if (desc.ordered) TES_TRY(make_colours(ctx, m, plan));
  plan->arguments = plan->kernel.arguments;
  plan->arguments.geometry = plan->geometry;
  plan->arguments.index = plan->index;
  plan->arguments.masks = plan->masks;
  plan->arguments.stiffness = kind == TES_FACTORS_VERTICES ? m->a[0] : 1;
  plan->arguments.mass = m->lambda * (kind == TES_FACTORS_VERTICES ? m->c : 1);
done:
  tesi_free(ctx, &codes);
  if (status != TES_OK) release_plan(ctx, plan);
  return status;
}

/* ---- the table ----------------------------------------------------------------------------------------------------------- */
static TesStatus run(const TesOperator *op, const TesiMappedPlan *plan, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = op->mapped;
  TeskMapped a = plan->arguments;
  a.cells = m->cells;
  if (m->global && !plan->first) {
    TES_TRY(tesi_mapped_kernel_run_on_zeros(ctx, &plan->kernel, &a, m->length, plan->meeting, x, y));
    goto done;
  }
  if (m->global) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, m->length, 0, y));
  for (int i = 0; i < plan->launches; i++) {
    if (plan->first) {
      a.cells = plan->first[i + 1] - plan->first[i];
      a.order = (const int *)plan->order + plan->first[i];
    }
    TES_TRY(tesi_mapped_kernel_run(ctx, &plan->kernel, &a, x, y));
  }
done:
  return status;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  return run(op, op->plan, x, y);
}

/* r <- b - A x; r may be b. */
static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void *product = r;
  const size_t bytes = (size_t)op->length * tesi_precision_size(op->precision);
  if (r == b) TES_TRY(device->allocate(ctx, bytes, &product));
  TES_TRY(run(op, op->plan, x, product));
  if (r == b)
    TES_TRY(device->axpy(ctx, op->length, -1, op->precision, product, op->precision, r));
  else
    TES_TRY(device->xpay(ctx, op->precision, op->length, b, -1, r));
done:
  if (product != r) device->release(ctx, &product);
  return status;
}

static void destroy(TesOperator *op) {
  TesiMappedPlan *plan = op->plan;
  if (plan) release_plan(op->context, plan);
  tesi_free(op->context, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = tesi_mapped_cuda_diagonal,
                                        .apply_ref = tesi_mapped_apply_ref,
                                        .cost = tesi_mapped_cost,
                                        .destroy = destroy};

/* ---- which factors ----------------------------------------------------------------------------------------------------------- */
/* Fastest of a few applications. */
static TesStatus time_plan(const TesOperator *op, const TesiMappedPlan *plan, double *seconds) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void *x = NULL, *y = NULL;
  const size_t bytes = (size_t)op->length * tesi_precision_size(op->precision);
  *seconds = INFINITY;
  TES_TRY(device->allocate(ctx, bytes, &x));
  TES_TRY(device->allocate(ctx, bytes, &y));
  TES_TRY(device->fill(ctx, op->precision, op->length, 1, x));
  for (int i = 0; i <= TIMES; i++) {
    const double start = tesi_now();
    TES_TRY(run(op, plan, x, y));
    TES_TRY(device->synchronize(ctx));
    if (i) *seconds = fmin(*seconds, tesi_now() - start);
  }
done:
  device->release(ctx, &x);
  device->release(ctx, &y);
  return status;
}

static TesStatus choose(TesOperator *op, TesiMappedPlan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = op->mapped;
  TesiMappedPlan other = {0};
  double seconds[2];
  TesFactors kind = m->desc.factors;
  if (kind == TES_FACTORS_AUTO) kind = m->can_affine ? TES_FACTORS_AFFINE : TES_FACTORS_STORED;
  TES_TRY(make_plan(op, kind, plan));
  if (m->desc.factors != TES_FACTORS_AUTO || m->can_affine || !m->can_vertices || !m->a_identity) goto done;
  TES_TRY(make_plan(op, TES_FACTORS_VERTICES, &other));
  TES_TRY(time_plan(op, plan, &seconds[0]));
  TES_TRY(time_plan(op, &other, &seconds[1]));
  tesi_log(ctx, TES_LOG_DETAIL, "mapped operator, degree %d: stored factors take %.3g ms, vertices %.3g ms",
           m->degree, 1e3 * seconds[0], 1e3 * seconds[1]);
  if (seconds[1] < seconds[0]) {
    const TesiMappedPlan kept = other;
    other = *plan;
    *plan = kept;
  }
done:
  release_plan(ctx, &other);
  return status;
}

TesStatus tesi_mapped_cuda_init(TesOperator *op) {
  static const char *const names[] = {"", "stored", "from vertices", "affine"};
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiMapped *m = op->mapped;
  TesiMappedPlan *plan = NULL;
  op->table = &table;
  TES_CHECK(m->desc.factors != TES_FACTORS_MATRIX && m->desc.factors != TES_FACTORS_WEIGHTS,
            "kernels have no factors of kind matrix or weights: stored, vertices or affine");
  TES_CHECK(m->desc.factors != TES_FACTORS_VERTICES || m->a_identity || !m->stiffness,
            "kernels take factors from vertices for scalar coefficients only");
  TES_CHECK(!m->desc.variant, "there is no kernel variant \"%s\": bench_mapped --variant has the ladder",
            m->desc.variant);
  TES_NEW(&plan);
  op->plan = plan;
  TES_TRY(choose(op, plan));
  m->desc.factors = plan->factors;
  snprintf(op->description, sizeof op->description,
           "mapped cells, kernels of degree %d, %d points, factors %s, %d cells a group of %d threads",
           m->degree, m->q, names[plan->factors], plan->kernel.cut.cells, plan->kernel.cut.group);
done:
  return status;
}

double tesi_mapped_shared_bytes(const TesOperator *op) {
  const TesiMappedPlan *plan = op->plan;
  if (!op->mapped || !tesi_has_kernels(op->context)) return 0;
  return plan->kernel.cell_shared * (double)op->mapped->cells;
}
