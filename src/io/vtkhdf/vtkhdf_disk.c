/* A plain driver for HDF5's files: each write goes to the disk at once. It differs from HDF5's own driver in four
 * ways.
 * - There is no lock, so that a file can be read during a run.
 * - Metadata of arrays do not cross pages of the system: allocate().
 * - The file grows to the length that HDF5 will state before the superblock states it, so that a killed process
 *   leaves no file that seems truncated.
 * - A write that fails is remembered, and HDF5 is told that it succeeded: HDF5 (1.10) reads freed memory at the end
 *   of a process that could not close a file. */
#ifdef TESI_HDF5
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/vtkhdf/vtkhdf.h"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct Disk {
  H5FD_t base; /* HDF5's own data must come first */
  int descriptor;
  haddr_t end, size; /* end of the space that HDF5 uses; end of the file */
  TesiHdfDisk *state;
} Disk;

typedef struct Info {
  TesiHdfDisk *state;
} Info;

static void fail(Disk *disk, int error) {
  if (!disk->state->error) disk->state->error = error ? error : EIO;
}

static H5FD_t *open_disk(const char *name, unsigned flags, hid_t access, haddr_t most) {
  const Info *info = H5Pget_driver_info(access);
  const int how = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0) |
                  (flags & H5F_ACC_CREAT ? O_CREAT : 0);
  struct stat there;
  Disk *disk = calloc(1, sizeof *disk);
  (void)most;
  if (!disk || !info) return free(disk), NULL;
  disk->state = info->state;
  disk->descriptor = open(name, how | O_CLOEXEC, 0666);
  if (disk->descriptor < 0 || fstat(disk->descriptor, &there) != 0) {
    fail(disk, errno);
    if (disk->descriptor >= 0) close(disk->descriptor);
    return free(disk), NULL;
  }
  disk->state->error = 0; /* HDF5 first asks whether the file exists */
  disk->size = (haddr_t)there.st_size;
  return &disk->base;
}

static herr_t close_disk(H5FD_t *file) {
  Disk *disk = (Disk *)file;
  if (close(disk->descriptor) != 0) fail(disk, errno);
  free(disk);
  return 0;
}

static int compare(const H5FD_t *a, const H5FD_t *b) {
  const int one = ((const Disk *)a)->descriptor, other = ((const Disk *)b)->descriptor;
  return (one > other) - (one < other);
}

static herr_t query(const H5FD_t *file, unsigned long *flags) {
  (void)file;
  *flags = 0; /* each block is requested separately */
  return 0;
}

/* A process can be killed between two pages of a write. Therefore metadata of arrays lie within one page, if they
 * fit, so that they are rewritten completely or not at all. */
static haddr_t allocate(H5FD_t *file, H5FD_mem_t type, hid_t transfer, hsize_t size) {
  enum { PAGE = 4096 };
  Disk *disk = (Disk *)file;
  haddr_t at = disk->end;
  (void)type, (void)transfer;
  if (size <= PAGE && at % PAGE + size > PAGE) at += PAGE - at % PAGE;
  disk->end = at + size;
  return at;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const Disk *)file)->end;
}

static herr_t set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end) {
  (void)type;
  ((Disk *)file)->end = end;
  return 0;
}

static haddr_t get_size(const H5FD_t *file, H5FD_mem_t type) {
  const Disk *disk = (const Disk *)file;
  (void)type;
  return disk->state->error && disk->end > disk->size ? disk->end : disk->size;
}

/* Bytes that were never written are zero. */
static herr_t read_disk(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, void *data) {
  Disk *disk = (Disk *)file;
  char *to = data;
  (void)type, (void)transfer;
  for (ssize_t n; size > 0; at += (haddr_t)n, to += n, size -= (size_t)n) {
    n = pread(disk->descriptor, to, size, (off_t)at);
    if (n < 0 && errno == EINTR) n = 0;
    if (n < 0) fail(disk, errno);
    if (n <= 0) break;
  }
  memset(to, 0, size);
  return 0;
}

static void grow(Disk *disk) {
  if (disk->state->error || disk->size >= disk->end) return;
  if (ftruncate(disk->descriptor, (off_t)disk->end) == 0)
    disk->size = disk->end;
  else
    fail(disk, errno);
}

static herr_t write_disk(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                         const void *data) {
  Disk *disk = (Disk *)file;
  const char *from = data;
  (void)type, (void)transfer;
  if (at == 0) grow(disk); /* the superblock, which states the length of the file */
  while (size > 0 && !disk->state->error) {
    const ssize_t n = pwrite(disk->descriptor, from, size, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      fail(disk, n < 0 ? errno : EIO);
      break;
    }
    at += (haddr_t)n, from += n, size -= (size_t)n;
    if (at > disk->size) disk->size = at;
  }
  return 0;
}

static herr_t truncate_disk(H5FD_t *file, hid_t transfer, hbool_t closing) {
  (void)transfer, (void)closing;
  grow((Disk *)file);
  return 0;
}

static const H5FD_class_t disk_class = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600,
#endif
    .name = "tessera",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(Info),
    .open = open_disk,
    .close = close_disk,
    .cmp = compare,
    .query = query,
    .alloc = allocate,
    .get_eoa = get_end,
    .set_eoa = set_end,
    .get_eof = get_size,
    .read = read_disk,
    .write = write_disk,
    .truncate = truncate_disk,
    .fl_map = H5FD_FLMAP_SINGLE};

/* Access through the driver, with chunks and objects in the form of one version. */
static hid_t access_by(TesiHdfDisk *disk, H5F_libver_t version, H5F_libver_t last) {
  const Info info = {disk};
  const hid_t driver = H5FDregister(&disk_class), access = H5Pcreate(H5P_FILE_ACCESS);
  const bool made = driver >= 0 && access >= 0 && H5Pset_driver(access, driver, &info) >= 0 &&
                    H5Pset_libver_bounds(access, version, last) >= 0;
  if (driver >= 0) H5FDunregister(driver);
  if (made) return access;
  if (access >= 0) H5Pclose(access);
  return -1;
}

/* Indices of arrays have version 1.10, in which an entry keeps its place when others are added, so that old entries
 * can be read at any time. */
hid_t tesi_hdf_open(const char *path, TesiHdfDisk *disk) {
  const hid_t access = access_by(disk, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const hid_t file = access < 0 ? -1 : H5Fopen(path, H5F_ACC_RDWR, access);
  if (access >= 0) H5Pclose(access);
  return file;
}

/* The superblock has version 1.8: version 1.10 would state that the file is being written, and readers refuse such
 * files. Older headers have no checksums, so HDF5 reads damaged ones beyond their end. */
hid_t tesi_hdf_create_closed(const char *path, TesiHdfDisk *disk) {
  const hid_t access = access_by(disk, H5F_LIBVER_V18, H5F_LIBVER_V18);
  const hid_t file = access < 0 ? -1 : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (access >= 0) H5Pclose(access);
  return file;
}

hid_t tesi_hdf_create(const char *path, TesiHdfDisk *disk) {
  const hid_t file = tesi_hdf_create_closed(path, disk);
  return file < 0 || H5Fclose(file) < 0 ? -1 : tesi_hdf_open(path, disk);
}
#else
typedef int TesiNoHdfDisk; /* a C file must not be empty */
#endif
