#include "problem/support.h"
#include <stdio.h>
#include <string.h>
#include "mesh/mesh.h"
#include "problem/problem.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

const char *tesi_equation_words[TESI_EQUATION_ROOM + 1] = {"poisson", "stokes", "transport", "elasticity",
                                                           "navier_stokes"};
const char *const tesi_form_words[] = {"auto", "gradient", "symmetric", "convective", "conservative", NULL};
const char *const tesi_stabilization_words[] = {"auto", "none", "supg", "grad_div", NULL};
const char *const tesi_time_method_words[] = {
    "auto",      "backward_euler", "crank_nicolson",    "bdf2",     "bdf3",      "bdf4", "sdirk2", "sdirk3",
    "imex_bdf2", "newmark",        "generalized_alpha", "explicit", "imex_bdf3", NULL};
const char *const tesi_method_words[] = {"auto", "vcycle", "fmg", "gmres", "cg", "direct", NULL};
const char *const tesi_smoother_words[] = {
    "auto",         "patch",      "patch_additive", "jacobi",        "chebyshev",
    "gauss_seidel", "cell_patch", "line_patch",     "ordered_cells", NULL};
const char *const tesi_local_words[] = {"auto",  "exact", "mean",  "scaled", "rank1",
                                        "nodal", "cg",    "dense", NULL};
const char *const tesi_order_words[] = {"auto", "same", "reversed", NULL};
const char *const tesi_coarsening_words[] = {"auto", "mesh", "degree", NULL};
const char *const tesi_coarse_words[] = {"auto", "direct", "amg", "cg", "sparse", "aggregation", NULL};
const TesiSupportWords tesi_support_words[TESI_OF_COUNT] = {
    [TESI_OF_CONDITION] = {"boundary", WORDS("none", "dirichlet", "neumann", "robin", "velocity", "slip",
                                             "outflow", "pressure", "flux", "displacement", "traction",
                                             "roller", "force", "symmetry", "radial")},
    [TESI_OF_FORM] = {"data.form", tesi_form_words},
    [TESI_OF_STABILIZATION] = {"space.stabilization", tesi_stabilization_words},
    [TESI_OF_TIME_METHOD] = {"time.method", tesi_time_method_words},
    [TESI_OF_METHOD] = {"solver.method", tesi_method_words},
    [TESI_OF_SMOOTHER] = {"solver.smoother", tesi_smoother_words},
    [TESI_OF_LOCAL] = {"solver.local_solver", tesi_local_words},
    [TESI_OF_ORDER] = {"solver.order", tesi_order_words},
    [TESI_OF_COARSENING] = {"solver.coarsening", tesi_coarsening_words},
    [TESI_OF_COARSE] = {"solver.coarse", tesi_coarse_words}};

const TesCondition tesi_named_condition[TESI_NAMED_COUNT] = {[TESI_NAMED_DIRICHLET] = TES_DIRICHLET,
                                                             [TESI_NAMED_NEUMANN] = TES_NEUMANN,
                                                             [TESI_NAMED_ROBIN] = TES_ROBIN,
                                                             [TESI_NAMED_VELOCITY] = TES_DIRICHLET,
                                                             [TESI_NAMED_SLIP] = TES_SLIP,
                                                             [TESI_NAMED_OUTFLOW] = TES_NEUMANN,
                                                             [TESI_NAMED_PRESSURE] = TES_NEUMANN,
                                                             [TESI_NAMED_FLUX] = TES_FLUX,
                                                             [TESI_NAMED_DISPLACEMENT] = TES_DIRICHLET,
                                                             [TESI_NAMED_TRACTION] = TES_NEUMANN,
                                                             [TESI_NAMED_ROLLER] = TES_SLIP,
                                                             [TESI_NAMED_FORCE] = TES_NEUMANN,
                                                             [TESI_NAMED_SYMMETRY] = TES_SLIP,
                                                             [TESI_NAMED_RADIAL] = TES_SLIP};

