// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_LBR_NAIVE_LBR_H
#define PMUSIM_TESTS_LBR_NAIVE_LBR_H

#include <algorithm>
#include <vector>

#include "tests/lbr/lbr_machine.h"

namespace pmusim::test {

/// The LBR as the manual's prose tells it: the registers themselves, changed at every branch. Slow, obvious,
/// and written from SDM vol. 3, LBR, without a look at LbrStack.
class NaiveLbr {
 public:
  explicit NaiveLbr(const CpuModel& m) : model(m), depth(m.lbr.depth), from(depth), to(depth), info(depth) {}

  void branch(const Branch& b) {
    if (!accepted(b)) return;
    const bool call_stack = model.has_arch_lbr() ? (ctl & 8) != 0 : (select & 0x200) != 0;
    if (call_stack && b.zero_length_call) return;
    if (call_stack && b.kind == BranchKind::near_return) return pop();
    const u64 elapsed = std::min<u64>(b.cycle - last_cycle, 0xFFFF);
    push(b, timed ? elapsed : 0);
    last_cycle = b.cycle;
    timed = true;
    counts = {};
  }
  void event(unsigned counter) { counts[counter] = std::min(counts[counter] + 1, 3u); }
  void write_ctl(u64 value) {
    if ((value & 1) != 0 && (ctl & 1) == 0) timed = false;
    ctl = value;
  }
  void write_depth(unsigned value) {
    depth = value;
    from.assign(depth, 0), to.assign(depth, 0), info.assign(depth, 0);
    timed = false;
  }

  CpuModel model;
  unsigned depth;
  u64 tos = 0, select = 0, ctl = 0;
  std::vector<u64> from, to, info;

 private:
  bool accepted(const Branch& b) const {
    const bool to_kernel = b.cpl_after == Cpl::kernel;
    if (model.has_arch_lbr()) {
      if ((ctl & 1) == 0 || (ctl & (to_kernel ? 2 : 4)) == 0) return false;
      return (ctl & bit(arch_bit(b.kind))) != 0;
    }
    if ((select & (to_kernel ? 1 : 2)) != 0 || (select & bit(select_bit(b.kind))) != 0) return false;
    if (!model.lbr.nehalem_filters) return true;
    const bool with_jumps = b.kind == BranchKind::indirect_call || b.kind == BranchKind::near_return;
    if (with_jumps && (select & 0x40) != 0) return false;
    return !(b.kind == BranchKind::direct_call && (select & 0x80) != 0);
  }
  static unsigned select_bit(BranchKind kind) {
    switch (kind) {
      case BranchKind::conditional:
        return 2;
      case BranchKind::direct_call:
        return 3;
      case BranchKind::indirect_call:
        return 4;
      case BranchKind::near_return:
        return 5;
      case BranchKind::indirect_jump:
        return 6;
      case BranchKind::direct_jump:
        return 7;
      default:
        return 8;
    }
  }
  static unsigned arch_bit(BranchKind kind) {
    switch (kind) {
      case BranchKind::conditional:
        return 16;
      case BranchKind::direct_jump:
        return 17;
      case BranchKind::indirect_jump:
        return 18;
      case BranchKind::direct_call:
        return 19;
      case BranchKind::indirect_call:
        return 20;
      case BranchKind::near_return:
        return 21;
      default:
        return 22;
    }
  }
  static u64 arch_type(BranchKind kind) {
    switch (kind) {
      case BranchKind::conditional:
        return 0;
      case BranchKind::indirect_jump:
        return 1;
      case BranchKind::direct_jump:
        return 2;
      case BranchKind::indirect_call:
        return 3;
      case BranchKind::direct_call:
        return 4;
      case BranchKind::near_return:
        return 5;
      default:
        return 8;
    }
  }

  void push(const Branch& b, u64 cycles) {
    const u64 miss = b.mispredicted, in_tx = b.tx == TxState::in_tx, abort = b.tx == TxState::aborting;
    u64 f = b.from, t = b.to, i = 0;
    switch (model.lbr.format) {
      case LbrFormat::eip_flags:
        f = (f & low_bits(63)) | miss << 63;
        break;
      case LbrFormat::eip_flags_tsx:
        f = (f & low_bits(61)) | miss << 63;
        if (model.rtm) f |= in_tx << 62 | abort << 61;
        break;
      case LbrFormat::info:
        i = miss << 63 | (model.rtm ? in_tx << 62 | abort << 61 : 0) | cycles;
        break;
      case LbrFormat::time:
        f = (f & low_bits(63)) | miss << 63;
        t = (t & low_bits(48)) | cycles << 48;
        break;
      case LbrFormat::info_no_tsx:
        i = miss << 63 | cycles;
        break;
      case LbrFormat::arch:
        i = miss << 63 | in_tx << 62 | abort << 61 | u64{timed} << 60 | arch_type(b.kind) << 56 | cycles;
        for (unsigned n = 0; n < 4; ++n) i |= u64{counts[n]} << (32 + 2 * n);
        if ((ctl & (b.cpl_before == Cpl::kernel ? 2 : 4)) == 0) f = ~u64{0};
        break;
      default:
        break;
    }
    if (model.has_arch_lbr()) {
      std::shift_right(from.begin(), from.end(), 1), from[0] = f;
      std::shift_right(to.begin(), to.end(), 1), to[0] = t;
      std::shift_right(info.begin(), info.end(), 1), info[0] = i;
    } else {
      tos = (tos + 1) % depth;
      from[tos] = f, to[tos] = t, info[tos] = i;
    }
  }
  void pop() {
    if (model.has_arch_lbr()) {
      std::shift_left(from.begin(), from.end(), 1), from.back() = 0;
      std::shift_left(to.begin(), to.end(), 1), to.back() = 0;
      std::shift_left(info.begin(), info.end(), 1), info.back() = 0;
    } else if (from[tos] != 0) {
      from[tos] = to[tos] = info[tos] = 0;
      tos = (tos + depth - 1) % depth;
    }
  }

  u64 last_cycle = 0;
  bool timed = false;
  std::array<unsigned, 4> counts{};
};

}  // namespace pmusim::test

#endif
