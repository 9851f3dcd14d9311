/* BP1, BP3, BP5 and stiffness with p + 1 Gauss points by deal.II's matrix-free operators, on the mesh and in the
 * units of `tessera bench bp`:
 * a cube of hexahedra, every inner vertex moved by 0.15 of an edge, global vectors, float64, one thread, time of
 * the processor.
 * README.md says how to build and run it.
 *
 *   dealii_bp SECONDS PROBLEM...     PROBLEM: bp1, bp3, bp5 or gauss, a colon, degrees: bp5:4,5,6
 *
 * Prints a line a problem, degree and variant of the geometry: median and fastest milliseconds, million unknowns a
 * second (median).
 *   stored    JxW (BP1), J^-1 and JxW a point (the library's own FEEvaluation)
 *   merged    6 entries of JxW J^-1 J^-T a point
 *   vertices  J at each point from the 8 vertices of the cell */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_renumbering.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/matrix_free/evaluation_template_factory.templates.h>
#include <deal.II/matrix_free/fe_evaluation.h>
#include <deal.II/matrix_free/mapping_info.templates.h>
#include <deal.II/matrix_free/matrix_free.templates.h>
#include <deal.II/matrix_free/shape_info.templates.h>
#include <string>
#include <vector>

using namespace dealii;

using V = VectorizedArray<double>;
using MF = MatrixFree<3, double, V>;
using Vector_ = LinearAlgebra::distributed::Vector<double>;
using Range = std::pair<unsigned int, unsigned int>;

enum Kind { BP1, BP3, BP5, GAUSS };
enum Variant { STORED, MERGED, VERTICES };

