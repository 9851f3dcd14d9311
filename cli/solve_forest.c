/* tessera solve on meshes of trees: the mesh of the case, the problem over it, one solve or the adaptive loop. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "multigrid/coarse/coarse.h"
#include "multigrid/multigrid.h"
#include "solve.h"

/* Functions by the numbers of boundaries and materials. */
typedef struct Numbered {
  TesBoundary *boundary;
  const TesFunction **a, **c, **f;
} Numbered;

static void free_numbered(TesContext *ctx, Numbered *n) {
  tesi_free(ctx, &n->boundary);
  tesi_free(ctx, &n->a);
  tesi_free(ctx, &n->c);
  tesi_free(ctx, &n->f);
}

/* Marks the cells in which the expression is positive at a vertex or the middle. */
static TesStatus mark_where(const TesMesh *forest, const TesFunction *where, int8_t *mark) {
  TesContext *ctx = tes_mesh_context(forest);
  TesStatus status = TES_OK;
  const int dim = tes_mesh_dim(forest), points = (1 << dim) + 1;
  double xi[27] = {0}, x[27], at[3][9] = {{0}}, value[9];
  for (int p = 0; p < points; p++)
    for (int d = 0; d < dim; d++) xi[p * dim + d] = p == points - 1 ? 0.5 : p >> d & 1;
  for (int64_t c = 0; c < tes_mesh_cells(forest); c++) {
    tes_mesh_map(forest, c, points, xi, x);
    for (int p = 0; p < points; p++)
      for (int d = 0; d < dim; d++) at[d][p] = x[p * dim + d];
    TES_TRY(tes_function_evaluate(where, points, at[0], at[1], at[2], 0, value));
    mark[c] = 0;
    for (int p = 0; p < points; p++) mark[c] = mark[c] || value[p] > 0;
  }
done:
  return status;
}

static TesStatus refine_where(Solve *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  int8_t *mark = NULL;
  TesMesh *next = NULL;
  for (int i = 0; s->input->forest.where && i < s->input->forest.times; i++) {
    TES_ALLOC(&mark, tes_mesh_cells(s->forest->mesh));
    TES_TRY(mark_where(s->forest->mesh, s->input->forest.where, mark));
    TES_TRY(tes_mesh_adapt(s->forest->mesh, mark, &next));
    tes_mesh_destroy(&s->forest->mesh);
    s->forest->mesh = next, next = NULL;
    tesi_free(ctx, &mark);
  }
done:
  tesi_free(ctx, &mark);
  tes_mesh_destroy(&next);
  return status;
}

/* As few trees as there can be, each refined: cells of trees are coarsened no further by a multigrid. Periodic directions keep two. */
static void describe_box(const TesCaseBox *box, TesMeshDesc *desc) {
  bool even = true;
  desc->dim = box->dim;
  for (int d = 0; d < box->dim; d++) {
    desc->cells[d] = box->cells[d], desc->lower[d] = box->lower[d], desc->upper[d] = box->upper[d];
    desc->periodic[d] = box->periodic >> d & 1;
  }
  while (even && desc->refine < 18) {
    for (int d = 0; d < box->dim; d++)
      even = even && desc->cells[d] % 2 == 0 && (!desc->periodic[d] || desc->cells[d] >= 4);
    for (int d = 0; even && d < box->dim; d++) desc->cells[d] /= 2;
    desc->refine += even;
  }
}

static TesStatus create_mesh(Solve *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesCaseForest *f = &s->input->forest;
  const TesCaseBox *box = &s->input->box;
  TesMeshDesc desc = {.domain = f->domain,
                      .kind = TES_MESH_FOREST,
                      .dim = f->dim,
                      .refine = f->refine,
                      .geometry_degree = f->geometry_degree,
                      .radius = f->radius,
                      .inner_radius = f->inner_radius,
                      .file = f->file,
                      .rest = s->input->all_given ? "rest" : NULL};
  memcpy(desc.centre, f->centre, sizeof desc.centre);
  if (f->domain == TES_DOMAIN_BOX) describe_box(box, &desc);
  TES_TRY(tes_mesh_create(ctx, &desc, &s->forest->mesh));
  TES_TRY(s->options->restart ? solve_checkpoint_read(s) : refine_where(s));
done:
  return status;
}

