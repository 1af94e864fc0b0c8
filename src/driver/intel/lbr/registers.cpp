// SPDX-License-Identifier: MIT
#include "driver/intel/lbr/registers.h"

namespace pmusim::driver {
namespace {

constexpr unsigned address_sign = 47;

perf::BranchEntry flagged(u64 from, u64 to, u64 flags, bool tsx) {
  perf::BranchEntry entry;
  entry.from = from;
  entry.to = to;
  entry.mispred = (flags & lbr_info::MISPRED) != 0;
  entry.predicted = (flags & lbr_info::MISPRED) == 0;
  entry.in_tx = tsx && (flags & lbr_info::IN_TSX) != 0;
  entry.abort = tsx && (flags & lbr_info::TSX_ABORT) != 0;
  return entry;
}

perf::BranchEntry decode_register(const LbrTraits& traits, const LbrEntry& record, InfoRead info) {
  perf::BranchEntry entry;
  entry.from = record.from;
  entry.to = record.to;
  if (traits.packed) {
    entry.from = field(record.from, 31, 0);
    entry.to = field(record.from, 63, 32);
  } else if (traits.info_base != 0) {
    if (info == InfoRead::skip) return entry;
    entry = flagged(record.from, record.to, record.info, traits.tsx);
    entry.cycles = record.info & lbr_info::CYC_CNT;
  } else if (traits.flags_in_from) {
    const unsigned flag_bits = traits.tsx ? 3 : 1;
    entry = flagged(sign_extend(record.from, 63 - flag_bits), record.to, record.from, traits.tsx);
  }
  if (traits.cycles_in_to) {
    entry.cycles = static_cast<u16>(record.to >> 48);
    entry.to = sign_extend(record.to, address_sign);
  }
  return entry;
}

}  // namespace

void LbrRegisters::write(u32 address, u64 value) const { access_.wrmsr(address, value); }

u64 LbrRegisters::read_from(unsigned slot) const {
  const u64 value = read(traits_.from_base + slot);
  return traits_.sign_quirk ? value & ~bits(62, 61) : value;
}

LbrEntry LbrRegisters::read_entry(unsigned slot, InfoRead info) const {
  LbrEntry entry{read_from(slot), 0, 0};
  if (!traits_.packed) entry.to = read(traits_.to_base + slot);
  if (traits_.info_base != 0 && info == InfoRead::read) entry.info = read(traits_.info_base + slot);
  return entry;
}

void LbrRegisters::read_records(std::vector<LbrEntry>& out, ReadExtent extent, InfoRead info) const {
  out.clear();
  const u64 newest = top();
  for (unsigned age = 0; age < traits_.entries; ++age) {
    const LbrEntry entry = read_entry(slot(newest, age), info);
    if (extent == ReadExtent::used && entry.from == 0) return;
    out.push_back(entry);
  }
}

void LbrRegisters::write_entry(unsigned slot, const LbrEntry& entry) const {
  u64 from = entry.from;
  if (traits_.sign_quirk) from |= (from & bits(60, 59)) << 2;
  write(traits_.from_base + slot, from);
  if (!traits_.packed) write(traits_.to_base + slot, entry.to);
  if (traits_.info_base != 0) write(traits_.info_base + slot, entry.info);
}

void LbrRegisters::write_records(u64 top, std::span<const LbrEntry> records) const {
  if (traits_.architectural && records.size() < traits_.entries) reset();
  for (unsigned age = 0; age < traits_.entries; ++age) {
    if (age < records.size())
      write_entry(slot(top, age), records[age]);
    else if (!traits_.architectural)
      write_entry(slot(top, age), {});
  }
  if (!traits_.architectural) write(msr::LBR_TOS, top);
}

void LbrRegisters::reset() const {
  if (traits_.architectural) {
    write(msr::ARCH_LBR_DEPTH, traits_.entries);
    return;
  }
  for (unsigned i = 0; i < traits_.entries; ++i) write_entry(i, {});
}

void decode_registers(const LbrTraits& traits, std::span<const LbrEntry> records, InfoRead info,
                      std::vector<perf::BranchEntry>& out) {
  out.clear();
  for (const LbrEntry& record : records) {
    const perf::BranchEntry entry = decode_register(traits, record, info);
    // The record that came after an abort's own has the same addresses without the flag: drop it.
    if (entry.abort && traits.double_abort && !out.empty()) out.pop_back();
    out.push_back(entry);
  }
}

}  // namespace pmusim::driver
