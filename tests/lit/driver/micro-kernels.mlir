// The micro-kernel of every target: eight steps of the register tile a turn (6 rows x 2 vectors, 14 x 2, 6 x 4, 2 x 4),
// sums in registers, and few instructions besides.
//
// RUN: heed compile %s --emit=asm --target=x86-64-v3 -o %t.v3.s
// RUN: %python %root/tests/lit/check-micro-kernel.py 96 170 < %t.v3.s
// RUN: heed compile %s --emit=asm --target=x86-64-v4 -o %t.v4.s
// RUN: %python %root/tests/lit/check-micro-kernel.py 224 365 < %t.v4.s
// RUN: heed compile %s --emit=asm --target=aarch64 -o %t.arm.s
// RUN: %python %root/tests/lit/check-micro-kernel.py 192 265 < %t.arm.s
// RUN: heed compile %s --emit=asm --target=x86-64 -o %t.base.s
// RUN: %python %root/tests/lit/check-micro-kernel.py 64 225 < %t.base.s
//
// The next panels are fetched meanwhile, once a turn.
//
// RUN: FileCheck %s < %t.v3.s
// CHECK: prefetcht1
func.func @layer(%x: tensor<?x256xf32> {attn.name = "x", attn.shape = ["rows", 256]}) -> (tensor<?x384xf32> {attn.name = "y"}) {
  %weight = attn.param "weight" : tensor<384x256xf32>
  %bias = attn.param "bias" : tensor<384xf32>
  %0 = attn.linear %x, %weight, %bias : tensor<?x256xf32>, tensor<384x256xf32>, tensor<384xf32> -> tensor<?x384xf32>
  return %0 : tensor<?x384xf32>
}
