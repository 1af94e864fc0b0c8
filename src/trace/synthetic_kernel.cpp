// SPDX-License-Identifier: MIT
#include "trace/synthetic_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/crc32.h"

namespace pmusim::trace {
namespace {

using Entry = SyntheticKernel::Entry;
using Effect = SyntheticKernel::Effect;

constexpr u64 data = 0xFFFF'8881'0000'0000;  // in the direct map
constexpr u64 data_bytes = 1 << 16;          // of each function
constexpr u64 system_call_table = 0xFFFF'FFFF'8200'0200;
constexpr u32 round_instructions = 7;

struct SystemCallName {
  u64 number;
  const char* name;
};
constexpr auto system_call_names = std::to_array<SystemCallName>({
#include "trace/system_calls.inc"
});

constexpr std::array saved_registers{Gpr::rdi, Gpr::rsi, Gpr::rdx, Gpr::rcx, Gpr::rax,
                                     Gpr::r8,  Gpr::r9,  Gpr::r10, Gpr::r11, Gpr::rbx,
                                     Gpr::rbp, Gpr::r12, Gpr::r13, Gpr::r14, Gpr::r15};

constexpr u8 byte_of(u64 value, unsigned n) { return static_cast<u8>(value >> 8 * n); }

/// As DEC leaves them of a positive number.
u64 flags_of_count(u64 flags, u64 count) {
  constexpr u64 parity = bit(2), adjust = bit(4), zero = bit(6), sign = bit(7), overflow = bit(11);
  flags &= ~(parity | adjust | zero | sign | overflow);
  if (std::popcount(count & 0xFF) % 2 == 0) flags |= parity;
  if ((count & 0xF) == 0xF) flags |= adjust;
  return count == 0 ? flags | zero : flags;
}

}  // namespace

SyntheticKernel::SyntheticKernel(const KernelEntries& entries)
    : SyntheticKernel({work_for(Entry::system_call, entries.system_call), work_for(Entry::tick, entries.tick),
                       work_for(Entry::signal, entries.signal)}) {}

SyntheticKernel::Work SyntheticKernel::work_for(Entry which, u32 instructions) {
  const u32 more = instructions - shortest(which);
  return {.rounds = 1 + more / round_instructions, .rest = more % round_instructions};
}

u32 SyntheticKernel::shortest(Entry which) {
  const SyntheticKernel kernel(std::array<Work, 3>{});
  u32 instructions = 0;
  for (KernelPath path(kernel, {.entry = which}); !path.over(); path.step()) ++instructions;
  return instructions;
}

bool SyntheticKernel::is_branch(Effect effect) {
  switch (effect) {
    case Effect::go_back:
    case Effect::leave_by_iret:
    case Effect::call:
    case Effect::call_handler:
    case Effect::ret:
    case Effect::leave:
      return true;
    default:
      return false;
  }
}

u64 SyntheticKernel::handler(u64 number) const {
  const auto found = handlers_.find(number);
  return found == handlers_.end() ? no_handler_ : found->second;
}

std::span<const std::byte> SyntheticKernel::code(u64 address, std::size_t bytes) const {
  const u64 offset = address - text;
  if (offset >= code_.size()) return {};
  return std::span(code_).subspan(offset, std::min<std::size_t>(bytes, code_.size() - offset));
}

std::vector<u8> SyntheticKernel::build_id() const {
  constexpr unsigned words = 5;
  std::vector<u8> id;
  for (unsigned n = 0; n < words; ++n) {
    const u32 word = crc32(code_.data() + n, code_.size() - n);
    for (unsigned byte = 0; byte < 4; ++byte) id.push_back(byte_of(word, byte));
  }
  return id;
}

void SyntheticKernel::begin(std::string name) {
  constexpr std::byte int3{0xCC};
  code_.resize((code_.size() + 15) / 16 * 16, int3);
  symbols_.push_back({here(), 't', "synthetic_" + std::move(name)});
}

void SyntheticKernel::emit(std::initializer_list<u8> bytes, Effect effect, Gpr reg, u64 value) {
  step_at_[here()] = static_cast<u32>(steps_.size());
  steps_.push_back({here(), static_cast<u8>(bytes.size()), effect, reg, value});
  for (const u8 each : bytes) code_.push_back(std::byte{each});
}

void SyntheticKernel::push(Gpr reg) {
  const auto number = static_cast<unsigned>(reg);
  const auto opcode = static_cast<u8>(0x50 + number % 8);
  if (number < 8) return emit({opcode}, Effect::push);
  emit({0x41, opcode}, Effect::push);
}

void SyntheticKernel::pop(Gpr reg) {
  const auto number = static_cast<unsigned>(reg);
  const auto opcode = static_cast<u8>(0x58 + number % 8);
  if (number < 8) return emit({opcode}, Effect::pop, reg);
  emit({0x41, opcode}, Effect::pop, reg);
}

void SyntheticKernel::call(u64 function) {
  const u64 distance = function - (here() + 5);
  emit({0xE8, byte_of(distance, 0), byte_of(distance, 1), byte_of(distance, 2), byte_of(distance, 3)},
       Effect::call, Gpr::rax, function);
}

void SyntheticKernel::save_registers() {
  std::ranges::for_each(saved_registers, [this](Gpr r) { push(r); });
}

void SyntheticKernel::restore_registers() {
  for (auto reg = saved_registers.rbegin(); reg != saved_registers.rend(); ++reg) pop(*reg);
}

void SyntheticKernel::return_by_iret() {
  emit({0x0F, 0x01, 0xF8});  // swapgs
  emit({0x90});
  emit({0x48, 0xCF}, Effect::leave);
}

u64 SyntheticKernel::function(const std::string& name, u64 own_data, Work work) {
  begin(name);
  const u64 start = here();
  push(Gpr::rbx);
  push(Gpr::r12);
  emit({0xBB, byte_of(work.rounds, 0), byte_of(work.rounds, 1), byte_of(work.rounds, 2),
        byte_of(work.rounds, 3)},
       Effect::set, Gpr::rbx, work.rounds);
  emit({0x49, 0xBC, byte_of(own_data, 0), byte_of(own_data, 1), byte_of(own_data, 2), byte_of(own_data, 3),
        byte_of(own_data, 4), byte_of(own_data, 5), byte_of(own_data, 6), byte_of(own_data, 7)},
       Effect::set, Gpr::r12, own_data);
  const u64 loop = here();
  emit({0x49, 0x8B, 0x04, 0x24}, Effect::set, Gpr::rax, 0);         // mov (%r12),%rax
  emit({0x48, 0x8D, 0x40, 0x01}, Effect::add, Gpr::rax, 1);         // lea 1(%rax),%rax
  emit({0x49, 0x89, 0x44, 0x24, 0x08});                             // mov %rax,8(%r12)
  emit({0x4D, 0x8D, 0x64, 0x24, 0x40}, Effect::add, Gpr::r12, 64);  // lea 64(%r12),%r12
  emit({0x48, 0x8D, 0x40, 0x01}, Effect::add, Gpr::rax, 1);
  emit({0xFF, 0xCB}, Effect::count_down, Gpr::rbx);  // dec %ebx
  emit({0x75, static_cast<u8>(loop - (here() + 2))}, Effect::go_back, Gpr::rbx, loop);
  for (u32 n = 0; n < work.rest; ++n) emit({0x48, 0x8D, 0x40, 0x01}, Effect::add, Gpr::rax, 1);
  pop(Gpr::r12);
  pop(Gpr::rbx);
  emit({0xC3}, Effect::ret);
  return start;
}

u64 SyntheticKernel::system_call_function() {
  begin("do_syscall_64");
  const u64 start = here();
  push(Gpr::rbx);
  emit({0xFF, 0x14, 0xC5, byte_of(system_call_table, 0), byte_of(system_call_table, 1),
        byte_of(system_call_table, 2), byte_of(system_call_table, 3)},
       Effect::call_handler);  // call *table(,%rax,8)
  pop(Gpr::rbx);
  emit({0xC3}, Effect::ret);
  return start;
}

/// What the CPU pushes at an interrupt is pushed here by instructions.
u64 SyntheticKernel::system_call_entry(u64 function) {
  begin("entry_SYSCALL_64");
  const u64 start = here();
  emit({0x0F, 0x01, 0xF8});                                      // swapgs
  emit({0x65, 0x48, 0x89, 0x24, 0x25, 0x14, 0x60, 0x00, 0x00});  // mov %rsp,%gs:0x6014
  emit({0x65, 0x48, 0x8B, 0x24, 0x25, 0x1C, 0x60, 0x00, 0x00}, Effect::enter_stack);
  emit({0x6A, 0x2B}, Effect::push);  // the stack segment
  emit({0x65, 0xFF, 0x34, 0x25, 0x14, 0x60, 0x00, 0x00}, Effect::push);
  push(Gpr::r11);
  emit({0x6A, 0x33}, Effect::push);  // the code segment
  push(Gpr::rcx);
  save_registers();
  call(function);
  restore_registers();
  emit({0x75, 0x0F}, Effect::leave_by_iret, Gpr::rax, here() + 2 + 0x0F);
  emit({0x65, 0x48, 0x8B, 0x24, 0x25, 0x14, 0x60, 0x00, 0x00}, Effect::leave_stack);
  emit({0x0F, 0x01, 0xF8});
  emit({0x48, 0x0F, 0x07}, Effect::leave);  // sysretq
  return_by_iret();
  return start;
}

u64 SyntheticKernel::interrupt_entry(const std::string& name, u64 function) {
  begin(name);
  const u64 start = here();
  emit({0x0F, 0x01, 0xF8});
  save_registers();
  call(function);
  restore_registers();
  return_by_iret();
  return start;
}

void SyntheticKernel::lay_out(const std::array<Work, 3>& work) {
  const auto [system_call, tick, signal] = work;
  symbols_.push_back({text, 'T', "_text"});
  symbols_.push_back({text, 'T', "_stext"});
  code_.resize(16);  // no function has their address
  const u64 do_system_call = system_call_function();
  entries_[0] = system_call_entry(do_system_call);
  entries_[1] = interrupt_entry("timer_interrupt_entry", function("timer_tick", data, tick));
  entries_[2] = interrupt_entry("exception_entry", function("deliver_signal", data + data_bytes, signal));
  u64 own_data = data + 2 * data_bytes;
  no_handler_ = function("sys_unknown", own_data, system_call);
  for (const SystemCallName& each : system_call_names) {
    own_data += data_bytes;
    handlers_[each.number] = function(std::string("sys_") + each.name, own_data, system_call);
  }
  symbols_.push_back({end(), 'T', "_etext"});
}

std::string synthetic_kallsyms(const KernelEntries& entries) {
  std::string lines;
  const SyntheticKernel kernel(entries);
  for (const auto& symbol : kernel.symbols())
    lines += fmt::format("{:016x} {} {}\n", symbol.address, symbol.type, symbol.name);
  return lines;
}

KernelPath::KernelPath(const SyntheticKernel& kernel, const Call& call)
    : kernel_(kernel), call_(call), registers_(call.user) {
  constexpr u64 frame_bytes = 40;  // that the CPU pushes
  if (call_.entry != Entry::system_call) registers_[Gpr::rsp] = call_.stack - frame_bytes;
  registers_.rip = kernel.entry(call_.entry);
}

void KernelPath::execute(const Block& block) {
  addresses_.clear();
  after_.clear();
  for (const x86::Instruction& instruction : block.instructions) {
    for (const x86::MemoryOperand& operand : instruction.accesses())
      addresses_.push_back(
          x86::effective_address(instruction, operand, registers_, 0, SyntheticKernel::gs_base));
    step();
    after_.push_back(registers_);
  }
}

void KernelPath::step() {
  const SyntheticKernel::Step& step = kernel_.step(registers_.rip);
  registers_.rip += step.length;
  apply(step);
}

void KernelPath::apply(const SyntheticKernel::Step& step) {
  u64& reg = registers_[step.reg];
  u64& stack = registers_[Gpr::rsp];
  u64& ip = registers_.rip;
  switch (step.effect) {
    case Effect::nothing:
      return;
    case Effect::push:
      stack -= 8;
      return;
    case Effect::pop:
      stack += 8;
      reg = call_.user[step.reg];
      return;
    case Effect::set:
      reg = step.value;
      return;
    case Effect::add:
      reg += step.value;
      return;
    case Effect::count_down:
      registers_.rflags = flags_of_count(registers_.rflags, --reg);
      return;
    case Effect::go_back:
      if (reg != 0) ip = step.value;
      return;
    case Effect::leave_by_iret:
      if (call_.returned.rip != call_.user.rip) ip = step.value;
      return;
    case Effect::enter_stack:
      stack = call_.stack;
      return;
    case Effect::leave_stack:
      stack = call_.user[Gpr::rsp];
      return;
    case Effect::call:
    case Effect::call_handler:
      stack -= 8;
      returns_.push_back(
          std::exchange(ip, step.effect == Effect::call ? step.value : kernel_.handler(call_.number)));
      return;
    case Effect::ret:
      stack += 8;
      ip = returns_.back();
      returns_.pop_back();
      over_ = !call_.returns;
      return;
    case Effect::leave:
      registers_ = call_.returned;
      over_ = in_user_ = true;
      return;
  }
}

}  // namespace pmusim::trace
