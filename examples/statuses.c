/* Prints the version, and everything that a call of Tessera can return: the smallest program that uses the library.
 *
 *   cc statuses.c -o statuses $(pkg-config --cflags --libs tessera) */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void) {
  printf("Tessera %s\n%-18s %-4s %s\n", tes_version(), "status", "exit", "meaning");
  for (int i = TES_OK; i <= TES_INTERNAL; i++) {
    const TesStatus status = (TesStatus)i;
    printf("%-18s %-4d %s\n", tes_status_name(status), tes_status_exit(status), tes_status_text(status));
  }
  return 0;
}
