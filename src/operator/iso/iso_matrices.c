#include "operator/iso/iso_matrices.h"
#include "device/device.h"
#include "operator/assembled/pattern.h"
#include "operator/assembled/sparse.h"

struct TesiIsoMatrices {
  TesContext *context;
  const TesiIso *iso;
  TesiSparse *momentum, *embedding, *divergence;
  TesVector *free, *held, *divided; /* of velocities: 1 where unknown and 0 where given; 1 / m where unknown */
  TesVector *coarse_divided;        /* of pressures */
  TesVector *stacked, *embedded;    /* [dim + 1][nodes]; I s */
};

/* ---- matrices ------------------------------------------------------------------------------------------ */

/* An entry of a row, a product of 1D entries; column -1: no entry. */
typedef struct Entry {
  int64_t column;
  double value;
} Entry;

static int power(int n, int dim) {
  return dim == 3 ? n * n * n : n * n;
}

static void place_of(int64_t i, const int n[3], int at[3]) {
  at[0] = (int)(i % n[0]), at[1] = (int)(i / n[0] % n[1]), at[2] = (int)(i / n[0] / n[1]);
}

/* Node t among the nodes around a place, `reach` to each side; false: outside. */
static bool neighbour(const TesiIso *iso, const int at[3], int t, int reach, int step[3], int64_t *node) {
  *node = 0;
  for (int d = 2; d >= 0; d--) {
    const int width = 2 * reach + 1, fine = iso->axis[d].fine;
    step[d] = iso->axis[d].cells ? t / (d == 0 ? 1 : d == 1 ? width : width * width) % width : reach;
    const int there = at[d] + step[d] - reach;
    if (there < 0 || there >= fine) return false;
    *node = *node * fine + there;
  }
  return true;
}

/* Block d < dim: C_d; block dim: -nu K. */
static Entry momentum_entry(const TesiIso *iso, double nu, int64_t row, int t, int block) {
  const int n[3] = {iso->axis[0].fine, iso->axis[1].fine, iso->axis[2].fine};
  int at[3], step[3];
  Entry entry = {-1, 0};
  int64_t node;
  place_of(row, n, at);
  if (!neighbour(iso, at, t, 1, step, &node)) return entry;
  entry.column = block * iso->nodes + node;
  for (int e = 0; e < iso->dim; e++) { /* for K: sums over directions; for C: one product */
    double value = 1;
    if (block < iso->dim && e != block) continue;
    for (int d = 0; d < 3; d++)
      value *= (d != e ? iso->axis[d].M : block < iso->dim ? iso->axis[d].C : iso->axis[d].K)[step[d]][at[d]];
    entry.value += block < iso->dim ? value : -nu * value;
  }
  return entry;
}

/* int (d_d phi_column) psi_row. */
static Entry divergence_entry(const TesiIso *iso, double nu, int64_t row, int t, int block) {
  const int n[3] = {iso->axis[0].coarse, iso->axis[1].coarse, iso->axis[2].coarse};
  int at[3], twice[3], step[3];
  Entry entry = {-1, 1};
  int64_t node;
  (void)nu;
  place_of(row, n, at);
  for (int d = 0; d < 3; d++) twice[d] = 2 * at[d];
  if (!neighbour(iso, twice, t, 2, step, &node)) return entry;
  entry.column = block * iso->nodes + node;
  for (int d = 0; d < 3; d++) entry.value *= (d == block ? iso->axis[d].RC : iso->axis[d].RM)[step[d]][at[d]];
  return entry;
}

/* Over two pressures per direction. */
static Entry embedding_entry(const TesiIso *iso, double nu, int64_t row, int t, int block) {
  const int n[3] = {iso->axis[0].fine, iso->axis[1].fine, iso->axis[2].fine};
  int at[3];
  Entry entry = {0, 1};
  (void)nu, (void)block;
  place_of(row, n, at);
  for (int d = 2; d >= 0; d--) {
    const int right = t >> d & 1;
    if (right && at[d] % 2 == 0) return (Entry){-1, 0};
    if (at[d] % 2) entry.value /= 2;
    entry.column = entry.column * iso->axis[d].coarse + at[d] / 2 + right;
  }
  return entry;
}

typedef struct Shape {
  Entry (*entry)(const TesiIso *iso, double nu, int64_t row, int t, int block);
  int64_t rows, columns;
  int around, blocks;
} Shape;

