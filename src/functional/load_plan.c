#include "functional/load_plan.h"
#include "device/copies.h"
#include "device/upload.h"
#include "functional/box_device.h"
#include "functional/cells_device.h"
#include "functional/device_text.h"

/* Cells of a box, or the sides of a face. */
typedef struct Piece {
  TesiKernel kernel;
  TeskBox cells;
  bool corners; /* the cells of a plane of degree 1, for their special kernel */
} Piece;

struct TesiLoadPlan {
  TesContext *context;
  TesiBoxDevice *box;
  Piece piece[7];
  int pieces;
  TesiCellsDevice *cells;
  TesiKernel kernel; /* of the cells of a forest */
  int given;
  TesiExchange *copies; /* of what kernels sum */
  void *number;         /* device: function number of each cell */
  TesVector *surface;   /* fluxes of forests, on all ranks; NULL: none */
  size_t shared;
};

enum { CELLS = TESK_LOAD_X * TESK_LOAD_Y, OF_CORNERS = 4 * CELLS * sizeof(double) /* shared memory */ };

/* ---- boxes --------------------------------------------------------------------------------------------- */

static TesStatus add_piece(TesiLoadPlan *plan, const TesFunction *f, int face, bool *good) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  Piece *piece = &plan->piece[plan->pieces];
  char *text = NULL;
  TES_TRY(tesi_box_text(plan->box, 1, &f, &text));
  *good = text != NULL;
  if (!text) goto done;
  piece->cells = tesi_box_arguments(plan->box, face);
  piece->corners = face < 0 && plan->box->batches->dim == 2 && plan->box->batches->n == 2;
  for (int d = 0; d < 3; d++) piece->cells.step[d] = piece->corners ? 1 : 2;
  TES_TRY(tesi_box_kernel(plan->box, "box_load.cu", piece->corners ? "tesk_load_corners" : "tesk_load", text,
                          piece->corners ? OF_CORNERS : plan->shared, &piece->kernel));
  plan->pieces++;
done:
  tesi_free(ctx, &text);
  return status;
}

/* The volume, then the faces in their order. */
static TesStatus plan_box(const TesiLoad *desc, bool given, TesiLoadPlan *plan, bool *good) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  const TesSpace *space = desc->space;
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &plan->box));
  const TesiBatches *b = plan->box->batches;
  plan->shared = (size_t)(b->q * (b->n + 2) + 2 * b->points) * sizeof(double);
  *good = plan->shared <= TESI_BOX_SHARED;
  if (*good && desc->f) TES_TRY(add_piece(plan, desc->f, -1, good));
  for (int face = 0; face < 2 * space->dim && *good; face++) {
    if (!desc->g || !desc->g[face] || tesi_mesh_cut(space->mesh, face)) continue;
    *good = given || space->axis[face / 2].end[face % 2] != TESI_STRONG; /* the host reports it */
    if (*good) TES_TRY(add_piece(plan, desc->g[face], face, good));
  }
done:
  return status;
}

/* Colour by colour, so that the sums have one order. */
static TesStatus run_piece(const TesiLoadPlan *plan, const Piece *piece, const void *clock, double *b) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  TeskBox box = piece->cells;
  void *list[] = {&b, &box, (void *)&clock};
  if (piece->corners) {
    const TesiGrid grid = {(unsigned)(box.cells[0] + TESK_LOAD_X - 1) / (TESK_LOAD_X - 1),
                           (unsigned)(box.cells[1] + TESK_LOAD_Y - 1) / (TESK_LOAD_Y - 1), 1};
    return tesi_kernel_launch(ctx, &piece->kernel, grid, CELLS, OF_CORNERS, list);
  }
  for (int colour = 0; colour < 8; colour++) {
    int64_t cells = 1;
    for (int d = 0; d < 3; d++) {
      box.parity[d] = colour >> d & 1;
      cells *= (box.cells[d] - box.parity[d] + 1) / 2;
    }
    const TesiGrid grid = {(unsigned)(cells < TESI_BOX_BLOCKS ? cells : TESI_BOX_BLOCKS), 1, 1};
    TES_TRY(tesi_kernel_launch(ctx, &piece->kernel, grid, TESI_BOX_THREADS, plan->shared, list));
  }
done:
  return status;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

/* The different functions of a load, and the function of each cell (-1: none). */
typedef struct Sources {
  const TesFunction **f; /* [materials + 1]; the last: for all other cells */
  int32_t *number;       /* [cells] */
  int count;
} Sources;

static TesStatus find_sources(const TesiBatches *b, const TesiLoad *desc, Sources *s) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TES_ALLOC(&s->f, b->materials + 1);
  TES_ALLOC(&s->number, b->cells);
  s->count = b->materials + 1;
  for (int i = 0; i < b->materials; i++) s->f[i] = desc->material_f ? desc->material_f[i] : NULL;
  s->f[b->materials] = desc->f;
  for (int64_t c = 0; c < b->cells; c++) {
    const int material = tes_mesh_material(b->space->mesh, c);
    s->number[c] = material >= 0 && s->f[material] ? material : desc->f ? b->materials : -1;
  }