/* The condition of a boundary: its own, or that of `all`. */
static void set_boundary(const Solve *s, int number, TesBoundary *boundary) {
  const TesCase *c = s->input;
  const char *name = tes_mesh_boundary_name(s->forest->mesh, number);
  const TesCaseFace *face = c->forest.domain == TES_DOMAIN_BOX ? &c->boundary[number] : &c->boundary_all;
  for (int i = 0; i < c->named_count; i++)
    if (!strcmp(c->named[i].name, name)) face = &c->named[i].face;
  *boundary = (TesBoundary){solve_condition(face->condition), face->value, face->alpha};
}

/* The message of a name that the mesh does not have, with its place in the case before it. */
static TesStatus place(TesContext *context, const char *where, TesStatus found) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  char text[600];
  if (found != TES_INVALID_INPUT) return found;
  snprintf(text, sizeof text, "%s", tes_context_message(ctx));
  tes_context_clear(ctx);
  TES_FAIL(TES_INVALID_INPUT, "%s: %s", where, text);
done:
  return status;
}

static TesStatus number_functions(const Solve *s, Numbered *n) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesCase *c = s->input;
  const TesMesh *mesh = s->forest->mesh;
  const int boundaries = tes_mesh_boundaries(mesh), materials = tes_mesh_materials(mesh);
  int number;
  for (int i = 0; i < c->named_count; i++) {
    TES_TRY(place(ctx, c->named[i].where, tes_mesh_find_boundary(mesh, c->named[i].name, &number)));
    TES_CHECK(tes_mesh_boundary_faces(mesh, number) > 0,
              "%s: boundary.%s: all faces of this name lie between cells, where no condition can hold",
              c->named[i].where, c->named[i].name);
  }
  TES_ALLOC(&n->boundary, boundaries + 1);
  for (int i = 0; i < boundaries; i++) set_boundary(s, i, &n->boundary[i]);
  TES_ALLOC(&n->a, materials + 1);
  TES_ALLOC(&n->c, materials + 1);
  TES_ALLOC(&n->f, materials + 1);
  for (int i = 0; i < c->material_count; i++) {
    const TesCaseMaterial *m = &c->materials[i];
    TES_TRY(place(ctx, m->where, tes_mesh_find_material(mesh, m->name, &number)));
    n->a[number] = m->a, n->c[number] = m->c, n->f[number] = m->f;
  }
done:
  return status;
}

static void print_problem(const Solve *s) {
  static const char *const domains[] = {"box",     "ball", "shell", "L-shape", "Fichera corner",
                                        "channel", "file", "cells"};
  const TesMesh *mesh = s->forest->mesh;
  TesContext *ctx = s->context;
  tesi_log(ctx, TES_LOG_INFO, "case      %s: -div(a grad u) + c u = f", s->input->name);
  tesi_log(ctx, TES_LOG_INFO, "data      a = %s   c = %s", tes_function_text(s->input->a),
           tes_function_text(s->input->c));
  tesi_log(ctx, TES_LOG_INFO, "          f = %s", tes_function_text(s->input->f));
  tesi_log(ctx, TES_LOG_INFO, "mesh      %s in %dD: %lld cells on %lld trees, finest level %d, degree %d",
           domains[s->input->forest.domain], tes_mesh_dim(mesh), (long long)tes_mesh_cells(mesh),
           (long long)tes_mesh_trees(mesh), tes_mesh_max_level(mesh), s->input->degree);
}

