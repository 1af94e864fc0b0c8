// SPDX-License-Identifier: MIT
#include <algorithm>

#include "perf/callchain.h"
#include "perf/frequency.h"
#include "perf/linux_core.h"
#include "perf/sample_template.h"
#include "perf/throttle.h"

/// What the core does with a sample: periods, limits, throttling, and the record.
namespace pmusim::perf {

using Verdict = SampleSink::Verdict;

Verdict LinuxCore::account_interrupt(CpuContext& cpu, Event& event) {
  Verdict verdict = Verdict::keep;
  if (event.hw.interrupts_sequence != cpu.ticks) {
    event.hw.interrupts_sequence = cpu.ticks;
    event.hw.interrupts = 1;
  } else if (event.hw.interrupts != throttled) {
    ++event.hw.interrupts;
  }
  if (throttles(event) && event.hw.interrupts >= max_samples_per_tick()) {
    throttle(cpu, event);
    verdict = Verdict::stop;
  }
  if (event.attr.freq) adjust_on_overflow(cpu, event);
  return verdict;
}

/// A program that each overflow signals gets no further where its handler takes longer than the period.
bool LinuxCore::throttles(const Event& event) const {
  return options_.throttling == Throttling::on || signalling_.contains(&event.original());
}

ThrottleScope LinuxCore::throttle_scope() const {
  return has(options_.limits.kernel, change::group_throttling) ? ThrottleScope::group : ThrottleScope::event;
}

/// Of a group all are stopped here, in its order. An event alone is left to the driver, which stops it once
/// its sample is written.
void LinuxCore::throttle(CpuContext& cpu, Event& event) {
  cpu.throttled_since_tick = true;
  const ThrottleScope scope = throttle_scope();
  for_throttled(event, scope, [&](Event& member) {
    member.hw.interrupts = throttled;
    if (scope == ThrottleScope::group) member.pmu->stop(member, PmuDriver::StopMode::plain);
    log_throttle(cpu, member, RecordType::throttle);
  });
}

/// Of a group only the leader tells.
void LinuxCore::log_throttle(const CpuContext& cpu, Event& event, RecordType type) {
  if (throttle_scope() == ThrottleScope::event || event.is_leader()) write_throttle(cpu, event, type);
}

/// On again after it was taken off throttled.
void LinuxCore::unthrottled(CpuContext& cpu, Event& event) {
  event.hw.interrupts = 0;
  log_throttle(cpu, event, RecordType::unthrottle);
}

u64 LinuxCore::max_samples_per_tick() const {
  const u64 ticks_per_second = std::max<u64>(1, 1'000'000'000 / options_.tick_ns);
  return (options_.limits.max_sample_rate + ticks_per_second - 1) / ticks_per_second;
}

/// Only intervals below two ticks say something about the present rate.
void LinuxCore::adjust_on_overflow(const CpuContext& cpu, Event& event) {
  const u64 passed = cpu.time - event.hw.frequency_time_stamp;
  event.hw.frequency_time_stamp = cpu.time;
  if (passed > 0 && passed < 2 * options_.tick_ns) adjust_period(event, passed, event.hw.last_period);
}

Verdict LinuxCore::overflow(CpuContext& cpu, Event& event, const SampleData& data,
                            const InterruptFrame& frame) {
  Verdict verdict = account_interrupt(cpu, event);
  if (event.event_limit > 0 && --event.event_limit == 0) {
    event.hung_up = true;
    cpu.to_disable.push_back(&event);
    verdict = Verdict::stop;
  }
  if (event.attr.sigtrap && sigtrap_) sigtrap_(event, data.address.value_or(0));
  write_sample(cpu, event, data, frame);
  if (overflowed_ && !event.of_kernel) overflowed_(event.original());
  return verdict;
}

namespace {

/// The registers of the task in user mode: those that were sampled, or where the kernel was, those it saved.
const Registers* user_registers(const Attr& attr, const SampleData& data, const InterruptFrame& frame,
                                const Target& target) {
  constexpr u64 instruction_pointer = bit(8);  // is known even where no other register is
  if (sampled_level(data, frame) == Cpl::kernel) return target.user_registers();
  if (data.registers) return data.registers;
  const u64 general = attr.sample_regs_user & register_mask::GENERAL;
  const bool enough = frame.registers_known || (general & ~instruction_pointer) == 0;
  return enough ? &frame.registers : nullptr;
}

}  // namespace

void LinuxCore::write_sample(CpuContext& cpu, Event& event, const SampleData& data,
                             const InterruptFrame& frame) {
  RingBuffer* ring = ring_of(event);
  if (!ring) return;
  const u64 type = event.attr.sample_type;
  SampleEnvironment environment;
  const Target& target = *cpu.target;
  environment.moment = moment_of(cpu, cpu.current);
  environment.cgroup = cgroup_of(cpu.current).id;
  if (type & sample::READ) {
    sample_read_values(event, data.counts, sample_read_);
    environment.read_values = sample_read_;
  }
  environment.user_registers = user_registers(event.attr, data, frame, target);
  environment.user_extended = data.user_extended;
  if ((type & sample::CALLCHAIN) && !data.callchain) {
    unwind(callchain_, event.attr, data, frame, target);
    environment.callchain = callchain_;
  }
  std::vector<std::byte> stack;
  if ((type & sample::STACK_USER) && environment.user_registers) {
    const u64 stack_pointer = (*environment.user_registers)[Gpr::rsp];
    stack = target.read_memory(stack_pointer, event.attr.sample_stack_user);
    environment.user_stack = stack;
  }
  if ((type & sample::DATA_PAGE_SIZE) && data.address)
    environment.data_page_size = target.page_size(*data.address);
  if ((type & sample::PHYS_ADDR) && data.address && target.has_page_tables())
    environment.physical_address = target.physical_address(*data.address).value_or(0);
  if (type & sample::CODE_PAGE_SIZE)
    environment.code_page_size = target.page_size(data.ip.value_or(frame.registers.rip));
  if (const std::optional<GuestCode> guest = target.guest()) [[unlikely]] {
    environment.guest_mode = guest->cpl == Cpl::user ? misc::GUEST_USER : misc::GUEST_KERNEL;
    SampleData in_guest = data;
    in_guest.ip = data.ip.value_or(guest->ip);
    return static_cast<void>(output_sample(*ring, event, in_guest, frame, environment));
  }
  output_sample(*ring, event, data, frame, environment);
}

std::optional<SampleTemplate> LinuxCore::sample_template(const CpuContext& cpu, const Event& event,
                                                         const InterruptFrame& frame) const {
  RingBuffer* ring = ring_of(event);
  if (ring == nullptr || !has_sample_template(event) || cpu.target->guest()) return std::nullopt;
  if ((event.attr.sample_type & sample::PHYS_ADDR) && cpu.target->has_page_tables()) return std::nullopt;
  SampleTemplate made = make_sample_template(event, moment_of(cpu, cpu.current), frame);
  made.ring = ring;
  made.clock = options_.clock;
  return made;
}

void LinuxCore::lost_samples(CpuContext& cpu, Event& event, u64 count) {
  if (RingBuffer* ring = ring_of(event))
    output_record(*ring, event, moment_of(cpu, cpu.current), LostSamplesRecord{count});
}

void LinuxCore::write_throttle(const CpuContext& cpu, Event& event, RecordType type) {
  if (RingBuffer* ring = ring_of(event))
    output_record(*ring, event, moment_of(cpu, cpu.current),
                  ThrottleRecord{type, cpu.time, event.original().id, event.id});
}

}  // namespace pmusim::perf
