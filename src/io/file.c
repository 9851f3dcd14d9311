#include "io/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/grow.h"
#include "io/utf8.h"
#include "parallel/comm.h"
#include "tessera/report.h"

enum { BUFFER = 65536 };

struct TesiFile {
  TesContext *ctx;
  char *path, *temporary; /* temporary: NULL if the file is written directly, or has no name yet */
  int descriptor;
  bool close, seekable, unnamed;
  bool silent;      /* on a rank other than 0; only rank 0 writes */
  TesStatus status; /* status of writing so far */
  int64_t position;
  size_t used;
  char buffer[BUFFER];
};

static void release(TesiFile **file);

/* A path as one line of a message. */
static const char *name_of(const TesiFile *file) {
  return strcmp(file->path, "-") ? file->path : "the standard output";
}

static TesStatus write_fully(TesiFile *file, const char *data, size_t bytes) {
  TesContext *ctx = file->ctx;
  TesStatus status = TES_OK;
  while (bytes && !file->silent) {
    const ssize_t n = write(file->descriptor, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) TES_FAIL(TES_IO, "cannot write %s: %s", name_of(file), strerror(errno));
    if (n == 0) TES_FAIL(TES_IO, "cannot write %s: nothing was written", name_of(file));
    data += n;
    bytes -= (size_t)n;
  }
done:
  return status;
}

static TesStatus flush(TesiFile *file) {
  const size_t used = file->used;
  file->used = 0;
  return write_fully(file, file->buffer, used);
}

/* The permissions of the new file: those of the file that it replaces, else as umask allows. */
static mode_t permissions(const struct stat *old, bool exists) {
  return exists ? old->st_mode & 0777 : 0666;
}

/* The system's name of an open file, for linkat(). */
static void name_descriptor(int descriptor, char name[48]) {
  snprintf(name, 48, "/proc/self/fd/%d", descriptor);
}

/* A file without a name disappears with its process, however the process ends; some file systems do not have such
 * files. */
static void open_unnamed(TesiFile *file, mode_t mode) {
#ifdef O_TMPFILE
  char folder[PATH_MAX], name[48];
  const char *slash = strrchr(file->path, '/');
  const int length = slash ? (int)(slash - file->path) + 1 : 0;
  if (snprintf(folder, sizeof folder, "%.*s.", length, file->path) >= (int)sizeof folder) return;
  file->descriptor = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (file->descriptor < 0) return;
  name_descriptor(file->descriptor, name);
  file->unnamed = access(name, F_OK) == 0;
  if (file->unnamed) return;
  close(file->descriptor);
  file->descriptor = -1;
#else
  (void)file, (void)mode;
#endif
}

/* Gives the file a temporary name: a new file, or an open file without a name. -1: errno has the reason. */
static int make_name(const TesiFile *file, mode_t mode) {
  char name[48];
  if (!file->unnamed) return open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  name_descriptor(file->descriptor, name);
  return linkat(AT_FDCWD, name, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) ? -1 : file->descriptor;
}

/* "folder/.name.PID.N.tmp" would be hidden; a visible name shows a user what a killed run left. Long names are cut,
 * since the system allows 255 bytes. */
static TesStatus open_temporary(TesiFile *file, mode_t mode) {
  static atomic_uint counter;
  TesContext *ctx = file->ctx;
  TesStatus status = TES_OK;
  enum { BEGINNING = 200 };
  const size_t size = strlen(file->path) + 48;
  const char *slash = strrchr(file->path, '/');
  const int folder = slash ? (int)(slash - file->path) + 1 : 0;
  TES_ALLOC(&file->temporary, size);
  for (int attempt = 0, made = -1; made < 0; attempt++) {
    snprintf(file->temporary, size, "%.*s%.*s.%ld-%u.tmp", folder, file->path, BEGINNING, file->path + folder,
             (long)getpid(), atomic_fetch_add(&counter, 1));
    made = make_name(file, mode);
    if (made >= 0) file->descriptor = made;
    if (made >= 0 || (errno == EEXIST && attempt < 100)) continue;
    const int error = errno;
    tesi_free(ctx, &file->temporary); /* nothing to remove */
    TES_FAIL(TES_IO, "cannot write %s: %s", file->path, strerror(error));
  }
done:
  return status;
}

