// SPDX-License-Identifier: MIT
// AMD's LBR stack, which came with Zen 4 (APM vol. 2, 13.1): an enable, a filter of what is not recorded, and
// entries that go by age, 0 the newest. `n` is the age.
#include "lbr/lbr_stack.h"
#include "pmusim/arch/msr.h"

namespace pmusim {
namespace {

namespace a = msr::amd;

bool has_stack(const CpuModel& m, unsigned) { return m.lbr.depth != 0 && m.lbr.format == LbrFormat::amd_v2; }
bool has_record(const CpuModel& m, unsigned n) { return has_stack(m, n) && n < m.lbr.depth; }
u64 every_bit(const CpuModel&, unsigned) { return ~u64{0}; }

constexpr Field enable_fields[] = {{a::debug_extn::LBRSE, "record branches"}};
constexpr Field amd_select_fields[] = {
    {lbr_select::CPL_EQ_0, "keep out what ends at CPL 0"},
    {lbr_select::CPL_NEQ_0, "keep out what ends at CPL > 0"},
    {lbr_select::JCC, "keep out conditional"},
    {lbr_select::NEAR_REL_CALL, "keep out relative call"},
    {lbr_select::NEAR_IND_CALL, "keep out indirect call"},
    {lbr_select::NEAR_RET, "keep out ret"},
    {lbr_select::NEAR_IND_JMP, "keep out indirect jmp"},
    {lbr_select::NEAR_REL_JMP, "keep out relative jmp"},
    {lbr_select::FAR_BRANCH, "keep out far"},
};
constexpr Field amd_from_fields[] = {
    {a::lbr::FROM_MISPREDICTED, "mispredicted"},
    {a::lbr::ADDRESS, "address of the branch, entry 0 newest"},
};
u64 no_bit(const CpuModel&, unsigned) { return 0; }

constexpr Field address_fields[] = {{~u64{0}, "address"}};
constexpr Field amd_to_fields[] = {
    {a::lbr::TO_VALID, "valid"},
    {a::lbr::TO_SPECULATIVE, "speculative"},
    {a::lbr::ADDRESS, "address of the target"},
};

}  // namespace

Rows<LbrStack> LbrStack::amd_registers() {
  using L = LbrStack;
  static constexpr Row<L> rows[] = {
      {.address = a::DEBUG_EXTN_CTL,
       .name = "DebugExtnCtl",
       .exists = has_stack,
       .fields = enable_fields,
       .read = read_word<&L::ctl_>,
       .write =
           [](L& l, At, u64 value) {
             l.write_ctl(value);
             return Fault::none;
           }},
      {.address = a::LBR_SELECT,
       .name = "LastBranchStackSelect",
       .exists = has_stack,
       .fields = amd_select_fields,
       .ignored = every_bit,
       .read = read_word<&L::select_>,
       .write = write_word<&L::select_>},
      {.address = a::LBR_FROM0,
       .count = ring_size,
       .stride = a::STRIDE,
       .name = "LastBranchStackFromIp{}",
       .exists = has_record,
       .fields = amd_from_fields,
       .ignored = every_bit,
       .read = [](const L& l, At at) { return l.layout_.from(l.record_at(at.n)); },
       .write =
           [](L& l, At at, u64 value) {
             return assign(l.record_at(at.n), l.layout_.with_from(l.record_at(at.n), value));
           },
       .is_data = true},
      {.address = a::LBR_TO0,
       .count = ring_size,
       .stride = a::STRIDE,
       .name = "LastBranchStackToIp{}",
       .exists = has_record,
       .fields = amd_to_fields,
       .ignored = every_bit,
       .read = [](const L& l, At at) { return l.layout_.to(l.record_at(at.n)); },
       .write =
           [](L& l, At at, u64 value) {
             return assign(l.record_at(at.n), l.layout_.with_to(l.record_at(at.n), value));
           },
       .is_data = true},
  };
  return rows;
}

/// While DebugCtl[0] is set: the last branch, and the one before the last interrupt or exception.
Rows<LbrStack> LbrStack::amd_last_branch_registers() {
  using L = LbrStack;
  static constexpr Row<L> rows[] = {
      {.address = a::LAST_BRANCH_FROM,
       .name = "LastBranchFromIP",
       .fields = address_fields,
       .writable = no_bit,
       .read = [](const L& l, At) { return l.last_branch_.from; }},
      {.address = a::LAST_BRANCH_TO,
       .name = "LastBranchToIP",
       .fields = address_fields,
       .writable = no_bit,
       .read = [](const L& l, At) { return l.last_branch_.to; }},
      {.address = a::LAST_EXCEPTION_FROM,
       .name = "LastIntFromIP",
       .fields = address_fields,
       .writable = no_bit,
       .read = [](const L& l, At) { return l.last_exception_.from; }},
      {.address = a::LAST_EXCEPTION_TO,
       .name = "LastIntToIP",
       .fields = address_fields,
       .writable = no_bit,
       .read = [](const L& l, At) { return l.last_exception_.to; }},
  };
  return rows;
}

}  // namespace pmusim
