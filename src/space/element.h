/* The differences between elements, one row per element. Code that depends on the element reads a column of its row. */
#ifndef TESI_ELEMENT_H
#define TESI_ELEMENT_H

#include <stdbool.h>
#include "tessera/space.h"

typedef struct TesiElement {
  TesElement element;
  bool nodal; /* entries are values at nodes of a mesh of any kind; false: nodes and modes of a box (axes.h) */
  bool with_pressure; /* velocity and pressure in one space */
  bool gridded;       /* ranks may cut a box in any direction; false: in the last one */
  bool weak;          /* values on boundaries are given weakly: all entries are unknowns */
  int usual;          /* the default degree */
  int most;           /* the highest degree; 0: it depends on the kind of mesh */
  int version;        /* format version of checkpoints; 0: the kind of mesh decides */
} TesiElement;

/* Words of case files, in the order of TesElement. */
extern const char *const tesi_element_words[];
/* NULL: no element of spaces. */
const TesiElement *tesi_element(TesElement element);
/* The element that checkpoints with this version number have. */
const TesiElement *tesi_element_of_version(int version);

#endif
