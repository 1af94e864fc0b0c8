// SPDX-License-Identifier: MIT
// Cycles per iteration of loops as the timing model has them, for scripts/compare_core_costs.py. Reads lines
//
//     MODEL fused|split|whole HEX
//
// and writes a number for each. `split` counts as llvm-mca does: an instruction that loads and computes is
// two uops, loads take five cycles (on Intel's large cores), and the front end delivers whatever is taken.
// `whole` does so, too, but leaves such an instruction one uop. Nothing misses, and no load waits for a
// store. A branch at the end that goes to the beginning is taken.
#include <fmt/format.h>

#include <iostream>
#include <string>
#include <vector>

#include "core/core.h"

namespace {

using namespace pmusim;

constexpr x86::RegisterMask loaded_value = bit(60);  // no register of an instruction

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(at, 2), nullptr, 16)));
  return bytes;
}

bool is_plain_access(InstructionForm form) {
  return form == InstructionForm::load || form == InstructionForm::vector_load ||
         form == InstructionForm::store || form == InstructionForm::push || form == InstructionForm::pop;
}

x86::Instruction load_of(const x86::Instruction& whole) {
  x86::Instruction load = whole;
  load.form = InstructionForm::load;
  load.memory[0].store = false;
  load.registers_written = loaded_value;
  load.flag_writer = FlagWriter::none;
  load.signals = {Signal::instruction, Signal::load};
  load.registers_read = 0;
  for (const u8 address : {whole.memory[0].base, whole.memory[0].index})
    if (address < 16) load.registers_read |= bit(address);
  return load;
}

x86::Instruction operation_of(const x86::Instruction& whole) {
  x86::Instruction operation = whole;
  operation.memory_operands = whole.memory[0].store ? 1 : 0;
  operation.memory[0].load = false;
  operation.registers_read |= loaded_value;
  operation.signals = {Signal::instruction};
  if (whole.memory[0].store) operation.signals.add(Signal::store);
  return operation;
}

trace::Block block_of(const std::string& hex, bool split) {
  trace::Block block;
  block.code = bytes_of(hex);
  for (std::size_t at = 0; at < block.code.size();) {
    const x86::Instruction made = x86::decode(std::span(block.code).subspan(at), 0x401000 + at);
    if (made.length == 0) break;
    at += made.length;
    const bool computes = made.memory_operands == 1 && made.memory[0].load && !is_plain_access(made.form);
    if (split && computes && !made.memory[0].vector_index && !made.locked) {
      block.instructions.push_back(load_of(made));
      block.instructions.push_back(operation_of(made));
    } else {
      block.instructions.push_back(made);
    }
  }
  return block;
}

void widen_front_end(CoreParameters& core) {
  core.uop_cache_lines = core.loop_buffer_uops = core.length_change_cycles = core.microcode_switch_cycles = 0;
  core.predecode_instructions = core.last_decoder_leaves_pairs = 0;
  core.decoders = 16;
  core.fetch_bytes = 4096;
}

double cycles_per_iteration(CpuModel model, const std::string& hex, const std::string& counting) {
  const bool split = counting == "split", as_llvm = split || counting == "whole";
  if (split && model.vendor == Vendor::intel && model.core_type == CoreType::core)
    model.core.l1d.latency_cycles = 5;
  if (as_llvm) model.core.slow_address_cycles = 0;
  if (as_llvm) model.core.move_elimination = MoveElimination::none;
  if (as_llvm) model.core.macro_fusion = MacroFusion::none;
  if (as_llvm) widen_front_end(model.core);
  auto core = Core::create(model);
  const trace::Block block = block_of(hex, split);
  if (!core.ok() || block.instructions.empty()) return 0;
  constexpr unsigned warm = 200, counted = 1000;
  u64 before = 0;
  for (unsigned n = 0; n < warm + counted; ++n) {
    if (n == warm) before = core->cycle();
    trace::BlockRun run;
    run.block = &block;
    const x86::Instruction& last = block.instructions.back();
    run.next_ip = last.target == block.start() ? block.start() : last.end();
    core->run(run, [](const Retirement&) {});
  }
  return static_cast<double>(core->cycle() - before) / counted;
}

}  // namespace

int main() {
  std::string name, counting, hex;
  while (std::cin >> name >> counting >> hex) {
    const auto model = find_cpu_model(name);
    if (!model.ok()) {
      std::cerr << model.error().message << "\n";
      return 2;
    }
    std::cout << fmt::format("{:.2f}\n", cycles_per_iteration(*model, hex, counting)) << std::flush;
  }
}
