/* Run: ctest -R t9_report. Every key of the JSON report stands in docs/report.md, and every key there is one that
 * some run of the program writes. */
#include "program_testing.h"

enum { MOST = 200, LENGTH = 100 };
static char seen[MOST][LENGTH];
static int seen_count;

static bool is_known(char (*list)[LENGTH], int count, const char *path) {
  for (int i = 0; i < count; i++)
    if (!strcmp(list[i], path)) return true;
  return false;
}

static void collect(const cJSON *item, const char *path) {
  if (*path && !is_known(seen, seen_count, path)) snprintf(seen[seen_count++], LENGTH, "%s", path);
  assert_true(seen_count < MOST);
  for (const cJSON *child = item->child; child; child = child->next) {
    char below[LENGTH];
    const bool named = !strcmp(path, "values") || !strcmp(path, "places") || !strcmp(path, "statistics");
    const char *name = named ? "NAME" : !strcmp(path, "flux") ? "BOUNDARY" : child->string;
    if (cJSON_IsArray(item) && !cJSON_IsObject(child)) continue;
    if (cJSON_IsArray(item))
      for (const cJSON *member = child->child; member; member = member->next) {
        snprintf(below, LENGTH, "%.60s[].%.30s", path, member->string);
        collect(member, below);
      }
    else {
      snprintf(below, LENGTH, "%.60s%s%.30s", path, *path ? "." : "", name);
      collect(child, below);
    }
  }
}

static void collect_run(const char *arguments) {
  char command[1500];
  snprintf(command, sizeof command, "%s --quiet --json r.json", arguments);
  run(command);
  cJSON *json = read_json("r.json");
  collect(json, "");
  cJSON_Delete(json);
}

static int read_document(char (*list)[LENGTH]) {
  FILE *file = fopen(TESI_SOURCE_DIR "/docs/report.md", "r");
  char line[500];
  int count = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "| `%99[^`]` |", list[count]) == 1) count++;
  fclose(file);
  return count;
}

/* A package of a processor that counts microjoules, in a folder of this test's: more and more of them until
 * count_no_more(), or always the same number. */
static void count_joules(bool moves) {
  assert_int_equal(system("mkdir -p rapl/intel-rapl:0 && echo 5000000 > rapl/intel-rapl:0/energy_uj"), 0);
  if (moves)
    assert_int_equal(system("touch moving; (i=5000000; while [ -e moving ]; do i=$((i + 1000)); echo $i > "
                            "rapl/new && mv rapl/new "
                            "rapl/intel-rapl:0/energy_uj; done; touch ended) > /dev/null 2>&1 &"),
                     0);
  setenv("TESSERA_RAPL", "rapl", 1);
}

static void count_no_more(void) {
  assert_int_equal(system("rm moving; for i in $(seq 100); do [ -e ended ] && break; sleep 0.1; done; "
                          "rm ended && rm -r rapl"),
                   0);
}

static void the_document_has_every_key(void **state) {
  static char told[MOST][LENGTH];
  const int count = read_document(told);
  (void)state;
  count_joules(true);
  collect_run(
      "solve " CASES "poisson-square.yaml --set mesh.box.cells=4 --vtu a.vtu --set solver.smoother=jacobi "
      "--set solver.method=cg --set solver.order=reversed "
      "--set \"output.points={a: [0.5, 0.5], b: [1.001, 0.5]}\" --set \"output.values={v: {mean: domain}}\" "
      "--set \"output.lines=[{from: [0, 0], to: [1, 1], file: a.csv}]\" --png a.png");
  collect_run("solve " CASES "poisson-square.yaml --png a.png --set mesh.box.cells=[4,4,4]");
  collect_run("solve " CASES "stokes-manufactured.yaml --device cpu --set mesh.box.cells=[4,4] "
              "--set \"output.points=[[0.5, 0.5]]\"");
  collect_run("solve " CASES "heat.yaml --set mesh.box.cells=[4,4] --set time.end=0.05 --set "
              "output.series=a.csv --set data.exact=x");
  collect_run("solve " CASES
              "channel-flow.yaml --device cpu --set mesh.box.cells=[3,2] --set time.end=0.05 --set "
              "output.png=null --set output.average.from=0");
  collect_run("solve " CASES "l-shape.yaml --set adapt.steps=1");
  collect_run("solve " CASES "poisson-square.yaml --set mesh.box.cells=4 --set solver.tolerance=1e-17");
  collect_run("solve " CASES "three-bodies.yaml --device cpu --set mesh.box.cells=[6,6] --set time.end=0.01");
  collect_run("solve " CASES "adaptive-hill.yaml --set space.degree=1 --set time.end=0.01");
  collect_run("solve " CASES "cylinder-adaptive.yaml --device cpu --set space.degree=2 --set adapt.every=2 "
              "--set adapt.max_level=1 --set time.end=0.02 --set time.cfl=null --set time.step=0.005 --set "
              "output.average=null");
  collect_run("solve " CASES
              "cantilever.yaml --set mesh.box.cells=[4,1,1] --set \"output.points={tip: [10, 0.5, 0.5]}\"");
  count_no_more();
  for (int i = 0; i < seen_count; i++)
    if (!is_known(told, count, seen[i])) fail_msg("docs/report.md does not tell of %s", seen[i]);
  if (!has_forests()) return; /* no steps */
  for (int i = 0; i < count; i++) {
    /* an optional part; of several ranks alone, which t9_ranks has; of a GPU, which t1_device_missing has */
    const bool optional = !strcmp(told[i], "png") || !strcmp(told[i], "vtkhdf") ||
                          !strcmp(told[i], "ranks") || !strcmp(told[i], "energy.gpu");
    if (!optional && !is_known(seen, seen_count, told[i])) fail_msg("no report has %s", told[i]);
  }
}

