/* PNG files in memory. */
#ifndef TESI_PNG_H
#define TESI_PNG_H

#include "io/picture/canvas.h"

/* Encodes pixels [height][width]. The caller frees *png by free(). Errors: TES_MISSING in a build without libpng, where
 * `path`, the file that was asked for, is named; TES_OUT_OF_MEMORY. */
TesStatus tesi_png_encode(TesContext *ctx, int width, int height, TesiColour *pixels, const char *path,
                          char **png, size_t *length);
/* Bytes from 0 to 3 as a number. */
uint32_t tesi_png_number(const void *at);
/* Width (0) or height (1). */
uint32_t tesi_png_size(const char *png, int direction);
/* The next part of the compressed rows after the part at `before` (NULL: the first part), and its length. NULL: there
 * is no other part. */
const char *tesi_png_rows(const char *png, size_t length, const char *before, size_t *part);

#endif
