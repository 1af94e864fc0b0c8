// SPDX-License-Identifier: MIT
// Machine code with privileged instructions, executed by the test itself (docs/trap.md).
#include "pmusim/trap/trap.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "pmusim/pmu/observer.h"
#include "tests/support/register_instructions.h"

namespace pmusim {
namespace {

using test::rdmsr;
using test::rdpmc;
using test::wrmsr;

class TrapTest : public testing::Test {
 protected:
  Pmu pmu_{*find_cpu_model("skylake")};
  std::unique_ptr<Trap> trap_ = enable(pmu_);

  static std::unique_ptr<Trap> enable(Pmu& pmu, TrapOptions options = {}) {
    auto trap = Trap::enable(pmu, std::move(options));
    EXPECT_TRUE(trap.ok()) << trap.error().message;
    return trap.ok() ? std::move(*trap) : nullptr;
  }
  void reenable(TrapOptions options) {
    trap_.reset();
    trap_ = enable(pmu_, std::move(options));
  }
  void count(u64 event, u64 rings) {
    wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | rings | event);
    wrmsr(msr::PERF_GLOBAL_CTRL, 1);
  }
};

TEST_F(TrapTest, RegistersAreThoseOfThePmu) {
  wrmsr(msr::PERF_GLOBAL_CTRL, 5);
  EXPECT_EQ(*pmu_.rdmsr(msr::PERF_GLOBAL_CTRL), 5u);
  EXPECT_EQ(rdmsr(msr::PERF_GLOBAL_CTRL), 5u);
  ASSERT_EQ(pmu_.wrmsr(msr::PMC0, 0x123), Fault::none);
  EXPECT_EQ(rdpmc(0), 0x123u);
}

TEST_F(TrapTest, NothingRetiresUnlessItIsStepped) {
  count(0xC0, msr::evtsel::OS | msr::evtsel::USR);
  asm volatile("nop\n nop");
  EXPECT_EQ(rdmsr(msr::PMC0), 0u);
}

TEST_F(TrapTest, SteppedInstructionsRetireExactly) {
  count(0xC0, msr::evtsel::OS);
  u64 n = 10;
  asm volatile(
      "mov $1, %%eax\n wrmsr\n"  // begins
      "1: dec %0\n jnz 1b\n"
      "nop\n"
      "xor %%eax, %%eax\n wrmsr\n"  // ends
      : "+r"(n)
      : "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc");
  EXPECT_EQ(rdmsr(msr::PMC0), 10u * 2 + 1 + 1);
  EXPECT_EQ(trap_->retired(), 22u);
  EXPECT_EQ(pmu_.now(), 23u);  // and the boundary in front of the one that ended it
}

TEST_F(TrapTest, SteppedInstructionsRetireAtTheRingThatWasSaid) {
  count(0xC0, msr::evtsel::USR);
  Trap::begin_stepping(Cpl::kernel);
  asm volatile("nop\n nop\n nop");
  Trap::end_stepping();
  EXPECT_EQ(rdmsr(msr::PMC0), 0u);
  asm volatile("mov $2, %%eax\n wrmsr\n nop\n nop\n xor %%eax, %%eax\n wrmsr\n"
               :
               : "c"(Trap::stepping_register), "d"(0)
               : "rax", "cc");
  EXPECT_EQ(rdmsr(msr::PMC0), 3u);
}

TEST_F(TrapTest, PrivilegedInstructionsAmongThemRetireToo) {
  count(0xC0, msr::evtsel::OS);
  asm volatile(
      "mov $1, %%eax\n wrmsr\n"
      "cli\n sti\n rdtsc\n pushf\n popf\n xor %%ecx, %%ecx\n rdpmc\n"  // 7
      "mov %0, %%ecx\n xor %%edx, %%edx\n xor %%eax, %%eax\n wrmsr\n"  // 3
      :
      : "i"(Trap::stepping_register), "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc", "memory");
  EXPECT_EQ(rdmsr(msr::PMC0), 10u);
}

/// A copy of 1 and 63 zeros, made by REP MOVSB; with what goes on around it four instructions are stepped.
std::array<char, 64> stepped_copy() {
  std::array<char, 64> from{1}, to{};
  const char* source = from.data();
  char* target = to.data();
  asm volatile(
      "mov $1, %%eax\n wrmsr\n mov $64, %%ecx\n rep movsb\n mov %2, %%ecx\n xor %%eax, %%eax\n wrmsr\n"
      : "+S"(source), "+D"(target)
      : "i"(Trap::stepping_register), "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc", "memory");
  return to;
}

TEST_F(TrapTest, ARepeatedStringInstructionIsOneInstruction) {
  count(0xC0, msr::evtsel::OS);
  EXPECT_EQ(stepped_copy()[0], 1);
  EXPECT_EQ(rdmsr(msr::PMC0), 4u);
}

TEST_F(TrapTest, BranchesAndMemoryAccessesAreThoseOfTheCode) {
  struct Last final : RetirementObserver {
    void on_retirement(const Retirement& r) override {
      taken += r.taken ? 1 : 0;
      if (!r.memory.empty()) address = r.memory[0].address;
    }
    u64 taken = 0, address = 0;
  } last;
  pmu_.set_retirement_observer(&last);
  u64 word = 0, n = 3;
  asm volatile("mov $1, %%eax\n wrmsr\n 1: mov %%rax, (%1)\n dec %0\n jnz 1b\n xor %%eax, %%eax\n wrmsr\n"
               : "+r"(n)
               : "r"(&word), "c"(Trap::stepping_register), "d"(0)
               : "rax", "cc", "memory");
  pmu_.set_retirement_observer(nullptr);
  EXPECT_EQ(last.taken, 2u);
  EXPECT_EQ(last.address, reinterpret_cast<u64>(&word));
}

// --- PMIs
// ----------------------------------------------------------------------------------------------------

class InterruptingCounter : public TrapTest, public PmiHandler {
 protected:
  void handle_pmi(const InterruptFrame& frame) override {
    ++interrupts_;
    ip_ = frame.registers.rip;
    wrmsr(msr::PERF_GLOBAL_STATUS_RESET, rdmsr(msr::PERF_GLOBAL_STATUS));  // executed by the handler itself
    wrmsr(msr::X2APIC_LVTPC, lvtpc_);
  }
  void arm(u64 lvtpc, u64 instructions) {
    pmu_ = Pmu([] {
      CpuModel model = *find_cpu_model("skylake");
      model.policies.pmi_skid_cycles = 0;
      return model;
    }());
    pmu_.set_pmi_handler(this);
    lvtpc_ = lvtpc;
    wrmsr(msr::X2APIC_LVTPC, lvtpc);
    wrmsr(msr::PMC0, -instructions & low_bits(32));
    wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::OS | msr::evtsel::INT | 0xC0);
    wrmsr(msr::PERF_GLOBAL_CTRL, 1);
  }
  u64 lvtpc_ = 0, ip_ = 0;
  unsigned interrupts_ = 0;
};

