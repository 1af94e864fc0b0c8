// SPDX-License-Identifier: MIT
#ifndef PMUSIM_EVENTS_PARSER_H
#define PMUSIM_EVENTS_PARSER_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

/// From the names that people give to events to the attributes that perf_event_open takes:
/// @code
/// const CpuModel model = *find_cpu_model("skylake");
/// const auto groups = events::parse_events("{cycles,instructions}:u,r00c4", model);
/// if (!groups) std::cerr << groups.error().message << '\n';
/// @endcode
namespace pmusim::events {

/// One event as a person asked for it.
struct ParsedEvent {
  std::string name;  ///< what perf would show: the name with its modifiers, or the value of `name=`
  /// type, config, config1, config2, precise_ip, exclude_*, pinned, exclusive and, if given, the period.
  perf::Attr attr;
  /// What a kernel's `events/NAME.scale` says: a count is shown so many times (topdown-total-slots).
  unsigned scale = 1;
  bool sample_read = false;         ///< modifier S: the leader samples, the others are read
  bool precision_may_fall = false;  ///< modifier P: precise_ip is the highest there is, less will do
  bool weak_group = false;          ///< modifier W: fall back to single events if the group does not fit
};

/// Events that are scheduled together. A lone event is a group of one; the first leads.
struct EventGroup {
  std::vector<ParsedEvent> events;
  std::string cgroup;  ///< whose tasks are to be counted (SessionOptions::cgroups); empty: everybody's
};

/// Reads an event list in perf's syntax, for example `cycles:pp,{branch-misses/period=2000/u,r00c4}:D`:
///
/// - names: perf's generic, hardware-cache and software events, `mem-loads`, `mem-stores`, `topdown-*`;
///   vendor names in any case with `.` or `:` between event and umask, `rNNNN` for a raw event select
/// - `cpu/term,term=value/`, and a term list directly behind a name
/// - modifiers `u k h p pp ppp P G H I S D W e X` behind `:` or behind the closing slash
/// - `{a,b}:modifiers` for a group
///
/// Errors are one sentence: where in the list, what is wrong, and names that come near.
[[nodiscard]] Result<std::vector<EventGroup>, Error> parse_events(std::string_view list,
                                                                  const CpuModel& model);

/// attr.branch_sample_type of a list of filter names as `perf record -j` takes it: "any_call,u". A list of
/// privilege levels alone means any branch at them. Errors: an empty or unknown name, with near matches.
[[nodiscard]] Result<u64, Error> parse_branch_filter(std::string_view list);

/// The highest precise_ip that the model's PEBS gives (intel_pmu_hw_config); 0 without PEBS.
unsigned max_precise_level(const CpuModel& model);

// Which registers samples are to hold, in perf's names for them.

/// A comma-separated register list in perf's names ("ax,ip,r8,xmm0") as a mask for attr.sample_regs_*: bit n
/// is perf register n; an XMM register is two bits (docs/sampled-registers.md). Errors name near matches.
[[nodiscard]] Result<u64, Error> parse_registers(std::string_view list);

/// Names that parse_registers() knows, in the order of their numbers.
[[nodiscard]] std::vector<std::string> register_names();

/// What a list without names stands for: every general register.
[[nodiscard]] u64 general_registers();

/// The instruction pointer, which is known of every trace.
constexpr u64 pc_register = u64{1} << 8;

/// What a sample is to hold beyond the general registers, on one side.
struct SimdRegisters {
  u16 vector_qwords = 0;  ///< 2 XMM, 4 YMM, 8 ZMM; 0: no vector registers
  u64 vectors = 0;        ///< bit r: vector register r
  u32 predicates = 0;     ///< bit k: opmask k
  u64 general = 0;        ///< R16 to R31 and SSP, with the numbers that sample_regs_* has for them

  bool any() const { return (vectors | predicates | general) != 0; }
  friend bool operator==(const SimdRegisters&, const SimdRegisters&) = default;
};

/// One word of the lists below, and what it stands for without a mask.
struct SimdClass {
  std::string_view name;
  u32 needs;  ///< perf::register_set
  u64 whole;  ///< every register of it
  std::string_view text;
};
std::span<const SimdClass> simd_classes();

/// A list of register classes, each with the registers wanted of it or without, which is all of them:
/// "zmm,opmask:0x3,ssp". Of several widths the widest wins, for the registers of all. Errors name the word.
[[nodiscard]] Result<SimdRegisters, Error> parse_simd_registers(std::string_view list);

/// Sampled registers of both sides. Masks are those of sample_regs_* without SIMD sampling: XMM halves above
/// bit 31.
struct RegisterChoice {
  u64 interrupt = 0, user = 0;
  SimdRegisters interrupt_simd{}, user_simd{};
  bool simd() const { return interrupt_simd.any() || user_simd.any(); }
};

/// Makes `attr` ask for the choice: the numbers of old where they can say it all, so that older readers
/// understand, else SIMD sampling, for which XMM registers of the masks become vector registers.
void ask_for_registers(perf::Attr& attr, const RegisterChoice& choice);

}  // namespace pmusim::events

#endif
