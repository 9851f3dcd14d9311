/* Files that appear complete or not at all: written in the same folder without a name, or where the file system has
 * no such files under a temporary one, synchronised, renamed. A process that is killed leaves files behind in the
 * second case alone.
 * What is not a regular file (a pipe, a terminal, /dev/null) is written directly, and "-" is the standard output. */
#ifndef TESI_FILE_H
#define TESI_FILE_H

#include "base/base.h"

typedef struct TesiFile TesiFile;

/* Errors of all: TES_IO with the path and what the system says, TES_OUT_OF_MEMORY. */
TesStatus tesi_file_create(TesContext *ctx, const char *path, TesiFile **file);
/* On several ranks the file above is of rank 0: others call the same functions, which write nothing. All agree in
 * creating, committing and discarding. This one is a file of each rank, which have different paths. */
TesStatus tesi_file_create_piece(TesContext *ctx, const char *path, TesiFile **file);
TesStatus tesi_file_write(TesiFile *file, const void *data, size_t bytes);
TesStatus tesi_file_printf(TesiFile *file, const char *format, ...) TESI_PRINTF(2, 3); /* at most 4095 bytes */
/* Bytes written so far, without the bytes of tesi_file_patch(). */
int64_t tesi_file_position(const TesiFile *file);
/* Overwrites what was written before at this position. */
TesStatus tesi_file_patch(TesiFile *file, int64_t position, const void *data, size_t bytes);
/* Whether tesi_file_patch() works: not on pipes. */
bool tesi_file_can_patch(const TesiFile *file);
/* Makes the file appear under its name, over an older one; on failure the older one stays. Destroys *file either
 * way. */
TesStatus tesi_file_commit(TesiFile **file);
/* Removes the temporary file. NULL is fine. */
void tesi_file_discard(TesiFile **file);

/* tesi_agree() of what rank 0 alone does: a failure is told without its number. */
TesStatus tesi_file_agree(TesContext *ctx, TesStatus status);

/* The content of a file, with a 0 behind it; longer ones than `largest` bytes are refused. The caller frees. "-" is the
 * standard input. Errors: TES_IO. */
TesStatus tesi_file_read(TesContext *ctx, const char *path, size_t largest, char **text, size_t *length);

#endif
