/* Run: ctest -R t7_stokes_sweep. Tables of Stokes, the rows of many unknowns.
 * Labels: slow heavy
 * Timeout: 2400 */
#include "stokes_tables.h"

int main(void) {
  return tables_main(true);
}
