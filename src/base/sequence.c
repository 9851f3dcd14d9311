/* Orders of tasks that share entries: see sequence.h. */
#include "base/sequence.h"
#include <string.h>
#include "base/grow.h"
#include "base/team_wait.h"

struct TesiSequence {
  int64_t tasks;
  int64_t *first;          /* [tasks + 1] */
  int32_t *before;         /* earlier positions that share an entry with position k: before[first[k]] .. */
  TesiGate *done;          /* [tasks] gate of a position, opened in each run when the position is done */
  uint32_t *turn;          /* [tasks] value of `done` at the beginning of the run */
  int64_t from, end, next; /* of the run */
};

/* ---- which tasks share entries ---------------------------------------------------------------------------------- */

/* Links of the lists of tasks at each entry. */
typedef struct Link {
  int32_t task;
  int32_t next; /* -1: the last */
} Link;

typedef struct Graph {
  int64_t tasks;
  int32_t *head; /* [entries] first link, -1: none */
  Link *link;
  int64_t links, room;
  int32_t (*pair)[2]; /* pairs of tasks that share an entry, the smaller number second; each pair once */
  int64_t pairs, pair_room;
  int32_t *seen;  /* [tasks] the last task that was compared with this task */
  int64_t *first; /* [tasks + 1] */
  int32_t *neighbour;
} Graph;

static TesStatus meet(TesContext *ctx, Graph *g, int32_t task, int64_t entry) {
  TesStatus status = TES_OK;
  if (g->head[entry] >= 0 && g->link[g->head[entry]].task == task) return TES_OK;
  for (int32_t l = g->head[entry]; l >= 0; l = g->link[l].next) {
    const int32_t other = g->link[l].task;
    if (g->seen[other] == task) continue;
    g->seen[other] = task;
    TES_GROW(&g->pair, g->pairs, g->pairs + 1, &g->pair_room);
    g->pair[g->pairs][0] = task, g->pair[g->pairs++][1] = other;
  }
  TES_GROW(&g->link, g->links, g->links + 1, &g->room);
  g->link[g->links] = (Link){task, g->head[entry]};
  g->head[entry] = (int32_t)g->links++;
done:
  return status;
}

/* From pairs to lists of neighbours. */
static TesStatus list_neighbours(TesContext *ctx, Graph *g) {
  TesStatus status = TES_OK;
  TES_ALLOC(&g->first, g->tasks + 2);
  TES_ALLOC(&g->neighbour, 2 * g->pairs + 1);
  for (int64_t p = 0; p < g->pairs; p++)
    for (int side = 0; side < 2; side++) g->first[g->pair[p][side] + 2]++;
  for (int64_t k = 0; k < g->tasks; k++) g->first[k + 2] += g->first[k + 1];
  for (int64_t p = 0; p < g->pairs; p++)
    for (int side = 0; side < 2; side++)
      g->neighbour[g->first[g->pair[p][side] + 1]++] = g->pair[p][1 - side];
done:
  return status;
}

static TesStatus find_neighbours(TesContext *ctx, int64_t entries, TesiTouched *touched, const void *data,
                                 Graph *g) {
  TesStatus status = TES_OK;
  TES_ALLOC(&g->head, entries);
  TES_ALLOC(&g->seen, g->tasks);
  memset(g->head, -1, (size_t)entries * sizeof *g->head);
  memset(g->seen, -1, (size_t)g->tasks * sizeof *g->seen);
  for (int64_t task = 0; task < g->tasks; task++)
    for (int64_t i = 0, entry; (entry = touched(data, task, i)) >= 0; i++)
      TES_TRY(meet(ctx, g, (int32_t)task, entry));
  TES_TRY(list_neighbours(ctx, g));
done:
  return status;
}

static void free_graph(TesContext *ctx, Graph *g) {
  tesi_free(ctx, &g->head);
  tesi_free(ctx, &g->link);
  tesi_free(ctx, &g->pair);
  tesi_free(ctx, &g->seen);
  tesi_free(ctx, &g->first);
  tesi_free(ctx, &g->neighbour);
}

/* ---- the order -------------------------------------------------------------------------------------------------- */

typedef struct Choice {
  const Graph *graph;
  int64_t tracks, window;
  int64_t *next, *end; /* [tracks] */
  int64_t *place;      /* [tasks] position of a task, -1: none yet */
} Choice;

static bool is_close(const Choice *c, int64_t task, int64_t position) {
  for (int64_t i = c->graph->first[task]; i < c->graph->first[task + 1]; i++) {
    const int64_t place = c->place[c->graph->neighbour[i]];
    if (place >= 0 && place > position - c->window) return true;
  }
  return false;
}

/* The first track, from `track` on, whose next task shares nothing with the tasks of the window; else the first track
 * that has a task. */
