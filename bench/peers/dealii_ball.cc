/* -div(a grad u) by deal.II's matrix-free operators on the meshes of `tessera bench adaptive --geometry vertices`:
 * the ball, uniform and refined on spherical shells, multilinear cells, a = 1/(0.05 + 2|x|^2), u = 0 on the sphere,
 * p + 1 Gauss points, float64, one thread, time of the processor.
 * README.md says how to build and run it.
 *
 *   dealii_ball SECONDS DOFS DIM:DEGREES...     dealii_ball 1 5e5 3:1234 2:8
 *
 * Prints a line a degree, mesh and variant: median and fastest milliseconds, million unknowns a second (median;
 * hanging and boundary nodes counted), the energy v' A v of v = (1 - |x|^2) cos(x + 2y + 3z), by which programs are
 * compared.
 *   stored    J^-1, JxW and a a point (the library's own FEEvaluation)
 *   merged    the 3 or 6 entries of JxW a J^-1 J^-T a point
 *   vertices  a a point, J from the vertices of the cell
 *   weights   w a / |J| a point, cofactors of J from the vertices of the cell */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_renumbering.h>
#include <deal.II/dofs/dof_tools.h>
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
#include <deal.II/numerics/vector_tools.h>
#include <memory>
#include <vector>

using namespace dealii;

using V = VectorizedArray<double>;
using Vector_ = LinearAlgebra::distributed::Vector<double>;
using Range = std::pair<unsigned int, unsigned int>;

enum Variant { STORED, MERGED, VERTICES, WEIGHTS, VARIANTS };
constexpr double CORE = 0.3; /* half the edge of the inner cube */

/* From flat sectors about an inner cube, in a cube of edge 2, to the ball: equal angles on the sphere, straight
 * lines from there to the inner cube. */
template <int dim> static Point<dim> to_ball(const Point<dim> &flat) {
  double radius = 0, length = 0;
  Point<dim> direction, x;
  for (int d = 0; d < dim; d++) radius = std::max(radius, std::fabs(flat[d]));
  if (radius <= CORE * (1 + 1e-12)) return flat;
  const double s = (radius - CORE) / (1 - CORE);
  for (int d = 0; d < dim; d++) direction[d] = std::tan(numbers::PI_4 * flat[d] / radius);
  length = direction.norm();
  for (int d = 0; d < dim; d++) x[d] = (1 - s) * CORE * flat[d] / radius + s * direction[d] / length;
  return x;
}

/* Whether the sphere of this radius about (0.1, -0.05, 0.07) cuts the cell. */
template <int dim>
static bool cuts(const typename Triangulation<dim>::active_cell_iterator &cell, double radius) {
  const double centre[3] = {0.1, -0.05, 0.07};
  double least = 1e9, most = 0;
  for (const unsigned int v : cell->vertex_indices()) {
    Point<dim> x = to_ball<dim>(cell->vertex(v));
    for (int d = 0; d < dim; d++) x[d] -= centre[d];
    least = std::min(least, x.norm()), most = std::max(most, x.norm());
  }
  return least < radius && most > radius;
}

template <int dim> static std::unique_ptr<Triangulation<dim>> make_mesh(unsigned int level, bool shells) {
  auto mesh = std::make_unique<Triangulation<dim>>(Triangulation<dim>::limit_level_difference_at_vertices);
  GridGenerator::hyper_ball(*mesh);
  mesh->reset_all_manifolds();
  GridTools::transform(
      [](const Point<dim> &p) {
        Point<dim> flat;
        for (int d = 0; d < dim; d++) flat[d] = (p[d] > 0 ? 1 : -1) * (p.norm() > 0.9 ? 1. : CORE);
        return flat;
      },
      *mesh);
  mesh->refine_global(level);
  for (int t = 0; shells && t < (dim == 3 ? 2 : 3); t++) {
    for (const auto &cell : mesh->active_cell_iterators())
      if (cuts<dim>(cell, 0.35) || cuts<dim>(cell, 0.75)) cell->set_refine_flag();
    mesh->execute_coarsening_and_refinement();
  }
  GridTools::transform([](const Point<dim> &p) { return to_ball<dim>(p); }, *mesh);
  return mesh;
}