TEST_F(InterruptingCounter, IsHandledBetweenTwoInstructions) {
  arm(msr::lvtpc::NMI, 2);
  u64 third = 0;
  asm volatile(
      "lea 2f(%%rip), %0\n mov $1, %%eax\n wrmsr\n"
      "nop\n nop\n 2: nop\n nop\n xor %%eax, %%eax\n wrmsr\n"
      : "=&r"(third)
      : "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc");
  EXPECT_EQ(interrupts_, 1u);
  EXPECT_EQ(ip_, third);
  EXPECT_EQ(trap_->retired(), 5u);  // the handler does not retire
}

TEST_F(InterruptingCounter, WaitsForStiAndTheInstructionBehindIt) {
  arm(0x30, 2);  // a fixed vector
  u64 behind = 0;
  asm volatile(
      "lea 2f(%%rip), %0\n mov $1, %%eax\n wrmsr\n"
      "cli\n nop\n nop\n nop\n sti\n nop\n 2: nop\n xor %%eax, %%eax\n wrmsr\n"
      : "=&r"(behind)
      : "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc");
  EXPECT_EQ(interrupts_, 1u);
  EXPECT_EQ(ip_, behind);
}

TEST_F(InterruptingCounter, IsNotHeldBackByCliWhereItIsAnNmi) {
  arm(msr::lvtpc::NMI, 2);
  asm volatile("mov $1, %%eax\n wrmsr\n cli\n nop\n nop\n xor %%eax, %%eax\n wrmsr\n"
               :
               : "c"(Trap::stepping_register), "d"(0)
               : "rax", "cc");
  EXPECT_EQ(interrupts_, 1u);
  EXPECT_FALSE(trap_->interrupts_enabled());
}

