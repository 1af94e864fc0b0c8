// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_DEBUG_STORE_H
#define PMUSIM_ARCH_DEBUG_STORE_H

#include <bit>
#include <boost/endian/arithmetic.hpp>
#include <cstddef>
#include <optional>

#include "pmusim/arch/branch.h"
#include "pmusim/base/types.h"

/// The Debug Store area, and the records of branch trace and PEBS.
namespace pmusim {

using le16 = boost::endian::little_uint16_t;
using le32 = boost::endian::little_uint32_t;
using le64 = boost::endian::little_uint64_t;

/// Buffer pointers of the Debug Store management area (SDM vol. 3, DS save area), as DTES64 lays them out.
/// Counter reset slots follow: `reset_slot_offset`.
struct DsArea64 {
  le64 bts_base, bts_index, bts_maximum, bts_threshold;
  le64 pebs_base, pebs_index, pebs_maximum, pebs_threshold;
};
static_assert(sizeof(DsArea64) == 0x40 && offsetof(DsArea64, pebs_base) == 0x20);

/// The same without DTES64: pointers shrink to 32 bits, reset slots keep 64.
struct DsArea32 {
  le32 bts_base, bts_index, bts_maximum, bts_threshold;
  le32 pebs_base, pebs_index, pebs_maximum, pebs_threshold;
};
static_assert(sizeof(DsArea32) == 0x20 && offsetof(DsArea32, pebs_base) == 0x10);

/// One taken branch of the branch trace store.
struct BtsRecord64 {
  le64 from, to, flags;
};
static_assert(sizeof(BtsRecord64) == 24);
/// The same without DTES64.
struct BtsRecord32 {
  le32 from, to, flags;
};
static_assert(sizeof(BtsRecord32) == 12);
inline constexpr u64 bts_flag_predicted = 1u << 4;

enum class DsWidth : u8 { bits_32, bits_64 };

/// Byte offset of a counter's 64-bit reset slot in the management area, or none where the generation has no
/// slot for it. `counter`: GP n is n, fixed m is 32 + m; `format` is IA32_PERF_CAPABILITIES[11:8].
constexpr std::optional<u64> reset_slot_offset(DsWidth width, unsigned format, unsigned counter) {
  const u64 first = width == DsWidth::bits_64 ? sizeof(DsArea64) : sizeof(DsArea32);
  const bool fixed = counter >= 32;
  const unsigned number = fixed ? counter - 32 : counter;
  if (width == DsWidth::bits_32 || format < 5) {
    if (number >= (fixed ? 4u : 8u)) return std::nullopt;
    return first + 8 * (fixed ? 8 + number : number);
  }
  if (number >= (fixed ? 16u : 32u)) return std::nullopt;
  return first + 8 * (fixed ? 32 + number : number);
}

/// Bytes of the 64-bit management area with all slots that the format knows.
constexpr u64 ds_area_bytes(unsigned format) { return format < 5 ? 0xA0 : 0x1C0; }
static_assert(reset_slot_offset(DsWidth::bits_64, 5, 32) == 0x140 && ds_area_bytes(5) == 448);
static_assert(reset_slot_offset(DsWidth::bits_64, 4, 35) == 0x98 && ds_area_bytes(4) == 0xA0);
static_assert(reset_slot_offset(DsWidth::bits_32, 1, 0) == 0x20);

}  // namespace pmusim

