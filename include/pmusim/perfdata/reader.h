// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERFDATA_READER_H
#define PMUSIM_PERFDATA_READER_H

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/perf/abi.h"

/// Any perf.data file, ours or perf's, record by record:
/// @code
/// auto file = perfdata::Reader::open("perf.data");
/// while (auto record = file->next()) {
///   if (!record->has_value()) break;
///   const u32 type = (*record)->header.type;
/// }
/// @endcode
/// `SampleReader` takes samples apart.
namespace pmusim::perfdata {

/// Header: a seekable file with all features. Pipe: a stream of records, as `perf record -o -` writes.
enum class Form : u8 { file, pipe };

using Capabilities = std::vector<std::pair<std::string, std::string>>;

/// Where a CPU sits. Numbers of dies and cores count within their package.
struct CpuPlace {
  u32 package = 0, die = 0, core = 0;
  friend bool operator==(const CpuPlace&, const CpuPlace&) = default;
};

/// A node and its CPUs.
struct NumaNode {
  u32 number = 0;
  u64 total_kib = 0, free_kib = 0;
  std::string cpus;  ///< a list: "0-3,8"
  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

/// One cache as the CPUs `cpus` see it.
struct Cache {
  u32 level = 0, line_bytes = 0, sets = 0, ways = 0;
  std::string type, size, cpus;  ///< "Data", "48K", "0-1"
  friend bool operator==(const Cache&, const Cache&) = default;
};

/// A PMU that is not "cpu": of one kind of core of a hybrid machine, or beside the core's.
struct PmuFeature {
  std::string name, cpus;  ///< "cpu_core", "0-7"; no CPUs: those of all kinds have it ("ibs_op")
  Capabilities capabilities;
  friend bool operator==(const PmuFeature&, const PmuFeature&) = default;
};

/// The clock of `use_clockid`, and what it and the wall clock (ns since 1970) showed at one moment.
struct SampleClock {
  u32 id = 0;
  u64 resolution_ns = 1, wall_ns = 0, clock_ns = 0;
  friend bool operator==(const SampleClock&, const SampleClock&) = default;
};

/// The machine and the run. Everything is the writer's caller's: nothing is asked of the machine that writes.
/// Empty or zero: the file has no such feature.
struct Metadata {
  std::string host_name, os_release, version, arch = "x86_64", cpu_description;
  std::string cpuid;  ///< "GenuineIntel,6,143,8": vendor, family, model, stepping in decimal
  u32 cpus = 1;
  u64 total_memory_kib = 0;
  std::vector<std::string> command_line;
  std::vector<std::pair<u32, std::string>> pmu_mappings;  ///< attr.type, PMU name
  Capabilities cpu_pmu_caps;                              ///< of the PMU "cpu": {"branches", "32"}
  std::vector<PmuFeature> pmus;                           ///< on a hybrid machine instead of `cpu_pmu_caps`
  std::vector<CpuPlace> cpu_places;                       ///< none, or one for each of `cpus`
  std::vector<NumaNode> numa_nodes;
  std::vector<Cache> caches;
  std::optional<SampleClock> sample_clock;
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// An event as it was opened, its name, and the ids that its records have. Where the file has no name, it is
/// the one that perf makes of the attribute: "cycles:u", "raw 0x1c2:pp".
struct EventDescription {
  perf::Attr attr;
  std::string name;
  std::vector<u64> ids;
};

/// `members` consecutive events from `leader`, an index.
struct Group {
  std::string name;
  u32 leader = 0, members = 0;
  friend bool operator==(const Group&, const Group&) = default;
};

enum class Space : u8 { user, kernel };
/// Which build of a file was mapped; `id` has at most 20 bytes.
struct BuildId {
  std::string path;
  std::vector<std::byte> id;
  Space space = Space::user;
  friend bool operator==(const BuildId&, const BuildId&) = default;
};

/// One record of a file. `bytes` starts with the header and is valid until the next call of next().
struct RecordView {
  perf::RecordHeader header;
  std::span<const std::byte> bytes;
  u64 offset = 0;  ///< in the file; of the COMPRESSED record if it came out of one
  /// Of AUXTRACE and TRACING_DATA: the bytes behind the record, which its size does not count.
  std::span<const std::byte> aux;
};

struct Input;

/// Reads perf.data in either form, compressed or not. Any bytes may be in the file: records that do not make
/// sense are an Error with the offset, metadata that does not is left out, a file that was cut is read as far
/// as it goes, and memory stays within a few times the size of the file.
class Reader {
 public:
  /// A file, a directory of `perf record --threads` or `--kcore`, or "-", standard input.
  static Result<Reader, Error> open(const std::filesystem::path& path);
  /// The same for bytes that are already in memory; `name` is for messages.
  static Result<Reader, Error> from_memory(std::string name, std::vector<std::byte> bytes);
  /// Another reader of the same bytes, before their first record.
  Reader from_start() const;

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  Form form() const;
  /// In the pipe form: as far as the stream had it before its first other record.
  const std::vector<EventDescription>& events() const;
  const Metadata& metadata() const;
  const std::vector<Group>& groups() const;
  /// In the pipe form complete only after the last record.
  const std::vector<BuildId>& build_ids() const;
  std::optional<std::pair<u64, u64>> sample_times() const;

  /// What could not be read, or not be understood, and was left out: sentences without the file's name.
  /// Complete after the last record.
  std::vector<std::string> warnings() const;

  /// The next record in file order, decompressed; nothing after the last. Of a directory, file after file and
  /// without FINISHED_ROUND, which speaks of one file alone.
  Result<std::optional<RecordView>, Error> next();

  /// The event that a sample or the trailer of a record belongs to; nullptr if its id is unknown.
  const EventDescription* event_of(const RecordView& record) const;
  /// The event that has the id; of a file of one event that one.
  const EventDescription* event_with(u64 id) const;

 private:
  class State;
  static Result<Reader, Error> of(std::shared_ptr<const Input> input);
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pmusim::perfdata

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
