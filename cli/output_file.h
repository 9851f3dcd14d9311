/* Texts that are written to files. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdio.h>
#include "command.h"

/* Writes the text collected by a stream of open_memstream() to a file, which appears complete or not at all, or for
 * "-" to the standard output. Closes the stream and frees *text. Errors: TES_IO, with a message; TES_OUT_OF_MEMORY. */
TesStatus cli_file_commit(TesContext *ctx, FILE *stream, char **text, const char *path);

#endif
