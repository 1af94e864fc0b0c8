// SPDX-License-Identifier: MIT
// The PMUs of the machine's CPUs: what interface.h promises of them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "guest/channel.h"
#include "interface.h"
#include "pmu/guest_memory.h"
#include "pmu/hardware_files.h"
#include "pmu/recording.h"
#include "pmu/uncounted.h"
#include "pmusim/arch/msr.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/x86/instruction.h"

namespace pmusim::machine {
namespace {

constexpr u32 most_uops = 0xFF;  // of an instruction, and no other quantity of it is larger

/// For comparisons: every instruction is passed by itself.
bool feeds_instructions() {
  static const bool wanted = [] {
    const char* const feed = std::getenv("PMUSIM_MACHINE_FEED");
    return feed != nullptr && std::string_view(feed) == "instructions";
  }();
  return wanted;
}

static_assert(sizeof(MachineRegisters) == sizeof(Registers));

Cpl cpl_of(unsigned level) { return level == 0 ? Cpl::kernel : Cpl::user; }

/// An instruction as it was translated: MachineInstruction comes first, so that a pointer to one is a pointer
/// to the other.
struct Translated {
  MachineInstruction head{};
  x86::Instruction instruction;
  std::array<SignalSet, 2> signals;  ///< not taken, taken
  std::array<std::byte, 15> bytes;
  std::span<const std::byte> code() const { return std::span(bytes).first(head.length); }
};

const Translated& translated(const MachineInstruction* instruction) {
  return *reinterpret_cast<const Translated*>(instruction);
}

/// A block of them. MachineBlock comes first here, too.
struct Block {
  MachineBlock head{};
  Cpl cpl = Cpl::user;
  std::vector<const Translated*> instructions;
  std::array<BlockTotals, MACHINE_ENDINGS> totals;  ///< by how it ended, of some earlier programming
};

const Block& block_of(const MachineBlock* head) { return *reinterpret_cast<const Block*>(head); }
Block& block_of(MachineBlock* head) { return *reinterpret_cast<Block*>(head); }

/// The model, with the clock that the emulator gives its guests: a tick for each instruction.
CpuModel model_of_machine(const char* name) {
  Result<CpuModel, Error> model = find_cpu_model(name);
  if (!model.ok()) {
    std::fprintf(stderr, "pmusim-machine: %s\n", model.error().message.c_str());
    std::exit(2);
  }
  model->core.tsc_per_core_cycle_numerator = model->core.tsc_per_core_cycle_denominator = 1;
  model->policies.pmi_boundary = 1;  // the emulator stops behind the instruction that finds a PMI due
  // PEBS writes records until a handler has stopped it: one beyond the threshold is served with the others.
  model->policies.pmi_while_masked = 2;
  return *model;
}

/// The PMU of a CPU, with a flat core before it: an instruction retires in every cycle, every branch is
/// predicted, every access is a hit.
class Unit final : public PmiHandler {
 public:
  Unit(unsigned cpu, const char* model)
      : cpu_(cpu),
        pmu_(model_of_machine(model)),
        memory_(cpu, pmu_),
        recording_(Recording::from_environment()),
        hardware_files_(HardwareFiles::from_environment(cpu, pmu_)) {
    pmu_.set_pmi_handler(this);
    pmu_.set_observer(hardware_files_.get());
    at(Quantity::cycles) = at(Quantity::reference_cycles) = 1;
    retirement_.latency_cycles = retirement_.retire_latency_cycles = 1;
  }

  Pmu& pmu() { return pmu_; }
  GuestMemory& memory() { return memory_; }
  void handle_pmi(const InterruptFrame&) override { cpu_deliver_pmi(cpu_); }

  bool write(u32 address, u64 value);
  bool listens();
  bool wants_registers() const {
    return writes_pebs_ || (recording_ != nullptr && recording_->has_registers());
  }
  Recording* recording() { return recording_.get(); }
  HardwareFiles* hardware_files() { return hardware_files_.get(); }
  void before(const Translated& translated, u64 ip, const u64* gpr, u64 fs_base, u64 gs_base);
  void retire(const Translated& translated, u64 ip, u64 next_ip, Cpl cpl, Cpl cpl_after,
              const Registers* registers);
  void enter_handler(u32 vector, u64 ip, u64 next_ip, Cpl cpl, Cpl cpl_after);

