# SPDX-License-Identifier: MIT
# What users do with what we install. With a sanitizer or coverage they would have to link that, too.
if(NOT PMUSIM_INSTALL OR PMUSIM_SANITIZE OR CMAKE_CXX_FLAGS MATCHES coverage)
  return()
endif()
set(scratch ${PROJECT_BINARY_DIR}/consumer)

# pmusim_consume(NAME ARGUMENT...): a test that is a call of consume.sh.
function(pmusim_consume name)
  add_test(NAME consumer.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/consume.sh ${ARGN})
  set_tests_properties(consumer.${name} PROPERTIES TIMEOUT 900
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")
endfunction()
# Of what `fixture` leaves in `prefix`: every way to use it.
function(pmusim_consume_all fixture prefix)
  foreach(component ${ARGN})
    string(REPLACE / . name ${fixture}.${component})
    string(REPLACE pkg-config/ "" module ${component})
    if(component MATCHES pkg-config)
      pmusim_consume(${name} pkg-config ${prefix} ${scratch}/${name} ${module})
    else()
      pmusim_consume(${name} cmake ${prefix} ${scratch}/${name} ${component})
    endif()
    set_tests_properties(consumer.${name} PROPERTIES FIXTURES_REQUIRED ${fixture})
  endforeach()
endfunction()

set(components hardware pkg-config/pmusim-hardware)
if(PMUSIM_TOOLS)
  list(APPEND components full c pkg-config/pmusim-full pkg-config/pmusim pkg-config/pmusim-static)
endif()

pmusim_consume(installed install ${PROJECT_BINARY_DIR} ${scratch}/installed)
set_tests_properties(consumer.installed PROPERTIES FIXTURES_SETUP installed)
pmusim_consume_all(installed ${scratch}/installed/prefix ${components})

find_program(PMUSIM_DPKG dpkg)
if(PMUSIM_DPKG AND PMUSIM_TOOLS)
  pmusim_consume(packaged packages ${PROJECT_BINARY_DIR} ${scratch}/packaged)
  set_tests_properties(consumer.packaged PROPERTIES FIXTURES_SETUP packaged)
  pmusim_consume_all(packaged ${scratch}/packaged/root/usr c pkg-config/pmusim)
  if(TARGET pmusim_python)
    pmusim_consume(packaged.python python ${scratch}/packaged/root/usr ${PYTHON_EXECUTABLE})
    set_tests_properties(consumer.packaged.python PROPERTIES FIXTURES_REQUIRED packaged)
  endif()
endif()

pmusim_consume(sources sources ${PROJECT_SOURCE_DIR} ${scratch}/sources)
pmusim_consume(fetched fetch ${PROJECT_SOURCE_DIR} ${scratch}/fetched)