/* Subject: the feature that belongs to some rows, if the key does not say it. */
static const struct {
  const char *key, *subject;
} known[TESI_HAS_COUNT] = {[TESI_HAS_A] = {"data.a", NULL},
                           [TESI_HAS_C] = {"data.c", NULL},
                           [TESI_HAS_B] = {"data.b", NULL},
                           [TESI_HAS_LAMBDA] = {"data.lambda", NULL},
                           [TESI_HAS_MU] = {"data.mu", NULL},
                           [TESI_HAS_YOUNG] = {"data.young", NULL},
                           [TESI_HAS_POISSON] = {"data.poisson", NULL},
                           [TESI_HAS_PLANE] = {"data.plane", NULL},
                           [TESI_HAS_DENSITY] = {"data.density", NULL},
                           [TESI_HAS_EXPANSION] = {"data.expansion", NULL},
                           [TESI_HAS_TEMPERATURE] = {"data.temperature", NULL},
                           [TESI_HAS_GRAVITY] = {"data.gravity", NULL},
                           [TESI_HAS_ROTATION] = {"data.rotation", NULL},
                           [TESI_HAS_NAME] = {"space.name", NULL},
                           [TESI_HAS_NU] = {"data.nu", NULL},
                           [TESI_HAS_ALPHA] = {"data.alpha", NULL},
                           [TESI_HAS_MATERIALS] = {"data.materials", NULL},
                           [TESI_HAS_MEAN_VELOCITY] = {"data.mean_velocity", NULL},
                           [TESI_HAS_START_DISPLACEMENT] = {"data.initial.displacement", NULL},
                           [TESI_HAS_START_VELOCITY] = {"data.initial.velocity", NULL},
                           [TESI_HAS_START_PRESSURE] = {"data.initial.pressure", NULL},
                           [TESI_HAS_EXACT_VELOCITY] = {"data.exact.velocity", NULL},
                           [TESI_HAS_EXACT_PRESSURE] = {"data.exact.pressure", NULL},
                           [TESI_HAS_COLOURS] = {"solver.colours", NULL},
                           [TESI_HAS_PENALTY] = {"solver.penalty", NULL},
                           [TESI_HAS_TIME] = {"time", NULL},
                           [TESI_HAS_STEP] = {"time.step", NULL},
                           [TESI_HAS_CFL] = {"time.cfl", NULL},
                           [TESI_HAS_TOLERANCE] = {"time.tolerance", NULL},
                           [TESI_HAS_RHO_INF] = {"time.rho_inf", NULL},
                           [TESI_HAS_STEADY_END] = {"time.steady", NULL},
                           [TESI_HAS_ADAPT] = {"adapt", NULL},
                           [TESI_HAS_REMESH] = {"adapt", "a mesh that changes in time"},
                           [TESI_HAS_DWR] = {"adapt.estimator", "dwr"},
                           [TESI_HAS_FORCE_GOAL] = {"adapt.goal.force", NULL},
                           [TESI_HAS_POINTS] = {"output.points", NULL},
                           [TESI_HAS_FORCE] = {"output.values", "a force"},
                           [TESI_HAS_BALANCE] = {"balance", "a balance"},
                           [TESI_HAS_SERIES] = {"output.series", NULL},
                           [TESI_HAS_AVERAGE] = {"output.average", NULL},
                           [TESI_HAS_FIELD_AVERAGE] = {"average", "a mean of fields"},
                           [TESI_HAS_GRAD_DIV] = {"space.stabilization", "grad_div"},
                           [TESI_HAS_CHECKPOINT] = {"output.checkpoint", "a file of a steady solution"},
                           [TESI_HAS_RESTART] = {"--restart", NULL},
                           [TESI_HAS_OTHER_RESTART] = {"data.initial.file", NULL},
                           [TESI_HAS_ADDED_LOAD] = {"add_load", "an added load"},
                           [TESI_HAS_VTU] = {"output.vtu", NULL},
                           [TESI_HAS_VTKHDF] = {"output.vtkhdf", NULL},
                           [TESI_HAS_PNG] = {"output.png", NULL}};

