// SPDX-License-Identifier: MIT
#include "formats/pt_source.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "formats/pt_file.h"
#include "formats/remarks.h"
#include "formats/step.h"
#include "perfdata/file_format.h"
#include "perfdata/sample_parser.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::formats {
namespace {

using Outcome = Result<Done, Error>;
using perf::RecordType;
using perfdata::RecordView;
using perfdata::UserRecord;

constexpr std::size_t max_streams = 16384;

/// The front of a structure, as much as the bytes have.
template <class T>
T front_of(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

class SourceReader {
 public:
  SourceReader(std::string path, perfdata::Reader reader)
      : path_(std::move(path)), reader_(std::move(reader)) {}

  Result<PtSource, Error> read() {
    for (;;) {
      const auto record = reader_.next();
      if (!record) return Failure(record.error());
      if (!*record) break;
      if (auto taken = take(**record); !taken) return Failure(taken.error());
    }
    source_.missing = missing();
    if (!info_)
      return Failure(Error(fmt::format("{}: no Intel PT in it (no AUXTRACE_INFO record){}", path_,
                                       joined_behind_colon(source_.missing))));
    describe();
    std::ranges::stable_sort(source_.side_band, {}, &PtSideBand::time);
    return std::move(source_);
  }

 private:
  Outcome take(const RecordView& record) {
    if (record.header.type == static_cast<u32>(UserRecord::auxtrace_info)) return take_info(record);
    if (record.header.type == static_cast<u32>(UserRecord::auxtrace)) return take_packets(record);
    switch (static_cast<RecordType>(record.header.type)) {
      case RecordType::mmap:
      case RecordType::mmap2:
        return take_mapping(record);
      case RecordType::comm:
        return take_command(record);
      case RecordType::fork:
      case RecordType::exit:
        return take_task(record);
      case RecordType::itrace_start:
        return take_start(record);
      case RecordType::aux:
        return take_aux(record);
      case RecordType::lost:
        lost_records_ += front_of<LostRecord>(record.bytes.subspan(sizeof record.header)).records;
        return Done{};
      case RecordType::switch_:
      case RecordType::switch_cpu_wide:
        return take_switch(record);
      default:
        return Done{};
    }
  }

  Outcome take_info(const RecordView& record) {
    const auto payload = record.bytes.subspan(sizeof record.header);
    if (payload.size() < pt_info_least_bytes)
      return broken(record, "an AUXTRACE_INFO record that ends early");
    info_ = front_of<PtInfo>(payload);
    if (info_->type != PtInfo::intel_pt)
      return broken(record, fmt::format("AUX data of kind {}; expected 1, Intel PT", info_->type));
    if (info_->time_shift >= 64) return broken(record, fmt::format("a time shift of {}", info_->time_shift));
    return Done{};
  }

  // Pieces of a stream follow each other; where one does not, something in between is missing.
  Outcome take_packets(const RecordView& record) {
    const auto area = front_of<perfdata::AuxArea>(record.bytes.subspan(sizeof record.header));
    const auto known = newest_.find(area.index);
    const bool goes_on = known != newest_.end() && known->second.end == area.offset;
    if (known != newest_.end() && !goes_on) ++jumps_;
    if (!goes_on && source_.streams.size() == max_streams)
      return broken(record, fmt::format("more than {} streams", max_streams));
    if (!goes_on) source_.streams.push_back({area.index, area.cpu, area.tid, {}});
    const std::size_t number = goes_on ? known->second.stream : source_.streams.size() - 1;
    newest_[area.index] = {number, area.offset + record.aux.size()};
    auto& packets = source_.streams[number].packets;
    packets.insert(packets.end(), record.aux.begin(), record.aux.end());
    return Done{};
  }

  Outcome take_aux(const RecordView& record) {
    const auto aux = front_of<AuxRecord>(record.bytes.subspan(sizeof record.header));
    if ((aux.flags & (AuxRecord::TRUNCATED | AuxRecord::PARTIAL)) != 0) ++lost_packets_;
    return Done{};
  }

  Outcome take_mapping(const RecordView& record) {
    const auto parsed = perfdata::parse_mmap(record);
    if (!parsed) return broken(record, parsed.error().message);
    if ((parsed->protection & PROT_EXEC) == 0 || !is_code_address(parsed->address) || parsed->length == 0 ||
        parsed->length > code_end - parsed->address)
      return Done{};
    trace::Mapping mapping{parsed->address,
                           parsed->length,
                           parsed->page_offset,
                           parsed->protection,
                           parsed->flags,
                           parsed->name,
                           {}};
    for (const std::byte b : parsed->build_id) mapping.build_id.push_back(std::to_integer<u8>(b));
    know(parsed->pid, parsed->tid);
    tell(record, trace::Map{parsed->pid, std::move(mapping)});
    return Done{};
  }
  Outcome take_command(const RecordView& record) {
    const auto parsed = perfdata::parse_comm(record);
    if (!parsed) return broken(record, parsed.error().message);
    const bool exec = (record.header.misc & perf::misc::COMM_EXEC) != 0;
    know(parsed->pid, parsed->tid);
    tell(record, trace::ProcessStart{parsed->pid, parsed->tid, parsed->name, exec});
    return Done{};
  }
  Outcome take_task(const RecordView& record) {
    const auto parsed = perfdata::parse_task(record);
    if (!parsed) return broken(record, parsed.error().message);
    know(parsed->pid, parsed->tid);
    if (record.header.type == static_cast<u32>(RecordType::exit))
      tell(record, trace::ThreadExit{parsed->pid, parsed->tid, 0});
    else
      tell(record, trace::ThreadStart{parsed->pid, parsed->tid, parsed->parent_pid, parsed->parent_tid});
    return Done{};
  }
  Outcome take_start(const RecordView& record) {
    struct Payload {
      u32 pid = 0, tid = 0;
    };
    const auto thread = front_of<Payload>(record.bytes.subspan(sizeof record.header));
    know(thread.pid, thread.tid);
    return on_cpu(record, {thread.pid, thread.tid});
  }
  Outcome take_switch(const RecordView& record) {
    if ((record.header.misc & perf::misc::SWITCH_OUT) != 0) return Done{};
    const perfdata::SampleId who = id_of(record);
    know(who.pid, who.tid);
    return on_cpu(record, {who.pid, who.tid});
  }
  Outcome on_cpu(const RecordView& record, TraceMaker::Thread thread) {
    source_.on_cpu[std::bit_cast<i32>(id_of(record).cpu)][time_of(record)] = thread;
    return Done{};
  }

  void know(u32 pid, u32 tid) { source_.process_of[tid] = pid; }
  void tell(const RecordView& record, trace::SideBandRecord content) {
    source_.side_band.push_back({time_of(record), std::move(content)});
  }
  perfdata::SampleId id_of(const RecordView& record) const {
    const auto* event = reader_.event_of(record);
    return event == nullptr ? perfdata::SampleId{} : perfdata::parse_sample_id(record, event->attr);
  }
  u64 time_of(const RecordView& record) const {
    const u64 time = id_of(record).time;
    return time == perfdata::absent ? 0 : time;
  }

  std::vector<std::string> missing() const {
    std::vector<std::string> sentences = reader_.warnings();
    add_count(sentences, lost_packets_,
              "AUX records say that packets were lost (a larger buffer: perf record -m,SIZE)");
    add_count(sentences, jumps_, "pieces of AUX data do not follow the one before");
    add_count(sentences, lost_records_, "records were lost: threads, mappings or switches may be missing");
    return sentences;
  }

  /// What is known when everything is read.
  void describe() {
    source_.time_shift = info_->time_shift;
    source_.time_multiplier = info_->time_multiplier;
    source_.time_zero = info_->time_zero;
    source_.machine.tsc_ctc_numerator = static_cast<u32>(info_->tsc_ctc_numerator);
    source_.machine.tsc_ctc_denominator = static_cast<u32>(info_->tsc_ctc_denominator);
    if (info_->max_nonturbo_ratio <= low_bits(8))
      source_.machine.nominal_ratio = static_cast<u8>(info_->max_nonturbo_ratio);
    for (const auto& event : reader_.events())
      if (event.attr.type == info_->pmu_type) describe(event.attr);
    describe_cpu(reader_.metadata().cpuid);
    std::map<std::string, std::vector<std::byte>> build_ids;
    for (const auto& [path, id, space] : reader_.build_ids()) build_ids[path] = id;
    for (PtSideBand& each : source_.side_band)
      if (auto* map = std::get_if<trace::Map>(&each.content); map != nullptr && map->mapping.build_id.empty())
        for (const std::byte b : build_ids[map->mapping.path])
          map->mapping.build_id.push_back(std::to_integer<u8>(b));
  }
  /// "GenuineIntel,FAMILY,MODEL,STEPPING"; what says something else is a CPU without errata.
  void describe_cpu(std::string_view cpuid) {
    std::array<u8, 3> numbers{};
    for (u8& number : numbers) {
      cpuid.remove_prefix(std::min(cpuid.find(',') + 1, cpuid.size()));
      if (std::from_chars(cpuid.data(), cpuid.data() + cpuid.size(), number).ec != std::errc()) return;
    }
    source_.machine.family = numbers[0];
    source_.machine.model = numbers[1];
    source_.machine.stepping = numbers[2];
  }
  void describe(const perf::Attr& attr) {
    source_.timed =
        source_.timed || ((attr.config & info_->tsc_bit) != 0 &&
                          (attr.sample_type & perf::sample::TIME) != 0 && attr.sample_id_all != 0);
    source_.machine.clocked = source_.machine.clocked || (source_.timed && has_clock_packets(attr));
    if (info_->mtc_frequency_bits != 0)
      source_.machine.mtc_frequency = static_cast<u8>((attr.config & info_->mtc_frequency_bits) >>
                                                      std::countr_zero(info_->mtc_frequency_bits));
  }

  bool has_clock_packets(const perf::Attr& attr) const {
    const bool knows_crystal = info_->tsc_ctc_numerator != 0 && info_->tsc_ctc_denominator != 0;
    return (attr.config & info_->cyc_bit) != 0 || ((attr.config & info_->mtc_bit) != 0 && knows_crystal);
  }

  Failure<Error> broken(const RecordView& record, std::string_view what) const {
    return Failure(Error(fmt::format("{}: damaged at offset {}: {}", path_, record.offset, what)));
  }

  struct Newest {
    std::size_t stream = 0;
    u64 end = 0;  // offset behind its last piece
  };
  std::string path_;
  perfdata::Reader reader_;
  PtSource source_;
  std::optional<PtInfo> info_;
  std::map<u32, Newest> newest_;  // by index
  u64 lost_packets_ = 0, jumps_ = 0, lost_records_ = 0;
};

}  // namespace

u64 PtSource::time_of(u64 tsc) const {
  const u64 whole = tsc >> time_shift, rest = tsc & low_bits(static_cast<unsigned>(time_shift));
  return time_zero + whole * time_multiplier + (rest * time_multiplier >> time_shift);
}

Result<PtSource, Error> PtSource::read(const std::string& path) {
  auto reader = perfdata::Reader::open(path);
  if (!reader) return Failure(reader.error());
  return SourceReader(path, *std::move(reader)).read();
}

}  // namespace pmusim::formats
