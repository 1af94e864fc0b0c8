// SPDX-License-Identifier: MIT
#ifndef TESTS_TRACE_SAMPLE_TRACE_H
#define TESTS_TRACE_SAMPLE_TRACE_H

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// A directory for one test, removed after it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "pmusim-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

/// An item that owns what it refers to, for comparing after the reader has moved on.
struct OwnedItem {
  u64 start = 0, next_ip = 0;  // of a run
  std::vector<std::byte> code;
  std::vector<u64> addresses;
  std::vector<u32> rep_counts;
  std::vector<Registers> registers;
  std::optional<u32> cycles;
  Cpl ring = Cpl::user, next_ring = Cpl::user;
  std::optional<SideBandRecord> side_band;  // instead of a run
  friend bool operator==(const OwnedItem&, const OwnedItem&) = default;
};

inline OwnedItem own(const Item& item) {
  if (const auto* record = std::get_if<SideBandRecord>(&item)) {
    OwnedItem result;
    result.side_band = *record;
    return result;
  }
  const auto& run = std::get<BlockRun>(item);
  return {run.block->start(),
          run.next_ip,
          run.block->code,
          {run.addresses.begin(), run.addresses.end()},
          {run.rep_counts.begin(), run.rep_counts.end()},
          {run.registers.begin(), run.registers.end()},
          run.cycles,
          run.block->ring,
          run.next_ring,
          {}};
}

/// All items of a source, or the error that ended the reading.
inline Result<std::vector<OwnedItem>, Error> items_of(Source& source) {
  std::vector<OwnedItem> items;
  for (;;) {
    auto item = source.next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) return items;
    items.push_back(own(**item));
  }
}
inline Result<std::vector<OwnedItem>, Error> read_all(const std::string& path) {
  auto reader = Reader::open(path);
  if (!reader.ok()) return Failure(reader.error());
  return items_of(*reader);
}

inline std::vector<char> file_content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_content(const std::string& path, const std::vector<char>& content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

/// Writes random but well-formed traces and remembers what it wrote.
class RandomTrace {
 public:
  RandomTrace(unsigned seed, Contents contents) : random_(seed), contents_(contents) {}

  Result<Writer::Written, Error> write_to(const std::string& path, unsigned runs) {
    auto writer = Writer::create(path, contents_);
    if (!writer.ok()) return Failure(writer.error());
    add_side_band(*writer, ProcessStart{100, 100, "sample", true});
    add_side_band(*writer, Map{100, {0x400000, 0x1000, 0, 5, 2, "/bin/sample", {1, 2, 3}}});
    add_side_band(*writer, ThreadSwitch{100, 100});
    for (unsigned n = 0; n < runs; ++n) step(*writer);
    return writer->finish();
  }
  void write(const std::string& path, unsigned runs) {
    const auto written = write_to(path, runs);
    ASSERT_TRUE(written.ok()) << written.error().message;
    EXPECT_EQ(written->instructions, instructions);
    EXPECT_EQ(written->file_bytes, std::filesystem::file_size(path));
  }

  std::vector<OwnedItem> items;
  u64 instructions = 0;

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  void add_side_band(Writer& writer, const SideBandRecord& record) {
    ASSERT_TRUE(writer.side_band(record).ok());
    OwnedItem item;
    item.side_band = record;
    items.push_back(item);
  }

  const Block& new_block(Writer& writer) {
    static const std::vector<std::vector<int>> encodings{
        {0x90}, {0x50}, {0xFF, 0x30}, {0xF3, 0xA4}, {0x48, 0x8B, 0x44, 0x88, 0x08}, {0x01, 0xC8}, {0x06}};
    std::vector<std::byte> code;
    std::vector<u8> lengths;
    for (unsigned n = 1 + below(6); n != 0; --n) {
      const auto& bytes = encodings[below(static_cast<unsigned>(encodings.size()))];
      for (int b : bytes) code.push_back(static_cast<std::byte>(b));
      lengths.push_back(static_cast<u8>(bytes.size()));
    }
    const bool in_kernel = contents_.kernel && below(2) == 0;
    return writer.add_block(0x400000 + below(4096), code, lengths, in_kernel ? Cpl::kernel : Cpl::user);
  }

  void step(Writer& writer) {
    if (below(50) == 0) add_side_band(writer, ThreadSwitch{100, 100 + below(3)});
    if (below(50) == 0) add_side_band(writer, Syscall{below(400), static_cast<i64>(below(100)) - 50});
    if (below(100) == 0) add_side_band(writer, SignalDelivery{11, 0x400000 + below(4096)});
    if (contents_.kernel && below(50) == 0)
      add_side_band(writer, Interrupt{below(256), random_(), random_() | bit(63),
                                      below(2) == 0 ? Cpl::kernel : Cpl::user});
    if (contents_.kernel && below(50) == 0)
      add_side_band(writer, ThreadName{100, 100 + below(3), std::string(below(16), 'n')});
    if (blocks_.size() < 3 || below(20) == 0) blocks_.push_back(&new_block(writer));
    run(writer, *blocks_[below(static_cast<unsigned>(blocks_.size()))]);
  }

  void run(Writer& writer, const Block& block) {
    OwnedItem item;
    item.start = block.start();
    item.code = block.code;
    item.next_ip = below(2) != 0 ? blocks_[below(static_cast<unsigned>(blocks_.size()))]->start() : random_();
    if (contents_.addresses) {
      for (u32 n = 0; n < block.operands; ++n)
        item.addresses.push_back(below(4) != 0 ? below(1000) : random_());
    }
    for (u32 n = 0; n < block.reps; ++n) item.rep_counts.push_back(below(1000));
    for (std::size_t n = 0; contents_.registers && n < block.instructions.size(); ++n) {
      registers_.gpr[below(16)] = random_() >> below(64);
      registers_.rflags ^= below(2) * 0x40;
      const bool last = n + 1 == block.instructions.size();
      registers_.rip = last ? item.next_ip : block.instructions[n + 1].ip;
      item.registers.push_back(registers_);
    }
    if (contents_.timing) item.cycles = static_cast<u32>(random_() >> (32 + below(32)));
    item.ring = item.next_ring = block.ring;
    BlockRun run{&block, item.next_ip, item.addresses, item.rep_counts, item.registers};
    run.cycles = item.cycles;
    ASSERT_TRUE(writer.run(run).ok());
    instructions += block.instructions.size();
    items.push_back(std::move(item));
  }

  std::mt19937_64 random_;
  Contents contents_;
  std::vector<const Block*> blocks_;
  Registers registers_;
};

}  // namespace pmusim::trace

#endif