  u64 quiet_instructions() const;
  void note(Block& block, unsigned ending) { noted_.push_back({&block, ending}); }
  void log(const MachineBranch& branch);
  void take_in(Block& last, unsigned ending);
  void retire_part(const Block& block, u64 ip, unsigned from, unsigned to);

 private:
  u32& at(Quantity quantity) { return retirement_.quantities[static_cast<unsigned>(quantity)]; }
  u64 read(u32 address) {
    return pmu_.registers().find(address) != nullptr ? pmu_.rdmsr(address).value_or(0) : 0;
  }
  void note_writers();
  void note_events();
  void describe(const Translated& translated, u64 ip, u64 next_ip, Cpl cpl, Cpl cpl_after);
  std::vector<Retirement> execution_of(const Block& block, unsigned ending);
  void advance(Block& block, unsigned ending, u64 executions);
  /// What counts is recorded; where nothing did, the trace has a gap.
  bool records() {
    if (recording_ == nullptr) return false;
    const bool counts = pmu_.running_counters() != 0;
    if (!counts) recording_->interrupt_line();
    return counts;
  }

  unsigned cpu_;
  Pmu pmu_;
  GuestMemory memory_;
  std::unique_ptr<Recording> recording_;                // null: nobody wants one
  std::unique_ptr<HardwareFiles> hardware_files_;       // null: nobody wants them
  bool writes_pebs_ = false, writes_branches_ = false;  // to the DS area
  Uncounted uncounted_;
  Retirement retirement_;  // of the last instruction
  Registers before_;       // of the instruction that has begun, if it accesses memory: the general ones
  std::array<MemoryAccess, 4> accesses_;
  unsigned accesses_made_ = 0;
  struct Noted {
    Block* block;
    unsigned ending;
  };
  std::vector<Noted> noted_;  // with executions that have not been taken in
};

bool Unit::write(u32 address, u64 value) {
  if (pmu_.wrmsr(address, value) != Fault::none) return false;
  note_writers();
  note_events();
  if (address == msr::DS_AREA || address == msr::PEBS_ENABLE || address == msr::DEBUGCTL) memory_.refresh();
  return true;
}

/// Who may write to memory.
void Unit::note_writers() {
  writes_pebs_ = pmu_.precise_counters() != 0;
  writes_branches_ = (read(msr::DEBUGCTL) & msr::debugctl::BTS) != 0;
}

/// What is to be said of events that start to count.
void Unit::note_events() {
  if (pmu_.running_counters() == 0) return;
  for (const CountedEvent& counted : pmu_.counted_events()) {
    std::optional<std::string> sentence = uncounted_.remark(pmu_.model(), counted);
    if (!sentence) continue;
    *sentence += '\n';
    // A machine that was started by hand has nobody there.
    if (::write(REMARKS_DESCRIPTOR, sentence->data(), sentence->size()) < 0) continue;
  }
}

bool Unit::listens() { return pmu_.running_counters() != 0 || pmu_.pmi_pending() || pmu_.records_branches(); }

void Unit::before(const Translated& translated, u64 ip, const u64* gpr, u64 fs_base, u64 gs_base) {
  const x86::Instruction& instruction = translated.instruction;
  accesses_made_ = 0;
  std::array<u64, 2> addresses{};
  unsigned operands = 0;
  if (instruction.memory_operands != 0) std::copy_n(gpr, before_.gpr.size(), before_.gpr.begin());
  for (const x86::MemoryOperand& operand : instruction.accesses()) {
    u64 address = x86::effective_address(instruction, operand, before_, fs_base, gs_base);
    if (operand.rip_relative) address += ip - instruction.ip;  // the same code may stand at several places
    addresses[operands++] = address;
    const u32 latency = pmu_.model().core.l1d.latency_cycles;
    const auto made = [&](AccessKind kind) {
      accesses_[accesses_made_++] = {.address = address,
                                     .bytes = operand.bytes,
                                     .kind = kind,
                                     .locked = instruction.locked,
                                     .latency_cycles = latency};
    };
    if (operand.load) made(AccessKind::load);
    if (operand.store) made(AccessKind::store);
  }
  if (recording_ != nullptr) recording_->before(ip, std::span(addresses).first(operands));
}

void Unit::describe(const Translated& translated, u64 ip, u64 next_ip, Cpl cpl, Cpl cpl_after) {
  Retirement& r = retirement_;
  r.ip = ip;
  r.next_ip = next_ip;
  r.length = translated.head.length;
  r.branch = translated.instruction.branch;
  r.taken = r.branch != BranchKind::none && (r.branch != BranchKind::conditional || next_ip != ip + r.length);
  r.signals = translated.signals[r.taken];
  r.cpl = cpl;
  r.cpl_after = cpl_after;
  at(Quantity::uops) = translated.instruction.uops;
}

void Unit::retire(const Translated& translated, u64 ip, u64 next_ip, Cpl cpl, Cpl cpl_after,
                  const Registers* registers) {
  if (memory_.is_stale() && (writes_pebs_ || writes_branches_)) memory_.refresh();
  describe(translated, ip, next_ip, cpl, cpl_after);
  retirement_.cycle = pmu_.now() + 1;
  retirement_.memory = std::span(accesses_).first(accesses_made_);
  retirement_.registers = registers;
  if (records()) recording_->retire({translated.instruction, translated.code(), ip, next_ip, cpl, registers});
  pmu_.retire(retirement_);
}

// ---- blocks ----

u64 Unit::quiet_instructions() const {
  return recording_ != nullptr || feeds_instructions() ? 0 : pmu_.quiet_instructions(most_uops);
}

/// Retirements of an execution of which only the counts matter, from cycle 1 on.
std::vector<Retirement> Unit::execution_of(const Block& block, unsigned ending) {
  if (block.instructions.empty())
    return {{.cycle = 1, .branch = BranchKind::interrupt, .taken = true, .cpl = block.cpl}};
  std::vector<Retirement> execution;
  retirement_.memory = {};
  retirement_.registers = nullptr;
  u64 ip = block.head.page_offset;
  for (const Translated* each : block.instructions) {
    const u64 end = ip + each->head.length;
    const bool last = each == block.instructions.back();
    if (last && ending == MACHINE_ALL_BUT_LAST) break;
    describe(*each, ip, last && ending == MACHINE_BRANCHED ? end + 1 : end, block.cpl, block.cpl);
    retirement_.cycle = execution.size() + 1;
    execution.push_back(retirement_);
    ip = end;
  }
  return execution;
}

/// The totals have room for all executions, as quiet_instructions() has promised, once they are of the
/// present programming.
void Unit::advance(Block& block, unsigned ending, u64 executions) {
  BlockTotals& totals = block.totals[ending];
  executions -= pmu_.advance(totals, executions);
  if (executions == 0) return;
  const std::vector<Retirement> execution = execution_of(block, ending);
  totals = pmu_.totals(execution, 0, BlockBranches::apart);
  executions -= pmu_.advance(totals, executions);
  for (; executions != 0; --executions) {
    const u64 begin = pmu_.now();
    for (Retirement r : execution) {
      r.cycle += begin;
      r.taken = false;  // its branch is logged separately
      pmu_.retire(r);
    }
  }
}

/// Before the PMU's time has come there.
void Unit::log(const MachineBranch& branch) {
  const Block& block = block_of(branch.block);
  const bool enters_handler = block.instructions.empty();
  Retirement& r = retirement_;
  r.ip = branch.from;
  r.next_ip = branch.to;
  r.cycle = pmu_.now() + branch.cycle;
  r.length = enters_handler ? u8{0} : block.instructions.back()->head.length;
  r.branch = enters_handler ? BranchKind::interrupt : block.instructions.back()->instruction.branch;
  r.taken = true;
  r.cpl = block.cpl;
  r.cpl_after = cpl_of(branch.cpl_after);
  pmu_.log_branch(r);
}

/// In any order, but for what is left as the open cycle.
void Unit::take_in(Block& last, unsigned ending) {
  --last.head.executions[ending];
  for (const Noted& each : noted_)
    if (const u64 executions = std::exchange(each.block->head.executions[each.ending], 0); executions != 0)
      advance(*each.block, each.ending, executions);
  noted_.clear();
  advance(last, ending, 1);
}

void Unit::retire_part(const Block& block, u64 ip, unsigned from, unsigned to) {
  accesses_made_ = 0;
  for (unsigned n = 0; n < to; ++n) {
    const u64 end = ip + block.instructions[n]->head.length;
    if (n >= from) retire(*block.instructions[n], ip, end, block.cpl, block.cpl, nullptr);
    ip = end;
  }
}

void Unit::enter_handler(u32 vector, u64 ip, u64 next_ip, Cpl cpl, Cpl cpl_after) {
  if (records()) recording_->enter_handler({.vector = vector, .from = ip, .handler = next_ip, .ring = cpl});
  if (memory_.is_stale() && (writes_pebs_ || writes_branches_)) memory_.refresh();
  pmu_.retire({.ip = ip,
               .next_ip = next_ip,
               .cycle = pmu_.now() + 1,
               .branch = BranchKind::interrupt,
               .taken = true,
               .cpl = cpl,
               .cpl_after = cpl_after});
}

std::array<std::unique_ptr<Unit>, MACHINE_CPUS_MAX> units;

/// Translated instructions. Those that ended last stay for as long again: one of them may have begun, and is
/// yet to retire.
struct Translations {
  std::deque<Translated> instructions;
  std::deque<Block> blocks;
} translations, ended_translations;
Block* open_block = nullptr;  // that is being translated

/// What stands for entries into handlers, by the privilege level before.
std::array<Block, 2> handler_entries{Block{.head = {}, .cpl = Cpl::kernel, .instructions = {}, .totals = {}},
                                     Block{.head = {}, .cpl = Cpl::user, .instructions = {}, .totals = {}}};

/// Registers of the model that are the emulator's all the same: its guests' clocks, XSAVE, CET and
/// speculation controls.
bool is_the_emulators(u32 address) {
  switch (address) {
    case msr::TSC:
    case msr::APIC_BASE:
    case msr::TSC_ADJUST:
    case msr::SPEC_CTRL:
    case msr::PRED_CMD:
    case msr::MPERF:
    case msr::APERF:
    case msr::amd::EFER:
    case msr::XFD:
    case msr::XFD_ERR:
    case msr::XSS:
    case msr::X2APIC_EOI:
    case msr::X2APIC_LVTPC:
    case msr::TSC_AUX:
      return true;
    default:
      return address >= msr::U_CET && address <= msr::INTERRUPT_SSP_TABLE_ADDR;
  }
}

/// The bits of a CPUID register that the model has, in what the emulator's CPU has.
void take(uint32_t& to, u32 from, u32 mask) { to = (to & ~mask) | (from & mask); }

}  // namespace
}  // namespace pmusim::machine

