/* Stokes flow in the unit cube by deal.II: Taylor-Hood elements Q_k / Q_(k-1), matrix-free, flexible GMRES from the
 * right with a block triangular preconditioner: one V-cycle of geometric multigrid in float32 for the velocity
 * (Chebyshev of degree 5 on a range of 20, point Jacobi), Chebyshev of degree 4 of the mass for the pressure. The flow
 * is that of bench/peers/stokes.yaml, so that errors of both programs compare. README.md says how to build and run it.
 *
 *   dealii_stokes TOLERANCE DEGREE:CELLS...     CELLS a direction: an odd number times a power of two, at least 2
 *   levels
 *
 * Prints a line a size: unknowns, iterations, seconds of set-up and of the solve (the fastest of three),
 * microseconds an unknown of the solve, L2 error of the velocity and L2 norm of its divergence. One process and one
 * thread, or as many processes as mpirun starts. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deal.II/base/conditional_ostream.h>
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
#include <deal.II/lac/la_parallel_block_vector.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_gmres.h>
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
using Block = LinearAlgebra::distributed::BlockVector<double>;
using V = VectorizedArray<double>;

/* u = curl (0, 0, psi), psi = (sin pi x sin pi y sin pi z)^2; p = cos pi x cos pi y cos pi z. */
static Tensor<1, 3> velocity(const Point<3> &p) {
  const double a = numbers::PI, x = p[0], y = p[1], z = p[2], s = std::pow(std::sin(a * z), 2);
  Tensor<1, 3> u;
  u[0] = a * std::pow(std::sin(a * x), 2) * std::sin(2 * a * y) * s;
  u[1] = -a * std::pow(std::sin(a * y), 2) * std::sin(2 * a * x) * s;
  return u;
}

static Tensor<1, 3> force(const Point<3> &p) {
  const double a = numbers::PI, x = p[0], y = p[1], z = p[2];
  /* u_0 = a X(x) T(y) Z(z) with X = sin^2, X'' = 2 a^2 cos 2ax, T = sin 2ay, T'' = -4 a^2 T */
  auto square = [a](double t) { return std::pow(std::sin(a * t), 2); };
  auto second = [a](double t) { return 2 * a * a * std::cos(2 * a * t); };
  auto twice = [a](double t) { return std::sin(2 * a * t); };
  auto minus_laplace = [&](double r, double t) {
    return -a * (second(r) * twice(t) * square(z) - 4 * a * a * square(r) * twice(t) * square(z) +
                 square(r) * twice(t) * second(z));
  };
  Tensor<1, 3> f;
  f[0] = minus_laplace(x, y) - a * std::sin(a * x) * std::cos(a * y) * std::cos(a * z);
  f[1] = -minus_laplace(y, x) - a * std::cos(a * x) * std::sin(a * y) * std::cos(a * z);
  f[2] = -a * std::cos(a * x) * std::cos(a * y) * std::sin(a * z);
  return f;
}

