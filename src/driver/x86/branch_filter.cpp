// SPDX-License-Identifier: MIT
#include "driver/x86/branch_filter.h"

#include <array>
#include <utility>

#include "base/kernel_address.h"
#include "pmusim/x86/instruction.h"

namespace pmusim::driver {
namespace branch_class {
namespace {

constexpr std::size_t longest_instruction = 15;
constexpr u32 kernel_space = ~u32{0};
constexpr u64 vsyscall_page = 0xFFFF'FFFF'FF60'0000, page_bytes = 4096;

u64 privilege_of(u64 ip) { return is_kernel_address(ip) ? KERNEL : USER; }

struct RequestRow {
  u64 request, classes;
};
constexpr RequestRow request_rows[] = {
    {perf::branch::USER, USER},
    {perf::branch::KERNEL, KERNEL},
    {perf::branch::ANY, ANY},
    {perf::branch::ANY_CALL, CALL | IND_CALL | SYSCALL | IRQ | INT | ZERO_CALL},
    {perf::branch::ANY_RETURN, RET | SYSRET | IRET},
    {perf::branch::IND_CALL, IND_CALL},
    {perf::branch::ABORT_TX, ABORT},
    {perf::branch::IN_TX, IN_TX},
    {perf::branch::NO_TX, NO_TX},
    {perf::branch::COND, JCC},
    {perf::branch::CALL_STACK, CALL | IND_CALL | RET | CALL_STACK},
    {perf::branch::IND_JUMP, IND_JMP},
    {perf::branch::CALL, CALL | ZERO_CALL},
    {perf::branch::TYPE_SAVE, TYPE_SAVE},
};

namespace type = perf::branch_type;

/// By the types that hardware tells apart.
constexpr std::array<u64, 16> classes_of_type = [] {
  std::array<u64, 16> classes{};
  classes[type::COND] = JCC;
  classes[type::UNCOND] = JMP;
  classes[type::IND] = IND_JMP;
  classes[type::CALL] = CALL;
  classes[type::IND_CALL] = IND_CALL;
  classes[type::RET] = RET;
  return classes;
}();

/// By number of the lowest class bit; the rest is UNKNOWN.
constexpr std::array<u8, 32> perf_types = [] {
  constexpr std::pair<u64, u8> rows[] = {
      {CALL, type::CALL},     {ZERO_CALL, type::CALL},    {RET, type::RET},  {SYSCALL, type::SYSCALL},
      {SYSRET, type::SYSRET}, {IRET, type::ERET},         {JCC, type::COND}, {JMP, type::UNCOND},
      {IND_JMP, type::IND},   {IND_CALL, type::IND_CALL}, {IRQ, type::IRQ},  {NO_TX, type::NO_TX}};
  std::array<u8, 32> types{};
  for (const auto& [branch, type] : rows) types[static_cast<unsigned>(std::countr_zero(branch))] = type;
  return types;
}();

u8 perf_type(u64 classes) {
  return perf_types[static_cast<unsigned>(std::countr_zero(classes & ~PRIVILEGE))];
}

/// Far transfers through memory or a register count as their near namesakes.
u64 class_of(const x86::BranchClass& branch) {
  switch (branch.kind) {
    case BranchKind::conditional:
      return JCC;
    case BranchKind::direct_jump:
      return JMP;
    case BranchKind::indirect_jump:
    case BranchKind::far_jump:  // 64-bit code has only the indirect form
      return IND_JMP;
    case BranchKind::direct_call:
      return branch.zero_length_call ? ZERO_CALL : CALL;
    case BranchKind::indirect_call:
    case BranchKind::far_call:
      return IND_CALL;
    case BranchKind::near_return:
    case BranchKind::far_return:
      return RET;
    case BranchKind::syscall:
      return SYSCALL;
    case BranchKind::sysret:
      return SYSRET;
    case BranchKind::software_interrupt:
      return INT;
    case BranchKind::interrupt_return:
      return IRET;
    case BranchKind::none:
    case BranchKind::interrupt:
    case BranchKind::tsx_abort:
      return 0;
  }
  return 0;
}

u64 class_of_code(std::span<const std::byte> code, u64 address) {
  constexpr std::byte call{0xE8}, debug_trap{0xF1};
  constexpr std::size_t call_bytes = 5;
  if (code.front() == debug_trap) return 0;
  const x86::BranchClass branch = x86::classify_branch(code, address);
  if (branch.length != 0) return class_of(branch);
  return code.front() == call && code.size() < call_bytes ? ZERO_CALL : ABORT;
}

struct FoundBranch {
  u64 classes = 0;
  u32 offset = 0;
};

/// The first branch of `code`, which may stand behind what it is fused with.
FoundBranch first_branch(std::span<const std::byte> code, u64 address) {
  FoundBranch found{class_of_code(code, address)};
  while (found.classes == 0) {
    const std::size_t length =
        x86::classify_branch(code.subspan(found.offset), address + found.offset).length;
    if (length == 0 || found.offset + length >= code.size()) break;
    found.offset += static_cast<u32>(length);
    found.classes = class_of_code(code.subspan(found.offset), address + found.offset);
  }
  return found;
}

}  // namespace
}  // namespace branch_class

u64 requested_classes(u64 branch_sample_type) {
  u64 classes = 0;
  for (const branch_class::RequestRow& row : branch_class::request_rows)
    if (branch_sample_type & row.request) classes |= row.classes;
  return classes;
}

BranchFilter::BranchFilter(std::size_t entries) : known_(std::bit_ceil(entries)) {}

BranchFilter::BranchFilter(Sources sources) : BranchFilter() { sources_ = sources; }

void BranchFilter::invalidate() { known_.assign(known_.size(), {}); }

void BranchFilter::apply(std::vector<perf::BranchEntry>& branches, u64 requested,
                         const perf::SampleSink& code) {
  using namespace branch_class;
  if (sources_ == Sources::fused) return apply_fused(branches, requested, code);
  if (keeps_all(requested)) return;
  std::size_t kept = 0;
  // The usual request wants all branches as hardware that knows their types has them.
  if ((requested & (ALL | IN_TX | NO_TX)) == ALL)
    while (kept < branches.size() && branches[kept].type != type::UNKNOWN) ++kept;
  for (std::size_t i = kept; i < branches.size(); ++i) {
    perf::BranchEntry& branch = branches[i];
    u64 classes = branch.type != type::UNKNOWN ? classes_of_type[branch.type] | privilege_of(branch.to)
                                               : classify(branch, code);
    if (classes == 0) continue;
    if ((requested & (IN_TX | NO_TX)) != 0) classes |= branch.in_tx ? IN_TX : NO_TX;
    if ((requested & classes) != classes) continue;
    if ((requested & (KERNEL | KERNEL_SOURCE)) == 0 && is_kernel_address(branch.from)) continue;
    if ((requested & TYPE_SAVE) != 0) branch.type = perf_type(classes) & 0xF;
    if (kept != i) branches[kept] = branch;
    ++kept;
  }
  branches.resize(kept);
}

/// Where all is asked for, a branch that had to be moved stays whatever it is; one that is none does not.
void BranchFilter::apply_fused(std::vector<perf::BranchEntry>& branches, u64 requested,
                               const perf::SampleSink& code) {
  using namespace branch_class;
  const bool all = keeps_all(requested);
  std::erase_if(branches, [&](perf::BranchEntry& branch) {
    if (branch.from == 0 || branch.to == 0) return true;
    const Known* const found = instruction_at(branch.from, code);
    if (found == nullptr) return true;
    const u64 recorded = branch.from;
    const u64 classes = classes_of(branch, found->classes);
    branch.from += found->offset;
    if (all && found->offset != 0) return false;
    if (classes == 0 || (requested & classes) != classes) return true;
    if ((requested & (KERNEL | KERNEL_SOURCE)) == 0 && is_kernel_address(recorded)) return true;
    if ((requested & TYPE_SAVE) != 0) branch.type = perf_type(classes) & 0xF;
    return false;
  });
}

u64 BranchFilter::classify(const perf::BranchEntry& entry, const perf::SampleSink& code) {
  using namespace branch_class;
  if (entry.from == 0 || entry.to == 0) return 0;
  if (entry.abort) return ABORT | privilege_of(entry.to);
  const Known* const found = instruction_at(entry.from, code);
  return found == nullptr ? 0 : classes_of(entry, found->classes);
}

/// An interrupt has no instruction of its own: at its source stands whatever it returns to.
u64 BranchFilter::classes_of(const perf::BranchEntry& entry, u64 instruction) {
  using namespace branch_class;
  const bool enters_kernel = !is_kernel_address(entry.from) && is_kernel_address(entry.to);
  const u64 classes = enters_kernel && (instruction & (SYSCALL | INT)) == 0 ? IRQ : instruction;
  return classes == 0 ? 0 : classes | privilege_of(entry.to);
}

const BranchFilter::Known* BranchFilter::instruction_at(u64 address, const perf::SampleSink& code) {
  using namespace branch_class;
  const u32 space = is_kernel_address(address) ? kernel_space : address_space_;
  Known& known = known_[(address ^ address >> 16) & (known_.size() - 1)];
  if (known.address == address && known.address_space == space) return &known;
  if (address - vsyscall_page < page_bytes) return nullptr;
  const std::vector<std::byte> bytes = code.read_code(address, longest_instruction);
  if (bytes.empty()) return nullptr;
  const FoundBranch found =
      sources_ == Sources::fused ? first_branch(bytes, address) : FoundBranch{class_of_code(bytes, address)};
  known = {address, space, static_cast<u32>(found.classes) & 0xFF'FFFF, found.offset & 0xFF};
  return &known;
}

}  // namespace pmusim::driver
