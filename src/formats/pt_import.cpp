// SPDX-License-Identifier: MIT
#include "formats/pt_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/printable.h"
#include "formats/pt_code.h"
#include "formats/pt_source.h"
#include "formats/pt_timing.h"
#include "formats/remarks.h"

namespace pmusim::formats {
namespace {

using Outcome = Result<Done, Error>;

constexpr std::size_t max_pt_threads = 16384;

/// Puts what the streams say into a trace, in the order of their time stamps.
class PtImporter {
 public:
  PtImporter(const PtSource& source, PtCode& code, TraceMaker& maker)
      : source_(source), code_(code), maker_(maker), timing_(maker, source.machine.nominal_ratio) {}

  Outcome run(u64 max_instructions) {
    if (auto opened = open_streams(); !opened) return opened;
    if (!source_.timed)
      if (auto added = tell_until(~u64{0}); !added) return added;
    while (!order_.empty() && goes_on(max_instructions)) {
      const auto [time, number] = *order_.begin();
      if (auto added = tell_until(time); !added) return added;
      if (auto taken = take_piece(streams_[number], max_instructions); !taken) return taken;
      order_.erase(order_.begin());
      if (!streams_[number].ended) order_.emplace(streams_[number].time, number);
    }
    if (auto finished = maker_.finish(0); !finished) return finished;
    return order_.empty() ? tell_until(~u64{0}) : Done{};
  }

  u64 estimated() const { return timing_.estimated(); }
  u64 gaps = 0, kernel_instructions = 0, unknown_pieces = 0;

 private:
  struct Stream {
    const PtStream& source;
    PtDecoder decoder;
    u64 time = 0;  // ns, at which its next piece begins
    PtTime begun;
    bool ended = false;
  };

  Outcome open_streams() {
    for (const PtStream& stream : source_.streams) {
      auto decoder = PtDecoder::create(stream.packets, source_.machine, code_);
      if (!decoder) return Failure(decoder.error());
      streams_.push_back({stream, *std::move(decoder)});
      order_.emplace(0, streams_.size() - 1);
    }
    return Done{};
  }

  bool goes_on(u64 max_instructions) const {
    return max_instructions == 0 || maker_.instructions() + timing_.waiting() < max_instructions;
  }

  /// What executed up to where the stream begins anew.
  Outcome take_piece(Stream& stream, u64 max_instructions) {
    const auto thread = thread_of(stream);
    stream.decoder.set_process(thread ? thread->pid : 0);
    timing_.begin(stream.begun);
    bool executed = false;
    while (goes_on(max_instructions)) {
      const PtItem item = stream.decoder.next();
      if (item.kind == PtItem::Kind::end) stream.ended = true;
      if (item.kind == PtItem::Kind::begin && item.time.tsc != 0)
        stream.time = source_.time_of(item.time.tsc);
      const bool ends = item.kind == PtItem::Kind::end || item.kind == PtItem::Kind::begin;
      if (ends) return thread ? end_piece(stream, *thread, item) : Done{};
      if (!std::exchange(executed, true)) {
        if (!thread) ++unknown_pieces;
        if (auto known = thread ? know(*thread) : Done{}; !known) return known;
      }
      if (thread)
        if (auto taken = take(*thread, item); !taken) return taken;
    }
    return thread ? timing_.stop(*thread, {}) : Done{};
  }

  /// The last instruction retires before what happens next. Of a CPU, another thread may begin at `ip`.
  Outcome end_piece(Stream& stream, TraceMaker::Thread thread, const PtItem& item) {
    if (auto stopped = timing_.stop(thread, {}); !stopped) return stopped;
    stream.begun = item.time;
    return stream.source.cpu < 0 && item.ip != 0 ? maker_.interrupt(thread, item.ip)
                                                 : maker_.interrupt(thread);
  }

  Outcome take(TraceMaker::Thread thread, const PtItem& item) {
    if (item.kind != PtItem::Kind::instruction) return take_stop(thread, item);
    if (!is_code_address(item.ip)) return take_kernel_code(thread, item);
    return source_.machine.clocked ? timing_.retire(thread, item)
                                   : maker_.retire(thread, item.ip, item.code, {}, 1);
  }
  Outcome take_kernel_code(TraceMaker::Thread thread, const PtItem& item) {
    ++kernel_instructions;
    auto stopped = timing_.stop(thread, {});
    timing_.begin(item.time);
    return stopped;
  }
  Outcome take_stop(TraceMaker::Thread thread, const PtItem& item) {
    const bool lost = item.kind == PtItem::Kind::lost;
    if (auto stopped = timing_.stop(thread, lost ? PtTime{} : item.time); !stopped) return stopped;
    timing_.begin(item.time);
    if (lost) ++gaps;
    if (item.kind == PtItem::Kind::paused) return Done{};
    return lost ? maker_.interrupt(thread) : maker_.interrupt(thread, item.ip);
  }

