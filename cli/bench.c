/* tessera bench: replaces this process by tessera-bench, the program of bench/, which has access to inner kernels. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "command.h"

enum { PATH = PATH_MAX + 64 };

/* The folder of this program. */
static bool find_own_folder(char folder[PATH]) {
  const ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX);
  if (length <= 0 || length >= PATH_MAX) return false;
  folder[length] = 0;
  *strrchr(folder, '/') = 0;
  return true;
}

int cli_bench(int argc, char **argv) {
  /* The places of tessera-bench: in a build folder, in a bundle (tools/bundle.sh), and installed. */
  static const char *const places[] = {"bench", ".", CLI_LIBEXEC};
  char folder[PATH], path[2 * PATH];
  (void)argc;
  if (!find_own_folder(folder)) return cli_usage_error("bench: the folder of this program cannot be found");
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    snprintf(path, sizeof path, "%s/%s/tessera-bench", folder, places[i]);
    execv(path, argv);
    if (errno == ENOENT || errno == ENOTDIR) continue;
    fprintf(stderr, "tessera: %s cannot be started: %s\n", path, strerror(errno));
    return tes_status_exit(TES_MISSING);
  }
  fprintf(stderr,
          "tessera: bench needs the program tessera-bench, which is not in %s/bench, %s or %s/%s; in a build "
          "folder 'ninja tessera_bench' makes it\n",
          folder, folder, folder, CLI_LIBEXEC);
  return tes_status_exit(TES_MISSING);
}
