/* Refuses outputs of a solve that would overwrite its inputs, or each other, before anything is computed. */
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "solve.h"

enum { INPUTS = 5 /* beside tables */, FEW = 9 /* outputs beside lines */ };

/* A file and its purpose: "the report". */
typedef struct Named {
  const char *what, *path;
} Named;

/* The place of a file that does not exist: its folder without links, and its name. */
static bool same_place(const char *a, const char *b) {
  const char *const path[2] = {a, b};
  char folder[2][PATH_MAX], resolved[2][PATH_MAX];
  const char *base[2];
  for (int i = 0; i < 2; i++) {
    const char *slash = strrchr(path[i], '/');
    const int length = slash ? (int)(slash - path[i]) + 1 : 0;
    base[i] = path[i] + length;
    snprintf(folder[i], PATH_MAX, "%.*s.", length, path[i]);
    if (!realpath(folder[i], resolved[i])) return false;
  }
  return !strcmp(resolved[0], resolved[1]) && !strcmp(base[0], base[1]);
}

/* Whether both names mean the same file, through links too. Pipes and terminals may be given twice. */
static bool same_file(const char *a, const char *b) {
  struct stat at[2];
  if (!strcmp(a, "-") || !strcmp(b, "-")) return !strcmp(a, b);
  const bool there[2] = {stat(a, &at[0]) == 0, stat(b, &at[1]) == 0};
  if (there[0] != there[1]) return false;
  if (!there[0]) return same_place(a, b);
  return S_ISREG(at[0].st_mode) && at[0].st_dev == at[1].st_dev && at[0].st_ino == at[1].st_ino;
}

static int list_inputs(const Solve *s, Named *input) {
  int n = 0;
  if (strcmp(s->options->path, "-") != 0) input[n++] = (Named){"the case file", s->options->path};
  if (s->options->restart) input[n++] = (Named){"the checkpoint of --restart", s->options->restart};
  if (s->input && s->input->mesh.domain == TES_DOMAIN_FILE)
    input[n++] = (Named){"the mesh (mesh.file)", s->input->mesh.file};
  for (int i = 0; s->input && i < s->input->tables; i++)
    input[n++] = (Named){"a table (tables)", s->input->table[i]};
  if (s->input && s->input->initial_file)
    input[n++] = (Named){"the checkpoint of data.initial", s->input->initial_file};
  if (s->input && s->input->b_file) input[n++] = (Named){"the checkpoint of data.b", s->input->b_file};
  return n;
}

static bool refuse(Solve *s, const Named *output, const Named *other, bool input) {
  snprintf(s->refusal, sizeof s->refusal,
           input ? "%s, %s, would overwrite %s: give another name"
                 : "%s, %s, and %s are one file: give another name",
           output->what, output->path, other->what);
  return true;
}

/* The file, or any file that matches a pattern of checkpoints (data.b.file). */
static bool is_input(const char *path, const char *input) {
  return same_file(path, input) || (strpbrk(input, "*?[") && fnmatch(input, path, 0) == 0);
}

/* A checkpoint may be continued in its own file. */
static bool continues(const Solve *s, const Named *output, const Named *input) {
  return s->input && output->path == s->input->checkpoint && input->path == s->options->restart;
}

static bool find_clash(Solve *s, int inputs, const Named *input, int outputs, const Named *output) {
  for (int i = 0; i < outputs; i++) {
    for (int j = 0; j < inputs; j++)
      if (!continues(s, &output[i], &input[j]) && is_input(output[i].path, input[j].path))
        return refuse(s, &output[i], &input[j], true);
    for (int j = 0; j < i; j++)
      if (same_file(output[i].path, output[j].path)) return refuse(s, &output[i], &output[j], false);
  }
  return false;
}

/* Compares the numbered files of an adaptive solve or of one in time with all other files. Pictures have no list
 * file. */
