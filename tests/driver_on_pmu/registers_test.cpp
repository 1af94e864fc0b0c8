// SPDX-License-Identifier: MIT
// Registers beyond the general ones: who may ask for them, and where their values come from
// (docs/sampled-registers.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "driver/intel/debug_store/pebs.h"
#include "register_samples.h"
#include "tests/support/whole_kernel.h"

namespace pmusim::driver {
namespace {

using perf::Attr;
using perf::HardwareId;
using perf::SimdAbi;
namespace sample = perf::sample;

/// The whole of perf_event_open on a CPU.
class Opener : private WholeKernel {
 public:
  Opener(const CpuModel& model, SimdAbi simd) : WholeKernel(model, perf::kernel_with(simd)) {}
  /// errno, or 0. Attributes that differ in their form are given as callers give them.
  int error_of(const Attr& attr) {
    const auto event = core.open(attr, -1, 0);
    if (!event.ok()) return event.error().error_number;
    core.close(**event);
    return 0;
  }
};

/// What a register class looks like in an attribute: the same in both forms.
struct Class {
  const char* name;
  u64 general;
  u16 vector_qwords;
  u64 vectors;
  u32 predicates;
};
constexpr Class classes[] = {
    {"XMM", 0, 2, 0xffff, 0},  {"YMM", 0, 4, 0xffff, 0},        {"ZMM", 0, 8, 0xffffffff, 0},
    {"opmask", 0, 0, 0, 0xff}, {"egpr", bits(39, 24), 0, 0, 0}, {"SSP", bit(40), 0, 0, 0},
};

Attr cycles(unsigned precise) {
  Attr attr = hardware(HardwareId::cpu_cycles, 100'000);
  attr.size = 176;
  attr.exclude_kernel = attr.disabled = 1;
  attr.precise_ip = precise & 3;
  return attr;
}

Attr asking(const Class& c, u64 side, unsigned precise) {
  Attr attr = cycles(precise);
  attr.sample_type = side;
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
  attr.sample_simd_vec_reg_qwords = c.vector_qwords;
  (side == sample::REGS_USER ? attr.sample_regs_user : attr.sample_regs_intr) = c.general;
  (side == sample::REGS_USER ? attr.sample_simd_vec_reg_user : attr.sample_simd_vec_reg_intr) = c.vectors;
  (side == sample::REGS_USER ? attr.sample_simd_pred_reg_user : attr.sample_simd_pred_reg_intr) =
      c.predicates;
  return attr;
}

/// Which classes a CPU has for events without PEBS and with it, in the order of `classes`: x yes, - no.
struct Support {
  const char* model;
  const char* by_interrupt;
  const char* precise;
};
// By the components of each model's CPUID.0D and the groups of its PEBS. Haswell has no XSAVES; Skylake's
// PEBS and Goldmont's know general registers only; adaptive records have XMM too.
constexpr Support supports[] = {
    {"haswell", "------", "------"},        {"skylake", "xx----", "------"},
    {"skylake-x", "xxxx--", "------"},      {"goldmont", "------", "------"},
    {"icelake-server", "xxxx--", "x-----"}, {"tigerlake", "xxxx-x", "x-----"},
    {"sapphirerapids", "xxxx-x", "x-----"}, {"lioncove", "xx---x", "x-----"},
    {"cougarcove", "xx---x", "xx---x"},     {"diamondrapids", "xxxxxx", "xx---x"},
};

TEST(RegisterClasses, AreWhatXsavesSavesOrPebsRecords) {
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged})
    for (const Support& support : supports) {
      Opener opener(*find_cpu_model(support.model), simd);
      for (const unsigned precise : {0u, 1u})
        for (std::size_t n = 0; n < std::size(classes); ++n) {
          const bool has = (precise != 0 ? support.precise : support.by_interrupt)[n] == 'x';
          for (const u64 side : {u64{sample::REGS_USER}, u64{sample::REGS_INTR}})
            EXPECT_EQ(opener.error_of(asking(classes[n], side, precise)), has ? 0 : EINVAL)
                << support.model << ' ' << classes[n].name << " precise " << precise << " side " << side;
        }
    }
}

TEST(RegisterClasses, ArchPebsWithEveryGroupRecordsEveryClass) {
  CpuModel model = *find_cpu_model("diamondrapids");
  model.policies.pebs_vector_groups = 1;
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged}) {
    Opener opener(model, simd);
    for (const Class& c : classes)
      for (const u64 side : {u64{sample::REGS_USER}, u64{sample::REGS_INTR}})
        EXPECT_EQ(opener.error_of(asking(c, side, 1)), 0) << c.name;
  }
}

