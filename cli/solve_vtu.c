/* The solution of a solve as VTU. */
#include "solve.h"
#include "tessera/vtu.h"

TesStatus solve_write_vtu(const Solve *s, const char *path) {
  const TesVector *u = tes_poisson_solution(s->poisson);
  const TesVtuField fields[] = {{"u", u, NULL, NULL},
                                {"f", NULL, s->input->f, NULL},
                                {"a", NULL, s->input->a, NULL},
                                {"error", u, s->input->exact, NULL}};
  return tes_vtu_write_fields(tes_poisson_space(s->poisson), s->input->exact ? 4 : 3, fields, path);
}