using namespace pmusim;
using namespace pmusim::machine;

void pmu_create(unsigned cpu, const char* model) { units[cpu] = std::make_unique<Unit>(cpu, model); }

void pmu_access_from(unsigned cpu, uint64_t ip, uint64_t stack) {
  if (HardwareFiles* const files = units[cpu]->hardware_files()) files->access_from({ip, stack});
}
bool pmu_has_register(unsigned cpu, uint32_t address) {
  return !is_the_emulators(address) && units[cpu]->pmu().registers().find(address) != nullptr;
}
bool pmu_read_register(unsigned cpu, uint32_t address, uint64_t* value) {
  const FaultOr<u64> read = units[cpu]->pmu().rdmsr(address);
  if (read.ok()) *value = *read;
  return read.ok();
}
bool pmu_write_register(unsigned cpu, uint32_t address, uint64_t value) {
  return units[cpu]->write(address, value);
}
bool pmu_read_counter(unsigned cpu, uint32_t ecx, uint64_t* value) {
  const FaultOr<u64> read = units[cpu]->pmu().rdpmc(ecx);
  if (read.ok()) *value = *read;
  return read.ok();
}

void pmu_identify(unsigned cpu, uint32_t leaf, uint32_t subleaf, uint32_t* registers) {
  enum { A, B, C, D };
  const CpuidResult model = units[cpu]->pmu().cpuid(leaf, subleaf);
  switch (leaf) {
    case 0:
      registers[A] = std::max(registers[A], model.eax);
      break;
    case 1:
      registers[A] = model.eax;                                     // family, model, stepping
      take(registers[C], model.ecx, 1u << 2 | 1u << 4 | 1u << 15);  // DTES64, DS-CPL, PDCM
      take(registers[D], model.edx, 1u << 21);                      // DS
      break;
    case 7:
      if (subleaf == 0) registers[A] = std::max(registers[A], model.eax);    // there is a subleaf 1
      if (subleaf == 0) take(registers[D], model.edx, 1u << 15 | 1u << 19);  // hybrid, architectural LBR
      if (subleaf == 1) take(registers[A], model.eax, 1u << 8);              // leaf 23H
      break;
    case 0x0A:
    case 0x1A:
    case 0x1C:
    case 0x23:
      registers[A] = model.eax, registers[B] = model.ebx, registers[C] = model.ecx, registers[D] = model.edx;
      break;
    case 0x80000000:
      registers[A] = std::max(registers[A], model.eax);
      break;
    case 0x80000001:
      take(registers[C], model.ecx,
           1u << 23);  // six counters; instruction-based sampling has no APIC entry here
      break;
    case 0x80000008:
      take(registers[B], model.ebx, 1u << 31);  // branch sampling
      break;
    case 0x80000021:
    case 0x80000022:
      if (units[cpu]->pmu().model().vendor == Vendor::amd)
        registers[A] = model.eax, registers[B] = model.ebx, registers[C] = model.ecx,
        registers[D] = model.edx;
      break;
    default:
      break;
  }
}

