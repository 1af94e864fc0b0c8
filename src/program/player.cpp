// SPDX-License-Identifier: MIT
#include <array>
#include <utility>

#include "cpu/memory_signals.h"
#include "pmusim/cpu/retirement.h"
#include "program/layout.h"

namespace pmusim::program {

namespace {

constexpr unsigned line_shift = 6;

constexpr u64 line_of(u64 address) { return address >> line_shift; }

/// The program's own cache: each line has one place.
class Cache {
 public:
  /// Where the line is found; it is here from now on.
  CacheLevel touch(u64 line) {
    u64& place = lines_[line % lines_.size()];
    return std::exchange(place, line + 1) == line + 1 ? CacheLevel::l1 : CacheLevel::memory;
  }
  void flush(u64 line) {
    u64& place = lines_[line % lines_.size()];
    if (place == line + 1) place = 0;
  }

 private:
  std::array<u64, 512> lines_{};  // number + 1; 0: nothing is here
};

/// What a core with three levels of caches asks of the outer ones.
void add_requests(CacheLevel level, Quantities& quantities) {
  const auto add = [&](Quantity which) { ++quantities[static_cast<unsigned>(which)]; };
  if (level >= CacheLevel::l2) add(Quantity::l2_requests);
  if (level >= CacheLevel::l3) {
    add(Quantity::l2_misses);
    add(Quantity::llc_references);
  }
  if (level == CacheLevel::memory) add(Quantity::llc_misses);
}

}  // namespace

u32 load_latency_cycles(CacheLevel level) {
  switch (level) {
    case CacheLevel::l1:
      return 5;
    case CacheLevel::fill_buffer:
    case CacheLevel::l2:
      return 14;
    case CacheLevel::l3:
      return 42;
    case CacheLevel::memory:
      return 220;
  }
  return 5;
}

class Player::State {
 public:
  State(const Program& program, Start start)
      : placed_(lay_out(program, start.ip)),
        executed_(placed_.size()),
        cycle_(start.cycle),
        cpl_(start.cpl),
        end_(placed_.begin()) {
    while (end_->what != Placed::What::stop) ++end_;
  }

  const Retirement* next();
  u64 end_ip() const { return end_->ip; }

 private:
  struct Return {
    std::size_t place;
    Cpl cpl;
  };

  void retire_plain(const Placed& here);
  void access(const Placed& here);
  void branch(const Placed& here);
  BranchOutcome outcome(const Placed& here);
  std::size_t target(const Placed& here);
  void advance() { ++place_; }

  std::vector<Placed> placed_;
  std::vector<u64> executed_;  // how often each has
  u64 cycle_;
  Cpl cpl_;
  std::vector<Placed>::const_iterator end_;
  std::size_t place_ = 0;
  u64 in_row_ = 0;        // instructions of a row that have retired
  u64 extra_cycles_ = 0;  // that the next instruction is late
  std::vector<Return> returns_;
  Cache cache_;
  Retirement retirement_;
  MemoryAccess access_;
};

const Retirement* Player::State::next() {
  const Placed& here = placed_[place_];
  if (here.what == Placed::What::stop) return nullptr;
  retirement_ = {.ip = here.ip,
                 .next_ip = here.ip + instruction_bytes,
                 .signals = {Signal::instruction},
                 .length = instruction_bytes,
                 .branch = here.branch,
                 .cpl = cpl_,
                 .cpl_after = cpl_,
                 .latency_cycles = 1};
  retirement_.quantities[static_cast<unsigned>(Quantity::uops)] = 1;
  const u64 before = cycle_;
  cycle_ += 1 + std::exchange(extra_cycles_, 0);
  switch (here.what) {
    case Placed::What::plain:
      retire_plain(here);
      break;
    case Placed::What::access:
      access(here);
      break;
    case Placed::What::flush:
      cache_.flush(line_of(here.data.address));
      advance();
      break;
    default:
      branch(here);
  }
  retirement_.cycle = cycle_;
  retirement_.retire_latency_cycles = static_cast<u32>(cycle_ - before);
  return &retirement_;
}

void Player::State::retire_plain(const Placed& here) {
  retirement_.ip += in_row_ * instruction_bytes;
  retirement_.next_ip += in_row_ * instruction_bytes;
  if (++in_row_ < here.count) return;
  in_row_ = 0;
  advance();
}

void Player::State::access(const Placed& here) {
  const Data& data = here.data;
  const u64 address = data.address + executed_[place_]++ * static_cast<u64>(data.stride_bytes);
  const u64 first = line_of(address), last = line_of(address + (data.bytes != 0 ? data.bytes - 1 : 0));
  CacheLevel level = cache_.touch(first);
  if (last != first) level = std::max(level, cache_.touch(last));
  access_ = {.address = address,
             .bytes = data.bytes,
             .kind = here.kind,
             .level = data.level.value_or(level),
             .tlb = data.tlb};
  access_.latency_cycles = load_latency_cycles(access_.level);
  retirement_.signals =
      retirement_.signals | access_signals(access_, first != last ? Lines::several : Lines::one);
  add_requests(access_.level, retirement_.quantities);
  if (here.kind == AccessKind::load) {
    retirement_.signals.add(Signal::load);
    retirement_.latency_cycles = access_.latency_cycles;
    cycle_ += access_.latency_cycles - 1;
  } else {
    retirement_.signals.add(Signal::store);
  }
  retirement_.memory = std::span(&access_, 1);
  advance();
}

BranchOutcome Player::State::outcome(const Placed& here) {
  const u64 execution = executed_[place_]++;
  if (here.what == Placed::What::loop_end && execution % here.count + 1 != here.count) return {.taken = true};
  if (here.outcomes.empty()) return {.taken = true};
  const char letter = here.outcomes[execution % here.outcomes.size()];
  return {.taken = letter == 'T' || letter == 't', .mispredicted = letter == 't' || letter == 'n'};
}

/// Where a branch that is taken goes; calls and returns leave their marks.
std::size_t Player::State::target(const Placed& here) {
  if (here.what == Placed::What::call) {
    returns_.push_back({place_ + 1, cpl_});
    if (here.branch == BranchKind::syscall) cpl_ = Cpl::kernel;
  }
  if (here.what != Placed::What::leave) return here.target;
  const Return to = returns_.back();
  returns_.pop_back();
  cpl_ = to.cpl;
  return to.place;
}

void Player::State::branch(const Placed& here) {
  const BranchOutcome what = outcome(here);
  retirement_.taken = what.taken;
  retirement_.mispredicted = what.mispredicted;
  retirement_.signals =
      retirement_.signals | branch_signals(here.branch) | outcome_signals(here.branch, what);
  if (what.mispredicted) extra_cycles_ = mispredict_cycles;
  place_ = what.taken ? target(here) : place_ + 1;
  retirement_.next_ip = placed_[place_].ip;
  retirement_.cpl_after = cpl_;
}

Player::Player(const Program& program, Start start) : state_(std::make_unique<State>(program, start)) {}
Player::Player(Player&&) noexcept = default;
Player& Player::operator=(Player&&) noexcept = default;
Player::~Player() = default;

const Retirement* Player::next() { return state_->next(); }
u64 Player::end_ip() const { return state_->end_ip(); }

}  // namespace pmusim::program
