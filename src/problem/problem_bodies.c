/* Bodies: parts of a mesh that are connected by the vertices of its trees. */
#include "base/integer.h"
#include "mesh/inner_faces.h"
#include "problem/problem.h"

/* Whether a term is a mass that is not zero in cells of a material. */
static bool is_mass(const TesTermDesc *term, int material) {
  const TesFunction *c = material >= 0 && term->a.material && term->a.material[material]
                             ? term->a.material[material]
                             : term->a.all;
  double value;
  return term->term == TES_TERM_MASS && !(c && tes_function_constant(c, &value) && value == 0);
}

static bool holds(const TesProblem *p, int name, int component) {
  return name >= 0 && (p->numbered.given[name].alpha || tesi_problem_given(p, name, component));
}

/* Whether a tree fixes the constant of a component: by a mass, or by a face with a Dirichlet or Robin condition. */
static bool is_held(const TesProblem *p, const TesiTrees *t, int64_t tree, int component) {
  for (int i = 0; i < p->form.all.terms; i++)
    if (is_mass(&p->form.term[i], t->material[tree])) return true;
  for (int f = 0; f < 2 * t->dim; f++)
    if (holds(p, t->boundary[tree * 2 * t->dim + f], component)) return true;
  return false;
}

static TesStatus check_component(const TesProblem *p, int component) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiTrees *t = p->mesh->coarse;
  int32_t *parent = NULL;
  char *held = NULL;
  int64_t loose = -1;
  bool several = false;
  double middle[3] = {0.5, 0.5, 0.5}, x[3] = {0};
  if (!t || tesi_problem_given_everywhere(p)) return TES_OK; /* there is one body; Dirichlet everywhere */
  TES_ALLOC(&parent, t->vertex_count);
  TES_ALLOC(&held, t->vertex_count);
  for (int32_t v = 0; v < t->vertex_count; v++) parent[v] = v;
  for (int64_t i = 0; i < t->trees << t->dim; i++)
    parent[tesi_root_of(parent, t->vertices[i])] = tesi_root_of(parent, t->vertices[i >> t->dim << t->dim]);
  for (int64_t tree = 0; tree < t->trees; tree++)
    if (is_held(p, t, tree, component)) held[tesi_root_of(parent, t->vertices[tree << t->dim])] = 1;
  for (int64_t i = 0; i < t->parts; i++)
    if (tesi_part_is_face(t->dim, t->part[i].at) && holds(p, t->part[i].boundary, component))
      held[tesi_root_of(parent, t->vertices[(int64_t)t->part[i].tree << t->dim])] = 1;
  for (int64_t tree = t->trees - 1; tree >= 0; tree--) {
    const int32_t root = tesi_root_of(parent, t->vertices[tree << t->dim]);
    several = several || root != tesi_root_of(parent, t->vertices[0]);
    if (!held[root]) loose = tree;
  }
  if (loose < 0 || !several) goto done;
  tesi_trees_evaluate(t, loose, 1, middle, x);
  TES_FAIL(
      TES_INVALID_INPUT,
      "the mesh consists of parts that share no vertex, and that of cell %lld of the coarse mesh (from 0), "
      "round (%g, %g, %g), has neither a Dirichlet nor a Robin boundary, nor c > 0: the solution is "
      "determined up to a constant there. Give it such a condition, or leave the part out of the mesh",
      (long long)loose, x[0], x[1], x[2]);
done:
  tesi_free(ctx, &parent);
  tesi_free(ctx, &held);
  return status;
}

TesStatus tesi_problem_check_parts(const TesProblem *p) {
  TesStatus status = TES_OK;
  for (int c = 0; c < (p->equation->vector ? p->mesh->dim : 1) && status == TES_OK; c++)
    status = check_component(p, c);
  return status;
}
