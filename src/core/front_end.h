// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_FRONT_END_H
#define PMUSIM_CORE_FRONT_END_H

#include <optional>
#include <vector>

#include "core/loop_stream.h"
#include "core/lowered_block.h"
#include "core/uop_cache.h"
#include "cpu/quantity_set.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// The sources of uops: uop cache (DSB), legacy decoders (MITE), microcode sequencer (MS) and loop stream
/// detector (LSD), and the queue in which they leave uops for rename.
///
/// One source delivers at a time, so many uops a cycle: the uop cache `uop_cache_uops_per_cycle`; the
/// decoders `decoders` instructions, of which only the first may have several uops, as far as the code has
/// been fetched; the sequencer, for instructions of more than four uops, four; the loop stream what rename
/// takes. A cycle ends with a taken branch. The front end runs ahead of rename until the queue is full, which
/// hides a source's weak cycles; how far is reckoned in cycles of full width.
///
/// Invariant: `clock_` is the cycle in which the next uop can be delivered, on the scale of dispatch (the
/// stages between are left out).
class FrontEnd {
 public:
  explicit FrontEnd(const CoreParameters& parameters);

  /// One instruction, or a fused pair, on its way to rename.
  struct Code {
    u64 ip = 0;
    unsigned length = 0;  ///< bytes
    unsigned uops = 0;    ///< at least 1
    bool length_changing_prefix = false;
    unsigned opcode_offset = 0;
    bool may_pair = false;  ///< could have fused with the next one
    Decoding decoding = Decoding::any;
    bool uncached = false;  ///< never in the uop cache

    static Code of(const LoweredInstruction& from) {
      return {from.ip,
              from.length,
              from.uops,
              from.length_changing_prefix,
              from.opcode_offset,
              from.may_pair != 0,
              from.decoding,
              from.uncached != 0};
    }
  };
  enum class Source : u8 { none, uop_cache, decoders, sequencer, loop };
  /// How it came: what the quantities of the front end are made of, on demand.
  struct Delivery {
    u16 uops = 0;
    u16 cycles = 0, full_cycles = 0;  ///< of the source, that it began and that it made full
    bool is_second = false;           ///< that the decoders take in its cycle
    bool completes_four = false;      ///< uops of the decoders in its cycle
    u16 switch_cycles = 0;            ///< on the way from the uop cache to the decoders
    u16 length_stall_cycles = 0;
    Source source = Source::none;
  };
  /// Delivers an instruction, which rename would take in `wanted`: says how in `delivery`, adds signals, and
  /// returns the first cycle in which rename can have it.
  u64 deliver(const Code& code, u64 wanted, SignalSet& signals, Delivery& delivery);
  /// The code of a block, found once.
  struct BlockCode {
    std::vector<Code> code;             ///< both of a fused pair as one
    std::vector<UopCache::Line> lines;  ///< as UopCache has them
    unsigned uops = 0;
    bool is_cachable = false;  ///< no microcode, nothing that is never in the uop cache
    u64 start() const { return code.front().ip; }
  };
  BlockCode block_of(std::vector<Code> code) const;
  /// In which the uops of a block are delivered: the first of them can be renamed in `first`, the last in
  /// `last`.
  struct Cycles {
    u64 first = 0, last = 0;
  };
  /// Delivers all of a block that rename would take from `wanted` on. What does not come from the uop cache
  /// is decoded as by deliver().
  Cycles deliver(const BlockCode& block, u64 wanted);
  /// Adds the quantities of a delivery.
  static void account(const Delivery& delivery, Quantities& quantities);
  /// What that can add.
  static constexpr QuantitySet delivered =
      QuantitySet::range(Quantity::dsb_cycles_any, Quantity::dsb_to_mite_cycles) |
      QuantitySet::range(Quantity::uops_dsb, Quantity::uops_lsd) |
      QuantitySet::range(Quantity::uops_first_decoder, Quantity::mite_cycles_four_uops) |
      QuantitySet{Quantity::length_stall_cycles};

  /// An instruction passes of which nothing but its order is known: the uop cache sees it.
  void pass_in_order(u64 ip, unsigned uops) {
    if (!cache_) return;
    if (uops > most_decoded_uops)
      cache_->end_line();
    else
      cache_->take(ip, uops);
  }
  /// A near branch was taken.
  void follow(u64 branch, u64 target);
  /// The uop cache holds what it does there.
  void warm_from(const FrontEnd& before) {
    cache_ = before.cache_;
    if (cache_) cache_->end_line();
  }
  /// Delivery begins anew in `cycle`: fetch went wrong, or waited.
  void restart(u64 cycle);

