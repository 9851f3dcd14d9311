/* tessera check: everything of a case except its solution: the mesh, its boundaries with their sizes, materials,
 * unknowns, the memory of a solve. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scaling.h"
#include "solve.h"

static const char help[] =
    "usage: tessera check CASE.yaml [OPTION]...\n\n"
    "Reads a case file ('-': standard input) and makes its mesh; tells cells, boundaries, materials, "
    "unknowns and the memory of a solve, and solves nothing.\n\n"
    "  --set key.path=value   replaces or adds a value of the case; repeatable\n"
    "  --vtu FILE             writes the mesh for ParaView: level, material and boundary of cells\n"
    "  --ranks N              as N processes with a part of the mesh each would: what they refuse is "
    "refused\n"
    "  --ranks N,M,...        predicts memory and time with so many ranks each, and the best number\n"
    "  --device NAME          as a solve on this device would: what it refuses is refused; cpu: the default\n"
    "  --ranks N,M --device cuda  predicts for GPUs, which need not be there\n"
    "  --help                 this text\n";

enum { SET = CLI_OWN_OPTIONS, VTU, HELP };

/* The largest number of unknowns for which a problem is made, to see whether a solve would refuse it. */
static const double MOST_UNKNOWNS = 1e6;

typedef struct Check {
  Solve *solve; /* its first part, as in `tessera solve` */
  const char *vtu;
  TesContext *context; /* of solve, */
  TesCase *input;
  const TesMesh *mesh;
  TesSpace *space; /* what measures areas */
  int predicted;   /* numbers of ranks */
  double ranks[CLI_SCALINGS];
  bool gpus;
} Check;

/* For a box in one step, as it may be large. */
static double extent_without(const TesMeshInfo *box, int axis) {
  double size = 1;
  for (int d = 0; d < box->dim; d++)
    if (d != axis) size *= box->coordinates[d][box->cells_along[d]] - box->coordinates[d][0];
  return size;
}

/* *size <- the size of a boundary, or of the domain (-1). */
static TesStatus measure(const Check *c, int boundary, double *size) {
  const TesMeshInfo info = tes_mesh_info(c->mesh);
  const TesValue value = {.where = boundary < 0 ? TES_ON_DOMAIN : TES_ON_BOUNDARY,
                          .number = boundary < 0 ? 0 : boundary};
  if (info.kind != TES_MESH_BOX || cli_ranks()) return tes_functional_value(c->space, NULL, &value, size);
  *size = extent_without(&info, boundary < 0 ? -1 : boundary / 2);
  if (boundary >= 0 && c->input->mesh.periodic[boundary / 2]) *size = 0;
  return TES_OK;
}

/* Whether a boundary is a group inside the mesh, or of curves or points: it has no face where the mesh ends. */
static bool is_group(const Check *c, int boundary) {
  const int64_t cells = tes_mesh_info(c->mesh).cells;
  bool found = tes_mesh_info(c->mesh).kind == TES_MESH_BOX;
  for (int64_t cell = 0; cell < cells && !found; cell++)
    for (int face = 0, name; face < 2 * tes_mesh_info(c->mesh).dim && !found; face++)
      found = tes_mesh_on_boundary(c->mesh, cell, face, &name) && name == boundary;
  return cli_sum_of_ranks(c->context, found) == 0;
}

/* Areas (2D: lengths) and volumes by name. */
static TesStatus tell_parts(const Check *c) {
  const int dim = tes_mesh_info(c->mesh).dim;
  TesStatus status = TES_OK;
  double size;
  for (int i = 0; i < tes_mesh_boundaries(c->mesh) && status == TES_OK; i++) {
    status = measure(c, i, &size);
    if (status == TES_OK && size == 0)
      printf("boundary  %-16s no faces\n", tes_mesh_boundary_name(c->mesh, i));
    else if (status == TES_OK && is_group(c, i))
      printf("boundary  %-16s size %.6g, no outer faces (points count 1 each, curves have their length)\n",
             tes_mesh_boundary_name(c->mesh, i), size);
    else if (status == TES_OK)
      printf("boundary  %-16s %s %.6g%s\n", tes_mesh_boundary_name(c->mesh, i), dim == 2 ? "length" : "area",
             size, cli_is_default(c->input, c->mesh, i) ? ", u = 0: the case gives no condition" : "");
  }
  for (int i = 0; i < tes_mesh_materials(c->mesh); i++) {
    int64_t cells = 0;
    for (int64_t cell = 0; cell < tes_mesh_info(c->mesh).cells; cell++)
      cells += tes_mesh_material(c->mesh, cell) == i;
    printf("material  %-16s %.0f cells\n", tes_mesh_material_name(c->mesh, i),
           cli_sum_of_ranks(c->context, (double)cells));
  }
  if (status == TES_OK) status = measure(c, -1, &size);
  if (status == TES_OK) printf("domain    %s %.6g\n", dim == 2 ? "area" : "volume", size);
  return status;
}