static TesStatus open_target(TesiFile *file) {
  TesContext *ctx = file->ctx;
  TesStatus status = TES_OK;
  struct stat old;
  file->close = strcmp(file->path, "-") != 0;
  if (!file->close) {
    fflush(stdout);
    file->descriptor = STDOUT_FILENO;
    goto done;
  }
  const bool exists = stat(file->path, &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) TES_FAIL(TES_IO, "cannot write %s: it is a folder", file->path);
  if (exists && !S_ISREG(old.st_mode)) {
    file->descriptor = open(file->path, O_WRONLY | O_CLOEXEC);
    if (file->descriptor < 0) TES_FAIL(TES_IO, "cannot write %s: %s", file->path, strerror(errno));
    goto done;
  }
  if (exists && access(file->path, W_OK))
    TES_FAIL(TES_IO, "cannot write %s: %s", file->path, strerror(errno));
  open_unnamed(file, permissions(&old, exists));
  if (file->descriptor < 0) TES_TRY(open_temporary(file, permissions(&old, exists)));
  if (exists) (void)!fchmod(file->descriptor, permissions(&old, true));
  file->seekable = true;
done:
  return status;
}

/* Follows a symbolic link, so that the file it names is replaced, not the link. */
static char *resolved(TesContext *ctx, const char *path) {
  char *real = strcmp(path, "-") ? realpath(path, NULL) : NULL;
  char *copy = tesi_strdup(ctx, real ? real : path);
  free(real);
  return copy;
}

TesStatus tesi_file_agree(TesContext *ctx, TesStatus status) {
  static const char first[] = "rank 0 of ";
  char message[1024];
  status = tesi_agree(ctx, status);
  const char *told = tes_context_message(ctx), *rest = strstr(told, ": ");
  if (status == TES_OK || strncmp(told, first, strlen(first)) != 0 || !rest) return status;
  snprintf(message, sizeof message, "%s", rest + 2);
  tesi_context_forget(ctx);
  return tesi_fail(ctx, status, __FILE__, __LINE__, __func__, "%s", message);
}

static TesStatus create(TesContext *ctx, const char *path, bool silent, TesiFile **file) {
  TesStatus status = TES_OK;
  TesiFile *f = NULL;
  char line[400];
  *file = NULL;
  TES_CHECK(path && *path, "the name of the file to write is empty");
  tesi_text_line(path, line, sizeof line);
  TES_CHECK(!tesi_text_control(path), "the name of the file to write has a control character: %s", line);
  TES_NEW(&f);
  f->ctx = ctx;
  f->descriptor = -1;
  f->path = resolved(ctx, path);
  if (!f->path) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the name of a file");
  f->silent = silent;
  if (!f->silent) TES_TRY(open_target(f));
done:
  status = tesi_file_agree(ctx, status);
  if (status == TES_OK)
    *file = f;
  else
    release(&f);
  return status;
}

TesStatus tesi_file_create(TesContext *ctx, const char *path, TesiFile **file) {
  return create(ctx, path, tes_communicator_rank(tesi_context_communicator(ctx)) > 0, file);
}

TesStatus tesi_file_create_piece(TesContext *ctx, const char *path, TesiFile **file) {
  return create(ctx, path, false, file);
}

TesStatus tesi_file_write(TesiFile *file, const void *data, size_t bytes) {
  TesContext *ctx = file->ctx;
  TesStatus status = TES_OK;
  file->position += (int64_t)bytes;
  if (file->silent) return TES_OK;
  TES_TRY(tesi_work_go_on(ctx));
  if (bytes > BUFFER - file->used) TES_TRY(flush(file));
  if (bytes >= BUFFER) {
    TES_TRY(write_fully(file, data, bytes));
  } else if (bytes) {
    memcpy(file->buffer + file->used, data, bytes);
    file->used += bytes;
  }
done:
  if (status != TES_OK) file->status = status;
  return status;
}

TesStatus tesi_file_printf(TesiFile *file, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0 || length >= (int)sizeof text)
    return tesi_fail(file->ctx, TES_INTERNAL, __FILE__, __LINE__, __func__, "line of %d bytes for %s", length,
                     name_of(file));
  return tesi_file_write(file, text, (size_t)length);
}

int64_t tesi_file_position(const TesiFile *file) {
  return file->position;
}

