#include "space/element.h"
#include <stddef.h>

const char *const tesi_element_words[] = {"auto", "q", "rt", "dg", "iso", NULL};

/* The first is that of TES_ELEMENT_AUTO too, and of versions without a row. */
static const TesiElement rows[] = {
    {.element = TES_ELEMENT_Q, .nodal = true, .gridded = true, .usual = 4},
    {.element = TES_ELEMENT_RT, .with_pressure = true, .usual = 2, .most = 15, .version = 6},
    {.element = TES_ELEMENT_DG, .weak = true, .usual = 4, .most = 15, .version = 8}};
enum { ROWS = sizeof rows / sizeof *rows };

const TesiElement *tesi_element(TesElement element) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].element == element) return &rows[i];
  return element == TES_ELEMENT_AUTO ? rows : NULL;
}

const TesiElement *tesi_element_of_version(int version) {
  for (int i = 1; i < ROWS; i++)
    if (rows[i].version == version) return &rows[i];
  return rows;
}
