/* Compiles kernels by NVRTC, without a GPU, and tabulates the assembler's figures for them.
 * bench_registers [--targets sm_80,sm_90,sm_100] [--degrees 2,4,7] [--all] [--csv FILE]
 * Operators (separable and quadrature form, mapped cells with and without hanging nodes, Stokes, dg, transport over
 * it, elasticity, flows), vectors of Krylov methods, patch smoothers, cell patches and transfers, in 2D and 3D, float64
 * and float32; --all: every specialised degree and one more. One line per kernel: target, kernel, options, registers,
 * stack, spill stores and loads in bytes. The exit status is 1 if a kernel spills although it promises not to (see
 * promises()), and 3 without NVRTC. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device/kernel.h"
#include "functional/rt/rt_load_device.h"
#include "multigrid/coarse/coarse.h"
#include "operator/taylor_hood/taylor_hood.h"
#include "operator/rt_convection/rt_convection.h"
#include "smoother/cell_patch/cell_patch.h"
#include "tessera/tessera.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *csv;
static int lines, faults;

/* The kernels that promise no spills: float32 kernels up to degree 4, whose values fit into the registers of every
 * target. Two are excepted: quadrature_tiles.cu, which spills 4 bytes to make room for a second block, and RT_4 in
 * stokes_lanes.cu, which spills 8 for small levels. */
static bool promises(const char *options) {
  int degree = 1;
  const char *at = strstr(options, "DEGREE="), *modes = strstr(options, " N=");
  if (at) degree = atoi(at + 7);
  if (modes) degree = atoi(modes + 3) - 1;
  return strstr(options, " real=float") && degree <= 4 && !strstr(options, "tesk_quadrature_tiles") &&
         !(strstr(options, "tesk_stokes_lanes") && strstr(options, "N1=5"));
}

/* "tesk_dot sm_90 real=double ...: 26 registers, stack 0, spills 0 + 0" */
static void on_line(void *user, TesLogLevel level, const char *line) {
  char kernel[96], target[32];
  int registers, stack, stores, loads, at = 0;
  const char *colon = strrchr(line, ':');
  (void)user, (void)level;
  if (!colon || sscanf(line, "%95s %31s%n", kernel, target, &at) != 2 ||
      sscanf(colon, ": %d registers, stack %d, spills %d + %d", &registers, &stack, &stores, &loads) != 4)
    return;
  const bool spills = stores + loads > 0, bad = spills && promises(line);
  pthread_mutex_lock(&lock);
  lines++;
  faults += bad;
  if (spills)
    printf("%s %s%.*s: %d registers, spills %d + %d%s\n", target, kernel, (int)(colon - line) - at, line + at,
           registers, stores, loads, bad ? "  PROMISED NONE" : "");
  if (csv)
    fprintf(csv, "%s,%s,%.*s,%d,%d,%d,%d\n", target, kernel, (int)(colon - line) - at, line + at, registers,
            stack, stores, loads);
  pthread_mutex_unlock(&lock);
}

typedef struct Job {
  char target[24];
  int dim, degree;
  TesPrecision precision;
} Job;

static TesStatus compile_forms(TesContext *ctx, const Job *job) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL, *coarse = NULL, *natural = NULL;
  TesFunction *a = NULL;
  TesOperator *op = NULL, *varying = NULL, *free_op = NULL;
  TesSmoother *smoother[3] = {NULL};
  TesTransfer *transfer = NULL;
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = job->dim, .cells = {4, 4, 4}}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = job->degree}, &space));
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = mesh, .degree = job->degree, .given = (const uint8_t[]){0, 1, 1, 1, 1, 1}},
      &natural));
  TES_TRY(tes_space_coarsen(space, &coarse));
  TES_TRY(tes_function_create_expression(ctx, "1 + x", &a));
  TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .precision = job->precision}, &op));
  TES_TRY(
      tes_operator_create(ctx, &(TesOperatorDesc){.space = natural, .precision = job->precision}, &free_op));
  TES_TRY(tes_operator_create(ctx,
                              &(TesOperatorDesc){.space = space,
                                                 .form = {.terms = 1, .term = &(TesTermDesc){.a = {.all = a}}},
                                                 .precision = job->precision},
                              &varying));
  TES_TRY(tes_smoother_create(ctx, &(TesSmootherDesc){.op = op, .kind = TES_SMOOTHER_PATCH}, &smoother[0]));
  TES_TRY(
      tes_smoother_create(ctx, &(TesSmootherDesc){.op = free_op, .kind = TES_SMOOTHER_PATCH}, &smoother[1]));
  TES_TRY(tes_transfer_create(
      ctx, &(TesTransferDesc){.coarse = coarse, .fine = space, .precision = job->precision}, &transfer));