bool tesi_file_can_patch(const TesiFile *file) {
  return file->seekable;
}

TesStatus tesi_file_patch(TesiFile *file, int64_t position, const void *data, size_t bytes) {
  TesContext *ctx = file->ctx;
  TesStatus status = TES_OK;
  TES_TRY(flush(file));
  const char *from = data;
  while (bytes && !file->silent) {
    const ssize_t n = pwrite(file->descriptor, from, bytes, (off_t)position);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) TES_FAIL(TES_IO, "cannot write %s: %s", name_of(file), strerror(errno));
    from += n, position += n, bytes -= (size_t)n;
  }
done:
  if (status != TES_OK) file->status = status;
  return status;
}

static TesStatus commit(TesiFile *f) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  TES_TRY(flush(f));
  if ((f->temporary || f->unnamed) && fsync(f->descriptor) && errno != EINVAL && errno != EROFS)
    TES_FAIL(TES_IO, "cannot write %s: %s", f->path, strerror(errno));
  if (f->unnamed) TES_TRY(open_temporary(f, 0));
  if (f->close) {
    const int failed = close(f->descriptor);
    f->descriptor = -1;
    if (failed) TES_FAIL(TES_IO, "cannot write %s: %s", f->path, strerror(errno));
  }
  if (f->temporary) {
    if (rename(f->temporary, f->path)) TES_FAIL(TES_IO, "cannot write %s: %s", f->path, strerror(errno));
    tesi_free(ctx, &f->temporary);
  }
done:
  return status;
}

static void release(TesiFile **file) {
  TesiFile *f = *file;
  *file = NULL;
  if (!f) return;
  TesContext *ctx = f->ctx;
  if (f->close && f->descriptor >= 0) close(f->descriptor);
  if (f->temporary) unlink(f->temporary);
  tesi_free(ctx, &f->temporary);
  tesi_free(ctx, &f->path);
  tesi_free(ctx, &f);
}

TesStatus tesi_file_commit(TesiFile **file) {
  TesContext *ctx = (*file)->ctx;
  const TesStatus status = tesi_file_agree(ctx, (*file)->silent ? TES_OK : commit(*file));
  release(file);
  return status;
}

/* If rank 0 cannot write, the other ranks learn it here or when they close the file. */
void tesi_file_discard(TesiFile **file) {
  if (*file) tesi_agree((*file)->ctx, (*file)->status);
  release(file);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static TesStatus read_all(TesContext *ctx, const char *path, FILE *stream, size_t largest, char **text,
                          size_t *length) {
  TesStatus status = TES_OK;
  char *buffer = NULL;
  size_t used = 0;
  int64_t size = 0;
  TES_GROW(&buffer, 0, 4096, &size);
  for (size_t n; (n = fread(buffer + used, 1, (size_t)size - used - 1, stream)) > 0;) {
    used += n;
    if (used > largest) TES_FAIL(TES_IO, "%s is longer than %zu bytes: not a case file?", path, largest);
    TES_GROW(&buffer, (int64_t)used, (int64_t)used + 2, &size);
  }
  if (ferror(stream)) TES_FAIL(TES_IO, "cannot read %s: %s", path, strerror(errno));
  buffer[used] = 0;
  *length = used;
  *text = buffer;
  buffer = NULL;
done:
  tesi_free(ctx, &buffer);
  return status;
}

TesStatus tesi_file_read(TesContext *ctx, const char *path, size_t largest, char **text, size_t *length) {
  TesStatus status = TES_OK;
  const bool standard = !strcmp(path, "-");
  FILE *stream = standard ? stdin : fopen(path, "rb");
  *text = NULL;
  if (!stream) TES_FAIL(TES_IO, "cannot read %s: %s", path, strerror(errno));
  TES_TRY(read_all(ctx, standard ? "the standard input" : path, stream, largest, text, length));
done:
  if (stream && !standard) fclose(stream);
  return status;
}

TesStatus tes_file_check(TesContext *context, const char *path) {
  TesiFile *file = NULL;
  struct stat there;
  if (!path || !strcmp(path, "-")) return TES_OK;
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) return TES_OK;
  const TesStatus status = tesi_file_create(context, path, &file);
  tesi_file_discard(&file); /* an uncommitted file leaves nothing */
  return status;
}
