# SPDX-License-Identifier: MIT
# What users link. Modules are how we build; a user gets few libraries, and of our compiler flags nothing:
#
#   pmusim_library(NAME MODULES module... [PUBLIC target...] [PRIVATE target...])
#
# is the static library pmusim::NAME with the objects of these modules. PUBLIC targets are what public headers include.
function(pmusim_library name)
  cmake_parse_arguments(LIBRARY "" "" "MODULES;PUBLIC;PRIVATE" ${ARGN})
  set(objects "")
  foreach(module ${LIBRARY_MODULES})
    get_target_property(type pmusim_${module} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND objects $<TARGET_OBJECTS:pmusim_${module}>)
    endif()
  endforeach()
  add_library(pmusim_${name} STATIC ${objects})
  add_library(pmusim::${name} ALIAS pmusim_${name})
  set_target_properties(pmusim_${name} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${name})
  target_compile_features(pmusim_${name} PUBLIC cxx_std_20)
  target_include_directories(pmusim_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_link_libraries(pmusim_${name}
    PUBLIC ${LIBRARY_PUBLIC} $<BUILD_INTERFACE:pmusim_instrumentation> PRIVATE ${LIBRARY_PRIVATE})
endfunction()

# The names of the modules that there are by now, without those in ARGN.
function(pmusim_modules result)
  get_property(modules GLOBAL PROPERTY pmusim_modules)
  list(REMOVE_ITEM modules ${ARGN})
  set(${result} ${modules} PARENT_SCOPE)
endfunction()

# The C interface, module `capi`: pmusim::c is libpmusim.so with what its export list names and nothing else,
# pmusim::c_static the same as libpmusim.a. No C++ interface is promised from one build to the next, so C++ is
# linked statically.
function(pmusim_c_libraries)
  pmusim_register_header()
  file(STRINGS ${PROJECT_SOURCE_DIR}/include/pmusim/pmusim.h abi REGEX "define PMUSIM_ABI_VERSION")
  string(REGEX REPLACE ".* ([0-9]+)$" "\\1" abi "${abi}")
  set(exports ${PROJECT_SOURCE_DIR}/src/capi/exports.map)
  add_library(pmusim_c SHARED $<TARGET_OBJECTS:pmusim_capi>)
  target_link_libraries(pmusim_c PRIVATE pmusim_capi)
  target_link_options(pmusim_c PRIVATE -Wl,--version-script=${exports} -Wl,--as-needed)
  set_target_properties(pmusim_c PROPERTIES EXPORT_NAME c VERSION ${abi}.${PROJECT_VERSION} SOVERSION ${abi}
    LINK_DEPENDS ${exports})
  add_library(pmusim_c_static STATIC $<TARGET_OBJECTS:pmusim_capi>)
  # A program in C has to be told of the C++ library.
  target_link_libraries(pmusim_c_static PRIVATE pmusim_full INTERFACE $<LINK_ONLY:stdc++> $<LINK_ONLY:m>)
  set_target_properties(pmusim_c_static PROPERTIES EXPORT_NAME c_static)
  foreach(library pmusim_c pmusim_c_static)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME pmusim LINKER_LANGUAGE CXX)
    target_include_directories(${library} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
  endforeach()
  add_library(pmusim::c ALIAS pmusim_c)
  add_library(pmusim::c_static ALIAS pmusim_c_static)
endfunction()
