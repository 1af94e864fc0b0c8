// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_REPORT_H
#define PMUSIM_SRC_WHY_REPORT_H

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/annotate/report.h"
#include "why/collector.h"
#include "why/setting.h"
#include "why/topdown.h"

namespace pmusim::why {

/// What cycles went to, as a finding names it.
enum class Cause : u8 {
  mispredicts,
  machine_clears,
  cache_misses,
  page_walks,
  tlb_misses,
  store_forwarding,
  address_aliasing,
  split_accesses,
  locked,
  division,
  dependency_chain,
  execution,
  load_latency,
  store_buffer,
  front_end,
  count_
};
std::string_view name_of(Cause cause);

/// An executed instruction.
struct Instruction {
  u64 address = 0;  ///< in the file, as disassemblers print it
  std::string text;
  u32 function = 0, line = 0;  ///< in Report::functions and lines
  Counts counts;
  Stride stride;
  Chain chain;
};

/// A source line within a function; `number` 0 stands for all of a function that no line is known of.
struct Line {
  std::string file;
  u32 number = 0, function = 0;
  Counts counts;
  std::vector<u32> instructions;  ///< in Report::instructions, by address
};

struct Function {
  std::string name, linkage_name, module;
  std::string problem;  ///< a sentence on what is missing of its module; empty if nothing is
  Counts counts;
  EventCounts events;      ///< of blocks that begin in it
  std::vector<u32> lines;  ///< in Report::lines, by cycles
};

/// A natural loop: code that goes round, entered at its header alone.
struct Loop {
  u64 header = 0;  ///< as Instruction::address
  u32 function = 0;
  std::string file;                   ///< of the header; empty if no line is known
  u32 first_line = 0, last_line = 0;  ///< of the loop's code in that file and function; 0: unknown
  u32 blocks = 0;                     ///< basic blocks
  std::optional<u32> parent;          ///< in Report::loops: the loop around it
  TripCounts rounds;
  Counts counts;                  ///< of its own instructions; called functions are not in it
  std::vector<u32> instructions;  ///< in Report::instructions
  std::optional<Cause> cause;     ///< for most of its cycles, if for a tenth
  u64 cause_cycles = 0;
  std::optional<u32> slowest_chain;  ///< where the chain of results that takes most cycles passes
  std::string sentence;
};

/// A sentence with its numbers.
struct Finding {
  Cause cause = Cause::count_;
  u32 line = 0;
  u64 cycles = 0;  ///< of the line, explained by the cause
  std::string sentence;
};

/// Where the cycles of a replay went, and why.
struct Report {
  std::string title;
  Setting setting;
  unsigned width = 1;  ///< slots in a cycle
  Counts total;
  EventCounts total_events;
  std::vector<Function> functions;  ///< by cycles
  std::vector<Line> lines;          ///< by cycles
  std::vector<Instruction> instructions;
  std::vector<Loop> loops;         ///< by cycles
  std::vector<Finding> findings;   ///< by cycles
  std::vector<std::string> notes;  ///< sentences on what the trace does not tell
  std::optional<Topdown> topdown;  ///< nothing: nobody asked
};

/// Joins what was counted with functions and lines. Sums over functions, over lines and over instructions are
/// the totals.
Report make_report(const Collection& collection, const annotate::Options& options);

/// What a finding tells: of all lines with 1 % of the cycles or more, causes of at least a tenth of theirs.
std::vector<Finding> find_causes(const Report& report);
/// Fills in a loop's cause, its slowest chain and its sentence.
void explain(const Report& report, Loop& loop);
/// "stride.c:41-44", or the function and an address where no line is known; fit for a terminal.
std::string place_name(const Report& report, const Loop& loop);
/// "stride.c:41", or the function where no line is known; fit for a terminal.
std::string place_name(const Report& report, const Line& line);

/// The trees of the whole program and of these functions, by what the replay has counted.
Topdown topdown_of(const Report& report, TopdownTree tree, std::span<const u32> functions);

/// Whether tables name the events behind the nodes of the tree.
enum class Detail : u8 { usual, verbose };
/// Tables and sentences. With `function` (an index) its lines and instructions.
std::string text_of(const Report& report, std::optional<u32> function, Detail detail = Detail::usual);
/// All that is known; with `function` of it alone.
std::string json_of(const Report& report, std::optional<u32> function);
/// What the page needs beside a profile's report: findings, loops and lines, without their instructions.
std::string page_json_of(const Report& report);
/// What was counted as a profile: events are these columns, exact. Stacks have cycles and instructions.
annotate::Report profile_of(const Collection& collection, std::span<const Column> shown,
                            const annotate::Options& options);
/// One page for a browser, which needs no network: annotate's, with findings, loops and columns of lines.
std::string html_of(const Collection& collection, const Report& report, const annotate::Options& options);

}  // namespace pmusim::why

#endif
