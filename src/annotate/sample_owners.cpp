// SPDX-License-Identifier: MIT
#include "annotate/sample_owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "annotate/weights.h"

namespace pmusim::annotate {

using perf::RecordType;
using perfdata::absent_32;

Result<Done, Error> CommandHistory::take(const perfdata::RecordView& record, u64 time) {
  if (record.header.type == static_cast<u32>(RecordType::comm)) {
    const auto comm = perfdata::parse_comm(record);
    if (!comm) return Failure(comm.error());
    moments_.push_back({.time = time, .tid = comm->tid, .command = number(comm->name)});
  }
  if (record.header.type == static_cast<u32>(RecordType::fork)) {
    const auto task = perfdata::parse_task(record);
    if (!task) return Failure(task.error());
    moments_.push_back({.time = time, .tid = task->tid, .parent = task->parent_tid});
  }
  return Done{};
}

u32 CommandHistory::number(const std::string& name) {
  const auto [found, is_new] = number_of_name_.try_emplace(name, static_cast<u32>(names_.size()));
  if (is_new) names_.push_back(name);
  return found->second;
}

void CommandHistory::put_in_order() {
  std::ranges::stable_sort(moments_, {}, &Moment::time);
  for (const Moment& moment : moments_) {
    u32 command = moment.command;
    if (command == nothing) {
      const auto parent = by_tid_.find(moment.parent);
      if (moment.tid == moment.parent || parent == by_tid_.end()) continue;
      command = parent->second.back().command;
    }
    by_tid_[moment.tid].push_back({moment.time, command});
  }
  moments_.clear();
}

/// Before it was first named a task has its first name: what was running when the recording began is named
/// without a time.
u32 CommandHistory::command_of(const std::vector<Named>& history, u64 time) const {
  const auto after = std::ranges::upper_bound(history, time, {}, &Named::since);
  return after == history.begin() ? history.front().command : std::prev(after)->command;
}

u32 CommandHistory::command_at(u32 tid, u64 time) {
  if (const auto found = by_tid_.find(tid); found != by_tid_.end()) return command_of(found->second, time);
  const u32 command = number(tid == 0 ? "swapper" : fmt::format(":{}", static_cast<i32>(tid)));
  by_tid_[tid].push_back({0, command});
  return command;
}

namespace {

template <class Item>
bool allows(const std::vector<Item>& wanted, const Item& item) {
  return wanted.empty() || std::ranges::find(wanted, item) != wanted.end();
}

void count(Weights& weights, u32 event, u64 period) {
  if (weights.size() <= event) weights.resize(event + 1);
  ++weights[event].samples;
  weights[event].period += period;
}

/// Each event has its weight.
Weights complete(Weights weights, const Report& report) {
  weights.resize(report.events.size());
  return weights;
}

template <class Item>
void rank(std::vector<Item>& items) {
  std::ranges::stable_sort(items, std::greater(), [](const Item& item) { return heat_of(item.weights); });
}

}  // namespace

bool SampleOwners::is_chosen(const perfdata::SampleId& who, u64 time) {
  if (!choice_.commands.empty()) {
    const u32 command = commands_.command_at(who.tid, time);
    if (seen_.size() <= command) seen_.resize(command + 1);
    seen_[command] = true;
    if (!allows(choice_.commands, commands_.name(command))) return false;
  }
  return allows(choice_.pids, who.pid) && allows(choice_.tids, who.tid) && allows(choice_.cpus, who.cpu);
}

void SampleOwners::add(const perfdata::SampleId& who, u64 time, u32 event, u64 period) {
  if (who.tid != absent_32)
    count(tasks_[{who.pid, who.tid, commands_.command_at(who.tid, time)}], event, period);
  if (who.cpu != absent_32) count(cpus_[who.cpu], event, period);
}

void SampleOwners::tell(Report& report, const perfdata::Metadata& metadata) const {
  for (const auto& [key, weights] : tasks_) {
    const auto [pid, tid, command] = key;
    report.tasks.push_back({pid, tid, commands_.name(command), complete(weights, report)});
  }
  for (const auto& [cpu, weights] : cpus_) {
    const bool is_known = cpu < metadata.cpu_places.size();
    report.cpus.push_back(
        {cpu, is_known ? metadata.cpu_places[cpu].package : nothing, complete(weights, report)});
  }
  rank(report.tasks);
  rank(report.cpus);
}

std::vector<std::string> SampleOwners::seen() const {
  std::vector<std::string> names;
  for (u32 command = 0; command < seen_.size(); ++command)
    if (seen_[command]) names.push_back(commands_.name(command));
  return names;
}

}  // namespace pmusim::annotate
