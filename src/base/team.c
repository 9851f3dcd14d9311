/* Teams of threads: see team.h. */
#include "base/team.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/team_wait.h"

typedef struct TesiTeam TesiTeam;

typedef struct Worker {
  TesiGate start; /* opened for each run in which the thread takes part, and for the end */
  TesiTeam *team;
  pthread_t thread;
  int number; /* as a member: 1, 2, ... */
} Worker;

struct TesiTeam {
  TesiGate done, step;          /* all workers have returned; all members have reached tesi_team_wait() */
  _Atomic int working, missing; /* number of members that have not */
  int threads;                  /* of this run */
  TesiBody *body;               /* NULL: the end */
  const void *data;
  int workers;
  Worker **worker;
};

static _Thread_local TesiTeam *own_team;
static _Thread_local bool inside; /* this thread is running a loop */
static pthread_key_t key;         /* destroys the team when its thread ends */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- workers ---------------------------------------------------------------------------------------------------- */

static void *work(void *argument) {
  Worker *w = argument;
  TesiTeam *team = w->team;
  inside = true;
  for (uint32_t turn = 0;; turn++) {
    tesi_gate_wait(&w->start, turn);
    if (!team->body) return NULL;
    team->body(team->data, &(TesiTeamMember){w->number, team->threads, team});
    if (atomic_fetch_sub(&team->working, 1) == 1) tesi_gate_open(&team->done);
  }
}

/* If OpenMP binds threads to places (OMP_PROC_BIND), the team binds its threads too: the main thread is bound to the
 * first place, and new threads would inherit this place. */
static void choose_place(pthread_attr_t *attributes, int number, int threads) {
  const int places = omp_get_num_places(), bind = (int)omp_get_proc_bind();
  if (bind == omp_proc_bind_false || places < 1) return;
  const bool spread = bind == omp_proc_bind_spread && threads < places;
  const int place = spread ? (int)((int64_t)number * places / threads) : number % places;
  const int count = omp_get_place_num_procs(place);
  int *processor = malloc((size_t)(count + 1) * sizeof *processor);
  cpu_set_t set;
  CPU_ZERO(&set);
  if (!processor) return;
  omp_get_place_proc_ids(place, processor);
  for (int i = 0; i < count; i++)
    if (processor[i] < CPU_SETSIZE) CPU_SET(processor[i], &set);
  if (count > 0) pthread_attr_setaffinity_np(attributes, sizeof set, &set);
  free(processor);
}

/* Signals are handled by the threads of the user. */
static bool start_worker(Worker *w, int threads) {
  sigset_t all, before;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes)) return false;
  choose_place(&attributes, w->number, threads);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&w->thread, &attributes, work, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return started;
}

static bool add_worker(TesiTeam *team, int threads) {
  Worker *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
  if (!w) return false;
  *w = (Worker){.team = team, .number = team->workers + 1};
  if (!start_worker(w, threads)) {
    free(w);
    return false;
  }
  team->worker[team->workers++] = w;
  return true;
}

/* ---- the team of a thread ------------------------------------------------------------------------------ */

static void end_team(void *argument) {
  TesiTeam *team = argument;
  team->body = NULL;
  for (int i = 0; i < team->workers; i++) {
    tesi_gate_open(&team->worker[i]->start);
    pthread_join(team->worker[i]->thread, NULL);
    free(team->worker[i]);
  }
  free(team->worker);
  free(team);
  own_team = NULL;
}

/* The threads of the parent do not exist in the child. */
static void forget_team(void) {
  own_team = NULL;
  pthread_setspecific(key, NULL);
}

static void make_key(void) {
  pthread_key_create(&key, end_team);
  pthread_atfork(NULL, NULL, forget_team);
}

/* Destroys the team of this thread at the end of the process, or when the library is unloaded; other threads destroy
 * theirs. */
__attribute__((destructor)) static void end_own_team(void) {
  if (!own_team || inside) return;
  pthread_setspecific(key, NULL);
  end_team(own_team);
}

static TesiTeam *make_team(void) {
  TesiTeam *team = aligned_alloc(64, (sizeof *team + 63) / 64 * 64);
  if (!team) return NULL;
  pthread_once(&once, make_key);
  *team = (TesiTeam){.workers = 0};
  if (pthread_setspecific(key, team)) {
    free(team);
    return NULL;
  }
  return team;
}