TEST_F(InterruptingCounter, IsHeldBackBetweenSavingAndRestoringFlags) {  // local_irq_save
  arm(0x30, 2);
  u64 behind = 0;
  asm volatile(
      "lea 2f(%%rip), %0\n mov $1, %%eax\n wrmsr\n"
      "lea -128(%%rsp), %%rsp\n pushf\n cli\n nop\n popf\n 2: lea 128(%%rsp), %%rsp\n xor %%eax, %%eax\n "
      "wrmsr\n"
      : "=&r"(behind)
      : "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc", "memory");
  EXPECT_EQ(interrupts_, 1u);
  EXPECT_TRUE(trap_->interrupts_enabled());
}

// --- faults
// --------------------------------------------------------------------------------------------------

TEST_F(TrapTest, AFaultOfTheModelReachesTheHandlerOfTheTest) {
  TrapFault seen;
  unsigned faults = 0;
  reenable({.on_fault = [&](const TrapFault& fault, Registers& registers) {
    seen = fault;
    ++faults;
    EXPECT_EQ(registers[Gpr::rcx], 0xBADu);
    return AfterFault::skip;
  }});
  wrmsr(0xBAD, 1);
  EXPECT_EQ(faults, 1u);
  EXPECT_EQ(seen.fault, Fault::gp);
}

TEST_F(TrapTest, AFaultHandlerMayUseThePmuItself) {
  u64 seen = 0;
  reenable({.on_fault = [&](const TrapFault&, Registers&) {
    seen = rdmsr(msr::PERF_GLOBAL_CTRL);
    return AfterFault::skip;
  }});
  wrmsr(msr::PERF_GLOBAL_CTRL, 5);
  asm volatile(
      "mov $1, %%eax\n wrmsr\n nop\n mov $0xbad, %%ecx\n rdmsr\n nop\n mov %0, %%ecx\n xor %%edx, %%edx\n"
      "xor %%eax, %%eax\n wrmsr\n"
      :
      : "i"(Trap::stepping_register), "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc");
  EXPECT_EQ(seen, 5u);
  EXPECT_EQ(trap_->retired(), 6u);  // all but the one that faulted
}

TEST_F(TrapTest, AFaultHandlerCanSendTheCodeElsewhere) {  // as an exception table does
  u64 fixed = 0, safe = 0;
  reenable({.on_fault = [&](const TrapFault&, Registers& registers) {
    registers.rip = safe;
    return AfterFault::resume;
  }});
  asm volatile(
      "lea 3f(%%rip), %%rax\n mov %%rax, %1\n mov $0xbad, %%ecx\n rdmsr\n jmp 4f\n 3: movq $1, %0\n 4:"
      : "=m"(fixed), "=m"(safe)
      :
      : "rax", "rcx", "rdx", "memory");
  EXPECT_EQ(fixed, 1u);
}

TEST_F(TrapTest, AFaultNamesTheRuleThatItBroke) {
  std::string why;
  reenable({.on_fault = [&](const TrapFault& fault, Registers&) {
    why = pmu_.why(fault.access);
    return AfterFault::skip;
  }});
  wrmsr(msr::PERF_GLOBAL_CTRL, 0x10);
  EXPECT_NE(why.find("IA32_PERF_GLOBAL_CTRL (38FH) = 0x10: #GP: bit 4 is reserved on Skylake"), why.npos)
      << why;
  asm volatile("mov $2, %%eax\n wrmsr\n rdmsr\n mov %0, %%ecx\n xor %%eax, %%eax\n wrmsr\n"
               :
               : "i"(Trap::stepping_register), "c"(Trap::stepping_register), "d"(0)
               : "rax", "cc");
  EXPECT_EQ(why, "rdmsr 400000F0H: #GP: the code is not at ring 0");
}

