// SPDX-License-Identifier: MIT
#include "host/watched_program.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "cpu/clocks.h"
#include "host/kernel_clock.h"
#include "pmusim/trace/trace.h"
#include "session/task_placement.h"

namespace pmusim::linux_driver {

namespace {

constexpr u64 tick_ns = 1'000'000;

/// What the kernel has to learn as a program runs, and where its threads run: they take turns, one at a time.
class KernelSide {
 public:
  KernelSide(KernelMachine& machine, std::optional<Schedule> schedule)
      : machine_(machine), clocks_(machine.cpus()) {
    if (schedule) placement_.emplace(machine.topology(), *schedule);
  }

  std::function<void()> on_pause = [] {};
  std::function<void(const trace::Mapping&)> on_mapping = [](const trace::Mapping&) {};
  /// The program goes on on another CPU.
  std::function<void(u32)> on_move = [](u32) {};

  /// The first process runs, before its program is there.
  void start(const trace::ProcessStart& first);
  void finished(const trace::BlockRun& run) {
    frame_.registers_known = !run.registers.empty();
    if (frame_.registers_known) frame_.registers = run.registers.back();
    frame_.registers.rip = run.next_ip;
    if (now() >= deadline_ns_) run_due_work();
    if (placement_) move_after_tick();
  }
  void on_side_band(const trace::SideBandRecord& record) {
    const u32 before = cpu();
    if (placement_) place(record);
    machine_.set_time(now());
    std::visit([this](const auto& what) { tell(what); }, record);
    run_due_work();
    if (cpu() != before) on_move(cpu());
  }
  void run_due_work();
  void replug_at(u64 time_ns) { replug_ns_ = time_ns; }
  u32 pid() const { return pid_; }

 private:
  u64 now() const { return machine_.running().time_of_pmu(); }
  /// That runs the program.
  u32 cpu() const { return machine_.running().number(); }

  void replug();
  void place(const trace::SideBandRecord& record);
  void move_after_tick();
  void switch_to(u32 pid, u32 tid, u32 cpu, bool preempted);
  void halt_until(u32 cpu, u64 tsc);
  void bring_up_idle();
  /// Another thread, or nobody, runs from now on: interrupts that are on their way come before.
  void leave() { machine_.pmu().take_interrupts(frame_); }
  void tell(const trace::ProcessStart& start);
  void tell(const trace::ThreadStart& start) {
    linux_fork(static_cast<int>(start.parent_tid), static_cast<int>(start.pid), static_cast<int>(start.tid));
  }
  void tell(const trace::ThreadExit& exit) {
    if (exit.tid == tid_) leave();
    linux_exit(static_cast<int>(exit.tid));
  }
  void tell(const trace::ThreadSwitch& to) {
    switch_to(to.pid, to.tid, placement_ ? placement_->place(to.tid) : cpu(), false);
  }
  void tell(const trace::Map& map);
  void tell(const trace::Unmap&) {}
  void tell(const trace::Syscall&) {}
  void tell(const trace::SignalDelivery& delivery) { frame_.registers.rip = delivery.handler; }
  void tell(const trace::Interrupt&) {}  // of traces with ring 0, which are refused; so is the next
  void tell(const trace::ThreadName&) {}