/* The team of this thread with so many members, or with as many as the system gives. */
static TesiTeam *take_team(int threads) {
  if (!own_team) own_team = make_team();
  TesiTeam *team = own_team;
  if (!team || team->workers >= threads - 1) return team;
  Worker **more = realloc(team->worker, (size_t)(threads - 1) * sizeof *more);
  if (!more) return team;
  team->worker = more;
  while (team->workers < threads - 1 && add_worker(team, threads)) {
  }
  return team;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

void tesi_team_run(int threads, TesiBody *body, const void *data) {
  TesiTeam *team = threads > 1 && !inside && !omp_in_parallel() ? take_team(threads) : NULL;
  if (team && team->workers < threads - 1) threads = team->workers + 1;
  if (!team || threads == 1) {
    body(data, &(TesiTeamMember){0, 1, NULL});
    return;
  }
  const uint32_t turn = tesi_gate_turn(&team->done);
  team->threads = threads, team->body = body, team->data = data;
  atomic_store_explicit(&team->working, threads - 1, memory_order_relaxed);
  atomic_store_explicit(&team->missing, threads, memory_order_relaxed);
  for (int i = 0; i < threads - 1; i++) tesi_gate_open(&team->worker[i]->start);
  inside = true;
  body(data, &(TesiTeamMember){0, threads, team});
  inside = false;
  tesi_gate_wait(&team->done, turn);
}

void tesi_team_wait(const TesiTeamMember *me) {
  TesiTeam *team = me->team;
  if (!team) return;
  const uint32_t turn = tesi_gate_turn(&team->step);
  if (atomic_fetch_sub(&team->missing, 1) == 1) {
    atomic_store_explicit(&team->missing, me->threads, memory_order_relaxed);
    tesi_gate_open(&team->step);
  } else {
    tesi_gate_wait(&team->step, turn);
  }
}

TesiSpan tesi_team_part(const TesiTeamMember *me, int64_t first, int64_t end) {
  const int64_t count = end > first ? end - first : 0, length = count / me->threads,
                rest = count % me->threads;
  const int64_t longer = me->thread < rest;
  const int64_t at = first + me->thread * length + (longer ? me->thread : rest);
  return (TesiSpan){at, at + length + longer, me->thread};
}

/* ---- loops --------------------------------------------------------------------------------------------- */

typedef struct Loop {
  TesiLoop *loop;
  const void *data;
  int64_t count, chunk;
  _Atomic int64_t *next;
} Loop;

static void run_part(const void *data, const TesiTeamMember *me) {
  const Loop *l = data;
  const TesiSpan span = tesi_team_part(me, 0, l->count);
  if (span.first < span.end) l->loop(l->data, span);
}

void tesi_team_for(int threads, int64_t count, TesiLoop *loop, const void *data) {
  tesi_team_run(count < threads ? (int)count : threads, run_part, &(Loop){loop, data, count, 0, NULL});
}

static void run_chunks(const void *data, const TesiTeamMember *me) {
  const Loop *l = data;
  for (;;) {
    const int64_t first = atomic_fetch_add_explicit(l->next, l->chunk, memory_order_relaxed);
    if (first >= l->count) return;
    const int64_t end = first + l->chunk < l->count ? first + l->chunk : l->count;
    l->loop(l->data, (TesiSpan){first, end, me->thread});
  }
}

void tesi_team_share(int threads, int64_t count, int64_t chunk, TesiLoop *loop, const void *data) {
  _Atomic int64_t next = 0;
  const int64_t chunks = (count + chunk - 1) / chunk;
  tesi_team_run(chunks < threads ? (int)chunks : threads, run_chunks,
                &(Loop){loop, data, count, chunk, &next});
}

static _Atomic int64_t least_work; /* 0: nobody has asked */

int tesi_team_threads(const TesContext *ctx, int64_t work) {
  int64_t least = atomic_load_explicit(&least_work, memory_order_relaxed);
  if (least == 0) {
    const char *set = getenv("TESSERA_TEAM_WORK");
    least = set ? atoll(set) : TESI_TEAM_WORK;
    least = least > 0 ? least : 1;
    atomic_store_explicit(&least_work, least, memory_order_relaxed);
  }
  return work < least ? 1 : tes_context_threads(ctx);
}
