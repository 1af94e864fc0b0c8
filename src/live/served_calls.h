// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_SERVED_CALLS_H
#define PMUSIM_SRC_LIVE_SERVED_CALLS_H

#include "live/event_descriptor.h"
#include "live/kernels_events.h"
#include "live/listener.h"
#include "live/machine_view.h"
#include "live/msr_device.h"
#include "live/tasks.h"

namespace pmusim::live {

/// The system calls that concern perf events, answered by the emulated perf core: perf_event_open, and what
/// programs do with its descriptors. All others are the kernel's.
class ServedCalls {
 public:
  /// `users`: the user namespace whose root may observe CPUs.
  ServedCalls(EmulatedMachine& machine, Tasks& tasks, Listener& listener, NumberRange numbers,
              const perf::Limits& limits, u64 registers, const FileIdentity& users);
  ServedCalls(const ServedCalls&) = delete;
  ServedCalls& operator=(const ServedCalls&) = delete;

  void serve(const Call& call);
  /// Closes what no process has open any more.
  void close_abandoned();
  /// Tells pollers of events whose tasks have ended.
  void hang_up_ended();
  /// Makes descriptors unreadable again whose reader has taken everything.
  void calm_read();
  /// Whether readers have been woken and have not taken everything yet.
  bool readers_are_awake() const;

  /// From now on events that nothing here can produce are opened, and count nothing.
  void let_uncounted_read_zero() { uncounted_reads_zero_ = true; }
  /// Why they count nothing, each once.
  const std::vector<std::string>& read_zero() const { return read_zero_; }

  u64 served() const { return served_; }
  /// Why perf_event_open has failed, and how often for that reason.
  const std::map<std::string, u64>& refusals() const { return refusals_; }

 private:
  /// A result or a negative errno; nothing: the kernel is to execute the call.
  using Answer = std::optional<i64>;

  /// A mapped buffer's pages, as long as the perf core has it.
  struct Buffer {
    std::weak_ptr<perf::RingBuffer> ring;
    FileDescriptor file;
  };

  Answer open(const Call& call);
  i64 refuse(const KernelError& error);
  Answer open_kernels(const Call& call, std::span<const std::byte> attr);
  EventDescriptor* take_over_group(const Call& call, u32 number);
  EventDescriptor* take_over(const Call& call, const KernelsEvent& kernels, perf::Event* leader);
  bool shares_buffer(const Call& call, const perf::Attr& attr);
  i64 open_here(const Call& call, const perf::Attr& attr, perf::Event* leader);
  Result<perf::Event*, KernelError> make_event(const perf::Attr& attr, perf::Event* leader,
                                               const CountedTasks& counted, u32 opener);
  Result<perf::Event*, KernelError> open_event(const perf::Attr& attr, perf::Event* leader,
                                               const CountedTasks& counted);
  Result<Done, KernelError> watch(const CountedTasks& counted, u32 opener);
  Result<CountedTasks, KernelError> find_cgroup(const perf::Attr& attr, CountedTasks counted, u32 opener);
  i64 give_descriptor(const Call& call, perf::Event& event);

  void access_registers(const Call& call);
  void change_affinity(const Call& call);
  i64 set_affinity(const Call& call);
  i64 tell_affinity(const Call& call) const;
  Answer switch_all(const Call& call);
  void rename(const Call& call);

  Answer on_descriptor(const Call& call, EventDescriptor& descriptor);
  i64 read(const Call& call, perf::Event& event, u64 address, std::size_t bytes);
  i64 read_vector(const Call& call, perf::Event& event);
  Answer control(const Call& call, EventDescriptor& descriptor);
  i64 set_period(const Call& call, perf::Event& event);
  i64 set_output(const Call& call, perf::Event& event);
  i64 tell_id(const Call& call, const perf::Event& event);
  i64 modify_attributes(const Call& call, perf::Event& event);
  Answer file_control(const Call& call, EventDescriptor& descriptor);
  void switch_signals(EventDescriptor& descriptor, bool on);
  i64 duplicate(const Call& call, const EventDescriptor& descriptor, u64 lowest, AtExec at_exec);

  void map(const Call& call, EventDescriptor& descriptor);
  i64 file_to_map(const Call& call, EventDescriptor& descriptor);
  Buffer* buffer_of(const perf::Event& event);
  i64 make_buffer(const Call& call, perf::Event& event);
  bool maps(u32 tid, const Buffer& buffer) const;

  u32 free_number(u32 tid, u64 lowest) const;
  void wake_readers(const perf::RingBuffer* buffer);
  void signal_overflow(const perf::Event& event);

  EmulatedMachine& machine_;
  Tasks& tasks_;
  Listener& listener_;
  NumberRange numbers_;
  perf::Limits limits_;
  MsrDevice registers_;
  FileIdentity users_;
  EventDescriptors descriptors_;
  KernelsEvents kernels_;
  std::vector<Buffer> buffers_;
  u64 served_ = 0;
  std::map<std::string, u64> refusals_;
  bool uncounted_reads_zero_ = false;
  std::vector<std::string> read_zero_;
};

}  // namespace pmusim::live

#endif
