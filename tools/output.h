// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_OUTPUT_H
#define PMUSIM_TOOLS_OUTPUT_H

#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace pmusim::tools {

/// Runs the command and gives its exit status. No exception leaves it: each becomes a sentence on standard
/// error, where that can be written to, and status 2. So does output that could not be written.
int run_guarded(const std::function<int()>& command);

/// Makes sure that descriptors 0 to 2 are open, so that no file of ours gets one of them. What was closed
/// can neither be read nor written.
void claim_standard_streams();

/// Prints "pmusim: SENTENCE" on standard error, and gives up where that is impossible.
void complain(std::string_view sentence) noexcept;

/// Prints on standard error. Where that fails the command goes on, and ends with status 2.
void say(std::string_view text) noexcept;

/// Says lines that have names of files or programs in them, which are shown as bytes where a terminal would
/// act on them. A name with a line break is shown as its own lines, never as an escape.
void say_lines(std::string_view text);

/// Writes to standard output or standard error. Ends the command where that fails.
void print_to(std::FILE* stream, std::string_view text);

/// Writes a page for a browser. Ends the command where that fails.
void write_page(const std::string& path, std::string_view page);

/// Ends the command, before anything is opened, if a file cannot be written under this name: no name, no such
/// folder, a folder, or one of the inputs. "-" passes. `option` is what gave the name.
void check_output_name(const std::string& path, std::span<const std::string> inputs,
                       std::string_view option = "-o");

}  // namespace pmusim::tools

#endif