void pmu_write_lvt(unsigned cpu, uint32_t value) {
  constexpr u32 defined = 0x107FF;  // mask, mode, vector
  const u32 entry = value & defined;
  Pmu& pmu = units[cpu]->pmu();
  if (HardwareFiles* const files = units[cpu]->hardware_files()) files->access_from({});
  if (pmu.model().has_x2apic)
    static_cast<void>(pmu.wrmsr(msr::X2APIC_LVTPC, entry));
  else
    static_cast<void>(pmu.write_memory(msr::apic_base::DEFAULT_PAGE + msr::xapic::LVTPC,
                                       std::as_bytes(std::span(&entry, 1))));
}

void pmu_translations_changed(unsigned cpu) {
  if (units[cpu] != nullptr) units[cpu]->memory().translations_changed();
}
void pmu_debug_exception(unsigned cpu) { units[cpu]->pmu().debug_exception(); }
void pmu_set_time(unsigned cpu, uint64_t value) {
  static_cast<void>(units[cpu]->pmu().wrmsr(msr::TSC, value));
}
void pmu_pass_time(unsigned cpu, unsigned ticks) { pmu_set_time(cpu, units[cpu]->pmu().tsc() + ticks); }

bool pmu_listens(unsigned cpu) { return units[cpu]->listens(); }
bool pmu_wants_registers(unsigned cpu) { return units[cpu]->wants_registers(); }

