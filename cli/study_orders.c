/* Orders of convergence of a study, and its limits. */
#include <math.h>
#include "study.h"

int study_position(const Study *study, int row, int k) {
  for (int i = study->keys - 1; i > k; i--) row /= study->key[i].values;
  return row % study->key[k].values;
}

/* Distance of neighbouring rows in key k. */
static int stride(const Study *study, int k) {
  int rows = 1;
  for (int i = study->keys - 1; i > k; i--) rows *= study->key[i].values;
  return rows;
}

/* The factor by which the second row is smaller; 1 if nothing shrinks, or degrees differ. */
static double size_ratio(const StudyRow *a, const StudyRow *b) {
  if (!a->solved || !b->solved || a->degree != b->degree) return 1;
  if (a->cells != b->cells) return a->length / b->length;
  return isfinite(a->step) && isfinite(b->step) ? a->step / b->step : 1;
}

int study_before(const Study *study, int row, double *ratio) {
  for (int k = study->keys - 1; k >= 0; k--) {
    const int before = row - stride(study, k);
    if (study_position(study, row, k) == 0) continue;
    *ratio = size_ratio(&study->result[before], &study->result[row]);
    if (*ratio > 0 && fabs(*ratio - 1) > 1e-6) return before;
  }
  return -1;
}

/* (h0^p - h1^p) / (h1^p - h2^p) with h1 = 1. */
static double difference_ratio(double p, const double ratio[2]) {
  return (pow(ratio[0], p) - 1) / (1 - pow(ratio[1], -p));
}

bool study_extrapolate(const double value[3], const double ratio[2], double *order, double *limit) {
  const double wanted = (value[0] - value[1]) / (value[1] - value[2]);
  double low = 0.01, high = 40;
  if (!(ratio[0] > 1) || !(ratio[1] > 1) || !isfinite(wanted)) return false;
  if (!(wanted > difference_ratio(low, ratio)) || !(wanted < difference_ratio(high, ratio))) return false;
  while (high - low > 1e-12 * high) {
    const double middle = 0.5 * (low + high);
    *(difference_ratio(middle, ratio) < wanted ? &low : &high) = middle;
    if (middle == 0.5 * (low + high)) break;
  }
  *order = low;
  *limit = value[2] + (value[2] - value[1]) / (pow(ratio[1], low) - 1);
  return true;
}

static void find_value_order(StudyMeasure *m, const int row[3], const double ratio[2]) {
  const double value[] = {m->number[row[0]], m->number[row[1]], m->number[row[2]]};
  study_extrapolate(value, ratio, &m->order[row[2]], &m->limit[row[2]]);
}

void study_find_orders(Study *study, int row) {
  double ratio[2] = {1, 1};
  const int before = study_before(study, row, &ratio[1]);
  const int first = before >= 0 ? study_before(study, before, &ratio[0]) : -1;
  for (int i = 0; i < study->measures; i++) {
    StudyMeasure *m = &study->measure[i];
    if (m->error && before >= 0) m->order[row] = log(m->number[before] / m->number[row]) / log(ratio[1]);
    if (!m->error && first >= 0) find_value_order(m, (const int[]){first, before, row}, ratio);
    if (!isfinite(m->order[row])) m->order[row] = NAN;
  }
}
