// SPDX-License-Identifier: MIT
#include "core/prefetchers.h"

#include <algorithm>
#include <cstdlib>

namespace pmusim {

namespace {
constexpr unsigned stream_ways = 4;
}

StreamPrefetcher::StreamPrefetcher(const Shape& shape)
    : shape_(shape),
      page_lines_(1 << (page_shift - std::min(page_shift, shape.line_shift))),
      streams_(std::max(shape.pages / stream_ways, 1u), stream_ways) {}

// Whether the stream runs on from here.
bool StreamPrefetcher::follow(Stream& stream, int line) const {
  const int step = line - stream.last;
  if (step == 0) return false;
  const int direction = step > 0 ? 1 : -1;
  const bool near = static_cast<unsigned>(std::abs(step)) <= shape_.gap_lines;
  const bool goes_on = near && stream.step == direction;
  stream.last = line;
  stream.step = near ? direction : 0;
  if (goes_on && !stream.runs) stream.next = line + direction;
  stream.runs = goes_on;
  return goes_on;
}

// Whether a stream has run to that end of a page.
bool StreamPrefetcher::reaches(u64 page, int step) {
  const Stream* const stream = streams_.find(page);
  if (stream == nullptr || !stream->runs || stream->step != step) return false;
  return step > 0 ? stream->next >= page_lines_ : stream->next < 0;
}

// The stream that the first request to a page belongs to.
StreamPrefetcher::Stream StreamPrefetcher::stream_into(u64 page, int line) {
  if (shape_.next_page == 0) return {.last = line};
  const auto near = static_cast<int>(shape_.gap_lines);
  if (line < near && reaches(page - 1, 1)) return {.last = line - 1, .next = line + 1, .step = 1};
  if (line >= page_lines_ - near && reaches(page + 1, -1))
    return {.last = line + 1, .next = line - 1, .step = -1};
  return {.last = line};
}

LineRun StreamPrefetcher::observe(u64 line, unsigned room) {
  if (shape_.pages == 0) return {};
  const u64 page = line >> (page_shift - shape_.line_shift);
  const auto at = static_cast<int>(line & static_cast<u64>(page_lines_ - 1));
  Stream* stream = streams_.find(page);
  if (stream == nullptr) stream = &streams_.insert(page, stream_into(page, at));
  if (!follow(*stream, at)) return {};
  const int step = stream->step;
  if ((stream->next - at) * step <= 0) stream->next = at + step;
  const int ahead = static_cast<int>(shape_.ahead_lines) - (stream->next - at) * step + 1;
  const int to_edge = step > 0 ? page_lines_ - stream->next : stream->next + 1;
  const int most = static_cast<int>(std::min(shape_.burst_lines, room));
  const int lines = std::max(0, std::min({most, ahead, to_edge}));
  const LineRun run{line + static_cast<u64>(static_cast<i64>(stream->next - at)), step,
                    static_cast<unsigned>(lines)};
  stream->next = stream->next + step * lines;
  return run;
}

}  // namespace pmusim
