/* -div(a grad u) + c u = f: diffusion, reaction and f, whose default is 1. */
#include "problem/equation/equations.h"

/* Whether there is a reaction anywhere. */
static bool has_reaction(const TesProblem *p) {
  bool there = !tesi_function_is_zero(p->numbered.data.c);
  for (int i = 0; i < tes_mesh_materials(p->mesh); i++)
    there = there || !tesi_function_is_zero(p->numbered.c[i]);
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

void tesi_diffusion_tell(const TesProblemDesc *desc, int dim, TesiTold *told) {
  const TesData *data = &desc->data;
  tesi_told_add(told, "%sdiv(a grad u)%s + c u = f", desc->time.end > desc->time.start ? "u_t - " : "-",
                data->b[0] ? " + b . grad u" : "");
  for (int d = 0; d < dim && data->b[0]; d++)
    tesi_told_add(told, "\n          b%d = %.200s", d + 1, tesi_told_text(data->b[d], "0"));
  tesi_told_add(told, "\ndata      a = %s   c = %s\n          f = %s", tesi_told_text(data->a, "1"),
                tesi_told_text(data->c, "0"), tesi_told_text(data->f[0], "1"));
}

static const TesiLack lacks[] = {TESI_LACKS_OF_SCALARS,
                                 {TESI_HAS_TIME, "poisson is steady"},
                                 {TESI_HAS_BALANCE, "transport without a velocity has it"},
                                 {TESI_HAS_TIME, NULL}};
static const TesiSupport support = {
    .equation = TES_POISSON,
    .element = TES_ELEMENT_Q,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .usual = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .degree = {.usual = 4, .least = 1, .most = 20, .on_cells = 8},
    .has = TESI_HAS_ALWAYS | TESI_BIT(TESI_HAS_NAME) | TESI_BIT(TESI_HAS_A) | TESI_BIT(TESI_HAS_C) |
           TESI_BIT(TESI_HAS_MATERIALS) | TESI_BIT(TESI_HAS_ADAPT) | TESI_BIT(TESI_HAS_DWR) |
           TESI_BIT(TESI_HAS_CHECKPOINT),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_DIRICHLET) | TESI_WORD(TESI_NAMED_NEUMANN) |
                                    TESI_WORD(TESI_NAMED_ROBIN),
              [TESI_OF_METHOD] = TESI_ALL_WORDS,
              [TESI_OF_LOCAL] = TESI_LOCALS_OF_SCALARS,
              [TESI_OF_ORDER] = TESI_ALL_WORDS,
              [TESI_OF_COARSENING] = TESI_ALL_WORDS,
              [TESI_OF_COARSE] = TESI_ALL_WORDS},
    .smoother = TESI_Q_SMOOTHERS(0),
    .lacks = lacks,
    .ranks = {.gridded = true,
              .meshes = TESI_ON_GRID | TESI_ON_TREES,
              .has = TESI_BIT(TESI_HAS_NAME) | TESI_BIT(TESI_HAS_A) | TESI_BIT(TESI_HAS_C) |
                     TESI_BIT(TESI_HAS_MATERIALS) | TESI_BIT(TESI_HAS_ADDED_LOAD) | TESI_BIT(TESI_HAS_POINTS) |
                     TESI_BIT(TESI_HAS_VTU) | TESI_BIT(TESI_HAS_ADAPT) | TESI_BIT(TESI_HAS_DWR) |
                     TESI_BIT(TESI_HAS_CHECKPOINT) | TESI_BIT(TESI_HAS_PNG) | TESI_BIT(TESI_HAS_VTKHDF)},
    .f = 1,
    .field = "u",
    .unknowns = "u",
    .tell = tesi_diffusion_tell};
const TesiEquation tesi_poisson = {.name = "poisson",
                                   .support = &support,
                                   .f = 1,
                                   .form = tesi_diffusion_form,
                                   .load = tesi_diffusion_load,
                                   .shown = tesi_diffusion_shown};
