// SPDX-License-Identifier: MIT
// The rendered LBR equals registers that are moved at every branch: random branches, filters and read points.
#include <gtest/gtest.h>

#include <random>

#include "tests/lbr/naive_lbr.h"

namespace pmusim::test {
namespace {

class Walk {
 public:
  Walk(const CpuModel& model, u64 seed) : random_(seed), lbr_(model), naive_(model) {}

  void step() {
    switch (below(40)) {
      case 0:
        return write_filter();
      case 1:
        return write_position();
      case 2:
        lbr_.gate = below(3) == 0 ? LbrGate::closed : LbrGate::open;
        return;
      case 3:
        return compare();
      case 4:
        return log_event();
      default:
        return branch();
    }
  }
  void compare() const {
    const bool arch = lbr_.model.has_arch_lbr();
    const u32 from = arch ? msr::ARCH_LBR_FROM_0 : msr::LBR_NHM_FROM_IP;
    const u32 to = arch ? msr::ARCH_LBR_TO_0 : msr::LBR_NHM_TO_IP;
    const u32 info = arch ? msr::ARCH_LBR_INFO_0 : msr::LBR_INFO_0;
    std::vector<LbrEntry> rendered(lbr_.stack.depth());
    lbr_.stack.render(rendered);
    for (unsigned i = 0; i < naive_.depth; ++i) {
      ASSERT_EQ(lbr_.read(from + i), naive_.from[i]) << i;
      ASSERT_EQ(lbr_.read(to + i), naive_.to[i]) << i;
      ASSERT_EQ(lbr_.rdmsr(info + i).value_or(0), naive_.info[i]) << i;
      const auto age = arch ? i : (naive_.tos + naive_.depth - i) % naive_.depth;
      ASSERT_EQ(rendered[i], (LbrEntry{naive_.from[age], naive_.to[age], naive_.info[age]})) << i;
    }
    ASSERT_EQ(lbr_.rdmsr(msr::LBR_TOS).value_or(0), naive_.tos);
  }

 private:
  u64 below(u64 n) { return random_() % n; }
  Cpl any_cpl() { return below(4) == 0 ? Cpl::kernel : Cpl::user; }
  u64 address_at(Cpl cpl) {
    return cpl == Cpl::kernel ? sign_extend(bit(47) | below(bit(40)), 47) : 1 + below(bit(47) - 1);
  }

  void branch() {
    Branch b;
    b.kind = static_cast<BranchKind>(1 + below(15));
    b.cpl_before = any_cpl();
    b.cpl_after = is_near_branch(b.kind) ? b.cpl_before : any_cpl();
    b.from = address_at(b.cpl_before);
    b.to = address_at(b.cpl_after);
    b.cycle = cycle_ += below(10) == 0 ? below(200'000) : below(30);
    b.mispredicted = below(5) == 0;
    b.tx = static_cast<TxState>(below(3));
    b.zero_length_call = b.kind == BranchKind::direct_call && below(8) == 0;
    lbr_.record(b);
    if (lbr_.gate == LbrGate::open) naive_.branch(b);
  }
  void write_filter() {
    if (lbr_.model.has_arch_lbr()) {
      const u64 value = below(3) == 0 ? 0x38000F : (random_() & 0x7F0006) | u64{below(8) != 0};
      ASSERT_EQ(lbr_.wrmsr(msr::ARCH_LBR_CTL, value), Fault::none);
      naive_.write_ctl(value);
    } else {
      const bool call_stack = lbr_.model.lbr.call_stack && below(3) == 0;
      naive_.select = call_stack ? 0x3C4 | below(3) : random_() & 0x1FF;
      ASSERT_EQ(lbr_.wrmsr(msr::LBR_SELECT, naive_.select), Fault::none);
    }
  }
  void write_position() {
    if (lbr_.model.has_arch_lbr()) {
      if (below(10) != 0) return;
      const unsigned depth = 8u << below(3);
      ASSERT_EQ(lbr_.wrmsr(msr::ARCH_LBR_DEPTH, depth), Fault::none);
      naive_.write_depth(depth);
    } else {
      naive_.tos = below(naive_.depth);
      ASSERT_EQ(lbr_.wrmsr(msr::LBR_TOS, naive_.tos), Fault::none);
    }
  }
  void log_event() {
    if (!lbr_.model.has_arch_lbr()) return;
    const unsigned counter = static_cast<unsigned>(below(4));
    lbr_.stack.count_events(bit(counter));
    naive_.event(counter);
  }

  std::mt19937_64 random_;
  LbrMachine lbr_;
  NaiveLbr naive_;
  u64 cycle_ = 1;
};

TEST(LbrProperty, LazilyRenderedEqualsRegistersMovedAtEveryBranch) {
  const CpuModel models[] = {nehalem(), sandy_bridge(), haswell(),       haswell(Tsx::absent),
                             skylake(), goldmont(),     goldmont_plus(), lion_cove()};
  for (const CpuModel& model : models) {
    for (u64 seed = 0; seed < 20; ++seed) {
      Walk walk(model, seed);
      for (int i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) walk.step();
      walk.compare();
      ASSERT_FALSE(testing::Test::HasFailure()) << "format " << int(model.lbr.format) << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace pmusim::test
