// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"

#include <algorithm>
#include <bit>

#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using Form = InstructionForm;
using Role = PortMask PortRoles::*;

/// What all cores have in common about a form.
struct Shape {
  Form form;
  Role role;             ///< null: no execution port
  unsigned latency = 1;  ///< where nobody measured one
  unsigned uops = 1;     ///< in the fused domain
  Form relative;         ///< whose measurement stands in; itself: none
  bool chained = false;  ///< independent ones wait for each other's flags or registers
};

constexpr Shape on(Form form, Role role, unsigned latency = 1, unsigned uops = 1) {
  return {form, role, latency, uops, form};
}
constexpr Shape like(Form form, Form relative, Role role, unsigned latency = 1, unsigned uops = 1) {
  return {form, role, latency, uops, relative};
}

constexpr Shape chained(Shape shape) {
  shape.chained = true;
  return shape;
}

using R = PortRoles;
constexpr Shape shapes[] = {
    on(Form::alu, &R::alu),
    on(Form::nop, nullptr, 0),
    on(Form::zero_idiom, &R::alu, 0),
    on(Form::move, &R::alu),
    on(Form::vector_move, &R::vector),
    chained(on(Form::adc, &R::condition)),
    on(Form::lea, &R::lea),
    like(Form::lea_offset, Form::lea, &R::lea),
    like(Form::lea_indexed, Form::lea, &R::lea),
    like(Form::lea_three, Form::lea, &R::lea_three),
    like(Form::lea_scaled, Form::lea_three, &R::lea_three),
    on(Form::fold, &R::alu),
    on(Form::shift, &R::shift),
    chained(like(Form::shift_by_cl, Form::shift, &R::shift)),
    like(Form::rotate, Form::shift, &R::shift),
    chained(like(Form::rotate_carry_one, Form::adc, &R::condition)),
    chained(like(Form::rotate_carry, Form::adc, &R::condition)),
    on(Form::double_shift, &R::multiply, 3),
    on(Form::set, &R::condition),
    like(Form::set_two_flags, Form::set, &R::condition),
    on(Form::cmov, &R::condition),
    like(Form::cmov_two_flags, Form::cmov, &R::condition),
    like(Form::bit_test, Form::shift, &R::shift),
    on(Form::bswap, &R::shift),
    like(Form::bswap_32, Form::bswap, &R::shift),
    chained(on(Form::xchg, &R::alu, 2, 3)),
    chained(like(Form::compare_exchange, Form::xchg, &R::alu, 5, 5)),
    on(Form::imul_32, &R::multiply, 3),
    like(Form::imul_64, Form::imul_32, &R::multiply, 3),
    like(Form::mul_wide, Form::imul_64, &R::multiply, 4, 2),
    on(Form::div_32, &R::multiply, 26, 4),
    like(Form::div_64, Form::div_32, &R::multiply, 26, 4),
    like(Form::idiv_64, Form::div_64, &R::multiply, 26, 4),
    on(Form::bit_scan, &R::scan, 3),
    like(Form::popcnt, Form::bit_scan, &R::scan, 3),
    like(Form::lzcnt, Form::popcnt, &R::scan, 3),
    like(Form::tzcnt, Form::popcnt, &R::scan, 3),
    like(Form::pdep, Form::popcnt, &R::scan, 3),
    on(Form::conditional_branch, &R::branch),
    on(Form::branch, &R::taken_branch),
    on(Form::call, &R::taken_branch, 1, 2),
    on(Form::indirect_call, &R::taken_branch, 1, 3),
    on(Form::ret, &R::taken_branch, 1, 2),
    on(Form::far_branch, &R::branch, 30, 30),
    on(Form::load, nullptr, 0),
    on(Form::vector_load, &R::vector_load, 1),
    on(Form::store, nullptr, 0),
    on(Form::push, nullptr, 0),
    on(Form::pop, nullptr, 0),
    on(Form::load_fence, &R::alu, 5, 2),
    on(Form::store_fence, &R::alu, 6, 2),
    on(Form::memory_fence, &R::alu, 33, 3),
    on(Form::locked, &R::alu, 20, 8),
    on(Form::pause, &R::alu, 9, 4),
    on(Form::rdtsc, &R::alu, 25, 15),
    on(Form::cpuid, &R::alu, 100, 100),
    like(Form::serialize, Form::cpuid, &R::alu, 100, 20),
    on(Form::rdpid, &R::alu, 10, 2),
    on(Form::rdrand, &R::alu, 400, 16),
    on(Form::pushf_popf, &R::alu, 10, 5),
    like(Form::push_flags, Form::pushf_popf, &R::alu, 10, 5),
    like(Form::cmpxchg_8, Form::cmpxchg_16, &R::alu, 16, 16),
    on(Form::cmpxchg_16, &R::alu, 16, 16),
    on(Form::load_mxcsr, &R::alu, 5, 4),
    on(Form::string, &R::alu, 4, 5),
    like(Form::string_one, Form::string, &R::alu, 4, 5),
    on(Form::repeated_string, &R::alu, 30, 20),
    on(Form::clflush, &R::alu, 2, 4),
    on(Form::save_state, &R::alu, 60, 60),
    on(Form::microcoded, &R::alu, 8, 8),
    on(Form::x87_add, &R::fp_add, 3),
    on(Form::x87_multiply, &R::fp_multiply, 5),
    on(Form::x87_divide, &R::fp_divide, 20),
    like(Form::x87_square_root, Form::x87_divide, &R::fp_divide, 20),
    on(Form::x87_transcendental, &R::fp_add, 50, 50),
    on(Form::x87_move, &R::fp_multiply),
    on(Form::add_scalar_single, &R::fp_add, 4),
    on(Form::add_scalar_double, &R::fp_add, 4),
    like(Form::add_single, Form::add_scalar_single, &R::fp_add, 4),
    like(Form::add_double, Form::add_scalar_double, &R::fp_add, 4),
    like(Form::add_256, Form::add_single, &R::fp_add, 4),
    like(Form::add_512, Form::add_256, &R::fp_add, 4),
    on(Form::multiply_scalar_single, &R::fp_multiply, 4),
    on(Form::multiply_scalar_double, &R::fp_multiply, 4),
    like(Form::multiply_double, Form::multiply_scalar_double, &R::fp_multiply, 4),
    like(Form::multiply_256, Form::multiply_double, &R::fp_multiply, 4),
    like(Form::multiply_512, Form::multiply_256, &R::fp_multiply, 4),
    like(Form::fma_scalar, Form::multiply_scalar_double, &R::fp_multiply, 4),
    like(Form::fma_256, Form::fma_scalar, &R::fp_multiply, 4),
    like(Form::fma_512, Form::fma_256, &R::fp_multiply, 4),
    on(Form::divide_scalar_single, &R::fp_divide, 11),
    like(Form::divide_single, Form::divide_scalar_single, &R::fp_divide, 11),
    on(Form::divide_scalar_double, &R::fp_divide, 14),
    like(Form::divide_double, Form::divide_scalar_double, &R::fp_divide, 14),
    like(Form::divide_256_single, Form::divide_single, &R::fp_divide, 11),
    like(Form::divide_256_double, Form::divide_double, &R::fp_divide, 14),
    on(Form::square_root_scalar_single, &R::fp_divide, 12),
    on(Form::square_root_scalar_double, &R::fp_divide, 18),
    like(Form::square_root_double, Form::square_root_scalar_double, &R::fp_divide, 18),
    like(Form::square_root_256_single, Form::square_root_scalar_single, &R::fp_divide, 12),
    like(Form::square_root_256_double, Form::square_root_double, &R::fp_divide, 18),
    on(Form::reciprocal, &R::fp_multiply, 4),
    on(Form::compare_flags, &R::from_vector, 2),
    on(Form::compare, &R::fp_compare, 4),
    on(Form::minimum, &R::fp_compare, 4),
    like(Form::round, Form::add_scalar_double, &R::fp_add, 8, 2),
    on(Form::convert_from_integer, &R::to_vector, 5, 2),
    on(Form::convert_to_integer, &R::from_vector, 6, 2),
    on(Form::convert_packed, &R::convert, 4),
    on(Form::convert_to_double, &R::convert_precision, 5, 2),
    on(Form::convert_to_single, &R::convert_precision, 5, 2),
    on(Form::move_to_vector, &R::to_vector, 2),
    on(Form::move_from_vector, &R::from_vector, 2),
    on(Form::logic, &R::logic),
    on(Form::vector_add, &R::vector),
    like(Form::vector_add_256, Form::vector_add, &R::vector),
    like(Form::vector_add_512, Form::vector_add_256, &R::vector),
    like(Form::vector_compare, Form::vector_add, &R::vector),
    like(Form::vector_compare_256, Form::vector_add_256, &R::vector),
    like(Form::compare_quads, Form::vector_compare, &R::vector),
    on(Form::vector_shift, &R::vector_shift),
    like(Form::shift_by_vector, Form::vector_shift, &R::vector_shift),
    like(Form::multiply_low_32, Form::multiply_low_16, &R::vector_multiply, 5),
    on(Form::multiply_low_16, &R::vector_multiply, 5),
    on(Form::multiply_add_16, &R::vector_multiply, 5),
    on(Form::multiply_wide_32, &R::vector_multiply, 5),
    on(Form::sum_differences, &R::lanes, 3),
    on(Form::shuffle_bytes, &R::shuffle),
    on(Form::shuffle, &R::shuffle),
    on(Form::unpack, &R::shuffle),
    like(Form::pack, Form::shuffle, &R::shuffle),
    like(Form::blend_words, Form::vector_add, &R::vector),
    on(Form::blend_variable, &R::logic, 2),
    like(Form::blend_variable_vex, Form::blend_variable, &R::logic, 2),
    on(Form::horizontal_add, &R::lanes, 6, 3),
    like(Form::horizontal_add_integer, Form::horizontal_add, &R::lanes, 6, 3),
    like(Form::dot_product, Form::horizontal_add, &R::fp_multiply, 13, 4),
    on(Form::permute_lanes, &R::lanes, 3),
    like(Form::permute_words, Form::permute_lanes, &R::lanes, 3),
    like(Form::insert_lane, Form::permute_lanes, &R::lanes, 3),
    like(Form::extract_lane, Form::permute_lanes, &R::lanes, 3),
    on(Form::mask_bytes, &R::from_vector, 2),
    on(Form::vector_test, &R::from_vector, 3, 2),
    on(Form::compare_strings, &R::from_vector, 11, 3),
    on(Form::aes_encode, &R::encryption, 4),
    like(Form::aes_decode, Form::aes_encode, &R::encryption, 4),
    on(Form::carryless_multiply, &R::lanes, 5),
    on(Form::sha, &R::lanes, 4),
    on(Form::gather_single_256, &R::load, 22, 12),
    like(Form::gather_128, Form::gather_single_256, &R::load, 20, 8),
    like(Form::gather_256, Form::gather_single_256, &R::load, 22, 12),
    like(Form::gather_quad_256, Form::gather_single_256, &R::load, 20, 8),
    on(Form::zero_upper, nullptr, 0, 4),
    on(Form::zero_all, &R::vector, 1, 20),
};