  std::optional<TraceMaker::Thread> thread_of(const Stream& stream) const {
    if (stream.source.cpu < 0) {
      const auto process = source_.process_of.find(stream.source.tid);
      return TraceMaker::Thread{process == source_.process_of.end() ? stream.source.tid : process->second,
                                stream.source.tid};
    }
    const auto cpu = source_.on_cpu.find(stream.source.cpu);
    if (cpu == source_.on_cpu.end()) return std::nullopt;
    const auto behind = cpu->second.upper_bound(stream.time);
    return behind == cpu->second.begin() ? std::nullopt : std::optional(std::prev(behind)->second);
  }

  Outcome tell_until(u64 time) {
    for (; emitted_ < source_.side_band.size() && source_.side_band[emitted_].time <= time; ++emitted_)
      if (auto added =
              std::visit([&](const auto& h) { return tell(h); }, source_.side_band[emitted_].content);
          !added)
        return added;
    return Done{};
  }
  Outcome tell(const trace::ProcessStart& start) {
    if (!start.exec && processes_.contains(start.pid)) return Done{};  // another name
    if (start.exec) code_.forget(start.pid);
    processes_.insert(start.pid);
    threads_.insert({start.pid, start.tid});
    return maker_.add_side_band(start);
  }
  Outcome tell(const trace::ThreadStart& start) {
    if (auto known = know({start.parent_pid, start.parent_tid}); !known) return known;
    if (start.pid != start.parent_pid) code_.fork(start.parent_pid, start.pid);
    processes_.insert(start.pid);
    return threads_.insert({start.pid, start.tid}).second ? maker_.add_side_band(start) : Done{};
  }
  Outcome tell(const trace::ThreadExit& exit) {
    return threads_.erase({exit.pid, exit.tid}) == 0 ? Done{} : maker_.add_side_band(exit);
  }
  Outcome tell(const trace::Map& map) {
    if (auto known = know({map.pid, map.pid}); !known) return known;
    code_.map(map.pid, map.mapping);
    return maker_.add_side_band(map);
  }
  template <class Other>
  Outcome tell(const Other&) {
    return Done{};
  }

  /// Adds a process and a thread that no record named.
  Outcome know(TraceMaker::Thread thread) {
    if (!threads_.insert(thread).second) return Done{};
    if (threads_.size() > max_pt_threads)
      return Failure(Error(fmt::format("more than {} threads", max_pt_threads)));
    if (processes_.insert(thread.pid).second)
      return maker_.add_side_band(trace::ProcessStart{thread.pid, thread.tid, "", true});
    return maker_.add_side_band(trace::ThreadStart{thread.pid, thread.tid, thread.pid, thread.pid});
  }

  const PtSource& source_;
  PtCode& code_;
  TraceMaker& maker_;
  PtTiming timing_;
  std::vector<Stream> streams_;
  std::set<std::pair<u64, std::size_t>> order_;  // of streams that have not ended: time and number
  std::size_t emitted_ = 0;                      // of the side-band
  std::set<u32> processes_;
  std::set<TraceMaker::Thread> threads_;
};

std::string_view remark_on_time(const PtSource& source) {
  return source.machine.clocked
             ? "cycles are those of its time packets: what a cycle was lost to is not known"
             : "its time packets order threads, cycles are the core model's";
}

std::vector<std::string> import_remarks(const PtSource& source, const PtImporter& importer,
                                        const TraceMaker& maker, const PtCode& code) {
  std::vector<std::string> remarks{fmt::format(
      "Intel PT has no addresses of accesses and no system calls' numbers; {}", remark_on_time(source))};
  add_count(remarks, maker.repeats(), "string instructions with REP are taken to have had one iteration");
  add_count(remarks, importer.estimated(),
            "instructions without a time packet behind them took as long as the others on average");
  add_count(remarks, importer.kernel_instructions, "instructions of the kernel were left out");
  add_count(remarks, importer.gaps, "gaps where packets were lost or code is not known");
  add_count(remarks, importer.unknown_pieces, "pieces of streams of CPUs on which no record says who ran");
  for (const std::string& path : code.missing())
    remarks.push_back(
        fmt::format("no code of {}: not there, or not the file that was traced", printable(path)));
  remarks.insert(remarks.end(), source.missing.begin(), source.missing.end());
  return remarks;
}

}  // namespace

Result<Conversion, Error> import_pt(const ImportOptions& options) {
  const auto source = PtSource::read(options.input);
  if (!source) return Failure(source.error());
  auto recorded =
      options.code.empty() ? Result<RecordedCode, Error>(RecordedCode()) : RecordedCode::read(options.code);
  if (!recorded) return Failure(recorded.error());
  auto writer =
      trace::Writer::create(options.output, {.timing = source->machine.clocked}, trace::Unfinished::dropped);
  if (!writer) return Failure(writer.error());
  PtCode code(*std::move(recorded));
  TraceMaker maker(*writer);
  PtImporter importer(*source, code, maker);
  if (auto done = importer.run(options.max_instructions); !done) return Failure(done.error());
  if (maker.instructions() == 0)
    return Failure(
        Error(fmt::format("{}: no instruction in it; code comes from the files that it names, or from "
                          "a trace given with --code{}",
                          options.input, joined_behind_colon(source->missing))));
  const auto written = writer->finish();
  if (!written) return Failure(written.error());
  return Conversion{written->instructions, written->file_bytes,
                    import_remarks(*source, importer, maker, code)};
}

}  // namespace pmusim::formats
