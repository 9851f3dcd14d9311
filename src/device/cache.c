#include "device/cache.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "device/sha256.h"

/* magic, key, checksum of the image, length of the image in decimal: all text, then the image */
enum { MAGIC = 8, HEX = 64, LENGTH = 16, HEADER = MAGIC + 2 * HEX + LENGTH };
static const char magic[MAGIC + 1] = "TESKERN1";

size_t tesi_cache_limit(void) {
  const char *given = getenv("TESSERA_CACHE_MIB");
  char *end = NULL;
  const double mib = given ? strtod(given, &end) : 512;
  return (size_t)((given && (end == given || *end || !(mib >= 0 && mib <= 1e9)) ? 512 : mib) * (1 << 20));
}

static bool make_folders(char *path) {
  for (char *p = path + 1; *p; p++)
    if (*p == '/') {
      *p = 0;
      const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
      *p = '/';
      if (!made) return false;
    }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Another user could have made a folder below /tmp. */
static bool is_ours(const char *folder) {
  struct stat info;
  return lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         !(info.st_mode & 077);
}

bool tesi_cache_folder(char folder[TESI_CACHE_PATH]) {
  const char *given = getenv("TESSERA_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length;
  bool own = true;
  if (given && *given) {
    if (!strcmp(given, "none")) return false;
    length = snprintf(folder, TESI_CACHE_PATH, "%s", given);
  } else if (xdg && *xdg == '/') {
    length = snprintf(folder, TESI_CACHE_PATH, "%s/tessera/kernels", xdg);
  } else if (home && *home == '/') {
    length = snprintf(folder, TESI_CACHE_PATH, "%s/.cache/tessera/kernels", home);
  } else {
    length = snprintf(folder, TESI_CACHE_PATH, "/tmp/tessera-%ld", (long)geteuid());
    own = false;
  }
  if (length < 0 || length > TESI_CACHE_PATH - 200 || !make_folders(folder)) return false;
  return own || is_ours(folder);
}

static bool file_path(const char *name, const char *key, char path[TESI_CACHE_PATH]) {
  char folder[TESI_CACHE_PATH];
  if (!tesi_cache_folder(folder)) return false;
  const int length = snprintf(path, TESI_CACHE_PATH, "%s/%.64s-%.32s.bin", folder, name, key);
  return length > 0 && length < TESI_CACHE_PATH;
}

static void checksum(const void *image, size_t bytes, char hex[HEX + 1]) {
  TesiSha256 sha;
  tesi_sha256_init(&sha);
  tesi_sha256_add(&sha, image, bytes);
  tesi_sha256_hex(&sha, hex);
}

TesStatus tesi_cache_read(TesContext *ctx, const char *name, const char *key, char **image, size_t *bytes) {
  TesStatus status = TES_OK;
  char path[TESI_CACHE_PATH], header[HEADER + 1] = "", sum[HEX + 1];
  char *data = NULL;
  FILE *file = NULL;
  size_t length = 0;
  *image = NULL;
  *bytes = 0;
  if (!file_path(name, key, path) || !(file = fopen(path, "rb"))) goto done;
  if (fread(header, 1, HEADER, file) != HEADER || memcmp(header, magic, MAGIC) ||
      memcmp(header + MAGIC, key, HEX) || sscanf(header + MAGIC + 2 * HEX, "%16zu", &length) != 1 ||
      length > (size_t)1 << 40)
    goto done;
  TES_ALLOC(&data, length + 1);
  if (fread(data, 1, length, file) != length || fgetc(file) != EOF) goto done;
  checksum(data, length, sum);
  if (memcmp(sum, header + MAGIC + HEX, HEX)) goto done;
  *image = data;
  *bytes = length;
  data = NULL;
  fclose(file);
  file =
      fopen(path, "rb+"); /* sets the time of the last change, by which trimming finds recently used files */
  if (file) (void)!futimens(fileno(file), NULL);
done:
  if (file) fclose(file);
  tesi_free(ctx, &data);
  return status;
}

bool tesi_cache_write(const char *name, const char *key, const void *image, size_t bytes) {
  char path[TESI_CACHE_PATH], temporary[TESI_CACHE_PATH + 16], header[HEADER + 1], sum[HEX + 1];
  if (!file_path(name, key, path)) return false;
  checksum(image, bytes, sum);
  snprintf(header, sizeof header, "%s%.64s%s%16zu", magic, key, sum, bytes);
  snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  const int descriptor = mkstemp(temporary);
  if (descriptor < 0) return false;
  FILE *file = fdopen(descriptor, "wb");
  bool good = file && fwrite(header, 1, HEADER, file) == HEADER && fwrite(image, 1, bytes, file) == bytes;
  if (file) good = fclose(file) == 0 && good;
  if (!good || rename(temporary, path) != 0) {
    unlink(temporary);
    return false;
  }
  size_t used;
  tesi_cache_usage(NULL, &used);
  if (used > tesi_cache_limit()) tesi_cache_trim(tesi_cache_limit() / 2);
  return true;
}

typedef struct Entry {
  char name[256];
  size_t bytes;
  struct timespec time;
  bool being_written; /* a temporary file so young that a process may still rename it */
} Entry;

enum { LONGEST_WRITE = 600 }; /* seconds; older temporary files are abandoned */

/* Uses malloc, since there is no context when the program clears its cache. NULL with *count 0 if there are no
 * files. */
static Entry *list(const char *folder, int *count) {
  Entry *entries = NULL;
  int capacity = 0;
  *count = 0;
  DIR *directory = opendir(folder);
  if (!directory) return NULL;
  for (struct dirent *d; (d = readdir(directory));) {
    char path[TESI_CACHE_PATH + 256];
    struct stat info;
    const char *const ending = strstr(d->d_name, ".bin");
    if (!ending) continue;
    snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (*count == capacity) {
      Entry *more = realloc(entries, (size_t)(capacity = 2 * capacity + 64) * sizeof *more);
      if (!more) break;
      entries = more;
    }
    Entry *entry = &entries[(*count)++];
    snprintf(entry->name, sizeof entry->name, "%s", d->d_name);
    entry->bytes = (size_t)info.st_size;
    entry->time = info.st_mtim;
    entry->being_written = strcmp(ending, ".bin") != 0 && time(NULL) - info.st_mtim.tv_sec < LONGEST_WRITE;
  }
  closedir(directory);
  return entries;
}

static int by_age(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  if (x->time.tv_sec != y->time.tv_sec) return x->time.tv_sec < y->time.tv_sec ? -1 : 1;
  return (x->time.tv_nsec > y->time.tv_nsec) - (x->time.tv_nsec < y->time.tv_nsec);
}

void tesi_cache_usage(int *files, size_t *bytes) {
  char folder[TESI_CACHE_PATH];
  int count = 0;
  size_t sum = 0;
  Entry *entries = tesi_cache_folder(folder) ? list(folder, &count) : NULL;
  for (int i = 0; i < count; i++) sum += entries[i].bytes;
  free(entries);
  if (files) *files = count;
  if (bytes) *bytes = sum;
}

int tesi_cache_trim(size_t bytes) {
  char folder[TESI_CACHE_PATH], path[TESI_CACHE_PATH + 256];
  int count = 0, removed = 0;
  size_t left = 0;
  Entry *entries = tesi_cache_folder(folder) ? list(folder, &count) : NULL;
  if (!entries) return 0;
  for (int i = 0; i < count; i++) left += entries[i].bytes;
  qsort(entries, (size_t)count, sizeof *entries, by_age);
  for (int i = 0; i < count && left > bytes; i++) {
    if (entries[i].being_written) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entries[i].name);
    if (unlink(path) == 0) removed++;
    left -= entries[i].bytes;
  }
  free(entries);
  return removed;
}

void tes_cache_describe(TesCache *cache) {
  *cache = (TesCache){.bound = tesi_cache_limit()};
  if (!tesi_cache_folder(cache->folder)) cache->folder[0] = 0;
  tesi_cache_usage(&cache->entries, &cache->bytes);
}

int tes_cache_clear(void) {
  return tesi_cache_trim(0);
}
