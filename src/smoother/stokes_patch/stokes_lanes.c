#include "smoother/stokes_patch/stokes_lanes.h"
#include <stdlib.h>
#include <string.h>
#include "base/ascending.h"
#include "device/kernel.h"
#include "device/upload.h"
#include "device/vector.h"
#include "space/rt_device.h"

enum { DEGREES = TESI_LANES_DEGREES, KINDS = 4, THREADS_OUT = 128, G = TESK_LANES_GROUP };
enum { SWEEP, IN, OUT, PREPARE, KERNELS };

/* How a kernel is cut, by precision and degree: lanes, threads, blocks a multiprocessor; rows of a tile of S^+ where
 * rows are swapped, and where they are not, and lanes of both; whether threads hold rows of a plane instead of a whole
 * one; whether inner patches have a path of their own; whether S^+ is copied to shared memory; numbers of a cell that a
 * thread copies where no patch of a colour has them, all under way together. `few`: for colours that leave
 * multiprocessors idle, where the time is that of one block: two paths are too much text there, and copies are spread
 * over more blocks. */
typedef struct Cut {
  int lanes, threads, blocks, tile, plain, width, lines, inner, held, piece;
} Cut;
static const Cut cuts[2][DEGREES] = {{{16, 128, 2, 2, 2, 4, 0, 1, 0, 16},
                                      {8, 256, 1, 3, 9, 4, 0, 1, 0, 36},
                                      {4, 256, 1, 4, 8, 4, 1, 1, 0, 32},
                                      {4, 512, 1, 5, 5, 4, 1, 1, 0, 50}},
                                     {{16, 128, 6, 2, 2, 4, 0, 1, 0, 16},
                                      {8, 128, 4, 3, 9, 4, 0, 1, 0, 36},
                                      {8, 256, 2, 4, 8, 4, 1, 1, 0, 32},
                                      {8, 640, 1, 5, 5, 4, 1, 1, 0, 50}}};
static const Cut few[2][DEGREES] = {{{4, 128, 2, 2, 2, 4, 0, 0, 1, 8},
                                     {4, 256, 1, 3, 3, 4, 0, 0, 1, 12},
                                     {4, 256, 1, 4, 8, 4, 1, 0, 0, 16},
                                     {4, 512, 1, 5, 5, 4, 1, 0, 0, 20}},
                                    {{4, 256, 1, 2, 2, 4, 0, 0, 1, 8},
                                     {4, 256, 1, 1, 3, 4, 0, 0, 1, 12},
                                     {4, 512, 1, 4, 4, 4, 1, 0, 1, 16},
                                     {4, 480, 1, 5, 5, 4, 1, 0, 0, 20}}};
/* Patches of a colour: up to FEW the cuts above; up to SINGLE blocks of walls run beside others, and what mixed rows
 * do besides costs more. */
enum { FEW = 1024, SINGLE = 256 };

static double patches_of_a_colour(const TesiStokesPatchAxis axis[3]) {
  const double patches = (double)axis[0].vertices * axis[1].vertices * axis[2].vertices,
               colours = tesi_stokes_patch_boxes(axis);
  return patches / colours;
}

static bool are_many(const TesiStokesPatchAxis axis[3]) {
  return patches_of_a_colour(axis) > FEW || getenv("TESSERA_PATCH_MANY"); /* the variable is for tests */
}

/* Patches and cells of a colour: ranges of the lists. */
typedef struct Colour {
  int first_block, blocks, first_copy, copies, odd;
} Colour;

struct TesiStokesLanes {
  TesPrecision precision;
  int n;
  bool many;  /* patches of a colour */
  bool even;  /* the modes of all kinds are even or odd */
  bool mixed; /* rows of patches along x stay together: those at walls are read with those beside them */
  Cut cut;
  size_t shared;
  TesiKernel kernel[KERNELS];
  TeskLanes arguments;
  TeskLanesMass mass;
  int colours;
  Colour *colour;
  void *numbers[3], *mass_inverse[3], *mass_kind[3], *inverses, *places; /* device */
  void *blocks, *lanes, *copies; /* device: TeskLanesLists of all colours */
  void *x[2], *b[2];             /* device */
  int inner_kind[3];             /* in the middle of each direction; -1: their tables differ */
  double *inner;                 /* those tables, on the host; numbers of the precision */
};