/* Levels and choices of a step's solver, for the report. Called before the solve too, whose times are added after it. */
static void keep_solver(Solve *s, const TesForestPoisson *poisson) {
  SolveForest *f = s->forest;
  const TesMultigrid *mg = tes_forest_poisson_multigrid(poisson);
  const TesPoissonChoice choice = tes_forest_poisson_choice(poisson);
  const char *const texts[] = {choice.method, choice.smoother, choice.op, choice.precision};
  f->level_count = tes_multigrid_levels(mg);
  for (int l = 0; l < f->level_count; l++) {
    const TesSpace *space = tes_multigrid_space(mg, f->level_count - 1 - l);
    f->levels[l] = (TesReportLevel){tes_mesh_cells(tes_space_mesh(space)), tes_space_dofs(space)};
  }
  for (int i = 0; i < 4; i++) snprintf(f->text[i], sizeof f->text[i], "%s", texts[i]);
  f->coarse = tesi_coarse_describe(tesi_multigrid_coarse(mg));
  f->setup = tes_forest_poisson_times(poisson);
  f->dofs = tes_space_dofs(tes_forest_poisson_space(poisson));
  f->tolerance = tes_forest_poisson_tolerance(poisson);
}

static void add_times(TesMultigridTimes *sum, TesMultigridTimes t) {
  sum->smooth += t.smooth, sum->residual += t.residual;
  sum->transfer += t.transfer, sum->coarse += t.coarse;
}

/* The residuals of this solve; seconds, iterations and unknowns of all. */
static TesStatus keep_result(Solve *s, const TesForestPoisson *poisson, const TesSolveResult *result) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  tesi_free(ctx, &s->forest->residuals);
  TES_ALLOC(&s->forest->residuals, result->iterations + 1);
  memcpy(s->forest->residuals, result->residuals,
         (size_t)(result->iterations + 1) * sizeof *result->residuals);
  const double seconds = s->result.seconds + result->seconds;
  s->result = *result;
  s->result.seconds = seconds;
  s->result.residuals = s->forest->residuals;
  s->forest->iterations += result->iterations;
  s->forest->all_dofs += s->forest->dofs;
  add_times(&s->forest->cycle, tes_multigrid_times(tes_forest_poisson_multigrid(poisson)));
  s->solved = true;
done:
  return status;
}

static void print_solver(const Solve *s) {
  const SolveForest *f = s->forest;
  static const char *const names[] = {"method", "smoother", "operator", "precision"};
  tesi_log(s->context, TES_LOG_INFO, "levels    %5s  %12s  %12s", "level", "cells", "unknowns");
  for (int l = 0; l < f->level_count; l++)
    tesi_log(s->context, TES_LOG_INFO, "          %5d  %12lld  %12lld%s%s", f->level_count - 1 - l,
             (long long)f->levels[l].cells, (long long)f->levels[l].dofs, l == f->level_count - 1 ? "  " : "",
             l == f->level_count - 1 ? f->coarse : "");
  for (int i = 0; i < 4; i++) tesi_log(s->context, TES_LOG_INFO, "%-9s %s", names[i], f->text[i]);
  tesi_log(s->context, TES_LOG_INFO, "set-up    %.3f s", s->setup_seconds);
}

/* ---- files ----------------------------------------------------------------------------------------------------------- */

/* "name.vtu" -> "name-007.vtu"; the same without folder in *base. */
static TesStatus step_file(TesContext *context, const char *path, int step, char **file) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const size_t length = strlen(path),
               stem = length > 4 && !strcmp(path + length - 4, ".vtu") ? length - 4 : length;
  TES_ALLOC(file, length + 16);
  snprintf(*file, length + 16, "%.*s-%03d.vtu", (int)stem, path, step);
done:
  return status;
}

static TesStatus write_vtu(Solve *s, const TesForestPoisson *poisson, const double *indicator,
                           const char *path) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesSpace *space = tes_forest_poisson_space(poisson);
  TesVector *u = NULL;
  const double start = tesi_now();
  TES_TRY(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &u));
  TES_TRY(tes_vector_set(u, tes_forest_poisson_solution(poisson)));
  const TesVtuField fields[] = {{"u", u, NULL, NULL},
                                {"f", NULL, s->input->f, s->forest->material_f},
                                {"a", NULL, s->input->a, s->forest->material_a},
                                {"error", u, s->input->exact, NULL}};
  const TesVtuArray cells = {.name = "indicator", .values = indicator};
  TES_TRY(tes_vtu_write_forest(space, s->input->exact ? 4 : 3, fields, indicator ? 1 : 0, &cells, path));
  s->vtu_seconds += tesi_now() - start;
