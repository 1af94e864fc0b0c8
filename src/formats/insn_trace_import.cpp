// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/mman.h>

#include <map>
#include <set>
#include <utility>

#include "formats/insn_trace.h"
#include "formats/remarks.h"
#include "formats/trace_maker.h"

namespace pmusim::formats {
namespace {

constexpr u64 page_bytes = 4096;
constexpr std::size_t max_threads = 16384;
constexpr u32 only_tid = 1;  // where lines name none

/// Puts what the lines say into a trace, in their order.
class Importer {
 public:
  explicit Importer(TraceMaker& maker) : maker_(maker) {}

  /// Error: too many threads, the trace cannot be written.
  Result<Done, Error> take(const PrintedInstruction& line) {
    if (instructions_++ == 0 && first_line) {
      doubtful_ = line;
      return Done{};
    }
    // What is left of a line cut at its front has fewer fields, or begins where the next is indented.
    if (doubtful_ && !doubtful_->can_be_whole(line)) {
      doubtful_.reset();
      ++cut_lines;
    }
    if (auto taken = take_doubtful(); !taken.ok()) return taken;
    return retire(line);
  }
  /// The first line, if it was not cut.
  Result<Done, Error> take_doubtful() {
    const auto line = std::exchange(doubtful_, std::nullopt);
    return line ? retire(*line) : Done{};
  }
  Result<Done, Error> take(const PrintedWithoutCode&) {
    ++without_code;
    return interrupt();
  }
  Result<Done, Error> take(const PrintedMapping& line) {
    if ((line.mapping.protection & PROT_EXEC) == 0 || !is_code_address(line.mapping.start) ||
        line.mapping.bytes == 0 || line.mapping.bytes > code_end - line.mapping.start)
      return Done{};
    if (auto known = know(line.pid, line.tid, ""); !known.ok()) return known;
    mapped_[line.pid][line.mapping.start] = line.mapping.start + line.mapping.bytes;
    return maker_.add_side_band(trace::Map{line.pid, line.mapping});
  }
  Result<Done, Error> take(const PrintedGap&) {
    ++gaps;
    return interrupt();
  }
  Result<Done, Error> take(const PrintedOther&) { return Done{}; }
  Result<Done, Error> take(const PrintedForeign&) {
    ++foreign_lines;
    return Done{};
  }

  bool first_line = true;  ///< the one that is taken
  u64 kernel_instructions = 0, gaps = 0, unmapped_pages = 0;
  u64 without_code = 0, without_thread = 0, foreign_lines = 0, cut_lines = 0;

 private:
  Result<Done, Error> retire(const PrintedInstruction& line) {
    if (!is_code_address(line.ip)) {
      ++kernel_instructions;
      return Done{};
    }
    without_thread += line.tid ? 0 : 1;
    const u32 tid = line.tid.value_or(only_tid), pid = line.pid.value_or(pid_.value_or(tid));
    if (auto known = know(pid, tid, line.command); !known.ok()) return known;
    if (auto mapped = cover(pid, line.ip, line.code.size()); !mapped.ok()) return mapped;
    return maker_.retire({pid, tid}, line.ip, line.code.bytes(), {}, 1);
  }
  /// What follows is not what came next.
  Result<Done, Error> interrupt() {
    if (auto taken = take_doubtful(); !taken.ok()) return taken;
    return maker_.finish(0);
  }
  /// Tells of a process and a thread when they are first seen.
  Result<Done, Error> know(u32 pid, u32 tid, const std::string& command) {
    if (!pid_) pid_ = pid;
    if (threads_.contains({pid, tid})) return Done{};
    if (threads_.size() == max_threads)
      return Failure(Error(fmt::format("more than {} threads", max_threads)));
    threads_.insert({pid, tid});
    if (processes_.insert(pid).second)
      return maker_.add_side_band(trace::ProcessStart{pid, tid, command, true});
    return maker_.add_side_band(trace::ThreadStart{pid, tid, pid, pid});
  }
  // Code that no mapping was printed for lies in memory of no name.
  Result<Done, Error> cover(u32 pid, u64 ip, std::size_t bytes) {
    auto& mapped = mapped_[pid];
    for (u64 page = ip / page_bytes * page_bytes; page < ip + bytes; page += page_bytes) {
      const auto behind = mapped.upper_bound(std::max(page, ip));
      if (behind != mapped.begin() && std::prev(behind)->second > std::max(page, ip)) continue;
      ++unmapped_pages;
      mapped[page] = page + page_bytes;
      const trace::Mapping mapping{page, page_bytes, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE, "//anon", {}};
      if (auto added = maker_.add_side_band(trace::Map{pid, mapping}); !added.ok()) return added;
    }
    return Done{};
  }

