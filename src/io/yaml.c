#include "io/yaml.h"
#include "base/text.h"
#include <string.h>

/* ---- keys of large maps: open addressing, at most half full --------------------------------------------- */

enum { LARGE = 16 };

static uint64_t hash_of(const char *key) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (; *key; key++) hash = (hash ^ (unsigned char)*key) * 1099511628211u;
  return hash;
}

/* The slot of a key, or the free slot where it belongs. */
static TesiYaml **slot_of(const TesiYaml *map, const char *key) {
  size_t at = hash_of(key) & (size_t)(map->slots - 1);
  while (map->slot[at] && strcmp(map->slot[at]->key, key)) at = (at + 1) & (size_t)(map->slots - 1);
  return &map->slot[at];
}

/* Adds the last child of a map to its table of keys. */
static TesStatus index_last(TesContext *ctx, TesiYaml *map) {
  TesStatus status = TES_OK;
  if (map->kind != TESI_YAML_MAP || map->count < LARGE) return TES_OK;
  if (map->slot && map->count <= map->slots / 2) {
    *slot_of(map, map->last->key) = map->last;
    return TES_OK;
  }
  tesi_free(ctx, &map->slot);
  map->slots = 4 * LARGE;
  while (map->slots < 4 * map->count) map->slots *= 2;
  TES_ALLOC(&map->slot, map->slots);
  for (TesiYaml *child = map->first; child; child = child->next) *slot_of(map, child->key) = child;
done:
  return status;
}

static TesStatus append(TesContext *ctx, TesiYaml *parent, TesiYaml *node) {
  if (parent->last)
    parent->last->next = node;
  else
    parent->first = node;
  parent->last = node;
  parent->count++;
  return index_last(ctx, parent);
}

/* -------------------------------------------------------------------------------------------------------- */

TesStatus tesi_yaml_add(TesContext *ctx, TesiYaml *parent, TesiYamlKind kind, const char *key,
                        const char *text, TesiYaml **node) {
  TesStatus status = TES_OK;
  TesiYaml *n = NULL, *child;
  *node = NULL;
  TES_NEW(&n);
  n->kind = kind;
  TES_TRY(tesi_copy_text(ctx, key, &n->key));
  TES_TRY(tesi_copy_text(ctx, text, &n->text));
  *node = n;
  if (!parent) {
    n = NULL;
    goto done;
  }
  child = n;
  n = NULL; /* the parent owns it from now on */
  TES_TRY(append(ctx, parent, child));
done:
  tesi_yaml_free(ctx, &n);
  return status;
}

TesStatus tesi_yaml_attach(TesContext *ctx, TesiYaml *parent, const char *key, TesiYaml **root) {
  TesStatus status = TES_OK;
  TesiYaml *child = *root;
  TES_TRY(tesi_copy_text(ctx, key, &child->key));
  *root = NULL;
  TES_TRY(append(ctx, parent, child));
done:
  return status;
}

TesiYaml *tesi_yaml_find(const TesiYaml *map, const char *key) {
  if (map && map->slot) return *slot_of(map, key);
  TesiYaml *child = map && map->kind == TESI_YAML_MAP ? map->first : NULL;
  while (child && strcmp(child->key, key)) child = child->next;
  return child;
}

void tesi_yaml_remove(TesContext *ctx, TesiYaml *parent, TesiYaml *child) {
  TesiYaml *before = NULL;
  for (TesiYaml *c = parent->first; c != child; c = c->next) before = c;
  if (before)
    before->next = child->next;
  else
    parent->first = child->next;
  if (parent->last == child) parent->last = before;
  parent->count--;
  tesi_free(ctx, &parent->slot); /* made again when it grows */
  child->next = NULL;
  tesi_yaml_free(ctx, &child);
}

/* The recursion ends at TESI_YAML_DEPTH. */
void tesi_yaml_free(TesContext *ctx, TesiYaml **root) {
  TesiYaml *node = *root;
  *root = NULL;
  if (!node) return;
  for (TesiYaml *child = node->first, *next; child; child = next) {
    next = child->next;
    tesi_yaml_free(ctx, &child);
  }
  tesi_free(ctx, &node->slot);
  tesi_free(ctx, &node->key);
  tesi_free(ctx, &node->text);
  tesi_free(ctx, &node);
}

bool tesi_yaml_is_null(const TesiYaml *node) {
  return node->kind == TESI_YAML_SCALAR && node->plain &&
         (!*node->text || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}
