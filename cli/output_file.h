/* Texts that become files. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdio.h>
#include "command.h"

/* Writes what a stream of open_memstream() has collected to a file, which appears complete or not at all, or to the
 * standard output for "-"; closes the stream and frees *text. Errors: TES_IO, told; TES_OUT_OF_MEMORY. */
TesStatus cli_file_commit(TesContext *ctx, FILE *stream, char **text, const char *path);

#endif
