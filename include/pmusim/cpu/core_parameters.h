// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_CORE_PARAMETERS_H
#define PMUSIM_CPU_CORE_PARAMETERS_H

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

/// What the timing model knows of a core, as data of a `CpuModel`: what instructions cost there, and its
/// other parameters, which can be chosen by name:
/// @code
/// CpuModel model = *find_cpu_model("skylake");
/// const auto chosen = set_core_parameters(model.core, "L2=2MiB,rob=512");
/// if (!chosen) std::cerr << chosen.error().message << "\n";
/// @endcode
namespace pmusim {

struct CpuModel;

/// Instructions that cost the same on every core: mnemonic, width and kind of operands in the words of the
/// measurements that there are. What was not measured has the form of its nearest relative
/// (x86/form.cpp). Memory operands are not part of the form: loads and stores add their own uops.
enum class InstructionForm : u8 {
  alu,
  nop,
  zero_idiom,
  move,
  vector_move,
  adc,
  lea,
  lea_offset,   ///< base + displacement, of 64 bits
  lea_indexed,  ///< base + scaled index
  lea_three,    ///< base + index + displacement
  lea_scaled,   ///< base + scaled index + displacement
  fold,         ///< add, sub, inc, dec of 64 bits with an immediate
  shift,
  shift_by_cl,
  rotate,
  rotate_carry_one,  ///< RCL, RCR by one
  rotate_carry,
  double_shift,
  set,
  set_two_flags,  ///< SETA, SETBE: by CF and ZF
  cmov,
  cmov_two_flags,  ///< CMOVA, CMOVBE
  bit_test,        ///< BT, BTC, BTR, BTS
  bswap,
  bswap_32,
  xchg,
  compare_exchange,
  imul_32,
  imul_64,
  mul_wide,
  div_32,
  div_64,
  idiv_64,
  bit_scan,
  popcnt,
  lzcnt,
  tzcnt,
  pdep,
  conditional_branch,
  branch,
  call,
  indirect_call,
  ret,
  far_branch,
  load,
  vector_load,
  store,
  push,
  pop,
  load_fence,
  store_fence,
  memory_fence,
  locked,
  pause,
  rdtsc,
  cpuid,
  serialize,
  rdpid,
  rdrand,
  pushf_popf,  ///< the pair, all of which POPF takes
  push_flags,
  cmpxchg_8,   ///< CMPXCHG8B
  cmpxchg_16,  ///< CMPXCHG16B
  load_mxcsr,
  string,      ///< MOVS, CMPS
  string_one,  ///< of one access: LODS, STOS, SCAS
  repeated_string,
  clflush,
  save_state,
  microcoded,
  x87_add,
  x87_multiply,
  x87_divide,
  x87_square_root,
  x87_transcendental,
  x87_move,
  add_scalar_single,
  add_scalar_double,
  add_single,
  add_double,
  add_256,
  add_512,
  multiply_scalar_single,
  multiply_scalar_double,
  multiply_double,
  multiply_256,
  multiply_512,
  fma_scalar,
  fma_256,
  fma_512,
  divide_scalar_single,
  divide_single,
  divide_scalar_double,
  divide_double,
  divide_256_single,
  divide_256_double,
  square_root_scalar_single,
  square_root_scalar_double,
  square_root_double,
  square_root_256_single,
  square_root_256_double,
  reciprocal,
  compare_flags,  ///< UCOMISD
  compare,
  minimum,
  round,
  convert_from_integer,
  convert_to_integer,
  convert_packed,
  convert_to_double,
  convert_to_single,
  move_to_vector,
  move_from_vector,
  logic,
  vector_add,
  vector_add_256,
  vector_add_512,
  vector_compare,  ///< and minima, averages, absolute values, sums that saturate
  vector_compare_256,
  compare_quads,  ///< PCMPGTQ
  vector_shift,
  shift_by_vector,  ///< by a number in a vector register
  multiply_low_32,  ///< PMULLD
  multiply_low_16,
  multiply_add_16,
  multiply_wide_32,
  sum_differences,
  shuffle_bytes,
  shuffle,
  unpack,       ///< of floating point; PALIGNR, INSERTPS, MOVDDUP, VPERMILPS
  pack,         ///< PACKSS, PACKUS
  blend_words,  ///< PBLENDW
  blend_variable,
  blend_variable_vex,
  horizontal_add,
  horizontal_add_integer,
  dot_product,
  permute_lanes,
  permute_words,
  insert_lane,
  extract_lane,
  mask_bytes,  ///< PMOVMSKB
  vector_test,
  compare_strings,  ///< PCMPISTRI and its like
  aes_encode,
  aes_decode,
  carryless_multiply,
  sha,
  gather_single_256,
  gather_128,
  gather_256,
  gather_quad_256,
  zero_upper,  ///< VZEROUPPER
  zero_all,    ///< VZEROALL
  count_
};

inline constexpr unsigned instruction_forms = static_cast<unsigned>(InstructionForm::count_);

/// Execution ports, one bit each. Bits 30 and 31 are no ports: the divider and the microcode sequencer, which
/// an instruction has to itself for several cycles in a row.
using PortMask = u32;
inline constexpr unsigned execution_ports = 32, divider_port = 30, sequencer_port = 31;

/// `uops` uops, each on one of `ports` for one cycle; or one uop that keeps the unit for `cycles`.
struct PortUse {
  PortMask ports = 0;
  u8 uops = 0;
  u16 cycles = 1;
};

/// What one form costs, without its memory operands.
struct InstructionCost {
  u16 latency_cycles = 1;         ///< from its operands to its result
  u8 uops = 1;                    ///< slots, in the fused domain
  u8 early_cycles = 0;            ///< that what it reads beside its destination is needed before that
  std::array<PortUse, 2> uses{};  ///< unused ones have no ports
};

/// The costs of a core, and the ports of its loads and stores.
struct InstructionCosts {
  std::array<InstructionCost, instruction_forms> by_form{};
  PortMask load_ports = 0, store_address_ports = 0, store_data_ports = 0;
  /// Uops in the fused domain of an instruction that loads, computes and stores.
  u8 read_modify_write_uops = 2;

