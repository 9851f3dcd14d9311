/* Files of a solve: the solution for ParaView, one file per step of an adaptive solve, and checkpoints. */
#include <sys/stat.h>
#include <errno.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "solve.h"

/* The name of the solution in checkpoints. A solution of another kind of problem cannot be a start. In time
 * tes_problem_write() gives the name. */
static const char *field_of(const Solve *s) {
  const bool in_time = s->input->problem.time.end > s->input->problem.time.start;
  return in_time ? "u" : s->input->about.field;
}

const char *solve_vtu_path(const Solve *s) {
  return s->options->vtu ? s->options->vtu : s->input ? s->input->vtu : NULL;
}

const char *solve_json_path(const Solve *s) {
  return s->options->common.json ? s->options->common.json : s->input ? s->input->json : NULL;
}

const char *solve_png_path(const Solve *s) {
  return s->options->png ? s->options->png : s->input ? s->input->picture.file : NULL;
}

/* The endings of pictures; a file with another name is PNG. */
const char *solve_picture_ending(const char *path) {
  static const char *const endings[] = {".svg", ".pdf"};
  const char *dot = path ? strrchr(path, '.') : NULL;
  for (int i = 0; dot && i < 2; i++)
    if (!strcasecmp(dot, endings[i])) return dot;
  return ".png";
}

static TesStatus refuse(Solve *s, const char *text) {
  if (!strncmp(text, "--", 2))
    snprintf(s->message, sizeof s->message, "%s", text);
  else
    cli_locate(s->input, text, s->message, sizeof s->message);
  return TES_INVALID_INPUT;
}

/* Refuses a name with the ending of another format: it would mislead every program that opens the file. more: what
 * else the message allows. */
static TesStatus check_ending(Solve *s, const char *path, bool option, const char *key, const char *own,
                              const char *more) {
  static const char *const others[] = {".vtu",    ".vtk",  ".vtp", ".vts",  ".pvd", ".pvtu", ".xdmf", ".h5",
                                       ".vtkhdf", ".png",  ".jpg", ".jpeg", ".gif", ".svg",  ".pdf",  ".bmp",
                                       ".tif",    ".tiff", ".eps", ".webp", ".csv", ".json", ".yaml", ".msh"};
  const char *dot = path ? strrchr(path, '.') : NULL;
  char text[900];
  for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++) {
    if (strcasecmp(dot, others[i]) != 0 || !strcasecmp(dot, own)) continue;
    snprintf(text, sizeof text,
             "%s%s%s %.300s: the file is of the format %s, whatever its name: call it %.*s%s%s",
             option ? "--" : "output.", key, option ? "" : ":", path, own + 1,
             (int)(dot - path < 300 ? dot - path : 300), path, own, more);
    return refuse(s, text);
  }
  return TES_OK;
}

static bool gives(const TesCase *input, const char *path) {
  for (int i = 0; i < input->keys; i++)
    if (!strcmp(input->key[i].path, path)) return true;
  return false;
}

/* The names of the VTU file and of the picture. */
static TesStatus check_endings(Solve *s) {
  const SolveOptions *o = s->options;
  const char *vtu = solve_vtu_path(s), *png = solve_png_path(s);
  if (!png && gives(s->input, "output.png"))
    return refuse(s, "output.png: a picture needs a file: FILE, or --png FILE");
  const TesStatus status = check_ending(s, vtu, o->vtu != NULL, "vtu", ".vtu", "");
  const bool is_png = !strcmp(solve_picture_ending(png), ".png");
  TesStatus drawn = status == TES_OK && is_png
                        ? check_ending(s, png, o->png != NULL, "png", ".png", ", or .svg, .pdf")
                        : status;
  if (drawn == TES_OK) drawn = check_ending(s, s->input->vtkhdf, false, "vtkhdf", ".vtkhdf", "");
  if (drawn == TES_OK) drawn = check_ending(s, s->input->film, false, "film", ".png", "");
  if (drawn == TES_OK && s->input->film && !png)
    return refuse(s, "output.film: a film shows the pictures of output.png, which is missing");
  if (drawn == TES_OK && s->input->film && !is_png) {
    char text[900];
    snprintf(text, sizeof text,
             "output.film: a film is made of PNG files, the pictures are %.300s: call them %.*s.png", png,
             (int)(strrchr(png, '.') - png), png);
    return refuse(s, text);
  }
  if (drawn == TES_OK && s->input->film && !s->input->adaptive && !solve_is_in_time(s))
    return refuse(s, "output.film: a film is for `time` and `adapt`: this case has one picture");
  const char *plot = s->input->plot.file, *dot = plot ? strrchr(plot, '.') : NULL;
  return drawn == TES_OK && !(dot && !strcasecmp(dot, ".pdf"))
             ? check_ending(s, plot, false, "plot", ".svg", ", or .pdf")
             : drawn;
}