/* The level whose mesh has about so many unknowns, chosen as `tessera bench adaptive` does. */
template <int dim>
static std::unique_ptr<Triangulation<dim>> nearest_mesh(int degree, double dofs, bool shells) {
  std::unique_ptr<Triangulation<dim>> best;
  for (unsigned int level = 0; level < 12; level++) {
    auto next = make_mesh<dim>(level, shells);
    const double size = next->n_active_cells() * std::pow(degree, dim),
                 before = best ? best->n_active_cells() * std::pow(degree, dim) : 0;
    const bool closer = !best || std::fabs(std::log(size / dofs)) < std::fabs(std::log(before / dofs));
    if (closer) best = std::move(next);
    if (!closer || size > dofs) break;
  }
  return best;
}

template <int dim> class Test : public Function<dim> {
public:
  double value(const Point<dim> &x, const unsigned int) const override {
    double phase = 0;
    for (int d = 0; d < dim; d++) phase += (d + 1) * x[d];
    return (1 - x.square()) * std::cos(phase);
  }
};

template <int dim>
static inline DEAL_II_ALWAYS_INLINE void cofactors(const Tensor<1, dim, V> *J, Tensor<1, dim, V> *c) {
  if constexpr (dim == 2) {
    c[0][0] = J[1][1], c[0][1] = -J[1][0];
    c[1][0] = -J[0][1], c[1][1] = J[0][0];
  } else {
    c[0] = cross_product_3d(J[1], J[2]), c[1] = cross_product_3d(J[2], J[0]),
    c[2] = cross_product_3d(J[0], J[1]);
  }
}

