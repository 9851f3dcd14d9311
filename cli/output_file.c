#include "output_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static TesStatus fail(const char *path) {
  cli_usage_error("cannot write %s: %s", path, strerror(errno));
  return TES_IO;
}

static TesStatus write_all(const char *path, const char *mode, const char *text) {
  FILE *out = fopen(path, mode);
  if (!out) return TES_IO;
  const bool written = fputs(text, out) >= 0;
  return fclose(out) == 0 && written ? TES_OK : TES_IO;
}

/* The file is written under another name first; pipes and terminals are written directly. On several ranks rank 0
 * writes. */
static TesStatus write_file(const char *path, const char *text) {
  struct stat old;
  if (tes_communicator_rank(cli_ranks()) > 0) return TES_OK;
  if (stat(path, &old) == 0 && !S_ISREG(old.st_mode))
    return write_all(path, "w", text) == TES_OK ? TES_OK : fail(path);
  char *temporary = malloc(strlen(path) + 32);
  if (!temporary) return TES_OUT_OF_MEMORY;
  sprintf(temporary, "%s.%ld.tmp", path, (long)getpid());
  TesStatus status = write_all(temporary, "wx", text);
  if (status == TES_OK && rename(temporary, path) != 0) status = TES_IO;
  if (status != TES_OK) {
    status = fail(path);
    unlink(temporary);
  }
  free(temporary);
  return status;
}

TesStatus cli_file_commit(TesContext *ctx, FILE *stream, char **text, const char *path) {
  const bool collected = !ferror(stream);
  TesStatus status = fclose(stream) == 0 && collected ? TES_OK : TES_OUT_OF_MEMORY;
  if (status == TES_OK && !strcmp(path, "-")) {
    status = fputs(*text, stdout) >= 0 && fflush(stdout) == 0 ? TES_OK : fail("the standard output");
  } else if (status == TES_OK) {
    status = tes_file_check(ctx, path); /* which reports what it finds */
    if (status == TES_OK) status = write_file(path, *text);
  }
  free(*text);
  *text = NULL;
  return status;
}
