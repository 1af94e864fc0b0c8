# SPDX-License-Identifier: MIT
# The Debian packages that `cpack` makes of the installed components: libpmusim0 (runtime), libpmusim-dev (dev),
# pmusim (tools) and, where it is built, python3-pmusim (python). scripts/deb.sh builds them as a distribution would, for /usr.
if(NOT PMUSIM_TOOLS OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(PMUSIM_MAINTAINER "the pmusim authors <pmusim@localhost>" CACHE STRING "Maintainer of the packages, with an address")
set(CPACK_PACKAGE_CONTACT ${PMUSIM_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "x86 PMU hardware emulator")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime dev tools)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# pmusim_package(COMPONENT NAME SECTION SUMMARY TEXT DEPENDS): the package, and what Debian wants to lie beside it.
function(pmusim_package component name section text depends)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS ${depends} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION ${text} PARENT_SCOPE)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES LICENSE DESTINATION ${folder} RENAME copyright COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/install/changelog.gz DESTINATION ${folder} COMPONENT ${component})
  install(FILES packaging/debian/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${name}
    COMPONENT ${component})
endfunction()

# What packages hold of what is built: examples and tests are not among it.
add_custom_target(pmusim_packaged DEPENDS pmusim pmusim_qemu_plugin pmusim_man pmusim_hardware pmusim_full pmusim_c
  pmusim_c_static)

configure_file(cmake/install/changelog.in ${PROJECT_BINARY_DIR}/install/changelog @ONLY)
execute_process(COMMAND gzip -9nc ${PROJECT_BINARY_DIR}/install/changelog
  OUTPUT_FILE ${PROJECT_BINARY_DIR}/install/changelog.gz COMMAND_ERROR_IS_FATAL ANY)

pmusim_package(tools pmusim devel
"The command: replays recorded programs on an emulated Intel CPU and writes what
perf, BOLT and AutoFDO read; counts, profiles, shows what the hardware did."
  "")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS qemu-user)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS linux-perf)

pmusim_package(dev libpmusim-dev libdevel
"Headers and static libraries: for C++ the hardware alone or with the perf_event
driver around it, for C the interface of libpmusim0. For CMake and pkg-config."
  "libboost-dev, libfmt-dev, libzydis-dev, libpfm4-dev, libipt-dev, libzstd-dev, zlib1g-dev, liblzma-dev, libelf-dev, libdw-dev")

set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
file(WRITE ${PROJECT_BINARY_DIR}/install/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/install/triggers)
string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libpmusim0 (= ${PROJECT_VERSION})")
pmusim_package(runtime libpmusim0 libs
"The shared library: a cycle-level model of the performance monitoring unit of
Intel CPUs, for drivers under test, with an interface in C."
  "")
if(TARGET pmusim_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  add_dependencies(pmusim_packaged pmusim_python)
  pmusim_package(python python3-pmusim python
"The package for Python: emulated processors, synthetic programs, and the counts
and samples of recorded ones as NumPy columns."
    "python3 (>= 3.11), python3 (<< 3.12), python3-numpy")
endif()
include(CPack)