/* Columns ascend, since blocks follow each other and places t are in the order of nodes. */
static TesStatus fill(const TesiIso *iso, double nu, const Shape *shape, TesiMatrix *A) {
  TesContext *ctx = iso->context;
  TesStatus status = TES_OK;
  const int64_t most = shape->rows * shape->around * shape->blocks;
  A->rows = shape->rows;
  if (shape->columns > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "%lld columns are too many for a matrix: at most 2^31 - 1",
             (long long)shape->columns);
  TES_TRY(tesi_matrix_check_memory(ctx, A->rows, most));
  TES_ALLOC(&A->row, A->rows + 1);
  TES_ALLOC(&A->column, most);
  TES_ALLOC(&A->value, most);
  for (int64_t i = 0; i < A->rows; i++) {
    for (int block = 0; block < shape->blocks; block++)
      for (int t = 0; t < shape->around; t++) {
        const Entry entry = shape->entry(iso, nu, i, t, block);
        if (entry.column < 0) continue;
        A->column[A->entries] = (int32_t)entry.column, A->value[A->entries++] = entry.value;
      }
    A->row[i + 1] = A->entries;
  }
done:
  return status;
}

static TesStatus create_matrix(const TesiIso *iso, double nu, const Shape *shape, TesiSparse **sparse) {
  TesContext *ctx = iso->context;
  TesStatus status = TES_OK;
  TesiMatrix A = {0};
  TES_TRY(fill(iso, nu, shape, &A));
  TES_TRY(tesi_sparse_create(ctx, &A, shape->columns, TES_DOUBLE, sparse));
done:
  tesi_matrix_destroy(ctx, &A);
  return status;
}

/* ---- vectors ------------------------------------------------------------------------------------------- */

static double divided(const TesiIso *iso, const int at[3], bool coarse) {
  double product = 1;
  for (int d = 0; d < 3; d++)
    product *= coarse ? iso->axis[d].coarse_divided[at[d]] : iso->axis[d].divided[at[d]];
  return product;
}

static TesStatus fill_vectors(const TesiIsoMatrices *m, double *values) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiIso *iso = m->iso;
  const int fine[3] = {iso->axis[0].fine, iso->axis[1].fine, iso->axis[2].fine},
            coarse[3] = {iso->axis[0].coarse, iso->axis[1].coarse, iso->axis[2].coarse};
  TesVector *const vectors[] = {m->free, m->held, m->divided};
  int at[3];
  for (int which = 0; which < 3; which++) {
    for (int64_t i = 0; i < iso->dim * iso->nodes; i++) {
      place_of(i % iso->nodes, fine, at);
      const bool given = tesi_iso_is_given(iso, (int)(i / iso->nodes), at);
      values[i] = which == 1 ? given : given ? 0 : which == 0 ? 1 : divided(iso, at, false);
    }
    TES_TRY(tes_vector_set(vectors[which], values));
  }
  for (int64_t i = 0; i < iso->pressures; i++) {
    place_of(i, coarse, at);
    values[i] = divided(iso, at, true);
  }
  TES_TRY(tes_vector_set(m->coarse_divided, values));
done:
  return status;
}

