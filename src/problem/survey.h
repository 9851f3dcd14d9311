/* Properties of the cells of a problem, for choices and warnings. */
#ifndef TESI_SURVEY_H
#define TESI_SURVEY_H

#include "problem/problem.h"

/* Measured on at most some ten thousand cells, evenly distributed. */
typedef struct TesiSurvey {
  TesiStretch stretch; /* TESI_STRETCHED..: at least one cell in a hundred is stretched. On boxes only if a is a
                        * matrix; then in the metric of a. */
  bool matrices;       /* a is a matrix somewhere */
  bool thin;           /* a tenth of the cells is three times as long as thick */
  bool slender; /* five times as long, or the body is 500 times as long as its thinnest cell is thick */
  bool slim;    /* the longest extent of the body is eight times its shortest */
  bool rough;   /* a changes by a factor of 100 between the cells of at least one pair in twenty */
  bool sheared; /* a tenth of the cells: two of their directions are far from orthogonal in the metric of a */
  double jump;  /* largest ratio of two values of a diffusion coefficient in a cell */
  /* Sparse factors of the finest level, estimated from the shape of the body: flops of the factorization, bytes. */
  double factor_flops, factor_bytes;
} TesiSurvey;

TesStatus tesi_survey(const TesProblem *problem, TesiSurvey *survey);

#endif
