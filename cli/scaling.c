/* Predictions of a case for several numbers of ranks: tessera check prints them, --device cuda:all uses them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "scaling.h"

/* If the time is within this factor of the fastest, fewer ranks are better. */
static const double AS_FAST = 1.05;

static int find_best(int count, const TesProblemScaling *scaling) {
  int fastest = 0;
  for (int i = 1; i < count; i++)
    if (scaling[i].seconds < scaling[fastest].seconds) fastest = i;
  for (int i = 0; i < count; i++)
    if (scaling[i].ranks < scaling[fastest].ranks && scaling[i].seconds <= AS_FAST * scaling[fastest].seconds)
      fastest = i;
  return fastest;
}

TesStatus cli_scaling_print(TesContext *ctx, const TesProblemDesc *desc, bool gpus, int count,
                            const double *ranks) {
  TesProblemScaling scaling[CLI_SCALINGS] = {{0}};
  for (int i = 0; i < count; i++) scaling[i].ranks = (int)ranks[i];
  const TesStatus status = tes_problem_scaling(ctx, desc, gpus, count, scaling);
  if (status != TES_OK) return status;
  printf("predicted %s\n%9s %12s %12s %13s %9s   %s\n",
         gpus ? "for ranks on GPUs like an NVIDIA H200, eight of a host"
              : "for ranks on hosts like this one, all its threads each",
         "ranks", "unknowns", "GiB per rank", "ms/iteration", "speed-up", "beside the work");
  for (int i = 0; i < count; i++) {
    const TesProblemScaling *s = &scaling[i];
    printf("%9d %12.3g %12.3g ", s->ranks, s->unknowns, (double)s->bytes / (1 << 30));
    if (isinf(s->seconds))
      printf("%13s %9s   %s\n", "-", "-", s->bound);
    else
      printf("%13.3g %9.3g   %s\n", 1e3 * s->seconds, s->speed_up, s->ranks == 1 ? "" : s->bound);
  }
  if (count > 1) printf("best      %d\n", scaling[find_best(count, scaling)].ranks);
  return TES_OK;
}

/* The best of 1, 2, 4 .. most and `most`. 1 if there is no prediction: the problem is for one rank only, or the case
 * has an error, which the solve will report. */
static int find_of_case(TesContext *ctx, const SolveOptions *o, int most) {
  TesProblemScaling scaling[CLI_SCALINGS] = {{0}};
  TesCase *input = NULL;
  TesMesh *mesh = NULL;
  int count = 0, best = 1;
  for (int n = 1; n < most && count < CLI_SCALINGS - 1; n *= 2) scaling[count++].ranks = n;
  scaling[count++].ranks = most;
  TesStatus status = tes_case_read(ctx, o->path, o->override_count, o->overrides, &input);
  if (status == TES_OK) status = tes_mesh_create(ctx, &input->mesh, &mesh);
  if (status == TES_OK) {
    TesProblemDesc desc = input->problem;
    desc.mesh = mesh;
    status = tes_problem_scaling(ctx, &desc, true, count, scaling);
  }
  if (status == TES_OK) best = scaling[find_best(count, scaling)].ranks;
  tes_mesh_destroy(&mesh);
  tes_case_destroy(&input);
  return best;
}

int cli_scaling_best(const SolveOptions *o, int most) {
  const TesContextDesc desc = {.device = "cpu", .verbosity = TES_QUIET};
  TesContext *ctx;
  if (most < 2 || o->text || !strcmp(o->path, "-") || tes_context_create(&desc, &ctx, NULL, 0) != TES_OK)
    return most;
  const int best = find_of_case(ctx, o, most);
  if (o->common.verbosity == TES_VERBOSE && best < most)
    fprintf(stderr, "%d of %d GPUs: more are not faster, by prediction, or cannot be used\n", best, most);
  tes_context_destroy(&ctx);
  return best;
}

double cli_scaling_worth(TesContext *ctx) {
  enum { MOST = 512, DEGREE = 4 };
  double worth = 0;
  for (int n = 16; n <= MOST && worth == 0; n += n / 4) {
    TesMesh *mesh = NULL;
    TesProblemScaling two = {.ranks = 2};
    const TesMeshDesc box = {.dim = 3, .cells = {n, n, n}, .upper = {1, 1, 1}};
    TesStatus status = tes_mesh_create(ctx, &box, &mesh);
    if (status == TES_OK)
      status = tes_problem_scaling(ctx, &(TesProblemDesc){.mesh = mesh, .degree = DEGREE}, true, 1, &two);
    tes_mesh_destroy(&mesh);
    if (status != TES_OK) return 0;
    if (two.speed_up >= 1.5) worth = 2 * two.unknowns;
  }
  return worth;
}