template <int k> class Stokes {
  using LevelMatrix = MatrixFreeOperators::LaplaceOperator<3, k, k + 1, 3, Vector_<float>>;
  using MassMatrix = MatrixFreeOperators::MassOperator<3, k - 1, k + 1, 1, Vector_<double>>;
  using Smoother = PreconditionChebyshev<LevelMatrix, Vector_<float>>;
  using MassSolver = PreconditionChebyshev<MassMatrix, Vector_<double>>;

public:
  explicit Stokes(unsigned int cells)
      : mesh(MPI_COMM_WORLD, Triangulation<3>::limit_level_difference_at_vertices,
             parallel::distributed::Triangulation<3>::construct_multigrid_hierarchy),
        fe_u(FE_Q<3>(k), 3), fe_p(k - 1), dofs_u(mesh), dofs_p(mesh) {
    unsigned int levels = 0;
    for (; cells % 2 == 0 && cells > 2; cells /= 2) levels++;
    GridGenerator::subdivided_hyper_cube(mesh, cells);
    mesh.refine_global(levels);
    set_up_system();
    set_up_levels();
    set_up_mass();
  }

  unsigned long long unknowns() const { return dofs_u.n_dofs() + dofs_p.n_dofs(); }

  void vmult(Block &out, const Block &in) const {
    matrix->template cell_loop<Block, Block>(
        [](const MatrixFree<3, double> &data, Block &y, const Block &x,
           const std::pair<unsigned int, unsigned int> &range) {
          FEEvaluation<3, k, k + 1, 3, double> u(data, 0);
          FEEvaluation<3, k - 1, k + 1, 1, double> p(data, 1);
          for (unsigned int c = range.first; c < range.second; c++) {
            u.reinit(c);
            p.reinit(c);
            u.gather_evaluate(x.block(0), EvaluationFlags::gradients);
            p.gather_evaluate(x.block(1), EvaluationFlags::values);
            for (unsigned int q = 0; q < u.n_q_points; q++) {
              auto g = u.get_gradient(q);
              const auto pressure = p.get_value(q);
              p.submit_value(-(g[0][0] + g[1][1] + g[2][2]), q);
              for (int d = 0; d < 3; d++) g[d][d] -= pressure;
              u.submit_gradient(g, q);
            }
            u.integrate_scatter(EvaluationFlags::gradients, y.block(0));
            p.integrate_scatter(EvaluationFlags::values, y.block(1));
          }
        },
        out, in, true);
  }

  unsigned int solve(double tolerance) {
    Block b(2);
    matrix->initialize_dof_vector(b.block(0), 0);
    matrix->initialize_dof_vector(b.block(1), 1);
    b.collect_sizes();
    load(b);
    x.reinit(b);
    MGCoarseGridApplySmoother<Vector_<float>> coarse;
    coarse.initialize(smoother);
    mg::Matrix<Vector_<float>> levels(level_matrices);
    Multigrid<Vector_<float>> cycle(levels, coarse, transfer, smoother, smoother);
    PreconditionMG<3, Vector_<float>, MGTransferMatrixFree<3, float>> multigrid(dofs_u, cycle, transfer);
    struct Preconditioner {
      const Stokes &s;
      const PreconditionMG<3, Vector_<float>, MGTransferMatrixFree<3, float>> &multigrid;
      mutable Block t;
      /* [A, B'; 0, -M] from the back */
      void vmult(Block &out, const Block &in) const {
        if (t.n_blocks() == 0) t.reinit(in);
        s.mass_solver.vmult(out.block(1), in.block(1));
        out.block(1) *= -1;
        s.remove_mean(out.block(1));
        out.block(0) = 0;
        s.vmult(t, out);
        t.block(0).sadd(-1, 1, in.block(0));
        multigrid.vmult(out.block(0), t.block(0));
      }
    } preconditioner{*this, multigrid, Block()};
    SolverControl control(200, tolerance * b.l2_norm());
    SolverFGMRES<Block> solver(control, typename SolverFGMRES<Block>::AdditionalData(50));
    solver.solve(*this, x, b, preconditioner);
    return control.last_step();
  }

  /* L2 error of the velocity and L2 norm of its divergence */
  std::pair<double, double> errors() {
    typename MatrixFree<3, double>::AdditionalData data;
    data.tasks_parallel_scheme = MatrixFree<3, double>::AdditionalData::none;
    data.mapping_update_flags = update_gradients | update_JxW_values | update_quadrature_points;
    MatrixFree<3, double> fine;
    fine.reinit(MappingQ1<3>(), dofs_u, constraints_u, QGauss<1>(k + 4), data);
    Vector_<double> w;
    fine.initialize_dof_vector(w);
    w.copy_locally_owned_data_from(x.block(0));
    w.update_ghost_values();
    FEEvaluation<3, k, k + 4, 3, double> u(fine);
    double error = 0, divergence = 0;
    for (unsigned int c = 0; c < fine.n_cell_batches(); c++) {
      u.reinit(c);
      u.gather_evaluate(w, EvaluationFlags::values | EvaluationFlags::gradients);
      for (unsigned int q = 0; q < u.n_q_points; q++) {
        const auto value = u.get_value(q);
        const auto at = u.quadrature_point(q);
        const auto div = u.get_divergence(q), jxw = u.JxW(q);
        for (unsigned int l = 0; l < fine.n_active_entries_per_cell_batch(c); l++) {
          const Tensor<1, 3> exact = velocity({at[0][l], at[1][l], at[2][l]});
          for (int d = 0; d < 3; d++) error += std::pow(value[d][l] - exact[d], 2) * jxw[l];
          divergence += div[l] * div[l] * jxw[l];
        }
      }
    }
    return {std::sqrt(Utilities::MPI::sum(error, MPI_COMM_WORLD)),
            std::sqrt(Utilities::MPI::sum(divergence, MPI_COMM_WORLD))};
  }

private:
  void remove_mean(Vector_<double> &p) const {
    /* the kernel are the constants, whose coefficients are 1 */
    p.add(-p.mean_value());
  }

  void set_up_system() {
    dofs_u.distribute_dofs(fe_u);
    dofs_p.distribute_dofs(fe_p);
    dofs_u.distribute_mg_dofs();
    IndexSet relevant;
    DoFTools::extract_locally_relevant_dofs(dofs_u, relevant);
    constraints_u.reinit(relevant);
    DoFTools::make_zero_boundary_constraints(dofs_u, constraints_u);
    constraints_u.close();
    constraints_p.close();
    typename MatrixFree<3, double>::AdditionalData data;
    data.tasks_parallel_scheme = MatrixFree<3, double>::AdditionalData::none;
    data.mapping_update_flags = update_gradients | update_JxW_values | update_quadrature_points;
    matrix = std::make_shared<MatrixFree<3, double>>();
    matrix->reinit(MappingQ1<3>(), std::vector<const DoFHandler<3> *>{&dofs_u, &dofs_p},
                   std::vector<const AffineConstraints<double> *>{&constraints_u, &constraints_p},
                   QGauss<1>(k + 1), data);
  }

  void set_up_levels() {
    const unsigned int levels = mesh.n_global_levels();
    constrained.initialize(dofs_u);
    constrained.make_zero_boundary_constraints(dofs_u, {0});
    level_matrices.resize(0, levels - 1);
    MGLevelObject<typename Smoother::AdditionalData> settings(0, levels - 1);
    for (unsigned int l = 0; l < levels; l++) {
      IndexSet relevant;
      DoFTools::extract_locally_relevant_level_dofs(dofs_u, l, relevant);
      AffineConstraints<double> c;
      c.reinit(relevant);
      c.add_lines(constrained.get_boundary_indices(l));
      c.close();
      typename MatrixFree<3, float>::AdditionalData data;
      data.tasks_parallel_scheme = MatrixFree<3, float>::AdditionalData::none;
      data.mapping_update_flags = update_gradients | update_JxW_values;
      data.mg_level = l;
      auto level = std::make_shared<MatrixFree<3, float>>();
      level->reinit(MappingQ1<3>(), dofs_u, c, QGauss<1>(k + 1), data);
      level_matrices[l].initialize(level, constrained, l);
      level_matrices[l].compute_diagonal();
      settings[l].smoothing_range = l > 0 ? 20 : 1e-3;
      settings[l].degree = l > 0 ? 5 : numbers::invalid_unsigned_int;
      settings[l].eig_cg_n_iterations = l > 0 ? 12 : level_matrices[0].m();
      settings[l].preconditioner = level_matrices[l].get_matrix_diagonal_inverse();
    }
    smoother.initialize(level_matrices, settings);
    transfer.initialize_constraints(constrained);
    transfer.build(dofs_u);
  }

  void set_up_mass() {
    mass.initialize(matrix, std::vector<unsigned int>{1});
    mass.compute_diagonal();
    typename MassSolver::AdditionalData settings;
    settings.degree = 4;
    settings.smoothing_range = 20;
    settings.eig_cg_n_iterations = 15;
    settings.preconditioner = mass.get_matrix_diagonal_inverse();
    mass_solver.initialize(mass, settings);
  }

  void load(Block &b) {
    FEEvaluation<3, k, k + 1, 3, double> u(*matrix, 0);
    b = 0;
    for (unsigned int c = 0; c < matrix->n_cell_batches(); c++) {
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
      u.integrate_scatter(EvaluationFlags::values, b.block(0));
    }
    b.compress(VectorOperation::add);
  }

  parallel::distributed::Triangulation<3> mesh;
  FESystem<3> fe_u;
  FE_Q<3> fe_p;
  DoFHandler<3> dofs_u, dofs_p;
  AffineConstraints<double> constraints_u, constraints_p;
  std::shared_ptr<MatrixFree<3, double>> matrix;
  MGConstrainedDoFs constrained;
  MGLevelObject<LevelMatrix> level_matrices;
  mg::SmootherRelaxation<Smoother, Vector_<float>> smoother;
  MGTransferMatrixFree<3, float> transfer;
  MassMatrix mass;
  MassSolver mass_solver;
  Block x;
};

