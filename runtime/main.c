/* main of a compiled model. */
#include "runtime/heed.h"

const heed_module *heed_module_query(uint32_t abi_version);

int main(int argc, char **argv) { return heed_program(heed_module_query(HEED_ABI_VERSION), argc, argv); }