done:
  tes_vector_destroy(&u);
  return status;
}

static const char *without_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Adds the file of a step to the collection. */
static TesStatus list_file(Solve *s, int step, const char *file) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  SolveForest *f = s->forest;
  char *base = tesi_strdup(ctx, without_folder(file));
  if (!base) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the name of a file");
  f->files[f->file_count++] = (TesPvdEntry){step, base};
done:
  return status;
}

/* The name of the collection; after a restart it begins with the files of the steps before, as far as they are there. */
static TesStatus begin_collection(Solve *s, const char *path) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  SolveForest *f = s->forest;
  char *file = NULL;
  const size_t length = strlen(path);
  TES_ALLOC(&f->collection, length + 8);
  snprintf(f->collection, length + 8, "%.*s.pvd",
           (int)(length > 4 && !strcmp(path + length - 4, ".vtu") ? length - 4 : length), path);
  for (int i = 0; i < f->first_step && f->file_count < SOLVE_STEPS; i++) {
    tesi_free(ctx, &file);
    TES_TRY(step_file(ctx, path, i, &file));
    if (access(file, R_OK) == 0) TES_TRY(list_file(s, i, file));
  }
done:
  tesi_free(ctx, &file);
  return status;
}

/* A file of this step, and the collection of all so far. */
static TesStatus write_step(Solve *s, const TesAdaptStep *step, const char *path) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  SolveForest *f = s->forest;
  char *file = NULL;
  const int number = f->first_step + step->step;
  if (!f->collection) TES_TRY(begin_collection(s, path));
  if (f->file_count == SOLVE_STEPS) goto done;
  TES_TRY(step_file(ctx, path, number, &file));
  TES_TRY(write_vtu(s, step->poisson, step->indicator, file));
  TES_TRY(list_file(s, number, file));
  TES_TRY(tes_pvd_write(ctx, f->file_count, f->files, f->collection));
  s->vtu = f->collection;
done:
  tesi_free(ctx, &file);
  return status;
}

/* ---- solves ---------------------------------------------------------------------------------------------------------- */

static TesStatus solve_once(Solve *s, TesForestPoissonDesc *desc, const char *vtu) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesForestPoisson *poisson = NULL;
  TesSolveResult result;
  desc->monitor = solve_monitor, desc->monitor_user = s;
  TES_TRY(tes_forest_poisson_create(ctx, desc, &poisson));
  s->setup_seconds = tesi_now() - s->started;
  keep_solver(s, poisson);
  print_solver(s);
  tesi_log(ctx, TES_LOG_INFO, "iteration     residual     factor    seconds  to go");
  s->solve_started = tesi_now();
  const TesStatus outcome = tes_forest_poisson_solve(poisson, &result);
  TES_TRY(keep_result(s, poisson, &result));
  if (s->input->exact && outcome != TES_NAN) {
    const double start = tesi_now();
    TES_TRY(tes_forest_poisson_errors(poisson, &s->error_l2, &s->error_h1));
    s->has_errors = true;
    s->errors_seconds = tesi_now() - start;
  }
  if (vtu) {
    TES_TRY(write_vtu(s, poisson, NULL, vtu));
    s->vtu = vtu;
  }
  if (outcome != TES_NAN) TES_TRY(solve_checkpoint_write(s, poisson, s->forest->first_step));
  status = outcome;
done:
  tes_forest_poisson_destroy(&poisson);
  return status;
}

