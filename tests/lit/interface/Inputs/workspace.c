/* Prints the workspace of attend.mlir, which depends on the tiles of the version that answers. */
#include "attend.h"

#include <stdio.h>

int main(void) {
  printf("%u\n", (unsigned)attend_workspace_bytes(2, 3, 50, 1));
  return 0;
}