/* What is needed while the tables are made: of each direction the kinds with sorted modes. */
typedef struct Making {
  const TesOperator *op;
  const TesiStokesPatchAxis *axis;
  TesiStokesLanes *lanes;
  TesiStokesLocalAxis kind[3][KINDS];
  bool split[3][KINDS];
  const void **inverse; /* device: of combinations of kinds, x fastest */
  double *table[3];     /* of the kinds of a direction */
} Making;

/* ---- tables -------------------------------------------------------------------------------------------- */

static int vertex_of(const TesiStokesPatchAxis *a, int kind) {
  int v = 0;
  while (a->type[v] != kind) v++;
  return v;
}

static TesStatus make_axis(Making *m, int d) {
  TesContext *ctx = m->op->context;
  TesStatus status = TES_OK;
  TesiStokesLanes *l = m->lanes;
  const TesiStokesPatchAxis *a = &m->axis[d];
  const int n = tesi_stokes_of(m->op)->space->degree + 1, size = tesi_lanes_table_size(n), P = 2 * n - 1,
            mass = P * ((P + 3) / 4 * 4);
  double *tables, *masses = NULL;
  TES_ALLOC(&m->table[d], (int64_t)a->types * size);
  tables = m->table[d];
  TES_ALLOC(&masses, (int64_t)a->types * mass);
  for (int k = 0; k < a->types; k++) {
    TES_TRY(tesi_lanes_sort(ctx, n, &a->local[k], &m->kind[d][k], &m->split[d][k]));
    l->even = l->even && m->split[d][k];
    tesi_lanes_fill_table(tesi_stokes_of(m->op), d, vertex_of(a, k), a->far[k], &m->kind[d][k],
                          tables + (int64_t)k * size);
    tesi_lanes_fill_mass(&m->kind[d][k], masses + (int64_t)k * mass);
  }
  TES_TRY(tesi_upload_numbers(ctx, tables, (int64_t)a->types * size, l->precision, &l->numbers[d]));
  TES_TRY(tesi_upload_numbers(ctx, masses, (int64_t)a->types * mass, l->precision, &l->mass_inverse[d]));
  TES_TRY(tesi_upload(ctx, a->type, (size_t)a->vertices * sizeof *a->type, &l->mass_kind[d]));
  l->arguments.numbers[d] = l->numbers[d];
  l->mass.inverse[d] = l->mass_inverse[d];
  l->mass.kind[d] = l->mass_kind[d];
  l->mass.vertices[d] = a->vertices;
done:
  tesi_free(ctx, &masses);
  return status;
}

/* The tables of the middle of all directions, where they are the same: of cubes. */
static TesStatus keep_inner(Making *m) {
  TesContext *ctx = m->op->context;
  TesStatus status = TES_OK;
  TesiStokesLanes *l = m->lanes;
  const size_t size = (size_t)tesi_lanes_table_size(l->n);
  const double *first = NULL;
  float *narrow;
  TES_ALLOC(&l->inner, size);
  for (int d = 0; d < 3; d++) {
    const int kind = m->axis[d].type[m->axis[d].vertices / 2];
    const double *table = m->table[d] + (size_t)kind * size;
    if (d == 0) first = table;
    const bool like =
        m->axis[d].far[kind] == TESI_STOKES_FAR_NONE && !memcmp(first, table, size * sizeof *table);
    l->inner_kind[d] = like ? kind : -1;
  }
  narrow = (float *)l->inner;
  if (l->precision == TES_DOUBLE) memcpy(l->inner, first, size * sizeof *first);
  for (size_t i = 0; i < size && l->precision == TES_SINGLE; i++) narrow[i] = (float)first[i];
done:
  return status;
}

