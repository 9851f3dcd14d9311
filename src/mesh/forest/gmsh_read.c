/* Numbers and sections of a Gmsh file, formats 1 to 4.1, as in section 10 of Gmsh's manual. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/gmsh.h"

TesStatus tesi_gmsh_fail(const TesiGmshCursor *c, const char *format, ...) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (c->binary)
    TES_FAIL(TES_INVALID_INPUT, "%s: byte %lld: %s", c->file, (long long)(c->at - c->begin), text);
  TES_FAIL(TES_INVALID_INPUT, "%s:%lld: %s", c->file, (long long)c->line, text);
done:
  return status;
}

static void skip_space(TesiGmshCursor *c) {
  for (; c->at < c->end && tesi_gmsh_is_end(*c->at); c->at++) c->line += *c->at == '\n';
}

/* The next bytes of a binary file, in this machine's order. */
static TesStatus take_bytes(TesiGmshCursor *c, const char *what, int bytes, void *value) {
  if (c->end - c->at < bytes) return tesi_gmsh_fail(c, "the file ends where %s should stand", what);
  for (int i = 0; i < bytes; i++) ((char *)value)[c->swap ? bytes - 1 - i : i] = c->at[i];
  c->at += bytes;
  return TES_OK;
}

/* The text at the cursor, for messages. */
static void quote(const TesiGmshCursor *c, char word[32]) {
  int n = 0;
  for (const char *p = c->at; p < c->end && n < 20 && (unsigned char)*p > ' '; p++)
    word[n++] = (unsigned char)*p < 127 ? *p : '?';
  word[n] = 0;
}

static TesStatus refuse_word(const TesiGmshCursor *c, const char *what) {
  char word[32];
  quote(c, word);
  return *word ? tesi_gmsh_fail(c, "found \"%s\" where %s should stand", word, what)
               : tesi_gmsh_fail(c, "the file ends where %s should stand", what);
}

static TesStatus text_integer(TesiGmshCursor *c, const char *what, int64_t *value) {
  skip_space(c);
  errno = 0;
  const char *end = tesi_gmsh_parse_integer(c->at, value);
  if (end == c->at || errno || !tesi_gmsh_is_end(*end)) return refuse_word(c, what);
  c->at = end;
  return TES_OK;
}

TesStatus tesi_gmsh_integer(TesiGmshCursor *c, const char *what, int64_t *value) {
  int32_t number = 0;
  if (!c->binary) {
    TesStatus status = text_integer(c, what, value);
    if (status == TES_OK && (*value < INT32_MIN || *value > INT32_MAX))
      status = tesi_gmsh_fail(c, "%s is %lld, too large", what, (long long)*value);
    return status;
  }
  const TesStatus status = take_bytes(c, what, 4, &number);
  if (status == TES_OK) *value = number;
  return status;
}

TesStatus tesi_gmsh_count(TesiGmshCursor *c, const char *what, int64_t *value) {
  if (!c->binary) return text_integer(c, what, value);
  if (c->version == 2) return tesi_gmsh_integer(c, what, value);
  return take_bytes(c, what, 8, value);
}

TesStatus tesi_gmsh_tag(TesiGmshCursor *c, const char *what, int64_t *value) {
  if (c->version == 4 && c->minor == 0) return tesi_gmsh_integer(c, what, value);
  return tesi_gmsh_count(c, what, value);
}

bool tesi_gmsh_accept(TesiGmshCursor *c, const char *word) {
  const size_t length = strlen(word);
  skip_space(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length)) return false;
  c->at += length;
  return true;
}

TesStatus tesi_gmsh_number(TesiGmshCursor *c, const char *what, double *value) {
  if (c->binary) {
    const TesStatus status = take_bytes(c, what, 8, value);
    if (status != TES_OK) return status;
  } else {
    skip_space(c);
    const char *end = tesi_gmsh_parse_number(c->at, value);
    if (end == c->at || !tesi_gmsh_is_end(*end)) return refuse_word(c, what);
    c->at = end;
  }
  return isfinite(*value) ? TES_OK : tesi_gmsh_fail(c, "%s is not finite", what);
}

