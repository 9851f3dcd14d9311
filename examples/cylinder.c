/* Flow past a cylinder in a channel in time, Reynolds number 20 (Schaefer and Turek 1996, 2D-1): curved cells,
 * velocities of degree 4 and pressures of degree 3, a history of drag, lift and the pressure before and behind it. */
#include <math.h>
#include <stdio.h>
#include <tessera/tessera.h>

/* Ends the program with the message of the context where a call fails. */
#define TRY(call)                                                                                            \
  do {                                                                                                       \
    const TesStatus status_ = (call);                                                                        \
    if (status_ != TES_OK) {                                                                                 \
      fprintf(stderr, "%s\n", tes_context_message(ctx));                                                     \
      return tes_status_exit(status_);                                                                       \
    }                                                                                                        \
  } while (0)

/* Coefficients 2 F / (U^2 D), mean velocity U = 0.2, diameter D = 0.1; p(0.15, 0.2) - p(0.25, 0.2). */
typedef struct Record {
  double time, drag, lift, pressure;
} Record;

static TesStatus take(const TesProblem *flow, int cylinder, Record *r) {
  const double x[4] = {0.15, 0.2, 0.25, 0.2};
  TesValue force = {.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = cylinder, .of = "x"};
  double p[2];
  TesStatus status = tes_problem_value(flow, &force, &r->drag);
  force.of = "y";
  if (status == TES_OK) status = tes_problem_value(flow, &force, &r->lift);
  if (status == TES_OK)
    status = tes_problem_sample(flow, 2, x, 1, (const char *const[]){"p"}, p, (double[2]){0});
  r->time = tes_problem_info(flow).time;
  r->drag *= 500, r->lift *= 500, r->pressure = p[0] - p[1];
  return status;
}

int main(void) {
  char message[256];
  TesContext *ctx;
  if (tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, message, sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 1;
  if (!tes_has_part("p4est")) return printf("a build without meshes of trees\n"), 0;

  TesFunction *nu, *zero, *inflow, *near;
  TRY(tes_function_create_constant(ctx, 1e-3, &nu));
  TRY(tes_function_create_constant(ctx, 0, &zero));
  TRY(tes_function_create_expression(ctx, "1.2*y*(0.41 - y)/(0.41*0.41)", &inflow));
  TRY(tes_function_create_expression(ctx, "0.075 - sqrt((x - 0.2)*(x - 0.2) + (y - 0.2)*(y - 0.2))", &near));

  TesMesh *mesh; /* the channel 2.2 x 0.41 with a cylinder at (0.2, 0.2), round which cells are halved twice */
  int cylinder;
  const TesMeshDesc channel = {
      .domain = TES_DOMAIN_CHANNEL, .dim = 2, .refine_where = near, .refine_times = 2, .geometry_degree = 4};
  TRY(tes_mesh_create(ctx, &channel, &mesh));
  TRY(tes_mesh_find_boundary(mesh, "cylinder", &cylinder));

  /* What has no name of its own is a wall at rest; the outflow is free of stress. */
  const TesBoundary boundary[] = {{.g = {zero, zero}},
                                  {.name = "inflow", .g = {inflow, zero}},
                                  {.name = "outflow", .condition = TES_NEUMANN}};
  TesProblem *flow; /* steps as long as the flow allows, until nothing changes */
  TRY(tes_problem_create(ctx,
                         &(TesProblemDesc){.equation = TES_NAVIER_STOKES,
                                           .mesh = mesh,
                                           .degree = 4,
                                           .data = {.a = nu},
                                           .boundaries = 3,
                                           .boundary = boundary,
                                           .initial = {inflow, zero},
                                           .time = {.end = 6, .cfl = 0.5}},
                         &flow));

  Record r = {0};
  TesSolveResult result;
  printf("%lld unknowns\n   time     drag      lift   pressure\n",
         (long long)tes_space_dofs(tes_problem_space(flow)));
  while (tes_problem_info(flow).step < tes_problem_info(flow).steps) {
    TRY(tes_problem_step(flow, &result));
    const TesProblemInfo info = tes_problem_info(flow);
    if (info.step % 100 != 0 && info.step < info.steps) continue;
    TRY(take(flow, cylinder, &r));
    printf("%7.4f %8.5f %9.6f %10.6f\n", r.time, r.drag, r.lift, r.pressure);
  }
  printf("published: %8.5f %9.6f %10.6f\n", 5.579535, 0.010619, 0.117520);

  tes_problem_destroy(&flow);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&nu), tes_function_destroy(&zero);
  tes_function_destroy(&inflow), tes_function_destroy(&near);
  tes_context_destroy(&ctx);
  return fabs(r.drag - 5.579535) < 0.01 ? 0 : 1;
}