done:
  for (int i = 0; i < 3; i++) tes_smoother_destroy(&smoother[i]);
  tes_transfer_destroy(&transfer);
  tes_operator_destroy(&op);
  tes_operator_destroy(&free_op);
  tes_operator_destroy(&varying);
  tes_function_destroy(&a);
  tes_space_destroy(&coarse);
  tes_space_destroy(&natural);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

/* Mapped cells with stored factors: without hanging nodes, and with a mask that no forest would have; and their cell
 * patches. */
static TesStatus compile_mapped(TesContext *ctx, const Job *job) {
  TesStatus status = TES_OK;
  uint16_t masks[64] = {TES_MASK_FACE_X};
  TesMesh *mesh = NULL;
  TesOperator *op = NULL, *hanging = NULL;
  TesiCellPatches *patches = NULL;
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_CELLS, .dim = job->dim, .cells = {4, 4, 4}},
                          &mesh));
  TesiMappedDesc desc = {.mesh = mesh,
                         .degree = job->degree,
                         .points = job->degree + 1,
                         .precision = job->precision,
                         .factors = TES_FACTORS_STORED};
  TES_TRY(tesi_mapped_create(ctx, &desc, &op));
  desc.index = tesi_mapped_index(op, &desc.nodes);
  desc.masks = masks;
  if (job->degree <= 8) TES_TRY(tesi_mapped_create(ctx, &desc, &hanging));
  if (job->degree <= 8) TES_TRY(tesi_cell_patches_create(hanging, &patches));
done:
  tesi_cell_patches_destroy(&patches);
  tes_operator_destroy(&op);
  tes_operator_destroy(&hanging);
  tes_mesh_destroy(&mesh);
  return status;
}

/* Stokes, the coarsest level: four cells per direction. */
static TesStatus compile_coarsest(TesContext *ctx, const Job *job) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  TesiCoarse *coarse = NULL;
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_DIVERGENCE}};
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = job->dim, .cells = {4, 4, 4}}, &mesh));
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = mesh, .degree = job->degree, .element = TES_ELEMENT_RT}, &space));
  TES_TRY(
      tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 2, .term = term}}, &op));
  TES_TRY(tesi_coarse_create(op, job->precision, TES_COARSE_AUTO, &coarse));
done:
  tesi_coarse_destroy(&coarse);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

/* One vertex patch; the kernels for many patches are compiled for one too. */
static TesStatus compile_stokes(TesContext *ctx, const Job *job) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  TesSmoother *smoother = NULL;
  TesiRtConvection *convection = NULL;
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_DIVERGENCE}};
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = job->dim, .cells = {2, 2, 2}}, &mesh));
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = mesh, .degree = job->degree, .element = TES_ELEMENT_RT}, &space));
  TES_TRY(tes_operator_create(
      ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 2, .term = term}, .precision = job->precision},
      &op));
  TES_TRY(tes_smoother_create(ctx, &(TesSmootherDesc){.op = op, .kind = TES_SMOOTHER_PATCH}, &smoother));
  if (job->precision == TES_DOUBLE) {
    bool ready;
    TES_TRY(tesi_rt_convection_create(space, &convection));
    for (int y = 0; y < 2; y++) TES_TRY(op->table->ready_single(op, (TesPrecision)y, &ready));
  }
  TES_TRY(compile_coarsest(ctx, job));
done:
  tesi_rt_convection_destroy(&convection);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

/* Vectors of conjugate gradients and GMRES: precisions of the cycle, the basis and products. */
static TesStatus compile_krylov(TesContext *ctx) {
  static const char *const types[][2] = {{"basis_real=float", "product_real=float"},
                                         {"basis_real=float", "product_real=double"},
                                         {"basis_real=double", "product_real=double"},
                                         {"basis_real=double", "product_real=double"}};
  TesStatus status = TES_OK;
  TesiProgram *program;
  for (int i = 0; i < 4; i++) {
    const TesiProgramDesc desc = {
        .file = "krylov.cu", .real = i < 3 ? TES_SINGLE : TES_DOUBLE, .types = {types[i][0], types[i][1]}};
    TES_TRY(tesi_program_get(ctx, &desc, &program));
  }
done:
  return status;
}

/* Discontinuous Q_k: operator and patches. */
static TesStatus compile_modal(TesContext *ctx, const Job *job) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  TesSmoother *smoother = NULL;
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}};
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = job->dim, .cells = {2, 2, 2}}, &mesh));
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = mesh, .degree = job->degree, .element = TES_ELEMENT_DG}, &space));
  TES_TRY(tes_operator_create(
      ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 1, .term = term}, .precision = job->precision},
      &op));
  TES_TRY(tes_smoother_create(ctx, &(TesSmootherDesc){.op = op, .kind = TES_SMOOTHER_PATCH}, &smoother));
