// SPDX-License-Identifier: MIT
#include "session/thread_counts.h"

#include <algorithm>

namespace pmusim {

namespace {

/// What `now` has more than `before`, added to `sum`.
void add_difference(EventTotal& sum, const EventTotal& now, const EventTotal& before) {
  sum.counted += now.counted - before.counted;
  sum.enabled_ns += now.enabled_ns - before.enabled_ns;
  sum.running_ns += now.running_ns - before.running_ns;
}

}  // namespace

bool ThreadCounts::matters(const trace::SideBandRecord& record) {
  return std::holds_alternative<trace::ThreadSwitch>(record) ||
         std::holds_alternative<trace::ProcessStart>(record) ||
         std::holds_alternative<trace::ThreadStart>(record) ||
         std::holds_alternative<trace::ThreadName>(record);
}

void ThreadCounts::on_side_band(const trace::SideBandRecord& record, const std::vector<EventTotal>& now) {
  if (const auto* const start = std::get_if<trace::ProcessStart>(&record)) {
    rename(start->tid, start->command);
    if (before_.empty()) before_ = now;
    if (threads_.empty()) run(start->pid, start->tid);
  } else if (const auto* const named = std::get_if<trace::ThreadName>(&record)) {
    rename(named->tid, named->name);
  } else if (const auto* const thread = std::get_if<trace::ThreadStart>(&record)) {
    commands_[thread->tid] = commands_[thread->parent_tid];
  } else if (const auto* const to = std::get_if<trace::ThreadSwitch>(&record)) {
    attribute(now);
    run(to->pid, to->tid);
  }
}

void ThreadCounts::attribute(const std::vector<EventTotal>& now) {
  if (running_ < threads_.size())
    for (std::size_t i = 0; i < now.size(); ++i)
      add_difference(threads_[running_].events[i], now[i], before_[i]);
  before_ = now;
}

void ThreadCounts::run(u32 pid, u32 tid) {
  const auto found = std::ranges::find_if(
      threads_, [&](const ThreadTotals& thread) { return thread.pid == pid && thread.tid == tid; });
  running_ = static_cast<std::size_t>(found - threads_.begin());
  if (found != threads_.end()) return;
  ThreadTotals& thread = threads_.emplace_back(ThreadTotals{commands_[tid], pid, tid, before_});
  for (EventTotal& total : thread.events) total.counted = total.enabled_ns = total.running_ns = 0;
}

void ThreadCounts::rename(u32 tid, std::string command) {
  for (ThreadTotals& thread : threads_)
    if (thread.tid == tid) thread.command = command;
  commands_[tid] = std::move(command);
}

}  // namespace pmusim
