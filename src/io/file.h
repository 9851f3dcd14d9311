/* Files that appear complete or not at all: a file is written in the same folder without a name (or, if the file system
 * does not allow this, under a temporary name), synchronised and renamed. Only with temporary names a killed process
 * leaves files behind. Special files (a pipe, a terminal, /dev/null) are written directly, and "-" is the standard
 * output. */
#ifndef TESI_FILE_H
#define TESI_FILE_H

#include "base/base.h"

typedef struct TesiFile TesiFile;

/* Errors of all functions: TES_IO with the path and the system's message, TES_OUT_OF_MEMORY. */
TesStatus tesi_file_create(TesContext *ctx, const char *path, TesiFile **file);
/* On several ranks rank 0 owns such a file: the other ranks call the same functions, which write nothing. All agree
 * about creation, commit and discard. This function makes a file per rank, each with its own path. */
TesStatus tesi_file_create_piece(TesContext *ctx, const char *path, TesiFile **file);
TesStatus tesi_file_write(TesiFile *file, const void *data, size_t bytes);
TesStatus tesi_file_printf(TesiFile *file, const char *format, ...) TESI_PRINTF(2, 3); /* at most 4095 bytes */
/* Bytes written so far, without the bytes of tesi_file_patch(). */
int64_t tesi_file_position(const TesiFile *file);
/* Overwrites bytes written before, at this position. */
TesStatus tesi_file_patch(TesiFile *file, int64_t position, const void *data, size_t bytes);
/* Whether tesi_file_patch() works: not on pipes. */
bool tesi_file_can_patch(const TesiFile *file);
/* Gives the file its name, replacing an older file; on failure the older file stays. Destroys *file in both cases. */
TesStatus tesi_file_commit(TesiFile **file);
/* Removes the temporary file. *file may be NULL. */
void tesi_file_discard(TesiFile **file);

/* tesi_agree() for work of rank 0: the message of a failure does not name the rank. */
TesStatus tesi_file_agree(TesContext *ctx, TesStatus status);

/* The content of a file, followed by a 0; files longer than `largest` bytes are refused. The caller frees it. "-" is
 * the standard input. Errors: TES_IO. */
TesStatus tesi_file_read(TesContext *ctx, const char *path, size_t largest, char **text, size_t *length);

#endif