  const InstructionCost& of(InstructionForm form) const { return by_form[static_cast<unsigned>(form)]; }
};

/// Those of Skylake, for models that say nothing of them.
const InstructionCosts& default_instruction_costs();

/// What the first instruction of a pair does to the flags; which of them a core fuses with a conditional
/// branch is its `MacroFusion`.
enum class FlagWriter : u8 { none, test, bitwise_and, compare, add_subtract, increment };

/// The conditions of a branch that fuse alike.
enum class ConditionGroup : u8 { none, overflow_sign_parity, carry, below_or_equal, equal, signed_order };

/// Which pairs of a flag-setting instruction and a conditional branch become one uop.
enum class MacroFusion : u8 {
  none,
  nehalem,       ///< CMP and TEST
  sandy_bridge,  ///< also AND, ADD, SUB, INC and DEC
  ice_lake,      ///< no INC and DEC, and no first instruction with a memory operand
};

/// Whether a core fuses such a pair of neighbours.
constexpr bool fuses(MacroFusion fusion, FlagWriter first, ConditionGroup condition) {
  const bool since_sandy_bridge = fusion >= MacroFusion::sandy_bridge;
  if (fusion == MacroFusion::none || condition == ConditionGroup::none) return false;
  switch (first) {
    case FlagWriter::none:
      return false;
    case FlagWriter::test:
      return true;
    case FlagWriter::bitwise_and:
      return since_sandy_bridge;
    case FlagWriter::compare:
      return condition != ConditionGroup::overflow_sign_parity;
    case FlagWriter::add_subtract:
      return since_sandy_bridge && condition != ConditionGroup::overflow_sign_parity;
    case FlagWriter::increment:
      return fusion == MacroFusion::sandy_bridge &&
             (condition == ConditionGroup::equal || condition == ConditionGroup::signed_order);
  }
  return false;
}

/// One level of cache, and what a hit in it takes.
struct CacheGeometry {
  u32 bytes = 0, ways = 0, line_bytes = 64, latency_cycles = 0;
};

/// How far a number of a core can be trusted.
enum class FactSource : u8 {
  none,       ///< a row that says nothing
  measured,   ///< on silicon (InstLatX64; Travis Downs' buffer sizes; uiCA's fits)
  cpuid,      ///< what a part says of itself in CPUID
  published,  ///< by the vendor, or by the press from the vendor's slides
  compiler,   ///< LLVM's scheduling model
  recalled,   ///< common knowledge without a document at hand
  inferred,   ///< taken over from the nearest relative
};

/// Whether instructions start in program order.
enum class IssueOrder : u8 { out_of_order, in_order };

/// Registers whose moves the renamer does itself.
enum class MoveElimination : u8 { none, vector, all };

/// How many ports the umasks of UOPS_DISPATCHED.PORT_n stand for: one each, or some for two or three.
enum class PortEvents : u8 { one_each, shared };

struct CoreNumber;

/// What the timing model needs to know of a core. Cycles and counts per core.
struct CoreParameters {
  unsigned issue_width = 4;   ///< uops renamed per cycle = pipeline slots
  unsigned retire_width = 4;  ///< uops
  IssueOrder issue_order = IssueOrder::out_of_order;
  unsigned reorder_buffer_uops = 224, scheduler_uops = 97;
  unsigned load_buffer_entries = 72, store_buffer_entries = 56;
  unsigned mispredict_penalty = 17;  ///< cycles
  unsigned resteer_cycles = 9;       ///< after a taken branch whose target the front end did not know
  unsigned l1i_miss_penalty = 8;
  // where uops come from
  unsigned uop_queue_entries = 64;  ///< between the sources and rename
  unsigned uop_cache_lines = 0;     ///< 0: there is no uop cache
  unsigned uop_cache_ways = 8, uop_cache_line_uops = 6;
  unsigned uop_cache_window_bytes = 32;  ///< aligned code of which a line holds uops
  unsigned uop_cache_window_lines = 3;   ///< code with more uops than these hold is not cached
  unsigned uop_cache_uops_per_cycle = 6;
  unsigned loop_buffer_uops = 0;         ///< longest loop that the queue repeats by itself; 0: none does
  unsigned loop_buffer_unrolls = 0;      ///< 1: iterations share cycles
  unsigned decoders = 4;                 ///< instructions per cycle; only the first may have several uops
  unsigned fetch_bytes = 16;             ///< of code per cycle, for the decoders
  unsigned decoder_switch_cycles = 2;    ///< from the uop cache to the decoders
  unsigned microcode_switch_cycles = 2;  ///< to the microcode sequencer
  unsigned length_change_cycles = 3;     ///< for an operand-size prefix that makes the constant shorter
  CacheGeometry l1i{32 * 1024, 8, 64, 4}, l1d{32 * 1024, 8, 64, 5}, l2{512 * 1024, 8, 64, 14},
      l3{8 * 1024 * 1024, 16, 64, 42};  ///< 0 bytes of L3: there is none
  unsigned l2_cores = 1;                ///< neighbours of one kind, a module, that have one L2 together
  unsigned l2_transfers = 0;  ///< 1: it sends lines from core to core of its module; 0: they go beyond it
  unsigned memory_latency_cycles = 220;
  // beyond a hit in L3, where other cores of the machine had to be asked
  unsigned snoop_cycles = 30;                                           ///< whose copy is clean, or gone
  unsigned modified_snoop_cycles = 36;                                  ///< that had modified the line (HITM)
  unsigned remote_cycles = 190;                                         ///< of another package
  unsigned dtlb_entries = 64, itlb_entries = 128, stlb_entries = 1536;  ///< no STLB: 0
  unsigned stlb_latency_cycles = 7, page_walk_cycles = 30;
  unsigned dtlb_ways = 4, itlb_ways = 8, stlb_ways = 12;
  unsigned outstanding_misses = 10;  ///< line fill buffers
  /// Page-table entries that a walk reads through the caches, beside `page_walk_cycles`: 0 or 1.
  unsigned page_walk_loads = 0;
  // prefetchers
  unsigned l1_stride_loads = 0;      ///< places of the L1 stride prefetcher, a power of two; 0: there is none
  unsigned l2_stream_pages = 0;      ///< 4 KiB pages that the L2 streamer watches, a multiple of 4; 0: none
  unsigned l2_stream_gap_lines = 2;  ///< the farthest step that continues a stream
  unsigned l2_stream_burst_lines = 2;   ///< prefetches per request that L2 sees
  unsigned l2_stream_ahead_lines = 20;  ///< and how far before it
  unsigned l2_prefetches_outstanding = 16;
  unsigned next_page_prefetch = 0;  ///< 1: a stream at the end of its page goes on in the next one
  unsigned adjacent_line_level =
      0;  ///< where the other line of a missed 128-byte pair goes: L2, L3; 0: nowhere
  // loads and older stores
  unsigned blocked_forward_cycles = 13;  ///< beyond `forwarding_cycles`, where a store cannot be forwarded
  unsigned address_alias_cycles = 5;     ///< of a load and a store with the same address within 4 KiB
  unsigned one_physical_page = 0;        ///< 1: such a load waits for the store, as all pages are one
  unsigned disambiguation_loads = 0;     ///< places of the predictor, a power of two; 0: loads pass no store
  unsigned machine_clear_cycles = 20;    ///< beyond `mispredict_penalty`
  unsigned forwarding_cycles = 5;        ///< from a store's data to a load of it
  unsigned system_call_cycles = 80;      ///< SYSCALL and SYSRET themselves
  // rules of decoders and renamers; 0 switches each off
  unsigned predecode_instructions = 0;     ///< of a fetch block that are found per cycle; 0: all
  unsigned last_decoder_leaves_pairs = 0;  ///< 1: it takes no instruction that could fuse with the next one
  unsigned pop_r12_decoding = 0;           ///< of POP R12 and RSP: 1 first decoder alone, 2 ends the cycle
  unsigned stack_sync_uops = 0;            ///< 1: RSP itself is brought up to date when it is used
  unsigned merges_partial_registers = 0;   ///< writes of so many bits (8 and) 16 keep the rest: 8 or 16
  unsigned high_byte_merge_uops = 0;       ///< 1: the whole register behind a write of AH, BH, CH or DH
  unsigned waits_for_old_destination = 0;  ///< sum of 1 (POPCNT), 2 (LZCNT, TZCNT), 4 (BSF, BSR)
  unsigned splits_indexed_operands = 0;    ///< at rename: 1 all, 2 unless the destination is a source
  unsigned splits_constants_at_rip = 0;    ///< 1: RIP-relative operand and constant share no slot
  unsigned slow_address_cycles = 0;        ///< of a load of general registers whose address is not simple
  unsigned l1d_bank_bytes = 0;             ///< of which one is read per cycle, in one line; 0: no banks
  unsigned jump_border_erratum = 0;        ///< 1: no uop cache line for a jump at a 32-byte border
  MacroFusion macro_fusion = MacroFusion::none;
  MoveElimination move_elimination = MoveElimination::none;
  unsigned move_slots = 0;            ///< values with several names, of each kind of register; 0: no limit
  unsigned move_slot_cycles = 2;      ///< until the renamer knows of a slot that is free again
  unsigned last_name_keeps_slot = 0;  ///< 1: of a general register, until that is written, too
  PortEvents port_events = PortEvents::one_each;
  /// Null: those of Skylake. Outlives the model.
  const InstructionCosts* costs = nullptr;
  unsigned btb_entries = 4096;  ///< direct branch targets, 4 ways
  unsigned return_stack_entries = 16;
  std::string predictor = "tage";    ///< branch predictor by name: "bimodal", "gshare", "tage"
  unsigned predictor_tables = 4;     ///< of "tage", beside its base
  unsigned predictor_entries = 512;  ///< of each of them, a power of two
  unsigned predictor_history = 32;   ///< outcomes that the last of them sees
  u32 tsc_per_core_cycle_numerator = 1, tsc_per_core_cycle_denominator = 1;
  u64 tsc_hz = 3'000'000'000;
  u64 bus_hz = 100'000'000;  ///< what event 3C.01 counts before Golden Cove and Gracemont
  /// What the model's table says of the members above, and how it is known.
  std::span<const CoreNumber> numbers{};
};

struct CoreParameter;

/// What a model's table says of one parameter, or of one cache.
struct CoreNumber {
  std::string_view name;
  const CoreParameter* parameter = nullptr;        ///< null for caches
  CacheGeometry CoreParameters::*cache = nullptr;  ///< null for other parameters
  u64 value = 0;
  CacheGeometry geometry{};
  FactSource source = FactSource::none;  ///< none: as `unlisted` of the parameter says
};

/// What a number of a core counts. Sizes in bytes may be given as 48K, 2MiB; frequencies as 100M, 3G.
enum class ParameterUnit : u8 { plain, uops, entries, cycles, bytes, lines, hertz, named, rule };
/// "uops", "cycles"; empty for plain counts, names and rules.
std::string_view name_of(ParameterUnit unit);

/// Which numbers of its range a parameter can be.
enum class ParameterShape : u8 { any, power_of_two, multiple_of_4 };  ///< or 0, where the range has it

inline constexpr unsigned most_uop_cache_window_lines = 8;

/// One parameter of a core, as a number; of names, the number is the place among `names`.
struct CoreParameter {
  std::string_view name;        ///< as CoreParameters has it: "reorder_buffer_uops"
  std::string_view short_name;  ///< "rob"; may be empty
  ParameterUnit unit = ParameterUnit::plain;
  u64 least = 0, most = 0;
  ParameterShape shape = ParameterShape::any;
  std::span<const std::string_view> names{};  ///< of a parameter that has names for values
  std::string_view meaning;
  std::string_view listed_as;  ///< its row of the tables: "l2" of all of "l2_bytes", "l2_ways" ...
  FactSource unlisted = FactSource::inferred;  ///< how it is known where a table gives no source
  u64 (*get)(const CoreParameters&) = nullptr;
  void (*set)(CoreParameters&, u64) = nullptr;
};

/// All that can be chosen, in the order in which it is shown.
std::span<const CoreParameter> core_parameters();

/// By name or short name, in letters of either case. Errors: no such parameter, with near matches.
[[nodiscard]] Result<const CoreParameter*, Error> find_core_parameter(std::string_view name);

/// As the value is given: "512", "2MiB", "tage".
std::string value_text(const CoreParameter& parameter, u64 value);
/// "1 to 16 uops", "0 to 1048576 entries, a power of two", "bimodal, gshare or tage".
std::string range_text(const CoreParameter& parameter);

/// How the model's value is known.
FactSource source_of(const CpuModel& model, const CoreParameter& parameter);

/// The numbers of a model's core that its table has a source for, in the order of the table.
std::vector<CoreNumber> core_numbers(const CpuModel& model);

/// Sets what a list of NAME=VALUE with commas between says, and looks whether a machine comes out.
/// Errors: no such parameter, a value that is none or out of range, parameters that do not go together; the
/// core is then as it was.
[[nodiscard]] Result<Done, Error> set_core_parameters(CoreParameters& core, std::string_view list);

/// What is different from the preset of this name, as a list for set_core_parameters(): "l2_bytes=2MiB".
/// Empty where there is no preset.
std::string chosen_core_parameters(const CpuModel& model);

/// Whether the parameters make a machine. Errors: the first that does not, with its range.
[[nodiscard]] Result<Done, Error> check_core_parameters(const CoreParameters& core);

}  // namespace pmusim

#endif