template <int dim, int p> class Operator {
public:
  Operator(double size, bool shells) : mesh(nearest_mesh<dim>(p, size, shells)), fe(p), dofs(*mesh) {
    dofs.distribute_dofs(fe);
    make_constraints(true);
    DoFRenumbering::matrix_free_data_locality(dofs, constraints, plain());
    make_constraints(true);
    typename MF::AdditionalData data;
    data.tasks_parallel_scheme = MF::AdditionalData::none;
    data.mapping_update_flags = update_gradients | update_JxW_values | update_quadrature_points;
    points = QGauss<1>(p + 1);
    matrix.reinit(MappingQ<dim>(1), dofs, constraints, points, data);
    make_factors();
    matrix.initialize_dof_vector(x);
    matrix.initialize_dof_vector(y);
  }

  void apply(Variant v) {
    variant = v;
    matrix.cell_loop(&Operator::cells, this, y, x, true);
  }

  double energy() {
    VectorTools::interpolate(MappingQ<dim>(1), dofs, Test<dim>(), x);
    constraints.distribute(x);
    apply(STORED);
    return x * y;
  }

  void fill() {
    for (unsigned int i = 0; i < x.locally_owned_size(); i++)
      x.local_element(i) = 2. * std::rand() / RAND_MAX - 1;
  }

  unsigned int cells_count() const { return mesh->n_active_cells(); }

  unsigned int hanging() const {
    AffineConstraints<double> only;
    DoFTools::make_hanging_node_constraints(dofs, only);
    only.close();
    return only.n_constraints();
  }

  Vector_ x, y;

private:
  using MF = MatrixFree<dim, double, V>;
  using Evaluation = FEEvaluation<dim, p, p + 1, 1, double, V>;
  static constexpr int entries = dim * (dim + 1) / 2;

  /* Renumbering in the order of the loop over cells; by cells of their own, as the library is built without vectors. */
  static typename MatrixFree<dim, double, VectorizedArray<double, 1>>::AdditionalData plain() {
    typename MatrixFree<dim, double, VectorizedArray<double, 1>>::AdditionalData data;
    data.tasks_parallel_scheme = decltype(data)::none;
    return data;
  }

  void make_constraints(bool boundary) {
    constraints.clear();
    DoFTools::make_hanging_node_constraints(dofs, constraints);
    if (boundary) DoFTools::make_zero_boundary_constraints(dofs, constraints);
    constraints.close();
  }

  void make_factors() {
    Evaluation phi(matrix);
    const unsigned int N = phi.n_q_points, batches = matrix.n_cell_batches();
    map.resize(batches << dim);
    a.resize(batches * N), weight.resize(batches * N), metric.resize(batches * N * entries);
    for (unsigned int c = 0; c < batches; c++) {
      monomials(c);
      phi.reinit(c);
      for (unsigned int i = 0; i < N; i++) {
        const auto J = phi.inverse_jacobian(i); /* J^-T */
        const V w = phi.JxW(i), coefficient = 1. / (0.05 + 2. * phi.quadrature_point(i).square());
        V *m = &metric[std::size_t(c * N + i) * entries];
        for (int r = 0; r < dim; r++)
          for (int s = r; s < dim; s++) {
            V sum = 0.;
            for (int d = 0; d < dim; d++) sum += J[d][r] * J[d][s];
            *m++ = sum * w * coefficient;
          }
        a[c * N + i] = coefficient;
        weight[c * N + i] = coefficient * w * determinant(J) * determinant(J);
      }
    }
  }

  void monomials(unsigned int c) {
    Tensor<1, dim, V> v[1 << dim];
    for (unsigned int l = 0; l < V::size(); l++) {
      const auto cell =
          matrix.get_cell_iterator(c, std::min(l, matrix.n_active_entries_per_cell_batch(c) - 1));
      for (int i = 0; i < 1 << dim; i++)
        for (int d = 0; d < dim; d++) v[i][d][l] = cell->vertex(i)[d];
    }
    for (int d = 1; d < 1 << dim; d *= 2)
      for (int i = 0; i < 1 << dim; i++)
        if (i & d) v[i] -= v[i - d];
    for (int i = 0; i < 1 << dim; i++) map[(c << dim) + i] = v[i];
  }

  void cells(const MF &, Vector_ &out, const Vector_ &in, const Range &range) const {
    Evaluation phi(matrix);
    for (unsigned int c = range.first; c < range.second; c++) {
      phi.reinit(c);
      phi.gather_evaluate(in, EvaluationFlags::gradients);
      if (variant == STORED)
        for (unsigned int i = 0; i < phi.n_q_points; i++)
          phi.submit_gradient(a[c * phi.n_q_points + i] * phi.get_gradient(i), i);
      else if (variant == MERGED)
        merged(&metric[std::size_t(c) * phi.n_q_points * entries], phi.begin_gradients());
      else if (variant == VERTICES)
        from_vertices<false>(c, &a[c * phi.n_q_points], phi.begin_gradients());
      else
        from_vertices<true>(c, &weight[c * phi.n_q_points], phi.begin_gradients());
      phi.integrate_scatter(EvaluationFlags::gradients, out);
    }
  }

  /* g: derivatives on the reference cell, [dim][points] */
  static void merged(const V *m, V *g) {
    constexpr int N = Utilities::pow(p + 1, dim);
    for (int i = 0; i < N; i++, m += entries) {
      const V r = g[i], s = g[N + i];
      if (dim == 2) {
        g[i] = m[0] * r + m[1] * s;
        g[N + i] = m[1] * r + m[2] * s;
      } else {
        const V t = g[2 * N + i];
        g[i] = m[0] * r + m[1] * s + m[2] * t;
        g[N + i] = m[1] * r + m[3] * s + m[4] * t;
        g[2 * N + i] = m[2] * r + m[4] * s + m[5] * t;
      }
    }
  }

  /* By columns of J, of which the one in x is the same along a row and the others are linear: t = cof(J)' g scale,
   * cof(J) t. */
  template <bool scaled> void from_vertices(unsigned int c, const V *factor, V *g) const {
    constexpr int q = p + 1, N = Utilities::pow(q, dim);
    const Tensor<1, dim, V> *v = &map[c << dim];
    double at[q], w[q];
    for (int i = 0; i < q; i++) at[i] = points.point(i)[0], w[i] = points.weight(i);
    for (int qz = 0; qz < (dim == 3 ? q : 1); qz++)
      for (int qy = 0; qy < q; qy++, g += q, factor += q) {
        Tensor<1, dim, V> start[dim], slope[dim];
        const double y = at[qy], z = dim == 3 ? at[qz] : 0, row = w[qy] * (dim == 3 ? w[qz] : 1);
        start[0] = v[1] + y * v[3];
        start[1] = v[2], slope[1] = v[3];
        if (dim == 3) {
          start[0] += z * (v[5 % (1 << dim)] + y * v[7 % (1 << dim)]);
          start[1] += z * v[6 % (1 << dim)], slope[1] += z * v[7 % (1 << dim)];
          start[dim - 1] = v[4 % (1 << dim)] + y * v[6 % (1 << dim)];
          slope[dim - 1] = v[5 % (1 << dim)] + y * v[7 % (1 << dim)];
        }
        for (int i = 0; i < q; i++) {
          Tensor<1, dim, V> J[dim], cof[dim], t;
          J[0] = start[0];
          for (int d = 1; d < dim; d++) J[d] = start[d] + at[i] * slope[d];
          cofactors<dim>(J, cof);
          V scale = factor[i];
          if (!scaled) scale *= row * w[i] / (J[0] * cof[0]);
          for (int d = 0; d < dim; d++) t += cof[d] * g[d * N + i];
          t *= scale;
          for (int d = 0; d < dim; d++) g[d * N + i] = cof[d] * t;
        }
      }
  }

  std::unique_ptr<Triangulation<dim>> mesh;
  FE_Q<dim> fe;
  DoFHandler<dim> dofs;
  AffineConstraints<double> constraints;
  Quadrature<1> points;
  MF matrix;
  AlignedVector<V> metric, a, weight;
  AlignedVector<Tensor<1, dim, V>> map;
  Variant variant = STORED;
};

