/* Declarations shared by the files case_*.c while a case is read. */
#ifndef TESI_CASE_READER_H
#define TESI_CASE_READER_H

#include "base/base.h"
#include "io/case/case_schema.h"
#include "io/yaml.h"
#include "mesh/forest/gmsh_head.h"
#include "problem/field_rows.h"

/* Data that a gradient does not depend on. */
#define TESI_CASE_FIXED "it depends on %s, by which data and boundary values alone are differentiated"
enum { TESI_CASE_ROWS = 320, TESI_CASE_ERRORS = 10, TESI_CASE_TEXT = 1900 };

typedef struct TesiCaseReader {
  TesContext *ctx;
  TesiCaseDraft draft;
  const char *name;
  TesiYaml *root;
  const TesiYaml *node[TESI_CASE_ROWS]; /* the given value of each row; NULL: none */
  int entries[TESI_CASE_ROWS]; /* for lists of integers or numbers; 0: one value for all directions */
  const char *row_path, *named_path,
      *named;        /* messages about rows below row_path name named_path.named; NULL: never */
  TesiGmshHead head; /* of a mesh file */
  bool mesh_known; /* the keys below `mesh` have been read: the dimension is known, unless they were wrong */
  const char *by;  /* the constant by which the case is differentiated; NULL: none */
  bool asked_too_early; /* the dimension was needed before it was known: an error of the reader itself */
  TesStatus failure;    /* of the errors */
  char errors[TESI_CASE_TEXT];
  int error_count;
  const TesiSupport *support; /* the row of equation and element; NULL: not yet known, or there is none */
} TesiCaseReader;

/* Adds an error at a node ("FILE:LINE:COLUMN: KEY: ...") and returns TES_OK, so that reading goes on and finds further
 * errors. Only an error that prevents reading, such as lack of memory, is returned as a status. row -1: the root. node
 * NULL: the file. */
TesStatus tesi_case_error(TesiCaseReader *r, int row, const TesiYaml *node, const char *format, ...)
    TESI_PRINTF(4, 5);

/* Gives a function the place from which it was read, with its key, for messages. */
TesStatus tesi_case_mark(const TesiCaseReader *r, int row, const TesiYaml *node, TesFunction *function);
/* The place of a node for messages: "FILE:LINE:COLUMN" or "--set TEXT". */
void tesi_case_place(const TesiCaseReader *r, const TesiYaml *node, char where[256]);

/* Applies "key.path=value". */
TesStatus tesi_case_override(TesiCaseReader *r, const char *text);

/* Reads `constants` and `tables`, which become words of the context (case_words.c); it comes first. */
TesStatus tesi_case_read_words(TesiCaseReader *r);
/* The path of a file named in the case: relative to the case file, unless --set gives the name. A copy replaces the
 * text. */
TesStatus tesi_case_beside(TesiCaseReader *r, const TesiYaml *node, char **file);
/* Reads all rows into r->result. */
TesStatus tesi_case_walk(TesiCaseReader *r);
/* The places of all given keys: case->key. */
TesStatus tesi_case_keep_places(TesiCaseReader *r);
/* Reads a value of a row that may have rows below it. */
TesStatus tesi_case_row_value(TesiCaseReader *r, int row, const TesiYaml *node);
/* Called when the keys below `mesh` have been read and are valid: finds the domain, the dimension and the names of a
 * file (case_mesh.c). */
TesStatus tesi_case_know_mesh(TesiCaseReader *r, bool valid);
/* The dimension, for all rows that are read later. 0: the mesh is wrong, and the case is refused. */
int tesi_case_dim(TesiCaseReader *r);
/* Checks that a list has one entry per direction; *good is false after an error. */
TesStatus tesi_case_check_entries(TesiCaseReader *r, int row, const TesiYaml *list, bool *good);
/* The keys of `mesh` that choose its kind; the keys of adaptation. */
TesStatus tesi_case_check_mesh(TesiCaseReader *r);
/* Boundaries and materials by name, into the lists of the problem (case_names.c). */
TesStatus tesi_case_read_names(TesiCaseReader *r);
/* Adds the conditions on a boundary (NULL: all others) to the list, and takes ownership of the functions of *face.
 * where NULL: nowhere. */
