// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_COSTS_PORT_ROLES_H
#define PMUSIM_SRC_CPU_COSTS_PORT_ROLES_H

#include "pmusim/cpu/core_parameters.h"

namespace pmusim::costs {

/// Ports by the kind of work that they do. Those of big cores are published or seen in LLVM's scheduling
/// models.
struct PortRoles {
  PortMask alu = 0, shift = 0, multiply = 0, branch = 0, taken_branch = 0, lea = 0, lea_three = 0, scan = 0;
  PortMask condition = 0;  ///< what reads flags
  PortMask load = 0, store_address = 0, store_data = 0;
  PortMask vector_load = 0;  ///< beside `load`, where fewer of them have room for a vector
  PortMask fp_add = 0, fp_multiply = 0, fp_divide = 0, fp_compare = 0;
  PortMask vector = 0, logic = 0, shuffle = 0, lanes = 0, vector_multiply = 0, vector_shift = 0;
  PortMask to_vector = 0, from_vector = 0, convert = 0, convert_precision = 0, encryption = 0;
  u8 read_modify_write_uops = 2;  ///< small cores keep an instruction that loads, computes and stores whole
};

}  // namespace pmusim::costs

#endif
