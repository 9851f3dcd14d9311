/* tessera check: all of a case but its solution: the mesh, its boundaries with their sizes, materials, unknowns, the
 * memory of a solve. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"

static const char help[] =
    "usage: tessera check CASE.yaml [OPTION]...\n\n"
    "Reads a case file ('-': standard input) and makes its mesh; tells cells, boundaries, materials, "
    "unknowns and the memory of a solve, and solves nothing.\n\n"
    "  --set key.path=value   replaces or adds a value of the case; repeatable\n"
    "  --vtu FILE             writes the mesh for ParaView: level, material and boundary of cells\n"
    "  --help                 this text\n";

enum { SET = 256, VTU, HELP, OVERRIDES = 64 };

typedef struct Check {
  TesContext *context;
  const char *path, *vtu, *overrides[OVERRIDES];
  int override_count;
  TesCase *input;
  TesMesh *mesh;
  TesSpace *space;
} Check;

/* Areas (2D: lengths) and volumes by name. */
static TesStatus tell_parts(const Check *c) {
  const int dim = tes_mesh_info(c->mesh).dim;
  TesStatus status = TES_OK;
  double size;
  for (int i = 0; i < tes_mesh_boundaries(c->mesh) && status == TES_OK; i++) {
    status = tes_functional_value(c->space, NULL, &(TesValue){.where = TES_ON_BOUNDARY, .number = i}, &size);
    if (status == TES_OK && size == 0)
      printf("boundary  %-16s no faces\n", tes_mesh_boundary_name(c->mesh, i));
    else if (status == TES_OK)
      printf("boundary  %-16s %s %.6g\n", tes_mesh_boundary_name(c->mesh, i), dim == 2 ? "length" : "area",
             size);
  }
  for (int i = 0; i < tes_mesh_materials(c->mesh); i++) {
    int64_t cells = 0;
    for (int64_t cell = 0; cell < tes_mesh_info(c->mesh).cells; cell++)
      cells += tes_mesh_material(c->mesh, cell) == i;
    printf("material  %-16s %lld cells\n", tes_mesh_material_name(c->mesh, i), (long long)cells);
  }
  if (status == TES_OK) status = tes_functional_value(c->space, NULL, &(TesValue){0}, &size);
  if (status == TES_OK) printf("domain    %s %.6g\n", dim == 2 ? "area" : "volume", size);
  return status;
}

/* The number of a boundary that a cell is on, -1: none. */
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

/* The names that the case gives conditions for are tried as a solve would. */
static TesStatus check_names(const Check *c) {
  TesStatus status = TES_OK;
  const TesProblemDesc *p = &c->input->problem;
  int number;
  for (int i = 0; i < p->boundaries && status == TES_OK; i++)
    if (p->boundary[i].name) status = tes_mesh_find_boundary(c->mesh, p->boundary[i].name, &number);
  for (int i = 0; i < p->materials && status == TES_OK; i++)
    status = tes_mesh_find_material(c->mesh, p->material[i].name, &number);
  return status == TES_OK ? tes_case_check_outputs(c->input, c->mesh) : status;
}

/* Whether the case's own space is of another element than q. */
static bool is_other(const Check *c) {
  const TesElement element = c->input->problem.element;
  const bool stokes = c->input->problem.equation == TES_STOKES && element != TES_ELEMENT_Q,
             in_time = c->input->problem.equation == TES_NAVIER_STOKES && element == TES_ELEMENT_RT;
  return (stokes || in_time || element == TES_ELEMENT_DG) && tes_mesh_info(c->mesh).kind == TES_MESH_BOX;
}

/* What measures areas and writes the mesh is of element q, on every degree only where the box is not periodic. */
static TesStatus create_space(Check *c) {
  TesMeshDesc shape = c->input->mesh;
  TesMesh *mesh = NULL;
  if (is_other(c)) memset(shape.periodic, 0, sizeof shape.periodic);
  TesStatus status = tes_mesh_create(c->context, &shape, &mesh);
  if (status == TES_OK)
    status = tes_space_create(c->context, &(TesSpaceDesc){.mesh = mesh, .degree = c->input->problem.degree},
                              &c->space);
  tes_mesh_destroy(&mesh);
  return status;
}

