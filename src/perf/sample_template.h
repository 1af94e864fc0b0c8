// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_SAMPLE_TEMPLATE_H
#define PMUSIM_SRC_PERF_SAMPLE_TEMPLATE_H

#include "perf/sample_output.h"

namespace pmusim::perf {

/// Whether samples of the event are of a fixed form: words that the record or the moment decides, a branch
/// stack without counters, general registers and XMM as a whole. Where its layout limits the entries of a
/// stack, it is fixed for stacks within the limit.
bool has_sample_template(const Event& event);

/// The template of such an event, without ring and clock.
SampleTemplate make_sample_template(const Event& event, const Moment& moment, const InterruptFrame& frame);

}  // namespace pmusim::perf

#endif
