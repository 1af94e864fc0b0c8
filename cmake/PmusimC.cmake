# SPDX-License-Identifier: MIT
# A program in C that uses the library, as somebody else would compile it: pmusim_c_program(NAME file.c...)
# knows the public headers and links pmusim's C interface, with none of the options that our own sources have.
function(pmusim_c_program name)
  # Apart, since whoever links a room of ours inherits its options for C++.
  add_library(${name}_objects OBJECT ${ARGN})
  target_include_directories(${name}_objects PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${name}_objects PRIVATE -Wall -Wextra -Wpedantic -Wstrict-prototypes -Wconversion
    -Wno-sign-conversion -Werror)
  set_target_properties(${name}_objects PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_CLANG_TIDY "")
  add_executable(${name} $<TARGET_OBJECTS:${name}_objects>)
  target_link_libraries(${name} PRIVATE pmusim_capi)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(PMUSIM_SANITIZE)
    target_compile_options(${name}_objects PRIVATE -fsanitize=${PMUSIM_SANITIZE} -fno-sanitize-recover=all)
  endif()
endfunction()
