// SPDX-License-Identifier: MIT
#include "driver/amd/branch_records.h"

#include "driver/amd/branch_sampling.h"
#include "driver/amd/lbr.h"

namespace pmusim::driver::amd {

const perf::BranchStack* BranchRecords::stack(const perf::Event& event) {
  if ((event.attr.sample_type & perf::sample::BRANCH_STACK) == 0) return nullptr;
  presented_ = {branches_, 0, {}};
  return &presented_;
}

u64 BranchRecords::canonical(u64 address) const {
  const unsigned shift = 64 - cpu_.linear_bits;
  return static_cast<u64>(static_cast<i64>(address << shift) >> shift);
}

std::unique_ptr<BranchRecords> make_branch_records(RegisterAccess& access, const Enumeration& cpu) {
  if (cpu.branch_sampling) return std::make_unique<BranchSampling>(access, cpu);
  return std::make_unique<Lbr>(access, cpu);
}

}  // namespace pmusim::driver::amd