  TraceMaker& maker_;
  u64 instructions_ = 0;
  std::optional<PrintedInstruction> doubtful_;
  std::optional<u32> pid_;  // of the first line: where lines have none, of all
  std::set<u32> processes_;
  std::set<std::pair<u32, u32>> threads_;
  std::map<u32, std::map<u64, u64>> mapped_;  // by process: start and end
};

std::vector<std::string> left_out(const Importer& importer, const LineReader& lines) {
  std::vector<std::string> sentences;
  add_count(sentences, importer.kernel_instructions, "instructions of the kernel were left out");
  add_count(sentences, importer.gaps, "gaps where perf could not decode");
  add_count(
      sentences, importer.without_code,
      "lines without code bytes were left out ('perf script --insn-trace' prints 'insn:', --xed does not)");
  add_count(sentences, importer.foreign_lines, "lines that are not perf script's were left out");
  add_count(sentences, importer.cut_lines, "lines were left out: the file begins or ends within them");
  if (lines.ended_early()) sentences.emplace_back(packed_data_end_early);
  return sentences;
}

std::vector<std::string> remarks_on(const Importer& importer, const LineReader& lines,
                                    const TraceMaker& maker) {
  std::vector<std::string> remarks{"perf's instruction traces have no addresses of accesses"};
  add_count(remarks, maker.repeats(), "string instructions with REP are taken to have had one iteration");
  for (std::string& sentence : left_out(importer, lines)) remarks.push_back(std::move(sentence));
  add_count(remarks, importer.without_thread,
            "instructions are of no named thread (-F +tid) and taken as of one");
  add_count(remarks, importer.unmapped_pages,
            "pages of code have no file: print with 'perf script --insn-trace --show-mmap-events' to have "
            "symbols");
  return remarks;
}

/// Takes the next line. False at the end. Errors: the file's, the trace's.
Result<bool, Error> take_line(LineReader& lines, Importer& importer) {
  const auto text = lines.next();
  if (!text.ok()) return Failure(text.error());
  if (!text->has_value()) return false;
  const auto line =
      lines.is_long() ? std::optional<PrintedLine>(PrintedForeign{}) : parse_insn_trace_line(**text);
  const bool is_first = lines.line_offset() == 0,
             is_other = line && std::holds_alternative<PrintedOther>(*line);
  if ((lines.is_cut() && !is_other) || (!line && is_first)) {
    ++importer.cut_lines;
    return true;
  }
  if (!line)
    return Failure(
        lines.damaged("expected 'COMMAND TID [CPU] TIME: ADDRESS ... insn: BYTES', as 'perf script "
                      "--insn-trace' prints it"));
  importer.first_line = is_first;
  const auto taken = std::visit([&](const auto& l) { return importer.take(l); }, *line);
  if (!taken.ok()) return Failure(taken.error());
  return true;
}

}  // namespace

Result<Conversion, Error> import_insn_trace(const ImportOptions& options) {
  auto stream = InputStream::open(options.input);
  if (!stream.ok()) return Failure(stream.error());
  LineReader lines(*std::move(stream));
  auto writer = trace::Writer::create(options.output, {}, trace::Unfinished::dropped);
  if (!writer.ok()) return Failure(writer.error());
  TraceMaker maker(*writer);
  Importer importer(maker);
  while (options.max_instructions == 0 || maker.instructions() < options.max_instructions) {
    const auto taken = take_line(lines, importer);
    if (!taken.ok()) return Failure(taken.error());
    if (!*taken) break;
  }
  if (const auto taken = importer.take_doubtful(); !taken.ok()) return Failure(taken.error());
  if (maker.instructions() == 0) return Failure(nothing_in(options.input, left_out(importer, lines)));
  if (const auto finished = maker.finish(0); !finished.ok()) return Failure(finished.error());
  const auto written = writer->finish();
  if (!written.ok()) return Failure(written.error());
  return Conversion{written->instructions, written->file_bytes, remarks_on(importer, lines, maker)};
}

}  // namespace pmusim::formats