TEST(RegisterClasses, OldXmmNumbersNeedNoPebsAndWorkInUserMode) {
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged}) {
    Opener with(*find_cpu_model("sapphirerapids"), simd), without(*find_cpu_model("haswell"), simd),
        old_pebs(*find_cpu_model("skylake"), simd);
    for (const u64 side : {u64{sample::REGS_USER}, u64{sample::REGS_INTR}})
      for (const unsigned precise : {0u, 1u}) {
        Attr attr = cycles(precise);
        attr.sample_type = side;
        (side == sample::REGS_USER ? attr.sample_regs_user : attr.sample_regs_intr) = 1 | bits(63, 32);
        EXPECT_EQ(with.error_of(attr), 0);
        EXPECT_EQ(without.error_of(attr), EINVAL);
        EXPECT_EQ(old_pebs.error_of(attr), precise != 0 ? EINVAL : 0);
      }
  }
}

TEST(RegisterClasses, ASoftwareEventHasNoneAndSaysSoAtTheLastStage) {
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged}) {
    Opener opener(*find_cpu_model("sapphirerapids"), simd);
    for (const Class& c : classes) {
      Attr attr = asking(c, sample::REGS_INTR, 0);
      attr.type = static_cast<u32>(perf::EventType::software);
      attr.config = static_cast<u64>(perf::SoftwareId::dummy);
      EXPECT_EQ(opener.error_of(attr), EOPNOTSUPP) << c.name;
    }
  }
}

TEST(RegisterClasses, BeforeSimdSamplingXmmNeedsPebsAtInterrupts) {  // has_extended_regs
  Opener icelake(*find_cpu_model("icelake"), SimdAbi::none),
      skylake(*find_cpu_model("skylake"), SimdAbi::none);
  Attr attr = cycles(1);
  attr.sample_type = sample::REGS_INTR;
  attr.sample_regs_intr = bits(63, 32);
  EXPECT_EQ(icelake.error_of(attr), 0);
  EXPECT_EQ(skylake.error_of(attr), EINVAL);
  attr.precise_ip = 0;
  EXPECT_EQ(icelake.error_of(attr), EINVAL);
  attr.precise_ip = 1;
  attr.sample_type = sample::REGS_USER;
  std::swap(attr.sample_regs_intr, attr.sample_regs_user);
  EXPECT_EQ(icelake.error_of(attr), EINVAL);
}

// --- large PEBS buffers (docs/sampled-registers.md)

struct LargeCase {
  const char* what;
  u64 general;
  u16 vector_qwords;
  u64 vectors;
  u32 predicates;
  bool series, merged;
};

TEST(LargePebs, TakesOfSimdSamplingWhatEachFormLetsIt) {
  const LargeCase cases[] = {
      {"general", 0xff03ff, 0, 0, 0, true, true}, {"CS", bit(10), 0, 0, 0, false, false},
      {"XMM", 1, 2, 0xffff, 0, true, true},       {"YMM", 1, 4, 0xffff, 0, false, true},
      {"ZMM", 1, 8, 0xffffffff, 0, false, true},  {"opmask", 1, 0, 0, 0xff, false, true},
      {"egpr", bit(24), 0, 0, 0, false, true},    {"SSP", bit(40), 0, 0, 0, false, true},
  };
  CpuModel model = *find_cpu_model("diamondrapids");
  model.policies.pebs_vector_groups = 1;
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged}) {
    Pmu pmu(model);
    IntelDriver driver(pmu, {.kernel = perf::kernel_with(simd)});
    for (const LargeCase& c : cases)
      for (const u64 side : {u64{sample::REGS_USER}, u64{sample::REGS_INTR}}) {
        perf::Event event;
        event.attr = asking({c.what, c.general, c.vector_qwords, c.vectors, c.predicates}, side, 2);
        event.leader = &event;
        ASSERT_TRUE(driver.init(event).ok()) << c.what;
        EXPECT_EQ(has_flag(event, pebs_flag::LARGE), simd == SimdAbi::series_v7 ? c.series : c.merged)
            << c.what;
      }
  }
}

