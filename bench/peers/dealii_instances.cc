/* What the programs beside this file refer to (hanging nodes; faces, never called), for a width that the library
 * was not built with: README.md. */
#include <deal.II/matrix_free/evaluation_template_face_factory.templates.h>
#include <deal.II/matrix_free/evaluation_template_factory_hanging_nodes.templates.h>

DEAL_II_NAMESPACE_OPEN
template struct internal::FEEvaluationHangingNodesFactory<2, double, VectorizedArray<double>>;
template struct internal::FEEvaluationHangingNodesFactory<3, double, VectorizedArray<double>>;
template struct internal::FEEvaluationHangingNodesFactory<3, float, VectorizedArray<float>>;
template struct internal::FEFaceEvaluationFactory<2, VectorizedArray<double>>;
template struct internal::FEFaceEvaluationFactory<3, VectorizedArray<double>>;
template struct internal::FEFaceEvaluationFactory<3, VectorizedArray<float>>;
DEAL_II_NAMESPACE_CLOSE
