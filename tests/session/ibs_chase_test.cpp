// SPDX-License-Identifier: MIT
// What the op unit says of a pointer chase that the core runs, at footprints of each level.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "core/core.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::ibs_chase_test {
namespace {

constexpr u32 op_ctl = 0xC0011033, op_data2 = 0xC0011036, op_data3 = 0xC0011037, op_address = 0xC0011038;
constexpr u64 kib = 1024, mib = 1024 * kib, line_bytes = 64, page_bytes = 4096, first_byte = u64{1} << 32;

/// DataSrc of Zen 4 and later (Processor Programming Reference of family 19H): bits 7:6 and 2:0 of
/// IbsOpData2.
enum class Source { none = 0, complex = 1, memory = 3 };

struct Sample {
  Source source;
  u64 latency;
  bool missed_l1, missed_l2, missed_tlb, walked;
};

class SampledChase {
 public:
  SampledChase(std::string_view name, u64 bytes)
      : pmu_(find_cpu_model(name).value()), core_(Core::create(find_cpu_model(name).value()).value()) {
    x86::Instruction next = x86::decode(load_, 0x401000);  // mov rax, [rax]
    block_.instructions.push_back(next);
    block_.code.assign(std::begin(load_), std::end(load_));
    run(warm_up(bytes));
    arm();
    std::mt19937_64 random(3);
    std::vector<u64> chase(8000);
    for (u64& address : chase) address = first_byte + random() % (bytes / line_bytes) * line_bytes;
    run(chase);
  }
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  static constexpr std::byte load_[] = {std::byte{0x48}, std::byte{0x8B}, std::byte{0x00}};

  // Each line twice where caches hold them all, in an order that no prefetcher follows; else a line of each
  // page, for the page tables.
  static std::vector<u64> warm_up(u64 bytes) {
    const bool fits = bytes <= 16 * mib;
    const u64 step = fits ? line_bytes : page_bytes;
    std::vector<u64> order(bytes / step);
    for (u64 n = 0; n < order.size(); ++n) order[n] = first_byte + n * step;
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    std::vector<u64> twice = order;
    if (fits) twice.insert(twice.end(), order.begin(), order.end());
    return twice;
  }
  void arm() { EXPECT_EQ(pmu_.wrmsr(op_ctl, bit(17) | bit(19) | 1), Fault::none); }  // every 16 ops
  void run(const std::vector<u64>& addresses) {
    for (const u64& address : addresses) {
      trace::BlockRun block_run;
      block_run.block = &block_;
      block_run.next_ip = block_.instructions.front().end();
      block_run.addresses = std::span(&address, 1);
      core_.run(block_run, [&](const Retirement& r) { pmu_.retire(r); });
      collect(address);
    }
  }
  void collect(u64 address) {
    if ((pmu_.rdmsr(op_ctl).value() & bit(18)) == 0) return;
    const u64 data2 = pmu_.rdmsr(op_data2).value(), data3 = pmu_.rdmsr(op_data3).value();
    EXPECT_EQ(pmu_.rdmsr(op_address).value(), address);
    samples_.push_back({.source = static_cast<Source>((data2 & 7) | (data2 >> 6 & 3) << 3),
                        .latency = field(data3, 47, 32),
                        .missed_l1 = (data3 & bit(7)) != 0,
                        .missed_l2 = (data3 & bit(20)) != 0,
                        .missed_tlb = (data3 & bit(2)) != 0,
                        .walked = (data3 & bit(3)) != 0});
    arm();
  }

  Pmu pmu_;
  Core core_;
  trace::Block block_;
  std::vector<Sample> samples_;
};

double share(const std::vector<Sample>& samples, bool (*counted)(const Sample&)) {
  return static_cast<double>(std::ranges::count_if(samples, counted)) / static_cast<double>(samples.size());
}

u64 median_latency(std::vector<Sample> samples) {
  std::ranges::nth_element(samples, samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), {},
                           &Sample::latency);
  return samples[samples.size() / 2].latency;
}

TEST(IbsChase, FindsSmallFootprintsInL1) {
  const SampledChase chase("genoa", 16 * kib);
  ASSERT_GT(chase.samples().size(), 300u);
  EXPECT_EQ(share(chase.samples(), [](const Sample& s) { return s.missed_l1 || s.missed_tlb; }), 0);
  EXPECT_EQ(median_latency(chase.samples()), 0u) << "the latency is that of misses";
}

// Published for Zen 4: 14 cycles of L2, some 50 of L3, and at 256 KiB fewer pages than the L1 TLB has.
TEST(IbsChase, FindsLargerOnesInL2) {
  const SampledChase chase("genoa", 256 * kib);
  ASSERT_GT(chase.samples().size(), 300u);
  EXPECT_GT(share(chase.samples(), [](const Sample& s) { return s.missed_l1 && !s.missed_l2; }), 0.8);
  EXPECT_EQ(share(chase.samples(), [](const Sample& s) { return s.missed_l2 || s.source != Source::none; }),
            0);
  EXPECT_EQ(median_latency(chase.samples()), 14u);
}

TEST(IbsChase, FindsEightMebibytesInL3) {
  const SampledChase chase("genoa", 8 * mib);
  ASSERT_GT(chase.samples().size(), 300u);
  EXPECT_GT(
      share(chase.samples(), [](const Sample& s) { return s.missed_l2 && s.source == Source::complex; }),
      0.8);
  EXPECT_GT(share(chase.samples(), [](const Sample& s) { return s.missed_tlb && !s.walked; }), 0.9);
  EXPECT_NEAR(static_cast<double>(median_latency(chase.samples())), 50, 10);
}

TEST(IbsChase, FindsQuarterGibibytesInMemory) {
  const SampledChase chase("genoa", 256 * mib);
  ASSERT_GT(chase.samples().size(), 300u);
  EXPECT_GT(share(chase.samples(), [](const Sample& s) { return s.missed_l2 && s.source == Source::memory; }),
            0.8);
  EXPECT_GT(share(chase.samples(), [](const Sample& s) { return s.walked; }), 0.9);
  EXPECT_GT(median_latency(chase.samples()), 200u);
}

}  // namespace
}  // namespace pmusim::ibs_chase_test
