/* Mapped operators as kernels (GPU, emulator): the plan of src/kernels/mapped.cu and mapped_plane.cu for a
 * TesiMapped. */
#include <stdio.h>
#include <string.h>
#include "base/integer.h"
#include "base/team.h"
#include "device/tuning.h"
#include "device/upload.h"
#include "operator/mapped/device/mapped_device.h"

static const char *const factor_names[] = {[TES_FACTORS_STORED] = "stored",
                                           [TES_FACTORS_VERTICES] = "from vertices",
                                           [TES_FACTORS_AFFINE] = "affine",
                                           [TES_FACTORS_WEIGHTS] = "from weights",
                                           [TES_FACTORS_HALVES] = "stored in float16"};

/* ---- data of the device -------------------------------------------------------------------------------- */
typedef struct Pack {
  const int32_t *place;
  TesPrecision precision;
  int64_t first, row;
  const double *values;
  void *packed;
} Pack;

static void pack_span(const void *data, TesiSpan span) {
  const Pack *p = data;
  for (int64_t c = span.first; c < span.end; c++) {
    const double *from = p->values + (p->place ? p->place[p->first + c] - p->first : c) * p->row;
    if (p->precision == TES_SINGLE)
      for (int64_t i = 0; i < p->row; i++) ((float *)p->packed)[c * p->row + i] = (float)from[i];
    else
      memcpy((double *)p->packed + c * p->row, from, (size_t)p->row * sizeof *from);
  }
}

/* Rows [row] of cells first, first + 1, ... for upload, in the plan's order and precision; `values` itself if it has
 * this form already. */
static const void *pack_rows(const TesContext *ctx, const TesiMappedPlan *plan, TesPrecision precision,
                             int64_t first, int64_t count, int64_t row, const double *values, void *packed) {
  if (!plan->place && precision == TES_DOUBLE) return values;
  tesi_team_for(tesi_team_threads(ctx, count * row), count, pack_span,
                &(Pack){plan->place, precision, first, row, values, packed});
  return packed;
}

typedef struct Rows {
  const TesiMapped *m;
  int64_t first, row, weights;
  const double *work;
  double *values;
} Rows;

static void join_rows(const void *data, TesiSpan span) {
  const Rows *r = data;
  const size_t size = sizeof *r->values;
  for (int64_t c = span.first; c < span.end; c++) {
    double monomials[3 * 27], *row = r->values + c * r->row;
    tesi_mapped_monomials(r->m, r->first + c, r->m->cell_degree, monomials);
    memcpy(row, r->work + c * r->weights, (size_t)r->weights * size);
    memcpy(row + r->weights, monomials + r->m->dim, (size_t)(r->row - r->weights) * size);
  }
}

/* [count][row]: weights, then monomials without the constant; `work`: as large. */
static TesStatus fill_weights(TesContext *ctx, const TesiMapped *m, int64_t first, int64_t count, int64_t row,
                              double *work, double *values) {
  TesStatus status = TES_OK;
  const int64_t weights = (1 + m->mass) * m->cell_points;
  TES_TRY(tesi_mapped_fill_weights(m, first, count, work));
  tesi_team_for(tesi_team_threads(ctx, count * row), count, join_rows,
                &(Rows){m, first, row, weights, work, values});
done:
  return status;
}

/* Uploads rows of `row` numbers per cell (halves: words) in the given precision, one window of cells at a time; the
 * order of cells changes only inside windows. */
