// SPDX-License-Identifier: MIT
#include "live/emulated_machine.h"

#include <algorithm>
#include <utility>

#include "live/page_map.h"
#include "trace/tracee.h"

namespace pmusim::live {

std::optional<u64> EmulatedMachine::RunningProgram::physical_address(u32 pid, u64 address) const {
  const auto pages = PageMap::of(pid);
  return pages ? pages->physical_address(address) : std::nullopt;
}

std::vector<std::byte> EmulatedMachine::RunningProgram::code(u32 pid, u64 address, std::size_t bytes) const {
  return memory(pid, address, bytes);
}

std::vector<std::byte> EmulatedMachine::RunningProgram::memory(u32 pid, u64 address,
                                                               std::size_t bytes) const {
  std::vector<std::byte> read(bytes);
  read.resize(trace::read_memory(pid, address, read));
  return read;
}

Result<std::unique_ptr<EmulatedMachine>, Error> EmulatedMachine::create(const SessionOptions& options) {
  if (options.core == CoreLevel::sampled)
    return Failure(Error("core 'sampled' is for replays: a program that is stepped runs no faster for it"));
  auto cores = Cores::create(options, what_is_stepped);
  if (!cores.ok()) return Failure(cores.error());
  return std::unique_ptr<EmulatedMachine>(new EmulatedMachine(options, std::move(cores).value()));
}

EmulatedMachine::EmulatedMachine(const SessionOptions& options, std::unique_ptr<Cores> cores)
    : monitor_(options, program_), cores_(std::move(cores)) {
  cores_->add(monitor_);
  cores_->join_caches(0);
  // perf takes a record with time 0 for one that has none, and reads nothing behind it.
  for (u32 cpu = 0; cpu < monitor_.cpus(); ++cpu) monitor_.cpu(cpu).perf().set_time(first_ns);
}

void EmulatedMachine::run(trace::OpenBlock& open, u64 next_ip) {
  if (open.empty()) return;
  const trace::BlockRun run = open.as_run(block_of(open), next_ip, program_.contents());
  cores_->run(run);
  instructions_ += run.block->instructions.size();
  if (output_ != nullptr) output_->write(open, next_ip);
  open.clear();
}

const trace::Block& EmulatedMachine::block_of(const trace::OpenBlock& open) {
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

void EmulatedMachine::catch_up() {
  cores_->engine().settle();
  monitor_.catch_up();
  monitor_.bring_up_idle();
  if (std::exchange(caught_up_instructions_, instructions_) == instructions_) return;
  caught_up_ns_ = std::max(caught_up_ns_ + 1, monitor_.now());
  for (u32 cpu = 0; cpu < monitor_.cpus(); ++cpu) monitor_.cpu(cpu).perf().set_time(caught_up_ns_);
}

void EmulatedMachine::on_side_band(const trace::SideBandRecord& record) {
  if (output_ != nullptr) output_->add_side_band(record);
  cores_->engine().settle();
  if (std::holds_alternative<trace::SignalDelivery>(record)) cores_->engine().interrupt();
  cores_->on_side_band(record);
}

void EmulatedMachine::allow(u32 tid, std::vector<u32> cpus) {
  cores_->engine().settle();
  cores_->allow(tid, std::move(cpus));
}

void EmulatedMachine::execute(const trace::ProcessStart& start) {
  if (output_ != nullptr) output_->add_side_band(start);
  catch_up();
  perf().exec(start.tid, start.command);
}

void EmulatedMachine::fault(const PageFaults::Count& count, const Registers& before) {
  InterruptFrame frame;
  frame.registers = before;
  frame.registers_known = true;
  const auto add = [&](perf::SoftwareId id, u64 faults) {
    for (u64 n = 0; n < faults; ++n) running().count_software(id, 1, 0, frame);
  };
  cores_->engine().settle();
  running().set_time(monitor_.now());
  add(perf::SoftwareId::page_faults, count.all);
  add(perf::SoftwareId::page_faults_min, count.minor);
  add(perf::SoftwareId::page_faults_maj, count.major);
  catch_up();
}

}  // namespace pmusim::live
