/* Ctrl-C while the library computes: Python's own handler only notes it, and is asked when the library returns. */
#include <signal.h>
#include "run.h"

enum { DEPTH = 8 };

static TesContext *volatile context_of[DEPTH];
static volatile sig_atomic_t depth;
static struct sigaction before;

static void on_interrupt(int number) {
  if (depth > 0 && depth <= DEPTH) tes_context_interrupt(context_of[depth - 1]);
  before.sa_handler(number);
}

static bool listens(void) {
  return sigaction(SIGINT, NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) &&
         before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN;
}

static bool installed;

void py_interrupt_begin(TesContext *context) {
  if (depth < DEPTH) context_of[depth] = context;
  if (depth++ > 0) return;
  installed = listens();
  struct sigaction own = before;
  own.sa_handler = on_interrupt;
  if (installed) sigaction(SIGINT, &own, NULL);
}

void py_interrupt_end(void) {
  if (--depth > 0) return;
  if (installed) sigaction(SIGINT, &before, NULL);
}