TEST_F(TrapTest, RingThreeMayNotReadRegisters) {
  unsigned faults = 0;
  reenable({.on_fault = [&](const TrapFault&, Registers&) {
    ++faults;
    return AfterFault::skip;
  }});
  count(0xC0, msr::evtsel::USR);
  asm volatile("mov $2, %%eax\n wrmsr\n rdmsr\n mov %0, %%ecx\n xor %%eax, %%eax\n wrmsr\n"
               :
               : "i"(Trap::stepping_register), "c"(Trap::stepping_register), "d"(0)
               : "rax", "cc");
  EXPECT_EQ(faults, 1u);
  EXPECT_EQ(rdmsr(msr::PMC0), 2u);  // what faults does not retire
}

// The process's own handlers: of a fault, where execution goes on; of a breakpoint, how many there were.
sigjmp_buf jump;
volatile sig_atomic_t breakpoints = 0;
void leave(int) { siglongjmp(jump, 1); }
/// Whether `call` ended in leave().
template <class Call>
bool jumps_out(Call call) {
  if (sigsetjmp(jump, 1) != 0) return true;
  call();
  return false;
}
void count_breakpoint(int) { breakpoints = breakpoints + 1; }

/// A handler of the process's own, while it lives.
class OwnHandler {
 public:
  OwnHandler(int signal, void (*handler)(int)) : signal_(signal) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(signal, &action, &before_);
  }
  ~OwnHandler() { sigaction(signal_, &before_, nullptr); }
  OwnHandler(const OwnHandler&) = delete;
  OwnHandler& operator=(const OwnHandler&) = delete;

 private:
  int signal_;
  struct sigaction before_ {};
};

