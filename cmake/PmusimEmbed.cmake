# SPDX-License-Identifier: MIT
# Files as constants: pmusim_embed(TARGET HEADER NAMESPACE file...) makes HEADER, which TARGET's sources can
# include, with a std::string_view for each file, named after it: style.css is NAMESPACE::style_css.
function(pmusim_embed target header namespace)
  set(constants "")
  foreach(file ${ARGN})
    set(file ${PROJECT_SOURCE_DIR}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${name} name)
    string(APPEND constants "inline constexpr std::string_view ${name} = R\"embedded(${text})embedded\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedded/${header} @ONLY CONTENT [[
// Made from the files of the same names.
#pragma once
#include <string_view>
namespace @namespace@ {
@constants@}
]])
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/embedded)
endfunction()
