// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_FUZZED_TRACE_H
#define PMUSIM_TESTS_SUPPORT_FUZZED_TRACE_H

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/trace/trace.h"
#include "pmusim/x86/instruction.h"
#include "tests/support/fuzz_input.h"

namespace pmusim {

/// A directory for this process; what is in it is overwritten again and again.
inline const std::filesystem::path& fuzz_directory() {
  static const std::filesystem::path path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "pmusim-fuzz-XXXXXX").string();
    must(::mkdtemp(name.data()) != nullptr);
    return std::filesystem::path(name);
  }();
  return path;
}

/// A well-formed trace of a fuzzer's choices.
class TraceMaker {
 public:
  TraceMaker(FuzzInput& input, const std::string& path) : input_(input), contents_(contents(input)) {
    auto writer = trace::Writer::create(path, contents_);
    must(writer.ok());
    writer_.emplace(*std::move(writer));
  }
  TraceMaker(const TraceMaker&) = delete;
  TraceMaker& operator=(const TraceMaker&) = delete;

  /// False: no trace can hold that.
  bool make() {
    if (input_.below(8) != 0) {
      add_side_band(trace::ProcessStart{1, 1, "program", true});
      add_side_band(trace::ThreadSwitch{1, 1});
    }
    for (unsigned steps = 0; steps < 200 && input_.below(64) != 0; ++steps) step();
    return fits_ && writer_->finish().ok();
  }

 private:
  static trace::Contents contents(FuzzInput& input) {
    return {.addresses = input.flag(), .registers = input.flag()};
  }
  void add_side_band(const trace::SideBandRecord& record) {
    fits_ = writer_->side_band(record).ok() && fits_;
  }

  void step() {
    switch (input_.below(4)) {
      case 0:
        return add_block();
      case 1:
        return add_side_band(record());
      default:
        for (std::size_t n = blocks_.empty() ? 0 : 1 + input_.below(32); n != 0; --n)
          run(*input_.pick(blocks_));
    }
  }
  void add_block() {
    const auto bytes = std::as_bytes(input_.bytes(1 + input_.below(40)));
    const u64 start = input_.flag() ? 0x401000 + 64 * input_.below(64) : input_.number();
    std::vector<u8> lengths;
    std::size_t covered = 0;
    while (covered < bytes.size()) {
      const unsigned length = x86::decode(bytes.subspan(covered), start + covered).length;
      if (length == 0) break;
      lengths.push_back(static_cast<u8>(length));
      covered += length;
    }
    if (!lengths.empty()) blocks_.push_back(&writer_->add_block(start, bytes.first(covered), lengths));
  }
  void run(const trace::Block& block) {
    std::vector<u64> addresses(contents_.addresses ? block.operands : 0);
    for (u64& address : addresses) address = input_.number();
    std::vector<u32> rep_counts(block.reps);
    for (u32& count : rep_counts) count = static_cast<u32>(input_.number());
    std::vector<Registers> registers(contents_.registers ? block.instructions.size() : 0);
    for (Registers& each : registers) each.gpr[input_.below(16)] = input_.number();
    const u64 next = input_.flag()   ? block.end()
                     : input_.flag() ? input_.pick(blocks_)->start()
                                     : input_.number();
    fits_ = writer_->run({&block, next, addresses, rep_counts, registers, nullptr, {}}).ok() && fits_;
  }
  u32 id() { return input_.below(8) == 0 ? input_.take<u32>() : static_cast<u32>(input_.below(4)); }
  std::string text() {
    const auto bytes = input_.bytes(input_.below(16));
    return {bytes.begin(), bytes.end()};
  }
  trace::SideBandRecord record() {
    switch (input_.below(8)) {
      case 0:
        return trace::ProcessStart{id(), id(), text(), input_.flag()};
      case 1:
        return trace::ThreadStart{id(), id(), id(), id()};
      case 2:
        return trace::ThreadExit{id(), id(), static_cast<i32>(input_.number())};
      case 3:
        return trace::Map{
            id(),
            {input_.number(), input_.number(), input_.number(), static_cast<u32>(input_.below(8)),
             static_cast<u32>(input_.below(4)), text(), std::vector<u8>(input_.below(21))}};
      case 4:
        return trace::Unmap{id(), input_.number(), input_.number()};
      case 5:
        return trace::Syscall{input_.number(), static_cast<i64>(input_.number())};
      case 6:
        return trace::SignalDelivery{id(), input_.number()};
      default:
        return trace::ThreadSwitch{id(), id()};
    }
  }

  FuzzInput& input_;
  trace::Contents contents_;
  std::optional<trace::Writer> writer_;
  std::vector<const trace::Block*> blocks_;
  bool fits_ = true;
};

}  // namespace pmusim

#endif
