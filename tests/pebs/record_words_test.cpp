// SPDX-License-Identifier: MIT
// Which word of a record says what, by SDM vol. 3's tables of PEBS records and of data sources: offsets and
// codes here are the tables', not those of the structures that the code writes.
#include <gtest/gtest.h>

#include <array>

#include "tests/pebs/pebs_machine.h"

namespace pmusim {
namespace {

using testing::model_with_format;
using testing::PebsMachine;

constexpr u64 enabled = msr::evtsel::USR | msr::evtsel::EN;
constexpr u64 adaptive = bit(34);

CpuModel preset(std::string_view name) {
  CpuModel model = find_cpu_model(name).value();
  model.policies.pebs_arm_cycles = 10;
  return model;
}

/// Counter `n` counts `event` and writes a record of `r`.
void record(PebsMachine& m, unsigned n, u64 event, u64 enable, const Retirement& r) {
  m.write(msr::PERFEVTSEL0 + n, event | enabled);
  m.write(msr::PEBS_ENABLE, enable);
  m.overflow(bit(n), r.cycle - 50);
  EXPECT_TRUE(m.retire(r, bit(n)));
}

Registers sixteen_numbers() {
  Registers registers{.rflags = 0x246};
  for (unsigned n = 0; n < 16; ++n) registers.gpr[n] = 0x1111'0000 + n;
  return registers;
}

// Order of the record: RAX RBX RCX RDX RSI RDI RBP RSP R8 ... R15. That of instruction encodings is another.
constexpr Gpr order[] = {Gpr::rax, Gpr::rbx, Gpr::rcx, Gpr::rdx, Gpr::rsi, Gpr::rdi, Gpr::rbp, Gpr::rsp,
                         Gpr::r8,  Gpr::r9,  Gpr::r10, Gpr::r11, Gpr::r12, Gpr::r13, Gpr::r14, Gpr::r15};

TEST(RecordWords, LegacyRecordsHaveTheManualsRegisterOrder) {
  PebsMachine m(preset("nehalem"));
  const Registers registers = sixteen_numbers();
  Retirement r = PebsMachine::instruction(100);
  r.registers = &registers;
  record(m, 0, 0x00C0, 1, r);
  EXPECT_EQ(m.record_at<u64>(0x00), 0x246u);
  for (unsigned n = 0; n < 16; ++n)
    EXPECT_EQ(m.record_at<u64>(0x10 + 8 * n), registers[order[n]]) << "register " << n << " of the record";
}

TEST(RecordWords, RecordsOf32BitAreasHaveTheSameRegisterOrder) {
  CpuModel model = preset("core2");
  model.pebs.dtes64 = false;
  PebsMachine m(model);
  // SDM vol. 3, 32-bit DS save area: PEBS base, index, maximum and threshold at 10H to 1CH.
  constexpr u64 b = PebsMachine::buffer;
  m.set_pointer(0x10, b | b << 32);
  m.set_pointer(0x18, (b + 0x400) | (b + 0x400) << 32);
  const Registers registers = sixteen_numbers();
  Retirement r = PebsMachine::instruction(100);
  r.registers = &registers;
  record(m, 0, 0x00C0, 1, r);
  EXPECT_EQ(m.record_at<u32>(0x00), 0x246u);
  for (unsigned n = 0; n < 8; ++n)
    EXPECT_EQ(m.record_at<u32>(0x08 + 4 * n), registers[order[n]]) << "register " << n << " of the record";
}

constexpr std::array one_load{MemoryAccess{.address = 0x7000, .bytes = 8, .latency_cycles = 77}};

Retirement loads(std::span<const MemoryAccess> accesses) {
  Retirement r = PebsMachine::instruction(100);
  r.memory = accesses;
  return r;
}

// SDM vol. 3, data address profiling: it came with Haswell. Before, only the load-latency facility fills
// these words.
TEST(RecordWords, PreciseLoadsHaveTheirAddressFromFormat2On) {
  PebsMachine haswell(preset("haswell")), sandy_bridge(preset("sandybridge"));
  record(haswell, 0, 0x01D1, 1, loads(one_load));  // MEM_LOAD_UOPS_RETIRED.L1_HIT
  EXPECT_EQ(haswell.record_at<u64>(0x98), 0x7000u);
  record(sandy_bridge, 0, 0x01D1, 1, loads(one_load));
  EXPECT_EQ(sandy_bridge.record_at<u64>(0x98), 0u);
}

// The same: what is no memory event has no address, nor has a memory event of an instruction without access.
TEST(RecordWords, AddressesAreThoseOfMemoryEventsThatHaveAnAccess) {
  constexpr std::array one_store{MemoryAccess{.address = 0x7000, .bytes = 8, .kind = AccessKind::store}};
  PebsMachine other_event(preset("haswell")), no_access(preset("haswell"));
  record(other_event, 0, 0x00C0, 1, loads(one_store));
  EXPECT_EQ(other_event.record_at<u64>(0x98), 0u);
  record(no_access, 0, 0x01D1, 1, loads({}));
  EXPECT_EQ(no_access.record_at<u64>(0x98), 0u);
}

// SDM vol. 3, processor event based sampling on Haswell: TX abort information, 0 unless a transaction
// aborted.
TEST(RecordWords, AbortsAloneHaveTransactionWords) {
  constexpr unsigned tx_abort_information = 0xB8;
  for (const TxState tx : {TxState::none, TxState::in_tx, TxState::aborting}) {
    PebsMachine m(preset("haswell"));
    Retirement r = PebsMachine::instruction(100);
    r.tx = tx;
    record(m, 0, 0x00C0, 1, r);
    const bool is_transaction = (m.record_at<u64>(tx_abort_information) & bit(33)) != 0;
    EXPECT_EQ(is_transaction, tx == TxState::aborting);
    if (!is_transaction) {
      EXPECT_EQ(m.record_at<u64>(tx_abort_information), 0u);
    }
  }
}

// SDM vol. 3, load latency: PEBS_ENABLE[32 + n] turns it on for counter n.
TEST(RecordWords, LoadLatencyIsRecordedWhereItsOwnEnableIsSet) {
  for (const u64 latency_enable : {u64{0}, bit(32)}) {
    PebsMachine m(preset("haswell"));
    m.write(msr::PEBS_LD_LAT_THRESHOLD, 3);
    record(m, 0, 0x01CD, 1 | latency_enable, loads(one_load));
    EXPECT_EQ(m.record_at<u64>(0x98), latency_enable != 0 ? 0x7000u : 0u);
    EXPECT_EQ(m.record_at<u64>(0xA8), latency_enable != 0 ? 77u : 0u);
  }
}

// SDM vol. 3, precise store: bit 0 hit L1, bit 4 missed the STLB, bit 5 locked.
TEST(RecordWords, PreciseStoresSayHowTheStoreWent) {
  constexpr u64 enable = bit(3) | bit(63), precise_store = 0x02CD;
  constexpr std::array locked{MemoryAccess{.address = 0x7000,
                                           .kind = AccessKind::store,
                                           .level = CacheLevel::l1,
                                           .tlb = TlbLevel::walk,
                                           .locked = true}};
  constexpr std::array missed{MemoryAccess{
      .address = 0x7000, .kind = AccessKind::store, .level = CacheLevel::l2, .tlb = TlbLevel::l2}};
  PebsMachine a(preset("sandybridge")), b(preset("sandybridge"));
  record(a, 3, precise_store, enable, loads(locked));
  EXPECT_EQ(a.record_at<u64>(0xA0), 0x31u);
  record(b, 3, precise_store, enable, loads(missed));
  EXPECT_EQ(b.record_at<u64>(0xA0), 0u);
}

TEST(RecordWords, PreciseStoresReloadTheirCounterFromTheDsArea) {
  PebsMachine m(preset("sandybridge"));
  m.set_pointer(*reset_slot_offset(DsWidth::bits_64, 1, 3), 0 - u64{1000});
  record(m, 3, 0x02CD, bit(3) | bit(63), PebsMachine::instruction(100));
  EXPECT_EQ(m.counters.value(3), low_bits(48) - 999);
}

// SDM vol. 3, IA32_PEBS_ENABLE[62:61]: with output to Intel PT reload values are in MSR_RELOAD_PMCx.
TEST(RecordWords, RecordsToProcessorTraceReloadFromMsrs) {
  PebsMachine m(preset("tremont"));
  m.write(msr::RELOAD_PMC0, low_bits(48) - 499);
  record(m, 0, 0x00C0, 1 | bit(61), PebsMachine::instruction(100));
  EXPECT_EQ(m.counters.value(0), low_bits(48) - 499);
}

/// Where a load of each level came from, by SDM vol. 3's tables of data source encodings.
struct SourceCodes {
  std::string_view model;
  u64 event;
  std::array<u64, 5> codes;  ///< L1, fill buffer, L2, L3, local memory
};
constexpr SourceCodes source_codes[] = {
    {"nehalem", 0x100B, {1, 2, 3, 4, 0xC}},    {"sandybridge", 0x01CD, {1, 2, 3, 4, 0xC}},
    {"skylake", 0x01CD, {1, 2, 3, 4, 0xA}},    {"icelake", 0x01CD, {1, 2, 3, 4, 0xA}},
    {"goldencove", 0x01CD, {1, 2, 3, 4, 0xA}},
};

/// The data source word of a record for this load.
u64 data_source(const SourceCodes& row, const MemoryAccess& access) {
  const CpuModel model = preset(row.model);
  PebsMachine m(model);
  m.write(msr::PEBS_LD_LAT_THRESHOLD, 3);
  const std::array accesses{access};
  if (model.pebs.baseline) {
    m.write(msr::PEBS_DATA_CFG, 1);
    record(m, 0, row.event | adaptive, 1, loads(accesses));
    return m.record_at<u64>(0x28);  // the second word of the memory group, behind 32 bytes of the basic one
  }
  record(m, 0, row.event, 1 | bit(32), loads(accesses));
  return m.record_at<u64>(0xA0);
}

TEST(RecordWords, DataSourcesAreThoseOfTheManual) {
  constexpr CacheLevel levels[] = {CacheLevel::l1, CacheLevel::fill_buffer, CacheLevel::l2, CacheLevel::l3,
                                   CacheLevel::memory};
  for (const SourceCodes& row : source_codes)
    for (unsigned n = 0; n < 5; ++n)
      EXPECT_EQ(data_source(row, {.address = 0x7000, .level = levels[n], .latency_cycles = 77}), row.codes[n])
          << row.model << ", level " << n;
}

TEST(RecordWords, DataSourcesShowAWalkAndALock) {  // bits 4 and 5
  EXPECT_EQ(data_source(source_codes[2], {.tlb = TlbLevel::walk, .latency_cycles = 77}), 0x11u);
  EXPECT_EQ(data_source(source_codes[2], {.locked = true, .latency_cycles = 77}), 0x21u);
}

// SDM vol. 3, adaptive PEBS: bits 47:32 of the first word where PERF_CAPABILITIES[17] is set.
TEST(RecordWords, TheBasicGroupHasTheRetireLatencyIfSupported) {
  for (const u64 capability : {u64{0}, bit(17)}) {
    CpuModel model = model_with_format(5);
    model.perf_capabilities = (model.perf_capabilities & ~bit(17)) | capability;
    PebsMachine m(model);
    Retirement r = PebsMachine::instruction(100);
    r.retire_latency_cycles = 77;
    record(m, 0, 0x00C0 | adaptive, 1, r);
    EXPECT_EQ(field(m.record_at<u64>(0), 47, 32), capability != 0 ? 77u : 0u);
  }
}

TEST(RecordWords, TheLbrGroupHasFromToAndInfoOfEachBranch) {
  PebsMachine m(4);
  m.lbr = {{0x100, 0x200, 5}, {0x300, 0x400, 6}};
  m.write(msr::PEBS_DATA_CFG, bit(3) | u64{1} << 24);  // two entries
  record(m, 0, 0x00C0 | adaptive, 1, PebsMachine::instruction(100));
  constexpr u64 words[] = {0x100, 0x200, 5, 0x300, 0x400, 6};
  for (unsigned n = 0; n < 6; ++n) EXPECT_EQ(m.record_at<u64>(0x20 + 8 * n), words[n]) << "word " << n;
}

// SDM vol. 3, PEBS_DATA_CFG[4], [5], [47:32] and [55:48]: a header of four 32-bit words (GP mask, fixed mask,
// metrics), the counters, then SLOTS (fixed counter 3) and PERF_METRICS.
TEST(RecordWords, TheCountersGroupEndsWithSlotsAndMetrics) {
  PebsMachine m(preset("lioncove"));
  for (unsigned n = 0; n < 4; ++n) m.write(msr::FIXED_CTR0 + n, 0x100 * (n + 1));
  m.write(msr::A_PMC0 + 1, 0x77);
  m.write(msr::PERF_METRICS, 0x12345678);
  m.write(msr::PEBS_DATA_CFG, bit(4) | bit(5) | bit(32 + 1) | bit(48));
  record(m, 0, 0x00C0 | adaptive, 1, PebsMachine::instruction(100));
  constexpr u64 header = 0x20, counts = header + 16;
  EXPECT_EQ(m.record_at<u32>(header), 2u);
  EXPECT_EQ(m.record_at<u32>(header + 4), 1u);
  EXPECT_NE(m.record_at<u32>(header + 8), 0u);
  EXPECT_EQ(m.record_at<u64>(counts), 0x77u);
  EXPECT_EQ(m.record_at<u64>(counts + 8), 0x100u);
  EXPECT_EQ(m.record_at<u64>(counts + 16), 0x400u);
  EXPECT_EQ(m.record_at<u64>(counts + 24), m.read(msr::PERF_METRICS));
  EXPECT_NE(m.read(msr::PERF_METRICS), 0u);
}

// SDM vol. 3, PEBS: the record is of the next event behind the overflow, in the same cycle if it retires
// there.
TEST(RecordWords, ANeighbourInTheOverflowsCycleCanHaveTheRecord) {
  CpuModel model = model_with_format(4);
  model.policies.pebs_arm_cycles = 0;
  PebsMachine m(model);
  m.write(msr::PERFEVTSEL0, 0x00C0 | enabled);
  m.write(msr::PEBS_ENABLE, 1);
  m.overflow(1, 100);
  EXPECT_FALSE(m.retire(100, 1)) << "the instruction that overflowed the counter";
  EXPECT_TRUE(m.retire(100, 1));
}

// SDM vol. 3, MSR_PEBS_FRONTEND: bits 4:0 say what must have happened to the instruction.
TEST(RecordWords, FrontEndRecordsAreOfFilteredInstructions) {
  constexpr std::pair<u64, Signal> filters[] = {{0x11, Signal::dsb_miss},
                                                {0x12, Signal::l1i_miss},
                                                {0x13, Signal::l2i_miss},
                                                {0x14, Signal::itlb_miss},
                                                {0x15, Signal::stlb_instruction_miss}};
  for (const auto& [filter, wanted] : filters)
    for (const auto& [other, signal] : filters) {
      PebsMachine m(4);
      m.write(msr::PEBS_FRONTEND, filter);
      m.write(msr::PERFEVTSEL0, 0x01C6 | enabled);
      m.write(msr::PEBS_ENABLE, 1);
      m.overflow(1, 50);
      Retirement r = PebsMachine::instruction(100);
      r.signals = {signal};
      EXPECT_EQ(m.retire(r, 1).has_value(), signal == wanted) << std::hex << filter << " and " << other;
    }
}

}  // namespace
}  // namespace pmusim