/* Without counters there is no key, and details say why, once. */
static void energy_that_cannot_be_read_is_left_out(void **state) {
  (void)state;
  setenv("TESSERA_RAPL", "nowhere", 1);
  assert_run("solve " CASES "poisson-square.yaml --device cpu --set mesh.box.cells=4 --verbose --json r.json",
             0);
  assert_output("energy    cannot be read: no GPU computes; no ");
  assert_null(strstr(strstr(output, "cannot be read") + 1, "cannot be read"));
  cJSON *json = read_json("r.json");
  assert_null(cJSON_GetObjectItem(json, "energy"));
  cJSON_Delete(json);
  count_joules(false);
  assert_run("solve " CASES "poisson-square.yaml --device cpu --set mesh.box.cells=4 --quiet --json r.json",
             0);
  json = read_json("r.json");
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "energy")), 0); /* the counter stands still */
  cJSON_Delete(json);
  if (!has_forests()) return;
  count_joules(true);
  bool counted = false;
  for (int again = 0; again < 10 && !counted;
       again++) { /* a busy machine may not let it move in so short a run */
    run("solve " CASES "l-shape.yaml --device cpu --set adapt.steps=1 --quiet --json r.json");
    json = read_json("r.json");
    const cJSON *energy = cJSON_GetObjectItem(json, "energy");
    counted = cJSON_HasObjectItem(energy, "cpu");
    assert_false(cJSON_HasObjectItem(energy, "setup"));
    cJSON_Delete(json);
  }
  assert_true(counted);
  count_no_more();
}

/* The names of all templates, by the help. */
enum { TEMPLATES = 100 };
static int list_templates(char names[TEMPLATES][40]) {
  int count = 0;
  assert_run("new --help", 0);
  char *line = strtok(output, "\n");
  for (; line; line = strtok(NULL, "\n")) {
    if (strncmp(line, "  ", 2) || line[2] == '-') continue;
    assert_true(count < TEMPLATES);
    assert_int_equal(sscanf(line, "%39s", names[count++]), 1);
  }
  return count;
}

/* Templates are the cases of the repository, word for word, with the meshes that they name; a check tells of the mesh
 * and of the unknowns. */
static void templates_are_the_cases(void **state) {
  char names[TEMPLATES][40], arguments[500];
  (void)state;
  const bool forests = has_forests();
  const int count = list_templates(names);
  assert_run("--version >/dev/null; ls " CASES "*.yaml | wc -l", 0);
  assert_int_equal(atoi(output), count);
  for (int i = -1; i < count; i++) {
    const char *name = i < 0 ? "poisson" : names[i];
    snprintf(arguments, sizeof arguments, "new %s > a.yaml && cmp a.yaml " CASES "%s.yaml", i < 0 ? "" : name,
             name);
    assert_run(arguments, 0);
    const bool large = strstr(name, "1600") || strstr(name, "poisson-cube"); /* a second and more each */
    snprintf(arguments, sizeof arguments, "check a.yaml --vtu a.vtu%s",
             large ? " --set mesh.box.cells=[4,4,4]" : "");
    const int status = run(arguments);
    if (status == 3 && !forests) continue;
    if (status) fail_msg("template %s: exit status %d\n%s", name, status, output);
    assert_output("boundary  ");
    assert_output("space     degree ");
    assert_output("unknowns  ");
    assert_output("memory    about ");
    assert_output("written   a.vtu");
  }
  assert_run("--version >/dev/null; for m in *.msh; do cmp $m " CASES "$m || exit 1; done; ls *.msh | wc -l",
             0);
  const int meshes = atoi(output);
  assert_run("--version >/dev/null; ls " CASES "*.msh | wc -l", 0);
  assert_int_equal(atoi(output), meshes);
  assert_run("--version >/dev/null; echo mine > plate.msh", 0);
  assert_run("new plate", 0);
  assert_output("warning: plate.msh is there with other contents, and stays");
  assert_run("--version >/dev/null; grep -c mine plate.msh; rm *.msh", 0);
  assert_run("new elasticity", 2);
  assert_output("there is no template 'elasticity'; of this kind are: bracket, cantilever, elastic-cube, "
                "elastic-plate");
  assert_run("new cylindre", 2);
  assert_output("did you mean 'cylinder'?");
  assert_run("new nothing", 2);
  assert_output("there is no template 'nothing'");
  assert_run("check " CASES "poisson-square.yaml --set \"output.values={v: {mean: nowhere}}\"", 2);
  assert_output("the mesh has no boundary or material called nowhere");
  assert_run("check " CASES "poisson-square.yaml --set \"mesh.box={dim: 2, cells: 4, upper: [2, 3]}\"", 0);
  assert_output("boundary  left             length 3, u = 0: the case gives no condition\n");
  assert_output("boundary  top              length 2, u = 0: the case gives no condition\n");
  assert_output("domain    area 6");
  assert_output("degree 4, 289 nodes");
  assert_output("unknowns  225\n");
  assert_output("15.8 KiB on the processor, where ");
  if (!forests) return;
  assert_run("check " CASES "plate.yaml --vtu plate.vtu", 0);
  assert_output("boundary  hole             length 1.88");
  assert_output("material  sleeve           8 cells");
  static const char *const arrays[] = {"boundary", "material", "level"};
  for (int i = 0; i < 3; i++) {
    char command[100];
    snprintf(command, sizeof command, "--version >/dev/null; grep -ac 'Name=\"%s\"' plate.vtu", arrays[i]);
    assert_run(command, 0);
  }
}