static TesStatus check_steps(Solve *s, int inputs, const Named *input, int outputs, Named *output) {
  const char *const path[2] = {solve_vtu_path(s), solve_png_path(s)};
  for (int step = -1; step < SOLVE_STEPS && !s->refusal[0]; step++) {
    char *file[2] = {NULL};
    int n = outputs;
    bool made = true;
    for (int i = 0; i < 2; i++) {
      if (!path[i] || (i && step < 0)) continue;
      file[i] = solve_step_file(path[i], i ? solve_picture_ending(path[i]) : ".vtu", step);
      made = made && file[i];
      output[n++] = (Named){i          ? "a picture (output.png)"
                            : step < 0 ? "the list of steps (output.vtu)"
                                       : "a step (output.vtu)",
                            file[i]};
    }
    if (made) find_clash(s, inputs, input, n, output);
    free(file[0]), free(file[1]);
    if (!made) return TES_OUT_OF_MEMORY;
  }
  return TES_OK;
}

TesStatus solve_check_outputs(Solve *s) {
  const TesCase *c = s->input;
  const char *json = solve_json_path(s), *vtu = solve_vtu_path(s), *png = solve_png_path(s);
  const bool many = c && (c->adaptive || c->problem.time.end > c->problem.time.start),
             steps = many && (vtu || png);
  Named *output = calloc((size_t)(c ? c->lines : 0) + FEW, sizeof *output);
  Named *input = calloc((size_t)(c ? c->tables : 0) + INPUTS, sizeof *input);
  TesStatus status = TES_OK;
  int outputs = 0;
  if (!output || !input) {
    free(output), free(input);
    return TES_OUT_OF_MEMORY;
  }
  const int inputs = list_inputs(s, input);
  if (json) output[outputs++] = (Named){"the report (output.json)", json};
  if (vtu && !many) output[outputs++] = (Named){"the solution (output.vtu)", vtu};
  if (c && c->vtkhdf) output[outputs++] = (Named){"the solution (output.vtkhdf)", c->vtkhdf};
  if (c && c->series) output[outputs++] = (Named){"the series (output.series)", c->series};
  if (c && c->plot.file) output[outputs++] = (Named){"the plot (output.plot)", c->plot.file};
  if (c && c->film) output[outputs++] = (Named){"the film (output.film)", c->film};
  if (png && !many) output[outputs++] = (Named){"the picture (output.png)", png};
  if (c && c->checkpoint) output[outputs++] = (Named){"the checkpoint (output.checkpoint)", c->checkpoint};
  for (int i = 0; c && i < c->lines; i++)
    output[outputs++] = (Named){"a line (output.lines)", c->line[i].file};
  if (!find_clash(s, inputs, input, outputs, output) && steps)
    status = check_steps(s, inputs, input, outputs, output);
  free(output), free(input);
  return s->refusal[0] ? TES_INVALID_INPUT : status;
}

bool solve_refuses_tables(const SolveOptions *options, TesCase *input, const char *const path[SOLVE_TABLES],
                          char *refusal, size_t size) {
  static const char *const what[SOLVE_TABLES] = {"the table (--csv)", "the table (--json)",
                                                 "the figure (--plot)"};
  Solve *s = calloc(1, sizeof *s);
  Named *inputs = calloc((size_t)input->tables + INPUTS, sizeof *inputs), output[SOLVE_TABLES];
  const bool room = s && inputs;
  int outputs = 0;
  snprintf(refusal, size, room ? "" : "no memory to compare files");
  for (int i = 0; i < SOLVE_TABLES; i++)
    if (path[i]) output[outputs++] = (Named){what[i], path[i]};
  if (room) {
    s->options = options, s->input = input;
    if (find_clash(s, list_inputs(s, inputs), inputs, outputs, output))
      snprintf(refusal, size, "%s", s->refusal);
  }
  free(inputs), free(s);
  return refusal[0] != 0;
}