static TesStatus upload_rows(TesContext *ctx, const TesiMapped *m, TesFactors kind, int64_t row,
                             TesPrecision precision, TesiMappedPlan *plan) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(precision);
  const int64_t window = tesi_mapped_window(&plan->kernel.cut), windows = ((int64_t)1 << 24) / (row * window),
                most = tesi_min64(m->cells, (windows ? windows : 1) * window); /* about 128 MiB */
  const bool halves = kind == TES_FACTORS_HALVES;
  double *values = NULL, *packed = NULL;
  TES_ALLOC(&values, most * (halves     ? m->factors * m->cell_points
                             : row < 24 ? 24
                                        : row)); /* 24: of vertices */
  if (plan->place || precision == TES_SINGLE || kind == TES_FACTORS_WEIGHTS || halves)
    TES_ALLOC(&packed, most * row);
  TES_TRY(device->allocate(ctx, (size_t)(m->cells * row) * size + 16,
                           &plan->geometry)); /* copies move whole 16 bytes */
  for (int64_t first = 0; first < m->cells; first += most) {
    const int64_t count = tesi_min64(most, m->cells - first);
    const void *from = packed;
    if (kind == TES_FACTORS_STORED || halves) TES_TRY(tesi_mapped_fill_factors(m, first, count, values));
    if (kind == TES_FACTORS_VERTICES) TES_TRY(tesi_mapped_fill_vertices(m, first, count, values));
    if (kind == TES_FACTORS_AFFINE) TES_TRY(tesi_mapped_fill_affine(m, first, count, values));
    if (kind == TES_FACTORS_WEIGHTS) TES_TRY(fill_weights(ctx, m, first, count, row, packed, values));
    for (int64_t i = 0; kind == TES_FACTORS_VERTICES && m->dim == 3 && i < count; i++)
      tesi_mapped_trilinear(values + 24 * i, values + 21 * i);
    if (halves)
      TES_CHECK(tesi_mapped_pack_halves(ctx, m, plan->place, first, count, values, (uint32_t *)packed),
                "a cell is sheared so much that factors in float16 do not tell its stiffness");
    else
      from = pack_rows(ctx, plan, precision, first, count, row, values, packed);
    TES_TRY(device->to_device(ctx, (char *)plan->geometry + (size_t)(first * row) * size, from,
                              (size_t)(count * row) * size));
  }
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &packed);
  return status;
}

typedef struct Order {
  const int32_t *place, *values;
  int64_t row;
  int32_t *ordered;
} Order;

static void order_span(const void *data, TesiSpan span) {
  const Order *o = data;
  for (int64_t c = span.first; c < span.end; c++)
    memcpy(o->ordered + c * o->row, o->values + o->place[c] * o->row, (size_t)o->row * sizeof *o->values);
}

TesStatus tesi_mapped_upload_index(TesContext *ctx, const TesiMappedPlan *plan, int64_t cells, int64_t row,
                                   const int32_t *values, void **index) {
  TesStatus status = TES_OK;
  const size_t bytes = (size_t)(cells * row) * sizeof(int32_t);
  Order order = {plan->place, values, row, NULL};
  if (!plan->place) return tesi_upload(ctx, values, bytes, index);
  TES_ALLOC(&order.ordered, cells * row);
  tesi_team_for(tesi_team_threads(ctx, cells * row), cells, order_span, &order);
  TES_TRY(tesi_upload(ctx, order.ordered, bytes, index));
done:
  tesi_free(ctx, &order.ordered);
  return status;
}

/* The short form of the index, if it exists: codes [cells][n^2], else NULL. */
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

/* The masks of the cells of a launch, in its order; a block's first mask has the directions too that the block
 * interpolates. place, order NULL: 0, 1, ... */
typedef struct Masks {
  const TesiMapped *m;
  int64_t block, cells;
  const int32_t *place, *order;
  uint16_t *masks;
} Masks;

static void copy_masks(const void *data, TesiSpan span) {
  const Masks *k = data;
  for (int64_t c = span.first; c < span.end; c++) k->masks[c] = k->m->mask[k->place ? k->place[c] : c];
}

static void add_directions(const void *data, TesiSpan span) {
  const Masks *k = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t first = i * k->block;
    unsigned directions = 0;
    for (int64_t c = first; c < tesi_min64(first + k->block, k->cells); c++)
      directions |= tesi_mapped_directions(k->m, k->order ? k->order[c] : k->place[c]);
    k->masks[k->order ? k->order[first] : first] |= (uint16_t)(directions << TESK_DIRECTIONS);
  }
}

