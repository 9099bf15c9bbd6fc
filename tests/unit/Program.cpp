// The program around a compiled model: options, files in, files out, one line on what is wrong.
#include "tests/unit/RuntimeFixture.h"

using namespace heed::test;

namespace {

struct ProgramTest : testing::Test {
  ToyModule toy;
  TemporaryFolder folder;

  void SetUp() override {
    float xData[] = {10, 20}, stateData[] = {1, 2, 3, 4, 5, 6};
    int64_t two[] = {2}, shape[] = {3, 2};
    heed_tensor x = {xData, f32, 1, two, nullptr}, state = {stateData, f32, 2, shape, nullptr};
    ASSERT_EQ(heed_npy_write(folder.file("x.npy").c_str(), &x, nullptr), 0);
    ASSERT_EQ(heed_npy_write(folder.file("state.npy").c_str(), &state, nullptr), 0);
  }

  /// Exit status 0 gives "", else what was printed after "toy: error: ".
  std::string run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "toy");
    std::vector<char *> argv;
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    testing::internal::CaptureStderr();
    int status = heed_program(&toy.module, argv.size(), argv.data());
    std::string printed = testing::internal::GetCapturedStderr(), prefix = "toy: error: ";
    EXPECT_EQ(status == 0, printed.empty()) << printed;
    if (status == 0)
      return "";
    EXPECT_EQ(printed.rfind(prefix, 0), 0u) << printed;
    EXPECT_EQ(printed.find('\n'), printed.size() - 1) << "expected one line";
    return printed.substr(prefix.size(), printed.size() - prefix.size() - 1);
  }
  std::string x() { return "x=" + folder.file("x.npy"); }
  std::string state() { return "state=" + folder.file("state.npy"); }
  std::string out() { return folder.file("out"); }
};

} // namespace

TEST_F(ProgramTest, WritesOutputsAndStates) {
  ASSERT_EQ(run({"--input", x(), "--input", state(), "--output", out(), "--threads", "2", "--entry", "step"}),
            "");
  for (auto [name, count, last] : {std::tuple("y", 5, 6.0f), {"state", 6, 6.0f}}) {
    heed_tensor tensor;
    heed_error error;
    ASSERT_EQ(heed_npy_read((out() + "/" + name + ".npy").c_str(), &tensor, &error), 0) << error.message;
    ASSERT_EQ(heed_tensor_count(&tensor), count);
    EXPECT_EQ(static_cast<float *>(tensor.data)[count - 1], last);
    heed_tensor_free(&tensor);
  }
}

TEST_F(ProgramTest, RefusesOptionsByName) {
  EXPECT_EQ(run({"--output", out(), "--speed", "9"}), "expected an option, but got '--speed'; see --help");
  EXPECT_EQ(run({"--output"}), "expected a value after --output");
  EXPECT_EQ(run({}), "expected --output DIR; see --help");
  for (const char *threads : {"-1", "", "two", "2x", "99999999999999999999"})
    EXPECT_EQ(run({"--output", out(), "--threads", threads}),
              "expected 0 to 4096 threads, but got '" + std::string(threads) + "'");
  EXPECT_EQ(run({"--output", out(), "--entry", "f"}), "toy: expected one of the entries step, but got f");
  EXPECT_EQ(run({"--output", out(), "--input", "x"}), "expected --input NAME=FILE, but got 'x'");
  EXPECT_EQ(run({"--output", out(), "--input", "y=y.npy"}),
            "expected one of the inputs x, ids, state, but got 'y'");
  EXPECT_EQ(run({"--output", out(), "--input", x(), "--input", x()}),
            "expected input 'x' once, but got it twice");
  EXPECT_EQ(run({"--output", out(), "--input", x(), "--input", state(), "--params", "p.heed"}),
            "p.heed: expected no parameters, as toy has none");
}

TEST_F(ProgramTest, LeavesNothingWhereSomethingIsWrong) {
  EXPECT_EQ(run({"--output", out(), "--input", x()}), "state 'state': expected a tensor, but got none");
  EXPECT_EQ(run({"--output", out(), "--input", "x=none.npy"}),
            "none.npy: expected a .npy file, but got: No such file or directory");
  ToyModule::status = HEED_UNSUPPORTED_CPU;
  EXPECT_EQ(run({"--output", out(), "--input", x(), "--input", state()}),
            "step: expected a CPU with the instructions it was compiled for, but this one lacks some");
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(ProgramTest, ExplainsItself) {
  testing::internal::CaptureStdout();
  std::string help = "--help";
  char *argv[] = {help.data(), help.data()};
  EXPECT_EQ(heed_program(&toy.module, 2, argv), 0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("--input NAME=FILE "), std::string::npos);
}
