/* The means in time as fields with names, for expressions, files and pictures. */
#include <string.h>
#include "problem/in_time.h"

/* The mean, or that of squares, in the place of the value of a field. */
static void set_vector(const TesiAverage *a, int power, TesiField *field) {
  const bool pressure = !strcmp(field->name, "p");
  const TesiAveraged *row = &a->of[pressure && !field->rt ? 1 : 0];
  const char *const at = strchr("uvw", *field->name);
  field->vector = field->rt || pressure ? row->mean[power] : &row->component[power][at - "uvw"];
}

int tesi_average_fields(const TesProblem *p, int count, const TesiField *value, TesiField *field) {
  static const char *const letters = "uvwp", *const names[TESI_AVERAGE_POWERS][4] = {
                                                 {"mean_u", "mean_v", "mean_w", "mean_p"},
                                                 {"mean_uu", "mean_vv", "mean_ww", "mean_pp"}};
  int made = 0;
  for (int power = 0; power < TESI_AVERAGE_POWERS; power++) {
    for (int i = 0; i < count; i++) {
      const char *const at = value[i].name[0] && !value[i].name[1] ? strchr(letters, *value[i].name) : NULL;
      if (!at || value[i].derivative != TESI_FIELD_VALUE) continue;
      field[made] = value[i];
      if (p) set_vector(&p->in_time->march.average, power, &field[made]);
      field[made].name = names[power][at - letters], field[made].unlisted = true;
      made++;
    }
  }
  return made;
}
