// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_RECORDING_H
#define PMUSIM_LINUX_HOST_RECORDING_H

#include "host/watched_program.h"
#include "pmusim/session/record.h"
#include "session/record_sink.h"

namespace pmusim::linux_driver {

/// The record() of a session, with the kernel's own events, ring and driver. Errors: an event that the kernel
/// refuses; a damaged trace; those of the sink.
Result<RecordSummary, Error> record_into(RecordSink& sink, KernelMachine& machine, WatchedProgram& program,
                                         const RecordOptions& options);

}  // namespace pmusim::linux_driver

#endif
