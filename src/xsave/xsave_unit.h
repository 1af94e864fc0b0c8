// SPDX-License-Identifier: MIT
#ifndef PMUSIM_XSAVE_XSAVE_UNIT_H
#define PMUSIM_XSAVE_XSAVE_UNIT_H

#include "msr/row.h"
#include "pmusim/arch/xsave.h"
#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/msr/register.h"

namespace pmusim {

/// What a save instruction is going to do: decided before it touches memory.
struct SavePlan {
  u64 requested = 0;   ///< RFBM: enabled and asked for
  u64 written = 0;     ///< components whose bytes are stored
  u64 xstate_bv = 0;   ///< of the components in `requested`
  bool mxcsr = false;  ///< MXCSR and MXCSR_MASK are stored
  bool compact = false;
  xsave::Layout layout;  ///< of the area; its `bytes` must be mapped
  bool writes(StateComponent c) const { return (written & state_bit(c)) != 0; }
};

/// What a restore instruction is going to do, after its header has been found in order.
struct RestorePlan {
  u64 loaded = 0;       ///< components taken from the area
  u64 initialized = 0;  ///< components put into their initial configuration
  enum class Mxcsr : u8 { keep, load, initialize } mxcsr = Mxcsr::keep;
  u64 xcomp_bv = 0;  ///< of the area, 0 for the standard format
  u64 requested = 0;
  xsave::Layout layout;
  u32 bytes = 0;  ///< of the area up to the end of what is loaded
  bool loads(StateComponent c) const { return (loaded & state_bit(c)) != 0; }
  bool initializes(StateComponent c) const { return (initialized & state_bit(c)) != 0; }
};

/// The XSAVE feature set of one logical processor (SDM vol. 1, ch. 13): the registers beside the general
/// ones, which of them software has enabled, and the instructions that carry them to memory and back.
///
/// A save or restore is two steps, so that the sequencer can bring in what another unit holds (the LBR
/// component): `plan` raises every fault that the processor can see without the components' bytes, `save` and
/// `restore` move them.
///
/// Two optimisations make images that leave memory alone. Init: a component in its initial configuration
/// (XINUSE clear) is not stored, its XSTATE_BV bit says so. Modified: XSAVEOPT and XSAVES into the very area
/// that the last XRSTOR or XRSTORS read may leave out what has not changed since.
class XsaveUnit {
 public:
  explicit XsaveUnit(const CpuModel& model);

  const ExtendedState& state() const { return state_; }
  /// The processor's registers from now on: another thread runs. Of these and of what is written, what no
  /// register can hold is left out.
  void set_state(const ExtendedState& state);
  /// An instruction has written registers.
  void write(const ExtendedChange& change);

  void set_control(XsaveControl control) { control_ = control; }
  /// CPUID as the static `cpuid` of the model, with what depends on XCR0, IA32_XSS and CR4.OSXSAVE.
  CpuidResult cpuid(u32 leaf, u32 subleaf) const;

  /// Faults: ud (no XSAVE, CR4.OSXSAVE clear), gp (another number; XSETBV: CPL above 0, an illegal
  /// combination).
  FaultOr<u64> xgetbv(u32 ecx) const;
  [[nodiscard]] Fault xsetbv(u32 ecx, u64 value, Cpl cpl = Cpl::kernel);

  /// Whether there is XSAVE, and CR4.OSXSAVE is set.
  bool is_enabled() const { return model_->xcr0 != 0 && control_.os_enabled; }
  /// What decided that XSETBV faults at ring 0.
  observed::FaultRule rule_of_xsetbv(u32 ecx, u64 value) const;

  /// `lbr_in_use` is the XINUSE bit of the component that the LBR stack holds. Faults: ud (instruction
  /// absent, CR4.OSXSAVE clear), nm (CR0.TS), gp (CPL above 0 for XSAVES, alignment, a non-canonical
  /// address).
  FaultOr<SavePlan> plan(SaveInstruction which, const XsaveOperands& operands, u64 lbr_in_use);
  /// Stores header and components, LBR excepted, into the area, of at least `plan.layout.bytes` bytes.
  void save(const SavePlan& plan, std::span<std::byte> area) const;

  /// The faults that do not need the area, as above.
  Fault check(RestoreInstruction which, const XsaveOperands& operands) const;
  /// `head` is the legacy region and header of the area. Faults: gp (header: reserved bytes, components that
  /// are not enabled, a format that the instruction does not take; reserved bits of an MXCSR to be loaded),
  /// nm (a component that IA32_XFD disables, which IA32_XFD_ERR then tells).
  FaultOr<RestorePlan> plan(RestoreInstruction which, const XsaveOperands& operands,
                            std::span<const std::byte> head);
  /// Fault::gp where a supervisor register cannot hold what the area, of at least `plan.bytes` bytes, has for
  /// it.
  Fault check_values(const RestorePlan& plan, std::span<const std::byte> area) const;
  /// Loads and initialises components, LBR excepted, from such an area.
  void restore(const RestorePlan& plan, const XsaveOperands& operands, std::span<const std::byte> area);

  void add_to(StateHash& hash) const;
  static RowFamilies<XsaveUnit> registers(Vendor vendor);

 private:
  static Rows<XsaveUnit> enable_registers();
  static Rows<XsaveUnit> cet_registers();
  Fault write_cet(StateComponent component, std::size_t qword, u64 value);
  void set_component(StateComponent component, std::size_t first, std::span<const u64> values);
  /// Of components that were given from outside: bits that do not exist are dropped, and a supervisor
  /// component that no WRMSR could have made is as after RESET.
  void keep_what_exists(u64 components);
  /// Of the last XRSTOR or XRSTORS (XRSTOR_INFO).
  struct Restored {
    bool user = false;
    u64 address = 0, xcomp_bv = 0;
    friend bool operator==(const Restored&, const Restored&) = default;
  };
  Fault check(const XsaveOperands& operands, u32 feature, bool supervisor) const;
  u64 enabled(bool supervisor) const { return xcr0_ | (supervisor ? xss_ : 0); }
  u64 in_use(u64 lbr_in_use) const { return (state_.in_use() | lbr_in_use) & ~xfd_; }
  u64 modified_since_restore(const XsaveOperands& operands, u64 xcomp_bv) const;
  const xsave::Layout& compacted_layout(u64 mask);
  bool header_is_legal(RestoreInstruction which, const xsave::Header& header) const;

  const CpuModel* model_;
  u32 instructions_;  // CPUID.0DH.1:EAX
  ExtendedState state_;
  u64 xcr0_ = state_bits(StateComponent::x87);
  u64 xss_ = 0, xfd_ = 0, xfd_error_ = 0;
  u64 supervisor_cet_ = 0, interrupt_stacks_ = 0;
  XsaveControl control_;

  Restored restored_{.address = ~u64{0}};
  u64 modified_ = ~u64{0};  // components changed since then

  u64 layout_mask_ = 0;  // of `layout_`
  xsave::Layout layout_;
};

/// True when XCR0 may hold `value` on a processor that supports the components of `supported`: x87 always;
/// AVX not without SSE; MPX, AVX-512 and AMX whole or not at all; AVX-512 not without AVX; APX not with MPX,
/// whose place in the standard format it took (SDM vol. 1, 13.3).
bool xcr0_is_legal(u64 value, u64 supported);
/// What components of XCR0 demand of each other that `value` does not have; "" where it has all.
std::string_view broken_xcr0_rule(u64 value);

}  // namespace pmusim

#endif
