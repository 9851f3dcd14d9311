/* Run: ctest -R t3_gmsh_head. The head of a Gmsh file beside the whole of it, over all files of the fuzzer's corpus and
 * of the cases: formats 1 to 4.1, text and binary, right and wrong. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bare_testing.h"
#include "mesh/forest/gmsh_head.h"
#include "tessera/mesh.h"

static bool has(const TesiGmshHead *head, int dim, const char *name) {
  for (int64_t i = 0; i < head->names; i++)
    if ((head->name[i].dim == dim || head->name[i].dim == TESI_GMSH_ANY) && !strcmp(head->name[i].name, name))
      return true;
  return false;
}

static bool is_tag(const char *name) {
  return strspn(name, "0123456789") == strlen(name);
}

/* All names of the cells stand in the head, but for tags of groups without a name. */
static void compare(const char *path, const TesiTrees *trees, const TesiGmshHead *head) {
  if (head->dim != trees->dim) fail_msg("%s: %d directions, expected %d", path, head->dim, trees->dim);
  for (int i = 0; i < trees->boundaries; i++)
    if (!is_tag(trees->boundary_name[i]) && !has(head, trees->dim - 1, trees->boundary_name[i]))
      fail_msg("%s: boundary %s is not in the head", path, trees->boundary_name[i]);
  for (int i = 0; i < trees->materials; i++)
    if (!is_tag(trees->material_name[i]) && !has(head, trees->dim, trees->material_name[i]))
      fail_msg("%s: material %s is not in the head", path, trees->material_name[i]);
}

/* How many of a pattern's files could be read. */
static int compare_all(const char *pattern) {
  glob_t files;
  int read = 0;
  assert_int_equal(glob(pattern, 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    TesMeshDesc desc = {.domain = TES_DOMAIN_FILE, .file = files.gl_pathv[i]};
    TesiTrees *trees = NULL;
    TesiGmshHead head;
    TesStatus whole = tesi_trees_file(ctx, &desc, &trees);
    if (whole) tes_context_clear(ctx), desc.split = true, whole = tesi_trees_file(ctx, &desc, &trees);
    tes_context_clear(ctx);
    const TesStatus status = tesi_gmsh_head(ctx, &desc, &head);
    if (whole == TES_OK) {
      if (status) fail_msg("%s: %s", desc.file, tes_context_message(ctx));
      compare(desc.file, trees, &head);
    }
    read += whole == TES_OK;
    tes_context_clear(ctx);
    tesi_gmsh_head_free(ctx, &head);
    tesi_trees_release(&trees);
  }
  globfree(&files);
  return read;
}

static void the_head_is_that_of_the_whole(void **state) {
  (void)state;
  const int corpus = compare_all(TESI_SOURCE_DIR "/tests/fuzz/corpus/mesh/*"),
            cases = compare_all(TESI_SOURCE_DIR "/cases/*.msh");
  printf("%d files of the corpus, %d of the cases\n", corpus, cases);
  assert_true(corpus >= 40 && cases >= 3);
}

static void failures_are_told(void **state) {
  (void)state;
  TesiGmshHead head;
  assert_int_equal(tesi_gmsh_head(ctx, &(TesMeshDesc){.file = "/no/such.msh"}, &head), TES_IO);
  assert_non_null(strstr(tes_context_message(ctx), "/no/such.msh"));
  tes_context_clear(ctx);
  assert_int_equal(tesi_gmsh_head(ctx, &(TesMeshDesc){.file = TESI_SOURCE_DIR "/README.md"}, &head),
                   TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "not a Gmsh file"));
  tes_context_clear(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_head_is_that_of_the_whole),
                                     cmocka_unit_test(failures_are_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
