/* Kernels of src/kernels/contract.cu. If the unknowns fit into the shared memory of a block, one block does all. In 2D
 * there are four launches with a block per tile. If a plane of a 3D box fits, there are three launches with a block per
 * plane; else eight small launches. */
#include "multigrid/coarse/coarse_device.h"
#include "device/kernel.h"

typedef struct Box { /* as in contract.cu */
  int n[3], first[3], nodes[3];
} Box;

enum { MOST_SHARED = 96 << 10 };
enum {
  PLANE = 576,
  LINES = 8,
  TILE = 16,
  TILE_THREADS = 64,
  TILES = TILE * (2 * TILE + 1) /* as in contract.cu */
};

struct TesiCoarseDevice {
  TesContext *context;
  TesiKernel gather, scatter, contract, whole, forward, lines, backward, product, nodes;
  size_t shared;             /* of `whole`; 0: several launches */
  size_t of_plane, of_lines; /* shared memory of planes; 0: they do not fit */
  Box box;
  int count; /* unknowns */
  double smallest;
  /* device: S of three directions, their eigenvalues one after the other, their T, two arrays of unknowns */
  void *memory;
  double *S[3], *T[3], *lambda, *u, *v; /* T: transposes of S */
};

static TesStatus get_kernels(TesiCoarseDevice *c, TesPrecision precision) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "contract.cu", .real = precision};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_gather", 0, &c->gather));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_scatter", 0, &c->scatter));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_contract", 0, &c->contract));
  if (c->shared) TES_TRY(tesi_kernel_get(ctx, program, "tesk_coarse", c->shared, &c->whole));
  if (!c->shared && c->box.nodes[2] == 1) {
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_product", TILES * sizeof(double), &c->product));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_product_nodes", TILES * sizeof(double), &c->nodes));
  }
  if (c->of_plane) {
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_planes_forward", c->of_plane, &c->forward));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_planes_lines", c->of_lines, &c->lines));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_planes_backward", c->of_plane, &c->backward));
  }
done:
  return status;
}

TesStatus tesi_coarse_device_create(TesContext *ctx, const TesiDiagonalizationAxis axis[3],
                                    TesPrecision precision, TesiCoarseDevice **device) {
  TesStatus status = TES_OK;
  TesiCoarseDevice *c = NULL;
  const TesiDevice *table = tesi_context_device(ctx);
  size_t numbers = 0, squares = 0;
  double *turned = NULL;
  *device = NULL;
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->count = 1;
  for (int d = 0; d < 3; d++) {
    c->box.n[d] = axis[d].n;
    c->box.first[d] = axis[d].first;
    c->box.nodes[d] = axis[d].nodes;
    c->count *= axis[d].n;
    numbers += (size_t)axis[d].n * (size_t)(axis[d].n + 1);
    squares += (size_t)axis[d].n * (size_t)axis[d].n;
  }
  c->smallest = axis[0].smallest;
  TES_TRY(table->allocate(ctx, (numbers + squares + 2 * (size_t)c->count) * sizeof(double), &c->memory));
  double *at = c->memory;
  for (int d = 0; d < 3; d++) {
    const size_t size = (size_t)axis[d].n * (size_t)axis[d].n;
    c->S[d] = at;
    TES_TRY(table->to_device(ctx, at, axis[d].S, size * sizeof(double)));
    at += size;
  }
  c->lambda = at;
  for (int d = 0; d < 3; d++) {
    TES_TRY(table->to_device(ctx, at, axis[d].lambda, (size_t)axis[d].n * sizeof(double)));
    at += axis[d].n;
  }
  TES_ALLOC(&turned, squares);
  for (int d = 0; d < 3; d++) {
    const int n = axis[d].n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) turned[j * n + i] = axis[d].S[i * n + j];
    c->T[d] = at;
    TES_TRY(table->to_device(ctx, at, turned, (size_t)n * (size_t)n * sizeof(double)));
    at += (size_t)n * (size_t)n;
  }
  if ((numbers + 2 * (size_t)c->count) * sizeof(double) <= MOST_SHARED)
    c->shared = (numbers + 2 * (size_t)c->count) * sizeof(double);
  const size_t planes = (size_t)(2 * axis[0].n + 2) * (size_t)axis[1].n * sizeof(double),
               lines = 2 * (size_t)axis[2].n * LINES * sizeof(double);
  if (!c->shared && axis[0].n > 1 && axis[2].n > 1 && planes <= MOST_SHARED && lines <= MOST_SHARED)
    c->of_plane = planes, c->of_lines = lines;
  TES_TRY(get_kernels(c, precision));
  c->u = at;
  c->v = at + c->count;
  *device = c;
  c = NULL;
done:
  tesi_free(ctx, &turned);
  tesi_coarse_device_destroy(&c);
  return status;
}

