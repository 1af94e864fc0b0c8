// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PYTHON_CPU_H
#define PMUSIM_PYTHON_CPU_H

#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "module.h"
#include "program.h"

namespace pmusim::python {

/// The interrupted code at a PMI.
struct Interrupt {
  uint64_t cycle, ip, rflags;
  int ring;
  std::optional<std::vector<uint64_t>> gpr;  // where they are known
};

/// The caller's memory that a processor has, by address.
using SharedMemory = std::map<uint64_t, std::shared_ptr<const Buffer>>;

struct DestroySnapshot {
  void operator()(pmusim_snapshot* snapshot) const { pmusim_snapshot_destroy(snapshot); }
};
struct Snapshot {
  std::unique_ptr<pmusim_snapshot, DestroySnapshot> handle;
  SharedMemory shared;
  std::string model;
  uint64_t cycle;
};

/// A processor, and the functions of Python that it calls.
///
/// What feeds it may take long, and releases the GIL: other threads run meanwhile, and may not use it. What a
/// callback raises ends the feed, and comes out of the call that began it.
class Cpu {
 public:
  Cpu(const std::string& model, const py::kwargs& policies);
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;
  ~Cpu() { pmusim_destroy(cpu_); }

  uint64_t rdmsr(const py::object& name);
  void wrmsr(const py::object& name, uint64_t value) {
    done(pmusim_wrmsr(handle(), address_of(name), value));
  }
  uint64_t rdpmc(uint32_t ecx, int ring);
  uint64_t rdtsc();
  py::tuple cpuid(uint32_t leaf, uint32_t subleaf);
  uint64_t xgetbv(uint32_t ecx);
  void xsetbv(uint32_t ecx, uint64_t value) { done(pmusim_xsetbv(handle(), ecx, value)); }
  template <pmusim_xsave_instruction which>
  void xsave(uint64_t address, uint64_t features, int ring) {
    done(pmusim_xsave(handle(), which, address, features, privilege_of(ring)));
  }
  void set_control(bool pce, bool osxsave, bool ts);
  void reset() { check(pmusim_reset(handle())); }
  uint64_t now() const;
  py::object registers() const;

  void map(uint64_t address, std::size_t bytes) { check(pmusim_map(handle(), address, bytes)); }
  void map_shared(uint64_t address, const py::buffer& memory);
  void unmap(uint64_t address);
  py::bytes read(uint64_t address, std::size_t bytes);
  void write(uint64_t address, const py::buffer& data);
  /// The mapped bytes as an array; while there is one, the region stays.
  static py::array memory(const py::object& self, uint64_t address, std::size_t bytes);

  void on_pmi(const py::object& handler);
  void observe(const py::object& observer, const py::args& kinds);
  void watch(const py::args& kinds);
  /// Those that were logged since the last time.
  py::object events();

  void retire(const py::object& instructions);
  void instructions(uint64_t count, int ring);
  void wait(uint64_t cycles, int ring);
  void run(Program& program, int ring);
  uint64_t run_code(const py::buffer& code, uint64_t ip, uint64_t next_ip,
                    const std::vector<uint64_t>& addresses, int ring);
  uint64_t run_trace(const std::filesystem::path& path, uint64_t at_most, const std::vector<Cpu*>& others);

  uint32_t truth(uint64_t event_select, uint32_t extra_register, uint64_t extra);
  uint64_t true_count(uint32_t number) const;
  uint64_t assists(const std::string& outcome) const;
  uint64_t acr_reloads(uint32_t counter) const;

  Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);
  std::string compare(const Snapshot& snapshot) const;

  /// For calls of this thread. Throws Misuse while another one feeds it.
  pmusim_cpu* handle() const;
  /// Python that the hardware calls: what it raises is kept, and what comes after it is left out.
  template <class Body>
  void enter(Body body);
  /// Throws what was kept.
  void rethrow();
  bool has_raised() const { return raised_ != nullptr; }
  /// Throws BufferError where an array shows its memory, which is about to go.
  void require_no_arrays() const;

  /// While it lives, the processor is this thread's alone.
  class Use {
   public:
    explicit Use(Cpu& cpu) : cpu_(cpu), before_(cpu.user_) {
      cpu.handle();
      cpu.user_ = std::this_thread::get_id();
    }
    ~Use() { cpu_.user_ = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Cpu& cpu_;
    std::thread::id before_;
  };
  /// While it lives, no array may show its memory.
  class Exploration {
   public:
    explicit Exploration(Cpu& cpu) : use_(cpu), cpu_(cpu), shared_(cpu.shared_) { cpu.explored_ = true; }
    ~Exploration();
    Exploration(const Exploration&) = delete;
    Exploration& operator=(const Exploration&) = delete;

   private:
    Use use_;
    Cpu& cpu_;
    SharedMemory shared_;
  };

  const std::string& model() const { return model_; }
  py::object& pmi_handler() { return pmi_handler_; }
  py::object& observer() { return observer_; }

 private:
  /// Throws what an observer has raised, or what the status says.
  void done(int status);
  uint32_t address_of(const py::object& name) const;
  void set_observer(pmusim_observer function, uint64_t kinds);
  /// A long call.
  template <class Call>
  void feed(Call call);

  static void call_pmi_handler(pmusim_cpu* cpu, const pmusim_interrupt* interrupt, void* self);
  static void call_observer(pmusim_cpu* cpu, const pmusim_event* event, void* self);
  static void log_event(pmusim_cpu* cpu, const pmusim_event* event, void* self);
  static int poll(void* self);

  std::string model_;
  pmusim_cpu* cpu_;
  py::object pmi_handler_, observer_;
  std::exception_ptr raised_;
  Signals signals_;
  std::vector<pmusim_event> log_;
  SharedMemory shared_;
  std::thread::id user_;
  int arrays_ = 0;
  bool explored_ = false;
};

template <class Body>
void Cpu::enter(Body body) {
  const py::gil_scoped_acquire held;
  if (raised_) return;
  try {
    body();
  } catch (...) {
    raised_ = std::current_exception();
  }
}

}  // namespace pmusim::python

#endif
