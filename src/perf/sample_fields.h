// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_SAMPLE_FIELDS_H
#define PMUSIM_SRC_PERF_SAMPLE_FIELDS_H

#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "pmusim/perf/abi.h"

/// The fields of PERF_RECORD_SAMPLE, one row each. Who writes, places or parses samples has a function for
/// every field, which `for_each_sample_field` calls: one that is missing does not compile.
namespace pmusim::perf {

/// In the order in which a sample has them (<linux/perf_event.h>).
enum class SampleField : u8 {
  identifier,
  ip,
  tid,
  time,
  addr,
  id,
  stream_id,
  cpu,
  period,
  read,
  callchain,
  raw,
  branch_stack,
  regs_user,
  stack_user,
  weight,
  data_src,
  transaction,
  regs_intr,
  phys_addr,
  cgroup,
  data_page_size,
  code_page_size,
  aux,
  count_,
};

/// What decides how many bytes a field takes.
enum class FieldSize : u8 { word, attribute, sample };

struct SampleFieldRow {
  SampleField field;
  u64 bits;  ///< of sample_type: any of them asks for the field
  FieldSize size;
  bool in_sample_id;   ///< the sample_id trailer of other records has it, too
  bool usual = false;  ///< most samples have it: code without a jump
};

inline constexpr std::array<SampleFieldRow, static_cast<std::size_t>(SampleField::count_)> sample_fields = {{
    {SampleField::identifier, sample::IDENTIFIER, FieldSize::word, true},
    {SampleField::ip, sample::IP, FieldSize::word, false, true},
    {SampleField::tid, sample::TID, FieldSize::word, true, true},
    {SampleField::time, sample::TIME, FieldSize::word, true, true},
    {SampleField::addr, sample::ADDR, FieldSize::word, false},
    {SampleField::id, sample::ID, FieldSize::word, true},
    {SampleField::stream_id, sample::STREAM_ID, FieldSize::word, true},
    {SampleField::cpu, sample::CPU, FieldSize::word, true, true},
    {SampleField::period, sample::PERIOD, FieldSize::word, false, true},
    {SampleField::read, sample::READ, FieldSize::sample, false},
    {SampleField::callchain, sample::CALLCHAIN, FieldSize::sample, false},
    {SampleField::raw, sample::RAW, FieldSize::sample, false},
    {SampleField::branch_stack, sample::BRANCH_STACK, FieldSize::sample, false},
    {SampleField::regs_user, sample::REGS_USER, FieldSize::sample, false},
    {SampleField::stack_user, sample::STACK_USER, FieldSize::sample, false},
    {SampleField::weight, sample::WEIGHT | sample::WEIGHT_STRUCT, FieldSize::word, false},
    {SampleField::data_src, sample::DATA_SRC, FieldSize::word, false},
    {SampleField::transaction, sample::TRANSACTION, FieldSize::word, false},
    {SampleField::regs_intr, sample::REGS_INTR, FieldSize::attribute, false},
    {SampleField::phys_addr, sample::PHYS_ADDR, FieldSize::word, false},
    {SampleField::cgroup, sample::CGROUP, FieldSize::word, false},
    {SampleField::data_page_size, sample::DATA_PAGE_SIZE, FieldSize::word, false},
    {SampleField::code_page_size, sample::CODE_PAGE_SIZE, FieldSize::word, false},
    {SampleField::aux, sample::AUX, FieldSize::word, false},  // its own size, which is 0 without an AUX area
}};

constexpr SampleField field_before(SampleField field) {
  return static_cast<SampleField>(static_cast<u8>(field) - 1);
}

constexpr const SampleFieldRow& row_of(SampleField field) {
  return sample_fields[static_cast<std::size_t>(field)];
}

/// The bits of sample_type of all fields whose row is `wanted`.
template <class Wanted>
constexpr u64 sample_bits(Wanted wanted) {
  u64 bits = 0;
  for (const SampleFieldRow& row : sample_fields)
    if (wanted(row)) bits |= row.bits;
  return bits;
}
constexpr u64 sample_bits(FieldSize size) {
  return sample_bits([=](const SampleFieldRow& row) { return row.size == size; });
}
/// Those of the fields from `first` to `last`.
constexpr u64 sample_bits(SampleField first, SampleField last) {
  return sample_bits([=](const SampleFieldRow& row) { return first <= row.field && row.field <= last; });
}
constexpr bool has_usual_field(SampleField first, SampleField last) {
  return (sample_bits(first, last) & sample_bits([](const SampleFieldRow& row) { return row.usual; })) != 0;
}
inline constexpr u64 sample_id_bits = sample_bits([](const SampleFieldRow& row) { return row.in_sample_id; });

static_assert(sample_bits([](const SampleFieldRow&) { return true; }) == sample::ALL);
static_assert([] {
  for (std::size_t n = 0; n < sample_fields.size(); ++n)
    if (sample_fields[n].field != static_cast<SampleField>(n)) return false;
  return true;
}());

/// Bytes that the words of these fields take: one each, WEIGHT and WEIGHT_STRUCT exclude each other.
constexpr u32 word_bytes(u64 sample_type) { return 8 * static_cast<u32>(std::popcount(sample_type)); }

/// Where in a sample, header included, a field lies in front of which there are words only (READ is the first
/// field that is not one).
constexpr u32 sample_offset(SampleField field, u64 sample_type) {
  constexpr u32 header_bytes = 8;
  const u64 up_to_field = sample_bits(SampleField::identifier, field);
  return header_bytes + word_bytes(sample_type & up_to_field & ~row_of(field).bits);
}

/// A field as an argument, for functions that are overloaded by field.
template <SampleField field>
using FieldTag = std::integral_constant<SampleField, field>;

/// Calls `visit(FieldTag<field>{})` for each field from `first` to `last` that `sample_type` asks for.
template <SampleField first = SampleField::identifier, SampleField last = field_before(SampleField::count_),
          class Visit>
[[gnu::always_inline]] constexpr void for_each_sample_field(u64 sample_type, Visit&& visit) {
  constexpr std::size_t begin = static_cast<std::size_t>(first), end = static_cast<std::size_t>(last) + 1;
  [&]<std::size_t... n>(std::index_sequence<n...>) __attribute__((always_inline)) {
    const auto one = [&]<SampleField field>(FieldTag<field> tag) __attribute__((always_inline)) {
      const bool asked = (sample_type & row_of(field).bits) != 0;
      if (row_of(field).usual ? __builtin_expect(asked, 1) : asked) visit(tag);
    };
    (one(FieldTag<static_cast<SampleField>(begin + n)>{}), ...);
  }
  (std::make_index_sequence<end - begin>{});
}

/// The same for the sample_id trailer, which has IDENTIFIER last.
template <class Visit>
void for_each_sample_id_field(u64 sample_type, Visit&& visit) {
  for_each_sample_field<SampleField::ip>(sample_type & sample_id_bits,
                                         [&]<SampleField field>(FieldTag<field> tag) {
                                           if constexpr (row_of(field).in_sample_id) visit(tag);
                                         });
  if ((sample_type & sample::IDENTIFIER) != 0) visit(FieldTag<SampleField::identifier>{});
}

}  // namespace pmusim::perf

#endif
