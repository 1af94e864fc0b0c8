// SPDX-License-Identifier: MIT
#include "program/layout.h"

#include <utility>

namespace pmusim::program {

namespace {

using What = Placed::What;

constexpr u64 kernel_ip = 0xFFFFFFFF81000000;
constexpr u64 function_alignment = 16;

class Layout {
 public:
  explicit Layout(u64 ip) : user_ip_(ip) {}

  std::vector<Placed> lay_out(const Program& program) && {
    place_body(program, user_ip_);
    place({.what = What::stop}, user_ip_);
    for (std::size_t n = 0; n < waiting_.size(); ++n) place_function(waiting_[n]);
    return std::move(placed_);
  }

 private:
  /// A function that is called, and that has no place yet.
  struct Function {
    std::size_t caller = 0;
    BranchKind kind = BranchKind::none;
    const Program* body = nullptr;
    bool in_kernel = false;
  };

  std::size_t place(Placed one, u64& ip) {
    one.ip = ip;
    ip += instruction_bytes * (one.what == What::plain ? one.count : 1);
    placed_.push_back(std::move(one));
    return placed_.size() - 1;
  }

  void place_body(const Program& program, u64& ip) {
    for (const Program::Piece& piece : program.pieces())
      std::visit([&](const auto& what) { place_piece(what, ip); }, piece.what);
  }

  void place_piece(const Plain& plain, u64& ip) { place({.what = What::plain, .count = plain.count}, ip); }
  void place_piece(const Access& access, u64& ip) {
    place({.what = What::access, .kind = access.kind, .data = access.data}, ip);
  }
  void place_piece(const Flush& flush, u64& ip) {
    place({.what = What::flush, .data = {.address = flush.address}}, ip);
  }
  void place_piece(const Loop& loop, u64& ip) {
    const std::size_t first = placed_.size();
    place_body(loop.body, ip);
    place({.what = What::loop_end,
           .branch = BranchKind::conditional,
           .count = loop.iterations,
           .target = first,
           .outcomes = loop.exit == LoopExit::mispredicted ? "n" : "N"},
          ip);
  }
  void place_piece(const Around& around, u64& ip) {
    const std::size_t branch = place(
        {.what = What::branch_around, .branch = BranchKind::conditional, .outcomes = around.outcomes}, ip);
    place_body(around.body, ip);
    placed_[branch].target = placed_.size();
  }
  void place_piece(const Jump&, u64& ip) {
    const std::size_t jump = place({.what = What::jump, .branch = BranchKind::direct_jump}, ip);
    placed_[jump].target = placed_.size();
  }
  void place_piece(const Call& call, u64& ip) {
    const std::size_t caller = place({.what = What::call, .branch = call.kind}, ip);
    waiting_.push_back(
        {caller, call.kind, &call.body, call.kind == BranchKind::syscall || &ip == &kernel_ip_});
  }

  void place_function(Function function) {
    u64& ip = function.in_kernel ? kernel_ip_ : user_ip_;
    ip = (ip + function_alignment - 1) & ~(function_alignment - 1);
    placed_[function.caller].target = placed_.size();
    place_body(*function.body, ip);
    const BranchKind back =
        function.kind == BranchKind::syscall ? BranchKind::sysret : BranchKind::near_return;
    place({.what = What::leave, .branch = back}, ip);
  }

  u64 user_ip_;
  u64 kernel_ip_ = kernel_ip;
  std::vector<Placed> placed_;
  std::vector<Function> waiting_;
};

}  // namespace

std::vector<Placed> lay_out(const Program& program, u64 ip) { return Layout(ip).lay_out(program); }

}  // namespace pmusim::program