const MeasuredCost* find_measured(const std::vector<MeasuredCost>& forms, Form form) {
  const auto found = std::ranges::find(forms, form, &MeasuredCost::form);
  if (found != forms.end()) return &*found;
  return relative_of(form) == form ? nullptr : find_measured(forms, relative_of(form));
}

bool divides(Form form) {
  return form == Form::div_32 || form == Form::div_64 || form == Form::idiv_64 || form == Form::x87_divide ||
         form == Form::x87_square_root ||
         (form >= Form::divide_scalar_single && form <= Form::square_root_256_double);
}

/// Of a positive number; programs in C that link the library need no mathematical one.
constexpr u32 nearest(double number) {
  const auto whole = static_cast<u32>(number);
  return number - whole < 0.5 ? whole : whole + 1;
}
u16 whole_cycles(double cycles) { return static_cast<u16>(nearest(cycles)); }

bool is_microcode(Form form) { return form >= Form::load_fence && form <= Form::microcoded; }

constexpr double longest_pipelined =
    16;  // cycles per instruction beyond which microcode keeps the machine busy

// How a measured throughput keeps the ports busy. Of an instruction of latency 1, which is one uop, and of
// one whose copies wait for each other it says nothing: that is a chain of flags or of the destination.
std::array<PortUse, 2> uses_of(const Shape& shape, const MeasuredCost* cost, PortMask ports,
                               const InstructionCost& whole) {
  const unsigned latency = whole.latency_cycles;
  if (shape.role == nullptr || ports == 0) return {};
  if (latency == 0) return {};  // the renamer does it
  const double throughput = cost == nullptr ? 0 : cost->throughput;
  if (divides(shape.form) && throughput >= 1) {
    const PortUse divider{PortMask{1} << divider_port, 1, whole_cycles(throughput)};
    return {PortUse{ports, 1, 1}, divider};
  }
  if (throughput > longest_pipelined || (is_microcode(shape.form) && throughput >= 1))
    return {PortUse{PortMask{1} << sequencer_port, 1, whole_cycles(throughput)}};
  if (cost != nullptr && cost->port_uops != 0) return {PortUse{ports, cost->port_uops, 1}};
  if (shape.chained) return {PortUse{ports, whole.uops, 1}};
  const double work = throughput * std::popcount(ports);
  const bool one_uop = latency == 1 && std::popcount(ports) > 1;
  const double uops = one_uop ? 1 : std::clamp(static_cast<double>(nearest(work)), 1.0, 200.0);
  return {PortUse{ports, static_cast<u8>(uops), 1}};
}

