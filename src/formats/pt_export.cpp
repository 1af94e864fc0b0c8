// SPDX-License-Identifier: MIT
#include "formats/pt_export.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <filesystem>
#include <map>
#include <set>

#include "formats/pt_file.h"
#include "formats/pt_thread.h"
#include "perf/records.h"
#include "perfdata/writer.h"
#include "pmusim/trace/trace.h"

namespace pmusim::formats {
namespace {

using Outcome = Result<Done, Error>;

constexpr u32 pt_pmu_type = 8;  // what most machines have; the file names it
constexpr u64 event_id = 1;
constexpr u64 ticks_per_instruction = 2;
constexpr std::size_t piece_bytes = 1 << 20;
constexpr u16 max_name_bytes = 4096;  // a path of Linux

perf::Event pt_event(PtThread::Clock clock) {
  perf::Event event;
  event.id = event_id;
  event.attr.type = pt_pmu_type;
  event.attr.config =
      pt_config::TRACE | pt_config::BRANCH | pt_config::TSC | pt_config::NO_RETURN_COMPRESSION;
  if (clock == PtThread::Clock::cycles) event.attr.config |= pt_config::CYC;
  event.attr.sample_period = 1;
  event.attr.sample_type = perf::sample::IP | perf::sample::TID | perf::sample::TIME | perf::sample::CPU |
                           perf::sample::IDENTIFIER;
  event.attr.read_format = perf::read_format::ID;
  event.attr.exclude_kernel = event.attr.exclude_hv = event.attr.sample_id_all = 1;
  event.attr.mmap = event.attr.mmap2 = event.attr.comm = event.attr.comm_exec = event.attr.task = 1;
  return event;
}

perfdata::Options file_options() {
  perfdata::Options options;
  options.metadata = {.host_name = "pmusim",
                      .cpu_description = "pmusim",
                      .cpuid = "GenuineIntel,6,143,8",
                      .command_line = {"pmusim", "trace", "export", "-f", "pt"},
                      .pmu_mappings = {{pt_pmu_type, "intel_pt"}}};
  return options;
}

/// Puts runs and side-band records of a trace into the file, in their order.
class PtExporter {
 public:
  PtExporter(perfdata::Writer& writer, PtThread::Clock clock)
      : writer_(writer), clock_(clock), event_(pt_event(clock)) {}

  Outcome start() {
    if (auto added = writer_.add_event(event_.attr, "intel_pt//u", {&event_id, 1}); !added) return added;
    PtInfo info;
    info.pmu_type = pt_pmu_type;
    if (clock_ == PtThread::Clock::cycles) info.max_nonturbo_ratio = nominal_core_bus_ratio;
    return write_user_record(perfdata::UserRecord::auxtrace_info, info);
  }

  Outcome take(const trace::BlockRun& run) {
    Stream& stream = stream_of(current_);
    const bool stayed = &stream == last_ran_;
    stream.thread.run(run, time_, stayed ? PtThread::Before::itself : PtThread::Before::another);
    last_ran_ = &stream;
    time_ += run.cycles.value_or(ticks_per_instruction * run.block->instructions.size());
    return stream.thread.size() < piece_bytes ? Done{} : write_piece(stream);
  }
  Outcome take(const trace::SideBandRecord& record) {
    ++time_;
    return std::visit([&](const auto& h) { return add_side_band(h); }, record);
  }

  Outcome finish() {
    for (auto& [thread, stream] : streams_) {
      stream.thread.stop();
      if (auto written = write_piece(stream); !written) return written;
    }
    return Done{};
  }

 private:
  struct Stream {
    explicit Stream(PtThread::Clock clock) : thread(clock) {}
    PtThread thread;
    u32 index = 0, pid = 0, tid = 0;
    u64 offset = 0;
  };