  KernelMachine& machine_;
  InterruptFrame frame_;
  std::vector<KernelClock> clocks_;         // by CPU
  std::optional<TaskPlacement> placement_;  // on a machine
  u64 ticks_ = 0;                           // when it was looked at last where the thread is to run
  u64 deadline_ns_ = 0;
  u32 pid_ = 0, tid_ = 0;
  bool started_ = false;
  u64 replug_ns_ = ~u64{0};
};

/// Nobody runs on a CPU that goes.
void KernelSide::replug() {
  replug_ns_ = ~u64{0};
  linux_switch_to(0, 0);
  if (linux_cpu_down(0) != 0 || linux_cpu_up(0) != 0) host_print("the kernel refuses to take its CPU down\n");
  linux_switch_to(static_cast<int>(tid_), 0);
}

void KernelSide::run_due_work() {
  const kernel_frame frame = frame_of(frame_);
  linux_set_user_frame(&frame);
  const u64 now_ns = now();
  clocks_[cpu()].run(machine_, now_ns, frame);
  if (now_ns >= replug_ns_) replug();
  linux_run_deferred(&frame);
  deadline_ns_ = clocks_[cpu()].next_deadline();
  bring_up_idle();
  on_pause();
}

/// Idle until the time-stamp counter shows so much, ticks included.
void KernelSide::halt_until(u32 number, u64 tsc) {
  InterruptFrame idle;
  idle.cpl = Cpl::kernel;
  const kernel_frame frame = frame_of(idle);
  const KernelCpu& halted = machine_.cpu(number);
  const OnCpu here(number);
  halted.pmu().halt_until(tsc_clock(halted.model().core).cycle_of(tsc), idle);
  clocks_[number].run(machine_, halted.time_of_pmu(), frame);
  linux_run_deferred(&frame);
}

void KernelSide::bring_up_idle() {
  const u64 tsc = machine_.pmu().tsc();
  for (const u32 other : machine_.topology().online())
    if (other != cpu()) halt_until(other, tsc);
}

/// Who ran until now leaves an idle CPU behind where the next one runs on another.
void KernelSide::switch_to(u32 pid, u32 tid, u32 to, bool preempted) {
  if (to != cpu() || tid != tid_) leave();
  if (to != cpu()) {
    machine_.set_time(now());
    linux_switch_to(0, preempted ? 1 : 0);
    halt_until(to, machine_.pmu().tsc());
    linux_enter_cpu(to);
  }
  pid_ = pid;
  tid_ = tid;
  linux_switch_to(static_cast<int>(tid), preempted ? 1 : 0);
}

void KernelSide::place(const trace::SideBandRecord& record) {
  if (const auto* const start = std::get_if<trace::ThreadStart>(&record))
    placement_->start(start->tid, start->parent_tid);
  if (const auto* const exit = std::get_if<trace::ThreadExit>(&record)) placement_->exit(exit->tid);
}

void KernelSide::move_after_tick() {
  const u64 ticks = now() / tick_ns;
  if (ticks == std::exchange(ticks_, ticks)) return;
  const u32 to = placement_->after_tick(tid_);
  if (to == cpu()) return;
  switch_to(pid_, tid_, to, true);
  run_due_work();
  on_move(to);
}

void KernelSide::start(const trace::ProcessStart& first) {
  started_ = true;
  linux_task_started(static_cast<int>(first.pid), static_cast<int>(first.tid), first.command.c_str());
  tell(trace::ThreadSwitch{.pid = first.pid, .tid = first.tid});
}

void KernelSide::tell(const trace::ProcessStart& start) {
  if (!started_) this->start(start);
  linux_exec(static_cast<int>(start.tid), start.command.c_str());
}

void KernelSide::tell(const trace::Map& map) {
  constexpr u32 map_shared = 1;
  const trace::Mapping& m = map.mapping;
  const u32 tid = map.pid == pid_ ? tid_ : map.pid;
  linux_map(static_cast<int>(tid), m.start, m.bytes, m.file_offset, m.protection,
            (m.flags & map_shared) != 0 ? 1 : 0, m.path.c_str());
  on_mapping(m);
}

}  // namespace

/// A source that forwards its items to the kernel: side-band records before the replay does, blocks when they
/// have retired.
class WatchedProgram::ForwardingSource final : public trace::Source {
 public:
  ForwardingSource(std::unique_ptr<trace::Source> source, KernelMachine& machine,
                   std::optional<Schedule> schedule)
      : kernel(machine, schedule), source_(std::move(source)) {
    machine.read_user = [this](u64 address, std::size_t bytes) {
      return source_->code(kernel.pid(), address, bytes);
    };
  }

