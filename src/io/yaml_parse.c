/* From libfyaml's events to the tree. */
#include <libfyaml.h>
#include <stdio.h>
#include <string.h>
#include "io/utf8.h"
#include "io/yaml.h"

typedef struct Builder {
  TesContext *ctx;
  const char *name;
  char *message;
  TesiYaml *root, *open[TESI_YAML_DEPTH]; /* maps and lists that have not ended */
  int depth;
  char *key; /* key that was read before its value */
  int key_line, key_column;
  int documents;
} Builder;

/* Positions of libfyaml count from 0. */
static int line_of(const struct fy_mark *mark) {
  return mark ? mark->line + 1 : 1;
}

static int column_of(const struct fy_mark *mark) {
  return mark ? mark->column + 1 : 1;
}

static TesStatus refuse(Builder *b, const struct fy_mark *mark, const char *format, ...) TESI_PRINTF(3, 4);
static TesStatus refuse(Builder *b, const struct fy_mark *mark, const char *format, ...) {
  char text[320];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(b->message, TESI_YAML_MESSAGE, "%.120s:%d:%d: %s", b->name, line_of(mark), column_of(mark), text);
  return TES_INVALID_INPUT;
}

/* A copy of the token's text, which must not contain a 0 byte. */
static TesStatus copy_text(Builder *b, struct fy_token *token, const struct fy_mark *mark, char **copy) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  size_t length = 0;
  const char *text = token ? fy_token_get_text(token, &length) : "";
  if (!text) return refuse(b, mark, "cannot be read");
  if (memchr(text, 0, length)) return refuse(b, mark, "a text must not contain a 0 byte");
  TES_ALLOC(copy, length + 1);
  memcpy(*copy, text, length);
done:
  return status;
}

static TesStatus add_node(Builder *b, TesiYamlKind kind, const char *text, const struct fy_mark *mark,
                          TesiYaml **node) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  TesiYaml *parent = b->depth ? b->open[b->depth - 1] : NULL;
  TES_TRY(tesi_yaml_add(ctx, parent, kind, b->key, text, node));
  (*node)->line = line_of(mark), (*node)->column = column_of(mark);
  (*node)->key_line = b->key_line, (*node)->key_column = b->key_column;
  tesi_free(ctx, &b->key);
  if (!parent) b->root = *node;
done:
  return status;
}

/* Whether the next value in a map is a key. */
static bool wants_key(const Builder *b) {
  return b->depth && b->open[b->depth - 1]->kind == TESI_YAML_MAP && !b->key;
}

static TesStatus take_key(Builder *b, char **text, const struct fy_mark *mark) {
  const TesiYaml *twin = tesi_yaml_find(b->open[b->depth - 1], *text);
  if (twin) return refuse(b, mark, "key '%.100s' was given before, in line %d", *text, twin->key_line);
  b->key = *text;
  b->key_line = line_of(mark), b->key_column = column_of(mark);
  *text = NULL;
  return TES_OK;
}

static TesStatus take_scalar(Builder *b, struct fy_token *token, const struct fy_mark *mark) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  TesiYaml *node;
  char *text = NULL;
  TES_TRY(copy_text(b, token, mark, &text));
  if (wants_key(b)) {
    TES_TRY(take_key(b, &text, mark));
  } else {
    TES_TRY(add_node(b, TESI_YAML_SCALAR, text, mark, &node));
    const enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
    node->plain = style == FYSS_PLAIN;
    node->column -=
        style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED; /* positions are after the quote */
  }
done:
  tesi_free(ctx, &text);
  return status;
}

static TesStatus begin(Builder *b, TesiYamlKind kind, const struct fy_mark *mark) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  TesiYaml *node;
  if (wants_key(b)) return refuse(b, mark, "a key must be a plain word");
  if (b->depth == TESI_YAML_DEPTH) return refuse(b, mark, "nested deeper than %d levels", TESI_YAML_DEPTH);
  TES_TRY(add_node(b, kind, NULL, mark, &node));
  b->open[b->depth++] = node;
done:
  return status;
}

/* The position of an alias or an anchor is after its first character, the position of a tag is on its first
 * character. */
static TesStatus refuse_extra(Builder *b, struct fy_token *token, const char *what, char sign) {
  struct fy_mark mark = {0};
  const struct fy_mark *start = fy_token_start_mark(token);
  if (start) mark = *start;
  if (sign != '!' && mark.column > 0) mark.column--;
  return refuse(b, &mark, "%s have no use here; quote a text that begins with %c", what, sign);
}

static TesStatus refuse_extras(Builder *b, struct fy_token *anchor, struct fy_token *tag) {
  if (anchor) return refuse_extra(b, anchor, "anchors", '&');
  return tag ? refuse_extra(b, tag, "tags", '!') : TES_OK;
}

