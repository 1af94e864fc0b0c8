// SPDX-License-Identifier: MIT
// Any attributes, any calls on the events, tasks that come and go, and retirements between them, through the
// whole chain of perf core, driver and PMU: calls are refused or obeyed, and what is in the buffers are
// records.
#include <map>

#include "perf/ring_buffer.h"
#include "pmusim/perf/core.h"
#include "tests/support/fuzz_input.h"
#include "tests/support/whole_kernel.h"

namespace pmusim::driver {
namespace {

/// A PMU is expensive to make and cheap to copy.
const Pmu& fresh_pmu(const CpuModel& model) {
  static std::map<std::string, Pmu> made;
  const auto found = made.find(model.name);
  return found != made.end() ? found->second : made.emplace(model.name, Pmu(model)).first->second;
}

perf::CoreOptions core_options(FuzzInput& input) {
  perf::CoreOptions options;
  options.limits.ipc_lock_capable = false;
  options.limits.perfmon_capable = input.flag();
  options.throttling = input.flag() ? perf::Throttling::on : perf::Throttling::off;
  options.tick_ns = 1000;
  return options;
}

class Machine final : private WholeKernel, private perf::Target {
 public:
  Machine(FuzzInput& input, const CpuModel& model, perf::Kernel kernel)
      : WholeKernel(fresh_pmu(model), kernel, core_options(input)), input_(input) {
    cpu.set_target(*this);
    start_program();
  }

  void step() {
    switch (input_.below(8)) {
      case 0:
      case 1:
        return open();
      case 2:
        if (!events_.empty()) call(*input_.pick(events_));
        return;
      case 3:
        return add_side_band();
      case 4:
        return drain();
      case 5:
        now_ += input_.take<u16>();
        return cpu.advance(now_, frame());
      default:
        return retire(1 + input_.below(32));
    }
  }

 private:
  // --- opening

  u64 event_select() {
    const EventDefinition& event = input_.pick(pmu.model().events);
    return event.event | u64{event.umask & 0xFFu} << 8 | u64{event.umask} >> 8 << 40;
  }
  perf::Attr attr() {
    perf::Attr attr;
    attr.type = static_cast<u32>(input_.below(6));
    attr.config = attr.type == static_cast<u32>(perf::EventType::raw) ? event_select() : input_.below(12);
    if (input_.below(4) == 0) attr.config ^= input_.number();
    attr.sample_period = 1 + input_.take<u8>();
    attr.sample_type = input_.number() & perf::sample::ALL;
    attr.read_format = input_.below(perf::read_format::ALL + 1);
    attr.precise_ip = input_.below(4) & 3;
    attr.exclude_kernel = attr.exclude_hv = input_.flag();
    if (input_.flag()) attr.branch_sample_type = input_.number() & perf::branch::ALL;
    if (input_.flag()) attr.sample_regs_intr = input_.number();
    if (input_.flag()) attr.sample_regs_user = input_.number();
    if (input_.below(4) == 0) attr.config1 = input_.number();
    if (input_.below(4) == 0) attr.config2 = input_.number();
    return attr;
  }
  void open() {
    perf::Attr attr = this->attr();
    if (input_.below(4) == 0) attr.size = input_.flag() ? sizeof attr : static_cast<u32>(input_.number());
    std::vector<std::byte> bytes(input_.below(8) == 0 ? input_.below(256) : sizeof attr);
    if (!bytes.empty()) std::memcpy(bytes.data(), &attr, std::min(bytes.size(), sizeof attr));
    for (std::size_t changes = input_.below(4); changes != 0 && !bytes.empty(); --changes)
      input_.pick(bytes) ^= static_cast<std::byte>(1u << input_.below(8));
    perf::Event* const leader = events_.empty() || input_.flag() ? nullptr : input_.pick(events_);
    const i32 pid = input_.flag() ? 1 : static_cast<i32>(input_.below(4)) - 1;
    const i32 number = input_.flag() ? -1 : static_cast<i32>(input_.below(3)) - 1;
    const auto opened = core.open(bytes, pid, number, leader, input_.below(4) == 0 ? input_.number() : 0);
    if (!opened.ok()) return must(opened.error().error_number > 0 && !opened.error().message.empty());
    events_.push_back(*opened);
    if (input_.below(4) != 0) map(**opened);
  }

  // --- calls

