// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/mman.h>

#include <map>
#include <set>

#include "formats/insn_trace.h"
#include "formats/trace_maker.h"

namespace pmusim::formats {
namespace {

constexpr u64 page_bytes = 4096;
constexpr std::size_t max_threads = 16384;

/// Puts what the lines say into a trace, in their order.
class Importer {
 public:
  explicit Importer(TraceMaker& maker) : maker_(maker) {}

  /// Whether the instruction is user-mode code; Error: too many threads, the trace cannot be written.
  Result<Done, Error> take(const PrintedInstruction& line) {
    if (!is_code_address(line.ip)) {
      ++kernel_instructions;
      return Done{};
    }
    const u32 pid = line.pid.value_or(pid_.value_or(line.tid));
    if (auto known = know(pid, line.tid, line.command); !known.ok()) return known;
    if (auto mapped = cover(pid, line.ip, line.code.size()); !mapped.ok()) return mapped;
    return maker_.retire({pid, line.tid}, line.ip, line.code.bytes(), {}, 1);
  }
  Result<Done, Error> take(const PrintedMapping& line) {
    if ((line.mapping.protection & PROT_EXEC) == 0 || !is_code_address(line.mapping.start) ||
        line.mapping.bytes == 0 || line.mapping.bytes > code_end - line.mapping.start)
      return Done{};
    if (auto known = know(line.pid, line.tid, ""); !known.ok()) return known;
    mapped_[line.pid][line.mapping.start] = line.mapping.start + line.mapping.bytes;
    return maker_.happen(trace::Map{line.pid, line.mapping});
  }
  Result<Done, Error> take(const PrintedGap&) {
    ++gaps;
    return maker_.finish(0);
  }
  Result<Done, Error> take(const PrintedOther&) { return Done{}; }

  u64 kernel_instructions = 0, gaps = 0, unmapped_pages = 0;

 private:
  /// Tells of a process and a thread when they are first seen.
  Result<Done, Error> know(u32 pid, u32 tid, const std::string& command) {
    if (!pid_) pid_ = pid;
    if (threads_.contains({pid, tid})) return Done{};
    if (threads_.size() == max_threads)
      return Failure(Error(fmt::format("more than {} threads", max_threads)));
    threads_.insert({pid, tid});
    if (processes_.insert(pid).second) return maker_.happen(trace::ProcessStart{pid, tid, command, true});
    return maker_.happen(trace::ThreadStart{pid, tid, pid, pid});
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
      if (auto told = maker_.happen(trace::Map{pid, mapping}); !told.ok()) return told;
    }
    return Done{};
  }

  TraceMaker& maker_;
  std::optional<u32> pid_;  // of the first line: where lines have none, of all
  std::set<u32> processes_;
  std::set<std::pair<u32, u32>> threads_;
  std::map<u32, std::map<u64, u64>> mapped_;  // by process: start and end
};

std::vector<std::string> remarks_on(const Importer& importer, const TraceMaker& maker) {
  std::vector<std::string> remarks{"perf's instruction traces have no addresses of accesses"};
  const auto add = [&](u64 amount, std::string_view what) {
    if (amount != 0) remarks.push_back(fmt::format("{} {}", fmt::group_digits(amount), what));
  };
  add(maker.repeats(), "string instructions with REP are taken to have had one iteration");
  add(importer.kernel_instructions, "instructions of the kernel were left out");
  add(importer.gaps, "gaps where perf could not decode");
  add(importer.unmapped_pages,
      "pages of code have no file: print with 'perf script --insn-trace --show-mmap-events' to have symbols");
  return remarks;
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
    const auto text = lines.next();
    if (!text.ok()) return Failure(text.error());
    if (!text->has_value()) break;
    const auto line = parse_insn_trace_line(**text);
    if (!line)
      return Failure(
          lines.damaged("expected 'COMMAND TID [CPU] TIME: ADDRESS ... insn: BYTES', as 'perf script "
                        "--insn-trace' prints it"));
    const auto taken = std::visit([&](const auto& l) { return importer.take(l); }, *line);
    if (!taken.ok()) return Failure(taken.error());
  }
  if (maker.instructions() == 0)
    return Failure(Error(fmt::format("{}: no instruction in it", options.input)));
  if (const auto finished = maker.finish(0); !finished.ok()) return Failure(finished.error());
  const auto written = writer->finish();
  if (!written.ok()) return Failure(written.error());
  return Conversion{written->instructions, written->file_bytes, remarks_on(importer, maker)};
}

}  // namespace pmusim::formats