static TesStatus take(Builder *b, struct fy_event *event) {
  const struct fy_mark *mark = fy_event_start_mark(event);
  TesStatus status;
  switch (event->type) {
  case FYET_DOCUMENT_START:
    return b->documents++ ? refuse(b, mark, "a second document begins here; a case is one document") : TES_OK;
  case FYET_ALIAS:
    return refuse_extra(b, event->alias.anchor, "aliases", '*');
  case FYET_SCALAR:
    status = refuse_extras(b, event->scalar.anchor, event->scalar.tag);
    return status ? status : take_scalar(b, event->scalar.value, mark);
  case FYET_MAPPING_START:
    status = refuse_extras(b, event->mapping_start.anchor, event->mapping_start.tag);
    return status ? status : begin(b, TESI_YAML_MAP, mark);
  case FYET_SEQUENCE_START:
    status = refuse_extras(b, event->sequence_start.anchor, event->sequence_start.tag);
    return status ? status : begin(b, TESI_YAML_LIST, mark);
  case FYET_MAPPING_END:
  case FYET_SEQUENCE_END:
    b->depth--;
    return TES_OK;
  default:
    return TES_OK;
  }
}

/* Prevents libfyaml from writing to the terminal. */
static void swallow(struct fy_diag *diag, void *user, const char *text, size_t length) {
  (void)diag, (void)user, (void)text, (void)length;
}

static struct fy_diag *quiet_collector(void) {
  struct fy_diag_cfg options;
  fy_diag_cfg_default(&options);
  options.fp = NULL;
  options.output_fn = swallow;
  struct fy_diag *diag = fy_diag_create(&options);
  if (diag) fy_diag_set_collect_errors(diag, true);
  return diag;
}

/* The first error that libfyaml collected. */
static TesStatus syntax_error(Builder *b, struct fy_diag *diag) {
  void *iterator = NULL;
  const struct fy_diag_error *error = fy_diag_errors_iterate(diag, &iterator);
  const struct fy_mark mark = {.line = error && error->line > 0 ? error->line - 1 : 0,
                               .column = error && error->column > 0 ? error->column - 1 : 0};
  const char *what = error && error->msg ? error->msg : "syntax error";
  const bool quotes = strstr(what, "block mapping") || strstr(what, "plain scalar");
  return refuse(b, &mark, "not valid YAML: %.200s%s", what,
                quotes ? "; a text with ': ', ' #' or a special first character needs quotes" : "");
}

static TesStatus take_all(Builder *b, struct fy_parser *parser, struct fy_diag *diag) {
  TesStatus status = TES_OK;
  for (struct fy_event *event; !status && (event = fy_parser_parse(parser));) {
    status = take(b, event);
    fy_parser_event_free(parser, event);
  }
  if (!status && fy_parser_get_stream_error(parser)) status = syntax_error(b, diag);
  return status;
}

/* libfyaml takes an invalid byte for the end of the text, so such bytes are found here. */
static TesStatus check_bytes(Builder *b, const char *text, size_t length) {
  struct fy_mark mark = {0};
  for (size_t i = 0; i < length;) {
    const unsigned char byte = (unsigned char)text[i];
    const int bytes = byte ? tesi_utf8_length(text + i) : 0;
    if (!bytes) return refuse(b, &mark, "the byte 0x%02x is no UTF-8 text", byte);
    if ((byte < 32 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 127)
      return refuse(b, &mark, "the control character 0x%02x has no use here", byte);
    mark.line += byte == '\n';
    mark.column = byte == '\n' ? 0 : mark.column + 1;
    i += (size_t)bytes;
  }
  return TES_OK;
}

TesStatus tesi_yaml_parse(TesContext *ctx, const char *text, size_t length, const char *name, TesiYaml **root,
                          char *message) {
  TesStatus status = TES_OK;
  Builder b = {.ctx = ctx, .name = name, .message = message};
  struct fy_diag *diag = quiet_collector();
  const struct fy_parse_cfg options = {.flags = FYPCF_QUIET | FYPCF_DISABLE_RECYCLING, .diag = diag};
  struct fy_parser *parser = diag ? fy_parser_create(&options) : NULL;
  *root = NULL;
  if (!parser || fy_parser_set_string(parser, text, length))
    TES_FAIL(TES_OUT_OF_MEMORY, "no memory to read %s", name);
  status = check_bytes(&b, text, length);
  if (!status) status = take_all(&b, parser, diag);
  if (!status && !b.root) TES_TRY(tesi_yaml_add(ctx, NULL, TESI_YAML_MAP, NULL, NULL, &b.root));
  if (status) goto done;
  *root = b.root;
  if (!b.root->line) b.root->line = b.root->column = 1;
  b.root = NULL;
done:
  if (parser) fy_parser_destroy(parser);
  if (diag) fy_diag_destroy(diag);
  tesi_free(ctx, &b.key);
  tesi_yaml_free(ctx, &b.root);
  return status;
}