static int combinations(const Making *m) {
  return m->axis[0].types * m->axis[1].types * m->axis[2].types;
}

static int combination_of(const Making *m, const int kind[3]) {
  return kind[0] + m->axis[0].types * (kind[1] + m->axis[1].types * kind[2]);
}

static void kinds_of(const Making *m, int i, int kind[3]) {
  kind[0] = i % m->axis[0].types;
  kind[1] = i / m->axis[0].types % m->axis[1].types;
  kind[2] = i / m->axis[0].types / m->axis[1].types;
}

static void splits_of(const Making *m, const int kind[3], bool split[3]) {
  for (int d = 0; d < 3; d++) split[d] = m->split[d][kind[d]];
}

/* Whether two directions may be swapped in all parity blocks: S^+ is stored as sums and differences. */
static bool is_swapped(const Making *m, const int kind[3]) {
  bool inner = m->lanes->even;
  for (int d = 0; d < 3; d++) inner = inner && kind[d] == m->lanes->inner_kind[d];
  return inner;
}

static TesStatus make_inverses(Making *m) {
  TesContext *ctx = m->op->context;
  TesStatus status = TES_OK;
  TesiStokesLanes *l = m->lanes;
  TesiLanesKinds kinds;
  double *tiles = NULL;
  int64_t all, *at = NULL;
  for (int d = 0; d < 3; d++) {
    kinds.count[d] = m->axis[d].types;
    kinds.local[d] = m->kind[d], kinds.split[d] = m->split[d], kinds.image[d] = m->axis[d].image;
    kinds.swapped[d] = l->even ? l->inner_kind[d] : -1;
  }
  TES_ALLOC(&m->inverse, combinations(m));
  TES_ALLOC(&at, combinations(m));
  TES_TRY(tesi_lanes_make_inverses(ctx, tesi_stokes_of(m->op), &kinds,
                                   (TesiLanesShape){l->n, l->cut.tile, l->cut.plain}, at, &tiles, &all));
  TES_TRY(tesi_upload_numbers(ctx, tiles, all, l->precision, &l->inverses));
  for (int i = 0; i < combinations(m); i++)
    m->inverse[i] = (const char *)l->inverses + at[i] * (int64_t)tesi_precision_size(l->precision);
done:
  tesi_free(ctx, &at);
  tesi_free(ctx, &tiles);
  return status;
}

static TesStatus make_places(TesContext *ctx, TesiStokesLanes *l) {
  TesStatus status = TES_OK;
  const int count = 8 * tesi_lanes_swapped_rows(l->n);
  int *places = NULL;
  TES_ALLOC(&places, count);
  tesi_lanes_fill_places(l->n, places);
  TES_TRY(tesi_upload(ctx, places, (size_t)count * sizeof *places, &l->places));
  l->arguments.places = l->places;
done:
  tesi_free(ctx, &places);
  return status;
}

/* ---- colours ------------------------------------------------------------------------------------------- */

/* Lists while they grow; NULL arrays: they are only counted. */
typedef struct Lists {
  TeskLanesBlock *block;
  int *lane, *copy;
  int blocks, lanes, copies;
} Lists;

/* Where cell `cell` of a direction begins, in numbers; a cell begins at the sum over the directions. */
static int cell_offset(const TeskLanes *s, int n, int d, int cell) {
  const int values = 4 * n * n * n, row = s->half[0] * values, half = cell / 2;
  const int at = d == 0 ? half / G * values * G + half % G : d == 1 ? half * row : half * row * s->half[1];
  return at + (cell % 2 << d) * s->class_size;
}

/* Cell `at` (-1 .. 2) of the vertex. Those beside walls, which do not exist, have zeros in the tables: any other will
 * do. */
static int cell_beside(const TeskLanes *s, int d, int v, int at) {
  const int cell = v + at, cells = s->cells[d];
  if (cell >= 0 && cell < cells) return cell;
  return s->periodic[d] ? (cell < 0 ? cell + cells : cell - cells) : v;
}