/// Bytes that may not be touched.
class Forbidden {
 public:
  Forbidden() : page_(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Forbidden() { munmap(page_, 4096); }
  Forbidden(const Forbidden&) = delete;
  Forbidden& operator=(const Forbidden&) = delete;
  void touch() const { asm volatile("movl $1, (%0)" : : "r"(page_) : "memory"); }

 private:
  void* page_;
};

class ForeignSignal : public testing::Test {
 protected:
  Pmu pmu_{*find_cpu_model("skylake")};
  Forbidden forbidden_;
};

TEST_F(ForeignSignal, OfARealFaultReachesTheEarlierHandler) {
  const OwnHandler handler(SIGSEGV, leave);
  const auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  EXPECT_TRUE(jumps_out([&] { forbidden_.touch(); }));
  wrmsr(msr::PERF_GLOBAL_CTRL, 3);  // and the emulated CPU is there as before
  EXPECT_EQ(rdmsr(msr::PERF_GLOBAL_CTRL), 3u);
  EXPECT_TRUE(jumps_out([&] { forbidden_.touch(); }));
}

TEST_F(ForeignSignal, OfARealFaultWhileStepping) {
  const OwnHandler handler(SIGSEGV, leave);
  const auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  EXPECT_TRUE(jumps_out([&] {
    Trap::begin_stepping(Cpl::kernel);
    forbidden_.touch();
  }));
  const u64 retired = (*trap)->retired();
  EXPECT_GT(retired, 0u);
  wrmsr(msr::PERF_GLOBAL_CTRL, 3);
  EXPECT_EQ((*trap)->retired(), retired);  // a jump out of a handler ends it
  Trap::begin_stepping(Cpl::kernel);
  asm volatile("nop");
  Trap::end_stepping();
  EXPECT_GT((*trap)->retired(), retired);
}

TEST_F(ForeignSignal, OfAFaultOfTheModelReachesThatHandlerToo) {
  const OwnHandler handler(SIGSEGV, leave);
  const auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  EXPECT_TRUE(jumps_out([] { wrmsr(0xBAD, 1); }));
}

TEST_F(ForeignSignal, OfABreakpointReachesItsHandler) {
  const OwnHandler handler(SIGTRAP, count_breakpoint);
  const auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  breakpoints = 0;
  asm volatile("int3");
  EXPECT_EQ(breakpoints, 1);
  Trap::begin_stepping(Cpl::kernel);
  asm volatile("nop\n int3\n nop");
  Trap::end_stepping();
  EXPECT_EQ(breakpoints, 2);
}

/// What retires, by address.
struct Retired final : RetirementObserver {
  void on_retirement(const Retirement& r) override { ips.push_back(r.ip); }
  std::vector<u64> ips;
};

/// Skips the two bytes of UD2.
void skip_ud2(int, siginfo_t*, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;
}

class ForeignSignalBefore : public ForeignSignal, public testing::WithParamInterface<bool> {};

TEST_P(ForeignSignalBefore, ThatMovesRipLeavesOutWhatFaulted) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = skip_ud2;
  action.sa_flags = SA_SIGINFO;
  if (GetParam()) {
    ASSERT_EQ(sigaction(SIGILL, &action, &before), 0);
  }
  auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  if (!GetParam()) {
    ASSERT_EQ(sigaction(SIGILL, &action, &before), 0);
  }
  Retired retired;
  retired.ips.reserve(16);
  pmu_.set_retirement_observer(&retired);
  u64 first = 0;
  u64 second = 0;
  asm volatile(
      "lea 1f(%%rip), %0\n lea 2f(%%rip), %1\n mov $1, %%eax\n wrmsr\n"
      "1: nop\n ud2\n jmp 2f\n nop\n 2: nop\n xor %%eax, %%eax\n wrmsr\n"
      : "=&r"(first), "=&r"(second)
      : "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc");
  pmu_.set_retirement_observer(nullptr);
  EXPECT_EQ(retired.ips, (std::vector<u64>{first, first + 3, second, second + 1}));
  EXPECT_EQ((*trap)->retired(), 4u);
  if (!GetParam()) {
    ASSERT_EQ(sigaction(SIGILL, &before, nullptr), 0);
  }
  trap->reset();
  if (GetParam()) {
    ASSERT_EQ(sigaction(SIGILL, &before, nullptr), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(TheTrapOrAfterIt, ForeignSignalBefore, testing::Values(true, false));

TEST_F(ForeignSignal, ThatJumpsOutEndsTheStepping) {
  const OwnHandler handler(SIGILL, leave);
  const auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  u64 retired = 0;
  EXPECT_TRUE(jumps_out([] {
    asm volatile("mov $1, %%eax\n wrmsr\n nop\n nop\n ud2\n"
                 :
                 : "c"(Trap::stepping_register), "d"(0)
                 : "rax", "cc");
  }));
  EXPECT_FALSE((*trap)->stepping());
  EXPECT_EQ((*trap)->retired(), 2u);
  asm volatile("mov $1, %%eax\n wrmsr\n nop\n xor %%eax, %%eax\n wrmsr\n"
               :
               : "c"(Trap::stepping_register), "d"(0)
               : "rax", "cc");
  retired = (*trap)->retired();
  EXPECT_EQ(retired, 4u);
}

void write_register(int) { wrmsr(msr::PERF_GLOBAL_CTRL, 7); }

TEST_F(ForeignSignal, DoesNotStepAHandlersPrivilegedInstructions) {
  const OwnHandler handler(SIGUSR1, write_register);
  const auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  Trap::begin_stepping(Cpl::kernel);
  raise(SIGUSR1);
  const u64 retired = (*trap)->retired();
  asm volatile("nop");
  EXPECT_TRUE((*trap)->stepping());
  Trap::end_stepping();
  EXPECT_GT((*trap)->retired(), retired);
  EXPECT_EQ(*pmu_.rdmsr(msr::PERF_GLOBAL_CTRL), 7u);
}

TEST_F(ForeignSignal, ReachesALaterHandlerAfterRetakingSignals) {
  auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  const OwnHandler handler(SIGSEGV, leave);
  (*trap)->retake_signals();
  wrmsr(msr::PERF_GLOBAL_CTRL, 3);
  EXPECT_EQ(*pmu_.rdmsr(msr::PERF_GLOBAL_CTRL), 3u);
  EXPECT_TRUE(jumps_out([&] { forbidden_.touch(); }));
  trap->reset();  // whoever took the signals last gives them back first
}

// Who comes later may pass on what he does not want, to us; what is not ours goes to who was there before.
struct sigaction before_the_later {};
volatile sig_atomic_t passed_back = 0;
void pass_back(int signal, siginfo_t* info, void* context) {
  passed_back = passed_back + 1;
  before_the_later.sa_sigaction(signal, info, context);
}

TEST_F(ForeignSignal, ThatALaterHandlerPassesBackGoesToTheOneBefore) {
  const OwnHandler handler(SIGSEGV, leave);
  auto trap = Trap::enable(pmu_);
  ASSERT_TRUE(trap.ok());
  passed_back = 0;
  struct sigaction later {};
  later.sa_sigaction = pass_back;
  later.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ASSERT_EQ(sigaction(SIGSEGV, &later, &before_the_later), 0);
  wrmsr(msr::PERF_GLOBAL_CTRL, 3);  // by way of the later one
  EXPECT_EQ(*pmu_.rdmsr(msr::PERF_GLOBAL_CTRL), 3u);
  EXPECT_EQ(passed_back, 1);
  EXPECT_TRUE(jumps_out([&] { forbidden_.touch(); }));
  EXPECT_EQ(passed_back, 2);
  (*trap)->retake_signals();  // now we are before him as well as behind
  wrmsr(msr::PERF_GLOBAL_CTRL, 1);
  EXPECT_EQ(passed_back, 2);
  for (int n = 3; n <= 5; ++n) {
    EXPECT_TRUE(jumps_out([&] { forbidden_.touch(); }));
    EXPECT_EQ(passed_back, n);
  }
  trap->reset();
  EXPECT_EQ(sigaction(SIGSEGV, &before_the_later, nullptr), 0);  // and he, too
}

TEST_F(ForeignSignal, KillsAsItWouldHave) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        const auto trap = Trap::enable(pmu_);
        forbidden_.touch();
      },
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      {
        signal(SIGTRAP, SIG_DFL);
        const auto trap = Trap::enable(pmu_);
        asm volatile("int3");
      },
      testing::KilledBySignal(SIGTRAP), "");
}

