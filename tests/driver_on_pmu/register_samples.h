// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_ON_PMU_REGISTER_SAMPLES_H
#define PMUSIM_TESTS_DRIVER_ON_PMU_REGISTER_SAMPLES_H

#include <cstring>
#include <vector>

#include "machine.h"
#include "perf/ring_buffer.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/perf/core.h"

/// Known extended registers, and samples as a reader of the ring has them.
namespace pmusim::driver {

/// A register file in which each word tells where it belongs.
inline ExtendedState numbered_state() {
  ExtendedState state;
  const auto fill = [&](StateComponent c, u64 base, std::size_t words) {
    for (u64 n = 0; n < words; ++n) state.write(c, n, {base + n});
  };
  fill(StateComponent::sse, 0x1000, 32);
  fill(StateComponent::avx, 0x2000, 32);
  fill(StateComponent::zmm_hi256, 0x3000, 64);
  fill(StateComponent::hi16_zmm, 0x4000, 128);
  fill(StateComponent::opmask, 0x5000, 8);
  fill(StateComponent::apx, 0x6000, 16);
  state.write(StateComponent::cet_u, 0, {1, 0x7000});
  return state;
}

/// AVX-512, APX and shadow stacks, and PEBS with a group for each.
inline CpuModel model_with_every_group() {
  CpuModel model = model_with_skid("diamondrapids", 0);
  model.policies.pebs_vector_groups = 1;
  return model;
}

/// The words of every sample of a ring.
inline std::vector<std::vector<u64>> samples_of(perf::RingBuffer& ring) {
  std::vector<u64> all;
  perf::RingReader(ring).drain([&](std::span<const std::byte> piece) {
    const std::size_t words = all.size();
    all.resize(words + piece.size() / 8);
    std::memcpy(all.data() + words, piece.data(), piece.size());
  });
  std::vector<std::vector<u64>> samples;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t words = static_cast<std::size_t>(all[at] >> 51);
    if ((all[at] & 0xffffffff) == static_cast<u64>(perf::RecordType::sample))
      samples.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                           all.begin() + static_cast<std::ptrdiff_t>(at + words));
    at += words;
  }
  return samples;
}

}  // namespace pmusim::driver

#endif