#ifdef AS_LIBRARY /* for ball_beside.c */

struct AnyOperator {
  virtual void apply(Variant v) = 0;
  virtual double size() const = 0;
  virtual ~AnyOperator() = default;
};

template <int dim, int p> struct OneOperator : AnyOperator {
  OneOperator(double size, bool shells) : op(size, shells) { op.fill(); }
  void apply(Variant v) override { op.apply(v); }
  double size() const override { return op.x.size(); }
  Operator<dim, p> op;
};

template <int dim, int p = 1> static AnyOperator *make(int degree, double size, bool shells) {
  if constexpr (p < 8)
    if (degree > p) return make<dim, p + 1>(degree, size, shells);
  return new OneOperator<dim, p>(size, shells);
}

extern "C" {
__attribute__((visibility("default"))) void *deal_make(int dim, int degree, double size, int shells) {
  MultithreadInfo::set_thread_limit(1);
  return dim == 2 ? make<2>(degree, size, shells) : make<3>(degree, size, shells);
}

__attribute__((visibility("default"))) void deal_apply(void *op, int variant) {
  static_cast<AnyOperator *>(op)->apply(Variant(variant));
}

__attribute__((visibility("default"))) double deal_size(void *op) {
  return static_cast<AnyOperator *>(op)->size();
}
}

#else

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Rounds of all variants in turn, so that they see the same machine. */
template <int dim, int p> static void measure(double seconds, double size) {
  static const char *const names[] = {"stored", "merged", "vertices", "weights"};
  for (const bool shells : {false, true}) {
    Operator<dim, p> op(size, shells);
    std::vector<double> times[VARIANTS];
    Vector_ first;
    const double energy = op.energy();
    op.fill();
    const double end = now() + seconds;
    for (int round = -1; round < 5 || now() < end; round++)
      for (int v = STORED; v < VARIANTS; v++) {
        const double start = now();
        op.apply(Variant(v));
        if (round >= 0) {
          times[v].push_back(now() - start);
          continue;
        }
        if (v == STORED) first = op.y;
        first -= op.y;
        if (!(first.linfty_norm() < 1e-12 * op.y.linfty_norm())) std::printf("# %s: wrong\n", names[v]);
        first = op.y;
      }
    for (int v = STORED; v < VARIANTS; v++) {
      std::vector<double> &t = times[v];
      std::sort(t.begin(), t.end());
      const double median = t[t.size() / 2];
      std::printf("%d,%s,%d,%u,%u,%.2f,%s,%.3f,%.3f,%.2f,%.15g\n", dim, shells ? "shells" : "uniform", p,
                  op.cells_count(), op.x.size(), 100. * op.hanging() / op.x.size(), names[v], 1e3 * median,
                  1e3 * t[0], 1e-6 * op.x.size() / median, energy);
    }
    std::fflush(stdout);
  }
}

template <int dim> static void problem(int degree, double seconds, double size) {
  void (*const run[])(double, double) = {measure<dim, 1>, measure<dim, 2>, measure<dim, 3>, measure<dim, 4>,
                                         measure<dim, 5>, measure<dim, 6>, measure<dim, 7>, measure<dim, 8>};
  run[degree - 1](seconds, size);
}

int main(int count, char **arguments) {
  MultithreadInfo::set_thread_limit(1);
  if (count < 4) return std::fprintf(stderr, "dealii_ball SECONDS DOFS DIM:DEGREES...\n"), 2;
  std::printf(
      "# deal.II %s, %zu doubles a "
      "vector\ndim,mesh,degree,cells,dofs,hanging_percent,variant,median_ms,fastest_ms,mdofs_per_s,energy\n",
      DEAL_II_PACKAGE_VERSION, V::size());
  for (int i = 3; i < count; i++)
    for (const char *c = arguments[i] + 1; *c; c++) {
      if (*c < '1' || *c > '8') continue;
      (arguments[i][0] == '2' ? problem<2> : problem<3>)(*c - '0', std::atof(arguments[1]),
                                                         std::atof(arguments[2]));
    }
  return 0;
}

#endif
