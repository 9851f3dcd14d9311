/* Ctrl-C. Loops of the library ask the context whether to stop, and end with TES_INTERRUPTED. Code that does not ask,
 * such as a factorization of MUMPS, is abandoned after 0.3 s: the program ends. Files have no name until they are
 * complete, so no half-written file stays. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "command.h"

enum { LOOKS = 15, MILLISECONDS = 20 };

static TesContext *volatile interruptible;
static sem_t asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *stage; /* NULL: a stage that may end in its own time, for example to write its results */
static volatile sig_atomic_t signalled;
static unsigned stage_number; /* number of stages so far */
static char part[128];        /* part of the stage; "": not known */

void cli_interrupt_stage(const char *title) {
  pthread_mutex_lock(&lock);
  stage = title;
  stage_number++;
  part[0] = 0;
  pthread_mutex_unlock(&lock);
}

void cli_interrupt_part(const char *line) {
  pthread_mutex_lock(&lock);
  const size_t length = stage ? strlen(stage) : 0;
  if (length && !strncmp(line, stage, length) && !strncmp(line + length, ": ", 2))
    snprintf(part, sizeof part, "%s", line + length + 2);
  pthread_mutex_unlock(&lock);
}

/* The first Ctrl-C ends the set-up, refinement or solve; the second one ends the program. */
static void on_interrupt(int signal_number) {
  TesContext *const context = interruptible;
  if (context) tes_context_interrupt(context);
  signalled = signal_number;
  sem_post(&asked);
  signal(signal_number, SIG_DFL);
}

/* The computing thread may hold a lock on the output. The caller has the lock of the stage, so that no stage ends
 * meanwhile. The launcher sends SIGTERM to all ranks when one of them has failed, which has told its message. */
static void end_program(void) {
  if (ftrylockfile(stdout) == 0) {
    cli_progress_end();
    fflush(stdout);
  }
  if (!cli_ranks() || signalled != SIGTERM)
    cli_usage_error("interrupted in %s%s%s%s", stage, part[0] ? " (" : "", part, part[0] ? ")" : "");
  _exit(tes_status_exit(TES_INTERRUPTED));
}

static void *watch(void *unused) {
  unsigned seen = 0;
  (void)unused;
  while (sem_wait(&asked) != 0) {
  }
  for (int looks = 0;; looks++) {
    nanosleep(&(struct timespec){.tv_nsec = MILLISECONDS * 1000000L}, NULL);
    pthread_mutex_lock(&lock);
    if (!stage || stage_number != seen) looks = 0;
    seen = stage_number;
    if (looks >= LOOKS) end_program();
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

/* This thread gets no signals; they go to threads that end by them. */
static void start_watch(void) {
  sigset_t all, before;
  pthread_t thread;
  sem_init(&asked, 0, 0);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cli_interrupt_begin(TesContext *context) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start_watch);
  interruptible = context;
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
}

void cli_interrupt_end(void) {
  cli_interrupt_stage(NULL);
  interruptible = NULL;
}