/* The numbers of a lane (TESK_LANES_ROWS), of no other kind than its block. */
static void fill_lane(const TesiStokesLanes *l, const int *v, int lane, int *numbers) {
  const int lanes = l->cut.lanes;
  for (int d = 0; d < 3; d++)
    for (int at = -1; at < 3; at++)
      numbers[(d * 4 + at + 1) * lanes + lane] =
          cell_offset(&l->arguments, l->n, d, cell_beside(&l->arguments, d, v ? v[d] : 0, at));
  numbers[TESK_LANES_EXISTS * lanes + lane] = v != NULL;
  numbers[TESK_LANES_KIND * lanes + lane] = 0;
  numbers[TESK_LANES_FAR * lanes + lane] = TESI_STOKES_FAR_NONE;
}

static void begin_block(const Making *m, const int kind[3], Lists *lists) {
  TeskLanesBlock *b = &lists->block[lists->blocks - 1];
  bool split[3];
  *b = (TeskLanesBlock){
      .inverse = {m->inverse[combination_of(m, kind)]}, .inner = 1, .swapped = is_swapped(m, kind)};
  splits_of(m, kind, split);
  for (int d = 0; d < 3; d++) {
    b->kind[d] = kind[d];
    b->split[d] = split[d];
    b->far[d] = m->axis[d].far[kind[d]];
    b->inner = b->inner && kind[d] == m->lanes->inner_kind[d];
  }
}

/* The number of the tables of x for a lane: 0 for the tables of the block, else tables of another kind, which the block
 * adds to its list. */
static int tables_of(const Making *m, TeskLanesBlock *b, int kind, int lane) {
  int t = 0;
  if (kind == b->kind[0]) return 0;
  while (t < b->others && b->other[t] != kind) t++;
  b->other[t] = kind;
  b->inverse[1 + t] = m->inverse[combination_of(m, (const int[]){kind, b->kind[1], b->kind[2]})];
  b->others = tesi_max(b->others, t + 1);
  b->lane[b->lanes++] = lane;
  b->inner = 0;
  return 1 + t;
}

/* kind: of the block's patches but, in x, of some of its lanes. v NULL: a lane without a patch. */
static void append_lane(const Making *m, Lists *lists, const int kind[3], const int *v) {
  const int lanes = m->lanes->cut.lanes, lane = lists->lanes % lanes; /* combinations begin with a new block */
  if (lane == 0) lists->blocks++;
  if (lists->block) {
    TeskLanesBlock *b = &lists->block[lists->blocks - 1];
    int *numbers = lists->lane + (size_t)(lists->blocks - 1) * (size_t)(TESK_LANES_ROWS * lanes);
    if (lane == 0) begin_block(m, kind, lists);
    fill_lane(m->lanes, v, lane, numbers);
    if (v) {
      const int of = m->axis[0].type[v[0]];
      numbers[TESK_LANES_KIND * lanes + lane] = tables_of(m, b, of, lane);
      numbers[TESK_LANES_FAR * lanes + lane] = m->axis[0].far[of];
    }
  }
  lists->lanes++;
}

/* Vertices of a colour in x; *middle: the kind of the middle one. */
static int count_row(const TesiStokesPatchAxis *a, int colour, int *middle) {
  int count = 0, seen = 0;
  for (int v = 0; v < a->vertices; v++) count += a->colour[v] == colour;
  for (int v = 0; v < a->vertices; v++)
    if (a->colour[v] == colour && seen++ == count / 2) *middle = a->type[v];
  return count;
}