/* `order`: the cells of all launches, one launch after the other; NULL: 0, 1, ... */
static TesStatus upload_masks(TesContext *ctx, const TesiMapped *m, TesiMappedPlan *plan,
                              const int32_t *order) {
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, 8 * m->cells);
  Masks k = {.m = m,
             .block = plan->kernel.cut.cells * plan->kernel.cut.groups,
             .cells = m->cells,
             .place = plan->place};
  if (!m->mask) return TES_OK;
  TES_ALLOC(&k.masks, m->cells);
  tesi_team_for(threads, m->cells, copy_masks, &k);
  for (int i = 0; i < plan->launches; i++) {
    if (plan->first) k.cells = plan->first[i + 1] - plan->first[i];
    k.order = order ? order + plan->first[i] : NULL;
    tesi_team_for(threads, (k.cells + k.block - 1) / k.block, add_directions, &k);
  }
  TES_TRY(tesi_upload(ctx, k.masks, (size_t)m->cells * sizeof *k.masks, &plan->masks));
done:
  tesi_free(ctx, &k.masks);
  return status;
}

TesiMappedGeometry tesi_mapped_geometry_of(TesFactors kind) {
  switch (kind) {
  case TES_FACTORS_STORED:
    return TESI_MAPPED_STORED;
  case TES_FACTORS_VERTICES:
    return TESI_MAPPED_VERTICES;
  case TES_FACTORS_WEIGHTS:
    return TESI_MAPPED_WEIGHTS;
  case TES_FACTORS_HALVES:
    return TESI_MAPPED_HALVES;
  default:
    return TESI_MAPPED_AFFINE;
  }
}

TesiMappedKernelDesc tesi_mapped_kernel_desc(const TesiMapped *m, TesFactors kind) {
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
                                .geometry = tesi_mapped_geometry_of(kind),
                                .cell_degree = kind == TES_FACTORS_WEIGHTS ? m->cell_degree : 0,
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
  TES_TRY(tesi_upload(ctx, order, (size_t)m->cells * sizeof *order, &plan->order));
  TES_TRY(upload_masks(ctx, m, plan, order));
done:
  tesi_free(ctx, &order);
  return status;
}

