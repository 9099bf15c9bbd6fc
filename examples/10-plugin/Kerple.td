// Scores that fall with the logarithm of the distance (KERPLE, Chi et al. 2022, section 4).
include "dialect/AttnInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kerple_Dialect : Dialect {
  let name = "kerple";
  let cppNamespace = "::kerple";
}

def LogBiasOp : Op<Kerple_Dialect, "log_bias", [Pure, AllTypesMatch<["scores", "result"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<ScoreOpInterface, ["getScoreReads", "keepsMinusInfinity"]>]> {
  let summary = "y[b, h, q, k] = x[b, h, q, k] − r1[h] · log(1 + r2[h] · |q − k|), rates at least 0.01";
  let arguments = (ins RankedTensorOf<[F32]>:$scores, 1DTensorOf<[F32]>:$r1, 1DTensorOf<[F32]>:$r2);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$scores `,` $r1 `,` $r2 attr-dict `:` type($scores) `,` type($r1) `,` type($r2)";
}
