// SPDX-License-Identifier: MIT
#include "perf/sample_template.h"

#include "perf/general_registers.h"
#include "perf/sample_parts.h"

namespace pmusim::perf {

namespace {

constexpr u64 selector_registers = 0xC00;  // PERF_REG_X86_CS and SS
constexpr u32 general_bytes = 18 * 8, selector_bytes = 2 * 8, xmm_file_bytes = 16 * 16;

bool takes_xmm(const Attr& attr) { return (attr.sample_regs_intr & register_mask::XMM_HALVES) != 0; }

/// All general registers with or without the selectors, all of XMM or nothing.
bool has_whole_registers(const Event& event) {
  const Attr& attr = event.attr;
  if (attr.sample_simd_regs_enabled != 0) return false;
  const u64 xmm = attr.sample_regs_intr & register_mask::XMM_HALVES;
  const u64 selectors = attr.sample_regs_intr & selector_registers;
  return (attr.sample_regs_intr & ~(xmm | selectors)) == (all_general & ~selector_registers) &&
         (selectors == 0 || selectors == selector_registers) &&
         (xmm == 0 || xmm == register_mask::XMM_HALVES);
}

/// Appends words and says where they came to lie.
class Words {
 public:
  explicit Words(SampleTemplate& to) : to_(to) {}
  u32 add(u64 value) {
    to_.words[to_.word_bytes / 8] = value;
    to_.word_bytes += 8;
    to_.bytes += 8;
    return to_.word_bytes - 8;
  }

 private:
  SampleTemplate& to_;
};

/// What the event and the moment decide of a template.
struct Origin {
  const Event& event;
  const Moment& moment;
  const InterruptFrame& frame;
};

// How each field that may be in a template is placed there. A field without such a function is in none.

template <SampleField field>
std::enable_if_t<row_of(field).in_sample_id> place(FieldTag<field> tag, SampleTemplate& made,
                                                   const Origin& of) {
  Words(made).add(sample_id_word(tag, of.event, of.moment));
}
void place(FieldTag<SampleField::ip>, SampleTemplate& made, const Origin& of) {
  made.at.ip = Words(made).add(of.frame.registers.rip);
}
void place(FieldTag<SampleField::time>, SampleTemplate& made, const Origin& of) {
  made.at.time = Words(made).add(of.moment.time);
}
void place(FieldTag<SampleField::addr>, SampleTemplate& made, const Origin&) {
  made.at.address = Words(made).add(0);
}
void place(FieldTag<SampleField::period>, SampleTemplate& made, const Origin& of) {
  Words(made).add(of.event.hw.last_period);
}
void place(FieldTag<SampleField::branch_stack>, SampleTemplate& made, const Origin& of) {
  Words words(made);
  made.at.branch_count = words.add(0);
  if ((of.event.attr.branch_sample_type & branch::HW_INDEX) != 0) words.add(BranchStack{}.hw_index);
  made.at.branches_end = made.word_bytes;
}
void place(FieldTag<SampleField::weight>, SampleTemplate& made, const Origin&) {
  made.at.weight = Words(made).add(0);
}
void place(FieldTag<SampleField::data_src>, SampleTemplate& made, const Origin&) {
  made.at.data_source = Words(made).add(data_source_na);
}
void place(FieldTag<SampleField::transaction>, SampleTemplate& made, const Origin&) {
  made.at.transaction = Words(made).add(0);
}
/// Of the registers a template has no more than the ABI word.
void place(FieldTag<SampleField::regs_intr>, SampleTemplate& made, const Origin& of) {
  const Attr& attr = of.event.attr;
  Words(made).add(registers_abi_64);
  made.at.registers = made.bytes;
  made.selectors = (attr.sample_regs_intr & selector_registers) != 0;
  made.stack_selector = segments_at(of.frame.cpl).stack;
  made.bytes += general_bytes + (made.selectors ? selector_bytes : 0);
  if (!takes_xmm(attr)) return;
  made.at.xmm_registers = made.bytes;
  made.bytes += xmm_file_bytes;
}
void place(FieldTag<SampleField::phys_addr>, SampleTemplate& made, const Origin&) {
  made.at.physical_address = made.bytes;
  if (made.at.registers == 0)
    Words(made).add(0);
  else
    made.bytes += 8;  // behind the registers the template holds no words
}

template <SampleField field>
constexpr bool is_placed = requires(SampleTemplate& made, const Origin& of) {
  place(FieldTag<field>{}, made, of);
};

constexpr u64 placed_fields = [] {
  u64 bits = 0;
  for_each_sample_field(sample::ALL, [&]<SampleField field>(FieldTag<field>) {
    if (is_placed<field>) bits |= row_of(field).bits;
  });
  return bits;
}();

}  // namespace

bool has_sample_template(const Event& event) {
  const u64 type = event.attr.sample_type;
  if ((type & ~placed_fields) != 0 || event.layout.samples_between_wakeups != 0) return false;
  if ((type & sample::REGS_INTR) != 0 && !has_whole_registers(event)) return false;
  return (type & sample::BRANCH_STACK) == 0 || !group_has_branch_counters(event);
}

SampleTemplate make_sample_template(const Event& event, const Moment& moment, const InterruptFrame& frame) {
  SampleTemplate made;
  Words(made).add(static_cast<u64>(RecordType::sample));
  for_each_sample_field(event.attr.sample_type, [&]<SampleField field>(FieldTag<field> tag) {
    if constexpr (is_placed<field>) place(tag, made, Origin{event, moment, frame});
  });
  return made;
}

}  // namespace pmusim::perf
