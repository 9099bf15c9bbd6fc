// Calls by shapes: sizes are inferred, mismatches refused in one line, statuses told in one line.
#include "tests/unit/RuntimeFixture.h"

using namespace heed::test;

namespace {

/// The tensors of one call of the toy entry: past = 3, seq = 2.
struct CallTest : testing::Test {
  ToyModule toy;
  float xData[2] = {10, 20}, stateData[6] = {1, 2, 3, 4, 5, 6}, yData[5] = {};
  int64_t idsData[2] = {0, 3};
  int64_t two[1] = {2}, stateShape[2] = {3, 2}, five[1] = {5}, strides[2] = {2, 1};
  heed_tensor tensors[4] = {{xData, f32, 1, two, nullptr},
                            {idsData, i64, 1, two, nullptr},
                            {stateData, f32, 2, stateShape, nullptr},
                            {yData, f32, 1, five, nullptr}};
  int64_t sizes[2];
  heed_error error;

  int call() { return heed_call(&toy.entry, tensors, nullptr, nullptr, nullptr, &error); }
  std::string refusal() { return heed_infer_sizes(&toy.entry, tensors, sizes, &error) ? error.message : ""; }
  std::string describe(int32_t kind, int32_t index, bool known = true) {
    heed_describe_status(&toy.entry, kind | index << 8, known ? tensors : nullptr, known ? sizes : nullptr,
                         &error);
    return error.message;
  }
};

} // namespace

TEST_F(CallTest, InfersSizesAndComputes) {
  ASSERT_EQ(call(), 0) << error.message;
  EXPECT_EQ(yData[0], 16);
  EXPECT_EQ(yData[1], 26);
  EXPECT_EQ(yData[4], 6);
  EXPECT_GE(ToyModule::givenWorkspace, 100u);
  EXPECT_EQ(ToyModule::givenStride, 2);
}

TEST_F(CallTest, PassesStridesAndKeepsItsWorkspace) {
  float wide[9] = {0, 0, 0, 0, 0, 0, 0, 7, 0};
  strides[0] = 3;
  tensors[2].data = wide;
  tensors[2].strides = strides;
  heed_workspace workspace = {};
  ASSERT_EQ(heed_call(&toy.entry, tensors, nullptr, &workspace, nullptr, &error), 0);
  EXPECT_EQ(ToyModule::givenStride, 3);
  EXPECT_EQ(yData[4], 7);
  void *kept = workspace.data;
  ASSERT_EQ(heed_call(&toy.entry, tensors, nullptr, &workspace, nullptr, &error), 0);
  EXPECT_EQ(workspace.data, kept);
  heed_workspace_free(&workspace);
  EXPECT_EQ(workspace.data, nullptr);
}

TEST_F(CallTest, InfersFromASumWhatNothingElseSays) {
  tensors[2] = {}; // then only y = past + seq speaks of past
  toy.arguments[2] = &toy.ids;
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(sizes[0], 3);
  EXPECT_EQ(sizes[1], 2);
  tensors[3] = {};
  EXPECT_EQ(refusal(), "step: expected size 'past' to follow from the shapes given, but it does not");
}

TEST_F(CallTest, AllocatesOutputs) {
  tensors[3] = {};
  ASSERT_EQ(refusal(), "");
  ASSERT_EQ(heed_allocate_outputs(&toy.entry, sizes, tensors, &error), 0);
  EXPECT_EQ(tensors[3].sizes[0], 5);
  ASSERT_EQ(call(), 0);
  EXPECT_EQ(static_cast<float *>(tensors[3].data)[4], 6);
  heed_tensor_free(&tensors[3]);
  EXPECT_NE(call(), 0);
  EXPECT_STREQ(error.message, "output 'y': expected a tensor, but got none");
}

TEST_F(CallTest, RefusesMismatchesByName) {
  int64_t three[1] = {3};
  tensors[1].sizes = three;
  EXPECT_EQ(refusal(), "input 'ids': expected shape [seq = 2], but got [3]");
  tensors[1].sizes = two;
  five[0] = 4;
  EXPECT_EQ(refusal(), "output 'y': expected shape [past + seq = 5], but got [4]");
  five[0] = 5;
  stateShape[1] = 3;
  EXPECT_EQ(refusal(), "state 'state': expected shape [past = 3, 2], but got [3, 3]");
  stateShape[1] = 2;
  two[0] = 5;
  five[0] = 8;
  EXPECT_EQ(refusal(), "step: expected seq <= 4, but got seq = 5");
}