  KernelSide kernel;

  /// The first process runs on a machine before its program is there: its thread.
  Result<u32, Error> begin();

  const trace::Contents& contents() const override { return source_->contents(); }
  std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const override {
    return source_->code(pid, address, bytes);
  }
  std::vector<std::byte> memory(u32 pid, u64 address, std::size_t bytes) const override {
    return source_->memory(pid, address, bytes);
  }
  std::optional<u64> length() const override { return source_->length(); }
  const std::optional<std::string>& truncation() const override { return source_->truncation(); }

  Result<trace::Items, Error> read() override {
    if (running_ != nullptr) kernel.finished(*std::exchange(running_, nullptr));
    const auto item = next_item();
    if (!item.ok() || !item->has_value()) return trace::items_of(item);
    running_ = std::get_if<trace::BlockRun>(&**item);
    if (running_ == nullptr) kernel.on_side_band(std::get<trace::SideBandRecord>(**item));
    return item->items();
  }

 private:
  Result<trace::NextItem, Error> next_item() {
    if (read_before_.has_value()) return std::exchange(read_before_, trace::NextItem());
    return source_->next();
  }

  std::unique_ptr<trace::Source> source_;
  trace::NextItem read_before_;  // by begin()
  const trace::BlockRun* running_ = nullptr;
};

Result<u32, Error> WatchedProgram::ForwardingSource::begin() {
  const auto item = source_->next();
  if (!item.ok()) return Failure(item.error());
  const auto* const record = item->has_value() ? std::get_if<trace::SideBandRecord>(&**item) : nullptr;
  const auto* const first = record != nullptr ? std::get_if<trace::ProcessStart>(record) : nullptr;
  if (first == nullptr)
    return Failure(Error("the trace does not begin with a process, which a machine of many CPUs needs"));
  read_before_ = *item;
  kernel.start(*first);
  return first->tid;
}

WatchedProgram::WatchedProgram(WatchedProgram&&) noexcept = default;
WatchedProgram::~WatchedProgram() = default;

Result<WatchedProgram, Error> WatchedProgram::open(const std::string& trace_path, KernelMachine& machine,
                                                   std::optional<Schedule> schedule) {
  auto reader = trace::Reader::open(trace_path);
  if (!reader.ok()) return Failure(reader.error());
  if (reader->contents().kernel)
    return Failure(Error(trace_path +
                         ": holds code at ring 0, and the kernel here has none of another one's; expected "
                         "a trace of user mode"));
  auto source = std::make_unique<ForwardingSource>(std::make_unique<trace::Reader>(std::move(reader).value()),
                                                   machine, schedule);
  WatchedProgram program;
  program.source_ = source.get();
  auto replay = Replay::open(std::move(source), machine.topology());
  if (!replay.ok()) return Failure(replay.error());
  program.replay_ = std::make_unique<Replay>(std::move(replay).value());
  for (u32 cpu = 0; cpu < machine.cpus(); ++cpu) program.replay_->attach(machine.cpu(cpu).pmu(), cpu);
  program.source_->kernel.on_move = [replay = program.replay_.get()](u32 cpu) { replay->run_on(cpu); };
  if (schedule) {
    const auto first = program.source_->begin();
    if (!first.ok()) return Failure(first.error());
    program.first_thread_ = *first;
  }
  program.replay_->run_on(machine.running().number());
  return program;
}

void WatchedProgram::on_pause(std::function<void()> callback) {
  source_->kernel.on_pause = std::move(callback);
}
void WatchedProgram::replug_at(u64 time_ns) { source_->kernel.replug_at(time_ns); }
void WatchedProgram::on_mapping(std::function<void(const trace::Mapping&)> callback) {
  source_->kernel.on_mapping = std::move(callback);
}

Result<u64, Error> WatchedProgram::run() {
  auto retired = replay_->run();
  source_->kernel.run_due_work();
  return retired;
}

}  // namespace pmusim::linux_driver
