// y[i, j] = x[i, j] · x[i, ids[i]], as the buffer phase might leave it. The workspace is asked for, not used.
module @scale attributes {heed.target = "x86-64-v3", heed.interface = {name = "scale", entries = [
    {name = "scale", symbol = "scale", sizes = ["rows", "cols"], relations = ["cols <= 100"], arguments = [
      {name = "x", role = "input", type = f32, shape = ["rows", "cols"]},
      {name = "ids", role = "input", type = i64, shape = ["rows"], optional = "ones", range = [0, "cols - 1"]},
      {name = "y", role = "output", type = f32, shape = ["rows", "cols"]}]}]}} {
  func.func @scale(%x: memref<?x?xf32>, %ids: memref<?xi64>, %y: memref<?x?xf32>, %params: memref<?xi8>,
                   %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %x, %c0 : memref<?x?xf32>
    %cols = memref.dim %x, %c1 : memref<?x?xf32>
    scf.for %i = %c0 to %rows step %c1 {
      %id = memref.load %ids[%i] : memref<?xi64>
      %k = arith.index_cast %id : i64 to index
      %factor = memref.load %x[%i, %k] : memref<?x?xf32>
      scf.for %j = %c0 to %cols step %c1 {
        %0 = memref.load %x[%i, %j] : memref<?x?xf32>
        %1 = arith.mulf %0, %factor : f32
        memref.store %1, %y[%i, %j] : memref<?x?xf32>
      }
    }
    return
  }
  func.func @scale.workspace(%rows: index, %cols: index, %ids: index, %rows1: index, %cols1: index, %threads: index)
      -> index {
    %c64 = arith.constant 64 : index
    %area = arith.muli %rows, %cols : index
    %bytes = arith.muli %area, %c64 : index
    return %bytes : index
  }
}
