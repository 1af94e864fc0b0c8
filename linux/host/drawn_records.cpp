// SPDX-License-Identifier: MIT
#include "host/drawn_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "arch/pebs_fragments.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::linux_driver {

namespace {

using namespace pebs;

constexpr u64 width_mask = low_bits(48);

/// Of user mode: what a record of the kernel shows of user mode the kernel takes from its stack.
u64 code_address(Drawing& draw) { return 0x400000 + draw.below(1 << 20); }

/// One of the counters that events are on, mostly.
u64 drawn_owners(Drawing& draw) {
  u64 owners = bit(static_cast<unsigned>(draw.below(8)));
  if (draw.chance(15)) owners |= bit(static_cast<unsigned>(draw.below(10)));
  if (draw.chance(10)) owners |= bit(32 + static_cast<unsigned>(draw.below(4)));
  return draw.chance(3) ? draw.next() : owners;
}

/// What is asked for is there; all else may be, too.
u64 drawn_word(Drawing& draw, u64 asked) {
  u64 word = header::BASIC | header::MODE_64 | asked;
  if (draw.chance(50)) word |= cfg_c::AUX;
  if (draw.chance(50)) word |= cfg_c::GPRS;
  if (draw.chance(30)) word |= cfg_c::XMM;
  if (draw.chance(30)) word |= cfg_c::LBR;
  if (draw.chance(25)) word |= cfg_c::GP;
  if (draw.chance(20)) word |= cfg_c::FIXED;
  if (draw.chance(10)) word |= cfg_c::METRICS;
  return word;
}

class Writer {
 public:
  Writer(Drawing& draw, std::vector<std::byte>& bytes, u32 lbr_depth, u64 asked)
      : draw_(draw), bytes_(bytes), lbr_depth_(lbr_depth), asked_(asked) {}

  void record(u64& tsc) {
    const u64 word = drawn_word(draw_, asked_);
    const u32 gp = (word & cfg_c::GP) != 0 ? static_cast<u32>(draw_.below(256)) : 0;
    const u32 fixed = (word & cfg_c::FIXED) != 0 ? static_cast<u32>(draw_.below(8)) : 0;
    const u32 counter_bytes = counters_bytes(static_cast<unsigned>(std::popcount(gp) + std::popcount(fixed)),
                                             (word & cfg_c::METRICS) != 0);
    constexpr std::array<u32, 4> fragment_bytes{0, 0, 256, 512};
    const ArchFragments fragments(word, lbr_depth_, counter_bytes, fragment_bytes[draw_.below(4)]);
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + fragments.bytes());
    tsc += 1 + draw_.below(5000);
    for (const ArchFragment& fragment : fragments)
      fill(begin + fragment.offset, fragment.word, gp, fixed, tsc);
  }
  /// What begins no record: a null record, or a fragment without the basic group.
  void stray() {
    const std::size_t begin = bytes_.size();
    const u64 groups = draw_.chance(50) ? u64{0} : u64{cfg_c::AUX};
    const u32 size = arch_layout(groups, lbr_depth_).size;
    bytes_.resize(begin + size);
    fill(begin, groups | size, 0, 0, 0);
  }

 private:
  template <class T>
  void put(std::size_t at, const T& value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
  }

  void fill(std::size_t at, u64 word, u32 gp, u32 fixed, u64 tsc) {
    const ArchLayout layout = arch_layout(word, lbr_depth_);
    ArchHeader head{};
    head.word = word;
    put(at, head);
    if (layout.basic != 0) put(at + layout.basic, basic(tsc));
    if (layout.aux != 0) put(at + layout.aux, aux());
    if (layout.gprs != 0) put(at + layout.gprs, gprs());
    if (layout.vectors != 0) vectors(at + layout.vectors);
    if (layout.lbr != 0) branches(at + layout.lbr);
    if (layout.counters != 0) counters(at + layout.counters, gp, fixed, (word & cfg_c::METRICS) != 0);
  }

  ArchBasic basic(u64 tsc) {
    ArchBasic group{};
    group.eventing_ip = code_address(draw_);
    group.applicable_counters = drawn_owners(draw_);
    group.tsc = tsc;
    group.retire_latency = draw_.below(1 << 17);
    return group;
  }
  ArchAux aux() {
    ArchAux group{};
    group.address = draw_.chance(10) ? 0 : draw_.next() >> 17;
    group.data_source = draw_.below(1 << 12);
    group.latency = draw_.below(1 << 16) | draw_.below(1 << 16) << 32;
    group.tsx = draw_.chance(20) ? draw_.next() : 0;
    return group;
  }
  ArchGprs gprs() {
    ArchGprs group{};
    group.registers.rflags = 0x202 | draw_.below(2) << 6;
    group.registers.rip = code_address(draw_);
    for (le64& value : group.registers.gpr) value = draw_.next();
    group.ssp = draw_.next();
    return group;
  }
  void vectors(std::size_t at) {
    ArchVectorHeader head{};
    head.xstate = 2;
    put(at, head);
    for (std::size_t n = 0; n < 32; ++n) put(at + sizeof head + 8 * n, le64(draw_.next()));
  }
  /// Entries are 0 from some place on, as of an LBR that is not full.
  void branches(std::size_t at) {
    ArchLbrHeader head{};
    head.depth = lbr_depth_;
    put(at, head);
    const u64 used = draw_.chance(60) ? lbr_depth_ : draw_.below(lbr_depth_ + 1);
    for (u64 n = 0; n < used; ++n) {
      LbrRecord entry{};
      entry.from = code_address(draw_);
      entry.to = code_address(draw_);
      entry.info = draw_.below(1 << 16) | draw_.below(8) << 56 | draw_.below(16) << 60;
      put(at + sizeof head + n * sizeof entry, entry);
    }
  }
  void counters(std::size_t at, u32 gp, u32 fixed, bool metrics) {
    CountersHeader head{};
    head.gp = gp;
    head.fixed = fixed;
    if (metrics) head.metrics = metrics_present;
    put(at, head);
    const int values = std::popcount(gp) + std::popcount(fixed) + (metrics ? 2 : 0);
    for (int n = 0; n < values; ++n)
      put(at + sizeof head + 8 * static_cast<std::size_t>(n), le64(draw_.next() & width_mask));
  }

