/* Elasticity at rest in the unit cube by deal.II: Q_k, matrix-free, conjugate gradients with one V-cycle of geometric
 * multigrid in float32 (Chebyshev of degree 5 on a range of 20, point Jacobi). The field is that of
 * bench/peers/elasticity.yaml, so that errors of both programs compare. README.md says how to build and run it.
 *
 *   dealii_elasticity TOLERANCE DEGREE:CELLS...     CELLS a direction: an odd number times a power of two
 *
 * Prints a line a size: unknowns, iterations, seconds of set-up and of the solve (the fastest of three), microseconds an
 * unknown of the solve, and the L2 error. One process and one thread, or as many processes as mpirun starts. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/base/timer.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/matrix_free/evaluation_template_factory.templates.h>
#include <deal.II/matrix_free/fe_evaluation.h>
#include <deal.II/matrix_free/mapping_info.templates.h>
#include <deal.II/matrix_free/matrix_free.templates.h>
#include <deal.II/matrix_free/operators.h>
#include <deal.II/matrix_free/shape_info.templates.h>
#include <deal.II/multigrid/mg_coarse.h>
#include <deal.II/multigrid/mg_constrained_dofs.h>
#include <deal.II/multigrid/mg_matrix.h>
#include <deal.II/multigrid/mg_smoother.h>
#include <deal.II/multigrid/mg_tools.h>
#include <deal.II/multigrid/mg_transfer_matrix_free.h>
#include <deal.II/multigrid/multigrid.h>

using namespace dealii;

template <typename Number> using Vector_ = LinearAlgebra::distributed::Vector<Number>;
using V = VectorizedArray<double>;

static const double lambda = 8e4, mu = 2e4;

/* u = (1, 2, 3) sin pi x sin pi y sin pi z */
static Tensor<1, 3> field(const Point<3> &p) {
  const double a = numbers::PI, bump = std::sin(a * p[0]) * std::sin(a * p[1]) * std::sin(a * p[2]);
  Tensor<1, 3> u;
  for (int d = 0; d < 3; d++) u[d] = (d + 1) * bump;
  return u;
}

/* -div sigma: 3 pi^2 mu u - (lambda + mu) grad div u, d_i d_j bump = pi^2 c_i c_j s_k, or -pi^2 bump */
static Tensor<1, 3> force(const Point<3> &p) {
  const double a = numbers::PI;
  double s[3], c[3];
  for (int d = 0; d < 3; d++) s[d] = std::sin(a * p[d]), c[d] = std::cos(a * p[d]);
  Tensor<1, 3> f;
  for (int i = 0; i < 3; i++) {
    f[i] = 3 * a * a * mu * (i + 1) * s[0] * s[1] * s[2];
    for (int j = 0; j < 3; j++)
      f[i] -= (lambda + mu) * (j + 1) * a * a *
              (i == j ? -s[0] * s[1] * s[2] : c[i] * c[j] * s[3 - i - j]);
  }
  return f;
}

template <int k, typename Number> class Operator : public MatrixFreeOperators::Base<3, Vector_<Number>> {
  using Cell = FEEvaluation<3, k, k + 1, 3, Number>;

  static void stress(Cell &u) {
    u.evaluate(EvaluationFlags::gradients);
    for (unsigned int q = 0; q < u.n_q_points; q++) {
      auto s = u.get_symmetric_gradient(q);
      const auto divergence = trace(s);
      s *= Number(2 * mu);
      for (int d = 0; d < 3; d++) s[d][d] += Number(lambda) * divergence;
      u.submit_symmetric_gradient(s, q);
    }
    u.integrate(EvaluationFlags::gradients);
  }

  void apply_add(Vector_<Number> &out, const Vector_<Number> &in) const override {
    this->data->template cell_loop<Vector_<Number>, Vector_<Number>>(
        [](const MatrixFree<3, Number> &data, Vector_<Number> &y, const Vector_<Number> &x,
           const std::pair<unsigned int, unsigned int> &range) {
          Cell u(data);
          for (unsigned int c = range.first; c < range.second; c++) {
            u.reinit(c);
            u.read_dof_values(x);
            stress(u);
            u.distribute_local_to_global(y);
          }
        },
        out, in);
  }

public:
  void compute_diagonal() override {
    this->inverse_diagonal_entries = std::make_shared<DiagonalMatrix<Vector_<Number>>>();
    Vector_<Number> &d = this->inverse_diagonal_entries->get_vector();
    this->data->initialize_dof_vector(d);
    Cell u(*this->data);
    for (unsigned int c = 0; c < this->data->n_cell_batches(); c++) {
      AlignedVector<VectorizedArray<Number>> diagonal(u.dofs_per_cell);
      u.reinit(c);
      for (unsigned int i = 0; i < u.dofs_per_cell; i++) {
        for (unsigned int j = 0; j < u.dofs_per_cell; j++) u.begin_dof_values()[j] = Number(i == j);
        stress(u);
        diagonal[i] = u.begin_dof_values()[i];
      }
      for (unsigned int i = 0; i < u.dofs_per_cell; i++) u.begin_dof_values()[i] = diagonal[i];
      u.distribute_local_to_global(d);
    }
    d.compress(VectorOperation::add);
    this->set_constrained_entries_to_one(d);
    for (unsigned int i = 0; i < d.locally_owned_size(); i++) d.local_element(i) = 1 / d.local_element(i);
  }
};

