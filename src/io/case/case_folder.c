/* output.folder: the folder for the files of a case. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"

/* Puts the name of a file into the folder. "-" is the standard output. */
static TesStatus put_in(TesContext *ctx, const char *folder, char **file) {
  TesStatus status = TES_OK;
  char *path = NULL;
  if (!*file || **file == '/' || !strcmp(*file, "-")) return TES_OK;
  const size_t size = strlen(folder) + strlen(*file) + 2;
  TES_ALLOC(&path, size);
  snprintf(path, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", *file);
  tesi_free(ctx, file);
  *file = path;
done:
  return status;
}

TesStatus tesi_case_put_in_folder(TesCase *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  char **const files[] = {&c->vtu,    &c->vtkhdf,       &c->json,      &c->checkpoint,
                          &c->series, &c->picture.file, &c->plot.file, &c->film};
  if (!c->folder) return TES_OK;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) TES_TRY(put_in(ctx, c->folder, files[i]));
  for (int i = 0; i < c->lines; i++) TES_TRY(put_in(ctx, c->folder, &c->line[i].file));
done:
  return status;
}