PortMask ports_for(const Shape& shape, const MeasuredCost* measured, const PortRoles& roles) {
  if (measured != nullptr && measured->ports != 0) return measured->ports;
  return shape.role == nullptr ? 0 : roles.*shape.role;
}

InstructionCost cost_of(const Shape& shape, const MeasuredCost* measured, const PortRoles& roles) {
  const bool timed = measured != nullptr && measured->latency > 0;
  // What was measured without a chain stalls the machine as long.
  const bool stalls = measured != nullptr && measured->latency == 0 && is_microcode(shape.form);
  const double latency = timed ? measured->latency : stalls ? measured->throughput : shape.latency;
  InstructionCost cost;
  cost.latency_cycles = whole_cycles(latency);
  const bool counted = measured != nullptr && measured->form == shape.form && measured->uops != 0;
  cost.uops = counted ? measured->uops : static_cast<u8>(shape.uops);
  if (measured != nullptr && measured->early < cost.latency_cycles) {
    cost.early_cycles = measured->early;
    cost.latency_cycles = static_cast<u16>(cost.latency_cycles - measured->early);
  }
  cost.uses = uses_of(shape, measured, ports_for(shape, measured, roles), cost);
  return cost;
}

// A chain of them shortens as the independent ones do, unless it was measured.
void shorten_division(InstructionCost& cost, const WideDivision& division) {
  const double all = cost.uses[1].cycles;
  const double in_proportion = cost.latency_cycles * division.small_quotient_cycles / all;
  const double measured = division.small_quotient_latency;
  cost.latency_cycles = whole_cycles(measured != 0 ? measured : in_proportion);
  cost.uses[1].cycles = whole_cycles(division.small_quotient_cycles);
}

