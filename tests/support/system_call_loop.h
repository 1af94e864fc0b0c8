// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_SYSTEM_CALL_LOOP_H
#define PMUSIM_TESTS_SUPPORT_SYSTEM_CALL_LOOP_H

#include <deque>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::test {

/// A program of user mode: rounds of 50 instructions, the last two of which are a system call and the jump
/// back. Registers, where they are known: RBX counts instructions, RAX is the call's number before it and 7
/// behind.
class SystemCallLoop final : public trace::Source {
 public:
  static constexpr u64 start = 0x401000, call = start + 48, jump = call + 2;
  static constexpr u64 stack = 0x7FFF'0000, number = 1;

  explicit SystemCallLoop(unsigned rounds, trace::Contents contents = {.addresses = true})
      : contents_(contents), rounds_(rounds) {
    std::vector<std::byte> nops(48, std::byte{0x90});
    nops.insert(nops.end(), {std::byte{0x0F}, std::byte{0x05}});
    add(start, nops);
    add(jump, {std::byte{0xEB}, std::byte{0xCC}});
    registers_.gpr[4] = stack;
  }
  /// Behind the call of this round a handler of a signal's runs: the loop again.
  void interrupt_at(unsigned round) { signal_at_ = round; }

  const trace::Contents& contents() const override { return contents_; }
  std::optional<u64> length() const override { return 50 * rounds_; }
  const std::optional<std::string>& truncation() const override { return truncation_; }
  std::vector<std::byte> code(u32, u64 address, std::size_t bytes) const override {
    std::vector<std::byte> all;
    for (const trace::Block& block : blocks_)
      for (u64 at = 0; at < block.code.size() && all.size() < bytes; ++at)
        if (block.start() + at == address + all.size()) all.push_back(block.code[at]);
    return all;
  }
  Result<std::unique_ptr<Source>, Error> again() const override {
    return std::unique_ptr<Source>(std::make_unique<SystemCallLoop>(rounds_, contents_));
  }
  Result<trace::Items, Error> read() override {
    const unsigned round = (step_ - 1) / 3, part = (step_ - 1) % 3;
    if (step_++ == 0) {
      item_ = trace::SideBandRecord(trace::ProcessStart{.pid = 1, .tid = 1, .command = "loop", .exec = true});
    } else if (round == rounds_) {
      return trace::Items();
    } else if (part == 1) {
      item_ = trace::SideBandRecord(trace::Syscall{.number = number, .result = 7});
    } else if (part == 2 && signal_at_ == round) {
      item_ = trace::SideBandRecord(trace::SignalDelivery{.signal = 10, .handler = jump});
    } else {
      item_ = run(blocks_[part == 0 ? 0 : 1], part == 0 ? jump : start);
    }
    return trace::Items(&item_, 1);
  }

 private:
  void add(u64 ip, std::vector<std::byte> code) {
    trace::Block& block = blocks_.emplace_back();
    block.id = static_cast<u32>(blocks_.size() - 1);
    block.code = std::move(code);
    for (std::size_t at = 0; at < block.code.size(); at += block.instructions.back().length)
      block.instructions.push_back(x86::decode(std::span(block.code).subspan(at), ip + at));
  }
  trace::BlockRun run(const trace::Block& block, u64 next_ip) {
    trace::BlockRun run{.block = &block, .next_ip = next_ip};
    if (!contents_.registers) return run;
    after_.clear();
    registers_.gpr[0] = number;
    for (const x86::Instruction& each : block.instructions) {
      ++registers_.gpr[3];
      if (each.branch == BranchKind::syscall) {
        registers_.gpr[0] = 7;
        registers_.gpr[1] = each.end();
        registers_.gpr[11] = registers_.rflags;
      }
      registers_.rip = each.branch == BranchKind::none ? each.end() : next_ip;
      after_.push_back(registers_);
    }
    run.registers = after_;
    return run;
  }

  trace::Contents contents_;
  unsigned rounds_, step_ = 0, signal_at_ = ~0u;
  std::deque<trace::Block> blocks_;
  Registers registers_;
  std::vector<Registers> after_;
  trace::Item item_;
  std::optional<std::string> truncation_;
};

}  // namespace pmusim::test

#endif
