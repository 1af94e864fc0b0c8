// SPDX-License-Identifier: MIT
#include "lbr/layout.h"

#include "pmusim/arch/msr.h"

namespace pmusim {
namespace {

namespace amd_lbr = msr::amd::lbr;

constexpr unsigned address_sign = 47;
constexpr u64 tsx = lbr_info::IN_TSX | lbr_info::TSX_ABORT;

bool sign_agrees(u64 address, u64 checked) {
  return ((sign_extend(address, address_sign) ^ address) & checked) == 0;
}

u64 arch_produced(const CpuModel& model) {
  const u32 ecx = model.lbr.cpuid_1c_ecx;
  u64 produced = 0;
  if (ecx & lbr_leaf::ECX_MISPRED) produced |= lbr_info::MISPRED;
  if (ecx & lbr_leaf::ECX_TIMED) produced |= lbr_info::CYC_CNT | lbr_info::CYC_CNT_VALID;
  if (ecx & lbr_leaf::ECX_BRANCH_TYPE) produced |= lbr_info::BR_TYPE;
  for (unsigned counter : set_bits(lbr_leaf::event_counters(ecx)))
    produced |= bits(33 + 2 * counter, 32 + 2 * counter);
  return produced;
}

}  // namespace

LbrLayout::LbrLayout(const CpuModel& model) {
  const u64 transactions = model.rtm || model.hle ? tsx : 0;
  switch (model.lbr.format) {
    case LbrFormat::addresses_32:
      packed = true;
      break;
    case LbrFormat::lip:
    case LbrFormat::eip:
      break;
    case LbrFormat::eip_flags:
      produced = flags_in_from = lbr_info::MISPRED;
      break;
    case LbrFormat::eip_flags_tsx:
      flags_in_from = lbr_info::MISPRED | tsx;
      produced = lbr_info::MISPRED | transactions;
      break;
    case LbrFormat::info:
      info_register = lbr_info::MISPRED | tsx | lbr_info::CYC_CNT;
      produced = lbr_info::MISPRED | transactions | lbr_info::CYC_CNT;
      break;
    case LbrFormat::time:
      flags_in_from = lbr_info::MISPRED;
      produced = lbr_info::MISPRED | lbr_info::CYC_CNT;
      cycles_in_to = true;
      checked_to = false;
      break;
    case LbrFormat::info_no_tsx:
      produced = info_register = lbr_info::MISPRED | lbr_info::CYC_CNT;
      break;
    case LbrFormat::amd_v2:
      amd = true;
      produced = lbr_info::MISPRED | valid;
      break;
    case LbrFormat::arch:
      produced = arch_produced(model) | transactions;
      info_register = bits(63, 56) | lbr_info::BR_CNTR | lbr_info::CYC_CNT;
      checked_to = model.policies.lbr_arch_canonical_faults != 0;
      break;
  }
  checked_from = ~flags_in_from;
  // Haswell-class parts without TSX check bits 62:61 of a written FROM although capture leaves them 0: what
  // was read there cannot be written back.
  if (model.lbr.format == LbrFormat::eip_flags_tsx && !transactions) checked_from |= tsx;
  if (model.lbr.format == LbrFormat::arch && !checked_to) checked_from = 0;
}

u64 LbrLayout::from(const LbrEntry& record) const {
  if (amd) return (record.from & amd_lbr::ADDRESS) | (record.info & lbr_info::MISPRED);
  if (packed) return (record.from & low_bits(32)) | record.to << 32;
  return (record.from & ~flags_in_from) | (record.info & flags_in_from);
}

u64 LbrLayout::to(const LbrEntry& record) const {
  if (amd)
    return (record.to & amd_lbr::ADDRESS) | ((record.info & valid) != 0 ? amd_lbr::TO_VALID : 0) |
           ((record.info & speculative) != 0 ? amd_lbr::TO_SPECULATIVE : 0);
  if (!cycles_in_to) return record.to;
  return (record.to & low_bits(48)) | (record.info & lbr_info::CYC_CNT) << 48;
}

std::optional<LbrEntry> LbrLayout::with_from(LbrEntry record, u64 value) const {
  if (packed) return LbrEntry{field(value, 31, 0), field(value, 63, 32), 0};
  if (amd) {
    record.from = value & amd_lbr::ADDRESS;
    record.info = (record.info & ~lbr_info::MISPRED) | (value & amd_lbr::FROM_MISPREDICTED);
    return record;
  }
  if (!sign_agrees(value, checked_from)) return std::nullopt;
  record.from = flags_in_from ? sign_extend(value, address_sign) : value;
  record.info = (record.info & ~flags_in_from) | (value & flags_in_from);
  return record;
}

std::optional<LbrEntry> LbrLayout::with_to(LbrEntry record, u64 value) const {
  if (amd) {
    record.to = value & amd_lbr::ADDRESS;
    record.info &= ~(valid | speculative);
    if ((value & amd_lbr::TO_VALID) != 0) record.info |= valid;
    if ((value & amd_lbr::TO_SPECULATIVE) != 0) record.info |= speculative;
    return record;
  }
  if (checked_to && !sign_agrees(value, ~u64{0})) return std::nullopt;
  record.to = cycles_in_to ? sign_extend(value, address_sign) : value;
  if (cycles_in_to) record.info = (record.info & ~lbr_info::CYC_CNT) | value >> 48;
  return record;
}

LbrEntry LbrLayout::with_info(LbrEntry record, u64 value) const {
  record.info = value & info_register;
  return record;
}

}  // namespace pmusim