/* A row of patches along x; many of them begin where cells side by side begin in memory, unless rows are short. */
static void append_row(const Making *m, int colour, const int kind[3], const int v[3], Lists *lists) {
  const TesiStokesPatchAxis *a = m->axis;
  const int most = m->lanes->many ? tesi_min(G, m->lanes->cut.lanes) : 1;
  int middle, align = 1;
  const int count = count_row(&a[0], colour, &middle);
  while (align < most && align < count) align *= 2;
  while (m->lanes->mixed && lists->lanes % align) append_lane(m, lists, kind, NULL);
  for (int x = 0; x < a[0].vertices; x++)
    if (a[0].colour[x] == colour && (m->lanes->mixed || a[0].type[x] == kind[0]))
      append_lane(m, lists, kind, (const int[]){x, v[1], v[2]});
}

/* Of one combination of kinds; where rows are mixed, of all kinds in x together with the middle one. */
static void append_patches(const Making *m, const int colour[3], int combination, Lists *lists) {
  const TesiStokesPatchAxis *a = m->axis;
  const int lanes = m->lanes->cut.lanes;
  int kind[3], middle = 0, v[3] = {0, 0, 0};
  kinds_of(m, combination, kind);
  if (count_row(&a[0], colour[0], &middle) == 0 || (m->lanes->mixed && kind[0] != middle)) return;
  for (v[2] = 0; v[2] < a[2].vertices; v[2]++)
    for (v[1] = 0; v[1] < a[1].vertices; v[1]++) {
      bool mine = true;
      for (int d = 1; d < 3; d++) mine = mine && a[d].colour[v[d]] == colour[d] && a[d].type[v[d]] == kind[d];
      if (mine) append_row(m, colour[0], kind, v, lists);
    }
  while (lists->lanes % lanes) append_lane(m, lists, kind, NULL);
}

/* Whether a cell is in an interval of a colour. */
static bool is_covered(const TesiAxis *a, int colour, int cell) {
  const int v = cell % 2 == colour ? cell : cell - 1;
  return a->periodic || (v >= 0 && v < a->cells - 1);
}

static void append_copies(const Making *m, const int colour[3], Lists *lists) {
  const TesSpace *space = tesi_stokes_of(m->op)->space;
  int c[3];
  for (c[2] = 0; c[2] < tesi_modal(space, 2)->cells; c[2]++)
    for (c[1] = 0; c[1] < tesi_modal(space, 1)->cells; c[1]++)
      for (c[0] = 0; c[0] < tesi_modal(space, 0)->cells; c[0]++) {
        bool covered = true;
        for (int d = 0; d < 3; d++) covered = covered && is_covered(tesi_modal(space, d), colour[d], c[d]);
        if (covered) continue;
        if (lists->copy) {
          int *at = &lists->copy[lists->copies];
          *at = 0;
          for (int d = 0; d < 3; d++) *at += cell_offset(&m->lanes->arguments, space->degree + 1, d, c[d]);
        }
        lists->copies++;
      }
}

static int count_splits(const Making *m, int combination) {
  int kind[3];
  kinds_of(m, combination, kind);
  return m->split[0][kind[0]] + m->split[1][kind[1]] + m->split[2][kind[2]];
}

static void list_colours(const Making *m, Lists *lists) {
  const TesiStokesPatchAxis *a = m->axis;
  TesiStokesLanes *l = m->lanes;
  for (int i = 0; i < l->colours; i++) {
    int colour[3];
    Colour *c = &l->colour[i];
    tesi_stokes_patch_box(a, i, colour);
    *c = (Colour){.first_block = lists->blocks, .first_copy = lists->copies};
    for (int d = 0; d < 3; d++) c->odd |= colour[d] << d;
    for (int count = 0; count <= 3; count++) /* those whose S^+ splits least take longest: they begin */
      for (int k = 0; k < combinations(m); k++)
        if (count_splits(m, k) == count) append_patches(m, colour, k, lists);
    append_copies(m, colour, lists);
    c->blocks = lists->blocks - c->first_block;
    c->copies = lists->copies - c->first_copy;
    if (lists->copy) qsort(lists->copy + c->first_copy, (size_t)c->copies, sizeof(int), tesi_ascending_int32);
  }
}

