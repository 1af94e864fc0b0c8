// SPDX-License-Identifier: MIT
#include "live/trace_output.h"

#include <algorithm>

#include "trace/tracee.h"

namespace pmusim::live {

Result<std::unique_ptr<TraceOutput>, Error> TraceOutput::create(const std::string& path) {
  auto writer = trace::Writer::create(path, contents);
  if (!writer.ok()) return Failure(writer.error());
  return std::unique_ptr<TraceOutput>(new TraceOutput(std::move(writer).value()));
}

void TraceOutput::write(trace::OpenBlock& open, u64 next_ip) {
  const auto [pid, tid] = present_;
  if (!processes_.contains(tid)) introduce(pid, tid);
  if (std::exchange(written_tid_, tid) != tid) put(present_);
  if (!error_) take(blocks_.write(open, next_ip));
  open.clear();
}

/// Of tasks that have not been stepped there is nothing to tell.
void TraceOutput::add_side_band(const trace::SideBandRecord& record) {
  if (const auto* to = std::get_if<trace::ThreadSwitch>(&record)) {
    present_ = *to;
  } else if (const auto* start = std::get_if<trace::ThreadStart>(&record)) {
    if (!processes_.contains(start->parent_tid)) return;
    processes_[start->tid] = start->pid;
    put(*start);
  } else if (const auto* exit = std::get_if<trace::ThreadExit>(&record)) {
    if (processes_.erase(exit->tid) == 0) return;
    if (written_tid_ == exit->tid) written_tid_ = 0;
    put(*exit);
  } else if (const auto* exec = std::get_if<trace::ProcessStart>(&record)) {
    if (!processes_.contains(exec->tid)) return;
    written_tid_ = 0;
    put(*exec);
  } else if (const auto* map = std::get_if<trace::Map>(&record)) {
    if (knows_process(map->pid)) put(*map);
  } else if (const auto* unmap = std::get_if<trace::Unmap>(&record)) {
    if (knows_process(unmap->pid)) put(*unmap);
  } else {
    put(record);
  }
}

bool TraceOutput::knows_process(u32 pid) const {
  return std::ranges::any_of(processes_, [pid](const auto& thread) { return thread.second == pid; });
}

void TraceOutput::introduce(u32 pid, u32 tid) {
  if (!knows_process(pid)) introduce_process(pid);
  if (!processes_.try_emplace(tid, pid).second) return;
  put(trace::ThreadStart{pid, tid, pid, pid});
}

/// In a trace there is one first process, and all others have a parent.
void TraceOutput::introduce_process(u32 pid) {
  if (first_pid_ == 0) first_pid_ = pid;
  const auto parent = processes_.begin();
  const bool has_parent = parent != processes_.end();
  if (pid != first_pid_)
    put(trace::ThreadStart{pid, pid, has_parent ? parent->second : first_pid_,
                           has_parent ? parent->first : first_pid_});
  processes_[pid] = pid;
  written_tid_ = 0;
  put(trace::ProcessStart{pid, pid, trace::command_of(pid), true});
  for (const trace::SideBandRecord& map : trace::AddressSpace().refresh(pid)) put(map);
}

void TraceOutput::put(const trace::SideBandRecord& record) {
  if (!error_) take(writer_.side_band(record));
}

void TraceOutput::take(const Result<Done, Error>& written) {
  if (!written.ok() && !error_) error_ = written.error();
}

Result<trace::Writer::Written, Error> TraceOutput::finish() {
  if (error_) return Failure(*error_);
  if (writer_.instruction_count() == 0)
    return Failure(Error("nothing was recorded: no event has counted a task"));
  return writer_.finish();
}

}  // namespace pmusim::live
