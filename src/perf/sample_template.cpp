// SPDX-License-Identifier: MIT
#include "perf/sample_template.h"

#include "perf/general_registers.h"
#include "perf/sample_parts.h"

namespace pmusim::perf {

namespace {

constexpr u64 fixed_words = sample::IDENTIFIER | sample::IP | sample::TID | sample::TIME | sample::ADDR |
                            sample::ID | sample::STREAM_ID | sample::CPU | sample::PERIOD | sample::WEIGHT |
                            sample::WEIGHT_STRUCT | sample::DATA_SRC | sample::TRANSACTION |
                            sample::PHYS_ADDR;
constexpr u64 fixed_parts = fixed_words | sample::BRANCH_STACK | sample::REGS_INTR;

constexpr u64 selector_registers = 0xC00;  // PERF_REG_X86_CS and SS
constexpr u32 general_bytes = 18 * 8, selector_bytes = 2 * 8, xmm_file_bytes = 16 * 16;

bool takes_xmm(const Attr& attr) { return (attr.sample_regs_intr & register_mask::XMM_HALVES) != 0; }

/// All general registers with or without the selectors, all of XMM or nothing.
bool has_whole_registers(const Event& event) {
  const Attr& attr = event.attr;
  if (attr.sample_simd_regs_enabled != 0 || event.layout.hidden_in_kernel_bytes != 0) return false;
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
    return to_.word_bytes - 8;
  }

 private:
  SampleTemplate& to_;
};

u64 two(u32 low, u32 high) { return u64{high} << 32 | low; }

void add_first_words(SampleTemplate& made, const Event& event, const Moment& moment,
                     const InterruptFrame& frame) {
  const u64 type = event.attr.sample_type;
  Words words(made);
  words.add(static_cast<u64>(RecordType::sample));
  if (type & sample::IDENTIFIER) words.add(event.original().id);
  if (type & sample::IP) made.at.ip = words.add(frame.registers.rip);
  if (type & sample::TID) words.add(two(moment.pid, moment.tid));
  if (type & sample::TIME) made.at.time = words.add(moment.time);
  if (type & sample::ADDR) made.at.address = words.add(0);
  if (type & sample::ID) words.add(event.original().id);
  if (type & sample::STREAM_ID) words.add(event.id);
  if (type & sample::CPU) words.add(two(moment.cpu, 0));
  if (type & sample::PERIOD) words.add(event.hw.last_period);
}

void add_branches(SampleTemplate& made, const Event& event) {
  Words words(made);
  made.at.branch_count = words.add(0);
  if ((event.attr.branch_sample_type & branch::HW_INDEX) != 0) words.add(BranchStack{}.hw_index);
  made.at.branches_end = made.word_bytes;
}

/// Where the registers lie, of which the template has no more than the ABI word. What they take in bytes.
u32 place_registers(SampleTemplate& made, const Event& event, const InterruptFrame& frame) {
  Words(made).add(registers_abi_64);
  made.at.registers = made.word_bytes;
  made.selectors = (event.attr.sample_regs_intr & selector_registers) != 0;
  made.stack_selector = segments_at(frame.cpl).stack;
  u32 bytes = general_bytes + (made.selectors ? selector_bytes : 0);
  if (!takes_xmm(event.attr)) return bytes;
  made.at.xmm_registers = made.at.registers + bytes;
  return bytes + xmm_file_bytes;
}

}  // namespace

bool has_sample_template(const Event& event) {
  const u64 type = event.attr.sample_type;
  if ((type & ~fixed_parts) != 0 || event.layout.samples_between_wakeups != 0) return false;
  if ((type & sample::REGS_INTR) != 0 && !has_whole_registers(event)) return false;
  return (type & sample::BRANCH_STACK) == 0 || !group_has_branch_counters(event);
}

SampleTemplate make_sample_template(const Event& event, const Moment& moment, const InterruptFrame& frame) {
  const u64 type = event.attr.sample_type;
  SampleTemplate made;
  add_first_words(made, event, moment, frame);
  if (type & sample::BRANCH_STACK) add_branches(made, event);
  Words words(made);
  if (type & (sample::WEIGHT | sample::WEIGHT_STRUCT)) made.at.weight = words.add(0);
  if (type & sample::DATA_SRC) made.at.data_source = words.add(data_source_na);
  if (type & sample::TRANSACTION) made.at.transaction = words.add(0);
  const u32 register_bytes = type & sample::REGS_INTR ? place_registers(made, event, frame) : 0;
  if ((type & sample::PHYS_ADDR) && register_bytes == 0) made.at.physical_address = words.add(0);
  made.bytes = made.word_bytes + register_bytes;
  if ((type & sample::PHYS_ADDR) && register_bytes != 0) {
    made.at.physical_address = made.bytes;
    made.bytes += 8;
  }
  return made;
}

}  // namespace pmusim::perf
