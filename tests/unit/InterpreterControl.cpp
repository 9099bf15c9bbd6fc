// Calls, loops, and what a caller of the interpreter gets wrong.
#include "tests/unit/Interpret.h"

using namespace heed;

namespace {

TEST(InterpreterControl, CallsGetTheirOwnValues) {
  Outcome outcome = interpret(R"(
    func.func private @twice(%x: tensor<2xf32>, %n: index) -> (tensor<2xf32>, index) {
      %y = arith.addf %x, %x : tensor<2xf32>
      %c1 = arith.constant 1 : index
      %m = arith.addi %n, %c1 : index
      return %y, %m : tensor<2xf32>, index
    }
    func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, index) {
      %c0 = arith.constant 0 : index
      %a:2 = call @twice(%x, %c0) : (tensor<2xf32>, index) -> (tensor<2xf32>, index)
      %b:2 = call @twice(%a#0, %a#1) : (tensor<2xf32>, index) -> (tensor<2xf32>, index)
      return %b#0, %b#1 : tensor<2xf32>, index
    })",
                              {f32({2}, {1, 2})});
  EXPECT_TRUE(holds(outcome[0], {2}, {4, 8}));
  EXPECT_TRUE(holds(outcome[1], {}, std::vector<int64_t>{2}));
}

TEST(InterpreterControl, EndlessRecursionIsAnError) {
  Outcome outcome = interpret("func.func @f() {\ncall @f() : () -> ()\nreturn\n}", {});
  EXPECT_EQ(outcome.errors, "'func.func' op expected calls at most 200 deep\n");
}

TEST(InterpreterControl, ForCarriesValues) {
  std::string source = R"(
    func.func @f(%x: tensor<4xf32>, %n: index, %step: index) -> (f32, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      %r:2 = scf.for %i = %c0 to %n step %step iter_args(%s = %zero, %t = %x) -> (f32, tensor<4xf32>) {
        %e = tensor.extract %x[%i] : tensor<4xf32>
        %u = arith.addf %s, %e : f32
        %v = tensor.insert %u into %t[%i] : tensor<4xf32>
        scf.yield %u, %v : f32, tensor<4xf32>
      }
      return %r#0, %r#1 : f32, tensor<4xf32>
    })";
  auto run = [&](int64_t count, int64_t step) {
    return interpret(source, {f32({4}, {1, 2, 3, 4}), index(count), index(step)});
  };
  EXPECT_TRUE(holds(run(4, 1)[0], {}, {10}));
  EXPECT_TRUE(holds(run(4, 1)[1], {4}, {1, 3, 6, 10}));
  EXPECT_TRUE(holds(run(3, 2)[1], {4}, {1, 2, 4, 4}));
  EXPECT_TRUE(holds(run(0, 1)[1], {4}, {1, 2, 3, 4}));
  EXPECT_EQ(run(4, 0).errors, "'scf.for' op expected a positive step, but got 0\n");
}

TEST(InterpreterControl, SwappedIterationValues) {
  Outcome outcome = interpret(R"(
    func.func @f(%a: f32, %b: f32) -> (f32, f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b) -> (f32, f32) {
        scf.yield %y, %x : f32, f32
      }
      return %r#0, %r#1 : f32, f32
    })",
                              {f32({}, {1}), f32({}, {2})});
  EXPECT_EQ(outcome[0].values.at(0), 2);
  EXPECT_EQ(outcome[1].values.at(0), 1);
}

TEST(InterpreterControl, IfTakesOneBranch) {
  auto run = [](int64_t condition) {
    return interpret(R"(
      func.func @f(%c: i1) -> f32 {
        %r = scf.if %c -> f32 {
          %a = arith.constant 1.0 : f32
          scf.yield %a : f32
        } else {
          %b = arith.constant 2.0 : f32
          scf.yield %b : f32
        }
        return %r : f32
      })",
                     {Tensor::ofIntegers(typeOf("i1"), {}, {condition})})[0]
        .values.at(0);
  };
  EXPECT_EQ(run(1), 1);
  EXPECT_EQ(run(0), 2);
}

TEST(InterpreterControl, WhileRunsUntilItsConditionFails) {
  Outcome outcome = interpret(R"(
    func.func @f(%n: index) -> index {
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %r = scf.while (%x = %c1) : (index) -> index {
        %less = arith.cmpi ult, %x, %n : index
        scf.condition(%less) %x : index
      } do {
      ^bb0(%x: index):
        %y = arith.muli %x, %c2 : index
        scf.yield %y : index
      }
      return %r : index
    })",
                              {index(20)});
  EXPECT_EQ(outcome[0].integers.at(0), 32);
}

TEST(InterpreterControl, ForallAssemblesTiles) {
  Outcome outcome = interpret(R"(
    func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {
      %e = tensor.empty() : tensor<5xf32>
      %r = scf.forall (%i) = (0) to (5) step (2) shared_outs(%o = %e) -> tensor<5xf32> {
        %n = affine.min affine_map<(d0) -> (2, 5 - d0)>(%i)
        %t = tensor.extract_slice %x[%i] [%n] [1] : tensor<5xf32> to tensor<?xf32>
        %u = arith.addf %t, %t : tensor<?xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %u into %o[%i] [%n] [1] : tensor<?xf32> into tensor<5xf32>
        }
      }
      return %r : tensor<5xf32>
    })",
                              {f32({5}, {1, 2, 3, 4, 5})});
  EXPECT_TRUE(holds(outcome[0], {5}, {2, 4, 6, 8, 10}));
}

TEST(InterpreterControl, MaterializeInDestination) {
  Outcome outcome = interpret(R"(
    func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
      %r = bufferization.materialize_in_destination %x in %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    })",
                              {f32({2}, {1, 2}), f32({2}, {3, 4})});
  EXPECT_TRUE(holds(outcome[0], {2}, {1, 2}));
}

// What callers get wrong

TEST(InterpreterControl, InputsAreChecked) {
  std::string source = "func.func @f(%x: tensor<?x2xf32>) {\nreturn\n}";
  EXPECT_EQ(interpret(source, {f32({3, 2}, {1, 2, 3, 4, 5, 6})}).errors, "");
  EXPECT_EQ(interpret(source, {}).errors, "'func.func' op expected 1 inputs, but got 0\n");
  EXPECT_EQ(interpret(source, {f32({2, 3}, {1, 2, 3, 4, 5, 6})}).errors,
            "'func.func' op expected input 0 of type 'tensor<?x2xf32>', but got 'f32' of shape [2, 3] with 6 "
            "elements\n");
  EXPECT_NE(interpret(source, {f16({1, 2}, {1, 2})}).errors, "");
  EXPECT_NE(interpret(source, {f32({3, 2}, {1, 2})}).errors, "");
  EXPECT_EQ(interpret(source, {Tensor()}).errors,
            "'func.func' op expected input 0 of type 'tensor<?x2xf32>', but got nothing\n");
}

TEST(InterpreterControl, UnknownFunctionsAndOpsAreErrors) {
  EXPECT_EQ(interpret("func.func @g() {\nreturn\n}", {}).errors, "expected a function named 'f'\n");
  EXPECT_EQ(interpret("func.func private @f()", {}).errors,
            "'func.func' op expected a function with a body\n");
  EXPECT_EQ(interpret(R"(func.func @f() {
      %m = memref.alloc() : memref<4xf32>
      return
    })",
                      {})
                .errors,
            "'memref.alloc' op expected an operation that the interpreter knows\n");
}

} // namespace
