// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ANNOTATE_REPORT_H
#define PMUSIM_ANNOTATE_REPORT_H

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

/// What a profile says, as one value: text, JSON and the page are all made from a Report, so that they say
/// the same numbers.
///
/// Everything is aggregated: the size grows with the distinct code that was sampled, never with the number of
/// samples. Things refer to each other by index into the vectors of Report; `nothing` is no index. Addresses
/// are those of the file (as disassemblers print them); where there is no file, offsets into what was mapped.
/// @code
/// const annotate::Report report = *annotate::analyze("perf.data", {});
/// for (const annotate::Symbol& symbol : report.symbols)
///   std::cout << symbol.name << " in " << report.modules[symbol.module].path << '\n';
/// @endcode
namespace pmusim::annotate {

inline constexpr u32 nothing = ~u32{0};

/// How much of one event fell somewhere: samples, and the sum of their periods (occurrences of the event).
struct Weight {
  u64 samples = 0, period = 0;
  friend bool operator==(const Weight&, const Weight&) = default;
};
/// One for each of Report::events, in their order.
using Weights = std::vector<Weight>;

/// An event of the file, with all of its samples.
struct Event {
  std::string name;
  Weight total;
};

/// A file, or what is no file, that code was mapped from.
struct Module {
  std::string path;      ///< as mapped; "[kernel]", "[unknown]" and the like for what is no file
  std::string build_id;  ///< hexadecimal; empty if unknown
  std::string problem;   ///< one sentence on what could not be read; empty if nothing is missing
  Weights weights;
};

/// A function of a module, or the part of it that has no name.
struct Symbol {
  std::string name;          ///< demangled; "[unknown]" for the rest of a module
  std::string linkage_name;  ///< as in the symbol table
  u32 module = nothing;
  u64 start = 0, end = 0;  ///< [start, end)
  Weights weights;         ///< of samples in the symbol itself
  Weights with_callees;  ///< of samples in the symbol or in what it called; of `weights` without call stacks
  u64 max_coverage = 0;  ///< executions of its most often executed instruction that branch stacks show
  u32 function = nothing;  ///< in Report::functions
};

/// A file that lines of code come from.
struct SourceFile {
  std::string path;
  /// Text of the file as found now, a line each; empty if it cannot be read.
  std::vector<std::string> lines;
};

/// `line` counts from 1; 0 is unknown.
struct SourcePosition {
  u32 file = nothing, line = 0;
  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

/// A task with samples, under the name that it had then.
struct SampledTask {
  u32 pid = 0, tid = 0;
  std::string command;
  Weights weights;
};

/// A CPU with samples.
struct SampledCpu {
  u32 cpu = 0, package = nothing;  ///< the package is known if the file has the topology
  Weights weights;
};

/// A source line with samples.
struct RankedLine {
  SourcePosition where;
  u32 symbol = nothing;
  Weights weights;
};

/// An instruction somewhere in the profile.
struct Place {
  u32 symbol = nothing;
  u64 address = 0;
  SourcePosition where;
};

/// A taken branch as branch stacks show it: from an instruction to a target.
struct Branch {
  Place from, to;
  u64 taken = 0, predicted = 0, mispredicted = 0;  ///< entries with neither mark are in `taken` only
  u64 timed = 0, cycles = 0;                       ///< entries with cycles, and their sum
};

/// Cycles from the branch before a block to its end, where the LBR has them.
struct BlockCycles {
  u64 executions = 0, sum = 0, min = 0, max = 0;
  u64 average() const { return executions == 0 ? 0 : sum / executions; }
  friend bool operator==(const BlockCycles&, const BlockCycles&) = default;
};

/// Straight code between two places where control joins or leaves, both inclusive.
struct Block {
  u64 first = 0;                                      ///< address of the first byte
  u64 last = 0;                                       ///< address of the first byte of the last instruction
  u32 first_instruction = nothing, instructions = 0;  ///< in AnnotatedFunction::instructions
  u64 coverage = 0;                                   ///< executions that branch stacks show
  u64 entry = 0;                                      ///< branches that went to `first`
  u64 taken = 0;                                      ///< taken branches at `last`
  u64 predicted = 0, mispredicted = 0;                ///< of these; neither, where nothing was recorded of it
  BlockCycles cycles;                                 ///< of the longest straight line ending at `last`
  std::optional<double> ipc;                          ///< of that line
  /// Sums of the counters the LBR logs with each branch, in the order of Report::branch_counters.
  std::vector<u64> counters;
  bool counters_saturated = false;  ///< at least one logged value was the largest possible: sums are minima
};

/// "+p%": branches that joined the flow here.
struct Join {
  u64 entries = 0;
  double percent = 0;  ///< of the executions of the block that the target is in
};

/// "-p% (p:q%)": how often this branch was taken, and how often that was predicted; "-p%" where that was not
/// recorded.
struct Leave {
  u64 taken = 0, predicted = 0, mispredicted = 0;
  double percent = 0;                       ///< of the executions of the branch
  std::optional<double> predicted_percent;  ///< of those with a recorded prediction; nothing without any
};

/// A function whose code was inlined, called at `call`.
struct InlinedFrame {
  std::string function;
  SourcePosition call;
  friend bool operator==(const InlinedFrame&, const InlinedFrame&) = default;
};

/// An instruction of an annotated function.
struct Instruction {
  u64 address = 0;
  u8 bytes = 0;
  std::string text;            ///< in the syntax asked for
  SourcePosition where;        ///< of the innermost inlined function
  u32 inlined = nothing;       ///< in AnnotatedFunction::inline_stacks
  Weights weights;             ///< of samples at this instruction
  u64 coverage = 0;            ///< executions that branch stacks show
  std::optional<double> heat;  ///< coverage / max_coverage of the symbol, 0..1; nothing without branch stacks
  std::optional<Join> join;
  std::optional<Leave> leave;
  u64 jump_target = 0;  ///< of a direct branch; 0 for everything else
};

/// Taken branches between two instructions of the same function.
struct Jump {
  u32 from = nothing, to = nothing;  ///< in AnnotatedFunction::instructions
  u64 taken = 0, predicted = 0, mispredicted = 0;
};

/// A function with its code, sources and branches.
struct AnnotatedFunction {
  u32 symbol = nothing;
  std::vector<Instruction> instructions;                 ///< by address; empty without code: see `problem`
  std::vector<Block> blocks;                             ///< by address
  std::vector<Jump> jumps;                               ///< most often taken first
  std::vector<std::vector<InlinedFrame>> inline_stacks;  ///< outermost first
  std::optional<double> average_ipc;
  double ipc_coverage = 0;  ///< instructions with an IPC / all of them, 0..1
  std::string problem;      ///< one sentence on what is missing (code, source lines); empty if nothing is
};

/// A straight line that a path runs through, and the branch that leaves it.
struct PathStep {
  Place first, last;
  u64 executions = 0;  ///< of the line
  u64 taken = 0;       ///< of the branch from `last` to the next step
};

/// Lines that follow each other most often, from a hot branch on: each step goes the most frequent way. No
/// two paths have a step in common. A loop begins where its branch back goes, whichever way it was entered. A
/// function that is called from two places may be two steps of a path.
struct HotPath {
  std::vector<PathStep> steps;
  bool is_loop = false;  ///< the last branch goes back to the first step
  u32 joins = nothing;   ///< in Report::paths: the one that the last branch goes to
  u64 executions = 0;    ///< of the whole path: those of its rarest branch
};

/// A node of the tree of call stacks. The root has no symbol; a parent stands before its children.
struct StackNode {
  u32 parent = nothing, symbol = nothing;
  Weights self, total;  ///< of samples that end here, and of those and all below
};

enum class StackSource : u8 { none, callchain, lbr_call_stack };

/// How much was read, and what could not be used.
struct Totals {
  u64 samples = 0, branch_stacks = 0, branch_entries = 0;
  u64 blocks = 0;         ///< straight lines between neighbouring entries
  u64 broken_blocks = 0;  ///< neighbours that bound none: they run backwards or from one module to another
};

/// All of it.
struct Report {
  std::string input;         ///< the file
  std::string command_line;  ///< of the recording, where the file tells it
  std::string cpu;           ///< likewise
  std::vector<Event> events;
  Totals totals;
  std::vector<std::string> notes;            ///< sentences on what is missing and why
  std::vector<std::string> branch_counters;  ///< names of the events that the LBR logs counts of

