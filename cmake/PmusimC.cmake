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
