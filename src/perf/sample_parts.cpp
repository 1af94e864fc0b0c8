#include "perf/sample_parts.h"

#include <algorithm>
#include <array>
#include <bit>

namespace pmusim::perf {

std::span<const u64> callchain(const Sample& s) {
  return s.data.callchain ? *s.data.callchain : s.environment.callchain;
}

// --- RAW
// -----------------------------------------------------------------------------------------------------

std::size_t raw_size(std::span<const std::byte> raw) {
  return padded(sizeof(u32) + std::max<std::size_t>(raw.size(), 4));
}

ByteWriter write_raw(ByteWriter out, std::span<const std::byte> raw) {
  const std::size_t payload = raw_size(raw) - sizeof(u32);
  out.put(static_cast<u32>(payload));
  out.put_all(raw);
  out.put_zeros(payload - raw.size());
  return out;
}

// --- BRANCH_STACK
// --------------------------------------------------------------------------------------------

namespace {

bool wants(const Event& event, u64 branch_bit) { return (event.attr.branch_sample_type & branch_bit) != 0; }

/// One member that asks for counters gives every branch stack of its group the block of counter words.
bool group_has_branch_counters(const Event& event) {
  const Event& leader = event.leader ? *event.leader : event;
  return wants(event, branch::COUNTERS) || wants(leader, branch::COUNTERS) ||
         std::ranges::any_of(leader.siblings, [](const Event* e) { return wants(*e, branch::COUNTERS); });
}

/// Entries that are written: attr.sample_max_stack caps them too (Linux 6.15); 0 is an attribute no open()
/// saw.
std::span<const BranchEntry> branch_entries(const Sample& s) {
  if (!s.data.branches) return {};
  const auto entries = s.data.branches->entries;
  const std::size_t limit = s.event.attr.sample_max_stack;
  return limit == 0 || entries.size() <= limit ? entries : entries.first(limit);
}

}  // namespace

std::size_t branch_stack_size(const Sample& s) {
  const std::size_t n = branch_entries(s).size();
  const std::size_t entry =
      sizeof(BranchEntry) + (n != 0 && group_has_branch_counters(s.event) ? sizeof(u64) : 0);
  return sizeof(u64) + (wants(s.event, branch::HW_INDEX) ? sizeof(u64) : 0) + n * entry;
}

/// hw_index is written for an empty stack too. The kernel leaves it out when no stack is attached, and then
/// the perf tool, which always expects it, misreads the fields that follow.
ByteWriter write_branch_stack(ByteWriter out, const Sample& s) {
  const auto entries = branch_entries(s);
  out.put(u64{entries.size()});
  if (wants(s.event, branch::HW_INDEX)) out.put(s.data.branches ? s.data.branches->hw_index : ~u64{0});
  out.put_all(entries);
  if (entries.empty() || !group_has_branch_counters(s.event)) return out;
  const auto counters = s.data.branches->counters;
  const std::size_t known = std::min(counters.size(), entries.size());
  out.put_all(counters.first(known));
  out.put_zeros((entries.size() - known) * sizeof(u64));
  return out;
}

// --- REGS_USER and REGS_INTR
// ---------------------------------------------------------------------------------

namespace {

constexpr u64 abi_64 = 2;
constexpr unsigned first_xmm_bit = 32;

/// Register numbers of sample_regs_user and sample_regs_intr (section 1.6).
enum : unsigned { reg_ip = 8, reg_flags = 9, reg_cs = 10, reg_ss = 11, reg_r8 = 16 };
constexpr std::array first_eight = {Gpr::rax, Gpr::rbx, Gpr::rcx, Gpr::rdx,
                                    Gpr::rsi, Gpr::rdi, Gpr::rbp, Gpr::rsp};

/// Selectors of 64-bit code, as Linux lays out its descriptor table.
constexpr u64 user_cs = 0x33, user_ss = 0x2b, kernel_cs = 0x10, kernel_ss = 0x18;

u64 code_segment(Cpl cpl) { return cpl == Cpl::user ? user_cs : kernel_cs; }
u64 stack_segment(Cpl cpl) { return cpl == Cpl::user ? user_ss : kernel_ss; }

u64 register_value(const RegisterSource& source, unsigned number) {
  const Registers& general = *source.general;
  if (number < first_eight.size()) return general[first_eight[number]];
  if (number >= first_xmm_bit) {
    const unsigned word = number - first_xmm_bit;
    return word < source.xmm.size() ? source.xmm[word] : 0;
  }
  if (number >= reg_r8) return general.gpr[number - reg_r8 + 8];
  switch (number) {
    case reg_ip:
      return general.rip;
    case reg_flags:
      return general.rflags;
    case reg_cs:
      return code_segment(source.cpl);
    case reg_ss:
      return stack_segment(source.cpl);
    default:
      return 0;
  }
}

/// All that a 64-bit program has, which is what tools ask for by default: worth writing without a loop.
constexpr u64 all_general = 0xff0fff;

ByteWriter write_all_general(ByteWriter out, const RegisterSource& source) {
  const Registers& r = *source.general;
  for (const Gpr number : first_eight) out.put(r[number]);
  out.put(r.rip);
  out.put(r.rflags);
  out.put(code_segment(source.cpl));
  out.put(stack_segment(source.cpl));
  out.put_all(std::span(r.gpr).subspan<8>());
  return out;
}

}  // namespace

RegisterSource user_registers(const Sample& s) { return {s.environment.user_registers, Cpl::user, {}}; }

RegisterSource interrupt_registers(const Sample& s) {
  return {s.data.registers ? &*s.data.registers : &s.frame.registers, s.frame.cpl, s.data.xmm};
}

ByteWriter write_registers(ByteWriter out, u64 mask, const RegisterSource& source) {
  out.put(source.general ? abi_64 : u64{0});
  if (!source.general) return out;
  if (mask == all_general) return write_all_general(out, source);
  for (const unsigned number : set_bits(mask)) out.put(register_value(source, number));
  return out;
}

// --- STACK_USER
// ----------------------------------------------------------------------------------------------

std::size_t user_stack_bytes(const Sample& s, std::size_t others) {
  const Registers* registers = s.environment.user_registers;
  if (!registers || others + 16 >= max_record_bytes) return 0;
  const u64 sp = (*registers)[Gpr::rsp];
  const u64 above_sp = sp < s.environment.address_space_end ? s.environment.address_space_end - sp : 0;
  const u64 wanted = std::min<u64>(s.event.attr.sample_stack_user, above_sp);
  return static_cast<std::size_t>(std::min<u64>(wanted, max_record_bytes - others - 16)) & ~std::size_t{7};
}

ByteWriter write_user_stack(ByteWriter out, const Sample& s, std::size_t bytes) {
  out.put(u64{bytes});
  if (bytes == 0) return out;
  const auto readable = s.environment.user_stack.first(std::min(bytes, s.environment.user_stack.size()));
  out.put_all(readable);
  out.put_zeros(bytes - readable.size());
  out.put(u64{readable.size()});
  return out;
}

}  // namespace pmusim::perf