static TesStatus tell_space(const Check *c) {
  const bool broken = c->input->problem.element == TES_ELEMENT_DG, flow = is_other(c);
  TesSpace *space = NULL;
  const TesSpaceDesc desc = {.mesh = c->mesh,
                             .degree = c->input->problem.degree,
                             .element = broken ? TES_ELEMENT_DG : TES_ELEMENT_RT};
  const TesStatus status = flow ? tes_space_create(c->context, &desc, &space) : TES_OK;
  const TesSpace *told = flow ? space : c->space;
  if (status == TES_OK)
    printf("space     degree %d, %lld %s\n", tes_space_degree(told), (long long)tes_space_length(told),
           flow ? "unknowns" : "nodes");
  tes_space_destroy(&space);
  return status;
}

/* " N KiB", MiB or GiB. */
static void print_bytes(size_t bytes, const char *after) {
  static const char *const units[] = {"KiB", "MiB", "GiB"};
  double size = (double)bytes / 1024;
  int unit = 0;
  for (; unit < 2 && size >= 1000; unit++) size /= 1024;
  printf(" %.3g %s%s", size, units[unit], after);
}

/* Of a solve, as the solver itself will find it. */
static TesStatus tell_memory(const Check *c) {
  TesProblemDesc desc = c->input->problem;
  TesProblemMemory memory;
  desc.mesh = c->mesh;
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
  TesStatus status = tes_case_read(c->context, c->path, c->override_count, c->overrides, &c->input);
  if (status == TES_OK && c->vtu) status = tes_file_check(c->context, c->vtu);
  if (status == TES_OK) status = tes_mesh_create(c->context, &c->input->mesh, &c->mesh);
  if (status != TES_OK) return status;
  for (int i = 0; i < c->input->warning_count; i++) fprintf(stderr, "warning: %s\n", c->input->warnings[i]);
  printf("case      %s\nmesh      %lld cells in %dD%s\n", c->input->name,
         (long long)tes_mesh_info(c->mesh).cells, tes_mesh_info(c->mesh).dim,
         tes_mesh_info(c->mesh).kind == TES_MESH_BOX ? ", a box" : "");
  status = check_names(c);
  if (status == TES_OK) status = create_space(c);
  if (status == TES_OK) status = tell_parts(c);
  if (status == TES_OK) status = tell_space(c);
  if (status == TES_OK) status = tell_memory(c);
  if (status != TES_OK) return status;
  if (c->input->adaptive)
    printf("adapt     begins with this mesh, %d steps at most\n", c->input->adapt.steps);
  return c->vtu ? write_mesh(c) : TES_OK;
}

static int run(Check *c) {
  TesStatus status = cli_context_create(&(CliCommon){.device = "cpu", .verbosity = TES_QUIET}, &c->context);
  if (status != TES_OK) return tes_status_exit(status);
  status = check(c);
  if (status != TES_OK) {
    char message[1024] = "";
    if (status == TES_INVALID_INPUT)
      cli_locate(c->input, tes_context_message(c->context), message, sizeof message);
    cli_print_failure(c->context, status, message);
  }
  tes_space_destroy(&c->space);
  tes_mesh_destroy(&c->mesh);
  tes_case_destroy(&c->input);
  tes_context_destroy(&c->context);
  return tes_status_exit(status);
}

int cli_check(int argc, char **argv) {
  static const struct option options[] = {{"set", required_argument, NULL, SET},
                                          {"vtu", required_argument, NULL, VTU},
                                          {"help", no_argument, NULL, HELP},
                                          {0}};
  Check c = {0};
  for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
    if (option == HELP) return fputs(help, stdout) < 0;
    if (option == SET && c.override_count < OVERRIDES)
      c.overrides[c.override_count++] = optarg;
    else if (option == VTU)
      c.vtu = optarg;
    else
      return option == SET ? cli_usage_error("more than %d --set", OVERRIDES)
                           : tes_status_exit(TES_INVALID_INPUT);
  }
  if (optind + 1 != argc) return cli_usage_error("check takes one case file (tessera check --help)");
  c.path = argv[optind];
  return run(&c);
}
