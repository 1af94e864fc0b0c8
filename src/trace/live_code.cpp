// SPDX-License-Identifier: MIT
#include "trace/live_code.h"

#include <sys/mman.h>

#include <algorithm>

#include "trace/build_id.h"
#include "trace/process_maps.h"
#include "trace/tracee.h"

namespace pmusim::trace {
namespace {

/// Not LOCK, behind which there is nothing that is looked for here.
bool is_prefix(std::byte b) {
  const auto v = std::to_integer<unsigned>(b);
  const bool segment = v == 0x26 || v == 0x2E || v == 0x36 || v == 0x3E || v == 0x64 || v == 0x65;
  return segment || v == 0x66 || v == 0x67 || v == 0xF2 || v == 0xF3 || (v & 0xF0) == 0x40;  // REX
}

/// Without prefixes. Of an instruction there is something left.
std::span<const std::byte> from_opcode(std::span<const std::byte> code) {
  return {std::ranges::find_if_not(code, is_prefix), code.end()};
}

/// Errs on the safe side: instructions with vector, mask or x87 registers, those of the opcodes that state
/// moves with (FXRSTOR, XRSTOR, LDMXCSR, WRPKRU, EMMS), everything that is encoded with VEX or EVEX, and
/// calls of the kernel.
bool may_change_extended(std::span<const std::byte> opcode, const x86::Instruction& decoded) {
  constexpr u64 vectors_masks_x87 = bits(56, 16);
  if (((decoded.registers_read | decoded.registers_written) & vectors_masks_x87) != 0) return true;
  const auto first = std::to_integer<unsigned>(opcode[0]);
  if (first == 0xC4 || first == 0xC5 || first == 0x62 || first == 0x9B || (first & 0xF8) == 0xD8) return true;
  if (first != 0x0F) return false;
  const auto second = std::to_integer<unsigned>(opcode[1]);
  return second == 0x01 || second == 0x77 || second == 0xAE || second == 0xC7;
}

LiveInstruction describe(std::span<const std::byte> code, const x86::Instruction& decoded) {
  constexpr std::byte pushf{0x9C}, popf{0x9D}, iret{0xCF}, breakpoint{0xCC}, interrupt{0xCD},
      linux_gate{0x80}, trap_gate{0x03}, icebp{0xF1};
  LiveInstruction live;
  live.instruction = decoded;
  std::ranges::copy(code, live.bytes.begin());
  const std::span<const std::byte> opcode = from_opcode(code);
  const auto is = [&](std::byte alone) { return opcode.size() == 1 && opcode[0] == alone; };
  const auto is_interrupt = [&](std::byte gate) {
    return opcode.size() == 2 && opcode[0] == interrupt && opcode[1] == gate;
  };
  live.system_call = decoded.branch == BranchKind::syscall || is_interrupt(linux_gate);
  live.pushes_flags = is(pushf);
  live.pops_flags = is(popf) || is(iret);
  live.raises_trap = is(breakpoint) || is(icebp) || is_interrupt(trap_gate);
  live.may_change_extended = live.system_call || may_change_extended(opcode, decoded);
  live.moves_shadow_stack = is_near_call(decoded.branch) || decoded.branch == BranchKind::near_return ||
                            decoded.branch == BranchKind::far_call ||
                            decoded.branch == BranchKind::far_return;
  return live;
}

void find_build_id(u32 pid, Mapping& m) {
  if (m.path.starts_with('/') && m.path != "//anon") {
    m.build_id = build_id_of_file(m.path);
  } else if (m.path == "[vdso]") {
    std::vector<std::byte> image(static_cast<std::size_t>(m.bytes));
    image.resize(read_memory(pid, m.start, image));
    m.build_id = build_id_of_image(image);
  }
}

}  // namespace

const LiveInstruction& InstructionStore::find_or_add(std::span<const std::byte> code, u64 ip) {
  const x86::Instruction decoded = x86::decode(code, ip);
  const auto exact = code.first(decoded.length);
  const auto [entry, is_new] = by_code_.try_emplace({ip, {exact.begin(), exact.end()}}, nullptr);
  if (is_new) {
    LiveInstruction& added = instructions_.emplace_back(describe(exact, decoded));
    added.id = static_cast<u32>(instructions_.size() - 1);
    entry->second = &added;
  }
  return *entry->second;
}

const LiveInstruction* AddressSpace::instruction_at(u32 pid, u64 ip, InstructionStore& store) {
  const auto known = cache_.find(ip);
  if (known != cache_.end()) return known->second;
  std::array<std::byte, 15> bytes{};
  const std::size_t readable = read_memory(pid, ip, bytes);
  const auto code = std::span<const std::byte>(bytes).first(readable);
  if (x86::decode(code, ip).length == 0) return nullptr;
  const LiveInstruction& live = store.find_or_add(code, ip);
  if (!is_volatile(ip)) cache_.emplace(ip, &live);
  return &live;
}

bool AddressSpace::is_volatile(u64 ip) const {
  const auto after = std::ranges::upper_bound(maps_, ip, {}, &Mapping::start);
  if (after == maps_.begin()) return true;
  const Mapping& m = *std::prev(after);
  return ip - m.start >= m.bytes || (m.protection & PROT_WRITE) != 0 || (m.flags & MAP_SHARED) != 0;
}

std::vector<SideBandRecord> AddressSpace::refresh(u32 pid) {
  std::vector<Mapping> now = parse_maps(proc_file(pid, "maps"));
  MapChanges changes = compare_maps(maps_, now);
  if (changes.code_changed()) cache_.clear();
  std::vector<SideBandRecord> records;
  for (const Mapping& m : changes.removed) records.emplace_back(Unmap{pid, m.start, m.bytes});
  for (Mapping& m : changes.added) {
    find_build_id(pid, m);
    records.emplace_back(Map{pid, m});
  }
  maps_ = std::move(now);
  return records;
}

}  // namespace pmusim::trace
