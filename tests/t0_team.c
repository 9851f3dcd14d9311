/* Run: ctest -R t0_team. Teams of threads: every index once, steps, nested calls, several users at a time, and
 * waiting that costs no processor time.
 * Labels: threads */
#include <dirent.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "base/sequence.h"
#include "base/team.h"
#include "testing.h"

enum { MOST = 1000, THREADS = 9 };

/* ---- loops ------------------------------------------------------------------------------------------------------ */

typedef struct Visits {
  int *count, *thread; /* [MOST] */
  int64_t *first;      /* [THREADS], -1: no span */
} Visits;

static void visit(const void *data, TesiSpan span) {
  const Visits *v = data;
  if (v->first) v->first[span.thread] = span.first;
  for (int64_t i = span.first; i < span.end; i++) v->count[i]++, v->thread[i] = span.thread;
}

static void check_once(const int *count, int64_t n) {
  for (int64_t i = 0; i < MOST; i++) assert_int_equal(count[i], i < n);
}

/* Threads in order, lengths that differ by one at most, the longer first. */
static void parts_are_nearly_equal(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 10, 17, 64, 999, 1000};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    for (int threads = 1; threads <= THREADS; threads++) {
      const int64_t n = counts[k];
      int count[MOST] = {0}, thread[MOST] = {0}, length[THREADS] = {0};
      tesi_team_for(threads, n, visit, &(Visits){count, thread, NULL});
      check_once(count, n);
      for (int64_t i = 0; i < n; i++) {
        assert_in_range(thread[i], 0, threads - 1);
        assert_true(i == 0 || thread[i] >= thread[i - 1]);
        length[thread[i]]++;
      }
      for (int t = 0; t < threads; t++) assert_int_equal(length[t], n / threads + (t < n % threads));
    }
}

static void shared_chunks_are_taken_once(void **state) {
  (void)state;
  for (int threads = 1; threads <= THREADS; threads += 2)
    for (int64_t chunk = 1; chunk <= 70; chunk += 23)
      for (int64_t n = 0; n <= MOST; n += 111) {
        int count[MOST] = {0}, thread[MOST] = {0};
        tesi_team_share(threads, n, chunk, visit, &(Visits){count, thread, NULL});
        check_once(count, n);
        for (int64_t i = 0; i < n; i++) {
          assert_in_range(thread[i], 0, threads - 1);
          assert_int_equal(thread[i], thread[i / chunk * chunk]);
        }
      }
}

/* Small, large, small: the members are those that were asked for. */
static void teams_grow_and_are_used_in_part(void **state) {
  (void)state;
  static const int sizes[] = {2, 5, 3, 9, 1, 2, 9};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    int count[MOST] = {0}, thread[MOST];
    int64_t first[THREADS];
    for (int t = 0; t < THREADS; t++) first[t] = -1;
    tesi_team_for(sizes[k], MOST, visit, &(Visits){count, thread, first});
    check_once(count, MOST);
    for (int t = 0; t < THREADS; t++) assert_int_equal(first[t] >= 0, t < sizes[k]);
  }
}

