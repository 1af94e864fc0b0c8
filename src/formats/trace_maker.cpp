// SPDX-License-Identifier: MIT
#include "formats/trace_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/survey.h"

namespace pmusim::formats {

const x86::Instruction& TraceMaker::decode(u64 ip, std::span<const std::byte> code) {
  if (decoded_.size() >= max_distinct_instructions && !decoded_.contains(ip)) decoded_.clear();
  Decoded& known = decoded_[ip];
  if (!std::ranges::equal(known.code, code) || known.code.empty()) {
    known.code.assign(code.begin(), code.end());
    known.instruction = x86::decode(known.code, ip);
    // A trace keeps it without operands and repetitions.
    if (known.instruction.length != code.size()) known.instruction = x86::Instruction{};
  }
  return known.instruction;
}

Result<Done, Error> TraceMaker::retire(Thread thread, u64 ip, std::span<const std::byte> code,
                                       std::span<const u64> addresses, u32 iterations) {
  const x86::Instruction& instruction = decode(ip, code);
  Open& open = open_[thread];
  if (!open.lengths.empty() && (open.complete || open.end() != ip))
    if (auto closed = close(thread, open, ip); !closed.ok()) return closed;
  if (open.lengths.empty()) open.start = ip;
  open.code.insert(open.code.end(), code.begin(), code.end());
  open.lengths.push_back(static_cast<u8>(code.size()));
  open.addresses.insert(open.addresses.end(), addresses.begin(), addresses.end());
  if (instruction.rep) {
    open.iterations.push_back(iterations);
    ++repeats_;
  }
  open.complete =
      instruction.branch != BranchKind::none || open.lengths.size() == trace::max_block_instructions;
  ++instructions_;
  return Done{};
}

Result<Done, Error> TraceMaker::add_side_band(const trace::SideBandRecord& record) {
  current_.reset();
  return writer_.side_band(record);
}

Result<Done, Error> TraceMaker::interrupt(Thread thread) { return interrupt(thread, open_[thread].end()); }

Result<Done, Error> TraceMaker::interrupt(Thread thread, u64 next_ip) {
  Open& open = open_[thread];
  return open.lengths.empty() ? Done{} : close(thread, open, next_ip);
}

Result<Done, Error> TraceMaker::finish(u64 next_ip) {
  for (auto& [thread, open] : open_)
    if (!open.lengths.empty())
      if (auto closed = close(thread, open, next_ip != 0 ? next_ip : open.end()); !closed.ok()) return closed;
  return Done{};
}

Result<Done, Error> TraceMaker::close(Thread thread, Open& open, u64 next_ip) {
  if (current_ != thread)
    if (auto added = writer_.side_band(trace::ThreadSwitch{thread.pid, thread.tid}); !added.ok())
      return added;
  current_ = thread;
  const trace::Block* const block = block_of(open);
  if (block == nullptr)
    return Failure(Error(fmt::format("more than {} distinct instructions", max_distinct_instructions)));
  trace::BlockRun run{block, next_ip, open.addresses, open.iterations, {}};
  run.cycles = static_cast<u32>(std::min<u64>(open.cycles, low_bits(32)));
  auto written = writer_.run(run);
  open.code.clear();
  open.lengths.clear();
  open.addresses.clear();
  open.iterations.clear();
  open.cycles = 0;
  return written;
}

const trace::Block* TraceMaker::block_of(const Open& open) {
  const trace::Block*& block = blocks_[{open.start, open.code, open.lengths}];
  if (block != nullptr) return block;
  static_instructions_ += open.lengths.size();
  if (static_instructions_ > max_distinct_instructions) return nullptr;
  return block = &writer_.add_block(open.start, open.code, open.lengths);
}

}  // namespace pmusim::formats
