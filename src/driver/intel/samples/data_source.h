// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_DATA_SOURCE_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_DATA_SOURCE_H

#include "driver/intel/enumeration.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

/// What the driver must know to read data-source words.
struct DataSourceReader {
  DataSourceEncoding encoding = DataSourceEncoding::none;
  bool persistent_memory = false;  ///< server parts: codes 8 and 9 are PMEM, on clients an L4 cache

  static DataSourceReader of(const Enumeration& enumeration);

  /// PERF_SAMPLE_DATA_SRC of a load-latency record.
  u64 load(u64 word) const;
  /// The same of a store-latency record.
  u64 store(u64 word) const;

 private:
  u64 blocked(u64 word) const;
};

/// PERF_SAMPLE_DATA_SRC of Sandy Bridge's precise stores.
u64 precise_store_source(u64 word);
/// PERF_SAMPLE_DATA_SRC of memory events that report an address, and for stores a hit bit.
u64 load_address_source();
u64 store_address_source(u64 word);

}  // namespace pmusim::driver

#endif