const char *tesi_has_key(TesiHas what) {
  return known[what].key;
}

TesiMeshRow tesi_mesh_row(const TesMesh *mesh) {
  const bool *round = mesh->box_periodic;
  if (mesh->kind != TES_MESH_BOX) return TESI_TREES;
  return round[0] || round[1] || round[2] ? TESI_PERIODIC : TESI_GRID;
}

const TesiSupport *tesi_support_row(int number) {
  return number < tesi_equation_count ? tesi_equations[number]->support : NULL;
}

/* ---- words --------------------------------------------------------------------------------------------- */

void tesi_told_add(TesiTold *told, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int room = (int)sizeof told->text - told->length,
            n = vsnprintf(told->text + told->length, (size_t)room, format, arguments);
  va_end(arguments);
  told->length += n < 0 ? 0 : tesi_min(n, room - 1);
}

const char *tesi_told_text(const TesFunction *function, const char *otherwise) {
  return function ? tes_function_text(function) : otherwise;
}

/* "a, b and c" from items that are added one by one. */
typedef struct List {
  char item[16][80];
  int count;
} List;

static void list_add(List *list, const char *item) {
  if (list->count < (int)(sizeof list->item / sizeof *list->item))
    snprintf(list->item[list->count++], sizeof *list->item, "%s", item);
}

/* Items of several words have a comma before the last one too. */
static void list_join(const List *list, const char *last, char *text, size_t size) {
  bool several = false;
  size_t length = 0;
  for (int i = 0; i < list->count; i++) several = several || strchr(list->item[i], ' ');
  *text = 0;
  for (int i = 0; i < list->count && length < size; i++) {
    const bool ends = i + 1 == list->count;
    length += (size_t)snprintf(text + length, size - length, "%s%s%s%s",
                               !i                 ? ""
                               : !ends || several ? ", "
                                                  : " ",
                               i && ends ? last : "", i && ends ? " " : "", list->item[i]);
  }
}

/* Programs can use values that no case file names. */
static const char *word_of(TesiWordsOf of, int word) {
  int count = 0;
  while (tesi_support_words[of].word[count]) count++;
  return word < count ? tesi_support_words[of].word[word] : "another";
}

/* A request to rows: a feature, or a word of a key; word 0: any word. */
typedef struct Wanted {
  bool is_word, is_condition;
  TesiHas what;
  TesiWordsOf of;
  int word;
  TesCondition condition; /* any word with the same meaning */
} Wanted;

static unsigned words_of(const TesiSupport *row, TesiWordsOf of) {
  unsigned words = row->words[of];
  for (int m = 0; m < TESI_MESH_ROWS && of == TESI_OF_SMOOTHER; m++) words |= row->smoother[m];
  return words;
}

static bool has_condition(const TesiSupport *row, TesCondition condition) {
  for (int i = TESI_NAMED_NONE + 1; i < TESI_NAMED_COUNT; i++)
    if (row->words[TESI_OF_CONDITION] >> i & 1 && tesi_named_condition[i] == condition) return true;
  return false;
}

static bool has(const TesiSupport *row, const Wanted *wanted) {
  if (wanted->is_condition) return has_condition(row, wanted->condition);
  if (!wanted->is_word) return row->has >> wanted->what & 1;
  const unsigned words = words_of(row, wanted->of);
  return wanted->word ? words >> wanted->word & 1 : words != 0;
}

/* The elements of an equation with the feature; *all: whether all its elements have it. */
static void elements_with(TesEquation equation, const Wanted *wanted, List *list, bool *all) {
  const TesiSupport *row;
  *all = true;
  list->count = 0;
  for (int i = 0; (row = tesi_support_row(i)); i++) {
    if (row->equation != equation) continue;
    if (!wanted || has(row, wanted))
      list_add(list, tesi_element_words[row->element]);
    else
      *all = false;
  }
}

