// SPDX-License-Identifier: MIT
#include "perfdata/sample_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "perf/sample_fields.h"
#include "perf/simd_abi.h"
#include "perfdata/byte_reader.h"

namespace pmusim::perfdata {

namespace sample = perf::sample;
using perf::RecordHeader;
using perf::RecordType;

namespace {

struct TwoWords {
  u32 low = 0, high = 0;
};

ByteReader payload_of(const RecordView& record) {
  return ByteReader(record.bytes.subspan(sizeof(RecordHeader)));
}

bool is_sample(const RecordView& record) {
  return record.header.type == static_cast<u32>(RecordType::sample);
}

template <class T>
Result<T, Error> whole(const RecordView& record, const ByteReader& in, T value) {
  if (in.ok()) return value;
  return Failure(Error(fmt::format("at offset {:#x}: a record of type {} and {} bytes ends within a field",
                                   record.offset, record.header.type, record.header.size)));
}

void take_read(ByteReader& in, u64 format, SampleRecord& s) {
  namespace rf = perf::read_format;
  const auto take_times = [&] {
    if (format & rf::TOTAL_TIME_ENABLED) s.time_enabled = in.take<u64>();
    if (format & rf::TOTAL_TIME_RUNNING) s.time_running = in.take<u64>();
  };
  const bool group = (format & rf::GROUP) != 0;
  const u64 entries = group ? in.take<u64>() : 1;
  if (group) take_times();
  for (u64 i = 0; i < entries && in.ok(); ++i) {
    ReadValue entry;
    entry.value = in.take<u64>();
    if (!group) take_times();
    if (format & rf::ID) entry.id = in.take<u64>();
    if (format & rf::LOST) entry.lost = in.take<u64>();
    s.read.push_back(entry);
  }
}

void take_branches(ByteReader& in, u64 branch_type, BranchCounters counters, SampleRecord& s) {
  const u64 entries = in.take<u64>();
  if (branch_type & perf::branch::HW_INDEX) s.branch_hw_index = in.take<u64>();
  s.branches = in.take_all<perf::BranchEntry>(entries);
  if (counters == BranchCounters::one_word_each && entries != 0)
    s.branch_counters = in.take_all<u64>(entries);
}

struct SimdCounts {
  u64 vectors = 0, vector_qwords = 0, predicates = 0, predicate_qwords = 0;
};

SimdCounts take_simd_counts(ByteReader& in, perf::SimdAbi simd) {
  if (simd == perf::SimdAbi::merged) return in.take<SimdCounts>();
  SimdCounts counts;
  for (u64* count : {&counts.vectors, &counts.vector_qwords, &counts.predicates, &counts.predicate_qwords})
    *count = in.take<u16>();
  return counts;
}

/// The counts and widths of the sample are followed, up to what the attribute allows.
void take_registers(ByteReader& in, const perf::Attr& attr, perf::RegisterSide side, perf::SimdAbi simd,
                    RegisterBlock& block) {
  constexpr u64 abi_simd = 4;
  const perf::RegisterMasks masks = perf::register_masks(attr, side);
  block.abi = in.take<u64>();
  if (block.abi == 0) return;
  block.values = in.take_all<u64>(static_cast<u64>(std::popcount(masks.general)));
  if ((block.abi & abi_simd) == 0) return;
  const SimdCounts counts = take_simd_counts(in, simd);
  const bool allowed = counts.vectors <= static_cast<u64>(std::popcount(masks.vectors)) &&
                       counts.vector_qwords <= attr.sample_simd_vec_reg_qwords &&
                       counts.predicates <= static_cast<u64>(std::popcount(masks.predicates)) &&
                       counts.predicate_qwords <= attr.sample_simd_pred_reg_qwords;
  if (!allowed) in.fail();
  block.vector_qwords = static_cast<u16>(counts.vector_qwords);
  block.predicate_qwords = static_cast<u16>(counts.predicate_qwords);
  block.vectors = in.take_all<u64>(counts.vectors * counts.vector_qwords);
  block.predicates = in.take_all<u64>(counts.predicates * counts.predicate_qwords);
}

void take_stack(ByteReader& in, SampleRecord& s) {
  const u64 bytes = in.take<u64>();
  if (bytes == 0) return;
  s.user_stack = in.take_all<std::byte>(bytes);
  const u64 valid = in.take<u64>();
  if (valid <= s.user_stack.size())
    s.user_stack.resize(static_cast<std::size_t>(valid));
  else
    in.fail();
}

/// What the fields of a sample depend on.
struct Layout {
  const perf::Attr& attr;
  BranchCounters counters;
  perf::SimdAbi simd;
};

// A function for each field.

using perf::FieldTag;
using perf::SampleField;

// Those of the sample_id trailer.
void take(FieldTag<SampleField::identifier>, ByteReader& in, SampleId& who) { who.id = in.take<u64>(); }
void take(FieldTag<SampleField::tid>, ByteReader& in, SampleId& who) {
  const auto ids = in.take<TwoWords>();
  who.pid = ids.low;
  who.tid = ids.high;
}
void take(FieldTag<SampleField::time>, ByteReader& in, SampleId& who) { who.time = in.take<u64>(); }
void take(FieldTag<SampleField::id>, ByteReader& in, SampleId& who) { who.id = in.take<u64>(); }
void take(FieldTag<SampleField::stream_id>, ByteReader& in, SampleId& who) { who.stream_id = in.take<u64>(); }
void take(FieldTag<SampleField::cpu>, ByteReader& in, SampleId& who) { who.cpu = in.take<TwoWords>().low; }

// The other words.
void take(FieldTag<SampleField::ip>, ByteReader& in, SampleRecord& s) { s.ip = in.take<u64>(); }
void take(FieldTag<SampleField::addr>, ByteReader& in, SampleRecord& s) { s.address = in.take<u64>(); }
void take(FieldTag<SampleField::period>, ByteReader& in, SampleRecord& s) { s.period = in.take<u64>(); }
void take(FieldTag<SampleField::weight>, ByteReader& in, SampleRecord& s) { s.weight = in.take<u64>(); }
void take(FieldTag<SampleField::data_src>, ByteReader& in, SampleRecord& s) {
  s.data_source = in.take<u64>();
}
void take(FieldTag<SampleField::transaction>, ByteReader& in, SampleRecord& s) {
  s.transaction = in.take<u64>();
}
void take(FieldTag<SampleField::phys_addr>, ByteReader& in, SampleRecord& s) {
  s.physical_address = in.take<u64>();
}
void take(FieldTag<SampleField::cgroup>, ByteReader& in, SampleRecord& s) { s.cgroup = in.take<u64>(); }
void take(FieldTag<SampleField::data_page_size>, ByteReader& in, SampleRecord& s) {
  s.data_page_size = in.take<u64>();
}
void take(FieldTag<SampleField::code_page_size>, ByteReader& in, SampleRecord& s) {
  s.code_page_size = in.take<u64>();
}
/// Its size, and the AUX data itself.
void take(FieldTag<SampleField::aux>, ByteReader& in, SampleRecord&) { in.take_bytes(in.take<u64>()); }

// Those that are more.
void take(FieldTag<SampleField::read>, ByteReader& in, const Layout& layout, SampleRecord& s) {
  take_read(in, layout.attr.read_format, s);
}
void take(FieldTag<SampleField::callchain>, ByteReader& in, const Layout&, SampleRecord& s) {
  s.callchain = in.take_all<u64>(in.take<u64>());
}
void take(FieldTag<SampleField::raw>, ByteReader& in, const Layout&, SampleRecord& s) {
  s.raw = in.take_all<std::byte>(in.take<u32>());
}
void take(FieldTag<SampleField::branch_stack>, ByteReader& in, const Layout& layout, SampleRecord& s) {
  take_branches(in, layout.attr.branch_sample_type, layout.counters, s);
}
void take(FieldTag<SampleField::regs_user>, ByteReader& in, const Layout& layout, SampleRecord& s) {
  take_registers(in, layout.attr, perf::RegisterSide::user, layout.simd, s.user_registers);
}
void take(FieldTag<SampleField::stack_user>, ByteReader& in, const Layout&, SampleRecord& s) {
  take_stack(in, s);
}
void take(FieldTag<SampleField::regs_intr>, ByteReader& in, const Layout& layout, SampleRecord& s) {
  take_registers(in, layout.attr, perf::RegisterSide::interrupt, layout.simd, s.interrupt_registers);
}

template <SampleField field>
void take_field(FieldTag<field> tag, ByteReader& in, const Layout& layout, SampleRecord& s) {
  constexpr perf::SampleFieldRow row = perf::row_of(field);
  if constexpr (row.in_sample_id)
    take(tag, in, s.who);
  else if constexpr (row.size == perf::FieldSize::word)
    take(tag, in, s);
  else
    take(tag, in, layout, s);
}

bool is_filled(const ByteReader& in) { return in.ok() && in.rest() == 0; }

/// Takes the whole sample; `in` shows how that went.
SampleRecord take_sample(ByteReader& in, const Layout& layout) {
  SampleRecord s;
  s.period = layout.attr.sample_period;
  perf::for_each_sample_field(layout.attr.sample_type, [&](auto tag) { take_field(tag, in, layout, s); });
  return s;
}

/// The ids of a record: of a sample those up to the field `last`, in front of which there are words only.
/// What follows may be of another event, which samples less than this attribute says.
template <SampleField last>
SampleId take_ids(const RecordView& record, const perf::Attr& attr) {
  if (!is_sample(record)) return parse_sample_id(record, attr);
  ByteReader in = payload_of(record);
  const Layout layout{attr, BranchCounters::none, perf::SimdAbi::none};
  SampleRecord s;
  perf::for_each_sample_field<SampleField::identifier, last>(
      attr.sample_type, [&](auto tag) { take_field(tag, in, layout, s); });
  return in.ok() ? s.who : SampleId{};
}

/// IDENTIFIER is the first word of a sample and the last of other records, whatever else an event samples.
u64 identifier_of(const RecordView& record, const perf::Attr& attr) {
  if (!is_sample(record) && !attr.sample_id_all) return absent;
  const auto payload = record.bytes.subspan(sizeof(RecordHeader));
  if (payload.size() < sizeof(u64)) return absent;
  return ByteReader(is_sample(record) ? payload : payload.last(sizeof(u64))).take<u64>();
}

/// The form that is known, then those that the sample may have instead: a file may have lost which events
/// form a group, and the attribute does not always tell which form of SIMD sampling it has.
std::vector<SampleForm> possible_forms(const perf::Attr& attr, SampleForm form) {
  using perf::SimdAbi;
  std::vector<SampleForm> forms{{form.counters, form.simd.value_or(SimdAbi::series_v7)}};
  if (!form.simd && attr.sample_simd_regs_enabled != 0) forms.push_back({form.counters, SimdAbi::merged});
  if ((attr.sample_type & sample::BRANCH_STACK) == 0) return forms;
  const bool has_counters = form.counters == BranchCounters::one_word_each;
  for (std::size_t n = 0, known = forms.size(); n < known; ++n)
    forms.push_back({has_counters ? BranchCounters::none : BranchCounters::one_word_each, forms[n].simd});
  return forms;
}

}  // namespace

Result<SampleRecord, Error> parse_sample(const RecordView& record, const perf::Attr& attr, SampleForm form) {
  if (!is_sample(record))
    return Failure(Error(
        fmt::format("at offset {:#x}: a record of type {} is no sample", record.offset, record.header.type)));
  const auto parse = [&](SampleForm as) {
    ByteReader in = payload_of(record);
    SampleRecord s = take_sample(in, {attr, as.counters, *as.simd});
    s.misc = record.header.misc;
    return std::pair(std::move(s), in);
  };
  auto [s, in] = parse({form.counters, form.simd.value_or(perf::SimdAbi::series_v7)});
  if (is_filled(in)) return std::move(s);
  for (const SampleForm& other : possible_forms(attr, form))
    if (auto [as_other, rest] = parse(other); is_filled(rest)) return std::move(as_other);
  return whole(record, in, std::move(s));
}

SampleId parse_sample_id(const RecordView& record, const perf::Attr& attr) {
  SampleId who;
  const std::size_t bytes = perf::word_bytes(attr.sample_type & perf::sample_id_bits);
  if (!attr.sample_id_all || record.bytes.size() < sizeof(RecordHeader) + bytes) return who;
  ByteReader in(record.bytes.last(bytes));
  perf::for_each_sample_id_field(attr.sample_type, [&](auto tag) { take(tag, in, who); });
  return who;
}

std::optional<u64> find_id(const RecordView& record, const perf::Attr& attr) {
  if ((attr.sample_type & (sample::ID | sample::IDENTIFIER)) == 0) return std::nullopt;
  const bool has_identifier = (attr.sample_type & sample::IDENTIFIER) != 0;
  const u64 id = has_identifier ? identifier_of(record, attr) : take_ids<SampleField::id>(record, attr).id;
  return id != absent ? std::optional(id) : std::nullopt;
}

std::optional<u64> find_time(const RecordView& record, const perf::Attr& attr) {
  if ((attr.sample_type & sample::TIME) == 0) return std::nullopt;
  const u64 time = take_ids<SampleField::time>(record, attr).time;
  return time != absent ? std::optional(time) : std::nullopt;
}

Result<MmapRecordView, Error> parse_mmap(const RecordView& record) {
  ByteReader in = payload_of(record);
  MmapRecordView m;
  m.pid = in.take<u32>();
  m.tid = in.take<u32>();
  m.address = in.take<u64>();
  m.length = in.take<u64>();
  m.page_offset = in.take<u64>();
  if (record.header.type == static_cast<u32>(RecordType::mmap2)) {
    const auto identity = in.take_bytes(24);
    if (in.ok() && (record.header.misc & perf::misc::MMAP_BUILD_ID)) {
      const std::size_t bytes = std::min<std::size_t>(static_cast<u8>(identity[0]), 20);
      m.build_id.assign(identity.begin() + 4, identity.begin() + 4 + static_cast<std::ptrdiff_t>(bytes));
    }
    m.protection = in.take<u32>();
    m.flags = in.take<u32>();
  }
  m.name = in.take_rest_as_text();
  return whole(record, in, std::move(m));
}

Result<CommRecordView, Error> parse_comm(const RecordView& record) {
  ByteReader in = payload_of(record);
  CommRecordView c;
  c.pid = in.take<u32>();
  c.tid = in.take<u32>();
  c.name = in.take_rest_as_text();
  return whole(record, in, std::move(c));
}

Result<TaskRecordView, Error> parse_task(const RecordView& record) {
  ByteReader in = payload_of(record);
  return whole(record, in, in.take<TaskRecordView>());
}

std::vector<BranchCounters> branch_counters(std::span<const EventDescription> events,
                                            std::span<const Group> groups) {
  const auto asks = [](const EventDescription& event) {
    return (event.attr.branch_sample_type & perf::branch::COUNTERS) != 0;
  };
  std::vector<BranchCounters> counters(events.size(), BranchCounters::none);
  const auto mark = [&](std::size_t first, std::size_t members) {
    if (first > events.size() || members > events.size() - first) return;
    if (std::ranges::any_of(events.subspan(first, members), asks))
      std::fill_n(counters.begin() + static_cast<std::ptrdiff_t>(first), members,
                  BranchCounters::one_word_each);
  };
  for (std::size_t n = 0; n < events.size(); ++n) mark(n, 1);
  for (const Group& group : groups) mark(group.leader, group.members);
  return counters;
}

}  // namespace pmusim::perfdata
