// SPDX-License-Identifier: MIT
#include "host/machine.h"

#include <asm/prctl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/traps.h"
#include "pmusim/arch/msr.h"

// The linker names the ends of the section in which the kernel's variables are.
extern "C" std::byte __start_pmusim_kernel_data[], __stop_pmusim_kernel_data[];  // NOLINT

namespace pmusim::linux_driver {

namespace {

constexpr u64 page = 4096;
/// In the lower half and below 2^46, away from where programs and their libraries are.
constexpr u64 pages_begin = 0x10'0000'0000, pages_bytes = u64{256} << 20;
constexpr u64 structures_begin = 0x20'0000'0000, structure_bytes = 64;
constexpr u64 entry_area_begin = 0x30'0000'0000;

u64 whole_pages(u64 bytes) { return (bytes + page - 1) / page * page; }

std::span<std::byte> reserve(u64 address, u64 bytes) {
  void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  void* const got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted)
    throw std::runtime_error(fmt::format("no memory at {:#x}, where the kernel is to have its own", address));
  return {static_cast<std::byte*>(got), static_cast<std::size_t>(bytes)};
}

std::span<std::byte> pages() {
  static const std::span<std::byte> all = reserve(pages_begin, pages_bytes);
  return all;
}
std::span<std::byte> page_structures() {
  static const std::span<std::byte> all = reserve(structures_begin, pages_bytes / page * structure_bytes);
  return all;
}
std::span<std::byte> variables() {
  return {__start_pmusim_kernel_data,
          static_cast<std::size_t>(__stop_pmusim_kernel_data - __start_pmusim_kernel_data)};
}

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }
void put_back(std::span<std::byte> to, const std::vector<std::byte>& from) {
  std::copy(from.begin(), from.end(), to.begin());
}

perf::TscToNs clock_of(const CoreParameters& core) {
  constexpr u16 shift = 31;
  return {.mult = static_cast<u32>((u64{1'000'000'000} << shift) / core.tsc_hz), .shift = shift};
}

/// Save areas of the LBR: a kernel enables the component before its PMU driver starts.
void enable_supervisor_states(Pmu& pmu) {
  const CpuModel& model = pmu.model();
  if (!model.has_xsaves || model.xss == 0) return;
  static_cast<void>(pmu.wrmsr(msr::XSS, model.xss));
}

KernelMachine* machine = nullptr;

}  // namespace

namespace {

Topology lone(const CpuModel& model) {
  return {.name = model.name, .types = {model}, .cpus = {LogicalCpu{}}};
}

const Topology& with_room(const Topology& topology) {
  if (topology.cpus.size() <= linux_most_cpus()) return topology;
  throw std::runtime_error(fmt::format("{} has {} CPUs, and the kernel here is made for up to {}",
                                       topology.name, topology.cpus.size(), linux_most_cpus()));
}

}  // namespace

KernelMachine::KernelMachine(const CpuModel& model) : KernelMachine(lone(model), Machine(model), 2) {}
KernelMachine::KernelMachine(Topology topology)
    : KernelMachine(with_room(topology), Machine(topology), topology.has_smt() ? 2 : 1) {}

KernelMachine::KernelMachine(Topology topology, Machine hardware, u32 threads_per_core)
    : topology_(std::move(topology)),
      threads_per_core_(threads_per_core),
      hardware_(std::move(hardware)),
      clock_(clock_of(topology_.types.front().core)) {
  if (machine != nullptr) throw std::logic_error("a process has one kernel");
  machine = this;
  for (u32 n = 0; n < hardware_.cpus(); ++n) {
    cpus_.push_back(std::make_unique<KernelCpu>(n, hardware_.cpu(n), clock_));
    hardware_.cpu(n).set_pmi_handler(cpus_.back().get());
  }
  running_ = cpus_.front().get();
  // The kernel's pages begin at physical address 0, the entry areas are made of pages that it has elsewhere.
  if (!hardware_.map_memory(pages_begin, pages(), AddressSpace::linear) ||
      !hardware_.map_memory(0, pages(), AddressSpace::physical) ||
      !hardware_.map_memory(entry_area_begin, entry_areas(), AddressSpace::linear))
    throw std::runtime_error("the emulated machine has no room for the kernel's memory");
  catch_traps();
}

KernelMachine::~KernelMachine() { machine = nullptr; }

KernelMachine& KernelMachine::present() { return *machine; }

std::span<std::byte> KernelMachine::entry_areas() const {
  static const std::span<std::byte> all =
      reserve(entry_area_begin, whole_pages(linux_cpu_entry_area_bytes()) * linux_most_cpus());
  return all.first(whole_pages(linux_cpu_entry_area_bytes()) * cpus_.size());
}

int KernelMachine::boot() {
  const kernel_memory memory{.pages = pages_begin,
                             .page_bytes = pages_bytes,
                             .page_structures = structures_begin,
                             .cpu_entry_area = entry_area_begin};
  static_cast<void>(page_structures());
  std::vector<kernel_cpu> all;
  for (const auto& cpu : cpus_) {
    enable_supervisor_states(cpu->pmu());
    const CpuModel& m = cpu->model();
    const LogicalCpu& place = topology_.cpus[cpu->number()];
    all.push_back({.family = m.family,
                   .model = m.model,
                   .stepping = m.stepping,
                   .microcode = m.microcode_revision,
                   .package = place.package,
                   .die = place.die,
                   .core = place.core,
                   .online = place.online ? 1 : 0});
  }
  const kernel_machine made{.cpus = all.data(), .cpu_count = cpus(), .threads_per_core = threads_per_core_};
  return linux_boot(&memory, &made);
}

/// By GS base, which nothing else of a program uses.
void KernelMachine::run_on(u32 cpu, unsigned long variables) {
  running_ = cpus_.at(cpu).get();
  syscall(SYS_arch_prctl, ARCH_SET_GS, variables);
}

kernel_pmu KernelMachine::description() const {
  kernel_pmu pmu{};
  linux_describe(&pmu);
  return pmu;
}

std::byte* KernelMachine::physical(u64 address) const { return pages().subspan(address).data(); }

void KernelCpu::set_time(u64 now_ns) { now_ns_ = std::max(now_ns_, now_ns); }

void KernelCpu::handle_pmi(const InterruptFrame& frame) {
  const OnCpu here(number_);
  set_time(time_of_pmu());
  const kernel_frame interrupted = frame_of(frame);
  linux_pmi(&interrupted);
}

KernelMachine::Image KernelMachine::image() const {
  const u64 used = linux_used_bytes();
  return {.variables = copy_of(variables()),
          .pages = copy_of(pages().first(used)),
          .page_structures = copy_of(page_structures().first(used / page * structure_bytes)),
          .entry_area = copy_of(entry_areas())};
}

void KernelMachine::restore(const Image& image) {
  put_back(variables(), image.variables);
  put_back(pages(), image.pages);
  put_back(page_structures(), image.page_structures);
  put_back(entry_areas(), image.entry_area);
}

kernel_frame frame_of(const InterruptFrame& frame) {
  kernel_frame made{};
  std::copy(frame.registers.gpr.begin(), frame.registers.gpr.end(), made.gpr);
  made.ip = frame.registers.rip;
  made.flags = frame.registers.rflags;
  made.user = frame.cpl == Cpl::user ? 1 : 0;
  made.known = frame.registers_known ? 1 : 0;
  return made;
}

std::string text_of(const Trap& trap) {
  return fmt::format("{} at {}:{}", trap.is_warning ? "WARN" : "BUG", trap.file, trap.line);
}

}  // namespace pmusim::linux_driver
