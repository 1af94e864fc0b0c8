// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_TRACE_INFO_H
#define PMUSIM_TOOLS_TRACE_INFO_H

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::tools {

inline constexpr std::size_t branch_kinds = static_cast<std::size_t>(BranchKind::tsx_abort) + 1;
inline constexpr std::size_t execution_classes =
    static_cast<std::size_t>(x86::ExecutionClass::microcoded) + 1;

/// Of x86::ExecutionClass, by number.
inline constexpr std::array<std::string_view, execution_classes> execution_class_names{
    "integer",
    "integer multiplication",
    "integer division",
    "FP addition",
    "FP multiplication",
    "FP division",
    "vector",
    "load only",
    "store only",
    "branch",
    "no operation",
    "serializing",
    "microcoded"};

/// What one thread executed.
struct ThreadInfo {
  u32 pid = 0, tid = 0;
  u64 instructions = 0;
};

/// What a whole trace holds.
struct TraceInfo {
  trace::Contents contents;
  std::optional<std::string> truncation;  ///< as trace::Reader::truncation()
  u64 file_bytes = 0;
  u64 instructions = 0;
  u64 cycles = 0;                            ///< as recorded, in a trace with timing
  std::array<u64, branch_kinds> branches{};  ///< by BranchKind, [none] unused
  std::array<u64, branch_kinds> taken{};     ///< of those
  u64 loads = 0, stores = 0;                 ///< instructions that load, that store
  std::array<u64, execution_classes> mix{};  ///< instructions by x86::ExecutionClass
  // Of the code that was executed: instructions and their bytes, lines of 64 bytes and pages of 4 KiB with
  // some.
  u64 static_instructions = 0, code_bytes = 0, code_lines = 0, code_pages = 0;
  u64 system_calls = 0, signals = 0;
  u64 kernel_instructions = 0, interrupts = 0;  ///< of a trace with ring 0
  std::set<u32> processes, threads;
  std::vector<ThreadInfo> threads_that_ran;  ///< in the order in which they first did
  std::vector<trace::Mapping> modules;       ///< executable mappings in the order in which they appeared
  std::vector<trace::StreamSize> streams;

  u64 all_branches() const;
  u64 all_taken() const;
};

/// Reads a trace to its end. Errors as the reader's.
Result<TraceInfo, Error> read_trace_info(const std::string& path);

std::string format_text(const TraceInfo& info);
std::string format_json(const TraceInfo& info);
/// A page for a browser; `name` is the trace's.
std::string format_html(const TraceInfo& info, std::string_view name);
std::string contents_name(const trace::Contents& contents);
/// 0 where there is none.
double per_instruction(u64 amount, const TraceInfo& info);

}  // namespace pmusim::tools

#endif
