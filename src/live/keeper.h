// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_KEEPER_H
#define PMUSIM_SRC_LIVE_KEEPER_H

#include <functional>
#include <optional>

#include "live/file_descriptor.h"
#include "pmusim/base/types.h"

namespace pmusim::live {

/// The process between this one and the program. Whatever the program leaves behind becomes its child (it is
/// a subreaper), so that nothing goes on without the supervisor, whose filter would fail its calls: at the
/// end of the program it ends the rest with SIGTERM and, a second later, SIGKILL; when the supervisor is
/// killed, with SIGKILL at once.
///
/// It tells how the program has ended, since only a parent hears of that.
class Keeper {
 public:
  /// Starts it, and the program as its child: `become` executes the program and does not return. Errors: no
  /// more processes or files.
  static Result<Keeper, Error> start(const std::function<void(u32 keeper)>& become);
  Keeper(Keeper&& other) noexcept = default;
  Keeper& operator=(Keeper&& other) = delete;
  /// Ends what is left, and waits for that.
  ~Keeper();

  /// Whose descendants all are that the program starts.
  u32 process() const { return keeper_; }
  /// Of the program.
  u32 program() const { return program_; }
  /// Readable once the program has ended.
  int number() const { return socket_.number(); }
  /// The program's status, as waitpid gives it; waits for it.
  int status() const;

 private:
  Keeper(FileDescriptor socket, u32 keeper, u32 program)
      : socket_(std::move(socket)), keeper_(keeper), program_(program) {}

  FileDescriptor socket_;
  u32 keeper_, program_;
};

}  // namespace pmusim::live

#endif
