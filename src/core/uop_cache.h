// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_UOP_CACHE_H
#define PMUSIM_CORE_UOP_CACHE_H

#include <array>
#include <bit>
#include <span>
#include <vector>

#include "core/set_associative.h"
#include "pmusim/cpu/core_parameters.h"

namespace pmusim {

/// The uop cache (Intel: DSB): lines of a few uops, each of one aligned window of code, found by where they
/// begin.
///
/// A line ends with its window, when it is full, behind a taken branch and around microcode. A window may
/// have no more than a few lines; one with more uops is decoded every time.
class UopCache {
 public:
  explicit UopCache(const CoreParameters& p)
      : lines_(p.uop_cache_lines / p.uop_cache_ways, p.uop_cache_ways),
        line_uops_(p.uop_cache_line_uops),
        window_lines_(p.uop_cache_window_lines),
        window_shift_(static_cast<unsigned>(std::countr_zero(p.uop_cache_window_bytes))) {}

  /// Whether the uops of the instruction at `ip`, which follows the one before it, are there; the line that
  /// they begin is from now on.
  bool take(u64 ip, unsigned uops);
  /// A line's part of a block, as it is when the block begins a window of its own.
  struct Line {
    u64 ip = 0;
    u16 first = 0;                ///< of its instructions, by number
    u8 first_uops = 0, uops = 0;  ///< of that one, and of all of them
  };
  /// Whether code at `ip` begins a window.
  bool begins_window(u64 ip) const { return ip >> window_shift_ != window_; }
  /// take() of the instructions of such a line, up to the first that is not there: whether all are.
  bool take(const Line& line);
  /// One instruction, or a fused pair.
  struct Code {
    u64 ip = 0;
    unsigned uops = 0;
  };
  /// The lines of a block that begins a window.
  std::vector<Line> lines_of(std::span<const Code> code) const;
  /// The next instruction begins a line: its predecessor was a taken branch, or microcode.
  void end_line() { window_ = ~u64{0}; }

 private:
  struct Present {};
  void begin_line(u64 ip);
  u64 key_of(u64 ip) const;

  SetAssociative<Present> lines_;
  unsigned line_uops_, window_lines_, window_shift_;
  // the line at hand
  u64 window_ = ~u64{0};
  unsigned used_ = 0;  // uops
  bool hit_ = false;
  // the lines of its window so far
  std::array<u64, most_uop_cache_window_lines> keys_{};
  unsigned lines_of_window_ = 0;
};

inline bool UopCache::take(const Line& line) {
  if (begins_window(line.ip)) {
    window_ = line.ip >> window_shift_;
    lines_of_window_ = 0;
  }
  begin_line(line.ip);
  used_ = hit_ ? line.uops : line.first_uops;
  return hit_;
}

inline bool UopCache::take(u64 ip, unsigned uops) {
  const u64 window = ip >> window_shift_;
  if (window != window_) {
    window_ = window;
    lines_of_window_ = 0;
    begin_line(ip);
  } else if (used_ + uops > line_uops_) {
    begin_line(ip);
  }
  used_ += uops;
  return hit_;
}

}  // namespace pmusim

#endif
