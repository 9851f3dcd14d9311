/* A Gmsh file as trees. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "mesh/forest/gmsh.h"

TesStatus tesi_gmsh_load(TesContext *context, const char *path, char **text, size_t *length) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  FILE *file = fopen(path, "rb");
  struct stat info;
  long size;
  *length = 0;
  if (!file) TES_FAIL(TES_IO, "cannot read %s: %s", path, strerror(errno));
  if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode))
    TES_FAIL(TES_IO, "cannot read %s: it is a folder", path);
  if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
    TES_FAIL(TES_IO, "cannot read %s: %s", path, strerror(errno));
  TES_ALLOC(text, (size_t)size + 1);
  *length = fread(*text, 1, (size_t)size, file);
  if (ferror(file)) TES_FAIL(TES_IO, "cannot read %s: %s", path, strerror(errno));
done:
  if (file) fclose(file);
  return status;
}

TesStatus tesi_trees_file(TesContext *context, const TesMeshDesc *desc, TesiTrees **trees) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiGmsh mesh = {0};
  const char *path = desc->file;
  const TesiGmshOptions options = {desc->split, desc->file_periodic, desc->file_groups};
  char *text = NULL;
  size_t length = 0;
  const double start = tesi_now();
  TES_TRY(tesi_gmsh_load(ctx, path, &text, &length));
  TES_TRY(tesi_gmsh_parse(ctx, text, length, path, options, &mesh));
  tesi_log(ctx, TES_LOG_DETAIL, "mesh: %s read in %.2f s", path, tesi_now() - start);
  TES_TRY(tesi_gmsh_trees(&mesh, desc->dim, trees));
done:
  tesi_gmsh_free(&mesh);
  tesi_free(ctx, &text);
  return status;
}
