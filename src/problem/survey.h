/* What the cells of a problem are like, which choices and warnings need. */
#ifndef TESI_SURVEY_H
#define TESI_SURVEY_H

#include "problem/problem.h"

/* Of at most some ten thousand cells, evenly taken. */
typedef struct TesiSurvey {
  TesiStretch stretch; /* of cells of meshes other than boxes: of one in a hundred at least; where a is a matrix also
                        * of boxes, in the metric of a */
  bool matrices; /* a is a matrix somewhere */
  bool thin;     /* a tenth of the cells is three times as long as thick */
  bool slender;  /* five times, or the body is 500 times as long as its thinnest cell is thick */
  bool slim;     /* the body is eight times as long as in the direction in which it is shortest */
  bool rough;    /* a jumps a hundredfold between one of twenty pairs of cells at least */
  bool sheared; /* a tenth of the cells: two of their directions are far from orthogonal in the metric of a */
  double jump;  /* largest quotient of two values of a diffusion coefficient within a cell */
  /* Sparse factors of the finest level, as far as the shape of the body tells: flops of making them, bytes. */
  double factor_flops, factor_bytes;
} TesiSurvey;

TesStatus tesi_survey(const TesProblem *problem, TesiSurvey *survey);

#endif
