/* An index that the sanitizers must find. */
#include <stdlib.h>

int main(int count, char **arguments) {
  (void)arguments;
  double *values = malloc(sizeof *values * 4);
  if (!values) return 0;
  values[4 * count] = 1;
  free(values);
  return 0;
}