 private:
  static constexpr unsigned most_decoded_uops = 4, sequencer_uops_per_cycle = 4;
  // Uops in cycles of so many each, and what is left. Most instructions end no cycle: no division.
  struct Filled {
    unsigned whole = 0, rest = 0;
  };
  static constexpr Filled in_cycles(unsigned uops, unsigned per_cycle) {
    Filled cycles{0, uops};
    for (; cycles.rest >= per_cycle; cycles.rest -= per_cycle) ++cycles.whole;
    return cycles;
  }
  Source source_of(const Code& code);
  void catch_up(u64 wanted);
  u64 deliver_from(Source source, const Code& code, SignalSet& signals, Delivery& delivery);
  std::size_t take_cached(const BlockCode& block);
  void stream_first(const BlockCode& block, std::size_t count);
  u64 decode_rest(const BlockCode& block, std::size_t first, u64 wanted);
  void change_to(Source source, SignalSet& signals, Delivery& delivery);
  void end_cycle();
  void decode(const Code& code, Delivery& delivery);
  void stream(unsigned uops, unsigned per_cycle, Delivery& delivery);
  void fetch(const Code& code, Delivery& delivery);
  void predecode(u64 block);

  unsigned issue_width_, queue_cycles_, cached_per_cycle_, decoders_, fetch_bytes_;
  unsigned predecoded_per_cycle_, decoders_for_pairs_;
  unsigned decoder_switch_cycles_, microcode_switch_cycles_, length_change_cycles_;
  std::optional<UopCache> cache_;
  LoopStream loop_;
  Source source_ = Source::none;
  u64 clock_ = 1;
  unsigned delivered_ = 0, decoded_ = 0;             // uops and instructions of that cycle
  bool decoding_ended_ = false;                      // in that cycle
  u64 fetched_block_ = ~u64{0}, fetched_cycle_ = 0;  // what the decoders have of the code, and since when
  unsigned predecoded_ = 0;                          // in that cycle
};

// Here because every instruction comes this way.

inline FrontEnd::Source FrontEnd::source_of(const Code& code) {
  if (code.uops > most_decoded_uops) {
    loop_.stop();
    if (cache_) cache_->end_line();
    return Source::sequencer;
  }
  // What the loop repeats is in the uop cache as well, and stays there.
  const bool cached = cache_ && cache_->take(code.ip, code.uops) && !code.uncached;
  if (loop_.take(code.ip, code.uops)) return Source::loop;
  return cached ? Source::uop_cache : Source::decoders;
}

inline void FrontEnd::stream(unsigned uops, unsigned per_cycle, Delivery& delivery) {
  const Filled all = in_cycles(delivered_ + uops, per_cycle);
  const auto begun = [](const Filled& c) { return c.whole + (c.rest != 0 ? 1 : 0); };
  const auto full = [&](const Filled& c) { return c.whole + (c.rest >= issue_width_ ? 1 : 0); };
  const Filled before{0, delivered_};
  delivery.cycles = static_cast<u16>(begun(all) - begun(before));
  if (per_cycle >= issue_width_) delivery.full_cycles = static_cast<u16>(full(all) - full(before));
  clock_ += all.whole;
  delivered_ = all.rest;
}

inline void FrontEnd::catch_up(u64 wanted) {
  if (clock_ + queue_cycles_ >= wanted) return;
  clock_ = wanted - queue_cycles_;  // the queue was full
  delivered_ = decoded_ = 0;
  decoding_ended_ = false;
}

inline u64 FrontEnd::deliver(const Code& code, u64 wanted, SignalSet& signals, Delivery& delivery) {
  catch_up(wanted);
  delivery = {};
  return deliver_from(source_of(code), code, signals, delivery);
}

inline u64 FrontEnd::deliver_from(Source source, const Code& code, SignalSet& signals, Delivery& delivery) {
  if (source != source_) change_to(source, signals, delivery);
  if (source == Source::decoders && cache_) signals.add(Signal::dsb_miss);
  delivery.uops = static_cast<u16>(code.uops);
  delivery.source = source;
  const u64 first = clock_;
  switch (source) {
    case Source::uop_cache:
      stream(code.uops, cached_per_cycle_, delivery);
      return first;
    case Source::loop:
      stream(code.uops, issue_width_, delivery);
      return first;
    case Source::sequencer:
      stream(code.uops, sequencer_uops_per_cycle, delivery);
      return first;
    case Source::decoders:
    case Source::none:
      break;
  }
  decode(code, delivery);
  return clock_;
}

}  // namespace pmusim

#endif