done:
  return status;
}

static TesStatus plan_volume(const TesiLoad *desc, TesiLoadPlan *plan, bool *good) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  Sources sources = {0};
  char *text = NULL;
  const TesiBatches *b = plan->cells->batches;
  TES_TRY(find_sources(b, desc, &sources));
  TES_TRY(tesi_device_values_text(ctx, sources.count, sources.f, &text));
  *good = text != NULL;
  if (!text) goto done;
  TES_TRY(tesi_cells_kernel(plan->cells, "cells_load.cu", "tesk_load_cells", text, 2 * b->points,
                            &plan->shared, &plan->kernel));
  *good = plan->shared > 0;
  TES_TRY(tesi_upload(ctx, sources.number, (size_t)b->cells * sizeof *sources.number, &plan->number));
done:
  tesi_free(ctx, &text);
  tesi_free(ctx, &sources.f);
  tesi_free(ctx, &sources.number);
  return status;
}

/* The host integrates over boundaries, since surfaces are small. */
static TesStatus plan_surface(const TesiLoad *desc, bool given, TesiLoadPlan *plan, bool *good) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  const TesiLoad flux = {.space = desc->space, .g = desc->g};
  bool any = false;
  for (int i = 0; desc->g && i < plan->cells->batches->boundaries; i++) {
    any = any || desc->g[i];
    *good = *good && !tesi_function_timed(desc->g[i]);
  }
  if (!any || !*good) return TES_OK;
  TES_TRY(tes_vector_create(ctx, desc->space->length, TES_DOUBLE, &plan->surface));
  TES_TRY(tesi_load_on_host(&flux, given, plan->surface));
done:
  return status;
}

static TesStatus plan_cells(const TesiLoad *desc, bool given, TesiLoadPlan *plan, bool *good) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_cells_device_create(desc->space, desc->space->degree + 3, &plan->cells));
  *good = plan->cells != NULL;
  if (*good && (desc->f || desc->material_f)) TES_TRY(plan_volume(desc, plan, good));
  if (*good) TES_TRY(plan_surface(desc, given, plan, good));
done:
  return status;
}

static TesStatus run_cells(const TesiLoadPlan *plan, const void *clock, TesVector *b) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  const TesiCellsDevice *c = plan->cells;
  long long cells = c->batches->cells;
  int given = plan->given;
  void *list[] = {&b->data,
                  (void *)&c->nodes,
                  (void *)&c->index,
                  (void *)&c->mask,
                  (void *)&plan->number,
                  (void *)&c->tables,
                  &cells,
                  &given,
                  (void *)&clock};
  if (plan->number)
    TES_TRY(tesi_kernel_launch(ctx, &plan->kernel, tesi_cells_grid(c), TESI_CELLS_THREADS, plan->shared, list));
done:
  return status;
}

/* ---- both ---------------------------------------------------------------------------------------------- */

TesStatus tesi_load_plan_create(const TesiLoad *desc, bool given, TesiLoadPlan **plan) {
  TesContext *ctx = desc->space->context;
  TesStatus status = TES_OK;
  TesiLoadPlan *p = NULL;
  bool good = false;
  *plan = NULL;
  TES_NEW(&p);
  p->context = ctx;
  p->given = given;
  p->copies = given ? desc->space->layout->shared : desc->space->layout->sum;
  TES_TRY((tesi_space_box(desc->space) ? plan_box : plan_cells)(desc, given, p, &good));
  if (!good) goto done;
  *plan = p;
  p = NULL;
done:
  tesi_load_plan_destroy(&p);
  return status;
}

void tesi_load_plan_destroy(TesiLoadPlan **plan) {
  TesiLoadPlan *p = *plan;
  if (!p) return;
  TesContext *ctx = p->context;
  tesi_box_device_destroy(&p->box);
  if (p->cells) tesi_cells_device_destroy(&p->cells);
  if (p->number) tesi_context_device(ctx)->release(ctx, &p->number);
  tes_vector_destroy(&p->surface);
  tesi_free(ctx, plan);
}

TesStatus tesi_load_plan_run(const TesiLoadPlan *plan, const void *clock, TesVector *b) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_vector_fill(b, 0));
  for (int i = 0; i < plan->pieces; i++) TES_TRY(run_piece(plan, &plan->piece[i], clock, b->data));
  if (plan->cells) TES_TRY(run_cells(plan, clock, b));
  TES_TRY(tesi_sum_copies(ctx, plan->copies, TES_DOUBLE, b->data));
  if (plan->surface) TES_TRY(tes_vector_axpy(1, plan->surface, b));
done:
  return status;
}