  void map(perf::Event& event) {
    const std::size_t pages = input_.below(8) == 0 ? input_.number() : std::size_t{1} << input_.below(4);
    const auto access =
        input_.below(4) == 0 ? perf::PerfCore::Access::read_only : perf::PerfCore::Access::read_write;
    static_cast<void>(core.mmap(event, pages, access));
  }
  void call(perf::Event& event) {
    const auto scope = input_.flag() ? perf::PerfCore::Scope::group : perf::PerfCore::Scope::event;
    switch (input_.below(12)) {
      case 0:
        std::erase(events_, &event);
        return core.close(event);
      case 1:
        return map(event);
      case 2:
        return core.enable(event, scope);
      case 3:
        return core.disable(event, scope);
      case 4:
        return core.reset(event, scope);
      case 5:
        return static_cast<void>(core.refresh(event, static_cast<i64>(input_.number())));
      case 6:
        return static_cast<void>(core.set_period(event, input_.number()));
      case 7:
        return static_cast<void>(core.set_output(event, input_.flag() ? nullptr : input_.pick(events_)));
      case 8:
        return static_cast<void>(core.pause_output(event, input_.flag()));
      case 9:
        return modify(event);
      default:
        return read(event);
    }
  }
  void modify(perf::Event& event) {
    perf::Attr changed = attr();
    static_cast<void>(core.modify_attributes(event, std::as_writable_bytes(std::span(&changed, 1))));
  }
  void read(perf::Event& event) {
    std::vector<std::byte> buffer(input_.below(256));
    const auto bytes = core.read(event, buffer);
    if (bytes.ok()) must(*bytes <= buffer.size());
  }
  void drain() {
    for (perf::Event* const event : events_)
      if (event->ring != nullptr && event->ring->options().when_full == perf::RingBuffer::WhenFull::drop)
        drain(*event->ring);
  }
  static void drain(perf::RingBuffer& ring) {
    std::vector<std::byte> all;
    perf::RingReader(ring).drain([&](auto piece) { all.insert(all.end(), piece.begin(), piece.end()); });
    if (ring.options().direction == perf::RingBuffer::Direction::backward) return;
    for (std::size_t at = 0; at < all.size();) {
      perf::RecordHeader header;
      must(all.size() - at >= sizeof header);
      std::memcpy(&header, all.data() + at, sizeof header);
      must(header.size >= sizeof header && header.size % 8 == 0 && header.size <= all.size() - at);
      at += header.size;
    }
  }

  // --- what happens

  u32 task() { return 1 + static_cast<u32>(input_.below(4)); }
  void add_side_band() {
    switch (input_.below(8)) {
      case 0:
        return core.fork(task(), task(), task());
      case 1:
        return core.exec(task(), std::string(input_.below(40), 'x'));
      case 2:
        return core.set_comm(task(), std::string(input_.below(40), 'x'));
      case 3:
        return map_region();
      case 4:
        return core.exit(task());
      case 5:
        return cpu.count_software(static_cast<perf::SoftwareId>(input_.below(12)), input_.number(),
                                  input_.number(), frame());
      default:
        return cpu.switch_to(static_cast<u32>(input_.below(5)),
                             static_cast<perf::PerfCpu::SwitchReason>(input_.below(2)));
    }
  }
  void map_region() {
    const std::string name(input_.below(8) == 0 ? input_.take<u16>() : input_.below(40), 'x');
    const std::vector<std::byte> build_id(input_.below(21));
    perf::Mapping mapping{.address = input_.number(), .length = input_.number(), .name = name};
    mapping.protection = static_cast<u32>(input_.below(8));
    mapping.build_id = build_id;
    core.mmap_region(task(), mapping);
  }
  InterruptFrame frame() {
    InterruptFrame frame;
    frame.cpl = input_.flag() ? Cpl::kernel : Cpl::user;
    frame.registers.rip = input_.number();
    frame.registers_known = input_.flag();
    return frame;
  }
  void retire(std::size_t count) {
    Retirement r{.length = 2, .branch = static_cast<BranchKind>(input_.below(16)), .taken = input_.flag()};
    for (std::size_t n = input_.below(5); n != 0; --n)
      r.signals.add(static_cast<Signal>(input_.below(static_cast<std::size_t>(Signal::count_))));
    r.signals.add(Signal::instruction);
    r.cpl = input_.below(4) == 0 ? Cpl::kernel : Cpl::user;
    r.cpl_after = input_.below(4) == 0 ? Cpl::kernel : Cpl::user;
    const MemoryAccess access{.address = input_.number(), .bytes = 8, .latency_cycles = input_.take<u8>()};
    r.memory = {&access, input_.below(2)};
    if (input_.flag()) r.registers = &registers_;
    for (; count != 0; --count) {
      r.ip = 0x401000 + 16 * (count % 8);
      r.next_ip = r.ip + (r.taken ? 64 : r.length);
      r.cycle = pmu.now() + 1;
      pmu.retire(r);
    }
  }

  void handle_pmi(const InterruptFrame& frame) override {
    now_ = std::max(now_, pmu.now());
    cpu.set_time(now_);
    driver.handle_pmi(frame);
  }
  std::vector<std::byte> read_code(u64, std::size_t bytes) const override {
    const auto code = std::as_bytes(input_.bytes(std::min(bytes, input_.below(16))));
    return {code.begin(), code.end()};
  }
  const Registers* user_registers() const override { return &registers_; }

  FuzzInput& input_;
  std::vector<perf::Event*> events_;
  Registers registers_;
  u64 now_ = 0;
};

}  // namespace
}  // namespace pmusim::driver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const std::vector<std::string_view> kernels = perf::kernel_names();
  FuzzInput input(data, size);
  const CpuModel& model = input.pick(cpu_models());
  driver::Machine machine(input, model, *perf::find_kernel(input.pick(kernels)));
  while (!input.empty()) machine.step();
  return 0;
}
