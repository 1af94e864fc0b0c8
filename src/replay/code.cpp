// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "pmusim/replay/replay.h"
#include "replay/feeder.h"

namespace pmusim {

namespace {

/// Whether it never goes on behind itself.
bool always_leaves(BranchKind kind) {
  return is_near_branch(kind) ? kind != BranchKind::conditional
                              : kind == BranchKind::far_jump || kind == BranchKind::far_call ||
                                    kind == BranchKind::far_return || kind == BranchKind::interrupt_return;
}

/// The code as blocks, which end at branches.
Result<std::vector<trace::Block>, Error> blocks_of(const CodeRun& run) {
  std::vector<trace::Block> blocks;
  for (std::size_t at = 0; at < run.code.size();) {
    const x86::Instruction instruction = x86::decode(run.code.subspan(at), run.ip + at);
    if (instruction.length == 0)
      return Failure(
          Error(fmt::format("code at {:#x}, offset {}: no 64-bit instruction, or the end of one is "
                            "missing",
                            run.ip + at, at)));
    at += instruction.length;
    if (always_leaves(instruction.branch) && at != run.code.size())
      return Failure(
          Error(fmt::format("code at {:#x}: a {} before the end of the code; expected straight-line "
                            "code, of which the last instruction may leave",
                            instruction.ip, name_of(instruction.branch))));
    const bool fresh = blocks.empty() || blocks.back().instructions.back().branch != BranchKind::none ||
                       blocks.back().instructions.size() == trace::max_block_instructions;
    if (fresh) blocks.emplace_back();
    blocks.back().instructions.push_back(instruction);
    blocks.back().operands += instruction.memory_operands;
  }
  return blocks;
}

u64 operands_of(const std::vector<trace::Block>& blocks) {
  u64 operands = 0;
  for (const trace::Block& block : blocks) operands += block.operands;
  return operands;
}

u64 instructions_of(const std::vector<trace::Block>& blocks) {
  u64 instructions = 0;
  for (const trace::Block& block : blocks) instructions += block.instructions.size();
  return instructions;
}

}  // namespace

class CodeRunner::State {
 public:
  explicit State(Core core) : feeder_(std::move(core)) {}
  void attach(Pmu& pmu) { feeder_.attach(pmu); }
  Result<u64, Error> run(const CodeRun& run);

 private:
  Feeder feeder_;
};

Result<u64, Error> CodeRunner::State::run(const CodeRun& run) {
  const auto blocks = blocks_of(run);
  if (!blocks.ok()) return Failure(blocks.error());
  if (!run.addresses.empty() && run.addresses.size() != operands_of(*blocks))
    return Failure(Error(fmt::format("code at {:#x}: {} addresses for {} memory operands", run.ip,
                                     run.addresses.size(), operands_of(*blocks))));
  if (!run.registers.empty() && run.registers.size() != instructions_of(*blocks))
    return Failure(Error(fmt::format("code at {:#x}: registers after {} instructions, of {}", run.ip,
                                     run.registers.size(), instructions_of(*blocks))));
  feeder_.synchronize();
  u64 retired = 0;
  std::size_t address = 0;
  for (const trace::Block& block : *blocks) {
    const bool last = &block == &blocks->back();
    trace::BlockRun one{.block = &block, .next_ip = last && run.next_ip != 0 ? run.next_ip : block.end()};
    if (!run.addresses.empty()) one.addresses = run.addresses.subspan(address, block.operands);
    if (!run.registers.empty()) one.registers = run.registers.subspan(retired, block.instructions.size());
    feeder_.run(one, run.cpl, last ? run.cpl_after.value_or(run.cpl) : run.cpl);
    address += block.operands;
    retired += block.instructions.size();
  }
  return retired;
}

Result<CodeRunner, Error> CodeRunner::create(const CpuModel& model) {
  Result<Core, Error> core = Core::create(model);
  if (!core.ok()) return Failure(core.error());
  return CodeRunner(std::make_unique<State>(std::move(core).value()));
}

CodeRunner::CodeRunner(std::unique_ptr<State> state) : state_(std::move(state)) {}
CodeRunner::CodeRunner(CodeRunner&&) noexcept = default;
CodeRunner& CodeRunner::operator=(CodeRunner&&) noexcept = default;
CodeRunner::~CodeRunner() = default;

void CodeRunner::attach(Pmu& pmu) { state_->attach(pmu); }
Result<u64, Error> CodeRunner::run(const CodeRun& run) { return state_->run(run); }

}  // namespace pmusim