bool is_large(const CpuModel& model, const Attr& attr, SimdAbi simd) {
  Pmu pmu(model);
  IntelDriver driver(pmu, {.kernel = perf::kernel_with(simd)});
  perf::Event event;
  event.attr = attr;
  event.leader = &event;
  EXPECT_TRUE(driver.init(event).ok());
  return has_flag(event, pebs_flag::LARGE);
}

TEST(LargePebs, HasUserModesRegistersOfEventsThatExcludeTheKernel) {
  for (const SimdAbi simd : {SimdAbi::none, SimdAbi::series_v7, SimdAbi::merged})
    for (const u64 side : {u64{sample::REGS_USER}, u64{sample::REGS_INTR}}) {
      Attr attr = cycles(2);
      attr.sample_type = side;
      attr.sample_regs_user = attr.sample_regs_intr = 0xff03ff;
      EXPECT_TRUE(is_large(*find_cpu_model("icelake"), attr, simd));
      attr.exclude_kernel = 0;
      EXPECT_EQ(is_large(*find_cpu_model("icelake"), attr, simd), side == sample::REGS_INTR);
    }
}

TEST(LargePebs, HasXmmByTheirOldNumbersSinceSimdSampling) {
  for (const SimdAbi simd : {SimdAbi::none, SimdAbi::series_v7, SimdAbi::merged}) {
    Attr attr = cycles(2);
    attr.sample_type = sample::REGS_INTR;
    attr.sample_regs_intr = 1 | bits(63, 32);
    EXPECT_EQ(is_large(*find_cpu_model("icelake"), attr, simd), simd != SimdAbi::none);
  }
}

// --- values

u64 word(std::span<const std::byte> piece, std::size_t n) {
  u64 value = 0;
  EXPECT_GE(piece.size(), 8 * (n + 1));
  if (piece.size() >= 8 * (n + 1)) std::memcpy(&value, piece.data() + 8 * n, 8);
  return value;
}

void expect_numbered(const perf::ExtendedRegisters* registers) {
  ASSERT_NE(registers, nullptr);
  EXPECT_EQ(word(registers->xmm, 31), 0x101fu);
  EXPECT_EQ(word(registers->ymm_high, 0), 0x2000u);
  EXPECT_EQ(word(registers->zmm_high, 63), 0x303fu);
  EXPECT_EQ(word(registers->hi16_zmm, 127), 0x407fu);
  EXPECT_EQ(word(registers->opmask, 7), 0x5007u);
  EXPECT_EQ(word(registers->egpr, 15), 0x600fu);
  EXPECT_EQ(registers->shadow_stack_pointer, 0x7000u);
}

Attr asking_for_all(unsigned precise, u64 period) {
  Attr attr = hardware(HardwareId::instructions, period);
  attr.exclude_kernel = 1;
  attr.precise_ip = precise & 3;
  attr.sample_type = sample::IP | sample::REGS_INTR | sample::REGS_USER;
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
  attr.sample_simd_vec_reg_qwords = 8;
  attr.sample_regs_intr = attr.sample_regs_user = 1 | bits(40, 24);
  attr.sample_simd_vec_reg_intr = attr.sample_simd_vec_reg_user = 0xffffffff;
  attr.sample_simd_pred_reg_intr = attr.sample_simd_pred_reg_user = 0xff;
  return attr;
}

