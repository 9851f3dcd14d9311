#include "tessera/status.h"

static const struct {
  const char *name, *text;
  int exit;
} table[] = {
#define X(constant, name, exit, text) [constant] = {name, text, exit},
    TES_STATUS_LIST(X)
#undef X
};

static int index_of(TesStatus status) {
  const int count = sizeof table / sizeof table[0], i = (int)status;
  return i >= 0 && i < count ? i : (int)TES_INTERNAL;
}

const char *tes_status_name(TesStatus status) {
  return table[index_of(status)].name;
}

const char *tes_status_text(TesStatus status) {
  return table[index_of(status)].text;
}

int tes_status_exit(TesStatus status) {
  return table[index_of(status)].exit;
}