done:
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

/* Transport over discontinuous Q_k: varying and constant velocities, in both forms; cells in the order of the varying
 * velocity; loads. */
static TesStatus compile_upwind(TesContext *ctx, const Job *job) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesFunction *b[2] = {NULL};
  TesOperator *op = NULL;
  TesSmoother *smoother = NULL;
  TesiModalLoad *load = NULL;
  const TesiGiven given[6] = {{.how = {TESI_WEAK}}};
  TES_TRY(tes_function_create_expression(ctx, "1 + x", &b[0]));
  TES_TRY(tes_function_create_constant(ctx, 1, &b[1]));
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = job->dim, .cells = {2, 2, 2}}, &mesh));
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = mesh, .degree = job->degree, .element = TES_ELEMENT_DG}, &space));
  for (int way = 0; way < 4; way++) {
    const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION},
                                {.term = TES_TERM_TRANSPORT, .b = {b[way / 2], b[1]}, .conservative = way % 2}};
    const TesOperatorDesc desc = {
        .space = space, .form = {.terms = 2, .term = term}, .precision = job->precision};
    TES_TRY(tes_operator_create(ctx, &desc, &op));
    if (way == 0) TES_TRY(tes_smoother_create(ctx, &(TesSmootherDesc){.op = op}, &smoother));
    tes_smoother_destroy(&smoother);
    tes_operator_destroy(&op);
  }
  if (job->precision == TES_DOUBLE)
    TES_TRY(tesi_modal_load_create(space, b[0], 1, given, TES_PENALTY_AUTO, job->degree + 2, &load));
done:
  tesi_modal_load_destroy(&load);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  for (int i = 0; i < 2; i++) tes_function_destroy(&b[i]);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

/* Elasticity: coefficients at points and once per cell, with and without a mass and hanging nodes. */
static TesStatus compile_elastic(TesContext *ctx, const Job *job) {
  TesStatus status = TES_OK;
  TesMesh *mesh[2] = {NULL};
  TesSpace *space[2] = {NULL};
  TesFunction *mu = NULL, *corner = NULL;
  TesOperator *op[2] = {NULL};
  TES_TRY(tes_function_create_expression(ctx, "1 + x", &mu));
  TES_TRY(tes_function_create_expression(ctx, "0.1 - x", &corner));
  const TesTermDesc varying[] = {{.term = TES_TERM_STRAIN, .a = {.all = mu}}, {.term = TES_TERM_GRAD_DIV}},
                    constant[] = {
                        {.term = TES_TERM_STRAIN}, {.term = TES_TERM_GRAD_DIV}, {.term = TES_TERM_MASS}};
  for (int i = 0; i < 2; i++) {
    const TesMeshDesc desc = {.kind = i ? TES_MESH_BOX : TES_MESH_FOREST,
                              .dim = job->dim,
                              .cells = {2, 2, 2},
                              .refine_where = i ? NULL : corner};
    const TesStatus made = tes_mesh_create(ctx, &desc, &mesh[i]);
    if (made == TES_MISSING) continue; /* a build without trees */
    TES_TRY(made);
    TES_TRY(tes_space_create(
        ctx, &(TesSpaceDesc){.mesh = mesh[i], .degree = job->degree, .components = job->dim}, &space[i]));
    TES_TRY(tes_operator_create(ctx,
                                &(TesOperatorDesc){.space = space[i],
                                                   .form = {i ? 3 : 2, i ? constant : varying, 0},
                                                   .precision = job->precision},
                                &op[i]));
  }
done:
  for (int i = 0; i < 2; i++) {
    tes_operator_destroy(&op[i]);
    tes_space_destroy(&space[i]);
    tes_mesh_destroy(&mesh[i]);
  }
  tes_function_destroy(&mu);
  tes_function_destroy(&corner);
  return status;
}

