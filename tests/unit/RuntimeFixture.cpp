// A module made by hand, as the tables of emitted code describe one.
#include "tests/unit/RuntimeFixture.h"

#include <cstdint>

namespace heed::test {

int32_t ToyModule::status;
size_t ToyModule::workspaceBytes, ToyModule::givenWorkspace;
int64_t ToyModule::givenStride;

static int32_t call(void *const *tensors, const int64_t *sizes, const int64_t *strides, const void *,
                    void *workspace, size_t workspaceBytes, const heed_context *) {
  ToyModule::givenWorkspace = workspaceBytes;
  ToyModule::givenStride = strides[0];
  EXPECT_EQ(reinterpret_cast<uintptr_t>(workspace) % HEED_ALIGNMENT, 0u);
  if (ToyModule::status)
    return ToyModule::status;
  auto *x = static_cast<const float *>(tensors[0]), *state = static_cast<const float *>(tensors[2]);
  for (int64_t i = 0; i < sizes[0] + sizes[1]; ++i)
    static_cast<float *>(tensors[3])[i] = (i < sizes[1] ? x[i] : 0) + state[(sizes[0] - 1) * strides[0] + 1];
  return HEED_OK;
}

static size_t countWorkspace(const int64_t *, int32_t) { return ToyModule::workspaceBytes; }

heed_affine ToyModule::affine(std::vector<int32_t> sizes, std::vector<int64_t> coefficients, int64_t constant,
                              const char *text) {
  sizeLists.push_back(std::move(sizes));
  coefficientLists.push_back(std::move(coefficients));
  return {sizeof(heed_affine),
          static_cast<int32_t>(sizeLists.back().size()),
          sizeLists.back().data(),
          coefficientLists.back().data(),
          constant,
          text};
}

ToyModule::ToyModule() {
  status = HEED_OK;
  workspaceBytes = 100;
  past = affine({0}, {1}, 0, "past");
  seq = affine({1}, {1}, 0, "seq");
  sum = affine({0, 1}, {1, 1}, 0, "past + seq");
  two = affine({}, {}, 2, "2");
  zero = affine({}, {}, 0, "0");
  limit = affine({1}, {-1}, 4, "4 - seq");
  xShape[0] = idsShape[0] = &seq;
  stateShape[0] = &past, stateShape[1] = &two;
  yShape[0] = &sum;
  x = {sizeof x, HEED_INPUT, HEED_HOST, 0, "x", f32, 1, xShape, nullptr, nullptr, nullptr};
  ids = {sizeof ids, HEED_INPUT, HEED_HOST, HEED_ARGUMENT_OPTIONAL, "ids", i64, 1, idsShape,
         "ones",     &zero,      &past};
  state = {sizeof state, HEED_STATE, HEED_HOST, HEED_ARGUMENT_STRIDED, "state", f32, 2, stateShape,
           nullptr,      nullptr,    nullptr};
  y = {sizeof y, HEED_OUTPUT, HEED_HOST, 0, "y", f32, 1, yShape, nullptr, nullptr, nullptr};
  arguments[0] = &x, arguments[1] = &ids, arguments[2] = &state, arguments[3] = &y;
  pastSize = {sizeof pastSize, "past"}, seqSize = {sizeof seqSize, "seq"};
  sizes[0] = &pastSize, sizes[1] = &seqSize;
  relation = {sizeof relation, HEED_AT_LEAST_ZERO, &limit, "seq <= 4"};
  relations[0] = &relation;
  entry = {sizeof entry,  4, 2, 1, 1, 0, "step", "toy_step", arguments, sizes, relations, call,
           countWorkspace};
  entries[0] = &entry;
  parameters = {sizeof parameters, HEED_PARAMS_FORMAT_VERSION, "0123456789abcdef", 128, nullptr, 0, nullptr};
  module = {sizeof module, HEED_ABI_VERSION, "toy", "x86-64", 1, entries, nullptr};
}

} // namespace heed::test
