# SPDX-License-Identifier: MIT
# One module: src/NAME/*.cpp becomes the library pmusim_NAME, tests/NAME/*_test.cpp its tests
# (one program, every test known to ctest), bench/NAME_*.cpp its benchmarks and tests/NAME/*_fuzz.cpp its fuzzers
# (one program each).
#
#   pmusim_module(NAME [COMPILE_FAST] [COMPILE_ALONE] [MODULES module...] [LIBRARIES target...])
#
# MODULES are the modules it may include; tests/architecture holds the sources to the same list. COMPILE_FAST is for modules that
# no replay, drain or report waits for; COMPILE_ALONE for the one that each replayed instruction passes through: joined, its
# sources share g++'s allowance for inlining, and replay is 4 % slower.
function(pmusim_module name)
  cmake_parse_arguments(MODULE "COMPILE_FAST;COMPILE_ALONE" "" "MODULES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX /plugin/)  # what another program loads (pmusim_qemu_plugin)
  set(library pmusim_${name})
  list(TRANSFORM MODULE_MODULES PREPEND pmusim_)
  if(sources)
    add_library(${library} STATIC ${sources})
    target_link_libraries(${library} PUBLIC pmusim_options ${MODULE_MODULES} ${MODULE_LIBRARIES})
    # Headers that users of the library have no use for live beside the sources.
    target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    if(name STREQUAL base)
      pmusim_join(${library} HEADERS ${pmusim_common_headers})
    else()
      pmusim_join(${library} REUSE_FROM pmusim_base)
    endif()
    if(MODULE_COMPILE_FAST)
      pmusim_compile_fast(${library} -O1)
    endif()
    if(MODULE_COMPILE_ALONE)
      set_target_properties(${library} PROPERTIES UNITY_BUILD OFF)
    endif()
    pmusim_fuzzed(${library})
  else()
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE pmusim_options ${MODULE_MODULES} ${MODULE_LIBRARIES})
  endif()
  add_library(pmusim::${name} ALIAS ${library})
  set_property(GLOBAL APPEND PROPERTY pmusim_modules ${name})

  if(PMUSIM_TESTS)
    pmusim_test_program(${name} ${library})
    pmusim_headers_alone(${name} ${library})
  endif()
  if(PMUSIM_BENCHMARKS)
    file(GLOB benches CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/${name}_*.cpp)
    foreach(bench ${benches})
      get_filename_component(bench_name ${bench} NAME_WE)
      add_executable(bench_${bench_name} ${bench})
      target_link_libraries(bench_${bench_name} PRIVATE ${library} pmusim_warnings pmusim_yardstick)
      target_include_directories(bench_${bench_name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    endforeach()
  endif()
  pmusim_fuzzers(${name} ${library})
  pmusim_corpora(${name} ${library})
endfunction()

# Most of a source's time goes into headers of the standard library. No header of this project is among those that are
# precompiled: each source includes what it uses, which the presets that join nothing show.
#
#   pmusim_precompile(TARGET HEADERS header... | REUSE_FROM target)
function(pmusim_precompile target)
  if(PMUSIM_JOINED)
    list(TRANSFORM ARGN REPLACE "^HEADERS$" PRIVATE)
    target_precompile_headers(${target} ${ARGN})
  endif()
endfunction()
# The same, and sources compiled some at a time.
function(pmusim_join target)
  pmusim_precompile(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PMUSIM_JOINED} UNITY_BUILD_BATCH_SIZE 48)
  # g++ spends a twentieth of a joined source's time on looking for memory that it might give back.
  if(PMUSIM_JOINED AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-expand=200" "SHELL:--param ggc-min-heapsize=524288")
  endif()
endfunction()
set(pmusim_common_headers <algorithm> <array> <bit> <cstring> <functional> <map> <memory> <numeric> <optional> <ranges> <span>
  <string> <string_view> <unordered_map> <utility> <variant> <vector> <boost/endian/arithmetic.hpp> <fmt/format.h>)

# Sources whose speed nobody waits for. They compile twice as fast with -O1 as fully optimised, and twice again with -O0.
function(pmusim_compile_fast target option)
  if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O[23]")  # a build that optimises less stays so
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${option}>)
  endif()
endfunction()

# Tests that wait for other programs rather than compute.
set(pmusim_waiting_tests annotate end_to_end formats live perfdata qemu)

# The precompiled headers of all test programs; executables as they are, since code for libraries is compiled otherwise.
function(pmusim_test_headers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "int main() {}\n")
  foreach(option -O0 -O1)
    set(target pmusim_test_headers${option})
    add_executable(${target} EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(${target} PRIVATE pmusim_options GTest::gmock)
    pmusim_compile_fast(${target} ${option})
    pmusim_precompile(${target} HEADERS ${pmusim_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  endforeach()
endfunction()

# tests/NAME/*_test.cpp -> the program test_NAME, linked with LIBRARIES.
function(pmusim_test_program name)
  file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(NOT tests)
    return()
  endif()
  add_executable(test_${name} ${tests})
  target_link_libraries(test_${name} PRIVATE ${ARGN} pmusim_warnings GTest::gmock GTest::gtest_main)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  set(option -O1)
  if(name IN_LIST pmusim_waiting_tests)
    set(option -O0)
  endif()
  pmusim_compile_fast(test_${name} ${option})
  pmusim_join(test_${name} REUSE_FROM pmusim_test_headers${option})
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 LABELS module)
endfunction()

# Each header of a module compiles by itself, or the module's tests are not built: the public ones in every build, those
# beside the sources where sources compile by themselves, too.
function(pmusim_headers_alone name library)
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/pmusim/${name}/*.h)
  if(NOT PMUSIM_JOINED)
    file(GLOB_RECURSE private RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.h)
    list(APPEND headers ${private})
  endif()
  set(sources "")
  foreach(header ${headers})
    set(source ${PROJECT_BINARY_DIR}/headers/${header}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(headers_${name} OBJECT ${sources})
    target_link_libraries(headers_${name} PRIVATE ${library} pmusim_warnings)
    target_include_directories(headers_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_options(headers_${name} PRIVATE -O0)
    set_target_properties(headers_${name} PROPERTIES CXX_CLANG_TIDY "")
    if(TARGET test_${name})
      add_dependencies(test_${name} headers_${name})
    endif()
  endif()
endfunction()

# A fuzzer sees which way the code of this target goes.
function(pmusim_fuzzed target)
  if(PMUSIM_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# tests/NAME/TARGET_fuzz.cpp -> the program fuzz_NAME_TARGET, linked with LIBRARIES; all of them are `fuzzers`.
function(pmusim_fuzzers name)
  if(NOT PMUSIM_FUZZ)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_fuzz.cpp)
  foreach(source ${sources})
    get_filename_component(target ${source} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" target ${target})
    set(fuzzer fuzz_${name}_${target})
    add_executable(${fuzzer} ${source})
    target_link_libraries(${fuzzer} PRIVATE ${ARGN} pmusim_warnings)
    target_include_directories(${fuzzer} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    pmusim_fuzzed(${fuzzer})
    target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${fuzzer} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
    if(NOT TARGET fuzzers)
      add_custom_target(fuzzers)
    endif()
    add_dependencies(fuzzers ${fuzzer})
  endforeach()
endfunction()

# tests/corpus/NAME_TARGET is replayed by the test corpus.NAME_TARGET, with tests/NAME/TARGET_fuzz.cpp.
function(pmusim_corpora name)
  if(NOT PMUSIM_TESTS)
    return()
  endif()
  file(GLOB corpora CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/corpus/${name}_*)
  foreach(corpus ${corpora})
    get_filename_component(corpus_name ${corpus} NAME)
    string(REGEX REPLACE "^${name}_" "" target ${corpus_name})
    set(source ${PROJECT_SOURCE_DIR}/tests/${name}/${target}_fuzz.cpp)
    if(EXISTS ${source})
      add_executable(corpus_${corpus_name} ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cpp)
      target_link_libraries(corpus_${corpus_name} PRIVATE ${ARGN} pmusim_warnings)
      target_include_directories(corpus_${corpus_name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
      pmusim_compile_fast(corpus_${corpus_name} -O1)
      add_test(NAME corpus.${corpus_name} COMMAND corpus_${corpus_name} ${corpus})
    endif()
  endforeach()
endfunction()

# What the fast recorder loads into qemu; it links nothing of ours.
function(pmusim_qemu_plugin)
  add_library(pmusim_qemu_plugin MODULE ${PROJECT_SOURCE_DIR}/src/qemu/plugin/plugin.cpp)
  target_include_directories(pmusim_qemu_plugin PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(pmusim_qemu_plugin PRIVATE pmusim_warnings)
  set_target_properties(pmusim_qemu_plugin PROPERTIES
    CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()
