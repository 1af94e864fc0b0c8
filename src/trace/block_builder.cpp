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

Result<Done, Error> BlockWriter::write(OpenBlock& open, u64 next_ip) {
  if (open.empty()) return Done{};
  BlockRun run{&block_of(open), next_ip, open.addresses_, open.rep_counts_, {}, nullptr, {}};
  if (contents_.registers) run.registers = open.registers_;
  if (contents_.extended) open.extended_.describe(run);
  auto written = writer_.run(run);
  open.extended_.clear();
  open.instructions_.clear();
  open.addresses_.clear();
  open.retired_addresses_ = 0;
  open.rep_counts_.clear();
  open.registers_.clear();
  return written;
}

const Block& BlockWriter::block_of(const OpenBlock& open) {
  key_.clear();
  for (const LiveInstruction* live : open.instructions_) key_.push_back(live->id);
  const auto [entry, is_new] = blocks_.try_emplace(key_, nullptr);
  if (is_new) {
    std::vector<std::byte> code;
    std::vector<u8> lengths;
    for (const LiveInstruction* live : open.instructions_) {
      code.insert(code.end(), live->code().begin(), live->code().end());
      lengths.push_back(live->instruction.length);
    }
    entry->second = &writer_.add_block(open.instructions_.front()->instruction.ip, code, lengths);
  }
  return *entry->second;
}

}  // namespace pmusim::trace
