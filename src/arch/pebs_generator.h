// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_PEBS_GENERATOR_H
#define PMUSIM_ARCH_PEBS_GENERATOR_H

#include <vector>

#include "pmusim/arch/debug_store.h"

namespace pmusim::pebs {

/// Groups of the records to make, beyond those that the format always has.
struct RecordGroups {
  bool memory = false, gprs = false, xmm = false;
  u64 other_vectors = 0;  ///< architectural: vector groups beside XMM, as CFG_C has them
  u32 lbr_entries = 0;    ///< adaptive: 0..256; architectural: 0, 8, 16 or 32
};

/// What a synthetic PEBS buffer shall look like.
struct GeneratorOptions {
  unsigned format = 3;  ///< 0..6 or 15 (architectural)
  unsigned events = 4;  ///< on GP counters 0..events-1; 1..32
  u64 records = 0;
  unsigned collisions_permille = 0;  ///< records that name two counters; needs two events
  u64 seed = 1;
  RecordGroups groups;     ///< adaptive and architectural formats
  u32 fragment_bytes = 0;  ///< architectural: longer records are split between groups; 0 never
};

/// The bytes between base and index of a PEBS buffer, with what a demultiplexer must know of it.
struct GeneratedBuffer {
  unsigned format = 0;
  u64 enabled = 0;       ///< counters
  u32 record_bytes = 0;  ///< of each record, all its fragments
  std::vector<std::byte> bytes;
};

/// Makes a buffer. Options determine every byte. Formats 1 and 2 have status copies, later ones applicable
/// counters; a record that names two counters is a collision in the former and a shared record in the latter.
/// The TSC ascends; addresses are those of a small user program.
GeneratedBuffer generate_buffer(const GeneratorOptions& options);
/// So many buffers for a benchmark to go through in turn, as branch prediction learns one that repeats: with
/// seeds 0, 1, ..., and each with the records that fit into `bytes`.
std::vector<GeneratedBuffer> generate_rotation(GeneratorOptions options, u64 bytes, unsigned buffers);

}  // namespace pmusim::pebs

#endif
