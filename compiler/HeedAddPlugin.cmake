# heed_add_plugin(target SOURCES files... [OPERATIONS name.td])
#
# Builds <target>.so, operations or passes that heed and heed-opt load with --load-dialect-plugin and
# --load-pass-plugin. Of a dialect in TableGen the sources include <name>.h.inc, <name>.cpp.inc, <name>Dialect.h.inc
# and <name>Dialect.cpp.inc.
function(heed_add_plugin target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OPERATIONS" "SOURCES")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "heed_add_plugin: expected target SOURCES files... [OPERATIONS name.td], but got: ${ARGV}")
  endif()
  # It is linked with nothing: what it uses of heed and MLIR is in the program that loads it, once.
  add_library(${target} MODULE ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX "")
  target_compile_features(${target} PRIVATE cxx_std_17)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR} ${heed_INCLUDE_DIR})
  target_include_directories(${target} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  if(NOT arg_OPERATIONS)
    return()
  endif()
  get_filename_component(name ${arg_OPERATIONS} NAME_WE)
  get_filename_component(definition ${arg_OPERATIONS} ABSOLUTE)
  list(TRANSFORM MLIR_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
  foreach(generated IN ITEMS .h.inc=op-decls .cpp.inc=op-defs Dialect.h.inc=dialect-decls Dialect.cpp.inc=dialect-defs)
    string(REPLACE = ";" generated ${generated})
    list(GET generated 0 suffix)
    list(GET generated 1 generator)
    add_custom_command(OUTPUT ${name}${suffix}
      COMMAND ${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen -gen-${generator} -I${heed_INCLUDE_DIR} ${includes} ${definition}
        -o ${name}${suffix}
      DEPENDS ${definition} VERBATIM)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}${suffix})
  endforeach()
endfunction()