/// So many instructions under an event, and time for the last interrupt.
void run(Machine& machine, const Attr& attr, unsigned instructions) {
  perf::Event& event = machine.opened(attr);
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  for (unsigned n = 0; n < instructions; ++n) machine.instruction();
  machine.idle();
  machine.unschedule(event);
}

TEST(RegisterValues, MatchTheRegisterFileByInterruptAndByPebs) {
  for (const unsigned precise : {0u, 1u}) {
    Machine machine(model_with_every_group(), {.kernel = perf::Kernel::v7_1_simd});
    unsigned samples = 0;
    machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
      ++samples;
      expect_numbered(data.extended);
      expect_numbered(data.user_extended);
    };
    const ExtendedState state = numbered_state();
    machine.pmu.set_extended_state(&state);
    run(machine, asking_for_all(precise, 50), 500);
    EXPECT_GT(samples, 5u) << precise;
  }
}

TEST(RegisterValues, OfAComponentInItsInitialStateAreEmpty) {
  for (const unsigned precise : {0u, 1u}) {
    Machine machine(model_with_every_group(), {.kernel = perf::Kernel::v7_1_simd});
    unsigned samples = 0;
    machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
      ++samples;
      ASSERT_NE(data.extended, nullptr);
      EXPECT_EQ(word(data.extended->xmm, 0), 0x1000u);
      EXPECT_TRUE(data.extended->zmm_high.empty());
      EXPECT_TRUE(data.extended->opmask.empty());
    };
    ExtendedState state = numbered_state();
    state.initialize(StateComponent::zmm_hi256);
    state.initialize(StateComponent::opmask);
    machine.pmu.set_extended_state(&state);
    run(machine, asking_for_all(precise, 50), 500);
    EXPECT_GT(samples, 5u) << precise;
  }
}

TEST(RegisterValues, OfAdaptiveRecordsAreTheXmmAlone) {
  Machine machine(model_with_skid("sapphirerapids", 0));
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    ASSERT_NE(data.extended, nullptr);
    EXPECT_EQ(word(data.extended->xmm, 31), 0x101fu);
    EXPECT_TRUE(data.extended->ymm_high.empty());
  };
  const ExtendedState state = numbered_state();
  machine.pmu.set_extended_state(&state);
  Attr attr = hardware(HardwareId::instructions, 50);
  attr.exclude_kernel = 1;
  attr.precise_ip = 1;
  attr.sample_type = sample::IP | sample::REGS_INTR;
  attr.sample_regs_intr = bits(63, 32);
  run(machine, attr, 500);
  EXPECT_GT(samples, 5u);
}

// --- samples, as a reader of the ring has them

/// One CPU under the whole kernel side, with threads that have registers of their own.
class ThreadedMachine : private WholeKernel {
 public:
  ThreadedMachine(const CpuModel& model, SimdAbi simd) : WholeKernel(model, perf::kernel_with(simd)) {
    core.task_started(1, 1, "threads");
    for (const u32 tid : {2u, 3u}) core.fork(1, 1, tid);
  }

  perf::RingBuffer* open(const Attr& attr) {
    const auto event = core.open(attr, -1, 0);
    if (!event.ok()) {
      ADD_FAILURE() << event.error().message;
      return nullptr;
    }
    return *core.mmap(**event, 64);
  }
  /// The thread runs `instructions`; XMM3 of each is 0x100 * tid + how often it ran.
  void run(u32 tid, unsigned instructions) {
    ExtendedState& state = states_[tid - 1];
    state.write(StateComponent::sse, 6, {0x100 * u64{tid} + ++turns_, turns_});
    cpu.switch_to(tid);
    pmu.set_extended_state(&state);
    for (unsigned n = 0; n < instructions; ++n) {
      ++cycle_;
      pmu.retire(
          {.ip = 0x1000, .next_ip = 0x1004, .cycle = cycle_, .signals = {Signal::instruction}, .length = 4});
    }
    pmu.wait_until(cycle_ += 100, {});
  }
  u64 turns() const { return turns_; }

 private:
  std::array<ExtendedState, 3> states_;
  u64 cycle_ = 0, turns_ = 0;
};

