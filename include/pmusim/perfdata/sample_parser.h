#ifndef PMUSIM_PERFDATA_SAMPLE_PARSER_H
#define PMUSIM_PERFDATA_SAMPLE_PARSER_H

#include <optional>
#include <string>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/perf/simd_abi.h"
#include "pmusim/perfdata/reader.h"

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

/// Whether branch stacks have a block of counter words is a matter of the group, not of the event.
enum class BranchCounters : u8 { none, one_word_each };

/// What a sample's layout depends on beside its event's attribute.
struct SampleForm {
  BranchCounters counters = BranchCounters::none;
  /// Nothing: the form in which the fields fill the record.
  std::optional<perf::SimdAbi> simd = std::nullopt;
};

/// Errors: the record is no sample, or ends within a field.
Result<SampleRecord, Error> parse_sample(const RecordView& record, const perf::Attr& attr,
                                         SampleForm form = {});

/// The trailer of a record that is no sample; defaults where the attribute has none.
SampleId parse_sample_id(const RecordView& record, const perf::Attr& attr);

/// The event id of a record, where the attribute puts one.
std::optional<u64> find_id(const RecordView& record, const perf::Attr& attr);

/// The time of a record, where the attribute puts one.
std::optional<u64> find_time(const RecordView& record, const perf::Attr& attr);

/// MMAP and MMAP2.
struct MmapRecordView {
  u32 pid = 0, tid = 0;
  u64 address = 0, length = 0, page_offset = 0;
  u32 protection = 5, flags = 2;
  std::vector<std::byte> build_id;
  std::string name;
};
Result<MmapRecordView, Error> parse_mmap(const RecordView& record);

struct CommRecordView {
  u32 pid = 0, tid = 0;
  std::string name;
};
Result<CommRecordView, Error> parse_comm(const RecordView& record);

/// FORK and EXIT.
struct TaskRecordView {
  u32 pid = 0, parent_pid = 0, tid = 0, parent_tid = 0;
  u64 time = 0;
};
Result<TaskRecordView, Error> parse_task(const RecordView& record);

}  // namespace pmusim::perfdata

#endif