/* Who names some boundaries is told which others are held; `all` leaves none. */
static void defaults_are_told(void **state) {
  (void)state;
  static const char told[] = "default   u = 0 on right, bottom, top: the case gives no condition there\n";
  write_file("d.yaml", "problem: elasticity\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 2}\n"
                       "boundary: {left: {traction: [1, 0]}}\ndata: {young: 1, poisson: 0.3}\n");
  assert_run("solve d.yaml", 0);
  assert_output(told);
  assert_run("check d.yaml", 0);
  assert_output("boundary  left             length 1\nboundary  right            length 1, u = 0: the case");
  assert_run("solve d.yaml --set boundary.all.displacement=[0,0]", 0);
  assert_null(strstr(output, "default   "));
  assert_run("check d.yaml --set boundary.all=roller", 0);
  assert_null(strstr(output, "gives no condition"));
  assert_run("solve d.yaml --set boundary=null", 0);
  assert_null(strstr(output, "default   "));
}

/* Completion for bash asks the program: what it offers is what there is. */
static void completion_offers_what_there_is(void **state) {
  static const struct {
    const char *words, *offers;
  } lines[] = {{"tessera so", "solve\n"},
               {"tessera solve --ver", "--verbose\n"},
               {"tessera check --v", "--vtu\n"},
               {"tessera new l", "l-shape\n"},
               {"tessera solve --set space.d", "space.degree=\n"},
               {"tessera study a.yaml --over space.d", "space.degree=\n"}};
  (void)state;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char command[1000];
    snprintf(
        command, sizeof command,
        "--version >/dev/null; PATH=" TESI_BUILD_DIR ":$PATH bash -c 'source " TESI_SOURCE_DIR
        "/tools/completion/tessera.bash; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tessera; "
        "printf \"%%s\\n\" \"${COMPREPLY[@]}\"' 2>/dev/null",
        lines[i].words);
    assert_run(command, 0);
    assert_string_equal(output, lines[i].offers);
  }
}

/* Of the case, and of the solve, each once. */
static void warnings_are_reported(void **state) {
  (void)state;
  run("solve " CASES "cantilever.yaml --device cpu --quiet --set mesh.box.cells=[4,1,1] --set space.degree=1 "
      "--set data.poisson=0.47 --set solver.precision=single --json r.json");
  cJSON *json = read_json("r.json");
  const cJSON *list = cJSON_GetObjectItem(json, "warnings");
  int locks = 0, tolerances = 0;
  for (int i = 0; i < cJSON_GetArraySize(list); i++) {
    const char *text = cJSON_GetStringValue(cJSON_GetArrayItem(list, i));
    assert_true(strncmp(text, "warning", 7));
    locks += strstr(text, "Poisson's ratio is 0.47") != NULL;
    tolerances += strstr(text, "solver.precision: single") != NULL;
  }
  assert_int_equal(locks, 1);
  assert_int_equal(tolerances, 1);
  cJSON_Delete(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_document_has_every_key),
                                     cmocka_unit_test(energy_that_cannot_be_read_is_left_out),
                                     cmocka_unit_test(warnings_are_reported),
                                     cmocka_unit_test(templates_are_the_cases),
                                     cmocka_unit_test(completion_offers_what_there_is),
                                     cmocka_unit_test(defaults_are_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