static void who(const Wanted *wanted, char text[TESI_REASON]) {
  List list = {.count = 0}, elements;
  for (int e = 0; tesi_equation_words[e]; e++) {
    char item[80], joined[40];
    bool all;
    elements_with((TesEquation)e, wanted, &elements, &all);
    if (!elements.count) continue;
    list_join(&elements, "or", joined, sizeof joined);
    snprintf(item, sizeof item, "%s%s%s", tesi_equation_words[e], all ? "" : " with element ",
             all ? "" : joined);
    list_add(&list, item);
  }
  list_join(&list, "and", text, TESI_REASON);
}

void tesi_support_who(TesiHas what, char text[TESI_REASON]) {
  who(&(Wanted){.what = what}, text);
}

void tesi_support_name(const TesiSupport *row, char text[80]) {
  List elements;
  bool all;
  elements_with(row->equation, NULL, &elements, &all);
  snprintf(text, 80, elements.count > 1 ? "%s with element %s" : "%s", tesi_equation_words[row->equation],
           tesi_element_words[row->element]);
}

static void refuse(TesiRefusal *refusal, const char *key, const char *format, ...) TESI_PRINTF(3, 4);
static void refuse(TesiRefusal *refusal, const char *key, const char *format, ...) {
  va_list arguments;
  *refusal = (TesiRefusal){.key = key};
  va_start(arguments, format);
  vsnprintf(refusal->reason, sizeof refusal->reason, format, arguments);
  va_end(arguments);
}

/* ---- what a row refuses -------------------------------------------------------------------------------- */

const TesiSupport *tesi_support_find(TesEquation equation, TesElement element, TesiMeshRow mesh,
                                     TesiRefusal *refusal) {
  const TesiSupport *row;
  List elements, equations = {.count = 0};
  char own[TESI_REASON], others[TESI_REASON];
  bool all;
  for (int i = 0; (row = tesi_support_row(i)); i++) {
    const bool usual = element == TES_ELEMENT_AUTO && row->usual >> mesh & 1;
    if (row->equation == equation && (usual || row->element == element)) return row;
    if (row->element == element) list_add(&equations, tesi_equation_words[row->equation]);
  }
  elements_with(equation, NULL, &elements, &all);
  list_join(&elements, "and", own, sizeof own);
  list_join(&equations, "and", others, sizeof others);
  refuse(refusal, "space.element", "%s has the element%s %s; %s belongs to %s", tesi_equation_words[equation],
         elements.count > 1 ? "s" : "", own, tesi_element_words[element], others);
  return NULL;
}

static const char *const mesh_names[TESI_MESH_ROWS] = {"boxes", "periodic boxes", "meshes of trees"};

static void list_words(unsigned words, TesiWordsOf of, const char *last, char *text, size_t size) {
  List list = {.count = 0};
  for (int i = of == TESI_OF_CONDITION; tesi_support_words[of].word[i]; i++)
    if (words >> i & 1) list_add(&list, tesi_support_words[of].word[i]);
  list_join(&list, last, text, size);
}

void tesi_support_list(const TesiSupport *row, TesiWordsOf of, const char *last, char text[TESI_REASON]) {
  list_words(words_of(row, of), of, last, text, TESI_REASON);
}

/* Where else a word is known: on other meshes, or in other rows. */
static void tell_word(const TesiSupport *row, TesiWordsOf of, int word, char *text, size_t size) {
  const Wanted wanted = {.is_word = true, .of = of, .word = word};
  const char *const name = word_of(of, word);
  char others[TESI_REASON];
  List meshes = {.count = 0};
  for (int m = 0; m < TESI_MESH_ROWS && of == TESI_OF_SMOOTHER; m++)
    if (row->smoother[m] >> word & 1) list_add(&meshes, mesh_names[m]);
  list_join(&meshes, "and", others, sizeof others);
  if (!meshes.count) who(&wanted, others);
  snprintf(text, size, *others ? "; %s %s %.300s" : ", not %s", name, meshes.count ? "is for" : "belongs to",
           others);
}

