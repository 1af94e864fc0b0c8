// SPDX-License-Identifier: MIT
#include "arch/pebs_generator.h"

#include <gtest/gtest.h>

#include <cstring>

#include "driver/intel/debug_store/pebs_demux.h"

namespace pmusim::driver {
namespace {

struct Nobody {
  void sample(unsigned, std::span<const std::byte>, Place) {}
  void lost(unsigned, u64) {}
  bool begins(unsigned, u64) { return true; }
  void finished(unsigned, u64) {}
};

DemuxTotals drain(pebs::GeneratedBuffer& buffer) {
  Demultiplexer demultiplexer;
  return demultiplexer.run(buffer.bytes,
                           {.format = buffer.format,
                            .enabled = buffer.enabled,
                            .enable_word = buffer.enabled,
                            .record_bytes = buffer.record_bytes},
                           Nobody{});
}

TEST(Generator, EveryRecordOfEveryFormatIsFoundAgain) {
  for (const unsigned format : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 0xFu}) {
    const unsigned events = format == 0 ? 1 : 4;
    auto buffer =
        pebs::generate_buffer({.format = format,
                               .events = events,
                               .records = 100,
                               .groups = {.memory = true, .gprs = true, .xmm = true, .lbr_entries = 32}});
    const DemuxTotals totals = drain(buffer);
    EXPECT_EQ(totals.attributed, 100u) << format;
    EXPECT_EQ(totals.trailing_bytes, 0u) << format;
  }
}

TEST(Generator, FragmentedRecordsAreTheSameSamples) {
  pebs::GeneratorOptions options{.format = 0xF,
                                 .records = 100,
                                 .collisions_permille = 300,
                                 .groups = {.memory = true, .gprs = true, .xmm = true, .lbr_entries = 32}};
  auto whole = pebs::generate_buffer(options);
  options.fragment_bytes = 64;
  auto fragmented = pebs::generate_buffer(options);
  EXPECT_EQ(fragmented.record_bytes, whole.record_bytes + 4 * sizeof(pebs::ArchHeader));
  EXPECT_EQ(drain(fragmented), drain(whole));
}

TEST(Generator, VectorGroupsAreFilledAndInTheHeader) {  // SDM vol. 3, architectural PEBS: the XER header
  using namespace pebs::cfg_c;
  pebs::GeneratorOptions options{.format = 0xF, .events = 1, .records = 10, .groups = {.xmm = true}};
  options.groups.other_vectors = YMMH | EGPR | OPMASK | ZMMH | HI16_ZMM;
  auto buffer = pebs::generate_buffer(options);
  constexpr u32 vector_bytes = 16 + 256 + 256 + 128 + 64 + 512 + 1024, basic_bytes = 64;
  EXPECT_EQ(buffer.record_bytes, basic_bytes + vector_bytes);
  le64 xstate;
  std::memcpy(&xstate, buffer.bytes.data() + basic_bytes, sizeof xstate);
  EXPECT_EQ(xstate, bit(1) | bit(2) | bit(5) | bit(6) | bit(7) | bit(19));
  for (u32 at = basic_bytes + 16; at < buffer.record_bytes; at += 8) {
    u64 word;
    std::memcpy(&word, buffer.bytes.data() + at, sizeof word);
    EXPECT_NE(word, 0u) << at;
  }
  EXPECT_EQ(drain(buffer).attributed, 10u);
  options.fragment_bytes = 64;
  auto fragmented = pebs::generate_buffer(options);
  EXPECT_EQ(drain(fragmented), drain(buffer));
}

TEST(Generator, CollisionsLoseSamplesInFormat1ButNotInFormat3) {
  pebs::GeneratorOptions options{.format = 1, .events = 2, .records = 1000, .collisions_permille = 250};
  auto status_copies = pebs::generate_buffer(options);
  const u64 collided = drain(status_copies).collided;
  EXPECT_NEAR(static_cast<double>(collided), 250, 50);
  options.format = 3;
  auto applicable = pebs::generate_buffer(options);
  const DemuxTotals totals = drain(applicable);
  EXPECT_EQ(totals.samples[0] + totals.samples[1], 1000 + collided);
}

TEST(Generator, SameOptionsGiveTheSameBytes) {
  const pebs::GeneratorOptions options{.format = 4, .records = 50, .seed = 9};
  EXPECT_EQ(pebs::generate_buffer(options).bytes, pebs::generate_buffer(options).bytes);
  pebs::GeneratorOptions other = options;
  other.seed = 10;
  EXPECT_NE(pebs::generate_buffer(options).bytes, pebs::generate_buffer(other).bytes);
}

}  // namespace
}  // namespace pmusim::driver
