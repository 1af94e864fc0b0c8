// SPDX-License-Identifier: MIT
// Registers of samples against what the recorded program says that it held in them: of interrupts, whose
// handler saves them, and of PEBS, which has them in its records; as pmusim script and as perf print them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"

namespace pmusim::test::simd_samples_test {
namespace {

/// A line of the log of examples/workloads/simd.c.
struct Stretch {
  u64 begin = 0, end = 0, thread = 0, round = 0;
  unsigned width_bytes = 0, registers = 0, masks = 0;

  bool has(u64 ip) const { return ip >= begin && ip < end; }
  /// What all of its registers count from; R15 holds it as it is.
  u64 base() const { return thread * 0x1000000 + round; }
  u64 lane(u64 number, u64 n) const {
    return 8 * n < width_bytes ? base() + number * 0x10000 + n * 0x100 : 0;
  }
  u64 mask(u64 k) const { return base() + k * 0x10000; }
};

std::vector<Stretch> stretches_in(const std::string& log) {
  std::vector<Stretch> all;
  for (const std::string& line : lines(log)) {
    Stretch s;
    if (std::sscanf(line.c_str(), "stretch %lx %lx thread %lu round %lu width %u registers %u masks %u",
                    &s.begin, &s.end, &s.thread, &s.round, &s.width_bytes, &s.registers, &s.masks) == 7)
      all.push_back(s);
  }
  return all;
}

/// A register block as printed: 64-bit lanes by register name, lowest first. perf prints a name for each.
using Block = std::map<std::string, std::vector<u64>>;

/// A line of `script -F tid,ip,iregs,...`.
struct Printed {
  u64 tid = 0, ip = 0;
  std::vector<Block> blocks;
};

void add_lanes(std::vector<u64>& lanes, const std::string& hexadecimal) {
  constexpr std::size_t digits = 16;
  for (std::size_t end = hexadecimal.size(); end > 0; end -= std::min(end, digits)) {
    const std::size_t begin = end - std::min(end, digits);
    lanes.push_back(std::stoull(hexadecimal.substr(begin, end - begin), nullptr, 16));
  }
}

std::optional<Printed> parse(const std::string& line) {
  Printed printed;
  std::istringstream words(line);
  if (!(words >> printed.tid >> std::hex >> printed.ip)) return std::nullopt;
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(":0x");
    if (word.starts_with("ABI:"))
      printed.blocks.emplace_back();
    else if (colon != std::string::npos && !printed.blocks.empty())
      add_lanes(printed.blocks.back()[word.substr(0, colon)], word.substr(colon + 3));
  }
  return printed;
}

/// "ZMM3", or as wide as the sample has it; empty where it has none.
std::vector<u64> vector_register(const Block& block, u64 number) {
  for (const char kind : {'Z', 'Y', 'X'})
    if (const auto at = block.find(kind + ("MM" + std::to_string(number))); at != block.end())
      return at->second;
  return {};
}

enum class Masks { sampled, absent };

/// `vectors` are those that the block should have.
void expect_held(const Block& block, const Stretch& s, u64 vectors, Masks masks) {
  EXPECT_EQ(block.at("R15"), std::vector{s.base()});
  for (u64 r = 0; r < std::min<u64>(vectors, s.registers); ++r) {
    const std::vector<u64> lanes = vector_register(block, r);
    ASSERT_FALSE(lanes.empty()) << "no register " << r;
    for (u64 n = 0; n < lanes.size(); ++n) EXPECT_EQ(lanes[n], s.lane(r, n)) << "register " << r << ", " << n;
  }
  for (u64 k = 1; k <= s.masks && masks == Masks::sampled; ++k)
    EXPECT_EQ(block.at("K" + std::to_string(k)), std::vector{s.mask(k)}) << k;
}

/// A sample within a stretch of the program, and the stretch.
struct Held {
  Printed sample;
  Stretch stretch;
};

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

/// Three threads with values of their own, recorded once: as many rounds as give enough samples without
/// AVX-512.
std::string trace() { return recorded("simd", {"3", "16"}, "simd"); }

/// Samples within stretches. XMM0 says of which thread and round.
std::vector<Held> held_in(const std::string& text) {
  const std::vector<Stretch> stretches = stretches_in(printed_in(trace()));
  std::vector<Held> all;
  for (const std::string& line : lines(text)) {
    const std::optional<Printed> sample = parse(line);
    if (!sample || std::ranges::none_of(stretches, [&](const Stretch& s) { return s.has(sample->ip); }))
      continue;
    const std::vector<u64> first =
        sample->blocks.empty() ? std::vector<u64>{} : vector_register(sample->blocks.front(), 0);
    const auto at = std::ranges::find_if(stretches, [&](const Stretch& s) {
      return s.has(sample->ip) && !first.empty() && first[0] == s.lane(0, 0);
    });
    if (at == stretches.end())
      ADD_FAILURE() << "in no stretch of the log: " << line;
    else
      all.push_back({*sample, *at});
  }
  return all;
}

struct Case {
  const char *name, *model, *event, *registers, *form;
  u64 vectors;
  Masks masks = Masks::absent;
};
constexpr Case interrupt_ymm{"interrupt_ymm", "cougarcove", "cycles:u", "ymm", "series", 16};
constexpr Case architectural_ymm{"architectural_ymm", "cougarcove", "cycles:upp", "ymm", "series", 16};

std::vector<Held> sample(const Case& c) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  const Output output = run({pmusim(),    "record",      "-q",     "--model",     c.model,     "-e",
                             c.event,     "-c",          "37",     "--simd-abi",  c.form,      "--intr-regs",
                             "ip,r15",    "--user-regs", "ip,r15", "--intr-simd", c.registers, "--user-simd",
                             c.registers, "-o",          file,     trace()});
  EXPECT_EQ(output.status, 0) << output.err;
  return held_in(run({pmusim(), "script", "-i", file, "-F", "tid,ip,iregs,isimd,uregs,usimd"}).out);
}