/* Whether this build draws, and the file can be written. */
static TesStatus check_picture(Solve *s) {
  const char *path = solve_png_path(s);
  if (!path || tes_has_part("png")) return tes_file_check(s->context, path);
  snprintf(s->message, sizeof s->message,
           "%.300s: this build has no pictures: install libpng-dev and build again", path);
  return TES_MISSING;
}

/* Makes a folder and all folders above it. */
static TesStatus make_folder(Solve *s, const char *folder) {
  char path[900];
  const int length = snprintf(path, sizeof path, "%s", folder);
  for (int i = 1; i <= length && i < (int)sizeof path; i++) {
    if (folder[i] != '/' && folder[i]) continue;
    path[i] = 0;
    if (!mkdir(path, 0777)) {
      if (!s->folder_made) s->folder_made = i;
    } else if (errno != EEXIST) {
      const char *why = strerror(errno);
      snprintf(s->message, sizeof s->message, "output.folder: '%.300s' cannot be made: %s", path, why);
      return TES_IO;
    }
    path[i] = folder[i];
  }
  return TES_OK;
}

void solve_remove_folder(const Solve *s) {
  char path[900];
  for (int i = snprintf(path, sizeof path, "%s", s->folder_made ? s->input->folder : "");
       i && i >= s->folder_made; i--) {
    if (path[i] != '/' && path[i]) continue;
    path[i] = 0;
    if (rmdir(path)) return;
  }
}

/* Whether HDF5 is available, and the file can be written. */
static TesStatus check_vtkhdf(Solve *s) {
  TesVtkhdf *file = NULL;
  if (!s->input->vtkhdf) return TES_OK;
  const TesStatus status = tes_vtkhdf_create(s->context, &(TesVtkhdfDesc){.path = s->input->vtkhdf}, &file);
  tes_vtkhdf_destroy(&file);
  return status;
}

TesStatus solve_check_files(Solve *s) {
  TesStatus status = check_endings(s);
  if (status == TES_OK && s->input->folder) status = make_folder(s, s->input->folder);
  if (status == TES_OK) status = tes_file_check(s->context, solve_vtu_path(s));
  if (status == TES_OK) status = check_vtkhdf(s);
  if (status == TES_OK) status = tes_file_check(s->context, solve_json_path(s));
  if (status == TES_OK) status = check_picture(s);
  if (status == TES_OK) status = tes_file_check(s->context, s->input->series);
  if (status == TES_OK) status = tes_file_check(s->context, s->input->plot.file);
  if (status == TES_OK) status = tes_file_check(s->context, s->input->film);
  for (int i = 0; i < s->input->lines && status == TES_OK; i++)
    status = tes_file_check(s->context, s->input->line[i].file);
  if (status == TES_OK && s->input->checkpoint)
    status = tes_checkpoint_check(s->context, s->input->checkpoint);
  return status;
}

/* ---- the solution -------------------------------------------------------------------------------------- */