/* The number of the boundary that a cell is on; -1: none. */
static TesStatus write_mesh(const Check *c) {
  const int64_t cells = tes_mesh_info(c->mesh).cells;
  double *boundary = malloc((size_t)cells * sizeof *boundary);
  if (!boundary) return TES_OUT_OF_MEMORY;
  for (int64_t cell = 0; cell < cells; cell++) {
    boundary[cell] = -1;
    for (int face = 0, name; face < 2 * tes_mesh_info(c->mesh).dim; face++)
      if (tes_mesh_on_boundary(c->mesh, cell, face, &name)) boundary[cell] = name;
  }
  const TesVtuArray field = {.name = "boundary", .values = boundary};
  const TesStatus status = tes_vtu_write_fields(c->space, 0, NULL, 1, &field, c->vtu);
  if (status == TES_OK) printf("written   %s\n", c->vtu);
  free(boundary);
  return status;
}

/* Whether the case's own space has another element than q. */
static bool is_other(const Check *c) {
  return c->input->about.modes && tes_mesh_info(c->mesh).kind == TES_MESH_BOX;
}

/* The space for measuring areas and writing the mesh has element q, which has every degree except on periodic boxes.
 * No boundary gives values: so a mesh of one cell has unknowns. */
static TesStatus create_space(Check *c) {
  TesMeshDesc shape = c->input->mesh;
  TesMesh *open = NULL;
  TesStatus status = TES_OK;
  memset(shape.periodic, 0, sizeof shape.periodic);
  if (is_other(c)) status = tes_mesh_create(c->context, &shape, &open);
  const TesMesh *mesh = open ? open : c->mesh;
  uint8_t *none = calloc((size_t)tes_mesh_boundaries(mesh) + 1, sizeof *none);
  const TesSpaceDesc desc = {.mesh = mesh, .degree = c->input->problem.degree, .given = none};
  if (!none) status = TES_OUT_OF_MEMORY;
  if (status == TES_OK) status = tes_space_create(c->context, &desc, &c->space);
  free(none);
  tes_mesh_destroy(&open);
  return status;
}

/* An upper bound of the unknowns, from the nodes of element q: all components, and the pressure of a flow. */
static double count_most(const Check *c) {
  const int dim = tes_mesh_info(c->mesh).dim;
  const TesCaseProblem *about = &c->input->about;
  return (double)tes_space_dofs(c->space) * ((about->vector ? dim : 1) + about->flow);
}

/* Makes all that a solve makes before its first iteration; so it refuses all that a solve refuses until then. */
static TesStatus create_problem(const Check *c) {
  Solve *s = c->solve;
  TesProblemDesc desc = solve_describe(s);
  TesProblem *problem = NULL;
  TesStatus status = TES_OK;
  if (s->input->adaptive && !solve_is_in_time(s))
    status = tes_adapt_check(c->context, &desc, &s->input->adapt);
  if (status == TES_OK) status = tes_problem_create(c->context, &desc, &problem);
  if (status != TES_OK) return status;
  solve_keep_solver(s, problem);
  printf("unknowns  %lld", (long long)s->dofs);
  if (s->input->about.flow)
    printf(": %lld of the velocity, %lld of the pressure", (long long)s->velocity_dofs,
           (long long)s->pressure_dofs);
  printf("\n");
  tes_problem_destroy(&problem);
  return TES_OK;
}

static TesStatus tell_problem(const Check *c) {
  const double most = count_most(c);
  printf("space     degree %d, %lld nodes\n", tes_space_degree(c->space), (long long)tes_space_dofs(c->space));
  if (most <= MOST_UNKNOWNS) return create_problem(c);
  printf("unknowns  at most %.3g: too many to be set up here; names and conditions are checked, coefficients "
         "and the "
         "choice of the solver are not\n",
         most);
  return TES_OK;
}

/* " N KiB", MiB or GiB. */
static void print_bytes(size_t bytes, const char *after) {
  static const char *const units[] = {"KiB", "MiB", "GiB"};
  double size = (double)bytes / 1024;
  int unit = 0;
  for (; unit < 2 && size >= 1000; unit++) size /= 1024;
  printf(" %.3g %s%s", size, units[unit], after);
}