/// Enough of them, and of each thread its own.
void expect_three_threads(const std::vector<Held>& all) {
  std::map<u64, std::set<u64>> threads_of_tid;
  for (const Held& held : all) threads_of_tid[held.sample.tid].insert(held.stretch.thread);
  EXPECT_GE(all.size(), 20u);
  EXPECT_EQ(threads_of_tid.size(), 3u);
  for (const auto& [tid, threads] : threads_of_tid) EXPECT_EQ(threads.size(), 1u) << "of thread " << tid;
}

class SimdSamples : public testing::TestWithParam<Case> {};

TEST_P(SimdSamples, HoldExactlyWhatTheProgramHeld) {
  if (!has_avx2()) GTEST_SKIP() << "this CPU has no AVX2";
  const std::vector<Held> all = sample(GetParam());
  for (const Held& held : all) {
    SCOPED_TRACE(held.sample.ip);
    ASSERT_EQ(held.sample.blocks.size(), 2u);
    for (const Block& block : held.sample.blocks)
      expect_held(block, held.stretch, GetParam().vectors, GetParam().masks);
    EXPECT_EQ(held.sample.blocks[0], held.sample.blocks[1]) << "user mode was interrupted";
  }
  expect_three_threads(all);
}

// XSAVES in the handler; the XMM group of adaptive records; the vector groups of architectural ones.
INSTANTIATE_TEST_SUITE_P(
    Sources, SimdSamples,
    testing::Values(Case{"interrupt_zmm", "sapphirerapids", "cycles:u", "zmm,opmask", "series", 32,
                         Masks::sampled},
                    Case{"interrupt_zmm_merged", "sapphirerapids", "cycles:u", "zmm,opmask", "merged", 32,
                         Masks::sampled},
                    interrupt_ymm, Case{"adaptive_xmm", "icelake", "cycles:upp", "xmm", "series", 16},
                    architectural_ymm,
                    Case{"architectural_ymm_merged", "cougarcove", "cycles:upp", "ymm", "merged", 16}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(SimdSampling, InterruptsAndPebsSeeTheSameRegisters) {
  if (!has_avx2()) GTEST_SKIP() << "this CPU has no AVX2";
  using Place = std::tuple<u64, u64, u64>;  // thread, where, round
  const auto by_place = [](const Case& c) {
    std::map<Place, Block> all;
    for (const Held& held : sample(c)) {
      Block block = held.sample.blocks.at(0);
      block.erase("IP");
      all[{held.sample.tid, held.stretch.begin, held.stretch.round}] = std::move(block);
    }
    return all;
  };
  const auto interrupts = by_place(interrupt_ymm), records = by_place(architectural_ymm);
  unsigned compared = 0;
  for (const auto& [place, block] : interrupts) {
    const auto at = records.find(place);
    if (at == records.end()) continue;
    EXPECT_EQ(block, at->second);
    ++compared;
  }
  EXPECT_GT(compared, 5u);
}

class XmmSamples : public testing::TestWithParam<const char*> {};

TEST_P(XmmSamples, AreReadByPerfAndHoldWhatTheProgramHeld) {
  if (!has_avx2()) GTEST_SKIP() << "this CPU has no AVX2";
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  std::string wanted = "ip,r15";
  for (unsigned r = 0; r < 16; ++r) wanted += ",xmm" + std::to_string(r);
  const Output output =
      run({pmusim(), "record", "-q", "--model", "icelake", "--simd-abi", "series", "-e", GetParam(), "-c",
           "37", "--intr-regs", wanted, "--user-regs", wanted, "-o", file, trace()});
  ASSERT_EQ(output.status, 0) << output.err;
  const std::string text = perf_output({"script", "-F", "tid,ip,iregs,uregs"}, file);
  const std::vector<Held> all = held_in(text);
  for (const Held& held : all) {
    SCOPED_TRACE(held.sample.ip);
    ASSERT_EQ(held.sample.blocks.size(), 2u);
    for (const Block& block : held.sample.blocks) {
      EXPECT_EQ(block.at("IP"), std::vector{held.sample.ip});
      EXPECT_EQ(vector_register(block, 0).size(), 2u) << "128 bits";
      expect_held(block, held.stretch, 16, Masks::absent);
    }
  }
  expect_three_threads(all);
  EXPECT_EQ(run({pmusim(), "script", "-i", file, "-F", "tid,ip,iregs,uregs"}).out, text);
}

INSTANTIATE_TEST_SUITE_P(Sources, XmmSamples, testing::Values("cycles:u", "cycles:upp"),
                         [](const auto& instance) {
                           return instance.param == std::string("cycles:u") ? "interrupt" : "adaptive";
                         });

TEST(SimdTrace, IsDumpedWithTheVectorRegistersThatChanged) {
  if (!has_avx2()) GTEST_SKIP() << "this CPU has no AVX2";
  std::set<std::string> dumped;
  for (const std::string& line : lines(run({pmusim(), "trace", "dump", "--regs", trace()}).out))
    if (const std::size_t at = line.find("ymm15="); at != std::string::npos) dumped.insert(line.substr(at));
  for (const Stretch& s : stretches_in(printed_in(trace()))) {
    if (s.width_bytes != 32) continue;
    std::string expected = "ymm15=";
    for (unsigned n = 4; n-- > 0;) {
      std::array<char, 17> lane{};
      std::snprintf(lane.data(), lane.size(), "%016lx", s.lane(15, n));
      expected += lane.data();
    }
    EXPECT_EQ(dumped.count(expected), 1u) << expected;
  }
}

TEST(SimdSampling, OfAProgramRecordsTheRegistersThatItNeeds) {
  if (!has_avx2()) GTEST_SKIP() << "this CPU has no AVX2";
  for (const auto& [event, option, registers] :
       {std::tuple{"cycles:u", "--user-simd", "ymm"}, {"cycles:upp", "--intr-regs", "ax,xmm3"}}) {
    const ScratchDirectory scratch;
    const Output output = run({pmusim(), "record", "-q", "-e", event, "-c", "997", option, registers, "-o",
                               scratch.file("perf.data"), "--save-trace", scratch.file("trace"), "--",
                               workload("branches"), "4"});
    ASSERT_EQ(output.status, 0) << output.err;
    EXPECT_NE(run({pmusim(), "trace", "info", scratch.file("trace")}).out.find("extended registers"),
              std::string::npos)
        << option;
  }
}

TEST(SimdSampling, IsRefusedWhereTheTraceHasNoSuchRegisters) {
  const ScratchDirectory scratch;
  const Output refused = run({pmusim(), "record", "-e", "cycles", "--intr-simd", "xmm", "-o",
                              scratch.file("perf.data"), recorded("branches", {"27"}, "gpr")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("trace record --regs simd"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace pmusim::test::simd_samples_test
