// SPDX-License-Identifier: MIT
// What the machine (docs/machine.md) says of events that its guest counts and that are no counts there.
#include "pmu/uncounted.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pmusim/arch/msr.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::test {
namespace {

using machine::Uncounted;

/// A guest that counts one event after another on its first counter.
class Guest {
 public:
  std::vector<std::string> count(u64 select) {
    using namespace msr;
    EXPECT_EQ(pmu_.wrmsr(PERFEVTSEL0, select | evtsel::EN), Fault::none);
    EXPECT_EQ(pmu_.wrmsr(PERF_GLOBAL_CTRL, 1), Fault::none);
    std::vector<std::string> said;
    for (const CountedEvent& counted : pmu_.counted_events())
      if (auto sentence = uncounted_.remark(pmu_.model(), counted)) said.push_back(std::move(*sentence));
    return said;
  }

 private:
  Pmu pmu_{*find_cpu_model("skylake-x")};
  Uncounted uncounted_;
};

// SDM vol. 3B, "Performance Monitoring Events for Intel Xeon Processor Scalable Family": C0H instructions,
// D1H/08H loads that missed the L1; 34H is none of that core.
constexpr u64 instructions = 0xC0, l1_misses = 0x08D1, none = 0x1234;

TEST(GuestEvents, ThatCountHaveNoRemark) {
  Guest guest;
  EXPECT_EQ(guest.count(instructions | msr::evtsel::USR), std::vector<std::string>());
}

TEST(GuestEvents, ThatReadZeroAreNamedOnceAtAnyPrivilege) {
  Guest guest;
  const std::string of_l1 =
      "the guest counted MEM_LOAD_RETIRED.L1_MISS (event D1, umask 08): this machine has neither caches nor "
      "a "
      "pipeline; it read 0";
  EXPECT_EQ(guest.count(l1_misses | msr::evtsel::USR), std::vector{of_l1});
  EXPECT_EQ(guest.count(l1_misses | msr::evtsel::OS), std::vector<std::string>());
  EXPECT_EQ(guest.count(none | msr::evtsel::USR).size(), 1u);
  EXPECT_EQ(guest.count(l1_misses | msr::evtsel::USR | msr::evtsel::INT), std::vector<std::string>());
}

TEST(GuestEvents, OfAGuestThatCountsAnythingAreNamedUpToALimit) {
  Guest guest;
  std::size_t sentences = 0;
  std::string last;
  for (u64 n = 0; n < 2 * Uncounted::most; ++n)
    for (const std::string& sentence :
         guest.count(0x34 | (n >> 8) << 8 | (n & 0xFF) << 24 | msr::evtsel::USR)) {
      ++sentences;
      last = sentence;
    }
  EXPECT_EQ(sentences, Uncounted::most + 1);
  EXPECT_EQ(last, "the guest counted more than 4096 different events; of further ones nothing is said");
}

}  // namespace
}  // namespace pmusim::test