TEST_F(ForeignSignal, HandlersAreTheFormerOnesAfterwards) {
  const OwnHandler handler(SIGSEGV, leave);
  { const auto trap = Trap::enable(pmu_); }
  struct sigaction now {};
  ASSERT_EQ(sigaction(SIGSEGV, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, &leave);
}

// --- TSX, on machines with and without it
// --------------------------------------------------------------------------------------------------

/// _xbegin() of compilers: -1 in a transaction, EAX of its abort behind it.
u32 begin_transaction() {
  u32 status = ~0u;
  asm volatile(".byte 0xC7, 0xF8, 0, 0, 0, 0" : "+a"(status) : : "memory");
  return status;
}

TEST_F(TrapTest, ATransactionAbortsWhereItBegins) {
  for (const TrapTiming timing : {TrapTiming::flat, TrapTiming::core}) {
    pmu_.reset();
    reenable({.timing = timing});
    for (u32 n = 0;
         const u64 event : {0x1C9u, 0x4C9u, 0x80C9u, 0xC0u})  // RTM_RETIRED.START, ABORTED, _EVENTS
      wrmsr(msr::PERFEVTSEL0 + n++, msr::evtsel::EN | msr::evtsel::OS | event);
    wrmsr(msr::PERF_GLOBAL_CTRL, 15);
    u64 status = ~u64{0}, fallback = 0;
    asm volatile(
        "mov $1, %%eax\n wrmsr\n mov $-1, %%rax\n"
        "xbegin 1f\n xend\n jmp 2f\n 1: inc %1\n 2: mov %%rax, %0\n xor %%eax, %%eax\n wrmsr\n"
        : "=&r"(status), "+r"(fallback)
        : "c"(Trap::stepping_register), "d"(0)
        : "rax", "cc");
    EXPECT_EQ(status, 0u);
    EXPECT_EQ(fallback, 1u);
    EXPECT_EQ(rdmsr(msr::PMC0), 1u);
    EXPECT_EQ(rdmsr(msr::PMC0 + 1), 1u);
    EXPECT_EQ(rdmsr(msr::PMC0 + 2), 1u);
    EXPECT_EQ(rdmsr(msr::PMC0 + 3), 5u);
  }
}

TEST_F(TrapTest, OutsideOfATransactionXtestIsZeroAndXabortIsANop) {
  bool outside = false;
  asm volatile("mov $1, %%eax\n wrmsr\n xabort $3\n xtest\n setz %0\n xor %%eax, %%eax\n wrmsr\n"
               : "=&b"(outside)
               : "c"(Trap::stepping_register), "d"(0)
               : "rax", "cc");
  EXPECT_TRUE(outside);
  EXPECT_EQ(trap_->retired(), 4u);
}

TEST_F(TrapTest, ATransactionThatIsNotSteppedDoesNotKill) {
  static_cast<void>(begin_transaction());  // aborts at once where the machine has no TSX
  bool in_transaction = false;
  asm volatile("xtest\n setnz %0" : "=r"(in_transaction) : : "cc");
  if (in_transaction) asm volatile("xend");
  EXPECT_EQ(trap_->retired(), 0u);
}

// --- timing
// --------------------------------------------------------------------------------------------------

TEST_F(TrapTest, CachesAndPredictorsAreTheCoresWhereRequested) {
  alignas(64) static std::array<u64, 8 * 4> lines{};
  const auto misses = [&](TrapTiming timing) {
    pmu_ = Pmu(*find_cpu_model("skylake"));
    reenable({.timing = timing});
    wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::OS | 0x08D1);      // MEM_LOAD_RETIRED.L1_MISS
    wrmsr(msr::PERFEVTSEL0 + 1, msr::evtsel::EN | msr::evtsel::OS | 0x00C5);  // BR_MISP_RETIRED
    wrmsr(msr::PERFEVTSEL0 + 2, msr::evtsel::EN | msr::evtsel::OS | 0x00C0);
    wrmsr(msr::PERF_GLOBAL_CTRL, 7);
    u64 n = 40;
    asm volatile(
        "mov $1, %%eax\n wrmsr\n"
        "mov (%1), %%rax\n mov 64(%1), %%rax\n mov (%1), %%rax\n clflush (%1)\n mov (%1), %%rax\n"
        "1: dec %0\n jnz 1b\n"
        "xor %%eax, %%eax\n wrmsr\n"
        : "+r"(n)
        : "r"(lines.data()), "c"(Trap::stepping_register), "d"(0)
        : "rax", "cc", "memory");
    EXPECT_EQ(rdmsr(msr::PMC0 + 2), 5u + 2 * 40 + 1);
    return rdmsr(msr::PMC0);
  };
  EXPECT_EQ(misses(TrapTiming::flat), 0u);
  EXPECT_EQ(misses(TrapTiming::core), 3u);  // two lines that are cold, and the one that was flushed
  EXPECT_GT(rdmsr(msr::PMC0 + 1), 0u);      // the loop's exit
  EXPECT_GT(pmu_.now(), 100u);              // memory takes its time
}