TesStatus tesi_gmsh_total(TesiGmshCursor *c, const char *what, size_t bytes, int64_t *value) {
  const bool binary = c->binary;
  if (c->version == 4) return tesi_gmsh_count_of(c, what, bytes, value);
  c->binary = false;
  TesStatus status = tesi_gmsh_count_of(c, what, bytes, value);
  c->binary = binary;
  if (binary && status == TES_OK) c->at += c->at < c->end;
  return status;
}

TesStatus tesi_gmsh_count_of(TesiGmshCursor *c, const char *what, size_t bytes, int64_t *value) {
  const TesStatus status = tesi_gmsh_count(c, what, value);
  if (status != TES_OK) return status;
  const size_t least = c->binary ? bytes : 2, rest = (size_t)(c->end - c->at);
  if (*value < 0 || (uint64_t)*value > rest / least + 1)
    return tesi_gmsh_fail(c, "%s is %lld, and the file has %zu bytes left", what, (long long)*value, rest);
  return TES_OK;
}

/* "$Name", possibly after blank space. */
static TesStatus read_mark(TesiGmshCursor *c, char name[40]) {
  size_t n = 0;
  skip_space(c);
  if (c->at == c->end || *c->at != '$') return refuse_word(c, "the beginning of a section ($...)");
  for (c->at++; c->at < c->end && (unsigned char)*c->at > ' '; c->at++)
    if (n < 39) name[n++] = (unsigned char)*c->at < 127 ? *c->at : '?';
  name[n] = 0;
  return TES_OK;
}

static TesStatus read_end(TesiGmshCursor *c, const char *section) {
  char name[40];
  const TesStatus status = read_mark(c, name);
  if (status != TES_OK) return status;
  if ((strncmp(name, "End", 3) && strncmp(name, "END", 3)) || strcmp(name + 3, section))
    return tesi_gmsh_fail(c, "found $%s where $End%s should stand", name, section);
  return TES_OK;
}

/* Skips a section, including its end. */
static TesStatus skip_section(TesiGmshCursor *c, const char *section) {
  char mark[50];
  const size_t length = (size_t)snprintf(mark, sizeof mark, "$End%s", section);
  for (; (size_t)(c->end - c->at) >= length; c->at++) {
    if (*c->at == '$' && !memcmp(c->at, mark, length)) {
      c->at += length;
      return TES_OK;
    }
    c->line += *c->at == '\n';
  }
  return tesi_gmsh_fail(c, "section $%s has no end", section);
}

static TesStatus read_format(TesiGmshCursor *c) {
  double version;
  int64_t binary, size;
  int32_t one = 1;
  TesStatus status = tesi_gmsh_number(c, "the version", &version);
  if (status == TES_OK) status = tesi_gmsh_integer(c, "the file type", &binary);
  if (status == TES_OK) status = tesi_gmsh_integer(c, "the size of numbers", &size);
  if (status != TES_OK) return status;
  const int tenths = version > 0 && version < 100 ? (int)(10 * version + 0.5) : 0;
  if (fabs(10 * version - tenths) > 1e-6 || tenths < 20 || tenths > 41 || (tenths > 22 && tenths < 40))
    return tesi_gmsh_fail(c, "format %g is not read; save the mesh as version 4.1, 4.0 or 2.2", version);
  if (binary < 0 || binary > 1 || size != 8)
    return tesi_gmsh_fail(c, "file type %lld with numbers of %lld bytes; expected 0 or 1, and 8",
                          (long long)binary, (long long)size);
  c->version = tenths / 10, c->minor = tenths % 10;
  if (binary) {
    while (c->at < c->end && *c->at != '\n') c->at++;
    c->at += c->at < c->end;
    c->binary = true;
    status = take_bytes(c, "the number 1", 4, &one);
    c->swap = one != 1;
    if (status == TES_OK && one != 1 && one != 1 << 24) status = tesi_gmsh_fail(c, "the number 1 is %d", one);
  }
  return status == TES_OK ? read_end(c, "MeshFormat") : status;
}

/* Of format 1: $NOD .. $ENDNOD, $ELM .. $ENDELM. */
static bool is_section(const TesiGmshCursor *c, const char *name, const char *wanted, const char *in_first) {
  return !strcmp(name, c->version == 1 ? in_first : wanted);
}

