// SPDX-License-Identifier: MIT
#include "trace/block_builder.h"

namespace pmusim::trace {

void OpenBlock::expect(const LiveInstruction& live, const Registers& before, u64 fs_base, u64 gs_base) {
  for (const auto& operand : live.instruction.accesses()) {
    addresses_.push_back(x86::effective_address(live.instruction, operand, before, fs_base, gs_base));
  }
}

void OpenBlock::retired(const LiveInstruction& live, u32 rep_count, const Registers& after) {
  instructions_.push_back(&live);
  retired_addresses_ = addresses_.size();
  if (live.instruction.rep) rep_counts_.push_back(rep_count);
  registers_.push_back(after);
}

BlockRun OpenBlock::as_run(const Block& block, u64 next_ip, const Contents& contents) {
  BlockRun run{&block, next_ip, addresses_, rep_counts_, {}, nullptr, {}};
  if (contents.registers) run.registers = registers_;
  if (contents.extended) extended_.describe(run);
  return run;
}

void OpenBlock::clear() {
  extended_.clear();
  instructions_.clear();
  addresses_.clear();
  retired_addresses_ = 0;
  rep_counts_.clear();
  registers_.clear();
}

Result<Done, Error> BlockWriter::write(OpenBlock& open, u64 next_ip) {
  if (open.empty()) return Done{};
  auto written = writer_.run(open.as_run(block_of(open), next_ip, contents_));
  open.clear();
  return written;
}

std::vector<std::byte> OpenBlock::code() const {
  std::vector<std::byte> code;
  for (const LiveInstruction* live : instructions_)
    code.insert(code.end(), live->code().begin(), live->code().end());
  return code;
}

const Block& BlockWriter::block_of(const OpenBlock& open) {
  key_.clear();
  for (const LiveInstruction* live : open.instructions()) key_.push_back(live->id);
  const auto [entry, is_new] = blocks_.try_emplace(key_, nullptr);
  if (is_new) {
    std::vector<u8> lengths;
    for (const LiveInstruction* live : open.instructions()) lengths.push_back(live->instruction.length);
    entry->second = &writer_.add_block(open.start(), open.code(), lengths);
  }
  return *entry->second;
}

}  // namespace pmusim::trace
