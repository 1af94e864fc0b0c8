// SPDX-License-Identifier: MIT
// The XSAVE instructions of the CPU that runs the tests, beside the emulated ones with this CPU's own leaf
// 0DH as the model.
#include <gtest/gtest.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>

#include "tests/xsave/area.h"

namespace pmusim {
namespace {

using enum StateComponent;

CpuidResult host_cpuid(u32 leaf, u32 subleaf) {
  CpuidResult r;
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

u64 host_xcr0() {
  u32 low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return u64{high} << 32 | low;
}

/// An XSAVE area of this process. Its address is what makes it real.
struct alignas(64) HostArea {
  std::array<std::byte, Area::size> bytes{};
};

/// Operands of `load_and_save`, at offsets that its instructions name.
struct Sequence {
  void* own;           // 0: area that keeps the process's registers meanwhile
  const void* source;  // 8
  void* target;        // 16
  u64 loaded;          // 24
  u64 saved;           // 32
  u64 instruction;     // 40: SaveInstruction
};

/// XRSTOR from `source`, then a save into `target`, without a compiler's instruction in between.
void load_and_save(const Sequence& sequence) {
  asm volatile(
      "mov $-1, %%eax\n mov $-1, %%edx\n mov 0(%0), %%rcx\n xsave64 (%%rcx)\n"
      "mov 24(%0), %%eax\n mov 28(%0), %%edx\n mov 8(%0), %%rcx\n xrstor64 (%%rcx)\n"
      "mov 32(%0), %%eax\n mov 36(%0), %%edx\n mov 16(%0), %%rcx\n"
      "cmpq $1, 40(%0)\n jb 1f\n je 2f\n xsavec64 (%%rcx)\n jmp 3f\n"
      "1: xsave64 (%%rcx)\n jmp 3f\n"
      "2: xsaveopt64 (%%rcx)\n"
      "3: mov $-1, %%eax\n mov $-1, %%edx\n mov 0(%0), %%rcx\n xrstor64 (%%rcx)\n" ::"r"(&sequence)
      : "rax", "rcx", "rdx", "cc", "memory");
}

/// XRSTOR of no component: nothing but the header's checks.
void check_header(const HostArea& area) {
  asm volatile("xrstor64 (%0)" ::"r"(area.bytes.data()), "a"(0), "d"(0) : "memory");
}

u32 host_mxcsr_mask() {
  HostArea area;
  asm volatile("xsave64 (%0)" ::"r"(area.bytes.data()), "a"(2), "d"(0) : "memory");
  u32 mask = 0;
  std::memcpy(&mask, area.bytes.data() + xsave::legacy::MXCSR_MASK, sizeof mask);
  return mask;
}

/// This CPU as a model.
CpuModel host_model() {
  CpuModel model = find_cpu_model("icelake").value();
  model.xcr0 = host_xcr0() & low_bits(xsave::component_count);
  model.xss = 0;
  model.has_xsaves = (host_cpuid(0xD, 1).eax & 0xA) == 0xA;
  for (const unsigned n : set_bits(model.xcr0 & ~u64{3}))
    model.xsave_components[n] = xsave::component_of(host_cpuid(0xD, n));
  model.mxcsr_mask = host_mxcsr_mask();
  return model;
}

class HostCpu : public testing::Test {
 protected:
  static constexpr u32 xsave_and_avx = 1u << 27 | 1u << 28;
  HostCpu() : model_(host_model()) {}
  void SetUp() override {
    if ((host_cpuid(1, 0).ecx & xsave_and_avx) != xsave_and_avx || (host_xcr0() & 7) != 7)
      GTEST_SKIP() << "this CPU, or its operating system, has no AVX";
    if (!model_.has_xsaves) GTEST_SKIP() << "this CPU has no XSAVEC";
    if (host_cpuid(0xD, 0).ecx > Area::size)
      GTEST_SKIP() << "this CPU has components that the model does not know";
  }
  XsaveUnit unit() const {
    XsaveUnit unit(model_);
    EXPECT_EQ(unit.xsetbv(0, model_.xcr0), Fault::none);
    return unit;
  }
  /// What a test may load: neither protection keys, which would take memory away from the process, nor AMX,
  /// which the operating system hands out on request.
  u64 loadable() const { return model_.xcr0 & ~state_bits(pkru, tilecfg, tiledata); }

  CpuModel model_;
  std::mt19937_64 random_{2026};
};

/// An area full of random registers, with some components in their initial configuration.
Area random_area(XsaveUnit unit, u64 components, SaveInstruction format, std::mt19937_64& random) {
  ExtendedState state = random_state(components, random);
  // XSAVEC stores XMM registers of zeros for MXCSR's sake. Whether loading a component with the values of its
  // initial configuration puts it in use is up to the CPU (SDM Vol. 1, 13.6).
  const u32 mxcsr = static_cast<u32>(random() & 0xFFC0);
  if (format == SaveInstruction::xsave || (components & state_bit(sse)) != 0) state.set_mxcsr(mxcsr);
  unit.set_state(state);
  Area area;
  EXPECT_EQ(save(unit, format, area), Fault::none);
  // Not every vendor keeps the pointers to an instruction without an exception.
  constexpr std::size_t pointers = xsave::legacy::FOP, pointers_end = xsave::legacy::MXCSR;
  std::fill_n(area.bytes.begin() + pointers, pointers_end - pointers, std::byte{0});
  return area.put(xsave::legacy::FCW, static_cast<u32>(random()));  // FCW and FSW
}

void expect_equal(const std::vector<std::byte>& emulated, const HostArea& real) {
  for (std::size_t n = 0; n < emulated.size(); ++n)
    ASSERT_EQ(emulated[n], real.bytes[n]) << "the first difference is at byte " << n;
}

/// What this CPU writes. An operating system that interrupts between the instructions may put components in
/// use that were in their initial configuration (SDM Vol. 1, 13.6): then again, if `expected` is not there.
HostArea load_and_save(const Area& source, u64 loaded, SaveInstruction which, u64 saved,
                       const Area& expected) {
  constexpr u32 initial_mxcsr = 0x1F80;
  constexpr int attempts = 5;
  HostArea own, from, to;
  std::ranges::copy(source.bytes, from.bytes.begin());
  for (int attempt = 0; attempt < attempts; ++attempt) {
    to.bytes.fill(std::byte{0xCC});
    // XRSTOR of some components leaves MXCSR as the process has it: with the flags of all its arithmetic.
    _mm_setcsr(initial_mxcsr);
    load_and_save(
        {own.bytes.data(), from.bytes.data(), to.bytes.data(), loaded, saved, static_cast<u64>(which)});
    if (std::equal(expected.bytes.begin(), expected.bytes.end(), to.bytes.begin())) break;
  }
  return to;
}

TEST_F(HostCpu, WritesTheImagesThatTheEmulatedOneWrites) {
  constexpr int rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    const bool compact = random_() % 2 == 0;
    const Area source = random_area(unit(), loadable() & (random_() | state_bit(x87)),
                                    compact ? SaveInstruction::xsavec : SaveInstruction::xsave, random_);
    const u64 loaded = loadable() & (random_() | random_()), saved = loadable() & (random_() | random_());
    for (const SaveInstruction which :
         {SaveInstruction::xsave, SaveInstruction::xsaveopt, SaveInstruction::xsavec}) {
      // Components that are not loaded are the process's own, which nobody here knows.
      XsaveUnit emulated = unit();
      ASSERT_EQ(restore(emulated, RestoreInstruction::xrstor, source, {Area::address, loaded}), Fault::none);
      Area expected(std::byte{0xCC});
      ASSERT_EQ(save(emulated, which, expected, {2 * Area::address, saved & loaded}), Fault::none);

      const HostArea real = load_and_save(source, loaded, which, saved & loaded, expected);
      SCOPED_TRACE(testing::Message() << "instruction " << static_cast<int>(which) << " of " << std::hex
                                      << saved << " after XRSTOR of " << loaded);
      expect_equal(expected.bytes, real);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(HostCpu, HasTheSizesThatTheEmulatedOneReports) {
  XsaveUnit emulated = unit();
  EXPECT_EQ(emulated.cpuid(0xD, 0).ebx, host_cpuid(0xD, 0).ebx);
}

// A general protection fault arrives as SIGSEGV.
sigjmp_buf after_fault;
void leave(int) { siglongjmp(after_fault, 1); }

class FaultCatcher {
 public:
  FaultCatcher() {
    struct sigaction action {};
    action.sa_handler = leave;
    sigaction(SIGSEGV, &action, &before_);
  }
  FaultCatcher(const FaultCatcher&) = delete;
  ~FaultCatcher() { sigaction(SIGSEGV, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

bool refuses(const HostArea& area) {
  if (sigsetjmp(after_fault, 1) != 0) return true;
  check_header(area);
  return false;
}

TEST_F(HostCpu, RefusesTheHeadersThatTheEmulatedOneRefuses) {
  const FaultCatcher catcher;
  constexpr int rounds = 4000;
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto some = [&](u64 mask) { return random_() & random_() & mask; };
    const auto rarely = [&](u64 value) { return random_() % 8 == 0 ? value : 0; };
    Area area;
    const u64 present = some(model_.xcr0);
    const bool compact = random_() % 2 == 0;
    area.header(some(compact ? present : model_.xcr0) | rarely(bit(random_() % 64)),
                (compact ? xsave::compacted | present : 0) | rarely(bit(random_() % 64)));
    if (random_() % 4 == 0) area.put(528 + random_() % 48, std::byte{1});

    XsaveUnit emulated = unit();
    const Fault fault = restore(emulated, RestoreInstruction::xrstor, area, {Area::address, 0});
    HostArea real;
    std::ranges::copy(area.bytes, real.bytes.begin());
    ASSERT_EQ(refuses(real), fault == Fault::gp)
        << std::hex << "XSTATE_BV " << area.xstate_bv() << ", XCOMP_BV " << area.xcomp_bv();
    refused += fault == Fault::gp;
  }
  EXPECT_GT(refused, rounds / 10);
  EXPECT_LT(refused, rounds * 9 / 10);
}

}  // namespace
}  // namespace pmusim
#endif