template <int p, int q, Kind kind> class Operator {
public:
  Operator() : fe(p) {
    make_mesh();
    dofs.reinit(mesh);
    dofs.distribute_dofs(fe);
    constraints.close();
    renumber();
    typename MF::AdditionalData data;
    data.tasks_parallel_scheme = MF::AdditionalData::none;
    data.mapping_update_flags = update_gradients | update_JxW_values | update_quadrature_points;
    points = kind == BP5 ? Quadrature<1>(QGaussLobatto<1>(q)) : Quadrature<1>(QGauss<1>(q));
    matrix.reinit(MappingQ<3>(1), dofs, constraints, points, data);
    make_factors();
    matrix.initialize_dof_vector(x);
    matrix.initialize_dof_vector(y);
    for (unsigned int i = 0; i < x.locally_owned_size(); i++)
      x.local_element(i) = 2. * std::rand() / RAND_MAX - 1;
  }

  void apply(Variant v) {
    variant = v;
    matrix.cell_loop(&Operator::cells, this, y, x, true);
  }

  Vector_ x, y;

private:
  using Evaluation = FEEvaluation<3, p, q, 1, double, V>;

  /* In the order of the loop over cells; by cells of their own, as the library is built without vectors. */
  void renumber() {
    using Plain = MatrixFree<3, double, VectorizedArray<double, 1>>;
    typename Plain::AdditionalData data;
    data.tasks_parallel_scheme = Plain::AdditionalData::none;
    DoFRenumbering::matrix_free_data_locality(dofs, constraints, data);
  }

  /* The sizes of about 4 million unknowns (2 at degree 1) that the published figures have. */
  void make_mesh() {
    static const unsigned int edges[] = {0, 128, 80, 56, 40, 32, 28, 24, 20};
    unsigned int n = edges[p], levels = 0;
    for (; n % 2 == 0; n /= 2) levels++;
    GridGenerator::subdivided_hyper_cube(mesh, n);
    mesh.refine_global(levels);
    GridTools::distort_random(0.15, mesh, true);
  }

  /* Monomials of the trilinear map a batch of cells; the merged metric a point. */
  void make_factors() {
    Evaluation phi(matrix);
    map.resize(matrix.n_cell_batches() * 8);
    if (kind != BP1) metric.resize(matrix.n_cell_batches() * 6 * phi.n_q_points);
    for (unsigned int c = 0; c < matrix.n_cell_batches(); c++) {
      monomials(c);
      phi.reinit(c);
      for (unsigned int i = 0; kind != BP1 && i < phi.n_q_points; i++) {
        const auto J = phi.inverse_jacobian(i); /* J^-T */
        V *m = &metric[(c * phi.n_q_points + i) * 6];
        int e = 0;
        for (int a = 0; a < 3; a++)
          for (int b = a; b < 3; b++, e++)
            m[e] = (J[0][a] * J[0][b] + J[1][a] * J[1][b] + J[2][a] * J[2][b]) * phi.JxW(i);
      }
    }
  }

  void monomials(unsigned int c) {
    Tensor<1, 3, V> v[8];
    for (unsigned int l = 0; l < V::size(); l++) {
      const auto cell =
          matrix.get_cell_iterator(c, std::min(l, matrix.n_active_entries_per_cell_batch(c) - 1));
      for (int i = 0; i < 8; i++)
        for (int d = 0; d < 3; d++) v[i][d][l] = cell->vertex(i)[d];
    }
    for (int d = 1; d < 8; d *= 2)
      for (int i = 0; i < 8; i++)
        if (i & d) v[i] -= v[i - d];
    for (int i = 0; i < 8; i++) map[8 * c + i] = v[i];
  }

  void cells(const MF &, Vector_ &out, const Vector_ &in, const Range &range) const {
    Evaluation phi(matrix);
    constexpr auto what = kind == BP1 ? EvaluationFlags::values : EvaluationFlags::gradients;
    for (unsigned int c = range.first; c < range.second; c++) {
      phi.reinit(c);
      phi.gather_evaluate(in, what);
      if (variant == STORED)
        at_points(phi);
      else if (variant == MERGED)
        merged(c, phi.begin_gradients());
      else
        from_vertices(c, kind == BP1 ? phi.begin_values() : phi.begin_gradients());
      phi.integrate_scatter(what, out);
    }
  }

  static void at_points(Evaluation &phi) {
    for (unsigned int i = 0; i < phi.n_q_points; i++)
      if (kind == BP1)
        phi.submit_value(phi.get_value(i), i);
      else
        phi.submit_gradient(phi.get_gradient(i), i);
  }

  /* g: derivatives on the reference cell, [3][q^3] */
  void merged(unsigned int c, V *g) const {
    constexpr int N = q * q * q;
    const V *m = &metric[std::size_t(c) * 6 * N];
    for (int i = 0; i < N; i++, m += 6) {
      const V a = g[i], b = g[N + i], d = g[2 * N + i];
      g[i] = m[0] * a + m[1] * b + m[2] * d;
      g[N + i] = m[1] * a + m[3] * b + m[4] * d;
      g[2 * N + i] = m[2] * a + m[4] * b + m[5] * d;
    }
  }

  /* By columns of J, of which the one in x is the same along a row: t = adj(J)' g w / |J|, adj(J) t. */
  void from_vertices(unsigned int c, V *g) const {
    const Tensor<1, 3, V> *v = &map[8 * c];
    constexpr int N = q * q * q;
    double at[q], w[q];
    for (int i = 0; i < q; i++) at[i] = points.point(i)[0], w[i] = points.weight(i);
    for (int qz = 0; qz < q; qz++)
      for (int qy = 0; qy < q; qy++) {
        const double y = at[qy], z = at[qz], weight = w[qz] * w[qy];
        V jx[3], y0[3], y1[3], z0[3], z1[3];
        for (int d = 0; d < 3; d++) {
          jx[d] = v[1][d] + z * v[5][d] + y * (v[3][d] + z * v[7][d]);
          y0[d] = v[2][d] + z * v[6][d], y1[d] = v[3][d] + z * v[7][d];
          z0[d] = v[4][d] + y * v[6][d], z1[d] = v[5][d] + y * v[7][d];
        }
        V *row = g + (qz * q + qy) * q;
        for (int qx = 0; qx < q; qx++) point(jx, y0, y1, z0, z1, at[qx], weight * w[qx], row + qx, N);
      }
  }

  static inline DEAL_II_ALWAYS_INLINE void point(const V jx[3], const V y0[3], const V y1[3], const V z0[3],
                                                 const V z1[3], double x, double weight, V *g, int N) {
    const V jy[3] = {y0[0] + x * y1[0], y0[1] + x * y1[1], y0[2] + x * y1[2]};
    const V jz[3] = {z0[0] + x * z1[0], z0[1] + x * z1[1], z0[2] + x * z1[2]};
    V a[3], b[3], c[3], t[3];
    cross(jy, jz, a);
    const V det = jx[0] * a[0] + jx[1] * a[1] + jx[2] * a[2];
    if (kind == BP1) {
      g[0] *= det * weight;
      return;
    }
    cross(jz, jx, b), cross(jx, jy, c);
    const V scale = weight / det, gx = g[0] * scale, gy = g[N] * scale, gz = g[2 * N] * scale;
    for (int d = 0; d < 3; d++) t[d] = a[d] * gx + b[d] * gy + c[d] * gz;
    g[0] = a[0] * t[0] + a[1] * t[1] + a[2] * t[2];
    g[N] = b[0] * t[0] + b[1] * t[1] + b[2] * t[2];
    g[2 * N] = c[0] * t[0] + c[1] * t[1] + c[2] * t[2];
  }

  static inline DEAL_II_ALWAYS_INLINE void cross(const V a[3], const V b[3], V c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
  }

  Triangulation<3> mesh;
  FE_Q<3> fe;
  DoFHandler<3> dofs;
  AffineConstraints<double> constraints;
  Quadrature<1> points;
  MF matrix;
  AlignedVector<V> metric;
  AlignedVector<Tensor<1, 3, V>> map;
  Variant variant = STORED;
};

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Rounds of all variants in turn, so that they see the same machine. */
template <int p, int q, Kind kind> static void measure(const char *name, double seconds) {
  static const char *const names[] = {"stored", "merged", "vertices"};
  Operator<p, q, kind> op;
  std::vector<double> times[3];
  Vector_ first;
  const double end = now() + seconds;
  for (int round = -1; round < 5 || now() < end; round++)
    for (int v = STORED; v <= VERTICES; v++) {
      if (kind == BP1 && v == MERGED) continue;
      const double start = now();
      op.apply(Variant(v));
      if (round >= 0) {
        times[v].push_back(now() - start);
        continue;
      }
      if (v == STORED) first = op.y;
      first -= op.y;
      if (!(first.linfty_norm() < 1e-12 * op.y.linfty_norm()))
        std::printf("# %s %s: wrong\n", name, names[v]);
      first = op.y;
    }
  for (int v = STORED; v <= VERTICES; v++) {
    std::vector<double> &t = times[v];
    if (t.empty()) continue;
    std::sort(t.begin(), t.end());
    const double median = t[t.size() / 2];
    std::printf("%s,%d,%u,%s,%.3f,%.3f,%.2f\n", name, p, op.x.size(), names[v], 1e3 * median, 1e3 * t[0],
                1e-6 * op.x.size() / median);
    std::fflush(stdout);
  }
}