static TesStatus make_plan(TesContext *ctx, const TesiMapped *m, TesFactors kind, TesiMappedPlan *plan) {
  TesStatus status = TES_OK;
  TesiMappedKernelDesc desc;
  int32_t *codes = NULL;
  memset(plan, 0, sizeof *plan);
  plan->factors = kind;
  desc = tesi_mapped_kernel_desc(m, kind);
  TES_TRY(find_rows(ctx, m, &desc, &codes));
  desc.rows = codes != NULL;
  TES_TRY(tesi_mapped_kernel_make_for(ctx, &desc, m->cells, &plan->kernel));
  if (m->mask && !desc.ordered)
    TES_TRY(tesi_mapped_group_hanging(m, tesi_mapped_window(&plan->kernel.cut), &plan->place));
  TES_TRY(upload_rows(ctx, m, kind, tesi_mapped_numbers(&desc), m->precision, plan));
  if (m->global)
    TES_TRY(tesi_mapped_upload_index(ctx, plan, m->cells, codes ? m->n * m->n : m->cell_nodes,
                                     codes ? codes : m->index, &plan->index));
  plan->full = m->global && !codes;
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

/* ---- the table ----------------------------------------------------------------------------------------- */
static TesStatus run(TesContext *ctx, const TesiMapped *m, const TesiMappedPlan *plan, const void *x, void *y) {
  TesStatus status = TES_OK;
  TeskMapped a = plan->arguments;
  a.cells = m->cells;
  if (m->global && !plan->first) {
    TES_TRY(tesi_mapped_kernel_run_on_zeros(ctx, &plan->kernel, &a, m->length, plan->meeting, x, y));
    goto done;
  }
  if (m->global) TES_TRY(tesi_context_device(ctx)->fill(ctx, m->precision, m->length, 0, y));
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
  return run(op->context, tesi_mapped_of(op), op->plan, x, y);
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return tesi_operator_residual_by(apply, op, b, x, r);
}

static void destroy(TesOperator *op) {
  TesiMappedPlan *plan = op->plan;
  if (plan) release_plan(op->context, plan);
  tesi_free(op->context, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = tesi_mapped_device_diagonal,
                                        .lift = tesi_mapped_lift,
                                        .apply_ref = tesi_mapped_apply_ref,
                                        .cost = tesi_mapped_cost,
                                        .destroy = destroy};

/* ---- which factors ------------------------------------------------------------------------------------- */
enum { MOST_KINDS = 4 };

/* A part of the operator that represents the whole in timings. */
typedef struct Sample {
  TesContext *ctx;
  TesiMapped m;
  TesFactors kind[MOST_KINDS];
  TesiMappedPlan plan;
  void *x, *y;
} Sample;

/* The first cells, with about 4 million points, and their nodes. */
static void take_sample(const TesiMapped *m, Sample *s) {
  enum { POINTS = 1 << 22 };
  int64_t nodes = 0;
  s->m = *m;
  s->m.cells = tesi_min64(m->cells, POINTS / m->cell_points + 1);
  for (int64_t i = 0; m->global && i < s->m.cells * m->cell_nodes; i++) {
    const int64_t node = m->index[i] < 0 ? ~(int64_t)m->index[i] : m->index[i];
    if (node >= nodes) nodes = node + 1;
  }
  s->m.nodes = nodes;
  s->m.length = m->components * (m->global ? nodes : s->m.cells * m->cell_nodes);
}

static TesStatus apply_sample(void *data) {
  const Sample *s = data;
  return run(s->ctx, &s->m, &s->plan, s->x, s->y);
}

static TesStatus time_kind(void *data, int candidate, double *seconds) {
  Sample *s = data;
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t bytes = (size_t)s->m.length * tesi_precision_size(s->m.precision);
  TES_TRY(device->allocate(ctx, bytes, &s->x));
  TES_TRY(device->allocate(ctx, bytes, &s->y));
  TES_TRY(device->fill(ctx, s->m.precision, s->m.length, 1, s->x));
  TES_TRY(make_plan(ctx, &s->m, s->kind[candidate], &s->plan));
  TES_TRY(tesi_tuning_time(ctx, apply_sample, s, seconds));
done:
  release_plan(ctx, &s->plan);
  device->release(ctx, &s->x);
  device->release(ctx, &s->y);
  return status;
}

/* Asks for all programs first, so that they compile side by side. time_kind() reports failures. */
static void prepare_kinds(void *data) {
  const Sample *s = data;
  TesiMappedKernel kernel;
  for (int i = 0; i < MOST_KINDS && s->kind[i] != TES_FACTORS_AUTO; i++) {
    const TesiMappedKernelDesc desc = tesi_mapped_kernel_desc(&s->m, s->kind[i]);
    if (tesi_mapped_kernel_make_for(s->ctx, &desc, s->m.cells, &kernel) != TES_OK)
      tesi_context_forget(s->ctx);
  }
}

/* The kinds that the cells allow; first the kind that is taken without timing. */
static void list_kinds(const TesiMapped *m, TesFactors kind[MOST_KINDS]) {
  int n = 0;
  if (m->can_affine) {
    kind[0] = TES_FACTORS_AFFINE;
    return;
  }
  if (m->can_weights) kind[n++] = TES_FACTORS_WEIGHTS;
  kind[n++] = TES_FACTORS_STORED;
  if (m->can_vertices) kind[n++] = TES_FACTORS_VERTICES;
  if (m->desc.rough && tesi_mapped_can_halve(m)) kind[n++] = TES_FACTORS_HALVES;
}

/* If the device has no room for stored factors, weights replace them, which need a third or less. */
static TesFactors afford(TesContext *ctx, const TesiMapped *m, TesFactors kind) {
  const double bytes =
      (double)(m->cells * m->factors * m->cell_points) * (double)tesi_precision_size(m->precision);
  const bool fits = bytes < 0.9 * (double)tesi_context_device(ctx)->available(ctx);
  if (kind != TES_FACTORS_STORED || !m->can_weights || fits) return kind;
  tesi_log(ctx, TES_LOG_DETAIL, "mapped operator, degree %d: no room for %.3g GiB of factors, weights instead",
           m->degree, bytes / (1 << 30));
  return TES_FACTORS_WEIGHTS;
}

static TesFactors choose(TesContext *ctx, const TesiMapped *m) {
  Sample s = {.ctx = ctx};
  char name[128];
  int nodes;
  TesiTuning tuning = {.name = name, .prepare = prepare_kinds, .time = time_kind, .data = &s};
  list_kinds(m, s.kind);
  if (s.kind[1] == TES_FACTORS_AUTO || !tesi_tuning_is_on(ctx)) return s.kind[0];
  snprintf(name, sizeof name, "mapped-%dd-k%d-q%d%s-terms%d%d-components%d-cells%d%s%s-float%d-%s", m->dim,
           m->degree, m->q, m->collocated ? "-collocated" : "", m->stiffness, m->mass, m->components,
           m->cell_degree, m->mask ? "-hanging" : "", m->global ? m->desc.rough ? "-rough" : "" : "-element",
           m->precision == TES_DOUBLE ? 64 : 32, tesi_tuning_class(m->length, &nodes));
  for (int i = 0; i < MOST_KINDS && s.kind[i] != TES_FACTORS_AUTO; i++)
    tuning.candidate[i] = factor_names[s.kind[i]];
  take_sample(m, &s);
  return afford(ctx, m, s.kind[tesi_tune(ctx, &tuning)]);
}

TesStatus tesi_mapped_device_init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiMapped *m = tesi_mapped_of(op);
  TesiMappedPlan *plan = NULL;
  op->table = &table;
  TES_CHECK(m->desc.factors != TES_FACTORS_MATRIX,
            "kernels have no factors of kind matrix: stored, vertices, affine or weights");
  TES_CHECK(m->desc.factors != TES_FACTORS_VERTICES || m->scalar || !m->stiffness,
            "kernels take factors from vertices for scalar coefficients only");
  TES_CHECK(m->desc.factors != TES_FACTORS_HALVES || tesi_mapped_can_halve(m),
            "factors of kind halves are for stiffness in 3D in float32");
  TES_NEW(&plan);
  op->plan = plan;
  const bool chosen = m->desc.factors == TES_FACTORS_AUTO;
  if (chosen) m->desc.factors = choose(ctx, m);
  status = make_plan(ctx, m, m->desc.factors, plan);
  if (status == TES_INVALID_INPUT && chosen &&
      m->desc.factors == TES_FACTORS_HALVES) { /* cells behind the sample */
    tesi_context_forget(ctx);
    m->desc.factors = TES_FACTORS_STORED;
    status = make_plan(ctx, m, m->desc.factors, plan);
  }
  TES_TRY(status);
  snprintf(op->description, sizeof op->description,
           "mapped cells, kernels of degree %d, %d points, factors %s, %d cells a group of %d threads",
           m->degree, m->q, factor_names[plan->factors], plan->kernel.cut.cells, plan->kernel.cut.group);
done:
  return status;
}

double tesi_mapped_shared_bytes(const TesOperator *op) {
  const TesiMappedPlan *plan = op->plan;
  if (!tesi_mapped_of(op) || !tesi_has_kernels(op->context)) return 0;
  return plan->kernel.cell_shared * (double)tesi_mapped_of(op)->cells;
}