void tesi_coarse_device_destroy(TesiCoarseDevice **device) {
  if (!device || !*device) return;
  TesiCoarseDevice *c = *device;
  TesContext *ctx = c->context;
  *device = NULL;
  tesi_context_device(ctx)->release(ctx, &c->memory);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

static TesStatus run(TesiCoarseDevice *c, const TesiKernel *kernel, int count, void **arguments) {
  return tesi_kernel_launch(c->context, kernel, tesi_grid(count, 128), 128, 0, arguments);
}

/* Multiplies by S (or S') of one direction; `divide`: then by the inverse of the sum of eigenvalues. */
static TesStatus contract(TesiCoarseDevice *c, int d, const double *from, double *to, int transposed,
                          bool divide) {
  int inner = 1, outer = 1, n = c->box.n[d], n0 = c->box.n[0];
  for (int e = 0; e < 3; e++) *(e < d ? &inner : &outer) *= e == d ? 1 : c->box.n[e];
  const double *S = c->S[d], *lambda = divide ? c->lambda : NULL;
  double smallest = c->smallest;
  void *arguments[] = {&from, &to, &S, &inner, &n, &outer, &transposed, &lambda, &n0, &smallest};
  return run(c, &c->contract, c->count, arguments);
}

static TesStatus solve_planes(TesiCoarseDevice *c, const void *b, void *x) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const unsigned plane = (unsigned)(c->box.n[0] * c->box.n[1]);
  void *forward[] = {&b, &c->u, &c->S[0], &c->S[1], &c->box},
       *lines[] = {&c->u, &c->S[2], &c->T[2], &c->lambda, &c->box, &c->smallest},
       *backward[] = {&c->u, &x, &c->T[0], &c->T[1], &c->box};
  TES_TRY(tesi_kernel_launch(ctx, &c->forward, (TesiGrid){(unsigned)c->box.n[2], 2, 1}, PLANE, c->of_plane,
                             forward));
  TES_TRY(tesi_kernel_launch(ctx, &c->lines, (TesiGrid){(plane + LINES - 1) / LINES, 1, 1}, PLANE,
                             c->of_lines, lines));
  TES_TRY(tesi_kernel_launch(ctx, &c->backward, (TesiGrid){(unsigned)c->box.nodes[2], 2, 1}, PLANE,
                             c->of_plane, backward));
done:
  return status;
}

static TesiGrid tiles_of(int columns, int rows) {
  return (TesiGrid){(unsigned)(columns + TILE - 1) / TILE, (unsigned)(rows + TILE - 1) / TILE, 1};
}

/* to <- A B with n1 rows and n0 columns, n products each; b instead of A: unknowns of a vector */
static TesStatus multiply(TesiCoarseDevice *c, const double *A, const void *b, const double *B, double *to,
                          int n, const double *lambda) {
  int rows = c->box.n[1], columns = c->box.n[0];
  double smallest = c->smallest;
  void *arguments[] = {&A, &b, &B, &to, &rows, &n, &columns, &lambda, &c->box, &smallest};
  return tesi_kernel_launch(c->context, &c->product, tiles_of(columns, rows), TILE_THREADS,
                            TILES * sizeof(double), arguments);
}

/* With unknowns as matrices [y][x]: x = S1 ((S1' b S0) / sums of eigenvalues) S0'. */
static TesStatus solve_tiles(TesiCoarseDevice *c, const void *b, void *x) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const int *n = c->box.n;
  void *last[] = {&c->v, &c->T[0], &x, &c->box};
  TES_TRY(multiply(c, NULL, b, c->S[0], c->v, n[0], NULL));
  TES_TRY(multiply(c, c->T[1], NULL, c->v, c->u, n[1], c->lambda));
  TES_TRY(multiply(c, c->S[1], NULL, c->u, c->v, n[1], NULL));
  TES_TRY(tesi_kernel_launch(ctx, &c->nodes, tiles_of(c->box.nodes[0], c->box.nodes[1]), TILE_THREADS,
                             TILES * sizeof(double), last));
done:
  return status;
}

TesStatus tesi_coarse_device_solve(TesiCoarseDevice *device, const void *b, void *x) {
  TesiCoarseDevice *c = device;
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  if (c->shared) {
    void *arguments[] = {&b, &x, &c->S[0], &c->box, &c->smallest};
    return tesi_kernel_launch(ctx, &c->whole, (TesiGrid){1, 1, 1}, 512, c->shared, arguments);
  }
  if (c->box.nodes[2] == 1) return solve_tiles(c, b, x);
  if (c->of_plane) return solve_planes(c, b, x);
  void *gather[] = {&b, &c->u, &c->box}, *scatter[] = {&c->u, &x, &c->box};
  TES_TRY(run(c, &c->gather, c->count, gather));
  TES_TRY(contract(c, 0, c->u, c->v, 1, false));
  TES_TRY(contract(c, 1, c->v, c->u, 1, false));
  TES_TRY(contract(c, 2, c->u, c->v, 1, true));
  TES_TRY(contract(c, 0, c->v, c->u, 0, false));
  TES_TRY(contract(c, 1, c->u, c->v, 0, false));
  TES_TRY(contract(c, 2, c->v, c->u, 0, false));
  TES_TRY(run(c, &c->scatter, c->box.nodes[0] * c->box.nodes[1] * c->box.nodes[2], scatter));
done:
  return status;
}
