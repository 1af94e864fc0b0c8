# SPDX-License-Identifier: MIT
# What `cmake --install` puts where, in three components: `runtime` is what programs load, `dev` what they are built
# with, `tools` the command. Everything may be moved afterwards: nothing holds the prefix.
if(NOT PMUSIM_INSTALL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pmusim)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# pmusim_install_library(COMPONENT target...): the targets of a component that find_package() knows.
function(pmusim_install_library component)
  install(TARGETS ${ARGN} EXPORT pmusim-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT pmusim-${component} NAMESPACE pmusim:: DESTINATION ${package_dir} COMPONENT dev)
endfunction()

# pmusim_install_pkgconfig(name...): NAME.pc from NAME.pc.in.
function(pmusim_install_pkgconfig)
  file(RELATIVE_PATH prefix_from_pc /${pkgconfig_dir} /)
  foreach(name ${ARGN})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/install/${name}.pc.in ${PROJECT_BINARY_DIR}/install/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/install/${name}.pc DESTINATION ${pkgconfig_dir} COMPONENT dev)
  endforeach()
endfunction()

function(pmusim_install_headers)
  set(include ${PROJECT_SOURCE_DIR}/include/pmusim)
  foreach(module ${ARGN})
    if(EXISTS ${include}/${module})
      install(DIRECTORY ${include}/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pmusim COMPONENT dev
        FILES_MATCHING PATTERN "*.h")
    endif()
  endforeach()
  # Headers of no module: of the whole library, but for the version.
  file(GLOB headers CONFIGURE_DEPENDS ${include}/*.h)
  if(NOT PMUSIM_TOOLS)
    set(headers ${include}/version.h)
  endif()
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pmusim COMPONENT dev)
endfunction()

# The command writes its own.
function(pmusim_install_man_pages)
  set(folder ${PROJECT_BINARY_DIR}/man)
  add_custom_command(OUTPUT ${folder}/made
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder} COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND pmusim help --man-pages ${folder} COMMAND sh -c "gzip -9n ${folder}/*.1"
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/made DEPENDS pmusim VERBATIM)
  add_custom_target(pmusim_man ALL DEPENDS ${folder}/made)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools FILES_MATCHING PATTERN "*.gz")
endfunction()

configure_package_config_file(cmake/install/pmusim-config.cmake.in ${PROJECT_BINARY_DIR}/install/pmusim-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Until 1.0 the C++ interface may change with every minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/pmusim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/pmusim-config.cmake ${PROJECT_BINARY_DIR}/install/pmusim-config-version.cmake
  cmake/PmusimDependencies.cmake DESTINATION ${package_dir} COMPONENT dev)

pmusim_install_headers(${hardware_modules} ${full_modules})
pmusim_install_library(hardware pmusim_hardware)
pmusim_install_pkgconfig(pmusim-hardware)
if(PMUSIM_TOOLS)
  pmusim_install_library(full pmusim_full)
  pmusim_install_pkgconfig(pmusim-full)
  install(TARGETS pmusim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  # Where the command looks for it: ../lib/pmusim.
  install(TARGETS pmusim_qemu_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR}/../lib/pmusim COMPONENT tools)
  install(FILES ${PROJECT_BINARY_DIR}/include/pmusim/registers.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pmusim COMPONENT dev)
  pmusim_install_library(c pmusim_c)
  pmusim_install_library(c_static pmusim_c_static)
  pmusim_install_pkgconfig(pmusim pmusim-static)
  install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libpmusim-dev/examples COMPONENT dev
    FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.py" PATTERN "*.ipynb")
  pmusim_install_man_pages()
  install(FILES tools/completion/pmusim.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME pmusim COMPONENT tools)
  install(FILES tools/completion/_pmusim DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tools)
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
  install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
endif()
include(PmusimPackages)