static void few_numbers_are_for_one_thread(void **state) {
  (void)state;
  TesContext *ctx;
  const char *set = getenv("TESSERA_TEAM_WORK");
  const int64_t least = set ? atoll(set) : TESI_TEAM_WORK;
  assert_int_equal(tes_context_create(&(TesContextDesc){.threads = 3, .device = "cpu"}, &ctx, NULL, 0),
                   TES_OK);
  assert_int_equal(tesi_team_threads(ctx, 0), 1);
  assert_int_equal(tesi_team_threads(ctx, least - 1), 1);
  assert_int_equal(tesi_team_threads(ctx, least), 3);
  tes_context_destroy(&ctx);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

enum { STEPS = 200 };

typedef struct Steps {
  int *value; /* [2][threads] by turns */
} Steps;

/* value[t] <- value of the next member + 1 of the step before: wrong as soon as one member runs ahead. */
static void turn_round(const void *data, const TesiTeamMember *me) {
  const Steps *s = data;
  for (int step = 0; step < STEPS; step++) {
    const int *from = s->value + step % 2 * THREADS;
    int *to = s->value + (step + 1) % 2 * THREADS;
    if (step > 0) tesi_team_wait(me);
    to[me->thread] = from[(me->thread + 1) % me->threads] + 1;
  }
}

static void steps_wait_for_all(void **state) {
  (void)state;
  for (int threads = 1; threads <= THREADS; threads++) {
    int value[2 * THREADS] = {0};
    for (int t = 0; t < threads; t++) value[t] = 1000 * t;
    tesi_team_run(threads, turn_round, &(Steps){value});
    for (int t = 0; t < threads; t++) assert_int_equal(value[t], 1000 * ((t + STEPS) % threads) + STEPS);
  }
}

typedef struct Taking {
  int *count;
  int64_t *next;
} Taking;

static void take_all(const void *data, const TesiTeamMember *me) {
  const Taking *s = data;
  (void)me;
  for (int64_t i; (i = tesi_team_take(s->next)) < MOST;) s->count[i]++;
}

static void indices_are_taken_once(void **state) {
  (void)state;
  int count[MOST] = {0};
  int64_t next = 0;
  tesi_team_run(4, take_all, &(Taking){count, &next});
  check_once(count, MOST);
}

static void keep_least(const void *data, TesiSpan span) {
  int64_t *const *least = data;
  for (int64_t i = span.first; i < span.end; i++) tesi_team_least(*least, (i * 7919) % 1009 - 50);
}

static void the_least_is_kept(void **state) {
  (void)state;
  int64_t least = INT64_MAX, *pointer = &least;
  tesi_team_for(5, 1009, keep_least, &pointer);
  assert_int_equal(least, -50);
}

/* ---- nested calls, other runtimes, other threads ------------------------------------------------------- */

typedef struct Nested {
  int *count, *members; /* [THREADS][MOST], [THREADS] */
} Nested;

static void count_members(const void *data, const TesiTeamMember *me) {
  int *const *members = data;
  **members += me->threads;
}

static void run_inside(const void *data, TesiSpan span) {
  const Nested *s = data;
  int thread[MOST], *members = &s->members[span.thread];
  tesi_team_for(4, MOST, visit, &(Visits){s->count + (int64_t)span.thread * MOST, thread, NULL});
  tesi_team_run(4, count_members, &members);
}

static void nested_calls_run_on_their_thread(void **state) {
  (void)state;
  static int count[4 * MOST];
  int members[4] = {0};
  memset(count, 0, sizeof count);
  tesi_team_for(4, 4, run_inside, &(Nested){count, members});
  for (int i = 0; i < 4 * MOST; i++) assert_int_equal(count[i], 1);
  for (int t = 0; t < 4; t++) assert_int_equal(members[t], 1);
}

static void regions_of_openmp_do_not_multiply(void **state) {
  (void)state;
  int members[2] = {0}, expected[2] = {0};
#pragma omp parallel for num_threads(2) schedule(static, 1)
  for (int t = 0; t < 2; t++) {
    int *own = &members[t];
    tesi_team_run(4, count_members, &own);
    expected[t] = omp_get_num_threads() > 1 ? 1 : 4;
  }
  for (int t = 0; t < 2; t++) assert_int_equal(members[t], expected[t]);
}

static int tasks(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  assert_non_null(folder);
  while (readdir(folder)) count++;
  closedir(folder);
  return count - 2; /* . and .. */
}

static void *use_team(void *argument) {
  int *wrong = argument;
  for (int round = 0; round < 300; round++) {
    int count[MOST] = {0}, thread[MOST];
    tesi_team_for(2 + round % 3, MOST, visit, &(Visits){count, thread, NULL});
    for (int i = 0; i < MOST; i++) *wrong += count[i] != 1;
  }
  return NULL;
}

/* Each user's thread has a team of its own, which ends with it. */
static void users_do_not_disturb_each_other(void **state) {
  (void)state;
  enum { USERS = 3 };
  pthread_t user[USERS];
  int wrong[USERS + 1] = {0};
  use_team(&wrong[USERS]);
  const int before = tasks();
  for (int i = 0; i < USERS; i++) assert_int_equal(pthread_create(&user[i], NULL, use_team, &wrong[i]), 0);
  use_team(&wrong[USERS]);
  for (int i = 0; i < USERS; i++) assert_int_equal(pthread_join(user[i], NULL), 0);
  for (int i = 0; i <= USERS; i++) assert_int_equal(wrong[i], 0);
  for (int patience = 0; tasks() > before && patience < 1000; patience++) usleep(1000);
  assert_int_equal(tasks(), before);
}

/* The child has no workers of its parent's; both make what they need. */
static void children_make_teams_of_their_own(void **state) {
  (void)state;
  int wrong = 0, status;
  if (TEST_THREAD_SANITIZER) skip();
  use_team(&wrong);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    use_team(&wrong);
    _exit(wrong ? 1 : 0);
  }
  use_team(&wrong);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_int_equal(wrong, 0);
}

/* ---- waiting ---------------------------------------------------------------------------------------------------- */

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(const void *data, TesiSpan span) {
  const int *resting = data;
  if (span.thread == *resting) usleep(200000);
}

/* Workers without work, and a team that waits for one of its members, sleep: 0.2 s cost less than 20 ms on any
 * thread. */
static void waiting_costs_no_processor_time(void **state) {
  (void)state;
  for (int resting = -1; resting < 3; resting++) {
    tesi_team_for(3, 3, rest, &(int){-1});
    const double start = processor_time();
    if (resting < 0)
      usleep(200000);
    else
      tesi_team_for(3, 3, rest, &resting);
    assert_true(processor_time() - start < 0.02);
  }
}