template <int p> static void problem(const std::string &name, double seconds) {
  if (name == "bp1") measure<p, p + 2, BP1>("bp1", seconds);
  if (name == "bp3") measure<p, p + 2, BP3>("bp3", seconds);
  if (name == "bp5") measure<p, p + 1, BP5>("bp5", seconds);
  if (name == "gauss") measure<p, p + 1, GAUSS>("gauss", seconds);
}

int main(int count, char **arguments) {
  MultithreadInfo::set_thread_limit(1);
  if (count < 3) return std::fprintf(stderr, "dealii_bp SECONDS PROBLEM:DEGREES...\n"), 2;
  std::printf(
      "# deal.II %s, %zu doubles a vector\nproblem,degree,dofs,variant,median_ms,fastest_ms,mdofs_per_s\n",
      DEAL_II_PACKAGE_VERSION, V::size());
  for (int i = 2; i < count; i++) {
    const std::string text = arguments[i], name = text.substr(0, text.find(':'));
    for (const char c : text.substr(name.size())) {
      if (c < '1' || c > '8') continue;
      void (*const run[])(const std::string &, double) = {problem<1>, problem<2>, problem<3>, problem<4>,
                                                          problem<5>, problem<6>, problem<7>, problem<8>};
      run[c - '1'](name, std::atof(arguments[1]));
    }
  }
  return 0;
}
