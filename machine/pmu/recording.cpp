// SPDX-License-Identifier: MIT
#include "pmu/recording.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace pmusim::machine {

namespace {

constexpr u64 kernel_text = 0xFFFF'FFFF'8100'0000;  // without KASLR
constexpr u64 kernel_bytes = 0x3F00'0000;           // up to where modules may be

void say(const std::string& sentence) { std::fprintf(stderr, "pmusim-machine: %s\n", sentence.c_str()); }

[[noreturn]] void end(const std::string& sentence) {
  say(sentence);
  std::exit(2);
}

void check(const Result<Done, Error>& done) {
  if (!done.ok()) end(done.error().message);
}

}  // namespace

std::unique_ptr<Recording> Recording::from_environment() {
  const char* const path = std::getenv("PMUSIM_MACHINE_RECORD");
  if (path == nullptr) return nullptr;
  const bool registers = std::getenv("PMUSIM_MACHINE_RECORD_REGISTERS") != nullptr;
  auto writer = trace::Writer::create(path, {.addresses = true, .registers = registers, .kernel = true});
  if (!writer.ok()) end(writer.error().message);
  return std::make_unique<Recording>(std::move(writer).value(), registers);
}

Recording::Recording(trace::Writer writer, bool has_registers)
    : writer_(std::move(writer)), has_registers_(has_registers) {
  check(writer_.side_band(
      trace::ProcessStart{.pid = Tasks::first, .tid = Tasks::first, .command = "init", .exec = true}));
  check(writer_.side_band(trace::ThreadSwitch{.pid = Tasks::first, .tid = Tasks::first}));
  check(writer_.side_band(trace::Map{trace::kernel_pid,
                                     {.start = kernel_text,
                                      .bytes = kernel_bytes,
                                      .file_offset = kernel_text,
                                      .protection = 5,
                                      .flags = 2,
                                      .path = "[kernel.kallsyms]_text",
                                      .build_id = {}}}));
}

Recording::~Recording() {
  const auto last = write_line();
  if (!last.ok()) say(last.error().message);
  if (writer_.instruction_count() == 0) return;
  if (const auto written = writer_.finish(); !written.ok()) say(written.error().message);
  say_what_is_missing();
}

void Recording::say_what_is_missing() const {
  if (tasks_.lost() != 0)
    say("the guest's kernel lost " + std::to_string(tasks_.lost()) +
        " records of its tasks: from there on the trace may take one for another");
  if (tasks_.left_out() != 0)
    say("left out " + std::to_string(tasks_.left_out()) +
        " of the guest's records of its tasks: Linux gives tasks the numbers 1 to " +
        std::to_string(Tasks::limit - 1) + ", and they name others");
}

void Recording::before(u64 ip, std::span<const u64> operands) {
  if (std::exchange(begun_ip_, ip) == ip && passes_ != 0) {
    ++passes_;
    return;
  }
  passes_ = 1;
  operands_.assign(operands.begin(), operands.end());
}

/// The emulator comes back to a string instruction once more than it has iterations.
void Recording::retire(const Retired& retired) {
  const bool goes_on = !line_.lengths.empty() && line_.next_ip == retired.ip && line_.ring == retired.cpl &&
                       line_.lengths.size() < trace::max_block_instructions;
  if (!goes_on) {
    check(write_line());
    line_.start = retired.ip;
    line_.ring = retired.cpl;
  }
  line_.next_ip = retired.next_ip;
  line_.code.insert(line_.code.end(), retired.code.begin(), retired.code.end());
  line_.lengths.push_back(static_cast<u8>(retired.code.size()));
  line_.addresses.insert(line_.addresses.end(), operands_.begin(), operands_.end());
  if (has_registers_) line_.registers.push_back(*retired.registers);
  if (retired.instruction.rep) line_.rep_counts.push_back(passes_ == 0 ? 0 : passes_ - 1);
  passes_ = 0;
  if (retired.instruction.branch != BranchKind::none) check(write_line());
}

void Recording::enter_handler(const trace::Interrupt& interrupt) {
  check(write_line());
  passes_ = 0;
  check(writer_.side_band(interrupt));
}

void Recording::interrupt_line() { check(write_line()); }

Result<Done, Error> Recording::write_line() {
  if (!line_.lengths.empty())
    if (auto written = write_block(); !written.ok()) return written;
  return read_ring();
}

const trace::Block& Recording::block_of(const Line& line) {
  std::vector<const trace::Block*>& there = blocks_[line.start];
  const auto known = std::ranges::find_if(there, [&](const trace::Block* block) {
    return block->ring == line.ring && std::ranges::equal(block->code, line.code);
  });
  if (known != there.end()) return **known;
  return *there.emplace_back(&writer_.add_block(line.start, line.code, line.lengths, line.ring));
}

/// Code of 32 bits is taken for what its bytes are in 64: it may have other accesses then.
Result<Done, Error> Recording::write_block() {
  const trace::Block& block = block_of(line_);
  line_.addresses.resize(block.operands);
  line_.rep_counts.resize(block.reps);
  auto written = writer_.run({.block = &block,
                              .next_ip = line_.next_ip,
                              .addresses = line_.addresses,
                              .rep_counts = line_.rep_counts,
                              .registers = line_.registers});
  line_.code.clear();
  line_.lengths.clear();
  line_.addresses.clear();
  line_.rep_counts.clear();
  line_.registers.clear();
  return written;
}

/// What the kernel has told of its tasks by the end of what was written last.
Result<Done, Error> Recording::read_ring() {
  const auto refused = [&](const Error& error) {
    const std::string place = std::to_string(ring_.place());
    ring_ = Ring();
    return Failure(Error("the guest's records of its tasks, at byte " + place + ": " + error.message));
  };
  while (true) {
    const auto record = ring_.next();
    if (!record.ok()) return refused(record.error());
    if (record->empty()) return Done{};
    const auto changes = tasks_.changes(*record);
    if (!changes.ok()) return refused(changes.error());
    for (const trace::SideBandRecord& change : *changes)
      if (auto written = writer_.side_band(change); !written.ok()) return written;
  }
}

void Recording::take_task(std::span<const std::byte> record) {
  if (const auto known = tasks_.know(record); !known.ok())
    end("what the guest's first process tells of its tasks: " + known.error().message);
}

}  // namespace pmusim::machine