TEST_F(CallTest, RefusesWrongKinds) {
  tensors[0].type = f64;
  EXPECT_EQ(refusal(), "input 'x': expected f32, but got f64");
  tensors[0].type = f32;
  tensors[0].rank = 2;
  EXPECT_EQ(refusal(), "input 'x': expected rank 1, shape [seq], but got rank 2");
  tensors[0] = {};
  EXPECT_EQ(refusal(), "input 'x': expected a tensor, but got none");
  tensors[0] = {xData, f32, 1, two, strides};
  EXPECT_EQ(refusal(), "input 'x': expected a dense tensor, but got strides");
  tensors[0].strides = nullptr;
  strides[1] = 2;
  tensors[2].strides = strides;
  EXPECT_EQ(refusal(), "state 'state': expected the last stride to be 1, but got 2");
  tensors[2].strides = nullptr;
  tensors[1] = {};
  EXPECT_EQ(refusal(), "") << "an optional input may be absent";
}

TEST_F(CallTest, SaysWhenMemoryCannotBeCounted) {
  ToyModule::workspaceBytes = SIZE_MAX;
  EXPECT_NE(call(), 0);
  EXPECT_STREQ(error.message, "step: expected sizes whose memory can be counted, but they are too large");
  ToyModule::workspaceBytes = size_t(1) << 55;
  EXPECT_NE(call(), 0);
  EXPECT_STREQ(error.message, "out of memory for a workspace of 36028797018963968 bytes");
}

TEST_F(CallTest, TellsEveryStatus) {
  ASSERT_EQ(refusal(), "");
  idsData[1] = 4;
  ToyModule::status = HEED_INDEX_OUT_OF_RANGE | 1 << 8;
  EXPECT_NE(call(), 0);
  EXPECT_STREQ(error.message, "input 'ids': expected indices in [0, past] = [0, 3], but element 1 is 4");
  EXPECT_EQ(describe(HEED_INDEX_OUT_OF_RANGE, 1, false), "input 'ids': expected indices in [0, past]");
  EXPECT_EQ(describe(HEED_OK, 0), "step: ok");
  EXPECT_EQ(describe(HEED_NULL_TENSOR, 0), "input 'x': expected a tensor, but got a null pointer");
  EXPECT_EQ(describe(HEED_MISALIGNED_TENSOR, 3),
            "output 'y': expected a pointer aligned to its elements, but it is not");
  EXPECT_EQ(describe(HEED_OVERLAP, 3), "output 'y': expected memory of its own, but it overlaps another "
                                       "tensor, the workspace or the parameters");
  EXPECT_EQ(describe(HEED_BAD_SHAPE, 0),
            "input 'x': expected a shape whose bytes fit in 63 bits, but they do not");
  EXPECT_EQ(describe(HEED_NEGATIVE_STRIDE, 2),
            "state 'state': expected strides of at least 0, but one is negative");
  EXPECT_EQ(describe(HEED_NEGATIVE_SIZE, 1, false), "size 'seq': expected at least 0");
  EXPECT_EQ(describe(HEED_NEGATIVE_SIZE, 1), "size 'seq': expected at least 0, but got 2");
  EXPECT_EQ(describe(HEED_RELATION_VIOLATED, 0), "step: expected seq <= 4, but got seq = 2");
  EXPECT_EQ(describe(HEED_RELATION_VIOLATED, 0, false), "step: expected seq <= 4");
  EXPECT_EQ(describe(HEED_NULL_PARAMS, 0), "step: expected parameters, but got a null pointer");
  EXPECT_EQ(describe(HEED_MISALIGNED_PARAMS, 0),
            "step: expected parameters aligned to 64 bytes, but they are not");
  EXPECT_EQ(describe(HEED_WORKSPACE_TOO_SMALL, 0),
            "step: expected a workspace of 100 bytes on one thread, but got a smaller one");
  EXPECT_EQ(describe(HEED_MISALIGNED_WORKSPACE, 0),
            "step: expected a workspace aligned to 64 bytes, but it is not");
  EXPECT_EQ(describe(HEED_BAD_CONTEXT, 0),
            "step: expected a context with its size and at least one thread, but got another");
  EXPECT_EQ(describe(HEED_UNSUPPORTED_CPU, 0),
            "step: expected a CPU with the instructions it was compiled for, but this one lacks some");
  EXPECT_EQ(describe(99, 0), "step: expected a status of this interface, but got 99");
  EXPECT_EQ(describe(HEED_NEGATIVE_SIZE, 7), "step: expected a status of this interface, but got 1799");
}
