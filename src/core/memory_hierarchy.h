// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_MEMORY_HIERARCHY_H
#define PMUSIM_CORE_MEMORY_HIERARCHY_H

#include <array>
#include <optional>

#include "core/busy_span.h"
#include "core/cycle_marks.h"
#include "core/fill.h"
#include "core/machine_caches.h"
#include "core/prefetchers.h"
#include "core/set_associative.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// Caches, TLBs and line fill buffers of one core.
///
/// L1I and L1D stand before a shared L2 and, where there is one, L3; every level allocates on a miss. The
/// last of them counts LLC references and misses. A missed line enters L1D at once, with the cycle at which
/// its data arrive: whoever touches it before that hits the fill buffer. At most `outstanding_misses` lines
/// are under way; a further miss waits for the first buffer that frees. Prefetched lines enter their level
/// the same way, and are dropped where nothing is free to bring them. Pages are 4 KiB; a walk reads its last
/// entry from the caches, if the core says so. On a machine of several cores L3 is that of the package, L2
/// that of the module, and the lines of all cores are kept coherent (MachineCaches). Not modelled:
/// write-backs.
class MemoryHierarchy {
 public:
  struct Answer {
    CacheLevel level = CacheLevel::l1;
    CacheLevel source = CacheLevel::l1;  ///< where the data come from; differs at a fill buffer hit
    TlbLevel tlb = TlbLevel::l1;
    u64 ready_cycle = 0;      ///< first cycle in which the data can be used
    bool prefetched = false;  ///< a prefetch of L1 is bringing the line
    Snoop snoop = Snoop::none;
    bool remote = false;
  };
  /// An access within one line, by the instruction at `ip`, whose address is known in `cycle`.
  struct Request {
    u64 address = 0;
    u64 ip = 0;
    AccessKind kind = AccessKind::load;
    u64 cycle = 0;
  };

  /// Geometries must divide evenly (Core::create checks).
  explicit MemoryHierarchy(const CoreParameters& parameters);

  /// Adds cache requests, those of prefetchers too, and page walks to `quantities`.
  Answer access(const Request& request, Quantities& quantities);
  /// How much of an access is over that nobody wants to know the time of.
  enum class Found : u8 { elsewhere, there, there_and_prefetched };
  /// The same where everything is in L1 and the first TLB, as most of the time, and nobody wants to know how
  /// long it takes. Elsewhere it is for access().
  Found access_if_there(const Request& request, Quantities& quantities) {
    if (dtlb_.find(request.address >> page_shift) == nullptr) return Found::elsewhere;
    const Fill* const present = l1d_.find(line_of(request.address));
    if (machine_ != nullptr || present == nullptr || present->ready_cycle() > request.cycle + l1d_latency_)
      return Found::elsewhere;
    const bool prefetches =
        request.kind == AccessKind::load && prefetch_stride(request, request.cycle, quantities);
    return prefetches ? Found::there_and_prefetched : Found::there;
  }
  /// Code fetch of one line. Adds to `quantities` as above, and how long it takes.
  Answer fetch(u64 address, u64 cycle, Quantities& quantities);

  /// The same where L1I and its TLB have it, which take no time then: whether they do. Elsewhere it is for
  /// fetch().
  bool fetch_if_there(u64 address) {
    return itlb_.find(address >> page_shift) != nullptr && l1i_.find(line_of(address)) != nullptr;
  }

  /// Whether an access or a fetch has added anything, or fetch waited.
  static bool has_added(const Quantities& quantities);

  /// Whether L1I holds the line with this address, which leaves it: its bytes are written.
  bool take_code(u64 address);
  /// Whether it holds that line; what else has no code is known from its page as a rule.
  bool has_code(u64 address) const {
    const u64 page = address >> page_shift;
    const bool may_have = (code_pages_[page / 64 % code_pages_.size()] & bit(page % 64)) != 0;
    return may_have && l1i_.has(line_of(address));
  }

  /// Time begins again at 0: what is there stays, and what was under way has come.
  void begin_again();

  /// The core is one of a machine from now on. It must stay where it is, and not be copied any more.
  void join(MachineCaches& machine, const CorePlace& place);
  /// L2 is one that other cores of the machine, where this has a number, have, too. It gets what is in the
  /// core's own.
  void share_l2(ModuleCache& module, u32 core);
  /// Whether L1D has the line, or it is under way to it.
  bool holds_in_l1(u64 line) const { return l1d_.has(line); }
  /// The same of the L2 that it has, alone or with others.
  bool holds_in_l2(u64 line) const;
  /// Whether L1D or an L2 of its own have it.
  bool holds(u64 line) const { return l1d_.has(line) || l2_.has(line); }
  /// Another core writes the line: L1 and an L2 of its own lose it.
  void invalidate(u64 line);
  /// Lines that L1D and L2 have room for.
  std::size_t private_lines() const { return l1d_.size() + l2_.size(); }

  /// CLFLUSH: the line with this address leaves every cache.
  void flush(u64 address);

  u64 line_of(u64 address) const { return address >> line_shift_; }
  unsigned line_shift() const { return line_shift_; }
  /// In which cycles loads are under way: whoever knows when uops start takes them from there.
  LoadsUnderWay& loads_under_way() { return loads_under_way_; }
  /// Latency of an access that hits everywhere.
  unsigned hit_latency() const { return l1d_latency_; }

