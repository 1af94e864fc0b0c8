// SPDX-License-Identifier: MIT
// Software that writes IA32_PRED_CMD while a program is replayed.
#include <gtest/gtest.h>

#include <functional>

#include "command.h"
#include "pmusim/arch/msr.h"
#include "pmusim/cpu/model.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/session/session.h"

namespace pmusim::test {
namespace {

u64 mispredicted_branches(const std::function<void(Session&)>& at_every_pause) {
  auto opened = Session::open(recorded("mispredict", {"4096", "2"}), {.model = *find_cpu_model("icelake")});
  EXPECT_TRUE(opened.ok());
  Session& session = *opened;
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::hardware);
  attr.config = static_cast<u64>(perf::HardwareId::branch_misses);
  const auto event = session.open_event(attr);
  EXPECT_TRUE(event.ok());
  session.on_pause([&] { at_every_pause(session); });
  EXPECT_TRUE(session.run().ok());
  return session.perf().read(**event)->at(0);
}

TEST(PredictionBarrierInAReplay, MakesBranchesBeMispredictedAgain) {
  const u64 undisturbed = mispredicted_branches([](Session&) {});
  const u64 with_barriers = mispredicted_branches(
      [](Session& session) { EXPECT_EQ(session.pmu().wrmsr(msr::PRED_CMD, 1), Fault::none); });
  EXPECT_GT(with_barriers, undisturbed);
}

}  // namespace
}  // namespace pmusim::test
