// SPDX-License-Identifier: MIT
// The fetch unit: which fetch is tagged, and what is written down of it.
#include <algorithm>

#include "ibs/ibs_unit.h"

namespace pmusim {
namespace {

namespace fetch = ibs::fetch;

constexpr u64 block_bytes = 32;
constexpr u64 results = fetch::LATENCY | fetch::VAL | fetch::COMPLETED | fetch::IC_MISS |
                        fetch::PHYSICAL_VALID | bits(54, 53) | fetch::L1_TLB_MISS | fetch::L2_TLB_MISS |
                        fetch::L2_MISS | fetch::OC_MISS | fetch::L3_MISS;

}  // namespace

bool IbsUnit::retire(const Retirement& r) {
  bool valid = false;
  if (r.length != 0) {
    // Code that follows what was fetched last lies in the rest of its block, or begins the next one.
    for (u64 address = r.ip; address < r.ip + r.length; address = (address | (block_bytes - 1)) + 1) {
      const bool fetched = next_fetch_ != 0 && address < next_fetch_ && address + block_bytes >= next_fetch_;
      if (!fetched) valid |= fetch_block(r, address);
      next_fetch_ = (address | (block_bytes - 1)) + 1;
    }
  }
  if (r.taken) next_fetch_ = 0;
  return retire_op(r) || valid;
}

bool IbsUnit::fetch_block(const Retirement& r, u64 address) {
  if (!fetch_counts()) return false;
  const u32 period = static_cast<u32>(fetch_ctl_ & fetch::MAX_CNT) << 4;
  const bool is_tagged = fetch_count_ >= period;
  if (!is_tagged) {
    ++fetch_count_;
    return false;
  }
  return sample_fetch(r, address);
}

bool IbsUnit::sample_fetch(const Retirement& r, u64 address) {
  const u64 waited = u64{r.quantities[static_cast<unsigned>(Quantity::l1i_stall_cycles)]} +
                     r.quantities[static_cast<unsigned>(Quantity::itlb_stall_cycles)];
  const u64 result = to_field(std::min<u64>(waited, 0xFFFF), 47, 32) | fetch::COMPLETED |
                     fetch::PHYSICAL_VALID | if_signal(r, Signal::l1i_miss, fetch::IC_MISS) |
                     if_signal(r, Signal::itlb_miss, fetch::L1_TLB_MISS) |
                     if_signal(r, Signal::stlb_instruction_miss, fetch::L2_TLB_MISS) |
                     if_signal(r, Signal::l2i_miss, fetch::L2_MISS);
  const bool has_zen4_fields = has(ibs::caps::L3_MISS_FILTER);
  const u64 newer = has_zen4_fields ? if_signal(r, Signal::l3i_miss, fetch::L3_MISS) |
                                          if_signal(r, Signal::dsb_miss, fetch::OC_MISS)
                                    : 0;
  if ((fetch_ctl_ & fetch::L3_MISS_ONLY) != 0 && (newer & fetch::L3_MISS) == 0) {
    fetch_count_ = (fetch_ctl_ & fetch::RAND_EN) != 0 ? static_cast<u32>(random_.draw(7)) : 0;
    return false;
  }
  fetch_ctl_ = (fetch_ctl_ & ~results) | result | newer | fetch::VAL;
  fetch_linear_ = address;
  fetch_physical_ = address & physical_address;
  fetch_extension_ = (result & fetch::L1_TLB_MISS) != 0 ? model_->core.stlb_latency_cycles : 0;
  return true;
}

/// A write without Val starts the count anew, on family 17H only where it sets En. Bits 3:0 are 0, or
/// random.
void IbsUnit::write_fetch_ctl(u64 value) {
  constexpr u32 zen1_and_zen2 = 0x17;
  const bool starts = model_->family != zen1_and_zen2 || (value & ~fetch_ctl_ & fetch::EN) != 0;
  if ((value & fetch::VAL) == 0 && starts) {
    const u64 low = (value & fetch::RAND_EN) != 0 && (value & fetch::EN) != 0 ? random_.draw(4) : 0;
    fetch_count_ = static_cast<u32>(field(value, 31, 16) << 4 | low);
  }
  fetch_ctl_ = value & ~fetch::CNT;
}

u64 IbsUnit::read_fetch_ctl() const { return fetch_ctl_ | to_field(fetch_count_ >> 4, 31, 16); }

Rows<IbsUnit> IbsUnit::fetch_registers() {
  using U = IbsUnit;
  constexpr auto since_zen4 = [](const CpuModel& m, unsigned) {
    return all_if((m.amd.cpuid_8000001b_eax & ibs::caps::L3_MISS_FILTER) != 0);
  };
  static constexpr Field ctl_fields[] = {
      {fetch::MAX_CNT, "period, in 16 fetches"},
      {fetch::CNT, "count, in 16 fetches"},
      {fetch::LATENCY, "cycles until the fetch was complete"},
      {fetch::EN, "enable"},
      {fetch::VAL, "valid"},
      {fetch::COMPLETED, "complete"},
      {fetch::IC_MISS, "instruction cache miss"},
      {fetch::PHYSICAL_VALID, "physical address valid"},
      {bits(54, 53), "page size"},
      {fetch::L1_TLB_MISS, "L1 TLB miss"},
      {fetch::L2_TLB_MISS, "L2 TLB miss"},
      {fetch::RAND_EN, "random low bits of the count"},
      {fetch::L2_MISS, "L2 miss"},
      {fetch::L3_MISS_ONLY, "L3 misses only", since_zen4},
      {fetch::OC_MISS, "op cache miss", since_zen4},
      {fetch::L3_MISS, "L3 miss", since_zen4},
  };
  static constexpr Field linear_fields[] = {{~u64{0}, "linear address of the fetch"}};
  static constexpr Field physical_fields[] = {{bits(51, 0), "physical address of the fetch"}};
  static constexpr Field extension_fields[] = {{bits(15, 0), "cycles of the L1 TLB's refill"}};
  constexpr auto exists = [](const CpuModel& m, unsigned) {
    return (m.amd.cpuid_8000001b_eax & ibs::caps::FETCH_SAMPLING) != 0;
  };
  constexpr auto every_bit = [](const CpuModel&, unsigned) { return ~u64{0}; };
  constexpr auto no_bit = [](const CpuModel&, unsigned) { return u64{0}; };
  constexpr auto drop = [](U&, At, u64) { return Fault::none; };
  static constexpr Row<U> rows[] = {
      {.address = ibs::FETCH_CTL,
       .name = "IbsFetchCtl",
       .exists = exists,
       .fields = ctl_fields,
       .ignored = every_bit,
       .read = [](const U& u, At) { return u.read_fetch_ctl(); },
       .write =
           [](U& u, At, u64 value) {
             u.write_fetch_ctl(value);
             return Fault::none;
           }},
      {.address = ibs::FETCH_LIN_AD,
       .name = "IbsFetchLinAd",
       .exists = exists,
       .fields = linear_fields,
       .writable = no_bit,
       .ignored = every_bit,
       .read = read_word<&U::fetch_linear_>,
       .write = drop},
      {.address = ibs::FETCH_PHYS_AD,
       .name = "IbsFetchPhysAd",
       .exists = exists,
       .fields = physical_fields,
       .writable = no_bit,
       .ignored = every_bit,
       .read = read_word<&U::fetch_physical_>,
       .write = drop},
      {.address = ibs::EXTD_CTL,
       .name = "IcIbsExtdCtl",
       .exists = [](const CpuModel& m,
                    unsigned) { return (m.amd.cpuid_8000001b_eax & ibs::caps::FETCH_CTL_EXTENSION) != 0; },
       .fields = extension_fields,
       .ignored = every_bit,
       .read = read_word<&U::fetch_extension_>,
       .write = write_word<&U::fetch_extension_>},
  };
  return rows;
}

RowFamilies<IbsUnit> IbsUnit::registers(Vendor vendor) {
  if (vendor != Vendor::amd) return {};
  return {fetch_registers(), op_registers()};
}

}  // namespace pmusim