TEST_F(TrapTest, AStringIterationIsNoInstructionOfTheCore) {
  reenable({.timing = TrapTiming::core});
  count(0xC0, msr::evtsel::OS);
  stepped_copy();
  EXPECT_EQ(rdmsr(msr::PMC0), 4u);
}

// --- the local APIC
// --------------------------------------------------------------------------------------------------

TEST_F(TrapTest, TheEndOfAnInterruptIsWrittenAsOnAMachine) {
  EXPECT_EQ(rdmsr(0x1B), 0xFEE00D00u);
  wrmsr(0x80B, 0);
}

// --- threads and the rest
// ------------------------------------------------------------------------------------

TEST_F(TrapTest, AThreadHasOne) {
  Pmu other(*find_cpu_model("icelake"));
  const auto second = Trap::enable(other);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("already"), std::string::npos);
  wrmsr(msr::PERF_GLOBAL_CTRL, 1);
  EXPECT_EQ(*pmu_.rdmsr(msr::PERF_GLOBAL_CTRL), 1u);
}

TEST_F(TrapTest, TwoThreadsHaveTwoProcessors) {
  const auto run = [](Pmu& pmu, u64 mask, u64 loops) {
    const auto trap = enable(pmu);
    wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::OS | 0xC0);
    wrmsr(msr::PERF_GLOBAL_CTRL, mask);
    asm volatile("mov $1, %%eax\n wrmsr\n 1: dec %0\n jnz 1b\n xor %%eax, %%eax\n wrmsr\n"
                 : "+r"(loops)
                 : "c"(Trap::stepping_register), "d"(0)
                 : "rax", "cc");
  };
  Pmu first(*find_cpu_model("skylake")), second(*find_cpu_model("icelake"));
  std::thread one(run, std::ref(first), 1, 500), two(run, std::ref(second), 3, 700);
  one.join();
  two.join();
  EXPECT_EQ(*first.rdmsr(msr::PMC0), 1001u);
  EXPECT_EQ(*second.rdmsr(msr::PMC0), 1401u);
  EXPECT_EQ(*first.rdmsr(msr::PERF_GLOBAL_CTRL), 1u);
  EXPECT_EQ(*second.rdmsr(msr::PERF_GLOBAL_CTRL), 3u);
}

