// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SESSION_WALK_H
#define PMUSIM_TESTS_SESSION_WALK_H

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::test {

/// A program of random blocks with every kind of branch, and a random walk through it: some threads, some
/// signals, some mappings. The same seed is the same program.
class Walk final : public trace::Source {
 public:
  enum class Registers : u8 { unknown, known };
  enum class Addresses : u8 { unknown, known };

  Walk(u64 seed, u64 block_runs, Registers registers, Addresses addresses = Addresses::unknown)
      : random_(seed), left_(block_runs) {
    contents_.registers = registers == Registers::known;
    contents_.addresses = addresses == Addresses::known;
    constexpr std::size_t blocks = 12;
    for (std::size_t n = 0; n < blocks; ++n) add_block(n, blocks);
  }

  const trace::Contents& contents() const override { return contents_; }
  std::optional<u64> length() const override { return std::nullopt; }
  const std::optional<std::string>& truncation() const override { return truncation_; }
  std::vector<std::byte> code(u32, u64 address, std::size_t bytes) const override {
    if (address < base || address - base >= code_.size()) return {};
    const auto from = code_.begin() + static_cast<std::ptrdiff_t>(address - base);
    const auto left = static_cast<std::size_t>(code_.end() - from);
    return {from, from + static_cast<std::ptrdiff_t>(std::min(bytes, left))};
  }
  Result<trace::Items, Error> read() override {
    if (left_ == 0) return trace::Items();
    if (beginning_ < 3)
      item_ = begin(beginning_++);
    else if (one_in(400))
      item_ = record();
    else
      item_ = run();
    return trace::Items(&item_, 1);
  }

 private:
  static constexpr u64 base = 0x401000;

  u64 below(u64 n) { return random_() % n; }
  bool one_in(u64 n) { return below(n) == 0; }

  void put(std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) code_.push_back(static_cast<std::byte>(byte));
  }
  /// To a distance that is only known when all blocks are there: 16 bytes ahead and up.
  void put_distance(u64 distance) {
    for (unsigned n = 0; n < 4; ++n) code_.push_back(static_cast<std::byte>(distance >> (8 * n)));
  }
  void put_plain() {
    switch (below(12)) {
      case 0:
        return put({0x48, 0x8B, 0x03});  // mov rax, [rbx]
      case 1:
        return put({0x48, 0x89, 0x03});  // mov [rbx], rax
      case 2:
        return put({0x48, 0x0F, 0xAF, 0xC3});  // imul rax, rbx
      case 3:
        return put({0xF2, 0x0F, 0x58, 0xC1});  // addsd xmm0, xmm1
      case 4:
        return one_in(4) ? put({0x0F, 0xA2}) : put({0x90});  // cpuid; nop
      case 5:
        return one_in(4) ? put({0x48, 0xF7, 0xF3}) : put({0xF0, 0x48, 0xFF, 0x03});  // div; lock inc [rbx]
      case 6:
        return one_in(2) ? put({0xF3, 0xA4}) : put({0x48, 0x39, 0xD8});  // rep movsb; cmp rax, rbx
      default:
        return put({0x48, 0x01, 0xD8});  // add rax, rbx
    }
  }
  /// Blocks are 64 bytes apart at most, so a distance of up to 64 per block leads into the program.
  void put_branch(std::size_t number, std::size_t blocks) {
    const u64 distance = u64{0} - below(64 * (number + 1));
    switch (number + 1 == blocks ? 1 : below(9)) {
      case 0:
        return put({0x0F, 0x05});  // syscall
      case 1:
        put({0xE9});  // jmp
        return put_distance(distance);
      case 2:
        put({0xE8});  // call
        return put_distance(one_in(4) ? 0 : distance);
      case 3:
        return put({0xC3});
      case 4:
        return one_in(2) ? put({0xFF, 0xE0}) : put({0xFF, 0xD0});  // jmp rax; call rax
      case 5:
        return;  // falls through
      default:
        put({0x0F, 0x84});  // je
        return put_distance(distance);
    }
  }
  void add_block(std::size_t number, std::size_t blocks) {
    const std::size_t start = code_.size();
    for (u64 n = 1 + below(6); n != 0; --n) put_plain();
    put_branch(number, blocks);
    trace::Block& block = blocks_.emplace_back();
    block.id = static_cast<u32>(number);
    block.code.assign(code_.begin() + static_cast<std::ptrdiff_t>(start), code_.end());
    for (std::size_t at = 0; at < block.code.size();) {
      block.instructions.push_back(x86::decode(std::span(block.code).subspan(at), base + start + at));
      const x86::Instruction& instruction = block.instructions.back();
      block.operands += instruction.memory_operands;
      block.reps += instruction.rep ? 1 : 0;
      at += instruction.length;
    }
  }

  trace::SideBandRecord begin(unsigned step) {
    if (step == 0) return trace::ProcessStart{.pid = 1, .tid = 1, .command = "walk", .exec = true};
    if (step == 1)
      return trace::Map{1, {.start = base, .bytes = 0x1000, .protection = 5, .flags = 2, .path = "/walk"}};
    return trace::ThreadStart{.pid = 1, .tid = 2, .parent_pid = 1, .parent_tid = 1};
  }
  trace::SideBandRecord record() {
    switch (below(3)) {
      case 0:
        return trace::SignalDelivery{.signal = 10, .handler = base};
      case 1:
        return trace::Map{1, {.start = 0x700000, .bytes = 0x1000, .protection = 1, .flags = 2, .path = "m"}};
      default:
        return trace::ThreadSwitch{.pid = 1, .tid = static_cast<u32>(1 + below(2))};
    }
  }
  /// Loops, mostly: the same way out as the last time.
  u64 next_ip(const x86::Instruction& last) {
    switch (last.branch) {
      case BranchKind::conditional:
        return one_in(3) ? last.end() : last.target;
      case BranchKind::direct_jump:
      case BranchKind::direct_call:
        return last.target;
      case BranchKind::none:
      case BranchKind::syscall:
        return last.end();
      default:
        return blocks_[below(one_in(2) ? 2 : blocks_.size())].start();
    }
  }
  /// The same few lines, mostly; else a stream, the neighbourhood of a line's end, anything within 8 MiB, or
  /// code.
  u64 address() {
    constexpr u64 data = 0x10'0000'0000;
    switch (below(12)) {
      case 0:
        return data + 0x800000 + 24 * stream_++;
      case 1:
        return data + 0x1000 * below(4) + 60 + below(8);
      case 2:
        return data + below(8 << 20);
      case 3:
        return one_in(8) ? base + below(64) : data;
      default:
        return data + 8 * below(64);
    }
  }
  trace::BlockRun run() {
    --left_;
    const trace::Block& block = blocks_[here_];
    const u64 next = next_ip(block.instructions.back());
    trace::BlockRun run{
        .block = &block, .next_ip = next, .rep_counts = std::span(rep_counts_).first(block.reps)};
    if (contents_.registers) {
      registers_.resize(block.instructions.size());
      for (pmusim::Registers& r : registers_) r.gpr.fill(random_());
      run.registers = registers_;
    }
    if (contents_.addresses) {
      addresses_.clear();
      for (u32 n = 0; n < block.operands; ++n) addresses_.push_back(address());
      run.addresses = addresses_;
    }
    here_ = 0;
    while (here_ + 1 < blocks_.size() && blocks_[here_ + 1].start() <= next) ++here_;
    return run;
  }

  std::mt19937_64 random_;
  u64 left_;
  unsigned beginning_ = 0;
  std::size_t here_ = 0;
  trace::Contents contents_;
  std::optional<std::string> truncation_;
  std::vector<std::byte> code_;
  std::deque<trace::Block> blocks_;
  std::vector<pmusim::Registers> registers_;
  std::vector<u64> addresses_;
  u64 stream_ = 0;
  std::vector<u32> rep_counts_ = std::vector<u32>(8, 3);
  trace::Item item_;
};

}  // namespace pmusim::test

#endif