TesStatus tesi_case_add_boundary(TesiCaseReader *r, const char *name, const char *where, TesiCaseFace *face);
/* Moves all other data of the draft into the descriptions; the draft then owns only these. valid: also completes the
 * problem. */
TesStatus tesi_case_finish(TesiCaseReader *r, bool valid);
/* Reads the case again from its source with the datum in r->by, which is then the name of a constant
 * (case_gradient.c). */
TesStatus tesi_case_keep_source(TesCase *c, const char *text, int overrides, const char *const *override);
void tesi_case_free_source(TesCase *c);
TesStatus tesi_case_create(TesContext *ctx, const char *text, size_t length, const char *name, const char *by,
                           int override_count, const char *const *overrides, TesCase **result);
/* Adds the constant to the value whose key is r->by. */
TesStatus tesi_case_shift(TesiCaseReader *r);
/* number: all values. weight: the weight[values] of derived values are passed on to the values that they use
 * (slopes). derivative: of the expression of a derived value, by the constant for which words have slopes. */
TesStatus tesi_case_weigh(const TesCase *c, const double *number, double *weight);
TesStatus tesi_case_derived_slope(const TesCase *c, int i, const double *number, double *slope);
/* Splits a path into its names, in place; quotes are removed. It may report an error (case_override.c). */
TesStatus tesi_case_split(TesiCaseReader *r, const char *text, char *path, char *name[TESI_YAML_DEPTH],
                          int *count);
/* The row with these names; -1: there is none. */
int tesi_case_row_of_names(char *const *name, int count);
/* Releases the contents of a case, but not the case. */
void tesi_case_clear(TesCase *c);
/* Whether keys below this row are names of the mesh. */
bool tesi_case_takes_names(const TesiCaseReader *r, int row);
/* Reads the value of a row other than a map, from its node or, if node is NULL, from its default. */
TesStatus tesi_case_value(TesiCaseReader *r, int row, const TesiYaml *node);
/* *name <- the name of a file; files that are written have no control characters in their names. */
TesStatus tesi_case_file_name(TesiCaseReader *r, int row, const TesiYaml *node, char **name);
/* A list that is a matrix: its diagonal, or its rows (case_matrix.c). *to <- the matrix. */
TesStatus tesi_case_matrix(TesiCaseReader *r, int row, const TesiYaml *node, TesFunction **to);
/* A number within the range of the row; *valid is false after an error. */
TesStatus tesi_case_number(TesiCaseReader *r, int row, const TesiYaml *node, double *value, bool *valid);

/* A number with a unit must be of the kind of its key (case_units.c). */
TesStatus tesi_case_check_unit(TesiCaseReader *r, int row, const TesiYaml *node);
/* text[TESI_UNIT_TEXT] <- the unit of a name among fields (NULL: the first) in the system of the case; "": there is no
 * system, `of` is no name, or the unit of the name is not known. */
void tesi_case_unit_of(const TesiCaseReader *r, int fields, const TesiField *field,
                       const TesiFieldRow *const *row, const char *of, char *text);
/* The same for a part of a value. Its kind is the kind of the key of row `like`. */
TesStatus tesi_case_check_unit_like(TesiCaseReader *r, int row, int like, const char *text);
/* Whether this part of a value is a finite number, with a unit unless `like` is NULL. It may report an error of its
 * own. */
TesStatus tesi_case_part(TesiCaseReader *r, int row, const char *like, const char *text, double *value,
                         bool *valid);