bool tesi_support_refuses_word(const TesiSupport *row, TesiMeshRow mesh, TesiWordsOf of, int word,
                               TesiRefusal *refusal) {
  const bool by_mesh = of == TESI_OF_SMOOTHER;
  const unsigned words = by_mesh ? row->smoother[mesh] : row->words[of];
  char name[80], own[160], others[TESI_REASON];
  if (words >> word & 1) return false;
  if (!words) {
    who(&(Wanted){.is_word = true, .of = of, .word = word}, others);
    refuse(refusal, tesi_support_words[of].key, "%s belongs to %s", word_of(of, word), others);
    return true;
  }
  tesi_support_name(row, name);
  list_words(words, of, "and", own, sizeof own);
  tell_word(row, of, word, others, sizeof others);
  refuse(refusal, tesi_support_words[of].key, "%s has %s%s%s%s%s%s", name, own, by_mesh ? " on " : "",
         by_mesh ? mesh_names[mesh] : "", row->because[of] ? ", " : "",
         row->because[of] ? row->because[of] : "", others);
  return true;
}

static bool refuses_functions(const TesBoundary *entry, int dim, TesiRefusal *refusal) {
  const bool any = entry->g[0] || entry->g[1] || entry->g[2] || entry->g[3];
  if (entry->condition == TES_SLIP && any)
    refuse(refusal, "boundary", "slip has no values");
  else if (entry->condition == TES_DIRICHLET && entry->g[dim])
    refuse(refusal, "boundary", "the pressure, component %d, is for a Neumann condition", dim);
  else
    return false;
  return true;
}

bool tesi_support_refuses_condition(const TesiSupport *row, const TesBoundary *entry, int dim,
                                    TesiRefusal *refusal) {
  static const char *const names[] = {
      [TES_DIRICHLET] = "dirichlet", [TES_NEUMANN] = "neumann", [TES_ROBIN] = "robin",
      [TES_SLIP] = "slip",           [TES_FLUX] = "flux",
  };
  const TesCondition condition = entry->condition;
  char name[80], own[160], others[TESI_REASON];
  if (has_condition(row, condition)) return row->flow && refuses_functions(entry, dim, refusal);
  tesi_support_name(row, name);
  list_words(row->words[TESI_OF_CONDITION], TESI_OF_CONDITION, "and", own, sizeof own);
  who(&(Wanted){.is_condition = true, .condition = condition}, others);
  refuse(refusal, tesi_support_words[TESI_OF_CONDITION].key, "%s has %s; %s belongs to %.200s", name, own,
         names[condition], others);
  return true;
}

static bool refuses_mesh(const TesiSupport *row, TesiMeshRow mesh, TesiRefusal *refusal) {
  const char *const element = tesi_element_words[row->element], *other = NULL;
  const TesiSupport *s;
  if (row->meshes >> mesh & 1) return false;
  if (mesh == TESI_PERIODIC) {
    refuse(refusal, "mesh.box.periodic", "element %s needs boundaries in all directions", element);
    return true;
  }
  for (int i = 0; (s = tesi_support_row(i)); i++)
    if (s->equation == row->equation && s->meshes >> mesh & 1) other = tesi_element_words[s->element];
  refuse(refusal, "mesh", "element %s is for boxes of kind box, without adapt, refine_where and map%s%s",
         element, other ? "; other meshes have " : "", other ? other : "");
  return true;
}

