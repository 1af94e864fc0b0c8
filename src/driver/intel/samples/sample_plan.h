// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_SAMPLE_PLAN_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_SAMPLE_PLAN_H

#include <array>
#include <optional>
#include <span>

#include "driver/intel/enumeration.h"
#include "driver/intel/lbr/decoder.h"
#include "driver/intel/samples/data_source_table.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// How a record's general registers follow RFLAGS and RIP.
enum class RegisterOrder : u8 { none, fixed, encoded };

/// Where a sample's weight is in a record.
enum class WeightSource : u8 {
  none,
  latency,      ///< the latency word
  transaction,  ///< cycles of the transaction
  access,       ///< the latency word, without one the transaction's cycles
  split,        ///< the same where it is latency of access and of instruction
};

/// Where the retire latency is, which WEIGHT_STRUCT has.
enum class RetireLatency : u8 { none, adaptive, architectural };

/// Where in a record its parts lie, in bytes; a place that is not in use reads the record's beginning.
struct RecordLayout {
  /// A record has this layout if the words at its beginning and at `depth` say so.
  u64 word = 0, word_mask = 0, depth_word = 0, depth_mask = 0;
  u32 depth = 0;
  u32 ip = 0, tsc = 0, address = 0, data_source = 0, latency = 0, tsx = 0, rax = 0;
  u32 registers = 0;  ///< RFLAGS
  u32 xmm = 0, xmm_valid = 0;
  u32 lbr = 0, lbr_entries = 0;
  RegisterOrder order = RegisterOrder::none;
  bool accesses = false, transactions = false;  ///< has the words of a memory access, of a transaction
};

/// What a loop over records must do beside IP and time, as a number. Loops are compiled for each.
constexpr unsigned plan_shape(RegisterOrder registers, bool access, bool wide) {
  return static_cast<unsigned>(registers) * 4 + (access ? 2u : 0u) + (wide ? 1u : 0u);
}
inline constexpr unsigned plan_shapes = 12;
constexpr RegisterOrder register_order(unsigned shape) { return static_cast<RegisterOrder>(shape / 4); }
constexpr bool has_access(unsigned shape) { return (shape & 2) != 0; }
constexpr bool is_wide(unsigned shape) { return (shape & 1) != 0; }  ///< branches or XMM

/// How samples of one event are made from records of one layout: copied, without asking anything twice.
struct SamplePlan {
  perf::SampleTemplate sample;
  RecordLayout record;
  unsigned shape = plan_shapes;  ///< of no loop, until there is a plan
  std::array<u64, 2> headers{};  ///< by bit 63 of the IP: of user code, of the kernel's; without branches
  bool hides_kernel = false;     ///< records that hit the kernel are the builder's
  WeightSource weight = WeightSource::none;
  RetireLatency retire = RetireLatency::none;
  bool weight_struct = false;
  const DataSourceTable* sources = nullptr;
  PlainBranches branches;
  u32 most_bytes = 0;  ///< of one sample
};

/// Makes plans for the records of one CPU.
class SamplePlanner {
 public:
  explicit SamplePlanner(const Enumeration& enumeration);

  /// For records like `example`, with their branches made so. Nothing where samples need more than a copy:
  /// the builder makes them.
  std::optional<SamplePlan> plan(const perf::Event& event, const perf::SampleTemplate& sample,
                                 std::span<const std::byte> example, const PlainBranches& branches) const;

 private:
  std::optional<RecordLayout> layout_of(std::span<const std::byte> example) const;
  RecordLayout fixed_layout() const;
  std::optional<RecordLayout> adaptive_layout_of(std::span<const std::byte> example) const;
  std::optional<RecordLayout> arch_layout_of(std::span<const std::byte> example) const;
  bool place_ip(const perf::Event& event, SamplePlan& plan) const;
  void place_weight(const perf::Event& event, SamplePlan& plan) const;
  const DataSourceTable& sources_of(const perf::Event& event) const;

  unsigned format_;
  bool traps_, latency_split_, retire_latency_;
  u32 lbr_depth_;
  DataSourceTable unknown_, loads_, stores_, precise_stores_, load_addresses_, store_addresses_;
};

}  // namespace pmusim::driver

#endif