/* "expected ..., got ...". */
TesStatus tesi_case_wrong(TesiCaseReader *r, int row, const TesiYaml *node);
/* Output of the solution: points, values, lines. To be called after the mesh. */
TesStatus tesi_case_read_outputs(TesiCaseReader *r);
/* Names of output files begin with output.folder. */
TesStatus tesi_case_put_in_folder(TesCase *c);
void tesi_case_clear_outputs(TesCase *c);

/* The value of a key; NULL: it is not given. */
const TesiYaml *tesi_case_given(const TesiCaseReader *r, const char *path);
/* An error at a key, if the key is given. */
TesStatus tesi_case_refuse(TesiCaseReader *r, const char *path, const char *format, ...) TESI_PRINTF(3, 4);
/* r->support <- the row of the equation and its element. Refuses keys, words and shapes of values that the row does not
 * have (case_support.c). */
TesStatus tesi_case_check_support(TesiCaseReader *r);
/* Whether the row r->support has this feature. */
bool tesi_case_has(const TesiCaseReader *r, TesiHas what);
/* The kind of mesh that the given keys will make (case_mesh.c). */
TesiMeshRow tesi_case_mesh_row(const TesiCaseReader *r);
/* The allowed conditions of a boundary; name: of the row by which it was read. */
TesStatus tesi_case_check_face(TesiCaseReader *r, const char *name, const TesiCaseFace *face);
/* A word instead of keys: `outflow`, `slip`. False: the value is no such word. */
bool tesi_case_face_word(TesiCaseReader *r, int row, const char *text);
/* The meaning of the key. If not all problems have the key, these problems too. */
enum { TESI_CASE_HELP = 1400 };
void tesi_case_key_help(const TesiKey *key, char text[TESI_CASE_HELP]);
/* Checks that need more than one key: the box, the faces. */
TesStatus tesi_case_check(TesiCaseReader *r);
/* Vertices of direction d from its spacing, if it has one. */
TesStatus tesi_case_spacing(TesiCaseReader *r, int d);
/* Whether several ranks make a graded box a mesh of trees, of equal cells that a map moves; then makes this map. */
bool tesi_case_maps_spacing(const TesiCaseReader *r);
TesStatus tesi_case_map_spacing(TesiCaseReader *r);
/* Whether direction d takes lower and upper from a list of coordinates. */
bool tesi_case_has_list(const TesiCaseReader *r, int d);

/* A number of steps, or {time: number}; several keys have such values. */
TesStatus tesi_case_every(TesiCaseReader *r, int row, const TesiYaml *node, TesCaseEvery *every);
/* Checks values of elasticity (case_elasticity.c). elastic_constants: lambda and mu from the given moduli. */
TesStatus tesi_case_check_elasticity(TesiCaseReader *r);
TesStatus tesi_case_elastic_constants(TesiCaseReader *r, const TesiYaml *node, const char *path,
                                      TesFunction **young, TesFunction **poisson, TesFunction **lambda,
                                      TesFunction **mu);
/* Adds data.gravity and data.rotation to f (case_loads.c); to be called after the materials. */
TesStatus tesi_case_add_loads(TesiCaseReader *r);
/* Derived values (case_derived.c): the expression {of: E} of one value; then the names in all expressions, when all
 * values are known. */
TesStatus tesi_case_read_derived(TesiCaseReader *r, const TesiYaml *of, TesCaseValue *v);
TesStatus tesi_case_resolve_derived(TesiCaseReader *r, int row, const TesiYaml *values);
void tesi_case_free_derived(TesContext *ctx, TesCaseDerived **derived);
/* Functions of checkpoints, data.initial.file and data.b.file (case_fields.c). */
TesStatus tesi_case_read_fields(TesiCaseReader *r);
/* Keys of problems in time (case_time.c). */
TesStatus tesi_case_check_time(TesiCaseReader *r);

/* "expected ..." of a row, e.g. "a number > 0 and < 1". */
void tesi_case_expected(const TesiKey *key, char text[200]);

#endif