/// Layouts of PEBS records (SDM vol. 3, PEBS; ISE, architectural PEBS), for the hardware that writes them and
/// the driver that reads them.
namespace pmusim::pebs {

/// General registers in the order of formats 0 to 3.
struct FixedRegisters {
  le64 rflags, rip, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
  le64 r8_to_r15[8];
};

/// The record without DTES64 (NetBurst, Core).
struct Record32 {
  le32 eflags, lip, eax, ebx, ecx, edx, esi, edi, ebp, esp;
};
static_assert(sizeof(Record32) == 40);

/// Format 3 (Skylake). Formats 0 to 2 are prefixes of it.
struct FixedRecord {
  FixedRegisters registers;
  le64 status;  ///< formats 1-2: copy of GLOBAL_STATUS; format 3: counters that the record belongs to
  le64 linear_address;
  le64 data_source;
  le64 latency_cycles;
  le64 eventing_ip;  ///< format 2 on
  le64 tsx;          ///< format 2 on
  le64 tsc;          ///< format 3
};
static_assert(sizeof(FixedRecord) == 200);
static_assert(offsetof(FixedRegisters, r8_to_r15) == 0x50 && offsetof(FixedRecord, status) == 0x90 &&
              offsetof(FixedRecord, linear_address) == 0x98 && offsetof(FixedRecord, data_source) == 0xA0 &&
              offsetof(FixedRecord, latency_cycles) == 0xA8 && offsetof(FixedRecord, eventing_ip) == 0xB0 &&
              offsetof(FixedRecord, tsx) == 0xB8 && offsetof(FixedRecord, tsc) == 0xC0);

/// Bytes of one record of formats 0 to 3.
constexpr u32 fixed_record_bytes(unsigned format) {
  constexpr u32 bytes[] = {144, 176, 192, 200};
  return bytes[format];
}

/// TSX tuning word: bits 31:0 cycles in the transaction, 39:32 what happened to it.
namespace tsx {
inline constexpr u64 ELISION = bit(32), TRANSACTION = bit(33), SYNCHRONOUS = bit(34), ASYNCHRONOUS = bit(35),
                     RETRY = bit(36), CONFLICT = bit(37), CAPACITY_WRITE = bit(38), CAPACITY_READ = bit(39);
}  // namespace tsx

// --- adaptive records: formats 4, 5, 6 ---------------------------------------------------------------------

/// MSR_PEBS_DATA_CFG; its low half is also the format word of a record.
namespace data_cfg {
inline constexpr u64 MEMORY = bit(0), GPRS = bit(1), XMM = bit(2), LBR = bit(3), COUNTERS = bit(4),
                     METRICS = bit(5);
inline constexpr u64 LBR_ENTRIES_LESS_1 = bits(31, 24), INCLUDE_GP = bits(47, 32),
                     INCLUDE_FIXED = bits(55, 48);
}  // namespace data_cfg

/// What every adaptive record begins with.
struct BasicGroup {
  le32 format;          ///< DATA_CFG[31:0] in effect
  le16 retire_latency;  ///< cycles, only with PERF_CAPABILITIES.PEBS_TIMING_INFO
  le16 size;            ///< bytes of the whole record
  le64 eventing_ip;
  le64 applicable_counters;
  le64 tsc;
};
static_assert(sizeof(BasicGroup) == 32 && offsetof(BasicGroup, size) == 6);

/// Of the data access of the sampled instruction.
struct MemoryGroup {
  le64 address;
  le64 data_source;
  le64 latency;  ///< cycles; with split latencies 15:0 instruction, 47:32 access
  le64 tsx;
};
static_assert(sizeof(MemoryGroup) == 32);

/// General registers in the order of adaptive and architectural records: that of their encoding.
struct GprGroup {
  le64 rflags, rip;
  le64 gpr[16];  ///< RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8..R15
};
static_assert(sizeof(GprGroup) == 144);

/// XMM0 to XMM15, low word first.
struct XmmGroup {
  le64 words[32];
};
static_assert(sizeof(XmmGroup) == 256);

/// One entry of the LBR group, in both kinds of record.
struct LbrRecord {
  le64 from, to, info;
};
static_assert(sizeof(LbrRecord) == 24);

/// Header of the counters group; GP values, fixed values and metrics follow as 64-bit words.
struct CountersHeader {
  le32 gp, fixed, metrics, reserved;
};
static_assert(sizeof(CountersHeader) == 16);
inline constexpr u32 metrics_present = 3;

/// Bytes of a counters group with `values` GP and fixed counters.
constexpr u32 counters_bytes(unsigned values, bool metrics) {
  return static_cast<u32>(sizeof(CountersHeader) + 8 * values + (metrics ? 16 : 0));
}

/// Where the groups of an adaptive record lie, in bytes from its start; 0 = not in the record.
struct AdaptiveLayout {
  u32 memory = 0, gprs = 0, xmm = 0, lbr = 0, counters = 0;
  u32 lbr_entries = 0;
  u32 size = sizeof(BasicGroup);  ///< counters group included
};

/// The layout that a DATA_CFG value asks for. From a record's format word alone (no include masks), `size`
/// ends after the header of the counters group.
constexpr AdaptiveLayout adaptive_layout(u64 config) {
  AdaptiveLayout layout;
  const auto place = [&](bool present, u32 bytes) {
    const u32 at = present ? layout.size : 0;
    if (present) layout.size += bytes;
    return at;
  };
  layout.memory = place((config & data_cfg::MEMORY) != 0, sizeof(MemoryGroup));
  layout.gprs = place((config & data_cfg::GPRS) != 0, sizeof(GprGroup));
  layout.xmm = place((config & data_cfg::XMM) != 0, sizeof(XmmGroup));
  layout.lbr_entries = (config & data_cfg::LBR) != 0 ? static_cast<u32>(field(config, 31, 24)) + 1 : 0;
  layout.lbr = place(layout.lbr_entries != 0, layout.lbr_entries * static_cast<u32>(sizeof(LbrRecord)));
  const unsigned values = static_cast<unsigned>(std::popcount(field(config, 55, 32)));
  layout.counters =
      place((config & data_cfg::COUNTERS) != 0, counters_bytes(values, (config & data_cfg::METRICS) != 0));
  return layout;
}
static_assert(adaptive_layout(0).size == 32 && adaptive_layout(0x1F00000F).size == 0x4D0);

// --- architectural PEBS ------------------------------------------------------------------------------------

/// IA32_PMC_GPn_CFG_C and IA32_PMC_FXm_CFG_C.
namespace cfg_c {
inline constexpr u64 RELOAD = bits(31, 0);
inline constexpr u64 ALLOW_IN_RECORD = bit(35), GP = bit(36), FIXED = bit(37), METRICS = bit(38);
inline constexpr u64 LBR = bits(41, 40);
inline constexpr u64 XMM = bit(49), YMMH = bit(50), EGPR = bit(51), OPMASK = bit(53), ZMMH = bit(54),
                     HI16_ZMM = bit(55);
inline constexpr u64 VECTORS = XMM | YMMH | EGPR | OPMASK | ZMMH | HI16_ZMM;
inline constexpr u64 GPRS = bit(61), AUX = bit(62), ENABLE = bit(63);
}  // namespace cfg_c

/// First qword of every fragment; bits 63:32 mirror CFG_C.
namespace header {
inline constexpr u64 SIZE = bits(15, 0), MODE_64 = bit(30), CONTINUED = bit(31);
inline constexpr u64 BASIC = bit(63);
/// A null record: nothing but a size.
constexpr bool is_null(u64 word) { return (word & ~SIZE) == 0; }
}  // namespace header

/// What every fragment of an architectural record begins with: which groups follow, and its size.
struct ArchHeader {
  le64 word, reserved;
};
static_assert(sizeof(ArchHeader) == 16);

/// The basic group of an architectural record.
struct ArchBasic {
  le64 eventing_ip, applicable_counters, tsc;
  le64 retire_latency;  ///< 15:0 cycles, bit 16 valid
  le64 reserved[2];
};
static_assert(sizeof(ArchBasic) == 48 && offsetof(ArchBasic, retire_latency) == 0x18);

/// Of the data access of the sampled instruction, and its transaction.
struct ArchAux {
  le64 address, reserved[4], data_source;
  le64 latency;  ///< 15:0 instruction, 47:32 access
  le64 tsx;
};
static_assert(sizeof(ArchAux) == 64 && offsetof(ArchAux, data_source) == 0x28);

/// General registers and the shadow stack pointer.
struct ArchGprs {
  GprGroup registers;
  le64 ssp, reserved;
};
static_assert(sizeof(ArchGprs) == 160 && offsetof(ArchGprs, ssp) == 0x90);

/// Which components of the vector groups behind it are valid.
struct ArchVectorHeader {
  le64 xstate, reserved;
};
static_assert(sizeof(ArchVectorHeader) == 16);

/// What stands before the entries of the LBR group: control and the last event record.
struct ArchLbrHeader {
  le64 reserved, control, depth, ler_from, ler_to, ler_info;
};
static_assert(sizeof(ArchLbrHeader) == 48);

/// One vector group: its bit in header and CFG_C, the XSAVE component that says whether it is valid, its
/// size.
struct VectorGroup {
  u64 bit;
  unsigned component;
  u32 bytes;
};
/// In record order.
inline constexpr VectorGroup vector_groups[] = {
    {cfg_c::XMM, 1, 256},   {cfg_c::YMMH, 2, 256}, {cfg_c::EGPR, 19, 128},
    {cfg_c::OPMASK, 5, 64}, {cfg_c::ZMMH, 6, 512}, {cfg_c::HI16_ZMM, 7, 1024},
};

/// LBR entries that a two-bit LBR code asks for when the LBR has `depth` of them.
constexpr u32 arch_lbr_entries(u64 word, u32 depth) {
  const u64 code = field(word, 41, 40);
  if (code == 0) return 0;
  return code == 3 ? depth : 8 * static_cast<u32>(code);
}

/// Where the groups of one fragment lie, in bytes from its header; 0 = not in the fragment.
struct ArchLayout {
  u32 basic = 0, aux = 0, gprs = 0, vectors = 0, lbr = 0, counters = 0;
  u32 size = sizeof(ArchHeader);  ///< up to the LBR entries or the header of the counters group
};

/// The layout of a fragment by its header word. `lbr_depth` is only needed to find the counters group.
constexpr ArchLayout arch_layout(u64 word, u32 lbr_depth) {
  ArchLayout layout;
  const auto place = [&](bool present, u32 bytes) {
    const u32 at = present ? layout.size : 0;
    if (present) layout.size += bytes;
    return at;
  };
  layout.basic = place((word & header::BASIC) != 0, sizeof(ArchBasic));
  layout.aux = place((word & cfg_c::AUX) != 0, sizeof(ArchAux));
  layout.gprs = place((word & cfg_c::GPRS) != 0, sizeof(ArchGprs));
  layout.vectors = place((word & cfg_c::VECTORS) != 0, sizeof(ArchVectorHeader));
  for (const VectorGroup& group : vector_groups) place((word & group.bit) != 0, group.bytes);
  const u32 lbr_bytes = static_cast<u32>(sizeof(ArchLbrHeader)) + arch_lbr_entries(word, lbr_depth) * 24;
  layout.lbr = place((word & cfg_c::LBR) != 0, lbr_bytes);
  layout.counters = place((word & (cfg_c::GP | cfg_c::FIXED | cfg_c::METRICS)) != 0, sizeof(CountersHeader));
  return layout;
}
static_assert(arch_layout(header::BASIC, 32).size == 64);
static_assert(arch_layout(header::BASIC | cfg_c::AUX, 32).size == 128);
static_assert(arch_layout(header::BASIC | cfg_c::AUX | cfg_c::GPRS, 32).size == 288);
static_assert(arch_layout(header::BASIC | cfg_c::AUX | cfg_c::GPRS | cfg_c::LBR, 32).size == 1104);

/// IA32_PEBS_INDEX.
namespace index_register {
inline constexpr u64 WRITE_OFFSET = bits(26, 4);  ///< in place: the value is the byte offset
inline constexpr u64 FULL = bit(31), ENABLE = bit(32), THRESHOLD = bits(58, 36);
inline constexpr u32 unit_bytes = 16;  ///< of THRESHOLD
}  // namespace index_register

/// IA32_PEBS_BASE: 4096 << SIZE bytes at a 4 KiB aligned physical address.
namespace base_register {
inline constexpr u64 ADDRESS = bits(63, 12), SIZE = bits(3, 0);
constexpr u64 bytes(u64 value) { return u64{4096} << (value & SIZE); }
}  // namespace base_register

}  // namespace pmusim::pebs