template <int k> static void measure(double tolerance, unsigned int cells) {
  Timer clock;
  Stokes<k> stokes(cells);
  const double set_up = clock.wall_time();
  double fastest = 1e30;
  unsigned int iterations = 0;
  for (int i = 0; i < 3; i++) {
    clock.restart();
    iterations = stokes.solve(tolerance);
    fastest = std::min(fastest, clock.wall_time());
  }
  const auto errors = stokes.errors();
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    std::printf(
        "Q%d/Q%d %3u^3  %9llu unknowns  %2u iterations  set-up %.3f s  solve %.3f s  %.3f us  velocity %.3e  "
        "div %.1e\n",
        k, k - 1, cells, stokes.unknowns(), iterations, set_up, fastest, 1e6 * fastest / stokes.unknowns(),
        errors.first, errors.second);
}

int main(int argc, char **argv) {
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  const double tolerance = argc > 1 ? std::atof(argv[1]) : 1e-6;
  for (int i = 2; i < argc; i++) {
    const int degree = std::atoi(argv[i]), cells = std::atoi(std::strchr(argv[i], ':') + 1);
    if (degree == 2) measure<2>(tolerance, cells);
    if (degree == 3) measure<3>(tolerance, cells);
    if (degree == 4) measure<4>(tolerance, cells);
  }
}