static TesStatus write_vtu(Solve *s, const TesProblem *problem, const double *indicator, const char *path) {
  const TesVtuArray cells = {.name = "indicator", .values = indicator};
  const double start = solve_now();
  const TesStatus status = tes_vtu_write_problem(problem, indicator ? 1 : 0, &cells, path);
  s->vtu_seconds += solve_now() - start;
  return status;
}

/* "name.vtu", on several ranks "name.pvtu"; the caller frees it. */
static char *name_written(const char *path) {
  const size_t length = strlen(path), size = length + 8, own = strlen(".vtu");
  const int stem = (int)(length > own && !strcmp(path + length - own, ".vtu") ? length - own : length);
  char *name = cli_ranks() ? malloc(size) : strdup(path);
  if (name && cli_ranks()) snprintf(name, size, "%.*s.pvtu", stem, path);
  return name;
}

TesStatus solve_write_vtu(Solve *s, const TesProblem *problem) {
  const char *path = solve_vtu_path(s);
  if (!path) return TES_OK;
  TesStatus status = write_vtu(s, problem, NULL, path);
  if (status != TES_OK) return status;
  free(s->pieces);
  s->pieces = name_written(path);
  if (!s->pieces) return TES_OUT_OF_MEMORY;
  s->vtu = s->pieces;
  return TES_OK;
}

/* After a restart the steps up to the checkpoint stay. For adaptive solves these are the steps before the
 * checkpoint's own step, which is written again. */
static TesStatus open_vtkhdf(Solve *s, const TesProblem *problem) {
  const bool in_time = tes_problem_info(problem).steps > 0;
  TesVtkhdfDesc desc = {.path = s->input->vtkhdf, .steps = in_time || s->input->adaptive, .behind = true};
  desc.goes_on = s->options->restart != NULL;
  if (desc.goes_on) desc.last = in_time ? tes_checkpoint_contents(s->checkpoint)->time : s->first_step - 1;
  return tes_vtkhdf_create(s->context, &desc, &s->steps_file);
}

TesStatus solve_write_vtkhdf(Solve *s, const TesProblem *problem, double time, const double *indicator) {
  const TesVtuArray cells = {.name = "indicator", .values = indicator};
  const double start = solve_now();
  TesStatus status = TES_OK;
  if (!s->input->vtkhdf) return TES_OK;
  if (!s->steps_file) status = open_vtkhdf(s, problem);
  if (status == TES_OK)
    status = tes_vtkhdf_write_problem(s->steps_file, problem, time, indicator ? 1 : 0, &cells);
  if (status == TES_OK) s->vtkhdf = s->input->vtkhdf;
  s->vtu_seconds += solve_now() - start;
  return status;
}

TesStatus solve_await_vtkhdf(Solve *s) {
  const double start = solve_now();
  const TesStatus status = s->steps_file ? tes_vtkhdf_write(s->steps_file, NULL, 0) : TES_OK;
  s->vtu_seconds += solve_now() - start;
  return status;
}

/* "name.png" -> "name-007.png" for step 7. */
TesStatus solve_write_png(Solve *s, const TesProblem *problem, int step) {
  const TesCasePicture *p = &s->input->picture;
  const TesPictureDesc desc = {.of = p->of,
                               .slice = p->slice,
                               .at = p->at,
                               .edges = p->edges,
                               .width = p->width,
                               .title = p->title,
                               .unit = *p->unit ? p->unit : NULL,
                               .range = {p->range[0], p->range[1]},
                               .colours = p->colours,
                               .warp = p->warp,
                               .arrows = {p->arrows[0], p->arrows[1], p->arrows[2]},
                               .run = step < 0 ? NULL : &s->pictures};
  const char *path = solve_png_path(s);
  if (!path) return TES_OK;
  char *file = step < 0 ? strdup(path) : solve_step_file(path, solve_picture_ending(path), step);
  if (!file) return TES_OUT_OF_MEMORY;
  const TesStatus status = tes_picture_write(problem, &desc, file);
  if (status == TES_INVALID_INPUT || status == TES_NAN) {
    char text[900];
    snprintf(text, sizeof text, "output.png: %.880s", tes_context_message(s->context));
    cli_locate(s->input, text, s->message, sizeof s->message);
  }
  free(status == TES_OK ? s->png : file);
  if (status == TES_OK) s->png = file;
  return status == TES_OK && step >= 0 ? solve_keep_frame(s, path, step) : status;
}