namespace pmusim {

/// What became of a PEBS assist that was due: a record, or the reason why there is none. `Pmu::assists`
/// counts them.
enum class AssistOutcome : u8 {
  wrote,
  full,               ///< no room between index and absolute maximum (arch: to the end, or FULL is set)
  index_before_base,  ///< the index points before the buffer
  unmapped,           ///< management area or record position is not mapped
  misaligned,         ///< management area or index breaks doubleword alignment
  no_area,            ///< DS_AREA or PEBS_BASE is 0, or PEBS_INDEX.EN is clear
  processor_trace,    ///< records go to the PT stream, which is not modelled
  count_
};

}  // namespace pmusim

/// What the numbers of PEBS record formats (PERF_CAPABILITIES[11:8]) stand for; 0FH is architectural PEBS,
/// which enumerates itself in CPUID. Questions have names, so that nobody else compares the numbers.
namespace pmusim::pebs {

inline constexpr unsigned no_format = ~0u, architectural_format = 0xF;
inline constexpr unsigned timed_format = 5, counting_format = 6;  // adaptive ones, beside the first: 4

constexpr bool is_architectural(unsigned format) { return format == architectural_format; }
/// One layout for all records of the format.
constexpr bool is_fixed(unsigned format) { return format <= 3; }
/// Groups that software chooses, behind a basic group.
constexpr bool is_adaptive(unsigned format) { return format >= 4 && format <= counting_format; }
constexpr bool is_known(unsigned format) {
  return is_fixed(format) || is_adaptive(format) || is_architectural(format);
}

/// Registers and nothing else: no status word, no memory access.
constexpr bool has_registers_alone(unsigned format) { return format == 0; }
/// The IP of the sampled instruction itself, and what a transaction did.
constexpr bool has_eventing_ip(unsigned format) { return format >= 2; }
constexpr bool has_time(unsigned format) { return format >= 3; }
/// The status word names the counters that the record is for; before, all that had overflowed.
constexpr bool has_own_status(unsigned format) { return format >= 3; }
/// Records can hold the values of other counters; of architectural PEBS, CPUID says it.
constexpr bool stores_counters(unsigned format) { return format == counting_format; }

/// What decides how precise samples can be.
struct Precision {
  unsigned format = no_format;
  bool branch_records = false;  ///< an LBR tells the instruction before the recorded IP
  bool distribution = false;    ///< a counter without shadow: PDIR, PDIST
};

/// Highest precise_ip of perf_event_attr: 1 constant skid, 2 the instruction itself, 3 without a shadow. 0:
/// no PEBS.
constexpr unsigned max_precise(const Precision& pebs) {
  if (!is_known(pebs.format)) return 0;
  const bool knows_the_instruction = pebs.branch_records || has_eventing_ip(pebs.format);
  return 1u + (knows_the_instruction ? 1u : 0u) + (pebs.distribution ? 1u : 0u);
}

}  // namespace pmusim::pebs

