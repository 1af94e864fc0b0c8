// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERFDATA_SAMPLES_H
#define PMUSIM_PERFDATA_SAMPLES_H

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/perfdata/reader.h"

/// The samples of a perf.data file, taken apart and in the order of their times:
/// @code
/// auto samples = perfdata::SampleReader::open("perf.data");
/// while (const auto next = samples->next()) {
///   if (!next->has_value()) break;
///   const perfdata::SampleRecord& sample = (*next)->sample;
///   std::cout << samples->processes().command_of(sample.who.tid) << ' ' << sample.ip << '\n';
/// }
/// @endcode
namespace pmusim::perfdata {

inline constexpr u64 absent = ~u64{0};
inline constexpr u32 absent_32 = ~u32{0};

/// One entry of SAMPLE_READ.
struct ReadValue {
  u64 value = 0, id = 0, lost = 0;
};

/// The ids of a record: of a sample, or of the trailer of any other record.
struct SampleId {
  u32 pid = absent_32, tid = absent_32, cpu = absent_32;
  u64 time = absent, id = absent, stream_id = absent;
};

/// The registers of one side of a sample; empty where `abi` is 0.
struct RegisterBlock {
  u64 abi = 0;
  std::vector<u64> values;   ///< in the order of the bits of the mask
  u16 vector_qwords = 0;     ///< words per vector register
  u16 predicate_qwords = 0;  ///< words per predicate register
  std::vector<u64> vectors;  ///< low word first, in the order of the bits of the mask
  std::vector<u64> predicates;
};

/// A PERF_RECORD_SAMPLE taken apart. Fields that the event does not sample have perf's defaults.
struct SampleRecord {
  SampleId who;
  u16 misc = 0;
  u64 ip = 0, address = 0, period = 0;
  u64 time_enabled = 0, time_running = 0;
  std::vector<ReadValue> read;
  std::vector<u64> callchain;
  std::vector<std::byte> raw;
  std::vector<perf::BranchEntry> branches;  ///< newest first
  u64 branch_hw_index = absent;
  std::vector<u64> branch_counters;
  RegisterBlock user_registers, interrupt_registers;
  std::vector<std::byte> user_stack;  ///< the valid part
  u64 weight = 0, data_source = 0, transaction = 0, physical_address = 0, cgroup = 0;
  u64 data_page_size = 0, code_page_size = 0;
};

/// A register of a sample under perf's name for it.
struct NamedRegister {
  std::string name;        ///< "AX", "R16", "SSP", "XMM0" (each half, without SIMD sampling), "ZMM31", "K7"
  std::vector<u64> words;  ///< low word first
  friend bool operator==(const NamedRegister&, const NamedRegister&) = default;
};

/// The registers of sample_regs_*, one word each, in the order of their numbers.
std::vector<NamedRegister> general_registers(const RegisterBlock& block, const perf::Attr& attr,
                                             perf::RegisterSide side);

/// Vector registers, then predicate registers, as SIMD sampling gives them.
std::vector<NamedRegister> simd_registers(const RegisterBlock& block, const perf::Attr& attr,
                                          perf::RegisterSide side);

struct MmapRecordView;
struct CommRecordView;
struct TaskRecordView;

/// What the side-band records of a file say of threads and mappings, up to some moment.
class Processes {
 public:
  /// What is mapped where, and from which place of its file.
  struct Mapping {
    u64 start = 0, end = 0, page_offset = 0;  ///< [start, end)
    std::string name;
  };

  /// A record of any type: those that say nothing of threads or mappings, or do not parse, are left out.
  void take(const RecordView& record);
  /// Name of the thread; ":-1" without one, ":TID" for one that was never named, as perf says it.
  std::string command_of(u32 tid) const;
  /// The mapping of a process that an address is in; nullptr if there is none.
  const Mapping* mapping_at(u32 pid, u64 address) const;

 private:
  void map(const MmapRecordView& mapping);
  void name(const CommRecordView& command, bool exec);
  void fork(const TaskRecordView& task);

  std::map<u32, std::string> commands_;
  std::map<u32, std::map<u64, Mapping>> mappings_;  // by process and start
};

/// A sample with the event that it is of.
struct EventSample {
  const EventDescription& event;  ///< of the file; valid as long as the reader
  SampleRecord sample;
  u64 offset = 0;  ///< in the file
};

/// The samples of a perf.data file in the order of their times, as perf shows them, with what ran then.
/// Records that have the same time stay in file order. A sample with counts (READ, as the leader of {a,b}:S
/// has them) is one of each event that has counted since the sample before, with that for a period. Memory
/// grows with what a file holds between two FINISHED_ROUND records.
class SampleReader {
 public:
  /// Errors: those of Reader.
  static Result<SampleReader, Error> open(const std::filesystem::path& path);
  explicit SampleReader(Reader file);
  SampleReader(SampleReader&&) noexcept;
  SampleReader& operator=(SampleReader&&) noexcept;
  ~SampleReader();

  const Reader& file() const;
  /// What was left out, those of the file and samples of no event of it: sentences without the file's name.
  /// Complete after the last sample.
  std::vector<std::string> warnings() const;
  /// As of the latest sample.
  const Processes& processes() const;
  /// The next sample of an event of the file; nothing after the last. Errors: the file is broken, a sample
  /// ends within a field.
  Result<std::optional<EventSample>, Error> next();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace pmusim::perfdata

#endif
