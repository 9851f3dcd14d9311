/* The files of cases/, which are built into the program. */
#ifndef CLI_TEXTS_H
#define CLI_TEXTS_H

typedef struct CliText {
  const char *name, *text; /* "poisson.yaml", "plate.msh" */
} CliText;

extern const CliText cli_cases[]; /* {NULL, NULL} ends the list */

#endif
