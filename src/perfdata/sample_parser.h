// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_SAMPLE_PARSER_H
#define PMUSIM_SRC_PERFDATA_SAMPLE_PARSER_H

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perf/simd_abi.h"
#include "pmusim/base/types.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

/// Whether branch stacks have a block of counter words is a matter of the group, not of the event.
enum class BranchCounters : u8 { none, one_word_each };

/// For each of `events`. One member of a group that asks for counters gives all branch stacks of the group
/// their words.
std::vector<BranchCounters> branch_counters(std::span<const EventDescription> events,
                                            std::span<const Group> groups);

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
