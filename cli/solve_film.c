/* output.film: the pictures of a run, in their order. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "solve.h"

static TesStatus keep(Solve *s, const char *file) {
  if (s->frames == s->frame_room) {
    const int room = 2 * s->frame_room + 64;
    char **frames = realloc(s->frame, (size_t)room * sizeof *frames);
    if (!frames) return TES_OUT_OF_MEMORY;
    s->frame = frames, s->frame_room = room;
  }
  s->frame[s->frames] = strdup(file);
  return s->frame[s->frames++] ? TES_OK : TES_OUT_OF_MEMORY;
}

TesStatus solve_keep_frame(Solve *s, const char *path, int step) {
  TesStatus status = TES_OK;
  if (!s->input->film) return TES_OK;
  const int before = s->options->restart && !s->frames ? step : 0;
  for (int i = 0; i < before && status == TES_OK; i++) {
    char *file = solve_step_file(path, ".png", i);
    if (!file) return TES_OUT_OF_MEMORY;
    if (access(file, R_OK) == 0) status = keep(s, file);
    free(file);
  }
  char *file = status == TES_OK ? solve_step_file(path, ".png", step) : NULL;
  if (!file) return status == TES_OK ? TES_OUT_OF_MEMORY : status;
  status = keep(s, file);
  free(file);
  return status;
}

/* Pictures of several sizes, possible after a restart, make no film. The pictures exist, so the run does not fail. */
TesStatus solve_write_film(Solve *s) {
  TesStatus status = tes_pictures_finish(&s->pictures);
  if (status != TES_OK || !s->input->film || !s->frames) return status;
  status = tes_film_write(s->context, s->frames, (const char *const *)s->frame, s->input->film);
  if (status == TES_OK) s->film = s->input->film;
  if (status != TES_INVALID_INPUT) return status;
  solve_log(s, TES_LOG_WARNING, "warning: output.film: %s: no film is written",
            tes_context_message(s->context));
  return TES_OK;
}

void solve_free_frames(Solve *s) {
  for (int i = 0; i < s->frames; i++) free(s->frame[i]);
  free(s->frame);
}