static TesStatus read_section(TesiGmshCursor *c, const char *name, TesiGmsh *mesh) {
  TesStatus status;
  if (!strcmp(name, "PhysicalNames"))
    status = tesi_gmsh_names(c, mesh);
  else if (!strcmp(name, "Entities") && c->version == 4)
    status = tesi_gmsh_entities(c, false, mesh);
  else if (!strcmp(name, "PartitionedEntities") && c->version == 4)
    status = tesi_gmsh_entities(c, true, mesh);
  else if (!strcmp(name, "Periodic") && c->options.periodic)
    status = tesi_gmsh_periodic(c, mesh);
  else if (is_section(c, name, "Nodes", "NOD") || is_section(c, name, "ParametricNodes", ""))
    status = mesh->nodes ? tesi_gmsh_fail(c, "section $Nodes stands twice")
                         : tesi_gmsh_nodes(c, !strcmp(name, "ParametricNodes"), mesh);
  else if (is_section(c, name, "Elements", "ELM"))
    status =
        mesh->elements ? tesi_gmsh_fail(c, "section $Elements stands twice") : tesi_gmsh_elements(c, mesh);
  else
    return skip_section(c, name);
  return status == TES_OK ? read_end(c, name) : status;
}

/* Binary sections begin after the end of the line with their mark. */
static void begin_section(TesiGmshCursor *c) {
  if (!c->binary) return;
  while (c->at < c->end && *c->at != '\n') c->at++;
  c->at += c->at < c->end;
}

TesStatus tesi_gmsh_format(TesiGmshCursor *c) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  char name[40] = "";
  for (;;) {
    skip_space(c);
    const char *mark = c->at;
    const int64_t line = c->line;
    if (c->at < c->end && *c->at == '$') TES_TRY(read_mark(c, name));
    if (!strcmp(name, "MeshFormat")) return read_format(c);
    if (!strcmp(name, "NOD")) {
      c->version = 1, c->at = mark, c->line = line;
      return TES_OK;
    }
    if (strcmp(name, "Comments"))
      TES_FAIL(TES_INVALID_INPUT, "%s: not a Gmsh file: it does not begin with $MeshFormat", c->file);
    TES_TRY(skip_section(c, name));
    name[0] = 0;
  }
done:
  return status;
}

TesStatus tesi_gmsh_parse(TesContext *context, const char *text, size_t length, const char *file,
                          TesiGmshOptions options, TesiGmsh *mesh) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiGmshCursor c = {
      .ctx = ctx, .file = file, .begin = text, .at = text, .end = text + length, .line = 1, .options = options};
  char name[40];
  *mesh = (TesiGmsh){.ctx = ctx, .file = file, .options = options};
  if (length > 3 && !memcmp(text, "\xef\xbb\xbf", 3)) c.at += 3; /* the mark of UTF-8 */
  TES_TRY(tesi_gmsh_format(&c));
  mesh->binary = c.binary;
  for (skip_space(&c); c.at < c.end; skip_space(&c)) {
    TES_TRY(read_mark(&c, name));
    begin_section(&c);
    TES_TRY(read_section(&c, name, mesh));
  }
  if (!mesh->nodes) TES_TRY(tesi_gmsh_fail(&c, "the mesh has no nodes"));
  if (!mesh->elements) TES_TRY(tesi_gmsh_fail(&c, "the mesh has no lines, quadrilaterals or hexahedra"));
  if (options.periodic && !mesh->pairs && !mesh->maps)
    TES_FAIL(TES_INVALID_INPUT, "%s: mesh.periodic is file, and the file has no section $Periodic", file);
  if (mesh->maps) TES_TRY(tesi_gmsh_pair_by_maps(mesh));
  if (options.split) TES_TRY(tesi_gmsh_split(mesh));
done:
  return status;
}

void tesi_gmsh_free(TesiGmsh *mesh) {
  TesContext *ctx = mesh->ctx;
  if (!ctx) return;
  for (int64_t i = 0; i < mesh->names; i++) tesi_free(ctx, &mesh->name[i].name);
  tesi_free(ctx, &mesh->name);
  tesi_free(ctx, &mesh->entity);
  tesi_free(ctx, &mesh->pair);
  tesi_free(ctx, &mesh->node_number);
  tesi_free(ctx, &mesh->node_at);
  tesi_free(ctx, &mesh->node);
  tesi_free(ctx, &mesh->bent);
  tesi_free(ctx, &mesh->map);
  tesi_free(ctx, &mesh->home);
  tesi_free(ctx, &mesh->element);
  tesi_free(ctx, &mesh->element_node);
}
