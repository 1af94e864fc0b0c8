// SPDX-License-Identifier: MIT
#include "host/watched_program.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "host/kernel_clock.h"
#include "pmusim/trace/trace.h"

namespace pmusim::linux_driver {

namespace {

/// What the kernel has to learn as a program runs.
class KernelSide {
 public:
  explicit KernelSide(KernelMachine& machine) : machine_(machine) {}

  std::function<void()> on_pause = [] {};
  std::function<void(const trace::Mapping&)> on_mapping = [](const trace::Mapping&) {};

  void finished(const trace::BlockRun& run) {
    frame_.registers_known = !run.registers.empty();
    if (frame_.registers_known) frame_.registers = run.registers.back();
    frame_.registers.rip = run.next_ip;
    if (now() >= deadline_ns_) run_due_work();
  }
  void on_side_band(const trace::SideBandRecord& record) {
    machine_.set_time(now());
    std::visit([this](const auto& what) { tell(what); }, record);
    run_due_work();
  }
  void run_due_work();
  void replug_at(u64 time_ns) { replug_ns_ = time_ns; }
  u32 pid() const { return pid_; }

 private:
  u64 now() const { return machine_.running().time_of_pmu(); }

  void replug();
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
    if (to.tid != tid_) leave();
    pid_ = to.pid;
    tid_ = to.tid;
    linux_switch_to(static_cast<int>(to.tid), 0);
  }
  void tell(const trace::Map& map);
  void tell(const trace::Unmap&) {}
  void tell(const trace::Syscall&) {}
  void tell(const trace::SignalDelivery& delivery) { frame_.registers.rip = delivery.handler; }
  void tell(const trace::Interrupt&) {}  // of traces with ring 0, which are refused; so is the next
  void tell(const trace::ThreadName&) {}

  KernelMachine& machine_;
  InterruptFrame frame_;
  KernelClock clock_;
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
  clock_.run(machine_, now_ns, frame);
  if (now_ns >= replug_ns_) replug();
  linux_run_deferred(&frame);
  deadline_ns_ = clock_.next_deadline();
  on_pause();
}

void KernelSide::tell(const trace::ProcessStart& start) {
  const int pid = static_cast<int>(start.pid), tid = static_cast<int>(start.tid);
  if (!std::exchange(started_, true)) {
    linux_task_started(pid, tid, start.command.c_str());
    tell(trace::ThreadSwitch{.pid = start.pid, .tid = start.tid});
  }
  linux_exec(tid, start.command.c_str());
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
  ForwardingSource(std::unique_ptr<trace::Source> source, KernelMachine& machine)
      : kernel(machine), source_(std::move(source)) {
    machine.read_user = [this](u64 address, std::size_t bytes) {
      return source_->code(kernel.pid(), address, bytes);
    };
  }

  KernelSide kernel;

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
    const auto item = source_->next();
    if (!item.ok() || !item->has_value()) return trace::items_of(item);
    running_ = std::get_if<trace::BlockRun>(&**item);
    if (running_ == nullptr) kernel.on_side_band(std::get<trace::SideBandRecord>(**item));
    return item->items();
  }

 private:
  std::unique_ptr<trace::Source> source_;
  const trace::BlockRun* running_ = nullptr;
};

WatchedProgram::WatchedProgram(WatchedProgram&&) noexcept = default;
WatchedProgram::~WatchedProgram() = default;

Result<WatchedProgram, Error> WatchedProgram::open(const std::string& trace_path, KernelMachine& machine) {
  auto reader = trace::Reader::open(trace_path);
  if (!reader.ok()) return Failure(reader.error());
  if (reader->contents().kernel)
    return Failure(Error(trace_path +
                         ": holds code at ring 0, and the kernel here has none of another one's; expected "
                         "a trace of user mode"));
  auto source =
      std::make_unique<ForwardingSource>(std::make_unique<trace::Reader>(std::move(reader).value()), machine);
  WatchedProgram program;
  program.source_ = source.get();
  auto replay = Replay::open(std::move(source), machine.model());
  if (!replay.ok()) return Failure(replay.error());
  program.replay_ = std::make_unique<Replay>(std::move(replay).value());
  program.replay_->attach(machine.pmu());
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