MachineInstruction* pmu_new_instruction(uint64_t ip) {
  Translated& made = translations.instructions.emplace_back();
  made.head.page_offset = static_cast<uint16_t>(ip & 0xFFF);
  if (open_block != nullptr) open_block->instructions.push_back(&made);
  return &made.head;
}

void pmu_decode(MachineInstruction* instruction, const uint8_t* bytes, unsigned length, uint64_t ip,
                bool long_mode) {
  Translated& t = *reinterpret_cast<Translated*>(instruction);
  if (long_mode) t.instruction = x86::decode(std::as_bytes(std::span(bytes, length)), ip);
  if (t.instruction.length == 0) t.instruction = {.ip = ip, .signals = {Signal::instruction}};
  t.head.length = static_cast<uint8_t>(length);
  std::ranges::copy(std::as_bytes(std::span(bytes, length)), t.bytes.begin());
  t.head.is_branch = t.instruction.branch != BranchKind::none;
  for (const bool taken : {false, true})
    t.signals[taken] = t.head.is_branch
                           ? t.instruction.signals | outcome_signals(t.instruction.branch, {.taken = taken})
                           : t.instruction.signals;
}

void pmu_forget_translations() { ended_translations = std::exchange(translations, {}); }

MachineBlock* pmu_begin_block(uint64_t ip, unsigned cpl) {
  open_block = &translations.blocks.emplace_back();
  open_block->head.page_offset = static_cast<uint16_t>(ip & 0xFFF);
  open_block->cpl = cpl_of(cpl);
  return &open_block->head;
}