static TesStatus make_lists(Making *m) {
  TesContext *ctx = m->op->context;
  TesStatus status = TES_OK;
  TesiStokesLanes *l = m->lanes;
  Lists count = {0}, lists = {0};
  l->colours = tesi_stokes_patch_boxes(m->axis);
  TES_ALLOC(&l->colour, l->colours);
  list_colours(m, &count);
  TES_ALLOC(&lists.block, count.blocks);
  TES_ALLOC(&lists.lane, (int64_t)count.lanes * TESK_LANES_ROWS);
  TES_ALLOC(&lists.copy, count.copies + 1);
  list_colours(m, &lists);
  TES_TRY(tesi_upload(ctx, lists.block, (size_t)count.blocks * sizeof *lists.block, &l->blocks));
  TES_TRY(tesi_upload(ctx, lists.lane, (size_t)count.lanes * TESK_LANES_ROWS * sizeof(int), &l->lanes));
  TES_TRY(tesi_upload(ctx, lists.copy, (size_t)(count.copies + 1) * sizeof *lists.copy, &l->copies));
done:
  tesi_free(ctx, &lists.block);
  tesi_free(ctx, &lists.lane);
  tesi_free(ctx, &lists.copy);
  return status;
}

/* ---- kernels and memory -------------------------------------------------------------------------------- */

static size_t shared_numbers(int n, const Cut *cut) {
  const int N = 2 * n, rows = N * (N * (N + 1) + 1), plane = N * (N + cut->lines) + 1;
  const size_t held = cut->held ? (size_t)N * N * N * n * n * n / cut->plain * ((cut->plain + 3) / 4 * 4) : 0;
  return (size_t)(cut->lanes * (3 * (N + 3) * plane + (rows + 3) / 4 * 4) + 5 * tesi_lanes_table_size(n)) +
         held;
}

static TesStatus get_kernels(TesContext *ctx, int n, TesiStokesLanes *l) {
  TesStatus status = TES_OK;
  const Cut *c = &l->cut;
  TesiProgram *sweep, *order;
  l->shared = shared_numbers(n, c) * tesi_precision_size(l->precision) +
              TESK_LANES_ROWS * (size_t)c->lanes * sizeof(int) + 2 * sizeof(uint64_t);
  const TesiProgramDesc lanes = {.file = "stokes_lanes.cu",
                                 .real = l->precision,
                                 .macros = {{"N1", n},
                                            {"LANES", c->lanes},
                                            {"THREADS", c->threads},
                                            {"BLOCKS", c->blocks},
                                            {"TILE", c->tile},
                                            {"LINES", c->lines},
                                            {"INNER", c->inner},
                                            {"EVEN", l->even},
                                            {"HELD", c->held},
                                            {"PIECE", c->piece},
                                            {"WIDTH", c->width},
                                            {"PLAIN", c->plain}}},
                        orders = {.file = "stokes_lanes_order.cu", .real = l->precision, .macros = {{"N1", n}}};
  TES_TRY(tesi_program_get(ctx, &lanes, &sweep));
  TES_TRY(tesi_program_get(ctx, &orders, &order));
  TES_TRY(tesi_kernel_get(ctx, sweep, "tesk_stokes_lanes", l->shared, &l->kernel[SWEEP]));
  static const char *const names[KERNELS] = {NULL, "tesk_lanes_in", "tesk_lanes_out", "tesk_lanes_prepare"};
  for (int k = IN; k < KERNELS; k++) TES_TRY(tesi_kernel_get(ctx, order, names[k], 0, &l->kernel[k]));
done:
  return status;
}

static TesStatus make_vectors(TesContext *ctx, const TesiStokes *s, TesiStokesLanes *l) {
  TesStatus status = TES_OK;
  TeskLanes *a = &l->arguments;
  const double count = tesi_lanes_count(s->space, a->half);
  TES_TRY(tesi_rt_parts(ctx, s->space, &a->parts));
  a->alpha = s->alpha;
  a->nu = s->nu;
  a->class_size = (int)(count / 8);
  for (int d = 0; d < 3; d++) {
    a->cells[d] = tesi_modal(s->space, d)->cells;
    a->periodic[d] = tesi_modal(s->space, d)->periodic;
  }
  for (int i = 0; i < 4; i++)
    TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)count * tesi_precision_size(l->precision),
                                               i < 2 ? &l->x[i] : &l->b[i - 2]));
