/* Bank conflicts in the kernels of patch_ladder.cu, from the notes of the emulator's threads. */
#include <stdlib.h>
#include <string.h>
#include "device/kernel.h"
#include "kernels/patch_ladder.h"

enum { LANES = 32, BANKS = 32, BANK_BYTES = 4 };

/* The largest number of places that one bank has to serve for lanes[first..end). A place that several lanes access is
 * served once. */
static long long wavefronts_of(const long long *places, int first, int end, int banks) {
  long long most = 0;
  for (int i = first; i < end; i++) {
    long long met = 0;
    for (int j = first; j < end; j++) {
      bool new = places[j] % banks == places[i] % banks;
      for (int l = first; l < j && new; l++) new = places[l] != places[j];
      met += new;
    }
    most = met > most ? met : most;
  }
  return most;
}

/* Idle lanes have places below 0 and do not count. */
BenchConflicts bench_wavefronts(int lanes, const long long *places, size_t size) {
  const int words = (int)size / BANK_BYTES, part = LANES / words;
  BenchConflicts c = {0};
  for (int first = 0; first < lanes; first += part) {
    long long busy[LANES];
    int count = 0;
    for (int i = first; i < lanes && i < first + part; i++)
      if (places[i] >= 0) busy[count++] = places[i];
    const long long here = wavefronts_of(busy, 0, count, BANKS / words);
    c.accesses += count;
    c.wavefronts += here;
    c.excess += here > 0 ? here - 1 : 0;
  }
  return c;
}

/* ---- of one block ---- */
typedef struct Note {
  long long key, place;
  int warp, lane;
} Note;

static int by_instruction(const void *a, const void *b) {
  const Note *p = a, *q = b;
  if (p->warp != q->warp) return p->warp < q->warp ? -1 : 1;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->lane > q->lane) - (p->lane < q->lane);
}

static void add_up(Note *note, int64_t notes, size_t size, BenchConflicts *all) {
  qsort(note, (size_t)notes, sizeof *note, by_instruction);
  for (int64_t i = 0, end; i < notes; i = end) {
    long long places[LANES];
    for (int l = 0; l < LANES; l++) places[l] = -1;
    for (end = i; end < notes && note[end].warp == note[i].warp && note[end].key == note[i].key; end++)
      places[note[end].lane] = note[end].place;
    const BenchConflicts c = bench_wavefronts(LANES, places, size);
    all->accesses += c.accesses;
    all->wavefronts += c.wavefronts;
    all->excess += c.excess;
  }
}

TesStatus bench_conflicts_read(TesContext *ctx, const void *device_log, int threads, int notes, size_t size,
                               BenchConflicts *all) {
  TesStatus status = TES_OK;
  Note *note = NULL;
  long long *log = NULL;
  int64_t count = 0;
  TES_ALLOC(&log, (int64_t)threads * notes);
  TES_TRY(
      tesi_context_device(ctx)->to_host(ctx, log, device_log, (size_t)threads * (size_t)notes * sizeof *log));
  for (int t = 0; t < threads; t++) count += log[(int64_t)t * notes] / 2;
  TES_ALLOC(&note, count);
  count = 0;
  for (int t = 0; t < threads; t++) {
    const long long *mine = log + (int64_t)t * notes;
    if (mine[0] + 4 > notes) TES_FAIL(TES_INTERNAL, "a thread notes more than %d values", notes);
    for (long long i = 0; i < mine[0]; i += 2)
      note[count++] = (Note){mine[2 + i], mine[3 + i], t / LANES, t % LANES};
  }
  add_up(note, count, size, all);
done:
  tesi_free(ctx, &note);
  tesi_free(ctx, &log);
  return status;
}

/* An upper bound for the values that a thread notes: two or three for each of its multiply-adds. */
static int room_for_notes(int dim, int degree, int threads_a_patch) {
  const double n = 2 * degree + 1, a_patch = dim == 3 ? 13 * n * n * n * n : 8 * n * n * n;
  return (int)(2 * (3 * a_patch / threads_a_patch + 40 * n * n)) + 1024;
}

static TesStatus note_block(TesContext *ctx, const TesOperator *op, const BenchLadderVariant *variant,
                            BenchLadderPart part, BenchConflicts *conflicts) {
  TesStatus status = TES_OK;
  TesSmoother *plain = NULL, *noting = NULL;
  TesVector *b = NULL, *x = NULL;
  BenchLadderBlock block;
  void *device_log = NULL;
  TES_TRY(bench_ladder_create(ctx, op, variant, &plain));
  TES_TRY(bench_ladder_block(plain, part, &block));
  const int notes = room_for_notes(op->space->dim, op->space->degree, block.threads / block.patches);
  const size_t bytes = (size_t)block.threads * (size_t)notes * sizeof(long long);
  TES_TRY(bench_ladder_create_noting(ctx, op, variant, notes, &noting));
  TES_TRY(tes_vector_create(ctx, op->space->length, op->precision, &b));
  TES_TRY(tes_vector_create(ctx, op->space->length, op->precision, &x));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, bytes, &device_log));
  TES_TRY(bench_ladder_note(noting, part, tes_vector_data(b), tes_vector_data(x), device_log));
  TES_TRY(bench_conflicts_read(ctx, device_log, block.threads, notes, tesi_precision_size(op->precision),
                               conflicts));
done:
  if (device_log) tesi_context_device(ctx)->release(ctx, &device_log);
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_smoother_destroy(&noting);
  tes_smoother_destroy(&plain);
  return status;
}

/* A mesh whose first block is full. */
TesStatus bench_ladder_conflicts(const BenchLadderVariant *variant, int dim, int degree,
                                 TesPrecision precision, BenchLadderPart part, BenchConflicts *conflicts) {
  enum { ROW = 160 };
  TesContext *ctx;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  *conflicts = (BenchConflicts){0};
  TesStatus status = tes_context_create(&(TesContextDesc){.device = "emulator", .threads = 1}, &ctx, NULL, 0);
  if (status != TES_OK) return status;
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = dim, .cells = {ROW, 2, 2}}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, &space));
  TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .precision = precision}, &op));
  TES_TRY(note_block(ctx, op, variant, part, conflicts));
done:
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return status;
}

/* Each multiply-add reads a value and an entry of a matrix, or a line is read once for all its results. Results are
 * written; they are also read if something is added to them. */
double bench_ladder_accesses(const BenchLadderVariant *v, int dim, int degree) {
  const double m = 2 * degree - 1, n = 2 * degree + 1, inner = dim == 3 ? m * m * m : m * m;
  if (v->shortcut || v->data || v->form == 5) return 0;
  const double modes = v->dense   ? 0
                       : dim == 3 ? 6
                                  : 4,
               read = dim == 3 ? 2 * n * n * n + 3 * m * n * n + 2 * m * m * n : 2 * n * n + 2 * m * n,
               written = dim == 3 ? 2 * m * n * n + 3 * m * m * n + 2 * inner : 2 * m * n + 2 * inner,
               old = dim == 3 ? m * m * n + inner : inner, lines = read + modes * inner,
               results = written + modes * inner + old;
  if (v->form >= 3) return lines + results;
  return 2 * m * lines + results;
}