// The core adds the load, which the measurement has in it.
constexpr u16 load_within = 5;
void leave_out_load(InstructionCost& cost) {
  cost.latency_cycles = static_cast<u16>(cost.latency_cycles - std::min(cost.latency_cycles, load_within));
}

}  // namespace

InstructionForm relative_of(InstructionForm form) {
  const auto* shape = std::ranges::find(shapes, form, &Shape::form);
  return shape == std::end(shapes) ? form : shape->relative;
}

InstructionCosts make_costs(const MeasuredCore& core) {
  InstructionCosts costs;
  costs.load_ports = core.ports.load;
  costs.store_address_ports = core.ports.store_address;
  costs.store_data_ports = core.ports.store_data;
  costs.read_modify_write_uops = core.ports.read_modify_write_uops;
  for (const Shape& shape : shapes)
    costs.by_form[static_cast<unsigned>(shape.form)] =
        cost_of(shape, find_measured(core.forms, shape.form), core.ports);
  for (const Form form : {Form::div_64, Form::idiv_64})
    if (core.division.small_quotient_cycles != 0 && costs.of(form).uses[1].ports != 0)
      shorten_division(costs.by_form[static_cast<unsigned>(form)], core.division);
  for (const Form form : {Form::gather_single_256, Form::gather_128, Form::gather_256, Form::gather_quad_256,
                          Form::string, Form::string_one})
    leave_out_load(costs.by_form[static_cast<unsigned>(form)]);
  return costs;
}

}  // namespace pmusim::costs
