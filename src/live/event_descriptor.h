// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_EVENT_DESCRIPTOR_H
#define PMUSIM_SRC_LIVE_EVENT_DESCRIPTOR_H

#include <map>
#include <optional>

#include "live/file_descriptor.h"
#include "pmusim/perf/driver.h"

namespace pmusim::live {

/// What stands for a perf event among a program's descriptors: the read end of a pipe. The kernel does with
/// it what it does with every pipe, and for readers of events that is right: a byte in it makes it readable
/// for poll, select and epoll and sends the signal that F_SETSIG asked for, no writer left means POLLHUP, and
/// once no process has it open any more (dup, fork and SCM_RIGHTS included) the other end tells.
///
/// Data never passes through it: calls that would read it are answered by the supervisor.
class EventDescriptor {
 public:
  /// Nothing where this process may open no more files. The read end is to be given away.
  struct Made;
  static std::optional<Made> make(perf::Event& event, u32 opener);

  perf::Event& event() const { return *event_; }
  u64 inode() const { return inode_; }
  u32 opener() const { return opener_; }

  /// Makes it readable, or sends the signal again: its reader is to take what is before `data_head`.
  void wake(u64 data_head);
  /// Takes back what wake() wrote, if anything.
  void calm();
  bool awake() const { return awake_; }
  u64 woken_for() const { return woken_for_; }  ///< data_head at the last wake()
  /// Nothing more will come: POLLHUP.
  void hang_up() { write_end_ = {}; }
  /// Another descriptor of the same pipe, to be given away.
  FileDescriptor read_end() const;
  /// No process has it open. After hang_up() the end of the opener tells.
  bool abandoned() const;

  /// O_ASYNC is set: each overflow sends a signal, whoever maps the event or does not.
  bool signals = false;

 private:
  EventDescriptor(perf::Event& event, u32 opener, FileDescriptor write_end, u64 inode)
      : event_(&event), opener_(opener), write_end_(std::move(write_end)), inode_(inode) {}

  perf::Event* event_;
  u32 opener_;  // tid
  FileDescriptor write_end_;
  u64 inode_;
  bool awake_ = false;
  u64 woken_for_ = 0;
};

struct EventDescriptor::Made {
  EventDescriptor descriptor;
  FileDescriptor read_end;
};

/// All of them, by the pipe's inode: it is the same whatever number a process knows it by.
class EventDescriptors {
 public:
  EventDescriptor& add(EventDescriptor descriptor);
  /// What a process has under a number, if that is one of ours.
  EventDescriptor* find(u32 tid, u64 number);
  void remove(const EventDescriptor& descriptor) { by_inode_.erase(descriptor.inode()); }

  auto begin() { return by_inode_.begin(); }
  auto end() { return by_inode_.end(); }
  auto begin() const { return by_inode_.begin(); }
  auto end() const { return by_inode_.end(); }

 private:
  std::map<u64, EventDescriptor> by_inode_;
};

}  // namespace pmusim::live

#endif
