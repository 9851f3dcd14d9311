/* tessera new: copies a case of cases/ to begin with, and the mesh file that it needs. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "texts.h"

static const char usage[] = "usage: tessera new [NAME]\n\n"
                            "Prints a case file, e.g. tessera new l-shape > a.yaml; without a name that of "
                            "poisson. Where it has a mesh from a "
                            "file, this file is\nwritten into the working folder. The names:\n\n";
static const char ending[] = ".yaml";
static const char usual[] = "poisson";

enum { SUMMARY = 92, NAMES = 200 };

/* The length of a case's name; 0: the text is a mesh. */
static int name_length(const CliText *text) {
  const size_t length = strlen(text->name), end = sizeof ending - 1;
  return length > end && !strcmp(text->name + length - end, ending) ? (int)(length - end) : 0;
}

/* Whether a sentence ends at line[i], after `n` characters: not in brackets, and not after an initial. */
static bool ends(const char *line, int i, int n, int depth) {
  const bool space = !line[i + 1] || strchr(" \n", line[i + 1]);
  if (!space || depth) return false;
  return line[i] == '.' ? !(i > 1 && line[i - 2] == ' ') : line[i] == ':' && n > 24;
}

/* The first sentence of the comment at the head of a case, cut if it is long. */
static void summarize(const char *text, char summary[SUMMARY + 4]) {
  int n = 0, depth = 0;
  bool end = false;
  for (; *text == '#' && !end; text += strcspn(text, "\n"), text += *text == '\n') {
    const char *line = text + 1 + strspn(text + 1, " ");
    if (n && n < SUMMARY) summary[n++] = ' ';
    for (int i = 0; line[i] && line[i] != '\n' && n < SUMMARY && !end; i++) {
      depth += (line[i] == '(') - (line[i] == ')');
      end = ends(line, i, n, depth);
      if (!end) summary[n++] = line[i];
    }
    if (n == SUMMARY) break;
  }
  const bool cut = n == SUMMARY && !end;
  while (cut && n > 0 && summary[n - 1] != ' ') n--; /* no half word */
  snprintf(summary + n, 4, "%s", cut ? ".." : "");
}

static int print_help(void) {
  char summary[SUMMARY + 4];
  bool failed = fputs(usage, stdout) < 0;
  for (const CliText *t = cli_cases; t->name; t++) {
    const int length = name_length(t);
    if (!length) continue;
    summarize(t->text, summary);
    failed = printf("  %-22.*s  %s\n", length, t->name, summary) < 0 || failed;
  }
  return printf("  %-22s  this text\n", "--help") < 0 || failed;
}

static const CliText *find_case(const char *name) {
  for (const CliText *t = cli_cases; t->name; t++)
    if (name_length(t) == (int)strlen(name) && !strncmp(t->name, name, strlen(name))) return t;
  return NULL;
}

/* Whether a file exists with other contents. */
static bool differs(const char *path, const char *text) {
  FILE *file = fopen(path, "r");
  const size_t length = strlen(text);
  bool same = true;
  size_t n = 0;
  if (!file) return false;
  for (int c; same && (c = getc(file)) != EOF; n++) same = n < length && c == (unsigned char)text[n];
  fclose(file);
  return !same || n != length;
}

static TesStatus write_file(const char *path, const char *text) {
  if (differs(path, text)) {
    fprintf(stderr,
            "warning: %s is there with other contents, and stays; the case is made for %s of Tessera\n", path,
            path);
    return TES_OK;
  }
  FILE *file = fopen(path, "w");
  bool written = file && fputs(text, file) >= 0;
  if (file) written = fclose(file) == 0 && written;
  if (!written) {
    cli_usage_error("cannot write %s, the mesh of the case: %s", path, strerror(errno));
    return TES_IO;
  }
  fprintf(stderr, "written   %s, the mesh of the case: keep it beside the case\n", path);
  return TES_OK;
}

/* The meshes that a case uses. */
static TesStatus write_meshes(const char *text) {
  TesStatus status = TES_OK;
  char key[80];
  for (const CliText *t = cli_cases; t->name && status == TES_OK; t++) {
    snprintf(key, sizeof key, "mesh: {file: %s", t->name);
    if (!name_length(t) && strstr(text, key)) status = write_file(t->name, t->text);
  }
  return status;
}

/* Suggestions for an unknown name: the nearest name, or names that contain it, or cases of the problem with this
 * name. */
static int refuse(const char *name) {
  char *names[NAMES + 1] = {NULL}, problem[100], list[600] = "";
  int count = 0;
  snprintf(problem, sizeof problem, "\nproblem: %.80s\n", name);
  for (const CliText *t = cli_cases; t->name && count < NAMES; t++) {
    if (!name_length(t) || !(names[count] = strndup(t->name, (size_t)name_length(t)))) continue;
    if (strstr(names[count], name) || strstr(t->text, problem))
      snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", names[count]);
    count++;
  }
  const char *near = tes_nearest_name(name, (const char *const *)names);
  const int status =
      near ? cli_usage_error("there is no template '%s'; did you mean '%s'? (tessera new --help)", name, near)
      : *list ? cli_usage_error("there is no template '%s'; of this kind are: %s", name, list)
              : cli_usage_error("there is no template '%s'; tessera new --help lists them", name);
  for (int i = 0; i < count; i++) free(names[i]);
  return status;
}

int cli_new(int argc, char **argv) {
  static const struct option options[] = {{"help", no_argument, NULL, 'H'}, {0}};
  const int option = cli_next_option(argc, argv, options);
  if (option == 'H') return print_help();
  if (option != -1) return tes_status_exit(TES_INVALID_INPUT);
  if (optind + 1 < argc) return cli_usage_error("new takes one name (tessera new --help)");
  const char *name = optind < argc ? argv[optind] : usual;
  const CliText *found = find_case(name);
  if (!found) return refuse(name);
  const TesStatus status = write_meshes(found->text);
  if (status != TES_OK) return tes_status_exit(status);
  return fputs(found->text, stdout) < 0;
}