done:
  return status;
}

TesStatus tesi_stokes_lanes_create(const TesOperator *op, TesPrecision precision,
                                   const TesiStokesPatchAxis axis[3], TesiStokesLanes **lanes) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiStokesLanes *l = NULL;
  Making m = {.op = op, .axis = axis};
  *lanes = NULL;
  TES_NEW(&l);
  m.lanes = l;
  l->precision = precision;
  l->n = s->space->degree + 1;
  l->many = are_many(axis);
  l->cut = (l->many ? cuts : few)[precision][l->n - 2];
  l->even = true;
  TES_TRY(make_vectors(ctx, s, l));
  for (int d = 0; d < 3; d++) TES_TRY(make_axis(&m, d));
  l->cut.held = l->cut.held && l->even;
  l->mixed = l->even && (patches_of_a_colour(axis) > SINGLE || getenv("TESSERA_PATCH_MANY"));
  TES_TRY(get_kernels(ctx, s->space->degree + 1, l));
  TES_TRY(keep_inner(&m));
  TES_TRY(make_inverses(&m));
  TES_TRY(make_places(ctx, l));
  TES_TRY(make_lists(&m));
  *lanes = l;
  l = NULL;
done:
  for (int i = 0; i < 3 * KINDS; i++) tesi_stokes_local_free(ctx, &m.kind[i / KINDS][i % KINDS]);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &m.table[d]);
  tesi_free(ctx, &m.inverse);
  tesi_stokes_lanes_destroy(ctx, &l);
  return status;
}

