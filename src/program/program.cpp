// SPDX-License-Identifier: MIT
#include "pmusim/program/program.h"

#include <utility>

#include "program/piece.h"

namespace pmusim::program {

Program::Program() = default;
Program::Program(const Program&) = default;
Program& Program::operator=(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

namespace {

struct Size {
  u64 operator()(const Plain& plain) const { return plain.count; }
  u64 operator()(const Loop& loop) const { return loop.body.size() + 1; }
  u64 operator()(const Around& around) const { return around.body.size() + 1; }
  u64 operator()(const Call& call) const { return call.body.size() + 2; }
  u64 operator()(const Access&) const { return 1; }
  u64 operator()(const Flush&) const { return 1; }
  u64 operator()(const Jump&) const { return 1; }
};

}  // namespace

Program& Program::add(Piece piece) {
  size_ += std::visit(Size{}, piece.what);
  pieces_.push_back(std::move(piece));
  return *this;
}

Program& Program::instructions(u64 count) { return count != 0 ? add({Plain{count}}) : *this; }
Program& Program::load(Data data) { return add({Access{AccessKind::load, data}}); }
Program& Program::store(Data data) { return add({Access{AccessKind::store, data}}); }
Program& Program::flush(u64 address) { return add({Flush{address}}); }
Program& Program::loop(u64 iterations, const Program& body, LoopExit exit) {
  return iterations != 0 ? add({Loop{iterations, exit, body}}) : *this;
}
Program& Program::branch_around(std::string outcomes, const Program& body) {
  return add({Around{outcomes.empty() ? "N" : std::move(outcomes), body}});
}
Program& Program::jump() { return add({Jump{}}); }
Program& Program::call(const Program& body, BranchKind kind) { return add({Call{kind, body}}); }
Program& Program::system_call(const Program& body) { return call(body, BranchKind::syscall); }

u64 Program::size() const { return size_; }
const std::vector<Program::Piece>& Program::pieces() const { return pieces_; }

}  // namespace pmusim::program