static bool refuses_degree(const TesiSupport *row, const TesiAsked *asked, TesiRefusal *refusal) {
  const bool cells = asked->mesh != TESI_GRID && row->degree.on_cells;
  const bool moves = asked->has & row->has & TESI_BIT(TESI_HAS_B) && row->degree.carrying && !cells;
  const int least = row->degree.least,
            most = cells   ? row->degree.on_cells
                   : moves ? row->degree.carrying
                           : row->degree.most,
            kernels = asked->dim == 3 && row->degree.kernels_in_space ? row->degree.kernels_in_space
                                                                      : row->degree.kernels;
  char name[80], range[40];
  const bool carries = !(row->has & TESI_BIT(TESI_HAS_B)) || asked->has & TESI_BIT(TESI_HAS_B),
             lacks_kernels =
                 asked->kernels && kernels && asked->degree > kernels && asked->degree <= most && carries;
  if (!asked->degree || (asked->degree >= least && asked->degree <= most && !lacks_kernels)) return false;
  tesi_support_name(row, name);
  snprintf(range, sizeof range, least == most ? "%d" : "%d to %d", least, lacks_kernels ? kernels : most);
  refuse(refusal, "space.degree", "expected %s for %s%s, got %d%s", range, name,
         lacks_kernels ? " on devices with kernels"
         : cells       ? " on this mesh"
         : moves       ? " with a velocity"
                       : "",
         asked->degree, lacks_kernels ? ": take --device cpu" : "");
  refusal->missing = lacks_kernels;
  return true;
}

/* Steps by their error need a method with an error estimate. */
static bool refuses_method(const TesiSupport *row, const TesiAsked *asked, TesiRefusal *refusal) {
  const int word = asked->word[TESI_OF_TIME_METHOD];
  char methods[160];
  if (!(asked->has & TESI_BIT(TESI_HAS_TOLERANCE)) || !word || !row->judged || row->judged >> word & 1)
    return false;
  list_words(row->judged & ~1u, TESI_OF_TIME_METHOD, "and", methods, sizeof methods);
  refuse(refusal, known[TESI_HAS_TOLERANCE].key,
         "is of the method%s %s, whose error the extrapolation of old values tells",
         strchr(methods, ' ') ? "s" : "", methods);
  return true;
}

static const char *own_reason(const TesiSupport *row, TesiHas what) {
  const TesiLack *lack = row->lacks;
  while (lack && lack->reason && lack->what != what) lack++;
  return lack ? lack->reason : NULL;
}

const char *tesi_support_why(const TesiSupport *row, TesiHas what) {
  static const struct {
    uint64_t of;
    TesiHas needs;
  } needs[] = {{TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_CFL) | TESI_BIT(TESI_HAS_TOLERANCE) |
                    TESI_BIT(TESI_HAS_REMESH) | TESI_BIT(TESI_HAS_FIELD_AVERAGE),
                TESI_HAS_TIME},
               {TESI_BIT(TESI_HAS_REMESH) | TESI_BIT(TESI_HAS_DWR), TESI_HAS_ADAPT},
               {TESI_BIT(TESI_HAS_FORCE_GOAL), TESI_HAS_DWR},
               {TESI_BIT(TESI_HAS_FORCE_GOAL), TESI_HAS_FORCE}};
  const char *reason = own_reason(row, what);
  for (size_t i = 0; i < sizeof needs / sizeof *needs && !reason; i++)
    if (needs[i].of & TESI_BIT(what) && needs[i].needs != what && !(row->has & TESI_BIT(needs[i].needs)))
      reason = tesi_support_why(row, needs[i].needs);
  return reason;
}

static void refuse_lack(const TesiSupport *row, TesiHas what, TesiRefusal *refusal) {
  char others[TESI_REASON];
  const char *const reason = tesi_support_why(row, what);
  tesi_support_who(what, others);
  refuse(refusal, known[what].key, "%s%s %.300s%s%s", known[what].subject ? known[what].subject : "",
         known[what].subject ? " belongs to" : "belongs to", others, reason ? "; " : "", reason ? reason : "");
}