void tesi_stokes_lanes_destroy(TesContext *ctx, TesiStokesLanes **lanes) {
  TesiStokesLanes *l = *lanes;
  const TesiDevice *device = tesi_context_device(ctx);
  if (!l) return;
  for (int d = 0; d < 3; d++) {
    device->release(ctx, &l->numbers[d]);
    device->release(ctx, &l->mass_inverse[d]);
    device->release(ctx, &l->mass_kind[d]);
  }
  void **const all[] = {&l->inverses, &l->places, &l->blocks, &l->lanes, &l->copies,
                        &l->x[0],     &l->x[1],   &l->b[0],   &l->b[1]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  tesi_free(ctx, &l->inner);
  tesi_free(ctx, &l->colour);
  tesi_free(ctx, lanes);
}

void tesi_stokes_lanes_describe(const TesiStokesLanes *lanes, int *count, int *threads) {
  *count = lanes->cut.lanes;
  *threads = lanes->cut.threads;
}

/* ---- a sweep ------------------------------------------------------------------------------------------- */

static TesStatus run_colour(TesContext *ctx, TesiStokesLanes *l, const Colour *c, int from, bool still) {
  TesStatus status = TES_OK;
  TeskLanesVectors vectors = {
      .x = l->x[from], .b = {l->b[0], l->b[1]}, .y = l->x[1 - from], .odd = c->odd, .still = still};
  const size_t first = (size_t)c->first_block;
  TeskLanesLists lists = {.blocks = (const TeskLanesBlock *)l->blocks + first,
                          .lanes = (const int *)l->lanes + first * (size_t)(TESK_LANES_ROWS * l->cut.lanes),
                          .cells = (const int *)l->copies + c->first_copy,
                          .count = c->blocks,
                          .copies = c->copies};
  const int64_t pieces = (int64_t)c->copies * (4 * l->n * l->n * l->n / l->cut.piece);
  void *arguments[] = {&l->arguments, &lists, &vectors, l->inner};
  const TesiGrid grid = {(unsigned)(c->blocks + (pieces + l->cut.threads - 1) / l->cut.threads), 1, 1};
  TES_TRY(tesi_kernel_launch(ctx, &l->kernel[SWEEP], grid, (unsigned)l->cut.threads, l->shared, arguments));
done:
  return status;
}

/* still: b is zero but for the pressures, and the others are not read. */
static TesStatus run(TesContext *ctx, TesiStokesLanes *l, const void *b, bool still, void *x,
                     TesiColours colours, int sweeps, TesiLanesStart start, const TesiBetween *between) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TeskLanes *a = &l->arguments;
  const int64_t count = 8 * (int64_t)a->class_size;
  const unsigned lines = 2 * G * (unsigned)(l->n * l->n); /* of 32 cells and a part: a block */
  int most = 0, pressures = still;
  for (int p = 0; p < 4; p++)
    most = tesi_max(most, (a->parts.extent[p][1] + l->n - 1) / l->n * a->parts.extent[p][2]);
  const unsigned pieces = (unsigned)(a->half[0] / G);
  const TesiGrid rows = {4 * (unsigned)(a->half[1] * a->half[2]), 4 * pieces, 1},
                 prepared = {rows.x, still ? pieces : rows.y, 1};
  void *prepare[] = {&l->arguments, &l->mass, &b, &l->b[0], &l->b[1], &pressures},
       *in[] = {&l->arguments, &x, &l->x[0]};
  TES_TRY(tesi_kernel_launch(ctx, &l->kernel[PREPARE], prepared, lines, 0, prepare));
  if (start == TESI_LANES_FROM_ZERO) TES_TRY(device->fill(ctx, l->precision, count, 0, l->x[0]));
  if (start == TESI_LANES_FROM_X) TES_TRY(tesi_kernel_launch(ctx, &l->kernel[IN], rows, lines, 0, in));
  for (int i = 0; i < sweeps * colours.count; i++) {
    if (between && i > 0) TES_TRY(between->call(between->user, l->x[i % 2]));
    TES_TRY(run_colour(ctx, l, &l->colour[colours.first + i % colours.count * colours.step], i % 2, still));
  }
  void *out[] = {&l->arguments, &l->x[sweeps * colours.count % 2], &x};
  TES_TRY(tesi_kernel_launch(ctx, &l->kernel[OUT], (TesiGrid){(unsigned)most, 4, 1}, THREADS_OUT, 0, out));
done:
  return status;
}

TesStatus tesi_stokes_lanes_apply(TesContext *ctx, TesiStokesLanes *l, const void *b, void *x,
                                  TesiColours colours, int sweeps, TesiLanesStart start) {
  return run(ctx, l, b, false, x, colours, sweeps, start, NULL);
}

TesStatus tesi_stokes_lanes_apply_between(TesContext *ctx, TesiStokesLanes *l, const void *b, void *x,
                                          TesiColours colours, TesiLanesStart start,
                                          const TesiBetween *between) {
  return run(ctx, l, b, false, x, colours, 1, start, between);
}

void tesi_stokes_lanes_layers(const TesiStokesLanes *l, int of_class, int first, int end, int64_t *start,
                              int64_t *count) {
  const TeskLanes *a = &l->arguments;
  const int odd = of_class / 4, from = (first - odd + 1) / 2,
            to = (end - odd + 1) / 2; /* of every second layer */
  const int64_t layer = (int64_t)a->class_size / a->half[2];
  *start = (int64_t)of_class * a->class_size + from * layer;
  *count = (to - from) * layer;
}

TesStatus tesi_stokes_lanes_solve_cells(TesContext *ctx, TesiStokesLanes *l, const void *b, void *x,
                                        TesiLanesStart start) {
  return run(ctx, l, b, true, x, tesi_colour_of_cells(), 1, start, NULL);
}

TesiEntryOrder tesi_stokes_lanes_order(const TesiStokesLanes *l) {
  return (TesiEntryOrder){.kind = TESI_ORDER_PARITY, .numbers = &l->arguments, .values = l->x[0]};
}
