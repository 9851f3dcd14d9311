/* See entity_nodes.h. */
#include "basis/entity_nodes.h"

static int place(int n, int i) {
  return i == 0 ? 0 : i == n - 1 ? 2 : 1;
}

int tesi_entity_nodes(int dim, int n, int16_t begin[TESI_PATTERNS + 1], int16_t *node) {
  const int patterns = dim == 2 ? 9 : 27, nodes = dim == 2 ? n * n : n * n * n;
  int at = 0;
  for (int pattern = 0; pattern < patterns; pattern++) {
    begin[pattern] = (int16_t)at;
    for (int p = 0; p < nodes; p++) {
      const int z = dim == 3 ? 9 * place(n, p / n / n) : 0;
      if (place(n, p % n) + 3 * place(n, p / n % n) + z == pattern) node[at++] = (int16_t)p;
    }
  }
  begin[patterns] = (int16_t)at;
  return patterns;
}
