/* Copies of texts. */
#ifndef TESI_TEXT_H
#define TESI_TEXT_H

#include "base/base.h"

/* The pointer becomes the address of a copy, to be freed by tesi_free(); NULL of NULL. */
TesStatus tesi_copy_text(TesContext *ctx, const char *text, void *pointer_to_pointer);

#endif
