# SPDX-License-Identifier: MIT
# The tables of docs/trust.md are what docs/figures says. The code blocks of pages are run by a reader who has installed what the
# build made (blocks.py), where consumers are tested.
add_test(NAME pages.figures COMMAND ${PROJECT_SOURCE_DIR}/scripts/figures.py --check)
if(NOT TEST consumer.installed OR NOT PMUSIM_TOOLS)
  return()
endif()
foreach(page README docs/ci docs/install docs/guide-driver-authors docs/guide-performance-engineers docs/guide-profiler-authors)
  get_filename_component(name ${page} NAME)
  add_test(NAME pages.${name} COMMAND ${CMAKE_CURRENT_LIST_DIR}/blocks.py ${PROJECT_SOURCE_DIR}/${page}.md
    --prefix ${scratch}/installed/prefix --program $<TARGET_FILE:workload_branches>)
  set_tests_properties(pages.${name} PROPERTIES TIMEOUT 300 FIXTURES_REQUIRED installed
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")
endforeach()