namespace pmusim {

/// Which encoding the data-source word of a PEBS record has, by the microarchitecture that introduced it
/// (Linux: pebs_data_source, load_latency_data).
enum class DataSourceEncoding : u8 {
  none,
  nehalem,
  westmere,
  sandy_bridge,
  skylake,
  golden_cove,
  gracemont,
  crestmont,
  lion_cove,
  panther_cove,
  arctic_wolf,
};

/// Where the parts of a data-source word lie. A zero mask: the encoding cannot tell.
struct DataSourceLayout {
  u64 code = 0;  ///< the source code itself
  u64 stlb_miss = 0, locked = 0, data_blocked = 0, address_blocked = 0;
  u64 l2_miss = 0;  ///< code is an off-module source
};

constexpr DataSourceLayout data_source_layout(DataSourceEncoding encoding) {
  switch (encoding) {
    case DataSourceEncoding::none:
      return {};
    case DataSourceEncoding::nehalem:
      return {.code = 0xF};
    case DataSourceEncoding::westmere:
    case DataSourceEncoding::sandy_bridge:
    case DataSourceEncoding::skylake:
      return {.code = 0xF, .stlb_miss = bit(4), .locked = bit(5)};
    case DataSourceEncoding::golden_cove:
      return {.code = 0xF,
              .stlb_miss = bit(4),
              .locked = bit(5),
              .data_blocked = bit(6),
              .address_blocked = bit(7)};
    case DataSourceEncoding::gracemont:
      return {.code = 0xF, .stlb_miss = bit(5), .locked = bit(4), .data_blocked = bit(6)};
    case DataSourceEncoding::crestmont:
      return {.code = 0xF, .stlb_miss = bit(6), .locked = bit(5), .data_blocked = bit(7)};
    case DataSourceEncoding::lion_cove:
      return {.code = 0xFF,
              .stlb_miss = bit(10),
              .locked = bit(11),
              .data_blocked = bit(12),
              .address_blocked = bit(13)};
    case DataSourceEncoding::panther_cove:
    case DataSourceEncoding::arctic_wolf:
      return {.code = 0xFF,
              .stlb_miss = bit(11),
              .locked = bit(12),
              .data_blocked = bit(13),
              .address_blocked = bit(14),
              .l2_miss = bit(8)};
  }
  return {};
}

/// Stores of the facilities before store latency: precise store and the address-only memory events.
namespace store_status {
inline constexpr u64 L1_HIT = bit(0), STLB_MISS = bit(4), LOCKED = bit(5);
}  // namespace store_status

}  // namespace pmusim

#endif
