// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_SAMPLE_OWNERS_H
#define PMUSIM_SRC_ANNOTATE_SAMPLE_OWNERS_H

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "perfdata/sample_parser.h"
#include "pmusim/annotate/report.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::annotate {

/// The commands of a file's tasks, by time.
class CommandHistory {
 public:
  /// Takes any record; those of no interest are ignored.
  Result<Done, Error> take(const perfdata::RecordView& record, u64 time);
  /// To be called after the last record.
  void put_in_order();
  /// The number of what the task was called then: of its parent, if nothing named it; ":TID" if that is not
  /// known either.
  u32 command_at(u32 tid, u64 time);
  const std::string& name(u32 command) const { return names_[command]; }

 private:
  struct Moment {
    u64 time = 0;
    u32 tid = 0, parent = 0, command = nothing;  ///< no command: a fork
  };
  struct Named {
    u64 since = 0;
    u32 command = 0;
  };
  u32 number(const std::string& name);
  u32 command_of(const std::vector<Named>& history, u64 time) const;

  std::vector<Moment> moments_;
  std::unordered_map<u32, std::vector<Named>> by_tid_;
  std::vector<std::string> names_;
  std::map<std::string, u32> number_of_name_;
};

/// Which samples are counted, and whose those are that were: by task and by CPU.
class SampleOwners {
 public:
  explicit SampleOwners(const SampleChoice& choice) : choice_(choice) {}

  CommandHistory& commands() { return commands_; }
  /// Whether a sample is asked for, written at `time`.
  bool is_chosen(const perfdata::SampleId& who, u64 time);
  /// Counts one that is. An absent pid, tid or CPU is counted nowhere.
  void add(const perfdata::SampleId& who, u64 time, u32 event, u64 period);
  /// What was counted, hottest first; `metadata` says the packages of CPUs.
  void tell(Report& report, const perfdata::Metadata& metadata) const;
  /// The commands that samples were of, chosen or not.
  std::vector<std::string> seen() const;

 private:
  using TaskKey = std::tuple<u32, u32, u32>;  ///< pid, tid, number of the command

  const SampleChoice& choice_;
  CommandHistory commands_;
  std::map<TaskKey, Weights> tasks_;
  std::map<u32, Weights> cpus_;
  std::vector<bool> seen_;  // by number of the command
};

}  // namespace pmusim::annotate

#endif
