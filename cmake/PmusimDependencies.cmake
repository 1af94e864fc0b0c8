# SPDX-License-Identifier: MIT
# What pmusim is built on, said once: its own build reads this file, so does the package that find_package() finds,
# and docs/licences.md lists no more and no less. "hardware" and "full" are the libraries, "command" is pmusim.
set(pmusim_hardware_packages "Boost 1.74" "fmt 9")
set(pmusim_full_packages "Zydis 4" "Threads")
set(pmusim_full_modules "ZSTD libzstd" "ZLIB zlib" "LZMA liblzma" "ELF libelf" "DW libdw")  # of pkg-config
set(pmusim_full_libraries pfm ipt)  # which neither CMake nor pkg-config knows
set(pmusim_command_packages "CLI11 2" "nlohmann_json 3")
set(pmusim_tests_packages "GTest")
set(pmusim_benchmarks_packages "benchmark")

# pmusim_find(COMPONENT): all of these, or the end: of configuring, or of find_package(pmusim).
macro(pmusim_find component)
  foreach(wanted IN LISTS pmusim_${component}_packages)
    separate_arguments(wanted)
    if(CMAKE_FIND_PACKAGE_NAME STREQUAL "pmusim")
      find_dependency(${wanted})
    else()
      find_package(${wanted} REQUIRED)
    endif()
  endforeach()
  if(pmusim_${component}_modules)
    find_package(PkgConfig REQUIRED)
  endif()
  foreach(wanted IN LISTS pmusim_${component}_modules)
    separate_arguments(wanted)
    list(GET wanted 0 prefix)
    list(GET wanted 1 module)
    pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET ${module})
  endforeach()
  foreach(library IN LISTS pmusim_${component}_libraries)
    find_library(PMUSIM_LIB_${library} ${library} REQUIRED)
    mark_as_advanced(PMUSIM_LIB_${library})
    if(NOT TARGET pmusim::lib${library})
      add_library(pmusim::lib${library} UNKNOWN IMPORTED)
      set_target_properties(pmusim::lib${library} PROPERTIES IMPORTED_LOCATION ${PMUSIM_LIB_${library}})
    endif()
  endforeach()
endmacro()