  Drawing& draw_;
  std::vector<std::byte>& bytes_;
  u32 lbr_depth_;
  u64 asked_;
};

u64 drawn_sample_type(Drawing& draw) {
  using namespace perf::sample;
  u64 type = IDENTIFIER | IP | TID | TIME;
  for (const u64 part : {ADDR, CPU, PERIOD, DATA_SRC, TRANSACTION, REGS_INTR, REGS_USER})
    if (draw.chance(40)) type |= part;
  return type | (draw.chance(30) ? WEIGHT : draw.chance(40) ? WEIGHT_STRUCT : 0);
}

void draw_registers(Drawing& draw, perf::Attr& attr) {
  // All but what Linux shows otherwise: flags (bit 9), in which it leaves a mark of its own, and the stack
  // segment (bit 11), which it has from an interrupt only.
  constexpr u64 general = 0xff05ff, xmm_halves = ~low_bits(32);
  if ((attr.sample_type & perf::sample::REGS_USER) != 0) attr.sample_regs_user = general & draw.next();
  if ((attr.sample_type & perf::sample::REGS_INTR) != 0)
    attr.sample_regs_intr = (general & draw.next()) | (draw.chance(40) ? xmm_halves : 0);
}

u64 drawn_branch_filter(Drawing& draw) {
  using namespace perf::branch;
  constexpr std::array<u64, 6> filters{ANY,        ANY | TYPE_SAVE,  ANY_CALL,
                                       ANY_RETURN, COND | TYPE_SAVE, ANY | NO_FLAGS | NO_CYCLES};
  return USER | filters[draw.below(filters.size())];
}

perf::Attr drawn_attr(Drawing& draw, CoreType type) {
  constexpr std::array<u64, 4> configs{0xC4, 0xC0, 0xC5, 0x10000C0};
  // Latency of loads and stores: their data source is that of the record.
  const std::array<u64, 2> memory =
      type == CoreType::atom ? std::array<u64, 2>{0x5D0, 0x6D0} : std::array<u64, 2>{0x1CD, 0x2CD};
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = draw.chance(30) ? memory[draw.below(memory.size())] : configs[draw.below(configs.size())];
  if (attr.config == memory.front()) attr.config1 = 3;
  attr.sample_type = drawn_sample_type(draw);
  draw_registers(draw, attr);
  attr.sample_period = 1'000 + draw.below(100'000);
  attr.precise_ip = 2;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  if (draw.chance(15)) {
    attr.freq = 1;
    attr.sample_period = 4'000;
  }
  return attr;
}

}  // namespace

std::vector<DrawnEvent> drawn_precise_events(Drawing& draw, CoreType type) {
  const u64 count = 1 + draw.below(6), filter = drawn_branch_filter(draw);
  const bool branches = draw.chance(50);
  std::vector<DrawnEvent> events;
  for (u64 n = 0; n < count; ++n) {
    DrawnEvent event{drawn_attr(draw, type)};
    event.attr.disabled = 1;
    if (branches && draw.chance(70)) {
      event.attr.sample_type |= perf::sample::BRANCH_STACK;
      event.attr.branch_sample_type = filter;
    }
    events.push_back(event);
  }
  return events;
}

u64 asked_groups(const std::vector<DrawnEvent>& events) {
  using namespace perf::sample;
  u64 groups = 0;
  for (const DrawnEvent& event : events) {
    const perf::Attr& attr = event.attr;
    if ((attr.sample_type & (ADDR | DATA_SRC | WEIGHT | WEIGHT_STRUCT | TRANSACTION)) != 0)
      groups |= cfg_c::AUX;
    if ((attr.sample_type & (REGS_INTR | REGS_USER)) != 0) groups |= cfg_c::GPRS;
    if (attr.sample_regs_intr >> 32 != 0) groups |= cfg_c::XMM;
    if ((attr.sample_type & BRANCH_STACK) != 0) groups |= cfg_c::LBR;
  }
  return groups;
}

DrawnBuffer drawn_arch_records(Drawing& draw, u64 asked, u64 most_bytes, u64 most_records, u32 lbr_depth,
                               u64& tsc) {
  constexpr u64 longest_record = 2048;
  DrawnBuffer buffer;
  Writer writer(draw, buffer.bytes, lbr_depth, asked);
  while (buffer.records < most_records && buffer.bytes.size() + longest_record <= most_bytes) {
    if (draw.chance(1)) writer.stray();
    writer.record(tsc);
    ++buffer.records;
  }
  return buffer;
}

}  // namespace pmusim::linux_driver
