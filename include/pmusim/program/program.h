// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PROGRAM_PROGRAM_H
#define PMUSIM_PROGRAM_PROGRAM_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/cpu/retirement.h"

/// Programs that nobody has to record, for the tests of a driver: what they do is what you say, and so is
/// what there is to count.
///
///     using pmusim::program::Program;
///     const auto summing = Program().loop(100, Program().load({.address = 0x10000, .stride_bytes = 8}));
///     play(summing, {}, [&](const Retirement& r) { pmu.retire(r); });  // 200 instructions, 100 of them
///     loads
///
/// Every instruction is 4 bytes long, has one uop, and retires a cycle after the one before it; a load
/// retires as late as its data, and what follows a mispredicted branch 16 cycles later still. docs/library.md
/// has a table of what each piece counts.
namespace pmusim::program {

/// Where the data of loads and stores are.
struct Data {
  u64 address = 0;
  u32 bytes = 8;
  i64 stride_bytes = 0;  ///< the address moves on so far each time the instruction executes
  /// Where the access finds its line. Nothing: in the program's own cache, which holds 512 lines of 64 bytes,
  /// one for each value of address[14:6], and is empty at first; what is not there comes from memory.
  std::optional<CacheLevel> level{};
  TlbLevel tlb = TlbLevel::l1;
};

/// How the branch that closes a loop fares when the loop ends.
enum class LoopExit : u8 { predicted, mispredicted };

/// Cycles from a load's dispatch to its data, by level: those of the load itself, a hit in L1, are 5.
u32 load_latency_cycles(CacheLevel level);
inline constexpr u32 mispredict_cycles = 16;

/// A program as a value, put together from pieces that execute one after the other.
class Program {
 public:
  Program();
  Program(const Program&);
  Program& operator=(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  /// So many instructions that do nothing.
  Program& instructions(u64 count);
  /// One instruction that reads or writes memory.
  Program& load(Data data);
  Program& store(Data data);
  /// CLFLUSH: one instruction; the line leaves the program's cache.
  Program& flush(u64 address);
  /// The body `iterations` times, each closed by a conditional branch, which is taken back but for the last
  /// time. Nothing for 0 iterations.
  Program& loop(u64 iterations, const Program& body, LoopExit exit = LoopExit::predicted);
  /// A conditional branch around the body. `outcomes` says what it does, execution by execution, and begins
  /// again at its end: T taken (the body is left out), N not taken; t and n the same, mispredicted. Other
  /// letters, or none, are as N.
  Program& branch_around(std::string outcomes, const Program& body);
  /// A direct jump to the next piece.
  Program& jump();
  /// A call of a function, which lies elsewhere, executes the body and returns.
  Program& call(const Program& body, BranchKind kind = BranchKind::direct_call);
  /// SYSCALL, the body at ring 0 at a kernel's addresses, SYSRET.
  Program& system_call(const Program& body);

  /// Instructions in memory, each once however often it executes.
  u64 size() const;

  struct Piece;
  const std::vector<Piece>& pieces() const;

 private:
  Program& add(Piece piece);
  std::vector<Piece> pieces_;
  u64 size_ = 0;
};

/// Where and when a program begins.
struct Start {
  u64 ip = 0x401000;
  u64 cycle = 0;  ///< the first instruction retires in the one after
  Cpl cpl = Cpl::user;
};

/// A program on its way.
class Player {
 public:
  explicit Player(const Program& program, Start start = {});
  Player(Player&&) noexcept;
  Player& operator=(Player&&) noexcept;
  ~Player();

  /// The next instruction to retire; null when the program is over. Valid until the next call.
  const Retirement* next();
  /// Where the program ends; the instruction after it would be here.
  u64 end_ip() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Plays a program to its end; returns how many instructions it had.
template <class Sink>
u64 play(const Program& program, Start start, Sink&& sink) {
  Player player(program, start);
  u64 count = 0;
  while (const Retirement* retirement = player.next()) {
    ++count;
    sink(*retirement);
  }
  return count;
}

}  // namespace pmusim::program

#endif