static TesStatus create_vectors(TesiIsoMatrices *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const int64_t dim = m->iso->dim, nodes = m->iso->nodes;
  double *values = NULL;
  TesVector **const velocity[] = {&m->free, &m->held, &m->divided};
  for (int i = 0; i < 3; i++) TES_TRY(tes_vector_create(ctx, dim * nodes, TES_DOUBLE, velocity[i]));
  TES_TRY(tes_vector_create(ctx, m->iso->pressures, TES_DOUBLE, &m->coarse_divided));
  TES_TRY(tes_vector_create(ctx, (dim + 1) * nodes, TES_DOUBLE, &m->stacked));
  TES_TRY(tes_vector_create(ctx, nodes, TES_DOUBLE, &m->embedded));
  TES_ALLOC(&values, dim * nodes);
  TES_TRY(fill_vectors(m, values));
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tesi_iso_matrices_create(const TesiIso *iso, double nu, TesiIsoMatrices **matrices) {
  TesContext *ctx = iso->context;
  TesStatus status = TES_OK;
  TesiIsoMatrices *m = NULL;
  const int dim = iso->dim;
  const Shape momentum = {momentum_entry, iso->nodes, (dim + 1) * iso->nodes, power(3, dim), dim + 1},
              divergence = {divergence_entry, iso->pressures, dim * iso->nodes, power(5, dim), dim},
              embedding = {embedding_entry, iso->nodes, iso->pressures, power(2, dim), 1};
  *matrices = NULL;
  TES_TRY(tesi_one_rank(ctx, "a comparison with assembled matrices of element iso"));
  TES_NEW(&m);
  m->context = tesi_context_retain(ctx);
  m->iso = iso;
  TES_TRY(create_matrix(iso, nu, &momentum, &m->momentum));
  TES_TRY(create_matrix(iso, nu, &divergence, &m->divergence));
  TES_TRY(create_matrix(iso, nu, &embedding, &m->embedding));
  TES_TRY(create_vectors(m));
  *matrices = m;
  m = NULL;
done:
  tesi_iso_matrices_destroy(&m);
  return status;
}

void tesi_iso_matrices_destroy(TesiIsoMatrices **matrices) {
  if (!matrices || !*matrices) return;
  TesiIsoMatrices *m = *matrices;
  TesContext *ctx = m->context;
  *matrices = NULL;
  TesiSparse **const all[] = {&m->momentum, &m->divergence, &m->embedding};
  TesVector **const vectors[] = {&m->free,           &m->held,    &m->divided,
                                 &m->coarse_divided, &m->stacked, &m->embedded};
  for (int i = 0; i < 3; i++) tesi_sparse_destroy(ctx, all[i]);
  for (int i = 0; i < 6; i++) tes_vector_destroy(vectors[i]);
  tesi_free(ctx, &m);
  tes_context_destroy(&ctx);
}

/* ---- products ------------------------------------------------------------------------------------------ */

/* next_c <- [C_1 .. C_dim, -nu K] of component c. */
static TesStatus multiply_component(const TesiIsoMatrices *m, int c, const double *u, double *next) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t n = m->iso->nodes;
  const int dim = m->iso->dim;
  double *const z = m->stacked->data;
  for (int d = 0; d < dim; d++)
    TES_TRY(tesi_device_multiply(ctx, TES_DOUBLE, n, 1, u + d * n, u + c * n, z + d * n));
  TES_TRY(device->axpy(ctx, n, 1, TES_DOUBLE, m->embedded->data, TES_DOUBLE, z + c * n));
  TES_TRY(device->copy(ctx, n, 1, TES_DOUBLE, u + c * n, TES_DOUBLE, z + dim * n));
  TES_TRY(tesi_sparse_apply(ctx, m->momentum, z, next + c * n));
done:
  return status;
}

TesStatus tesi_iso_matrices_momentum(const TesiIsoMatrices *m, const TesiIsoStep *step) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t n = m->iso->dim * m->iso->nodes;
  void *const next = step->next->data;
  TES_TRY(tesi_sparse_apply(ctx, m->embedding, step->s->data, m->embedded->data));
  for (int c = 0; c < m->iso->dim; c++) TES_TRY(multiply_component(m, c, step->u->data, next));
  if (step->load) TES_TRY(device->axpy(ctx, n, 1, TES_DOUBLE, step->load->data, TES_DOUBLE, next));
  TES_TRY(tesi_device_multiply(ctx, TES_DOUBLE, n, step->k, next, m->divided->data, next));
  TES_TRY(device->multiply_add(ctx, TES_DOUBLE, n, 1, step->u->data, m->free->data, next));
  TES_TRY(device->multiply_add(ctx, TES_DOUBLE, n, 1, step->given->data, m->held->data, next));
done:
  return status;
}

TesStatus tesi_iso_matrices_divergence(const TesiIsoMatrices *m, double scale, const TesVector *u,
                                       TesVector *b) {
  TesContext *ctx = m->context;
  const TesStatus status = tesi_sparse_apply(ctx, m->divergence, u->data, b->data);
  return status == TES_OK ? tes_vector_copy(b, scale, b) : status;
}

TesStatus tesi_iso_matrices_pressure(const TesiIsoMatrices *m, double rate, const TesVector *q,
                                     const TesVector *b, TesVector *p, TesVector *s) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t n = m->iso->pressures;
  TES_TRY(device->multiply_add(ctx, TES_DOUBLE, n, rate, b->data, m->coarse_divided->data, p->data));
  TES_TRY(device->axpy(ctx, n, 1, TES_DOUBLE, q->data, TES_DOUBLE, p->data));
  TES_TRY(device->copy(ctx, n, 1, TES_DOUBLE, p->data, TES_DOUBLE, s->data));
  TES_TRY(device->axpy(ctx, n, 1, TES_DOUBLE, q->data, TES_DOUBLE, s->data));
done:
  return status;
}

double tesi_iso_matrices_bytes(const TesiIsoMatrices *m) {
  return tesi_sparse_bytes(m->momentum) + tesi_sparse_bytes(m->embedding) + tesi_sparse_bytes(m->divergence);
}

const char *tesi_iso_matrices_how(const TesiIsoMatrices *m) {
  return tesi_sparse_how(m->momentum);
}