template <int k> class Body {
  using Level = Operator<k, float>;
  using Smoother = PreconditionChebyshev<Level, Vector_<float>>;

public:
  explicit Body(unsigned int cells)
      : mesh(MPI_COMM_WORLD, Triangulation<3>::limit_level_difference_at_vertices,
             parallel::distributed::Triangulation<3>::construct_multigrid_hierarchy),
        fe(FE_Q<3>(k), 3), dofs(mesh) {
    unsigned int levels = 0;
    for (; cells % 2 == 0; cells /= 2) levels++;
    GridGenerator::subdivided_hyper_cube(mesh, cells);
    mesh.refine_global(levels);
    set_up_system();
    set_up_levels();
  }

  unsigned long long unknowns() const { return dofs.n_dofs(); }

  unsigned int solve(double tolerance) {
    Vector_<double> b;
    data->initialize_dof_vector(b);
    load(b);
    x.reinit(b);
    MGCoarseGridApplySmoother<Vector_<float>> coarse;
    coarse.initialize(smoother);
    mg::Matrix<Vector_<float>> matrices(level);
    Multigrid<Vector_<float>> cycle(matrices, coarse, transfer, smoother, smoother);
    PreconditionMG<3, Vector_<float>, MGTransferMatrixFree<3, float>> multigrid(dofs, cycle, transfer);
    SolverControl control(200, tolerance * b.l2_norm());
    SolverCG<Vector_<double>> solver(control);
    solver.solve(matrix, x, b, multigrid);
    return control.last_step();
  }

  double error() {
    typename MatrixFree<3, double>::AdditionalData settings;
    settings.tasks_parallel_scheme = MatrixFree<3, double>::AdditionalData::none;
    settings.mapping_update_flags = update_gradients | update_JxW_values | update_quadrature_points;
    MatrixFree<3, double> fine;
    fine.reinit(MappingQ1<3>(), dofs, constraints, QGauss<1>(k + 4), settings);
    Vector_<double> w;
    fine.initialize_dof_vector(w);
    w.copy_locally_owned_data_from(x);
    w.update_ghost_values();
    FEEvaluation<3, k, k + 4, 3, double> u(fine);
    double sum = 0;
    for (unsigned int c = 0; c < fine.n_cell_batches(); c++) {
      u.reinit(c);
      u.gather_evaluate(w, EvaluationFlags::values);
      for (unsigned int q = 0; q < u.n_q_points; q++) {
        const auto value = u.get_value(q);
        const auto at = u.quadrature_point(q);
        const auto jxw = u.JxW(q);
        for (unsigned int l = 0; l < fine.n_active_entries_per_cell_batch(c); l++) {
          const Tensor<1, 3> exact = field({at[0][l], at[1][l], at[2][l]});
          for (int d = 0; d < 3; d++) sum += std::pow(value[d][l] - exact[d], 2) * jxw[l];
        }
      }
    }
    return std::sqrt(Utilities::MPI::sum(sum, MPI_COMM_WORLD));
  }

private:
  void set_up_system() {
    dofs.distribute_dofs(fe);
    dofs.distribute_mg_dofs();
    IndexSet relevant;
    DoFTools::extract_locally_relevant_dofs(dofs, relevant);
    constraints.reinit(relevant);
    DoFTools::make_zero_boundary_constraints(dofs, constraints);
    constraints.close();
    typename MatrixFree<3, double>::AdditionalData settings;
    settings.tasks_parallel_scheme = MatrixFree<3, double>::AdditionalData::none;
    settings.mapping_update_flags = update_gradients | update_JxW_values | update_quadrature_points;
    data = std::make_shared<MatrixFree<3, double>>();
    data->reinit(MappingQ1<3>(), dofs, constraints, QGauss<1>(k + 1), settings);
    matrix.initialize(data);
  }

  void set_up_levels() {
    const unsigned int levels = mesh.n_global_levels();
    constrained.initialize(dofs);
    constrained.make_zero_boundary_constraints(dofs, {0});
    level.resize(0, levels - 1);
    MGLevelObject<typename Smoother::AdditionalData> settings(0, levels - 1);
    for (unsigned int l = 0; l < levels; l++) {
      IndexSet relevant;
      DoFTools::extract_locally_relevant_level_dofs(dofs, l, relevant);
      AffineConstraints<double> c;
      c.reinit(relevant);
      c.add_lines(constrained.get_boundary_indices(l));
      c.close();
      typename MatrixFree<3, float>::AdditionalData of_level;
      of_level.tasks_parallel_scheme = MatrixFree<3, float>::AdditionalData::none;
      of_level.mapping_update_flags = update_gradients | update_JxW_values;
      of_level.mg_level = l;
      auto one = std::make_shared<MatrixFree<3, float>>();
      one->reinit(MappingQ1<3>(), dofs, c, QGauss<1>(k + 1), of_level);
      level[l].initialize(one, constrained, l);
      level[l].compute_diagonal();
      settings[l].smoothing_range = l > 0 ? 20 : 1e-3;
      settings[l].degree = l > 0 ? 5 : numbers::invalid_unsigned_int;
      settings[l].eig_cg_n_iterations = l > 0 ? 12 : level[0].m();
      settings[l].preconditioner = level[l].get_matrix_diagonal_inverse();
    }
    smoother.initialize(level, settings);
    transfer.initialize_constraints(constrained);
    transfer.build(dofs);
  }

  void load(Vector_<double> &b) {
    FEEvaluation<3, k, k + 1, 3, double> u(*data);
    for (unsigned int c = 0; c < data->n_cell_batches(); c++) {
      u.reinit(c);
      for (unsigned int q = 0; q < u.n_q_points; q++) {
        const auto at = u.quadrature_point(q);
        Tensor<1, 3, V> f;
        for (unsigned int l = 0; l < V::size(); l++) {
          const Tensor<1, 3> one = force({at[0][l], at[1][l], at[2][l]});
          for (int d = 0; d < 3; d++) f[d][l] = one[d];
        }
        u.submit_value(f, q);
      }
      u.integrate_scatter(EvaluationFlags::values, b);
    }
    b.compress(VectorOperation::add);
  }

  parallel::distributed::Triangulation<3> mesh;
  FESystem<3> fe;
  DoFHandler<3> dofs;
  AffineConstraints<double> constraints;
  std::shared_ptr<MatrixFree<3, double>> data;
  Operator<k, double> matrix;
  MGConstrainedDoFs constrained;
  MGLevelObject<Level> level;
  mg::SmootherRelaxation<Smoother, Vector_<float>> smoother;
  MGTransferMatrixFree<3, float> transfer;
  Vector_<double> x;
};

template <int k> static void measure(double tolerance, unsigned int cells) {
  Timer clock;
  Body<k> body(cells);
  const double set_up = clock.wall_time();
  double fastest = 1e30;
  unsigned int iterations = 0;
  for (int i = 0; i < 3; i++) {
    clock.restart();
    iterations = body.solve(tolerance);
    fastest = std::min(fastest, clock.wall_time());
  }
  const double error = body.error();
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    std::printf("Q%d %3u^3  %9llu unknowns  %2u iterations  set-up %.3f s  solve %.3f s  %.3f us  error %.4e\n", k,
                cells, body.unknowns(), iterations, set_up, fastest, 1e6 * fastest / body.unknowns(), error);
}

int main(int argc, char **argv) {
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  const double tolerance = argc > 1 ? std::atof(argv[1]) : 1e-9;
  for (int i = 2; i < argc; i++) {
    const int degree = std::atoi(argv[i]), cells = std::atoi(std::strchr(argv[i], ':') + 1);
    if (degree == 2) measure<2>(tolerance, cells);
    if (degree == 3) measure<3>(tolerance, cells);
    if (degree == 4) measure<4>(tolerance, cells);
  }
}
