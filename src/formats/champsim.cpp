// SPDX-License-Identifier: MIT
#include "formats/champsim.h"

#include <fmt/format.h>

#include <algorithm>

namespace pmusim::formats {
namespace {

namespace pin {
constexpr u8 stack_pointer = 6, flags = 25, instruction_pointer = 26;
// By Gpr, in the order of their encodings: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8...
constexpr std::array<u8, 16> general{10, 9, 8, 7, 6, 5, 4, 3, 11, 12, 13, 14, 15, 16, 17, 18};
constexpr u8 first_vector = 64;  // to ChampSim any number will do
}  // namespace pin

constexpr unsigned general_registers = 16, flags_bit = 57;

/// The tracer that defined the format writes a fifth source register into the first store.
constexpr u64 lowest_store = 4096;

/// Which registers a record names.
struct Uses {
  bool writes_ip, writes_sp, reads_ip, reads_sp, reads_flags, reads_other;
  explicit Uses(const ChampSimRecord& r)
      : writes_ip(has(r.written, pin::instruction_pointer)),
        writes_sp(has(r.written, pin::stack_pointer)),
        reads_ip(has(r.read, pin::instruction_pointer)),
        reads_sp(has(r.read, pin::stack_pointer)),
        reads_flags(has(r.read, pin::flags)),
        reads_other(std::ranges::any_of(r.read, [](u8 n) {
          return n != 0 && n != pin::instruction_pointer && n != pin::stack_pointer && n != pin::flags;
        })) {}

 private:
  static bool has(std::span<const u8> registers, u8 number) {
    return std::ranges::find(registers, number) != registers.end();
  }
};

/// Puts a value into the first free place; ChampSim has no more room where there is none.
template <class Places, class Value>
void put(Places& places, Value value) {
  const auto same = std::find(places.begin(), places.end(), value);
  const auto free = std::find(places.begin(), places.end(), Value{0});
  if (value != 0 && same == places.end() && free != places.end()) *free = value;
}

template <class Places>
void put_registers(Places& places, x86::RegisterMask mask) {
  if ((mask >> flags_bit & 1) != 0) put(places, pin::flags);
  for (unsigned n = 0; n < flags_bit; ++n) {
    if ((mask >> n & 1) == 0) continue;
    put(places,
        n < general_registers ? pin::general[n] : static_cast<u8>(pin::first_vector + n - general_registers));
  }
}

void put_branch_registers(ChampSimRecord& record, BranchKind kind, x86::RegisterMask read) {
  const bool call = is_near_call(kind), returns = kind == BranchKind::near_return;
  const bool indirect = kind == BranchKind::indirect_call || kind == BranchKind::indirect_jump;
  put(record.written, pin::instruction_pointer);
  if (call || returns) {
    put(record.written, pin::stack_pointer);
    put(record.read, pin::stack_pointer);
  }
  if (call || kind == BranchKind::conditional || kind == BranchKind::direct_jump)
    put(record.read, pin::instruction_pointer);
  const bool counts_down = (read & 0xFFFF) != 0;  // LOOP, JRCXZ
  if (kind == BranchKind::conditional && !counts_down) put(record.read, pin::flags);
  if (kind == BranchKind::conditional && counts_down) put_registers(record.read, read);
  // What reads none tells its target from memory: any register stands for it.
  if (indirect) put_registers(record.read, (read & 0xFFFF) != 0 ? read & 0xFFEF : x86::RegisterMask{1});
  if (indirect && record.read[call ? 2 : 0] == 0) put(record.read, pin::general[0]);
}

Access& access_at(Step& step, u64 address, bool merge) {
  const auto same = std::ranges::find(step.accesses, address, &Access::address);
  if (merge && same != step.accesses.end()) return *same;
  return step.accesses.emplace_back(Access{.address = address});
}

}  // namespace

BranchKind branch_kind(const ChampSimRecord& record, ChampSimBranches branches) {
  const Uses uses(record);
  const bool sp = uses.reads_sp || uses.writes_sp;
  const bool old = branches == ChampSimBranches::before_2023;
  if (!uses.writes_ip) return BranchKind::none;
  if (!uses.reads_sp && !uses.reads_flags && !uses.reads_other) return BranchKind::direct_jump;
  if (!uses.reads_sp && !uses.reads_flags && uses.reads_other && (old || !uses.reads_ip))
    return BranchKind::indirect_jump;
  if (!sp && uses.reads_ip && (old ? uses.reads_flags && !uses.reads_other : true))
    return BranchKind::conditional;
  if (uses.reads_sp && uses.writes_sp && !uses.reads_flags && uses.reads_ip)
    return uses.reads_other ? BranchKind::indirect_call : BranchKind::direct_call;
  if (uses.reads_sp && uses.writes_sp && !uses.reads_ip) return BranchKind::near_return;
  return BranchKind::indirect_jump;
}

ChampSimRecord champsim_record(const x86::Instruction& instruction, u64 next_ip,
                               std::span<const u64> addresses) {
  ChampSimRecord record{};
  record.ip = instruction.ip;
  const bool branch = is_near_branch(instruction.branch);  // to Pin a system call is none
  record.is_branch = branch ? 1 : 0;
  const bool always = branch && instruction.branch != BranchKind::conditional;
  record.taken = always || (branch && next_ip != instruction.end()) ? 1 : 0;
  if (branch) {
    put_branch_registers(record, instruction.branch, instruction.registers_read);
  } else {
    put_registers(record.written, instruction.registers_written);
    put_registers(record.read, instruction.registers_read);
  }
  for (std::size_t n = 0; n < addresses.size(); ++n) {
    if (instruction.memory[n].load) put(record.loads, addresses[n]);
    if (instruction.memory[n].store) put(record.stores, addresses[n]);
  }
  return record;
}

Result<std::optional<Step>, Error> ChampSimReader::next() {
  const u64 offset = stream_.offset();
  ChampSimRecord record{};
  const auto bytes = stream_.read(std::as_writable_bytes(std::span(&record, 1)));
  if (!bytes.ok()) return Failure(bytes.error());
  if (*bytes == 0) return std::optional<Step>();
  if (*bytes != sizeof record)
    return Failure(
        stream_.damaged(offset, fmt::format("the file ends within a record of {} bytes", sizeof record)));
  if (!is_code_address(record.ip))
    return Failure(
        stream_.damaged(offset, fmt::format("{:#x} is no address of a user's code", u64{record.ip})));
  Step step{.ip = record.ip, .kind = branch_kind(record, branches_)};
  step.taken = step.kind != BranchKind::none && (step.kind != BranchKind::conditional || record.taken != 0);
  for (const u64 address : record.loads)
    if (address != 0) access_at(step, address, false).load = true;
  for (const u64 address : record.stores)
    if (address >= lowest_store) access_at(step, address, true).store = true;
  return std::optional(step);
}

}  // namespace pmusim::formats
