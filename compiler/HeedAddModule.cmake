# heed_add_module(target MODEL file [ENTRY names...] [TARGET machine] [OPTIONS options...])
#
# Compiles a model (a .mlir file or a model's folder) into the static library `target`. What links it may include
# <target>.h. If the model has parameters, target property HEED_PARAMS names their image, which the program maps or
# embeds.
function(heed_add_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;TARGET" "ENTRY;OPTIONS")
  if(NOT arg_MODEL OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "heed_add_module: expected target MODEL file [ENTRY names...] [TARGET machine], "
      "but got: ${ARGV}")
  endif()
  get_filename_component(model ${arg_MODEL} ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(options ${arg_OPTIONS})
  foreach(entry IN LISTS arg_ENTRY)
    list(APPEND options --entry ${entry})
  endforeach()
  if(arg_TARGET)
    list(APPEND options --target ${arg_TARGET})
  endif()
  set(inputs ${model})
  if(IS_DIRECTORY ${model})
    file(GLOB inputs CONFIGURE_DEPENDS ${model}/*.json ${model}/*.safetensors)
  endif()
  add_custom_command(OUTPUT ${output}.o ${output}.h
    COMMAND heed::heed compile ${model} -o ${output}.o ${options}
    DEPENDS ${inputs} heed::heed VERBATIM COMMENT "Compiling ${arg_MODEL} with heed")
  add_library(${target} STATIC ${output}.o ${output}.h)
  target_include_directories(${target} PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C HEED_PARAMS ${output}.heed)
endfunction()