char *solve_step_file(const char *path, const char *ending, int step) {
  const size_t length = strlen(path), size = length + 24, own = strlen(ending);
  const int stem = (int)(length > own && !strcmp(path + length - own, ending) ? length - own : length);
  char *file = malloc(size);
  if (file && step < 0) snprintf(file, size, "%.*s.pvd", stem, path);
  if (file && step >= 0) snprintf(file, size, "%.*s-%03d%s", stem, path, step, ending);
  return file;
}

/* Adds a file to the collection, without its folder. */
static TesStatus list_file(Solve *s, double time, const char *file) {
  const char *slash = strrchr(file, '/');
  if (s->file_count == s->file_room) {
    const int room = 2 * s->file_room + 64;
    TesPvdEntry *files = realloc(s->files, (size_t)room * sizeof *files);
    if (!files) return TES_OUT_OF_MEMORY;
    s->files = files, s->file_room = room;
  }
  char *base = strdup(slash ? slash + 1 : file);
  if (!base) return TES_OUT_OF_MEMORY;
  if (s->file_count && !strcmp(s->files[s->file_count - 1].file, base)) /* the end of a continued run */
    free((char *)s->files[--s->file_count].file);
  s->files[s->file_count++] = (TesPvdEntry){time, base};
  return TES_OK;
}

/* A file of before the restart, if it exists. */
static TesStatus list_old(Solve *s, const char *path, int number, double time) {
  char *file = solve_step_file(path, ".vtu", number);
  if (!file) return TES_OUT_OF_MEMORY;
  const TesStatus status = access(file, R_OK) == 0 ? list_file(s, time, file) : TES_OK;
  free(file);
  return status;
}

/* The number in a line of a collection that names the file "..-NNN.vtu", and its time; -1: it is not such a line. */
static int entry_of(const char *line, double *time) {
  const char *at = strstr(line, "timestep=\""), *end = strstr(line, ".vtu\"");
  char *rest;
  if (!at || !end) return -1;
  *time = strtod(at + strlen("timestep=\""), &rest);
  const char *digits = end;
  while (digits > line && isdigit((unsigned char)digits[-1])) digits--;
  return *rest == '"' && digits < end && digits[-1] == '-' && end - digits < 10 ? atoi(digits) : -1;
}

/* The files up to a time that the collection of before the restart lists. */
static TesStatus list_as_before(Solve *s, const char *path, double last) {
  FILE *file = fopen(s->collection, "r");
  char line[4096];
  TesStatus status = TES_OK;
  while (file && status == TES_OK && fgets(line, sizeof line, file)) {
    double time;
    const int number = entry_of(line, &time);
    if (number >= 0 && time <= last + 1e-12 * fabs(last)) status = list_old(s, path, number, time);
  }
  if (file) fclose(file);
  return status;
}

/* The name of the collection. After a restart it begins with the files of the earlier steps. */
static TesStatus begin_collection(Solve *s, const TesProblem *problem, const char *path) {
  const TesProblemInfo info = tes_problem_info(problem);
  TesStatus status = TES_OK;
  int number;
  s->collection = solve_step_file(path, ".vtu", -1);
  if (!s->collection) return TES_OUT_OF_MEMORY;
  const bool known = !info.steps || (!info.varies && !(s->input->vtu_every.minutes > 0));
  if (s->options->restart && !known)
    return list_as_before(s, path, tes_checkpoint_contents(s->checkpoint)->time);
  const int last =
      s->first_step - (info.steps ? 0 : 1); /* in time the checkpoint's own step has been written already */
  for (int i = 0; s->options->restart && i <= last && status == TES_OK; i++) {
    if (!info.steps)
      status = list_old(s, path, i, i);
    else if (solve_is_due(s, &s->input->vtu_every, &info, i, &number))
      status = list_old(s, path, number, s->input->problem.time.start + i * info.dt);
  }
  return status;
}

