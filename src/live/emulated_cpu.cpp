// SPDX-License-Identifier: MIT
#include "live/emulated_cpu.h"

#include <algorithm>
#include <utility>

#include "live/page_map.h"
#include "trace/tracee.h"

namespace pmusim::live {

std::optional<u64> EmulatedCpu::RunningProgram::physical_address(u32 pid, u64 address) const {
  const auto pages = PageMap::of(pid);
  return pages ? pages->physical_address(address) : std::nullopt;
}

std::vector<std::byte> EmulatedCpu::RunningProgram::code(u32 pid, u64 address, std::size_t bytes) const {
  return memory(pid, address, bytes);
}

std::vector<std::byte> EmulatedCpu::RunningProgram::memory(u32 pid, u64 address, std::size_t bytes) const {
  std::vector<std::byte> read(bytes);
  read.resize(trace::read_memory(pid, address, read));
  return read;
}

Result<std::unique_ptr<EmulatedCpu>, Error> EmulatedCpu::create(const SessionOptions& options) {
  if (options.core == CoreLevel::sampled)
    return Failure(Error("core 'sampled' is for replays: a program that is stepped runs no faster for it"));
  auto engine = make_engine(options, what_is_stepped);
  if (!engine.ok()) return Failure(engine.error());
  return std::unique_ptr<EmulatedCpu>(new EmulatedCpu(options, std::move(engine).value()));
}

EmulatedCpu::EmulatedCpu(const SessionOptions& options, std::unique_ptr<Engine> engine)
    : monitor_(options, program_), engine_(std::move(engine)) {
  engine_->add(monitor_.cpu(0));
}

void EmulatedCpu::run(trace::OpenBlock& open, u64 next_ip) {
  if (open.empty()) return;
  const trace::BlockRun run = open.as_run(block_of(open), next_ip, program_.contents());
  engine_->run(run);
  instructions_ += run.block->instructions.size();
  if (output_ != nullptr) output_->write(open, next_ip);
  open.clear();
}

const trace::Block& EmulatedCpu::block_of(const trace::OpenBlock& open) {
  key_.clear();
  for (const trace::LiveInstruction* live : open.instructions()) key_.push_back(live->id);
  const auto [entry, is_new] = known_blocks_.try_emplace(key_, nullptr);
  if (!is_new) return *entry->second;
  trace::Block& block = blocks_.emplace_back();
  block.id = static_cast<u32>(blocks_.size() - 1);
  block.code = open.code();
  for (const trace::LiveInstruction* live : open.instructions()) {
    block.instructions.push_back(live->instruction);
    block.operands += live->instruction.memory_operands;
    block.reps += live->instruction.rep ? 1 : 0;
  }
  entry->second = &block;
  return block;
}

void EmulatedCpu::catch_up() {
  engine_->settle();
  monitor_.catch_up();
  if (std::exchange(caught_up_instructions_, instructions_) == instructions_) return;
  caught_up_ns_ = std::max(caught_up_ns_ + 1, monitor_.now());
  cpu().set_time(caught_up_ns_);
}

void EmulatedCpu::on_side_band(const trace::SideBandRecord& record) {
  if (output_ != nullptr) output_->add_side_band(record);
  engine_->settle();
  if (std::holds_alternative<trace::SignalDelivery>(record)) engine_->interrupt();
  monitor_.on_side_band(record);
}

void EmulatedCpu::execute(const trace::ProcessStart& start) {
  if (output_ != nullptr) output_->add_side_band(start);
  catch_up();
  perf().exec(start.tid, start.command);
}

void EmulatedCpu::fault(const PageFaults::Count& count, const Registers& before) {
  InterruptFrame frame;
  frame.registers = before;
  frame.registers_known = true;
  const auto add = [&](perf::SoftwareId id, u64 faults) {
    for (u64 n = 0; n < faults; ++n) cpu().count_software(id, 1, 0, frame);
  };
  engine_->settle();
  cpu().set_time(monitor_.now());
  add(perf::SoftwareId::page_faults, count.all);
  add(perf::SoftwareId::page_faults_min, count.minor);
  add(perf::SoftwareId::page_faults_maj, count.major);
  catch_up();
}

}  // namespace pmusim::live
