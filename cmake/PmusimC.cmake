# SPDX-License-Identifier: MIT
# A program in C that uses the library, as somebody else would compile and link it: pmusim_c_program(NAME file.c...)
# knows the public headers and libpmusim.so, and has none of the options that our own sources have.
function(pmusim_c_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE pmusim::c pmusim_instrumentation)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> -Wconversion
    -Wno-sign-conversion -Werror)
  set_target_properties(${name} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_CLANG_TIDY "")
  # What the library needs of the sanitizers comes with the C++ compiler alone.
  if(PMUSIM_SANITIZE)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()

# <pmusim/registers.h> for programs in C, of include/pmusim/arch/msr.h: in the build folder, so that numbers stand once.
function(pmusim_register_header)
  set(registers ${PROJECT_SOURCE_DIR}/include/pmusim/arch/msr.h)
  set(to_c ${PROJECT_SOURCE_DIR}/cmake/registers_for_c.awk)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${registers} ${to_c})
  execute_process(COMMAND awk -f ${to_c} ${registers} OUTPUT_VARIABLE header COMMAND_ERROR_IS_FATAL ANY)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/include/pmusim/registers.h CONTENT "${header}")
endfunction()
