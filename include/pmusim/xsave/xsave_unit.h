#ifndef PMUSIM_XSAVE_XSAVE_UNIT_H
#define PMUSIM_XSAVE_XSAVE_UNIT_H

#include "pmusim/base/extended_state.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// The XSAVE feature set of one logical processor (SDM vol. 1, ch. 13): the registers beside the general
/// ones, and which of them software has enabled.
class XsaveUnit {
 public:
  explicit XsaveUnit(const CpuModel& model) : model_(&model) {}

  const ExtendedState& state() const { return state_; }
  /// The processor's registers from now on: another thread runs.
  void set_state(const ExtendedState& state) { state_ = state; }
  /// An instruction has written registers.
  void write(const ExtendedChange& change) { change.apply_to(state_); }

  /// XCR0.
  u64 user_components() const { return xcr0_; }
  /// Faults: ud, gp (see Bus).
  Faulty<u64> xgetbv(u32 ecx) const;
  [[nodiscard]] Fault xsetbv(u32 ecx, u64 value);

 private:
  const CpuModel* model_;
  ExtendedState state_;
  u64 xcr0_ = state_bits(StateComponent::x87);
};

/// True when XCR0 may hold `value` on a processor that supports the components of `supported`: x87 always;
/// AVX not without SSE; MPX, AVX-512 and AMX whole or not at all; AVX-512 not without AVX; APX not with MPX,
/// whose place in the standard format it took (SDM vol. 1, 13.3).
bool xcr0_is_legal(u64 value, u64 supported);

}  // namespace pmusim

#endif