 private:
  struct Present {};
  struct Span {  // from when until when a request is under way
    u64 begin, end;
  };
  enum class Reader : u8 { data, ownership, code };  // who asks L2
  struct Outer {                                     // what lies behind L1
    CacheLevel level;
    u64 ready_cycle;
    Snoop snoop = Snoop::none;
    bool remote = false;
  };
  struct Translation {
    TlbLevel level = TlbLevel::l1;
    u64 latency_cycles = 0;
  };
  const Fill* find_in_l2(u64 line);
  void fill_l2(u64 line, const Fill& fill);
  std::optional<Outer> ask_module(u64 line, u64 cycle, Quantity misses, Quantities& quantities);
  Outer look_up_outer(u64 line, u64 cycle, Reader reader, Quantities& quantities);
  Outer look_up_last(u64 line, u64 cycle, Quantities& quantities);
  Outer look_up_machine(u64 line, u64 cycle, Quantities& quantities);
  u64 latency_of(const MachineCaches::Answer& answer) const;
  void own(u64 line, u64 start, Answer& answer, Quantities& quantities);
  bool last_level_has(u64 line) const;
  void prefetch_into_last(u64 line, u64 cycle, Quantities& quantities);
  Outer ask_l2(u64 line, u64 cycle, Reader reader, Quantities& quantities);
  void prefetch_stream(u64 line, u64 cycle, Quantities& quantities);
  void prefetch_pair(u64 line, u64 cycle, Quantities& quantities);
  void prefetch_into_l2(u64 line, u64 cycle, Quantities& quantities);
  // Whether it goes for another line.
  bool prefetch_stride(const Request& load, u64 cycle, Quantities& quantities) {
    const u64 next = strides_.observe(load.ip, load.address);
    if (next == StridePrefetcher::nothing || line_of(next) == line_of(load.address)) return false;
    prefetch_into_l1(line_of(next), cycle, quantities);
    return true;
  }
  void prefetch_into_l1(u64 line, u64 cycle, Quantities& quantities);
  u64 read_page_table(u64 page, u64 cycle, Quantities& quantities);
  void fill_l1d(u64 line, const Fill& fill, Quantities& quantities);
  void tell_load(const Answer& answer, u64 start, Quantities& quantities);
  void tell_data_read(const Span& span, Quantities& quantities);
  void tell_demand_read(const Span& span, CacheLevel level, Quantities& quantities);
  void tell_requests(const Request& request, const Answer& answer, u64 start, Quantities& quantities);
  Answer look_up_l1d(const Request& request, u64 start, TlbLevel tlb, Quantities& quantities);
  Answer miss_l1d(const Request& request, u64 start, TlbLevel tlb, Quantities& quantities);
  struct Page {
    u64 number;
    Quantity walks;  ///< that count its walks
  };
  Translation translate(SetAssociative<Present>& first_level, const Page& page, u64 cycle,
                        Quantities& quantities);

  unsigned line_shift_, l1d_latency_, l1i_miss_penalty_, l2_latency_, l3_latency_, memory_latency_;
  unsigned snoop_cycles_, modified_snoop_cycles_, remote_cycles_;
  unsigned stlb_latency_, page_walk_cycles_, page_walk_loads_, adjacent_line_level_;
  SetAssociative<Fill> l1d_;
  SetAssociative<Present> l1i_;
  std::array<u64, 16> code_pages_{};  // a bit for all pages of one remainder: whether code of any was fetched
  SetAssociative<Fill> l2_;
  std::optional<SetAssociative<Present>> l3_;
  SetAssociative<Present> dtlb_, itlb_;
  std::optional<SetAssociative<Present>> stlb_;
  std::vector<u64> fill_buffers_;  // cycle at which each is free
  std::vector<u64> prefetches_;    // the same of L2's prefetches
  // when requests of each kind are under way
  BusySpan full_, ownership_, code_, data_reads_;
  CrowdedSpan<4> four_data_reads_;
  CrowdedSpan<6> six_data_reads_, six_demand_reads_, six_memory_reads_;
  LoadsUnderWay loads_under_way_;
  CacheGeometry l2_geometry_, l3_geometry_;
  bool l2_transfers_;
  MachineCaches* machine_ = nullptr;  // then L3 is there
  ModuleCache* module_ = nullptr;     // then L2 is this, and the core's own is empty
  u32 core_ = 0;                      // of the machine
  StridePrefetcher strides_;
  StreamPrefetcher streams_;
};

// Whatever goes beyond L1 and its TLBs asks L2 or walks.
inline bool MemoryHierarchy::has_added(const Quantities& quantities) {
  const auto at = [&](Quantity which) { return quantities[static_cast<unsigned>(which)]; };
  return (at(Quantity::l2_requests) | at(Quantity::page_walks_load) | at(Quantity::page_walks_store) |
          at(Quantity::page_walks_instruction) | at(Quantity::l1i_stall_cycles) |
          at(Quantity::itlb_stall_cycles)) != 0;
}

}  // namespace pmusim

#endif