void pmu_end_block(MachineBlock* head, unsigned instructions, unsigned bytes) {
  Block& block = block_of(head);
  open_block = nullptr;
  block.instructions.resize(instructions);  // one that did not fit in has been taken back
  const Translated& last = *block.instructions.back();
  head->instructions = static_cast<uint16_t>(instructions);
  head->end = static_cast<uint16_t>(bytes);
  head->last = static_cast<uint16_t>(bytes - last.head.length);
  head->ends_in_branch = last.head.is_branch;
  head->ends_in_conditional = last.instruction.branch == BranchKind::conditional;
}

const MachineInstruction* pmu_instruction_of(const MachineBlock* block, unsigned n, unsigned* distance) {
  const auto& instructions = block_of(block).instructions;
  *distance = 0;
  for (unsigned before = 0; before < n; ++before) *distance += instructions[before]->head.length;
  return &instructions[n]->head;
}

MachineBlock* pmu_handler_entry(unsigned cpl) { return &handler_entries[cpl == 0 ? 0 : 1].head; }

uint64_t pmu_quiet_instructions(unsigned cpu) { return units[cpu]->quiet_instructions(); }
void pmu_note_block(unsigned cpu, MachineBlock* block, unsigned ending) {
  units[cpu]->note(block_of(block), ending);
}
bool pmu_records_branches(unsigned cpu) { return units[cpu]->pmu().records_branches(); }
void pmu_log_branches(unsigned cpu, const MachineBranch* branches, unsigned number) {
  for (const MachineBranch& branch : std::span(branches, number)) units[cpu]->log(branch);
}
void pmu_take_in(unsigned cpu, MachineBlock* last, unsigned ending) {
  units[cpu]->take_in(block_of(last), ending);
}
void pmu_retire_part(unsigned cpu, const MachineBlock* block, uint64_t ip, unsigned from, unsigned to) {
  units[cpu]->retire_part(block_of(block), ip, from, to);
}

void pmu_before(unsigned cpu, const MachineInstruction* instruction, uint64_t ip, const uint64_t* gpr,
                uint64_t fs_base, uint64_t gs_base) {
  units[cpu]->before(translated(instruction), ip, gpr, fs_base, gs_base);
}

void pmu_retire(unsigned cpu, const MachineInstruction* instruction, uint64_t ip, uint64_t next_ip,
                unsigned cpl, unsigned cpl_after, const MachineRegisters* registers) {
  units[cpu]->retire(translated(instruction), ip, next_ip, cpl_of(cpl), cpl_of(cpl_after),
                     reinterpret_cast<const Registers*>(registers));
}
void pmu_enter_handler(unsigned cpu, unsigned vector, uint64_t ip, uint64_t next_ip, unsigned cpl,
                       unsigned cpl_after) {
  units[cpu]->enter_handler(vector, ip, next_ip, cpl_of(cpl), cpl_of(cpl_after));
}

void pmu_take_task(unsigned cpu, const uint8_t* record, uint32_t bytes) {
  if (Recording* const recording = units[cpu]->recording())
    recording->take_task(std::as_bytes(std::span(record, bytes)));
}
void pmu_follow_ring(unsigned cpu, uint64_t linear, uint32_t bytes) {
  Recording* const recording = units[cpu]->recording();
  if (recording == nullptr) return;
  std::vector<std::byte*> pages;
  for (u64 at = 0; at < bytes; at += Ring::page_bytes) {
    u8* const page = cpu_linear_page(cpu, linear + at);
    if (page == nullptr) return;  // of a guest that has no ring
    pages.push_back(reinterpret_cast<std::byte*>(page));
  }
  if (pages.size() > 1) recording->follow(Ring(std::move(pages)));
}
