/* The files of cases/, which the build puts into the program. */
#ifndef CLI_TEXTS_H
#define CLI_TEXTS_H

typedef struct CliText {
  const char *name, *text; /* "poisson.yaml", "plate.msh" */
} CliText;

extern const CliText cli_cases[]; /* the last one is {NULL, NULL} */

#endif