static TesStatus report_step(void *user, const TesAdaptStep *step) {
  Solve *s = user;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  SolveForest *f = s->forest;
  const char *vtu = s->options->vtu ? s->options->vtu : s->input->vtu;
  const int number = f->first_step + step->step;
  char error[64] = "";
  keep_solver(s, step->poisson);
  s->setup_seconds += step->setup_seconds + step->estimate_seconds;
  TES_TRY(keep_result(s, step->poisson, &step->result));
  if (f->step_count == 0) {
    print_solver(s);
    if (strcmp(tes_context_device(ctx), "cpu") != 0)
      tesi_log(ctx, TES_LOG_INFO, "estimator on the host, from a copy of the solution");
    tesi_log(ctx, TES_LOG_INFO,
             " step        cells     unknowns      hanging  its   estimate      error  effectivity  seconds");
  }
  f->steps[f->step_count++] =
      (TesReportStep){step->cells, step->dofs,        step->hanging, step->iterations, step->estimate,
                      step->error, step->effectivity, step->goal,    step->error_l2,   step->error_h1};
  if (!isnan(step->error)) snprintf(error, sizeof error, "%9.2e  %11.3f", step->error, step->effectivity);
  tesi_log(ctx, TES_LOG_INFO, "%5d %12lld %12lld %12lld  %3d  %9.2e  %-22s  %7.2f", number,
           (long long)step->cells, (long long)step->dofs, (long long)step->hanging, step->iterations,
           step->estimate, error, step->setup_seconds + step->solve_seconds + step->estimate_seconds);
  s->has_errors = s->input->exact != NULL;
  s->error_l2 = step->error_l2, s->error_h1 = step->error_h1;
  if (vtu) TES_TRY(write_step(s, step, vtu));
  TES_TRY(solve_checkpoint_write(s, step->poisson, number));
done:
  return status;
}

static TesStatus adapt(Solve *s, const TesForestPoissonDesc *problem) {
  const TesCaseAdapt *a = &s->input->adapt;
  TesAdaptDesc desc = {
      .poisson = *problem,
      .estimator = a->estimator == TES_CASE_DWR ? TES_ESTIMATE_DWR : TES_ESTIMATE_RESIDUAL,
      .goal = {.kind = a->has_point ? TES_GOAL_POINT : TES_GOAL_MEAN, .boundary = a->boundary},
      .marking = a->marking == TES_CASE_FRACTION ? TES_MARK_FRACTION : TES_MARK_BULK,
      .fraction = a->fraction,
      .steps = tesi_min(a->steps, SOLVE_STEPS),
      .tolerance = a->tolerance,
      .max_dofs = a->max_dofs,
      .report = report_step,
      .report_user = s};
  memcpy(desc.goal.point, a->point, sizeof desc.goal.point);
  if (tes_mesh_dim(problem->mesh) == 2) desc.goal.point[2] = 0;
  s->forest->adaptive = true;
  return tes_adapt_run(s->context, &desc, NULL);
}

TesStatus solve_forest(Solve *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesCase *c = s->input;
  Numbered n = {0};
  TES_NEW(&s->forest);
  TES_TRY(create_mesh(s));
  TES_TRY(number_functions(s, &n));
  s->forest->material_a = n.a, s->forest->material_f = n.f;
  print_problem(s);
  TesForestPoissonDesc desc = {.mesh = s->forest->mesh,
                               .degree = c->degree,
                               .a = c->a,
                               .c = c->c,
                               .f = c->f,
                               .material_a = n.a,
                               .material_c = n.c,
                               .material_f = n.f,
                               .boundary = n.boundary,
                               .exact = c->exact,
                               .guess = s->forest->guess,
                               .coarse = (TesCoarseKind)c->coarse,
                               .degree_first = c->coarsening == TES_CASE_COARSEN_DEGREE,
                               .tolerance = c->tolerance,
                               .max_iterations = c->max_iterations};
  s->forest->tolerance = c->tolerance;
  solve_fill_method(c, &desc.method, &desc.smoother, &desc.precision, &desc.pre, &desc.post);
  if (c->adapt.used)
    TES_TRY(adapt(s, &desc));
  else
    TES_TRY(solve_once(s, &desc, s->options->vtu ? s->options->vtu : c->vtu));
done:
  free_numbered(ctx, &n);
  return status;
}

void solve_forest_free(Solve *s) {
  TesContext *ctx = s->context;
  if (!s->forest) return;
  for (int i = 0; i < s->forest->file_count; i++) {
    char *file = (char *)s->forest->files[i].file;
    tesi_free(ctx, &file);
  }
  tes_mesh_destroy(&s->forest->mesh);
  tesi_free(ctx, &s->forest->collection);
  tesi_free(ctx, &s->forest->residuals);
  tesi_free(ctx, &s->forest->guess);
  tesi_free(ctx, &s->forest);
}