static int64_t choose_track(const Choice *c, int64_t track, int64_t position) {
  int64_t any = -1;
  for (int64_t i = 0; i < c->tracks; i++) {
    const int64_t t = (track + i) % c->tracks;
    if (c->next[t] == c->end[t]) continue;
    if (!is_close(c, c->next[t], position)) return t;
    if (any < 0) any = t;
  }
  return any;
}

static TesStatus choose_order(TesContext *ctx, int threads, const Graph *g, int64_t *order, int64_t *place) {
  TesStatus status = TES_OK;
  Choice c = {.graph = g, .tracks = threads > 1 ? 3 * threads : 1, .window = 2 * threads - 1, .place = place};
  TES_ALLOC(&c.next, c.tracks);
  TES_ALLOC(&c.end, c.tracks);
  for (int64_t t = 0; t < c.tracks; t++)
    c.next[t] = t * g->tasks / c.tracks, c.end[t] = (t + 1) * g->tasks / c.tracks;
  for (int64_t k = 0; k < g->tasks; k++) place[k] = -1;
  for (int64_t position = 0, track = 0; position < g->tasks; position++) {
    track = choose_track(&c, track, position);
    order[position] = c.next[track]++;
    place[order[position]] = position;
    track = (track + 1) % c.tracks;
  }
done:
  tesi_free(ctx, &c.next);
  tesi_free(ctx, &c.end);
  return status;
}

static TesStatus list_earlier(TesContext *ctx, const Graph *g, const int64_t *order, const int64_t *place,
                              TesiSequence *s) {
  TesStatus status = TES_OK;
  int64_t at = 0;
  TES_ALLOC(&s->first, s->tasks + 1);
  TES_ALLOC(&s->before, g->pairs + 1);
  for (int64_t position = 0; position < s->tasks; position++) {
    const int64_t task = order[position];
    s->first[position] = at;
    for (int64_t i = g->first[task]; i < g->first[task + 1]; i++)
      if (place[g->neighbour[i]] < position) s->before[at++] = (int32_t)place[g->neighbour[i]];
  }
  s->first[s->tasks] = at;
done:
  return status;
}

TesStatus tesi_sequence_create(TesContext *ctx, int threads, int64_t tasks, int64_t entries,
                               TesiTouched *touched, const void *data, TesiSequence **sequence,
                               int64_t *order) {
  TesStatus status = TES_OK;
  Graph g = {.tasks = tasks};
  int64_t *place = NULL;
  TesiSequence *s = NULL;
  TES_NEW(&s);
  s->tasks = tasks;
  TES_ALLOC(&place, tasks);
  TES_ALLOC(&s->done, tasks);
  TES_ALLOC(&s->turn, tasks);
  TES_TRY(find_neighbours(ctx, entries, touched, data, &g));
  TES_TRY(choose_order(ctx, threads, &g, order, place));
  TES_TRY(list_earlier(ctx, &g, order, place, s));
done:
  free_graph(ctx, &g);
  tesi_free(ctx, &place);
  if (status != TES_OK) tesi_sequence_destroy(ctx, &s);
  *sequence = s;
  return status;
}

void tesi_sequence_destroy(TesContext *ctx, TesiSequence **sequence) {
  TesiSequence *s = *sequence;
  if (!s) return;
  tesi_free(ctx, &s->first);
  tesi_free(ctx, &s->before);
  tesi_free(ctx, &s->done);
  tesi_free(ctx, &s->turn);
  tesi_free(ctx, sequence);
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

void tesi_sequence_begin(TesiSequence *s, int64_t first, int64_t end) {
  s->from = s->next = first, s->end = end;
  for (int64_t k = first; k < end; k++) s->turn[k] = tesi_gate_turn(&s->done[k]);
}

int64_t tesi_sequence_take(TesiSequence *s) {
  const int64_t position = tesi_team_take(&s->next);
  return position < s->end ? position : -1;
}

void tesi_sequence_wait(TesiSequence *s, int64_t position) {
  for (int64_t i = s->first[position]; i < s->first[position + 1]; i++) {
    const int32_t other = s->before[i];
    if (other >= s->from) tesi_gate_wait(&s->done[other], s->turn[other]);
  }
}

void tesi_sequence_done(TesiSequence *s, int64_t position) {
  tesi_gate_open(&s->done[position]);
}

typedef struct Run {
  TesiSequence *sequence;
  TesiLoop *loop;
  const void *data;
} Run;

static void run(const void *data, const TesiTeamMember *me) {
  const Run *r = data;
  for (int64_t k; (k = tesi_sequence_take(r->sequence)) >= 0;) {
    tesi_sequence_wait(r->sequence, k);
    r->loop(r->data, (TesiSpan){k, k + 1, me->thread});
    tesi_sequence_done(r->sequence, k);
  }
}

void tesi_sequence_run(TesiSequence *s, int threads, TesiLoop *loop, const void *data) {
  tesi_sequence_begin(s, 0, s->tasks);
  tesi_team_run(threads, run, &(Run){s, loop, data});
}
