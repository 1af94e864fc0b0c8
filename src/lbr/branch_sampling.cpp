// SPDX-License-Identifier: MIT
#include "lbr/branch_sampling.h"

namespace pmusim {
namespace {

namespace brs = msr::amd::brs;

constexpr Field brs_control_fields[] = {
    {brs::ENABLE, "enable"},
    {brs::ONES, "must be written 3"},
    {brs::VALID, "branches were recorded"},
    {brs::OFFSET, "next record"},
    {brs::COUNTER, "counter that samples"},
};
constexpr Field brs_from_fields[] = {{~u64{0}, "address of the branch, 0 the oldest"}};
constexpr Field brs_to_fields[] = {{bits(60, 0), "address of the target"}};

bool has_brs(const CpuModel& m, unsigned) { return m.amd.has_branch_sampling(); }

}  // namespace

u64 BranchSampling::hold(u64 interrupting) {
  if (!is_there_ || (control_ & brs::ENABLE) == 0) return 0;
  const u64 held = interrupting & bit(static_cast<unsigned>(field(control_, 26, 24)));
  if (held != 0 && !recording_) {
    recording_ = true;
    control_ &= ~(brs::OFFSET | brs::VALID);
  }
  return held;
}

bool BranchSampling::record(const Branch& branch) {
  const u64 at = field(control_, 19, 16);
  ring_[at] = {branch.from, branch.to};
  control_ = (control_ & ~brs::OFFSET) | brs::VALID | to_field(at + 1, 19, 16);
  if (at + 1 < records) return false;
  control_ &= ~brs::ENABLE;
  recording_ = false;
  return true;
}

void BranchSampling::write_control(u64 value) {
  if (recording_ && (value & brs::ENABLE) == 0) {
    recording_ = false;
    released_ = true;
    value |= control_ & (brs::OFFSET | brs::VALID);
  }
  control_ = value;
}

void BranchSampling::add_to(StateHash& hash) const {
  hash.add(control_, recording_, released_);
  for (const Record& record : ring_) hash.add(record.from, record.to);
}

RowFamilies<BranchSampling> BranchSampling::registers(Vendor vendor) {
  using B = BranchSampling;
  static constexpr Row<B> rows[] = {
      {.address = msr::amd::DEBUG_EXTN_CTL,
       .name = "DebugExtnCfg",
       .exists = has_brs,
       .fields = brs_control_fields,
       .read = read_word<&B::control_>,
       .write =
           [](B& b, At, u64 value) {
             b.write_control(value);
             return Fault::none;
           }},
      {.address = msr::amd::LBR_FROM0,
       .count = records,
       .stride = msr::amd::STRIDE,
       .name = "SampBrFrom{}",
       .exists = has_brs,
       .fields = brs_from_fields,
       .read = [](const B& b, At at) { return b.ring_[at.n].from; },
       .write =
           [](B& b, At at, u64 value) {
             b.ring_[at.n].from = value;
             return Fault::none;
           },
       .is_data = true},
      {.address = msr::amd::LBR_TO0,
       .count = records,
       .stride = msr::amd::STRIDE,
       .name = "SampBrTo{}",
       .exists = has_brs,
       .fields = brs_to_fields,
       .ignored = [](const CpuModel&, unsigned) { return ~u64{0}; },
       .read = [](const B& b, At at) { return b.ring_[at.n].to; },
       .write =
           [](B& b, At at, u64 value) {
             b.ring_[at.n].to = value;
             return Fault::none;
           },
       .is_data = true},
  };
  if (vendor != Vendor::amd) return {};
  return {rows};
}

}  // namespace pmusim
