/* Run: ctest -R t7_stokes_tables. Tables of Stokes, the rows that take little time. */
#include "stokes_tables.h"

int main(void) {
  return tables_main(false);
}
