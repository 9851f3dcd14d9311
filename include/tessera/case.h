/** \file case.h
 *  Case files: a problem in YAML, read and checked into the descriptions of a mesh, a problem and an adaptive loop.
 *  docs/case-file.md lists every key.
 *
 *  Everything is checked while it is read: types, ranges, expressions, unknown keys (with the nearest known one).
 *  All errors are reported at once, one per line, as "FILE:LINE:COLUMN: KEY: what is wrong"; an error of an override
 *  names the override. */
#ifndef TESSERA_CASE_H
#define TESSERA_CASE_H

#include <stdbool.h>
#include "adapt.h"
#include "mesh.h"
#include "output.h"
#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A point, a line or a value that a case asks for. `where` stands before messages about it. */
typedef struct TesCasePoint {
  char *name; /**< NULL: it has none */
  double x[3];
  char *where;
} TesCasePoint;
typedef struct TesCaseLine {
  double from[3], to[3];
  int count;
  char *file, *where;
} TesCaseLine;
typedef struct TesCaseDerived TesCaseDerived;
typedef struct TesCaseSource TesCaseSource;
typedef struct TesCaseValue {
  char *name;
  TesValue value; /**< without where and number, which tes_case_value() finds; `of` is owned by the case */
  char *place;    /**< name of a boundary or material; NULL: the domain, or a point */
  TesCaseDerived *derived; /**< {of: E}: made of other values by tes_case_derive(); NULL: a value of the solution */
  char *where;
  char unit[24]; /**< in the case's system of units; "": not known */
} TesCaseValue;
/** Of steps: one in so many, or one whenever so much time has passed; both zero: the usual. */
typedef struct TesCaseEvery {
  int steps;
  double time, minutes; /**< minutes: of checkpoints alone */
} TesCaseEvery;
/** A picture; file NULL: none, or one whose file the program names (`tessera solve --png`). */
typedef struct TesCasePicture {
  char *file, *of; /**< of NULL: the first field */
  int slice;       /**< as TesPictureDesc */
  double at;
  bool edges;
  int width;
  char *title;   /**< NULL: made by the picture */
  char unit[24]; /**< of the values, in the case's system of units; "": not known */
  double range[2], warp;
  char *arrows[3]; /**< as TesPictureDesc */
  TesColourMap colours;
  TesCaseEvery every; /**< adaptive: of so many steps one */
} TesCasePicture;

/** A picture of the series over time; file NULL: none. */
typedef struct TesCasePlot {
  char *file;
  int lines;
  int *of; /**< [lines] numbers of values of the case */
} TesCasePlot;

/** A key that the file or an override gives; `where` stands before messages about it. */
typedef struct TesCaseKey {
  const char *path; /**< as "solver.method" */
  char *where;
} TesCaseKey;

/** What is known of the problem of a case before it is made. */
typedef struct TesCaseProblem {
  bool flow;         /**< the unknowns are velocity and pressure */
  bool vector;       /**< u has one component per direction */
  bool balance;      /**< TesProblemDesc.balance can be asked for */
  bool modes;        /**< its space is not made of nodes alone: elements rt and dg */
  bool halved;       /**< its solution is over the halved cells of the mesh: element iso */
  const char *field; /**< the name of the solution in checkpoints of a steady problem */
  char *text;        /**< lines that tell the equation and its data, without an end of the last */
} TesCaseProblem;

/** A checked case. All members, and all that descriptions point to, are owned by it; it may be destroyed once a
 * problem is made of it. */
typedef struct TesCase {
  TesContext *context;
  char *name;             /**< path of the file */
  TesMeshDesc mesh;       /**< kind is box or forest */
  TesProblemDesc problem; /**< without mesh, guess and monitor; a, c and f are given */
  TesCaseProblem about;   /**< the problem */
  int deterministic; /**< 1: the case asks for it, and the context has become deterministic (TesContextDesc) */
  bool adaptive;
  TesAdaptDesc adapt; /**< where it is adaptive */
  char *folder;       /**< of the output files below, whose paths begin with it; NULL: the working folder */
  char *vtu, *vtkhdf, *json, *checkpoint,
      *series;         /**< output files, relative to the working folder; NULL: none */
  bool average;        /**< values and fields are averaged over time, */
  double average_from; /**< from this time on */
  TesCaseEvery vtu_every, vtkhdf_every, series_every, checkpoint_every;
  int checkpoint_keep; /**< 1: checkpoints of a run in time stay, each under a name of its own */
  int points, lines, values;
  TesCasePoint *point; /**< [points] */
  TesCaseLine *line;   /**< [lines] */
  TesCaseValue *value; /**< [values] */
  TesCasePicture picture;
  char *film; /**< an animation of the pictures; NULL: none */
  TesCasePlot plot;
  int tables;
  char **table; /**< [tables] files that were read */
  char *initial_file,
      *b_file; /**< checkpoints that were read, data.initial.file and data.b.file; NULL: none */
  int keys;
  TesCaseKey *key; /**< [keys]: keys of docs/case-file.md that the case gives, without names of the mesh */
  TesCaseSource *source; /**< what it was read from, for tes_case_gradient() */
  char *warnings[4];
  int warning_count;
} TesCase;

/** Reads and checks a case file; "-" is the standard input. overrides[override_count] are texts "key.path=value" that
 *  replace or add values before anything is checked. `solver.deterministic` makes the context so, and its
 *  `constants` and `tables` are known to all expressions of the context until the next case is read. Errors: TES_IO
 *  (cannot be read), TES_INVALID_INPUT, TES_OUT_OF_MEMORY. */
TesStatus tes_case_read(TesContext *context, const char *path, int override_count,
                        const char *const *overrides, TesCase **result);
/** The same from a text in memory; `name` stands for the file in messages. */
TesStatus tes_case_parse(TesContext *context, const char *text, const char *name, int override_count,
                         const char *const *overrides, TesCase **result);
/** The i-th value of a case, which is not derived, on a mesh, whose boundary or material of that name it is. Errors:
 * TES_INVALID_INPUT, with the place in the file. */
TesStatus tes_case_value(const TesCase *input, int i, const TesMesh *mesh, TesValue *value);
/** number[values] of the case: fills in the derived values, from values of the solution, which are there, and from each
 *  other. */
void tes_case_derive(const TesCase *input, double *number);
/** Before time is spent: whether the mesh has all names and points that the outputs of the case need. Errors as
 * above. */
TesStatus tes_case_check_outputs(const TesCase *input, const TesMesh *mesh);
/** Destroys a case and its functions. */
void tes_case_destroy(TesCase **result);

/** The names that the values of a choice have in case files, e.g. tes_case_choice("solver.method",
 *  TES_METHOD_FMG) is "fmg"; NULL when there is no such key or value. */
const char *tes_case_choice(const char *key, int value);

/** The keys as a JSON schema (draft 2020-12), for editors that check YAML: names, types, ranges and words. Like
 * snprintf; 0 when memory is out. */
size_t tes_case_schema(char *buffer, size_t size);

typedef enum TesCaseHelp {
  TES_CASE_HELP_TEXT,
  TES_CASE_HELP_MARKDOWN,
  TES_CASE_HELP_SUPPORT /**< instead of keys: what each problem has with each element (docs/support.md); any path */
} TesCaseHelp;

/** Writes a table of the keys at and below `path` ("" or NULL: all): key, type and range, default, meaning. Like
 *  snprintf: returns the length, which may be more than `size`; 0 when there is no such key. */
size_t tes_case_help(const char *path, TesCaseHelp format, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