/* If a row lacks `time`, its refusal is enough: keys below `time` are left out. */
static uint64_t lacking(const TesiSupport *row, const TesiAsked *asked) {
  const uint64_t lacks = asked->has & ~row->has, time = TESI_BIT(TESI_HAS_TIME),
                 below = TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_CFL) | TESI_BIT(TESI_HAS_TOLERANCE) |
                         TESI_BIT(TESI_HAS_RHO_INF);
  return lacks & time ? lacks & (time | ~below) : lacks;
}

/* ---- several ranks ------------------------------------------------------------------------------------- */

bool tesi_support_is_for_one(TesiWordsOf of, int word) {
  if (of == TESI_OF_SMOOTHER) return word == TES_SMOOTHER_GAUSS_SEIDEL;
  return of == TESI_OF_COARSE &&
         (word == TES_COARSE_AMG || word == TES_COARSE_SPARSE || word == TES_COARSE_AGGREGATION);
}

static int refuse_on_ranks(const TesiSupport *row, const TesiAsked *asked, int most, TesiRefusal *refusal) {
  static const char *const keys[TESI_MESH_ROWS] = {"mesh", "mesh.box.periodic", "mesh"};
  char name[80];
  int count = 0;
  tesi_support_name(row, name);
  if (count < most && !row->ranks.meshes)
    refuse(&refusal[count++], "problem", "%s works on one rank", name);
  else if (count < most && !(row->ranks.meshes >> asked->mesh & 1))
    refuse(&refusal[count++], keys[asked->mesh], "%s on %s works on one rank", name, mesh_names[asked->mesh]);
  const uint64_t lacks = row->ranks.meshes ? asked->has & row->has & ~row->ranks.has : 0;
  for (int i = 0; i < TESI_HAS_COUNT && count < most; i++)
    if (lacks >> i & 1) refuse(&refusal[count++], known[i].key, "works on one rank with %s", name);
  for (int of = TESI_OF_CONDITION + 1; of < TESI_OF_COUNT && count < most; of++)
    if (asked->word[of] && (tesi_support_is_for_one((TesiWordsOf)of, asked->word[of]) ||
                            (of == TESI_OF_METHOD && row->ranks.methods_of_one >> asked->word[of] & 1)))
      refuse(&refusal[count++], tesi_support_words[of].key, "%s works on one rank",
             word_of((TesiWordsOf)of, asked->word[of]));
  return count;
}

int tesi_support_refuse(const TesiSupport *row, const TesiAsked *asked, int most, TesiRefusal *refusal) {
  const bool timed = asked->has & TESI_BIT(TESI_HAS_TIME);
  const uint64_t lacks = lacking(row, asked);
  int count = 0;
  if (count < most) count += refuses_mesh(row, asked->mesh, &refusal[count]);
  if (count < most && !count) count += refuses_degree(row, asked, &refusal[count]);
  for (int i = 0; i < TESI_HAS_COUNT && count < most; i++)
    if (lacks >> i & 1) refuse_lack(row, (TesiHas)i, &refusal[count++]);
  for (int of = TESI_OF_CONDITION + 1; of < TESI_OF_COUNT && count < most; of++) {
    const bool below = of == TESI_OF_TIME_METHOD && !(row->has & TESI_BIT(TESI_HAS_TIME));
    if (asked->word[of] && !below)
      count += tesi_support_refuses_word(row, asked->mesh, (TesiWordsOf)of, asked->word[of], &refusal[count]);
  }
  if (count < most) count += refuses_method(row, asked, &refusal[count]);
  if (asked->whole && row->only_in_time && !timed && count < most)
    refuse(&refusal[count++], known[TESI_HAS_TIME].key, "is missing: %s is solved in time",
           tesi_equation_words[row->equation]);
  if (asked->ranks) count += refuse_on_ranks(row, asked, most - count, refusal + count);
  return count;
}
