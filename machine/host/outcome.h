// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_HOST_OUTCOME_H
#define PMUSIM_MACHINE_HOST_OUTCOME_H

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmusim::machine {

/// What comes out of the guest (guest/channel.h), as it comes: the command's output goes to ours, and files
/// that it has written appear in its folder when they are whole, under a name of their own until then.
class Outcome {
 public:
  /// Files of the guest's `folder` go into `destination`.
  Outcome(std::filesystem::path folder, std::filesystem::path destination);
  ~Outcome();
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;

  /// The next bytes.
  void take(std::string_view bytes);

  bool started() const { return started_; }
  /// Exit status of the command; nothing if it has not ended.
  std::optional<int> exit_status() const { return exit_status_; }
  /// Why the command could not be run; empty if it could.
  const std::string& failure() const { return failure_; }
  const std::vector<std::filesystem::path>& files() const { return files_; }
  const std::string& notes() const { return notes_; }
  const std::string& symbols() const { return symbols_; }

 private:
  void frame(char kind, std::string_view contents);
  void begin_file(std::string_view contents);
  void end_file();

  std::filesystem::path folder_, destination_;
  std::string waiting_;
  std::ofstream file_;
  std::filesystem::path file_path_;
  std::uint32_t file_mode_ = 0;
  bool started_ = false;
  std::optional<int> exit_status_;
  std::string failure_, notes_, symbols_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace pmusim::machine

#endif
