// heed-opt: runs passes and phases on a module, for those who write them.
#include "compiler/Dialects.h"
#include "compiler/Pipeline.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  heed::registerDialects(registry);
  heed::registerPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "heed optimizer\n", registry));
}