TesStatus solve_write_numbered(Solve *s, const TesProblem *problem, int number, double time,
                               const double *indicator) {
  const char *path = solve_vtu_path(s);
  TesStatus status = TES_OK;
  if (!path) return TES_OK;
  if (!s->collection) status = begin_collection(s, problem, path);
  if (status != TES_OK) return status;
  char *file = solve_step_file(path, ".vtu", number);
  if (!file) return TES_OUT_OF_MEMORY;
  status = write_vtu(s, problem, indicator, file);
  char *written = name_written(file);
  if (status == TES_OK) status = written ? list_file(s, time, written) : TES_OUT_OF_MEMORY;
  free(written);
  if (status == TES_OK) status = tes_pvd_write(s->context, s->file_count, s->files, s->collection);
  if (status == TES_OK) s->vtu = s->collection;
  free(file);
  return status;
}

void solve_free_files(Solve *s) {
  tes_vtkhdf_destroy(&s->steps_file);
  free(s->png), free(s->pieces);
  for (int i = 0; i < s->file_count; i++) free((char *)s->files[i].file);
  free(s->files);
  free(s->collection);
}

/* ---- checkpoints --------------------------------------------------------------------------------------- */

TesStatus solve_write_checkpoint(Solve *s, const TesProblem *problem, int step) {
  if (!s->input->checkpoint) return TES_OK;
  const TesCheckpointField u = {field_of(s), tes_problem_solution(problem)};
  const TesCheckpointDesc desc = {.space = tes_problem_space(problem), .count = 1, .fields = &u, .step = step};
  TesStatus status = solve_await_vtkhdf(s);
  if (status == TES_OK) status = tes_checkpoint_write(s->context, &desc, s->input->checkpoint);
  s->has_checkpoint = s->has_checkpoint || status == TES_OK;
  return status;
}

/* The mesh of an adaptive solve differs from the first one. */
static void tell_mesh(const Solve *s, bool in_time) {
  const int64_t kept = tes_mesh_info(s->mesh).all_cells, made = tes_mesh_info(s->own_mesh).all_cells;
  const bool compared = !s->input->adaptive && (in_time || !s->input->mesh.refine_where);
  if (compared && kept != made)
    solve_log(s, TES_LOG_WARNING,
              "warning: the mesh is that of the checkpoint, of %lld cells; mesh.refine and "
              "mesh.refine_where, which "
              "make %lld, have no effect",
              (long long)kept, (long long)made);
}

TesStatus solve_restart(Solve *s) {
  const char *path = s->options->restart;
  TesStatus status = TES_OK;
  /* the state of iso is over halved cells; tes_problem_read() compares them */
  const bool halved = s->input->about.halved;
  status = tes_checkpoint_read_for(s->context, path, s->mesh, &s->checkpoint);
  if (status == TES_OK && !halved)
    status = tes_checkpoint_restart(s->checkpoint, field_of(s), s->mesh, s->input->problem.degree, &s->guess);
  if (status != TES_OK) return status;
  const bool in_time = s->input->problem.time.end > s->input->problem.time.start;
  if (in_time) tes_vector_destroy(&s->guess); /* tes_problem_read() takes all data */
  if (!halved) s->mesh = tes_space_mesh(tes_checkpoint_space(s->checkpoint));
  s->first_step = (int)tes_checkpoint_contents(s->checkpoint)->step;
  solve_log(s, TES_LOG_INFO, "restart   from step %d of %s", s->first_step, path);
  tell_mesh(s, in_time);
  return TES_OK;
}