/* Flows with Q_k/Q_(k-1): a forest with hanging nodes, C diagonal or at points; float64. */
static TesStatus compile_flow(TesContext *ctx, const Job *job) {
  static const uint8_t none[8];
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space[2] = {NULL};
  TesFunction *corner = NULL;
  TesiTaylorHood *mixed = NULL;
  TES_TRY(tes_function_create_expression(ctx, "0.1 - x - y - z", &corner));
  const TesMeshDesc desc[] = {
      {.dim = job->dim, .cells = {2, 2, 2}, .refine_where = corner, .kind = TES_MESH_FOREST},
      {.dim = job->dim, .domain = TES_DOMAIN_BALL, .refine_where = corner, .kind = TES_MESH_FOREST}};
  for (int i = 0; i < 2; i++) {
    TES_TRY(tes_mesh_create(ctx, &desc[i], &mesh));
    for (int j = 0; j < 2; j++)
      TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = job->degree - j, .given = none},
                               &space[j]));
    TES_TRY(tesi_taylor_hood_create(space[0], space[1], &mixed));
    tesi_taylor_hood_destroy(&mixed);
    tes_space_destroy(&space[0]), tes_space_destroy(&space[1]);
    tes_mesh_destroy(&mesh);
  }
done:
  tesi_taylor_hood_destroy(&mixed);
  tes_space_destroy(&space[0]), tes_space_destroy(&space[1]);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&corner);
  return status;
}

static Job jobs[512];
static int job_count, next_job;

static void *work(void *unused) {
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&lock);
    const Job *job = next_job < job_count ? &jobs[next_job++] : NULL;
    pthread_mutex_unlock(&lock);
    if (!job) return NULL;
    TesContext *ctx;
    char device[32], message[2048];
    snprintf(device, sizeof device, "nvrtc:%s", job->target);
    TesStatus status = tes_context_create(&(TesContextDesc){.device = device, .threads = 1, .log = on_line},
                                          &ctx, message, sizeof message);
    if (status != TES_OK) {
      fprintf(stderr, "%s\n", message);
      exit(tes_status_exit(status));
    }
    status = job == jobs ? compile_krylov(ctx) : TES_OK;
    if (status == TES_OK) status = compile_forms(ctx, job);
    if (status == TES_OK) status = compile_mapped(ctx, job);
    if (status == TES_OK && job->degree <= (job->dim == 3 ? 4 : 8)) status = compile_stokes(ctx, job);
    if (status == TES_OK) status = compile_modal(ctx, job);
    if (status == TES_OK && job->degree <= 8) status = compile_upwind(ctx, job);
    if (status == TES_OK && job->degree <= 8) status = compile_elastic(ctx, job);
    if (status == TES_OK && job->precision == TES_DOUBLE && job->degree >= 2 && job->degree <= 8)
      status = compile_flow(ctx, job);
    if (status != TES_OK) {
      fprintf(stderr, "%s %dD degree %d: %s\n%s", job->target, job->dim, job->degree,
              tes_context_message(ctx), tes_context_trace(ctx));
      exit(1);
    }
    tes_context_destroy(&ctx);
  }
}

static bool contains(const char *list, int number) {
  char text[16];
  const size_t length = (size_t)snprintf(text, sizeof text, "%d", number);
  for (const char *at = list; (at = strstr(at, text)); at++)
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
  return false;
}

static void add_jobs(const char *target, const char *degrees, bool all) {
  for (int dim = 3; dim >= 2; dim--)
    for (int degree = 1; degree <= (dim == 3 ? 9 : 11); degree++)
      for (int precision = 0; precision < 2 && (all || contains(degrees, degree)); precision++) {
        Job *job = &jobs[job_count++];
        *job = (Job){.dim = dim, .degree = degree, .precision = (TesPrecision)precision};
        snprintf(job->target, sizeof job->target, "%s", target);
      }
}

int main(int argc, char **argv) {
  char targets[128] = "sm_80,sm_90,sm_100";
  const char *degrees = "2,4,7";
  bool all = false;
  pthread_t thread[64];
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--all"))
      all = true;
    else if (i + 1 < argc && !strcmp(argv[i], "--targets"))
      snprintf(targets, sizeof targets, "%s", argv[++i]);
    else if (i + 1 < argc && !strcmp(argv[i], "--degrees"))
      degrees = argv[++i];
    else if (i + 1 < argc && !strcmp(argv[i], "--csv"))
      csv = fopen(argv[++i], "w");
    else
      return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  setenv("TESSERA_CACHE_DIR", "none", 1); /* the table is the assembler's present output */
  for (char *target = strtok(targets, ","); target; target = strtok(NULL, ","))
    add_jobs(target, degrees, all);
  if (csv) fprintf(csv, "target,kernel,options,registers,stack,spill_stores,spill_loads\n");
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count > 64) count = 64;
  const double start = tesi_now();
  for (long i = 0; i < count; i++)
    if (pthread_create(&thread[i], NULL, work, NULL)) return 1;
  for (long i = 0; i < count; i++) pthread_join(thread[i], NULL);
  printf("%d kernels compiled in %.1f s; %d spill that promised not to\n", lines, tesi_now() - start, faults);
  if (csv) fclose(csv);
  return faults > 0;
}
