// SPDX-License-Identifier: MIT
// The op unit: which op is tagged, and what is written down of it.
#include <algorithm>

#include "ibs/ibs_unit.h"

namespace pmusim {
namespace {

namespace op = ibs::op;

constexpr unsigned random_bits = 7;  // of the count, after a sample

u64 saturated(u64 cycles) { return std::min<u64>(cycles, 0xFFFF); }

/// Of an access: 1 for a byte, 2 for two, up to 7 for 64.
u64 width_code(u32 bytes) { return bytes == 0 ? 0 : std::min<u64>(std::bit_width(bytes - 1u) + 1u, 7); }

}  // namespace

u64 IbsUnit::op_period() const {
  const u64 extension = has(ibs::caps::OP_COUNT_EXTENSION) ? field(op_ctl_, 26, 20) << 20 : 0;
  return extension | (op_ctl_ & op::MAX_CNT) << 4;
}

/// In cycle mode the count is a matter of time, until it has come to the period.
u64 IbsUnit::op_count_at(u64 cycle) const {
  if (!op_counts() || (op_ctl_ & op::CNT_CTL) != 0) return op_count_;
  return std::min(op_count_ + (cycle - op_counted_from_), std::max(op_period(), op_count_));
}

/// Whether an op of this instruction is the one that the count comes to, in op mode, or was dispatched after
/// the cycle in which it did.
bool IbsUnit::is_tagged(const Retirement& r) {
  const u64 period = op_period();
  if ((op_ctl_ & op::CNT_CTL) != 0) {
    const u64 ops = std::max<u32>(r.quantities[static_cast<unsigned>(Quantity::uops)], 1);
    const u64 before = op_count_;
    op_count_ = std::min(before + ops, std::max(period, before));
    return before + ops > period;
  }
  const u64 left = period > op_count_ ? period - op_count_ : 0;
  const u64 dispatched = r.cycle - std::min<u64>(r.latency_cycles, r.cycle);
  return dispatched > op_counted_from_ + left;
}

bool IbsUnit::retire_op(const Retirement& r) {
  if (!op_counts()) return false;
  if (!is_tagged(r)) {
    if (r.mispredicted) dispatch_wrong_path(r);
    return false;
  }
  ++tags_.ops;
  ++tags_.retired;
  return sample_op(r);
}

/// Ops behind a mispredicted branch, which never retire. A tag on one of them is lost, and counting goes on.
void IbsUnit::dispatch_wrong_path(const Retirement& branch) {
  const u64 ops = model_->policies.ibs_wrong_path_ops, period = op_period();
  if (ops == 0) return;
  const u64 dispatched = branch.cycle - std::min<u64>(branch.latency_cycles, branch.cycle);
  bool flushed;
  if ((op_ctl_ & op::CNT_CTL) != 0) {
    flushed = op_count_ + ops > period;
    op_count_ = std::min(op_count_ + ops, std::max(period, op_count_));
  } else {
    const u64 left = period > op_count_ ? period - op_count_ : 0;
    const u64 cycles = (ops + model_->core.issue_width - 1) / model_->core.issue_width;
    flushed = dispatched + cycles > op_counted_from_ + left;
  }
  if (!flushed) return;
  ++tags_.ops;
  restart_op_count(branch.cycle);
}

void IbsUnit::restart_op_count(u64 cycle) {
  op_count_ = random_.draw(random_bits);
  op_counted_from_ = cycle;
}

u64 IbsUnit::op_data_of(const Retirement& r) const {
  using namespace ibs::data;
  u64 executing = 1;
  for (const MemoryAccess& access : r.memory) executing = std::max<u64>(executing, access.latency_cycles);
  const u64 waited = r.latency_cycles > executing ? r.latency_cycles - executing : 0;
  u64 data =
      saturated(waited) | saturated(r.latency_cycles) << 16 | if_signal(r, Signal::microcoded, MICROCODE);
  if (r.branch == BranchKind::none) return data;
  data |= BRANCH | (r.taken ? TAKEN : 0) | (r.mispredicted ? MISPREDICTED : 0);
  if (r.branch == BranchKind::near_return) data |= RETURN;
  if (r.branch == BranchKind::conditional) data |= if_signal(r, Signal::macro_fused, FUSED);
  return data;
}

/// Of the one core complex of one node that there is.
u64 IbsUnit::data_source(CacheLevel level) const {
  using namespace ibs::data2;
  const bool since_zen4 = has(ibs::caps::L3_MISS_FILTER), is_zen3 = model_->family == 0x19 && !since_zen4;
  if (level == CacheLevel::memory) return SOURCE_DRAM;
  if (level != CacheLevel::l3) return SOURCE_NONE;
  return (since_zen4 ? SOURCE_CCX : SOURCE_NODE_CACHE) | (is_zen3 ? 0 : HIT_OWNED);
}

/// The first access of the instruction, and whether it is a store beside: those that modify what they read
/// are one op.
void IbsUnit::look_at_memory(const Retirement& r) {
  using namespace ibs::data3;
  op_data2_ = op_data3_ = op_linear_ = op_physical_ = 0;
  if (r.memory.empty()) return;
  const MemoryAccess& access = r.memory.front();
  for (const MemoryAccess& each : r.memory)
    if (each.address == access.address) op_data3_ |= each.kind == AccessKind::load ? LOAD : STORE;
  const bool is_load = (op_data3_ & LOAD) != 0;
  const bool missed = access.level != CacheLevel::l1;
  const bool missed_l2 = access.level == CacheLevel::l3 || access.level == CacheLevel::memory;
  const CoreParameters& core = model_->core;
  const u64 refill =
      access.tlb == TlbLevel::l1
          ? 0
          : core.stlb_latency_cycles + (access.tlb == TlbLevel::walk ? core.page_walk_cycles : 0);
  op_data3_ |= LINEAR_VALID | PHYSICAL_VALID | (access.tlb != TlbLevel::l1 ? L1_TLB_MISS : 0) |
               (access.tlb == TlbLevel::walk ? L2_TLB_MISS : 0) | (missed ? DC_MISS : 0) |
               (access.level == CacheLevel::fill_buffer ? JOINED_MISS : 0) | (missed_l2 ? L2_MISS : 0) |
               (access.locked ? LOCKED : 0) | if_signal(r, Signal::split_load, MISALIGNED) |
               if_signal(r, Signal::split_store, MISALIGNED) |
               if_signal(r, Signal::prefetch, SOFTWARE_PREFETCH) |
               to_field(width_code(access.bytes), 25, 22) | saturated(refill) << 48;
  if (is_load && missed) {
    op_data3_ |= saturated(access.latency_cycles) << 32;
    op_data2_ = data_source(access.level);
  }
  op_linear_ = access.address;
  op_physical_ = access.address & physical_address;
}

/// Loads that missed L3 alone, or whose data took longer than (threshold + 1) * 128 cycles.
bool IbsUnit::passes_filters() const {
  using namespace ibs::data3;
  const bool is_miss = (op_data3_ & (LOAD | DC_MISS)) == (LOAD | DC_MISS);
  if ((op_ctl_ & op::L3_MISS_ONLY) != 0 &&
      (!is_miss || (op_data2_ & ibs::data2::SOURCE) != ibs::data2::SOURCE_DRAM))
    return false;
  const u64 threshold = (field(op_ctl_, 62, 59) + 1) * 128;
  return (op_ctl_ & op::LATENCY_FILTER) == 0 || (is_miss && field(op_data3_, 47, 32) > threshold);
}

bool IbsUnit::sample_op(const Retirement& r) {
  op_data_ = op_data_of(r);
  look_at_memory(r);
  op_rip_ = r.ip;
  const bool falls_through = r.branch == BranchKind::conditional && !r.taken;
  branch_target_ = r.taken ? r.next_ip : falls_through ? r.ip + r.length : 0;
  const bool passes = passes_filters();
  if (!passes || (op_ctl_ & op::CNT_CTL) != 0)
    restart_op_count(r.cycle);
  else
    op_counted_from_ = r.cycle;
  if (passes) op_ctl_ |= op::VAL;
  return passes;
}

/// A write without Val starts the count from what it says.
void IbsUnit::write_op_ctl(u64 value, u64 cycle) {
  const u64 count_bits = has(ibs::caps::OP_COUNT_EXTENSION) ? low_bits(27) : low_bits(20);
  if ((value & op::VAL) == 0) op_count_ = field(value, 58, 32) & count_bits;
  op_counted_from_ = cycle;
  op_ctl_ = value & ~op::CUR_CNT;
}

u64 IbsUnit::read_op_ctl(u64 cycle) const { return op_ctl_ | to_field(op_count_at(cycle), 58, 32); }

namespace {
template <u32 capability>
u64 with_capability(const CpuModel& m, unsigned) {
  return all_if((m.amd.cpuid_8000001b_eax & capability) != 0);
}
bool samples_ops(const CpuModel& m, unsigned n) { return with_capability<ibs::caps::OP_SAMPLING>(m, n) != 0; }
}  // namespace

Rows<IbsUnit> IbsUnit::op_registers() {
  using U = IbsUnit;
  static constexpr Field op_ctl_fields[] = {
      {op::MAX_CNT, "period, in 16 cycles or ops"},
      {op::L3_MISS_ONLY, "L3 misses only", with_capability<ibs::caps::L3_MISS_FILTER>},
      {op::EN, "enable"},
      {op::VAL, "valid"},
      {op::CNT_CTL, "count ops", with_capability<ibs::caps::OP_COUNT>},
      {op::MAX_CNT_EXTENSION, "period, in 2^20", with_capability<ibs::caps::OP_COUNT_EXTENSION>},
      {bits(51, 32), "count"},
      {bits(58, 52), "count, in 2^20", with_capability<ibs::caps::OP_COUNT_EXTENSION>},
      {op::LATENCY_THRESHOLD, "latency threshold, in 128 cycles, less one",
       with_capability<ibs::caps::LATENCY_FILTER>},
      {op::LATENCY_FILTER, "loads above the threshold only", with_capability<ibs::caps::LATENCY_FILTER>},
  };
  static constexpr Field rip_fields[] = {{~u64{0}, "linear address of the instruction"}};
  static constexpr Field data_fields[] = {
      {ibs::data::COMPLETION_TO_RETIREMENT, "cycles from completion to retirement"},
      {ibs::data::TAG_TO_RETIREMENT, "cycles from tag to retirement"},
      {ibs::data::RETURN, "return"},
      {ibs::data::TAKEN, "taken"},
      {ibs::data::MISPREDICTED, "mispredicted"},
      {ibs::data::BRANCH, "branch"},
      {bit(38), "address invalid"},
      {ibs::data::FUSED, "fused branch"},
      {ibs::data::MICROCODE, "microcode"},
  };
  static constexpr Field data2_fields[] = {
      {ibs::data2::SOURCE | bits(7, 6), "data source"},
      {ibs::data2::REMOTE_NODE, "remote node"},
      {ibs::data2::HIT_OWNED, "cache line owned, not modified"},
  };
  static constexpr Field data3_fields[] = {
      {ibs::data3::LOAD, "load"},
      {ibs::data3::STORE, "store"},
      {ibs::data3::L1_TLB_MISS, "L1 TLB miss"},
      {ibs::data3::L2_TLB_MISS, "L2 TLB miss"},
      {bits(6, 4), "page size"},
      {ibs::data3::DC_MISS, "data cache miss"},
      {ibs::data3::MISALIGNED, "misaligned"},
      {bits(14, 13), "memory type"},
      {ibs::data3::LOCKED, "locked"},
      {ibs::data3::JOINED_MISS, "joined a miss under way"},
      {ibs::data3::LINEAR_VALID, "linear address valid"},
      {ibs::data3::PHYSICAL_VALID, "physical address valid"},
      {bit(19), "1 GiB page"},
      {ibs::data3::L2_MISS, "L2 miss"},
      {ibs::data3::SOFTWARE_PREFETCH, "software prefetch"},
      {ibs::data3::WIDTH, "width (1 for one byte, 2 for two, 3 for four)"},
      {bits(31, 26), "misses under way"},
      {ibs::data3::MISS_LATENCY, "cycles of the miss"},
      {ibs::data3::TLB_LATENCY, "cycles of the L1 TLB's refill"},
  };
  static constexpr Field op_linear_fields[] = {{~u64{0}, "linear address of the data"}};
  static constexpr Field op_physical_fields[] = {{bits(51, 0), "physical address of the data"}};
  static constexpr Field ibs_ctl_fields[] = {{bits(3, 0), "number of the extended LVT entry"},
                                             {bit(8), "valid"}};
  static constexpr Field target_fields[] = {{~u64{0}, "linear address of the branch target"}};
  constexpr auto every_bit = [](const CpuModel&, unsigned) { return ~u64{0}; };
  static constexpr Row<U> rows[] = {
      {.address = ibs::OP_CTL,
       .name = "IbsOpCtl",
       .exists = samples_ops,
       .fields = op_ctl_fields,
       .read = [](const U& u, At at) { return u.read_op_ctl(at.cycle); },
       .write =
           [](U& u, At at, u64 value) {
             u.write_op_ctl(value, at.cycle);
             return Fault::none;
           }},
      {.address = ibs::OP_RIP,
       .name = "IbsOpRip",
       .exists = samples_ops,
       .fields = rip_fields,
       .read = read_word<&U::op_rip_>,
       .write = write_word<&U::op_rip_>},
      {.address = ibs::OP_DATA,
       .name = "IbsOpData",
       .exists = samples_ops,
       .fields = data_fields,
       .ignored = every_bit,
       .read = read_word<&U::op_data_>,
       .write = write_word<&U::op_data_>},
      {.address = ibs::OP_DATA2,
       .name = "IbsOpData2",
       .exists = samples_ops,
       .fields = data2_fields,
       .ignored = every_bit,
       .read = read_word<&U::op_data2_>,
       .write = write_word<&U::op_data2_>},
      {.address = ibs::OP_DATA3,
       .name = "IbsOpData3",
       .exists = samples_ops,
       .fields = data3_fields,
       .ignored = every_bit,
       .read = read_word<&U::op_data3_>,
       .write = write_word<&U::op_data3_>},
      {.address = ibs::DC_LIN_AD,
       .name = "IbsDcLinAd",
       .exists = samples_ops,
       .fields = op_linear_fields,
       .read = read_word<&U::op_linear_>,
       .write = write_word<&U::op_linear_>},
      {.address = ibs::DC_PHYS_AD,
       .name = "IbsDcPhysAd",
       .exists = samples_ops,
       .fields = op_physical_fields,
       .ignored = every_bit,
       .read = read_word<&U::op_physical_>,
       .write = write_word<&U::op_physical_>},
      // Firmware chose the first entry.
      {.address = ibs::CTL,
       .name = "IbsControl",
       .exists = [](const CpuModel& m, unsigned) { return m.amd.has_ibs(); },
       .reset = [](const CpuModel&, unsigned) { return u64{bit(8)}; },
       .fields = ibs_ctl_fields,
       .read = [](const U&, At) { return u64{bit(8)}; }},
      {.address = ibs::BR_TARGET,
       .name = "IbsBrTarget",
       .exists = [](const CpuModel& m,
                    unsigned n) { return with_capability<ibs::caps::BRANCH_TARGET>(m, n) != 0; },
       .fields = target_fields,
       .read = read_word<&U::branch_target_>,
       .write = write_word<&U::branch_target_>},
  };
  return rows;
}

}  // namespace pmusim