/* ---- sequences -------------------------------------------------------------------------------------------------- */

enum { TASKS = 400, ENTRIES = 150, TOUCHED = 6 };

/* Random tasks. Who works on an entry, and which tasks have: both without atomics, so that the thread sanitizer sees
 * two tasks at one entry. */
typedef struct Sums {
  int64_t entry[TASKS][TOUCHED];
  int64_t order[TASKS]; /* task at a position */
  int64_t last[ENTRIES];
  int visits[TASKS];
  double sum[ENTRIES];
  int late; /* positions that came before an earlier one */
} Sums;

static int64_t touched(const void *data, int64_t task, int64_t i) {
  const Sums *s = data;
  return i < TOUCHED ? s->entry[task][i] : -1;
}

static void add(const void *data, TesiSpan span) {
  Sums *s = *(Sums *const *)data;
  const int64_t task = s->order[span.first];
  s->visits[task]++;
  for (int i = 0; i < TOUCHED; i++) {
    const int64_t e = s->entry[task][i];
    if (s->last[e] > span.first) s->late++;
    s->last[e] = span.first;
    s->sum[e] = s->sum[e] / 3 + (double)task; /* another order gives another number */
  }
}

static void fill(Sums *s, unsigned near) {
  unsigned seed = 7;
  memset(s, 0, sizeof *s);
  for (int64_t k = 0; k < TASKS; k++)
    for (int i = 0; i < TOUCHED; i++) {
      seed = seed * 1664525u + 1013904223u;
      s->entry[k][i] = near ? (k * ENTRIES / TASKS + seed / 65536 % near) % ENTRIES : seed / 65536 % ENTRIES;
    }
  for (int e = 0; e < ENTRIES; e++) s->last[e] = -1;
}

static double replay(const Sums *s, int64_t entry) {
  double sum = 0;
  for (int64_t k = 0; k < TASKS; k++)
    for (int i = 0; i < TOUCHED; i++)
      if (s->entry[s->order[k]][i] == entry) sum = sum / 3 + (double)s->order[k];
  return sum;
}

static void sequences_add_in_one_order(void **state) {
  (void)state;
  static Sums s;
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  for (unsigned near = 0; near <= 8; near += 4)
    for (int threads = 1; threads <= THREADS; threads += 4) {
      TesiSequence *sequence = NULL;
      Sums *const data = &s;
      fill(&s, near);
      assert_int_equal(tesi_sequence_create(ctx, threads, TASKS, ENTRIES, touched, &s, &sequence, s.order),
                       TES_OK);
      tesi_sequence_run(sequence, threads, add, &data);
      for (int k = 0; k < TASKS; k++) assert_int_equal(s.visits[k], 1);
      for (int e = 0; e < ENTRIES; e++) assert_true(s.sum[e] == replay(&s, e));
      assert_int_equal(s.late, 0);
      for (int64_t k = 0; threads == 1 && k < TASKS; k++) assert_int_equal(s.order[k], k);
      tesi_sequence_destroy(ctx, &sequence);
      assert_null(sequence);
    }
  tes_context_destroy(&ctx);
}

/* Where neighbours in the list alone share entries, tasks that are held at the same time share none. */
static void neighbours_are_kept_apart(void **state) {
  (void)state;
  static Sums s;
  enum { HELD = 2 * 4 };
  TesContext *ctx;
  TesiSequence *sequence = NULL;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  memset(&s, 0, sizeof s);
  for (int64_t k = 0; k < TASKS; k++)
    for (int i = 0; i < TOUCHED; i++) s.entry[k][i] = (k + i % 2) % (TASKS + 1);
  assert_int_equal(tesi_sequence_create(ctx, HELD / 2, TASKS, TASKS + 1, touched, &s, &sequence, s.order),
                   TES_OK);
  for (int64_t k = 0; k + HELD < TASKS - TASKS / 8; k++)
    for (int64_t l = k + 1; l < k + HELD; l++) assert_true(llabs(s.order[k] - s.order[l]) > 1);
  tesi_sequence_destroy(ctx, &sequence);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_nearly_equal),
                                     cmocka_unit_test(sequences_add_in_one_order),
                                     cmocka_unit_test(neighbours_are_kept_apart),
                                     cmocka_unit_test(shared_chunks_are_taken_once),
                                     cmocka_unit_test(teams_grow_and_are_used_in_part),
                                     cmocka_unit_test(few_numbers_are_for_one_thread),
                                     cmocka_unit_test(steps_wait_for_all),
                                     cmocka_unit_test(indices_are_taken_once),
                                     cmocka_unit_test(the_least_is_kept),
                                     cmocka_unit_test(nested_calls_run_on_their_thread),
                                     cmocka_unit_test(regions_of_openmp_do_not_multiply),
                                     cmocka_unit_test(users_do_not_disturb_each_other),
                                     cmocka_unit_test(children_make_teams_of_their_own),
                                     cmocka_unit_test(waiting_costs_no_processor_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