/* The memory of a solve, by the solver's own prediction. */
static TesStatus tell_memory(const Check *c) {
  const TesProblemDesc desc = solve_describe(c->solve);
  TesProblemMemory memory;
  const TesStatus status = tes_problem_memory(c->context, &desc, &memory);
  if (status != TES_OK) return status;
  printf("memory    about");
  print_bytes(memory.processor, " on the processor, where");
  print_bytes(tes_memory_available(), " are free; or");
  print_bytes(memory.gpu, " on a GPU and");
  print_bytes(memory.gpu_host, " on its host\n");
  return TES_OK;
}

static TesStatus check(Check *c) {
  TesStatus status = solve_prepare(c->solve);
  if (status == TES_OK && c->vtu) status = tes_file_check(c->context, c->vtu);
  if (status != TES_OK) return status;
  c->input = c->solve->input, c->mesh = c->solve->mesh;
  printf("case      %s\nmesh      %lld cells in %dD%s\n", c->input->name,
         (long long)tes_mesh_info(c->mesh).all_cells, tes_mesh_info(c->mesh).dim,
         tes_mesh_info(c->mesh).kind == TES_MESH_BOX ? ", a box" : "");
  status = create_space(c);
  if (status == TES_OK) status = tell_parts(c);
  if (status == TES_OK) status = tell_problem(c);
  if (status == TES_OK) status = tell_memory(c);
  if (status != TES_OK) return status;
  if (c->input->adaptive)
    printf("adapt     begins with this mesh, %d steps at most\n", c->input->adapt.steps);
  if (c->predicted) {
    const TesProblemDesc desc = solve_describe(c->solve);
    status = cli_scaling_print(c->context, &desc, c->gpus, c->predicted, c->ranks);
    if (status != TES_OK) return status;
  }
  return c->vtu ? write_mesh(c) : TES_OK;
}

/* c: from the options. */
static int run(const SolveOptions *options, Check c) {
  TesContext *context;
  c.solve = calloc(1, sizeof *c.solve);
  TesStatus status = c.solve ? cli_context_create(&options->common, &context) : TES_OUT_OF_MEMORY;
  if (status != TES_OK) {
    free(c.solve);
    return tes_status_exit(status);
  }
  c.solve->context = c.context = context;
  c.solve->options = options;
  cli_interrupt_stage("the set-up");
  status = c.solve->status = check(&c);
  cli_interrupt_stage(NULL);
  solve_locate(c.solve);
  solve_tell_failure(c.solve);
  tes_space_destroy(&c.space);
  solve_release(c.solve);
  cli_context_destroy(&context);
  return tes_status_exit(status);
}

int cli_check(int argc, char **argv) {
  static const struct option options[] = {{"set", required_argument, NULL, SET},
                                          {"vtu", required_argument, NULL, VTU},
                                          {"ranks", required_argument, NULL, CLI_RANKS},
                                          {"device", required_argument, NULL, CLI_DEVICE},
                                          {"help", no_argument, NULL, HELP},
                                          {0}};
  static const char *const predicted[] = {"cpu", "cuda", NULL};
  SolveOptions o = {.common = {.device = "cpu", .verbosity = TES_QUIET}};
  Check c = {0};
  for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
    bool good = option == SET || option == VTU || option == CLI_RANKS || option == CLI_DEVICE;
    if (option == HELP) return fputs(help, stdout) < 0;
    if (option == SET && o.override_count == SOLVE_OVERRIDES)
      return cli_usage_error("more than %d --set", SOLVE_OVERRIDES);
    if (option == SET) o.overrides[o.override_count++] = optarg;
    if (option == VTU) c.vtu = optarg;
    if (option == CLI_RANKS)
      good = (c.predicted = cli_parse_numbers("ranks", optarg, true, 1, 65536, CLI_SCALINGS, c.ranks)) > 0;
    if (option == CLI_DEVICE) o.common.device = optarg;
    if (!good) return tes_status_exit(TES_INVALID_INPUT);
  }
  if (optind + 1 != argc) return cli_usage_error("check takes one case file (tessera check --help)");
  o.path = argv[optind];
  if (c.predicted && !(c.predicted == 1 && !strcmp(o.common.device, "emulator"))) {
    const int choice = cli_parse_choice("device", o.common.device, predicted);
    if (choice < 0) return tes_status_exit(TES_INVALID_INPUT);
    c.gpus = choice == 1, o.common.device = "cpu";
  }
  if (c.predicted == 1 && !c.gpus) o.common.ranks = (int)c.ranks[0], c.predicted = 0;
  const int refused = cli_ranks_launch(&o.common);
  return refused ? refused : run(&o, c);
}