TEST_F(TrapTest, LeavesTheRedZoneAlone) {
  u64 kept = 0;
  asm volatile(
      "movq $77, -8(%%rsp)\n movq $78, -128(%%rsp)\n rdmsr\n"
      "mov -8(%%rsp), %0\n add -128(%%rsp), %0\n"
      : "=&r"(kept)
      : "c"(msr::PERF_GLOBAL_CTRL)
      : "rax", "rdx", "cc", "memory");
  EXPECT_EQ(kept, 155u);
}

TEST_F(TrapTest, CpuidIsTheModelsWhileItIsStepped) {
  u32 eax = 0, ebx = 0, ecx = 0, edx = 0;
  Trap::begin_stepping(Cpl::kernel);
  asm volatile("cpuid" : "=a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx) : "a"(0xA), "c"(0));
  Trap::end_stepping();
  EXPECT_EQ((CpuidResult{eax, ebx, ecx, edx}), pmu_.cpuid(0xA, 0));
}

TEST_F(TrapTest, CpuidIsTheModelsWhereTheMachineLetsItFault) {
  reenable({.cpuid = TrapCpuid::emulated});
  if (!trap_->traps_cpuid()) GTEST_SKIP() << "this machine does not";
  u32 eax = 0xA, ebx = 0, ecx = 0, edx = 0;
  asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  EXPECT_EQ((CpuidResult{eax, ebx, ecx, edx}), pmu_.cpuid(0xA, 0));
}

TEST_F(TrapTest, XsavesStoresIntoMemoryThatIsShared) {
  pmu_ = Pmu(*find_cpu_model("icelake-server"));
  alignas(64) std::array<std::byte, 4096> area{};
  ASSERT_TRUE(trap_->share(area));
  ASSERT_EQ(pmu_.xsetbv(0, 7), Fault::none);
  asm volatile("xsaves64 (%0)" : : "r"(area.data()), "a"(7), "d"(0) : "memory");
  u64 xcomp_bv = 0;
  std::memcpy(&xcomp_bv, area.data() + 520, sizeof xcomp_bv);
  EXPECT_EQ(xcomp_bv, bit(63) | 7u);
  asm volatile("xrstors64 (%0)" : : "r"(area.data()), "a"(7), "d"(0) : "memory");
}

}  // namespace
}  // namespace pmusim