  // Ranked: by period of the first event, then of the next ones, then by name and address.
  std::vector<Module> modules;
  std::vector<Symbol> symbols;
  std::vector<RankedLine> lines;
  std::vector<Branch> branches;    ///< most often taken first
  std::vector<SampledTask> tasks;  ///< empty where samples have no thread
  std::vector<SampledCpu> cpus;    ///< empty where samples have no CPU

  std::vector<SourceFile> files;
  std::vector<AnnotatedFunction> functions;  ///< in the order of `symbols`
  std::vector<HotPath> paths;                ///< by their most often taken branch
  StackSource stack_source = StackSource::none;
  std::vector<StackNode> stacks;  ///< the root first; empty without call stacks
};

/// The function that covers `address` of a module; nullptr if it is not annotated.
const AnnotatedFunction* find_function(const Report& report, u32 module, u64 address);
/// By demangled or linkage name.
const AnnotatedFunction* find_function(const Report& report, const std::string& name);

enum class Colours : u8 { none, ansi };

/// Source lines and disassembly of one function, as `perf annotate --stdio` shows them: percent of each
/// event, heat as the colour of the address, "# +p%" and "# -p% (p:q%)" behind targets and branches, and
/// where the branch stacks have cycles the IPC and cycles of each block at its last instruction.
std::string annotation_text(const Report& report, const AnnotatedFunction& function, Colours colours);

enum class Ranking : u8 { symbols, modules, lines, branches, commands, processes, threads, cpus, packages };
/// One table for each of `rankings`, hottest first, under a head that says what was sampled.
std::string ranking_text(const Report& report, const std::vector<Ranking>& rankings, Colours colours);

/// What a row of a ranking can show; `owner`: the command, process, thread, CPU or package that it is of.
enum class RankingField : u8 { overhead, children, samples, period, module, symbol, line, owner };

/// Whether functions are ranked by what they called, too. `shown`: they are not, and a column has it where
/// there are call stacks.
enum class RankingChildren : u8 { shown, ranked, hidden };

/// What is printed of the stacks that a function of a ranking is in.
enum class RankingStacks : u8 {
  none,
  callees,  ///< below it what it called
  callers,  ///< below it who called it
  flat,     ///< each stack on a line, outermost first
};

/// What percentages of stacks are of: all of the event, or of the line above (perf's `-g fractal`).
enum class StackShares : u8 { of_all, of_line_above };

/// Which tables are printed, and how.
struct RankingOptions {
  std::vector<Ranking> rankings{Ranking::symbols};
  Colours colours = Colours::none;
  std::vector<RankingField>
      fields;  ///< columns of symbols, modules and lines in this order; empty: the usual
  RankingChildren children = RankingChildren::shown;
  RankingStacks stacks = RankingStacks::none;
  StackShares stack_shares = StackShares::of_all;
  double percent_limit = 0;              ///< rows below it, of each event, are left out
  std::vector<std::string> modules;      ///< rows of these alone (paths or names of files); empty: of all
  std::string symbol_filter;             ///< rows of symbols with this in their name alone
  std::optional<std::string> separator;  ///< between fields, instead of columns; it becomes '.' within names
  bool header = false;                   ///< first what the file says of the recording
};
std::string ranking_text(const Report& report, const RankingOptions& options);

/// Everything in the report, as JSON with the names of its members.
std::string to_json(const Report& report);

/// The report as one page for a browser: HTML with style, script and the report's JSON inside, so that it
/// needs no network and says what to_json() says. Its size follows that of the report.
/// @code
/// std::ofstream("profile.html") << to_html(*annotate::analyze("perf.data", {}));
/// @endcode
std::string to_html(const Report& report);

}  // namespace pmusim::annotate

/// From a perf.data file to what is hot in it, and why:
/// @code
/// const auto report = annotate::analyze("perf.data", {});
/// if (report) std::cout << ranking_text(*report, {annotate::Ranking::symbols}, annotate::Colours::none);
/// @endcode
namespace pmusim::annotate {

/// /usr/lib/debug.
std::filesystem::path usual_debug_directory();

enum class Syntax : u8 { att, intel };

/// Which samples are counted: those that each list that is not empty has something of.
struct SampleChoice {
  std::vector<std::string> commands;  ///< what their task was called then
  std::vector<u32> pids, tids, cpus;
};

/// Which functions are annotated, how, and where what belongs to their files is looked for.
struct Options {
  /// Annotate these functions alone (demangled or linkage names), from samples whose IP lies in one of them,
  /// as `perf annotate SYMBOL` does. Empty: every function with samples, from all samples.
  std::vector<std::string> symbols;
  SampleChoice samples = {};
  Syntax syntax = Syntax::att;
  /// The hottest so many functions are annotated, and so many branches, lines and paths are kept.
  u32 max_functions = 1000, max_branches = 1000, max_lines = 1000, max_paths = 20;
  /// Nodes of call stacks below this share of the samples are dropped.
  double min_stack_share = 0.0001;
  /// Where separate debug files are: DIRECTORY/.build-id/ab/cdef.debug and DIRECTORY/usr/bin/x.debug.
  std::filesystem::path debug_directory = usual_debug_directory();
  /// Where JIT compilers leave perf-PID.map.
  std::filesystem::path jit_directory = "/tmp";
  /// Names the kernel's functions, as /proc/kallsyms does. Empty: the profile's name with ".kallsyms" behind
  /// it, if there is such a file.
  std::filesystem::path kallsyms;
};

/// Reads a perf.data file, ours or perf's, and sums it up. Code that cannot be resolved is in the report as
/// far as it is known, with sentences in `notes` and `problem`. Errors: the file cannot be read or is broken;
/// none of `symbols` has samples; no sample is of those asked for.
Result<Report, Error> analyze(const std::filesystem::path& perf_data, const Options& options);
/// The same for a file in memory, without the check of `symbols`; `name` is for messages.
Result<Report, Error> analyze_bytes(const std::string& name, const std::vector<std::byte>& perf_data,
                                    const Options& options);

}  // namespace pmusim::annotate

/// A profile in the formats of other tools:
/// @code
/// const auto report = annotate::analyze("perf.data", annotate::options_for_export({}));
/// std::cout << annotate::export_profile(*report, annotate::ExportFormat::collapsed, 0);
/// @endcode
namespace pmusim::annotate {

/// Formats of other tools.
enum class ExportFormat : u8 {
  collapsed,   ///< a line per stack, as Brendan Gregg's flamegraph.pl reads it
  speedscope,  ///< JSON of speedscope.app
  callgrind,   ///< version 1, as callgrind_annotate and KCachegrind read it
  pprof,       ///< profile.proto of github.com/google/pprof, not compressed
  chrome,      ///< Trace Event Format: samples with stackFrames
  firefox,     ///< processed profile of profiler.firefox.com
};

/// "collapsed": what names a format.
std::string_view name_of(ExportFormat format);
std::optional<ExportFormat> find_export_format(std::string_view name);
std::vector<std::string_view> export_format_names();
/// Whether a file of it holds all events of a profile, and no event has to be chosen.
bool holds_all_events(ExportFormat format);

/// With these options nothing is left out of a report: the totals of what is exported are those of the event.
Options options_for_export(Options options);

/// The report's stacks (without call stacks: its symbols) with the counts of `event`, or of all events where
/// the format holds them. Every format sums up to the event's total. Characters in names that would end a
/// line, a name or a string of the format are replaced or escaped.
///
/// Costs of calls in callgrind's format: of a function that is in a stack several times the outermost call
/// has the cost, and a function "[all]" calls the outermost ones, so that what its callers pass on to a
/// function is what `Symbol::with_callees` says.
std::string export_profile(const Report& report, ExportFormat format, u32 event);

}  // namespace pmusim::annotate

#endif
