#include "pmusim/cpu/generic_events.h"

#include <algorithm>
#include <array>
#include <span>

#include "pmusim/base/bits.h"

namespace pmusim {
namespace {

using enum Microarchitecture;

/// Golden Cove, Gracemont and everything after them: 3C.01 counts at TSC rate.
bool has_reference_cycles_on_gp(Microarchitecture core) {
  return core >= golden_cove && core != goldmont && core != goldmont_plus && core != tremont;
}

std::optional<u64> stalled_cycles(Microarchitecture core, GenericEvent event) {
  constexpr u64 no_uops = u64{1} << 24 | bit(23);  // CMASK 1, INV
  if (event == GenericEvent::stalled_cycles_frontend && core >= nehalem && core <= ivy_bridge)
    return 0x010E | no_uops;
  if (event == GenericEvent::stalled_cycles_backend) {
    if (core == nehalem || core == westmere) return 0x3FB1 | no_uops;
    if (core == sandy_bridge) return 0x01B1 | no_uops;
  }
  return std::nullopt;
}

struct CacheRow {
  CacheId cache;
  CacheOperation operation;
  CacheResult result;
  u64 config, extra = 0;
};

using enum CacheId;
using enum CacheOperation;
using enum CacheResult;

constexpr std::array nehalem_rows{
    CacheRow{l1d, read, access, 0x010B},         CacheRow{l1d, read, miss, 0x0151},
    CacheRow{l1d, write, access, 0x020B},        CacheRow{l1d, write, miss, 0x0251},
    CacheRow{l1i, read, access, 0x0380},         CacheRow{l1i, read, miss, 0x0280},
    CacheRow{ll, read, access, 0x01B7, 0xFF01},  CacheRow{ll, read, miss, 0x01B7, 0xF801},
    CacheRow{ll, write, access, 0x01B7, 0xFF02}, CacheRow{ll, write, miss, 0x01B7, 0xF802},
    CacheRow{dtlb, read, access, 0x0F40},        CacheRow{dtlb, read, miss, 0x0108},
    CacheRow{dtlb, write, access, 0x0F41},       CacheRow{dtlb, write, miss, 0x010C},
    CacheRow{itlb, read, access, 0x01C0},        CacheRow{itlb, read, miss, 0x20C8},
    CacheRow{bpu, read, access, 0x00C4},         CacheRow{bpu, read, miss, 0x03E8},
};
constexpr std::array westmere_rows{
    CacheRow{l1d, read, access, 0x010B},         CacheRow{l1d, read, miss, 0x0151},
    CacheRow{l1d, write, access, 0x020B},        CacheRow{l1d, write, miss, 0x0251},
    CacheRow{l1i, read, access, 0x0380},         CacheRow{l1i, read, miss, 0x0280},
    CacheRow{ll, read, access, 0x01B7, 0xFF01},  CacheRow{ll, read, miss, 0x01B7, 0xF801},
    CacheRow{ll, write, access, 0x01B7, 0xFF02}, CacheRow{ll, write, miss, 0x01B7, 0xF802},
    CacheRow{dtlb, read, access, 0x010B},        CacheRow{dtlb, read, miss, 0x0108},
    CacheRow{dtlb, write, access, 0x020B},       CacheRow{dtlb, write, miss, 0x010C},
    CacheRow{itlb, read, access, 0x01C0},        CacheRow{itlb, read, miss, 0x0185},
    CacheRow{bpu, read, access, 0x00C4},         CacheRow{bpu, read, miss, 0x03E8},
};
constexpr std::array sandy_bridge_rows{
    CacheRow{l1d, read, access, 0xF1D0},
    CacheRow{l1d, read, miss, 0x0151},
    CacheRow{l1d, write, access, 0xF2D0},
    CacheRow{l1d, write, miss, 0x0851},
    CacheRow{l1i, read, miss, 0x0280},
    CacheRow{ll, read, access, 0x01B7, 0x10001},
    CacheRow{ll, read, miss, 0x01B7, 0x3F80400001},
    CacheRow{ll, write, access, 0x01B7, 0x10002},
    CacheRow{ll, write, miss, 0x01B7, 0x3F80400002},
    CacheRow{dtlb, read, access, 0x81D0},
    CacheRow{dtlb, read, miss, 0x0108},
    CacheRow{dtlb, write, access, 0x82D0},
    CacheRow{dtlb, write, miss, 0x0149},
    CacheRow{itlb, read, access, 0x1085},
    CacheRow{itlb, read, miss, 0x0185},
    CacheRow{bpu, read, access, 0x00C4},
    CacheRow{bpu, read, miss, 0x00C5},
};
constexpr std::array haswell_rows{
    CacheRow{l1d, read, access, 0x81D0},          CacheRow{l1d, read, miss, 0x0151},
    CacheRow{l1d, write, access, 0x82D0},         CacheRow{l1i, read, miss, 0x0280},
    CacheRow{ll, read, access, 0x01B7, 0x10001},  CacheRow{ll, read, miss, 0x01B7, 0x3F80400001},
    CacheRow{ll, write, access, 0x01B7, 0x10002}, CacheRow{ll, write, miss, 0x01B7, 0x3F80400002},
    CacheRow{dtlb, read, access, 0x81D0},         CacheRow{dtlb, read, miss, 0x0108},
    CacheRow{dtlb, write, access, 0x82D0},        CacheRow{dtlb, write, miss, 0x0149},
    CacheRow{itlb, read, access, 0x6085},         CacheRow{itlb, read, miss, 0x0185},
    CacheRow{bpu, read, access, 0x00C4},          CacheRow{bpu, read, miss, 0x00C5},
};
constexpr std::array skylake_rows{
    CacheRow{l1d, read, access, 0x81D0},          CacheRow{l1d, read, miss, 0x0151},
    CacheRow{l1d, write, access, 0x82D0},         CacheRow{l1i, read, miss, 0x0283},
    CacheRow{ll, read, access, 0x01B7, 0x10001},  CacheRow{ll, read, miss, 0x01B7, 0x3FFFC00001},
    CacheRow{ll, write, access, 0x01B7, 0x10002}, CacheRow{ll, write, miss, 0x01B7, 0x3FFFC00002},
    CacheRow{dtlb, read, access, 0x81D0},         CacheRow{dtlb, read, miss, 0x0E08},
    CacheRow{dtlb, write, access, 0x82D0},        CacheRow{dtlb, write, miss, 0x0E49},
    CacheRow{itlb, read, access, 0x2085},         CacheRow{itlb, read, miss, 0x0E85},
    CacheRow{bpu, read, access, 0x00C4},          CacheRow{bpu, read, miss, 0x00C5},
};
constexpr std::array golden_cove_rows{
    CacheRow{l1d, read, access, 0x81D0},
    CacheRow{l1d, read, miss, 0xE124},
    CacheRow{l1d, write, access, 0x82D0},
    CacheRow{l1i, read, miss, 0xE424},
    CacheRow{ll, read, access, 0x012A, 0x10001},
    CacheRow{ll, read, miss, 0x012A, 0x3FBFC00001},
    CacheRow{ll, write, access, 0x012A, 0x3F3FFC0002},
    CacheRow{ll, write, miss, 0x012A, 0x3F3FC00002},
    CacheRow{dtlb, read, access, 0x81D0},
    CacheRow{dtlb, read, miss, 0x0E12},
    CacheRow{dtlb, write, access, 0x82D0},
    CacheRow{dtlb, write, miss, 0x0E13},
    CacheRow{itlb, read, miss, 0x0E11},
    CacheRow{bpu, read, access, 0x04C4},
    CacheRow{bpu, read, miss, 0x04C5},
};
constexpr std::array goldmont_rows{
    CacheRow{l1d, read, access, 0x81D0},          CacheRow{l1d, write, access, 0x82D0},
    CacheRow{l1i, read, access, 0x0380},          CacheRow{l1i, read, miss, 0x0280},
    CacheRow{ll, read, access, 0x01B7, 0x10001},  CacheRow{ll, read, miss, 0x01B7, 0x3600000001},
    CacheRow{ll, write, access, 0x01B7, 0x10002}, CacheRow{ll, write, miss, 0x01B7, 0x3600000002},
    CacheRow{dtlb, read, access, 0x81D0},         CacheRow{dtlb, write, access, 0x82D0},
    CacheRow{itlb, read, access, 0x00C0},         CacheRow{itlb, read, miss, 0x0481},
    CacheRow{bpu, read, access, 0x00C4},          CacheRow{bpu, read, miss, 0x00C5},
};
constexpr std::array goldmont_plus_rows{
    CacheRow{l1d, read, access, 0x81D0},          CacheRow{l1d, write, access, 0x82D0},
    CacheRow{l1i, read, access, 0x0380},          CacheRow{l1i, read, miss, 0x0280},
    CacheRow{ll, read, access, 0x01B7, 0x10001},  CacheRow{ll, read, miss, 0x01B7, 0x3600000001},
    CacheRow{ll, write, access, 0x01B7, 0x10002}, CacheRow{ll, write, miss, 0x01B7, 0x3600000002},
    CacheRow{dtlb, read, access, 0x81D0},         CacheRow{dtlb, read, miss, 0x0E08},
    CacheRow{dtlb, write, access, 0x82D0},        CacheRow{dtlb, write, miss, 0x0E49},
    CacheRow{itlb, read, access, 0x00C0},         CacheRow{itlb, read, miss, 0x0481},
    CacheRow{bpu, read, access, 0x00C4},          CacheRow{bpu, read, miss, 0x00C5},
};
constexpr std::array tremont_rows{
    CacheRow{l1d, read, access, 0x81D0},          CacheRow{l1d, write, access, 0x82D0},
    CacheRow{l1i, read, access, 0x0380},          CacheRow{l1i, read, miss, 0x0280},
    CacheRow{ll, read, access, 0x01B7, 0x10001},  CacheRow{ll, read, miss, 0x01B7, 0x3F04000001},
    CacheRow{ll, write, access, 0x01B7, 0x10002}, CacheRow{ll, write, miss, 0x01B7, 0x3F04000002},
    CacheRow{dtlb, read, access, 0x81D0},         CacheRow{dtlb, read, miss, 0x0E08},
    CacheRow{dtlb, write, access, 0x82D0},        CacheRow{dtlb, write, miss, 0x0E49},
    CacheRow{itlb, read, access, 0x00C0},         CacheRow{itlb, read, miss, 0x0481},
    CacheRow{bpu, read, access, 0x00C4},          CacheRow{bpu, read, miss, 0x00C5},
};

/// Last-level events of the cores whose off-core responses go through the OMR registers.
template <u64 event>
constexpr std::array omr_rows{
    CacheRow{ll, read, access, event, 0x4000'0000'0000'0001},
    CacheRow{ll, read, miss, event, 0x00FF'FFF0'0000'0001},
    CacheRow{ll, write, access, event, 0x4000'0000'0000'0002},
    CacheRow{ll, write, miss, event, 0x00FF'FFF0'0000'0002},
};

std::span<const CacheRow> last_level_rows(Microarchitecture core) {
  if (core == panther_cove || core == coyote_cove) return omr_rows<0x012A>;
  if (core == arctic_wolf) return omr_rows<0x01B7>;
  return {};
}

std::span<const CacheRow> cache_rows(Microarchitecture core) {
  switch (core) {
    case nehalem:
      return nehalem_rows;
    case westmere:
      return westmere_rows;
    case sandy_bridge:
    case ivy_bridge:
      return sandy_bridge_rows;
    case haswell:
    case broadwell:
      return haswell_rows;
    case skylake:
    case skylake_x:
    case ice_lake:
      return skylake_rows;
    case golden_cove:
    case redwood_cove:
    case lion_cove:
    case cougar_cove:
    case panther_cove:
    case coyote_cove:
      return golden_cove_rows;
    case goldmont:
      return goldmont_rows;
    case goldmont_plus:
      return goldmont_plus_rows;
    case tremont:
    case gracemont:
    case crestmont:
    case skymont:
    case darkmont:
    case arctic_wolf:
      return tremont_rows;
    default:
      return {};
  }
}

/// Nobody writes instructions through the instruction cache, and branches are only ever predicted.
bool makes_sense(CacheId cache, CacheOperation operation) {
  if (cache == l1i) return operation != write;
  return operation == read || (cache != itlb && cache != bpu);
}

}  // namespace

std::optional<u64> generic_event_encoding(Microarchitecture core, GenericEvent event, u32 arch_events) {
  const auto architectural = [&](unsigned index, u64 config) {
    return (arch_events & bit(index)) != 0 ? std::optional<u64>(config) : std::nullopt;
  };
  switch (event) {
    case GenericEvent::cpu_cycles:
      return architectural(0, 0x003C);
    case GenericEvent::instructions:
      return architectural(1, 0x00C0);
    case GenericEvent::bus_cycles:
      return architectural(2, 0x013C);
    case GenericEvent::cache_references:
      return architectural(3, 0x4F2E);
    case GenericEvent::cache_misses:
      return architectural(4, 0x412E);
    case GenericEvent::branch_instructions:
      return architectural(5, 0x00C4);
    case GenericEvent::branch_misses:
      // Nehalem erratum AAJ80: the architectural event is hidden, executed mispredicts stand in for it.
      return core == nehalem && (arch_events & bit(6)) == 0 ? 0x7F89 : architectural(6, 0x00C5);
    case GenericEvent::ref_cycles:
      return has_reference_cycles_on_gp(core) && (arch_events & bit(2)) != 0 ? 0x013C : 0x0300;
    default:
      return stalled_cycles(core, event);
  }
}

CacheEventEncoding cache_event_encoding(Microarchitecture core, CacheId cache, CacheOperation operation,
                                        CacheResult result) {
  using Kind = CacheEventEncoding::Kind;
  if (!makes_sense(cache, operation)) return {.kind = Kind::invalid};
  const auto omr = cache == CacheId::ll ? last_level_rows(core) : std::span<const CacheRow>();
  const auto rows = omr.empty() ? cache_rows(core) : omr;
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const CacheRow& r) {
    return r.cache == cache && r.operation == operation && r.result == result;
  });
  if (row == rows.end()) return {.kind = Kind::none};
  // The one row in which Ivy Bridge differs from Sandy Bridge: DTLB_LOAD_MISSES has other umasks.
  if (core == ivy_bridge && row->config == 0x0108) return {.kind = Kind::valid, .config = 0x8108};
  return {.kind = Kind::valid, .config = row->config, .extra = row->extra};
}

}  // namespace pmusim
