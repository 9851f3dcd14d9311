/* -div(a grad u) + c u = f: the diffusion and the reaction, and f with 1 for its default. */
#include "problem/problem.h"

static bool is_zero(const TesFunction *function) {
  double value;
  return !function || (tes_function_constant(function, &value) && value == 0);
}

/* Whether there is a reaction anywhere. */
static bool has_reaction(const TesProblem *p) {
  bool there = !is_zero(p->numbered.data.c);
  for (int i = 0; i < tes_mesh_materials(p->mesh); i++) there = there || !is_zero(p->numbered.c[i]);
  return there;
}

int tesi_diffusion_form(const TesProblem *p, TesTermDesc *term) {
  const TesiNumbered *n = &p->numbered;
  term[0] = (TesTermDesc){.term = TES_TERM_DIFFUSION, .a = {n->data.a, n->a}};
  term[1] = (TesTermDesc){.term = TES_TERM_MASS, .a = {n->data.c, n->c}};
  return has_reaction(p) ? 2 : 1;
}

TesStatus tesi_diffusion_load(const TesProblem *p, TesVector *b) {
  return tesi_problem_load(p, p->numbered.data.f, p->numbered.f, false, b);
}

/* A matrix is shown by the mean of its diagonal. */
static bool has_matrix(const TesProblem *p) {
  bool matrix = tesi_function_is_matrix(p->numbered.data.a);
  for (int i = 0; i < tes_mesh_materials(p->mesh); i++)
    matrix = matrix || tesi_function_is_matrix(p->numbered.a[i]);
  return matrix;
}

int tesi_diffusion_shown(const TesProblem *p, TesiShown *shown) {
  shown[0] = (TesiShown){"f", {p->numbered.data.f[0]}, p->numbered.f[0]};
  shown[1] = (TesiShown){has_matrix(p) ? "a_mean" : "a", {p->numbered.data.a}, p->numbered.a};
  return 2;
}

const TesiEquation tesi_poisson = {.name = "poisson",
                                   .f = 1,
                                   .form = tesi_diffusion_form,
                                   .load = tesi_diffusion_load,
                                   .shown = tesi_diffusion_shown};
