// SPDX-License-Identifier: MIT
#include "core/front_end.h"

#include <algorithm>
#include <utility>

namespace pmusim {
namespace {

constexpr u64 predecoded_cycles = 4;  // of fetch that the decoders can have in store

// What a source's cycles and uops are called.
struct Account {
  Quantity uops, any, ok;
};
constexpr Account accounts[] = {
    {Quantity::none, Quantity::none, Quantity::none},
    {Quantity::uops_dsb, Quantity::dsb_cycles_any, Quantity::dsb_cycles_ok},
    {Quantity::uops_mite, Quantity::mite_cycles_any, Quantity::mite_cycles_ok},
    {Quantity::uops_ms, Quantity::ms_cycles, Quantity::none},
    {Quantity::uops_lsd, Quantity::lsd_cycles_any, Quantity::lsd_cycles_ok},
};

}  // namespace

FrontEnd::FrontEnd(const CoreParameters& p)
    : issue_width_(p.issue_width),
      queue_cycles_(p.uop_queue_entries / p.issue_width),
      cached_per_cycle_(p.uop_cache_uops_per_cycle),
      decoders_(p.decoders),
      fetch_bytes_(p.fetch_bytes),
      predecoded_per_cycle_(p.predecode_instructions),
      decoders_for_pairs_(p.decoders - (p.last_decoder_leaves_pairs != 0 && p.decoders > 1 ? 1 : 0)),
      decoder_switch_cycles_(p.decoder_switch_cycles),
      microcode_switch_cycles_(p.microcode_switch_cycles),
      length_change_cycles_(p.length_change_cycles),
      loop_(p) {
  if (p.uop_cache_lines != 0) cache_.emplace(p);
}

void FrontEnd::end_cycle() {
  clock_ += delivered_ != 0 ? 1 : 0;
  delivered_ = decoded_ = 0;
  decoding_ended_ = false;
}

void FrontEnd::change_to(Source source, SignalSet& signals, Delivery& delivery) {
  end_cycle();
  if (source == Source::decoders && source_ == Source::uop_cache) {
    clock_ += decoder_switch_cycles_;
    signals.add(Signal::dsb_to_mite);
    delivery.switch_cycles = static_cast<u16>(decoder_switch_cycles_);
  }
  if (source == Source::sequencer) {
    clock_ += microcode_switch_cycles_;
    signals.add(Signal::ms_switch);
  }
  source_ = source;
}

// Another instruction of the block at hand.
void FrontEnd::predecode(u64 block) {
  if (predecoded_per_cycle_ == 0 || block != fetched_block_) return;
  if (predecoded_++ < predecoded_per_cycle_) return;
  ++fetched_cycle_;
  predecoded_ = 1;
}

// The code's last byte is among the bytes fetched, a block a cycle. So many instructions are found in a
// cycle, and one that ends in the next block counts in the one that has its opcode, too (A. Abel and J.
// Reineke, "uiCA", ICS 2022, 4.1).
void FrontEnd::fetch(const Code& code, Delivery& delivery) {
  const u64 block = (code.ip + code.length - 1) / fetch_bytes_;
  if (block != fetched_block_) {
    predecode((code.ip + code.opcode_offset) / fetch_bytes_);
    fetched_cycle_ = std::max(fetched_cycle_ + 1, clock_ - std::min(clock_, predecoded_cycles));
    fetched_block_ = block;
    predecoded_ = 0;
  }
  predecode(block);
  if (code.length_changing_prefix) {
    fetched_cycle_ += length_change_cycles_;
    delivery.length_stall_cycles = static_cast<u16>(length_change_cycles_);
  }
}

void FrontEnd::decode(const Code& code, Delivery& delivery) {
  fetch(code, delivery);
  const unsigned most_uops = std::max({decoders_, issue_width_, most_decoded_uops});
  const bool first_alone = code.uops != 1 || code.decoding != Decoding::any;
  const bool fits = !decoding_ended_ && decoded_ < (code.may_pair ? decoders_for_pairs_ : decoders_) &&
                    delivered_ + code.uops <= most_uops && (!first_alone || decoded_ == 0);
  if (!fits) end_cycle();
  if (fetched_cycle_ > clock_) {
    end_cycle();
    clock_ = std::max(clock_, fetched_cycle_);
  }
  const bool was_full = delivered_ >= issue_width_, had_four = delivered_ >= 4;
  delivery.cycles = delivered_ == 0 ? 1 : 0;
  ++decoded_;
  delivered_ += code.uops;
  delivery.is_second = decoded_ == 2;
  delivery.completes_four = !had_four && delivered_ >= 4;
  decoding_ended_ = code.decoding == Decoding::last_of_cycle;
  delivery.full_cycles = !was_full && delivered_ >= issue_width_ ? 1 : 0;
}

FrontEnd::BlockCode FrontEnd::block_of(std::vector<Code> code) const {
  BlockCode block{.code = std::move(code), .lines = {}, .is_cachable = cache_.has_value()};
  std::vector<UopCache::Code> cached;
  for (const Code& each : block.code) {
    block.uops += each.uops;
    block.is_cachable = block.is_cachable && each.uops <= most_decoded_uops && !each.uncached;
    cached.push_back({each.ip, each.uops});
  }
  if (block.is_cachable) block.lines = cache_->lines_of(cached);
  return block;
}

// The number of instructions that come from there, one after the other.
std::size_t FrontEnd::take_cached(const BlockCode& block) {
  if (cache_->begins_window(block.start())) {
    for (const UopCache::Line& line : block.lines)
      if (!cache_->take(line)) return line.first;
    return block.code.size();
  }
  std::size_t count = 0;
  for (const Code& each : block.code) {
    if (!cache_->take(each.ip, each.uops)) break;
    ++count;
  }
  return count;
}

void FrontEnd::stream_first(const BlockCode& block, std::size_t count) {
  if (count == 0) return;
  unsigned uops = block.uops;
  for (std::size_t n = count; n < block.code.size(); ++n) uops -= block.code[n].uops;
  const Source source =
      loop_.take(block.start(), block.code[count - 1].ip, uops) ? Source::loop : Source::uop_cache;
  SignalSet signals;
  Delivery delivery;
  if (source != source_) change_to(source, signals, delivery);
  stream(uops, source == Source::loop ? issue_width_ : cached_per_cycle_, delivery);
}

// The instructions from this one on, which was not in the uop cache if the block can be there. When the first
// of them is delivered.
u64 FrontEnd::decode_rest(const BlockCode& block, std::size_t first, u64 wanted) {
  SignalSet signals;
  Delivery delivery;
  unsigned uops = 0;
  u64 begun = 0;
  for (std::size_t n = first; n < block.code.size(); ++n) {
    const Code& code = block.code[n];
    if (n != first || !block.is_cachable) {
      const u64 cycle = deliver(code, wanted + uops / issue_width_, signals, delivery);
      if (n == first) begun = cycle;
    } else {
      loop_.take(code.ip, code.uops);
      begun = deliver_from(Source::decoders, code, signals, delivery);
    }
    uops += code.uops;
  }
  return begun;
}

FrontEnd::Cycles FrontEnd::deliver(const BlockCode& block, u64 wanted) {
  catch_up(wanted);
  Cycles cycles{clock_, 0};
  std::size_t count = 0;
  if (block.is_cachable) {
    count = take_cached(block);
    stream_first(block, count);
  }
  if (count != block.code.size()) {
    const u64 decoded = decode_rest(block, count, wanted);
    if (count == 0) cycles.first = decoded;
  }
  cycles.last = clock_ - (delivered_ == 0 ? 1 : 0);
  return cycles;
}

void FrontEnd::account(const Delivery& delivery, Quantities& quantities) {
  if (delivery.source == Source::none) return;
  const Account& account = accounts[static_cast<unsigned>(delivery.source)];
  const auto add = [&](Quantity which, u32 amount) { quantities[static_cast<unsigned>(which)] += amount; };
  add(account.uops, delivery.uops);
  add(account.any, delivery.cycles);
  if (account.ok != Quantity::none) add(account.ok, delivery.full_cycles);
  if (delivery.source == Source::decoders) {
    // Who begins a cycle is at the first decoder.
    if (delivery.cycles != 0) add(Quantity::uops_first_decoder, delivery.uops);
    add(Quantity::instructions_decoded, 1);
    add(Quantity::mite_cycles_two_decoders, delivery.is_second ? 1 : 0);
    add(Quantity::mite_cycles_four_uops, delivery.completes_four ? 1 : 0);
  }
  add(Quantity::dsb_to_mite_cycles, delivery.switch_cycles);
  add(Quantity::length_stall_cycles, delivery.length_stall_cycles);
}

void FrontEnd::follow(u64 branch, u64 target) {
  loop_.follow(branch, target);
  if (cache_) cache_->end_line();
  fetched_block_ = ~u64{0};
  if (!loop_.unrolls()) end_cycle();
}

void FrontEnd::restart(u64 cycle) {
  loop_.stop();
  end_cycle();
  clock_ = std::max(clock_, cycle);
}

}  // namespace pmusim