  Outcome add_side_band(const trace::ProcessStart& h) {
    return write(
        perf::CommRecord{
            .pid = h.pid, .tid = h.tid, .name = h.command, .misc = h.exec ? perf::misc::COMM_EXEC : u16{0}},
        h.pid, h.tid);
  }
  Outcome add_side_band(const trace::ThreadName& h) {
    return write(perf::CommRecord{.pid = h.pid, .tid = h.tid, .name = h.name}, h.pid, h.tid);
  }
  Outcome add_side_band(const trace::ThreadStart& h) {
    return write(perf::TaskRecord{.pid = h.pid,
                                  .parent_pid = h.parent_pid,
                                  .tid = h.tid,
                                  .parent_tid = h.parent_tid,
                                  .time = time_},
                 h.parent_pid, h.parent_tid);
  }
  Outcome add_side_band(const trace::ThreadExit& h) {
    return write(perf::TaskRecord{.type = perf::RecordType::exit,
                                  .pid = h.pid,
                                  .parent_pid = h.pid,
                                  .tid = h.tid,
                                  .parent_tid = h.tid,
                                  .time = time_},
                 h.pid, h.tid);
  }
  Outcome add_side_band(const trace::ThreadSwitch& h) {
    current_ = {h.pid, h.tid};
    return Done{};
  }
  Outcome add_side_band(const trace::Map& h) {
    const trace::Mapping& m = h.mapping;
    if ((m.protection & PROT_EXEC) == 0) return Done{};
    if (!m.build_id.empty() && identified_.insert(m.path).second)
      writer_.add_build_id(m.path, std::as_bytes(std::span(m.build_id)));
    return write(perf::Mmap2Record{.pid = h.pid,
                                   .tid = h.pid,
                                   .address = m.start,
                                   .length = m.bytes,
                                   .page_offset = m.file_offset,
                                   .protection = m.protection,
                                   .flags = m.flags,
                                   .name = std::string_view(m.path).substr(0, max_name_bytes)},
                 h.pid, h.pid);
  }
  template <class Other>
  Outcome add_side_band(const Other&) {
    return Done{};
  }

  Stream& stream_of(std::pair<u32, u32> thread) {
    const auto [entry, is_new] = streams_.try_emplace(thread, clock_);
    if (is_new) {
      entry->second.index = static_cast<u32>(streams_.size() - 1);
      std::tie(entry->second.pid, entry->second.tid) = thread;
    }
    return entry->second;
  }

  // The area's record says where the bytes belong; AUX is the kernel's word that they are there.
  Outcome write_piece(Stream& stream) {
    const std::vector<std::byte> bytes = stream.thread.take_words();
    const perfdata::AuxArea area{
        .offset = stream.offset, .reference = time_, .index = stream.index, .tid = stream.tid};
    if (auto written = write(perf::AuxRecord{stream.offset, bytes.size(), 0}, stream.pid, stream.tid);
        !written)
      return written;
    stream.offset += bytes.size();
    return writer_.write_aux(area, bytes);
  }

  template <class Record>
  Outcome write(const Record& record, u32 pid, u32 tid) {
    return writer_.write(perf::encode_record(record, event_, {pid, tid, 0, time_}));
  }
  template <class Content>
  Outcome write_user_record(perfdata::UserRecord type, const Content& content) {
    struct {
      perf::RecordHeader header;
      Content content;
    } record{{static_cast<u32>(type), 0, sizeof record}, content};
    return writer_.write(std::as_bytes(std::span(&record, 1)));
  }

  perfdata::Writer& writer_;
  PtThread::Clock clock_;
  perf::Event event_;
  std::map<std::pair<u32, u32>, Stream> streams_;  // by process and thread
  std::pair<u32, u32> current_;
  const Stream* last_ran_ = nullptr;
  std::set<std::string> identified_;  // files whose build id the writer has
  u64 time_ = 1;                      // ns, and the TSC
};

std::vector<std::string> remarks_on(const trace::Contents& contents) {
  std::vector<std::string> remarks{fmt::format(
      "the file has no addresses of accesses, registers, system calls' numbers and iterations of string "
      "instructions; its times are {}; decoders read the code from the program's "
      "files",
      contents.timing ? "the trace's cycles" : "ordinals of instructions")};
  if (contents.stand_in_code)
    remarks.emplace_back("the code bytes are not the program's: its files do not fit the packets");
  return remarks;
}

}  // namespace

Result<Conversion, Error> export_pt(const ExportOptions& options) {
  auto reader = trace::Reader::open(options.input);
  if (!reader) return Failure(reader.error());
  auto writer = perfdata::Writer::create(options.output, file_options());
  if (!writer) return Failure(writer.error());
  PtExporter exporter(*writer, reader->contents().timing ? PtThread::Clock::cycles : PtThread::Clock::stamps);
  if (auto started = exporter.start(); !started) return Failure(started.error());
  for (;;) {
    const auto item = reader->next();
    if (!item) return Failure(item.error());
    if (!item->has_value()) break;
    const auto taken = std::visit([&](const auto& each) { return exporter.take(each); }, **item);
    if (!taken) return Failure(taken.error());
  }
  if (auto finished = exporter.finish(); !finished) return Failure(finished.error());
  if (auto finished = writer->finish(); !finished) return Failure(finished.error());
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(options.output, unknown);
  return Conversion{reader->instruction_count(), unknown ? writer->record_bytes() : bytes,
                    remarks_on(reader->contents())};
}

}  // namespace pmusim::formats
