/* A leak that the address sanitizer must find: proof that leaks are looked for at all on this machine. */
#include <stdlib.h>

static void *volatile kept;

int main(void) {
  kept = malloc(100);
  kept = NULL;
  return 0;
}
