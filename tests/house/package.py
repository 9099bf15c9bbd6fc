"""What `cmake --install` leaves is enough for others: a C program finds heed, compiles a model with heed_add_module
and runs it, and a plugin finds the dialect."""

import subprocess

from common import build

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(package LANGUAGES C CXX)
find_package(heed REQUIRED COMPONENTS plugin)
heed_add_module(twice MODEL twice.mlir TARGET x86-64)
add_executable(program program.c)
target_link_libraries(program PRIVATE twice)
if(NOT TARGET heed::heed_dialect OR NOT EXISTS ${heed_INCLUDE_DIR}/dialect/Attn.td
   OR NOT EXISTS ${heed_INCLUDE_DIR}/dialect/Attn.h.inc)
  message(FATAL_ERROR "expected the dialect in ${heed_INCLUDE_DIR}")
endif()
"""

MODEL = """
module @twice {
  func.func @twice(%x: tensor<?xf32> {attn.name = "x", attn.shape = ["n"]}) -> (tensor<?xf32> {attn.name = "y"}) {
    %0 = attn.scale %x by 2.0 : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
"""

PROGRAM = """
#include "twice.h"
int main(void) {
  float x[3] = {1, 2, 3}, y[3] = {0};
  _Alignas(64) static char workspace[4096];
  if (twice_workspace_bytes(3, 1) > sizeof workspace) return 1;
  if (twice(x, y, 3, workspace, sizeof workspace, 0)) return 2;
  return y[0] == 2 && y[1] == 4 && y[2] == 6 ? 0 : 3;
}
"""


def run(*command):
    subprocess.run(command, check=True, cwd=project)


project = build / "tests" / "package"
project.mkdir(parents=True, exist_ok=True)
for name, content in [("CMakeLists.txt", PROJECT), ("twice.mlir", MODEL), ("program.c", PROGRAM)]:
    (project / name).write_text(content)
run("cmake", "--install", build, "--prefix", project / "installed")
run("cmake", "-S", project, "-B", project / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={project}/installed",
    "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=clang++-22")
run("cmake", "--build", project / "build")
run(project / "build" / "program")
