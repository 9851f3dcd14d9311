/* What elements differ in. Who asks which element a space has asks a column of its row. */
#ifndef TESI_ELEMENT_H
#define TESI_ELEMENT_H

#include <stdbool.h>
#include "tessera/space.h"

typedef struct TesiElement {
  TesElement element;
  bool nodal; /* entries are values at nodes of a mesh of any kind; else nodes and modes of a box (rt.h) */
  bool with_pressure; /* velocity and pressure in one space */
  bool weak;          /* values on boundaries are given weakly: each entry is an unknown */
  int usual;          /* the degree where none is given */
  int most;           /* the highest degree; 0: the kind of mesh says it */
  int version;        /* of checkpoints; 0: the kind of mesh says it */
} TesiElement;

/* Words of case files, by TesElement. */
extern const char *const tesi_element_words[];
/* NULL: spaces are not of this element. */
const TesiElement *tesi_element(TesElement element);
/* The element of checkpoints of this version. */
const TesiElement *tesi_element_of_version(int version);

#endif