TEST(RegisterSamples, OfThreeThreadsDoNotMix) {
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged})
    for (const unsigned precise : {0u, 1u}) {
      ThreadedMachine machine(model_with_every_group(), simd);
      Attr attr = hardware(HardwareId::instructions, 40);
      attr.exclude_kernel = 1;
      attr.precise_ip = precise & 3;
      attr.sample_type = sample::TID | sample::REGS_INTR;
      attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
      attr.sample_simd_vec_reg_qwords = 2;
      attr.sample_simd_vec_reg_intr = 0xffff;
      perf::RingBuffer* const ring = machine.open(attr);
      ASSERT_NE(ring, nullptr);
      for (unsigned turn = 0; turn < 30; ++turn) machine.run(1 + turn % 3, 50 + turn);
      const auto samples = samples_of(*ring);
      EXPECT_GT(samples.size(), 20u);
      const std::size_t vectors = simd == SimdAbi::series_v7 ? 4 : 7;
      std::array<unsigned, 4> seen{};
      for (const auto& words : samples) {
        const u64 tid = words.at(1) >> 32, turn = words.at(vectors + 7);
        EXPECT_EQ(words.at(2), 6u);
        ++seen.at(tid);
        EXPECT_EQ(words.at(vectors + 6), 0x100 * tid + turn);
        EXPECT_EQ((turn - 1) % 3 + 1, tid) << "the value of another thread";
      }
      for (const u32 tid : {1u, 2u, 3u}) EXPECT_GT(seen.at(tid), 5u);
    }
}

// A value through the whole path: register file, XSAVES, driver, core, ring.
TEST(RegisterSamples, TheWorkedExampleComesOutOfTheRingByteForByte) {
  const ExtendedState state = numbered_state();
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged}) {
    WholeKernel machine(model_with_skid("sapphirerapids", 0), perf::kernel_with(simd));
    machine.start_program();
    Attr attr = hardware(HardwareId::instructions, 20);
    attr.exclude_kernel = 1;
    attr.sample_type = sample::IP | sample::REGS_INTR;
    attr.sample_regs_intr = 0x101;
    attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
    attr.sample_simd_vec_reg_qwords = 8;
    const bool merged = simd == SimdAbi::merged;
    attr.sample_simd_vec_reg_intr = merged ? 0xffffffff : 3;
    attr.sample_simd_pred_reg_intr = merged ? 0xff : 1;
    const auto event = machine.core.open(attr, -1, 0);
    ASSERT_TRUE(event.ok()) << event.error().message;
    perf::RingBuffer& ring = **machine.core.mmap(**event, 8);
    machine.pmu.set_extended_state(&state);
    for (u64 cycle = 1; cycle < 60; ++cycle)
      machine.pmu.retire(
          {.ip = 0x1000, .next_ip = 0x1004, .cycle = cycle, .signals = {Signal::instruction}, .length = 4});
    const auto samples = samples_of(ring);
    ASSERT_FALSE(samples.empty());
    std::vector<u64> expected = {merged ? 0x0888'0002'0000'0009u : 0x00b8'0002'0000'0009u, 0x1000, 6, 0,
                                 0x1000};
    if (merged)
      expected.insert(expected.end(), {32, 8, 8, 1});
    else
      expected.push_back(0x0001'0001'0008'0002);
    for (u64 r = 0; r < (merged ? 16u : 2u); ++r) {
      for (u64 w = 0; w < 2; ++w) expected.push_back(0x1000 + 2 * r + w);
      for (u64 w = 0; w < 2; ++w) expected.push_back(0x2000 + 2 * r + w);
      for (u64 w = 0; w < 4; ++w) expected.push_back(0x3000 + 4 * r + w);
    }
    for (u64 w = 0; merged && w < 128; ++w) expected.push_back(0x4000 + w);
    for (u64 k = 0; k < (merged ? 8u : 1u); ++k) expected.push_back(0x5000 + k);
    EXPECT_EQ(samples.front(), expected);
  }
}

}  // namespace
}  // namespace pmusim::driver
