// SPDX-License-Identifier: MIT
#include "pmu/recording.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace pmusim::machine {

namespace {

constexpr u64 kernel_text = 0xFFFF'FFFF'8100'0000;  // without KASLR
constexpr u64 kernel_bytes = 0x3F00'0000;           // up to where modules may be

[[noreturn]] void end(const std::string& sentence) {
  std::fprintf(stderr, "pmusim-machine: %s\n", sentence.c_str());
  std::exit(2);
}

std::string key_of(u64 start, Cpl ring, const std::string& code) {
  std::string key(reinterpret_cast<const char*>(&start), sizeof start);
  key += static_cast<char>(ring);
  return key + code;
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
  write_line();
  if (writer_.instruction_count() == 0) return;
  if (const auto written = writer_.finish(); !written.ok())
    std::fprintf(stderr, "pmusim-machine: %s\n", written.error().message.c_str());
  if (tasks_.lost() != 0)
    std::fprintf(
        stderr,
        "pmusim-machine: the guest's kernel lost %llu records of its tasks: from there on the trace may "
        "take one for another\n",
        static_cast<unsigned long long>(tasks_.lost()));
}

void Recording::check(const Result<Done, Error>& written) {
  if (!written.ok()) end(written.error().message);
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
    write_line();
    line_.start = retired.ip;
    line_.ring = retired.cpl;
  }
  line_.next_ip = retired.next_ip;
  line_.code.append(reinterpret_cast<const char*>(retired.code.data()), retired.code.size());
  line_.lengths.push_back(static_cast<u8>(retired.code.size()));
  line_.addresses.insert(line_.addresses.end(), operands_.begin(), operands_.end());
  if (has_registers_) line_.registers.push_back(*retired.registers);
  if (retired.instruction.rep) line_.rep_counts.push_back(passes_ == 0 ? 0 : passes_ - 1);
  passes_ = 0;
  if (retired.instruction.branch != BranchKind::none) write_line();
}

void Recording::enter_handler(const trace::Interrupt& interrupt) {
  write_line();
  passes_ = 0;
  check(writer_.side_band(interrupt));
}

void Recording::interrupt_line() { write_line(); }

void Recording::write_line() {
  if (!line_.lengths.empty()) write_block();
  read_ring();
}

/// Code of 32 bits is taken for what its bytes are in 64: it may have other accesses then.
void Recording::write_block() {
  const trace::Block*& block = blocks_[key_of(line_.start, line_.ring, line_.code)];
  if (block == nullptr)
    block = &writer_.add_block(line_.start, std::as_bytes(std::span(line_.code)), line_.lengths, line_.ring);
  line_.addresses.resize(block->operands);
  line_.rep_counts.resize(block->reps);
  check(writer_.run({.block = block,
                     .next_ip = line_.next_ip,
                     .addresses = line_.addresses,
                     .rep_counts = line_.rep_counts,
                     .registers = line_.registers}));
  line_ = {};
}

/// What the kernel has told of its tasks by the end of what was written last.
void Recording::read_ring() {
  for (auto record = ring_.next(); !record.empty(); record = ring_.next())
    for (const trace::SideBandRecord& change : tasks_.changes(record)) check(writer_.side_band(change));
}

void Recording::take_tasks(std::span<const std::byte> records) { tasks_.know(records); }

}  // namespace pmusim::machine
