// SPDX-License-Identifier: MIT
#include "formats/unpacker.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>

namespace pmusim::formats {
namespace {

constexpr u64 max_window_bytes = u64{128} << 20;

class Gzip final : public Unpacker {
 public:
  Gzip() { state_ok_ = ::inflateInit2(&stream_, MAX_WBITS + 16) == Z_OK; }
  ~Gzip() override { ::inflateEnd(&stream_); }

  Progress unpack(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (!state_ok_) return {0, 0, State::damaged};
    if (ended_ && !in.empty()) ::inflateReset(&stream_);  // files may be several, one behind the other
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out =
        static_cast<uInt>(std::min<std::size_t>(out.size(), std::numeric_limits<uInt>::max()));
    const uInt room = stream_.avail_out;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    ended_ = result == Z_STREAM_END;
    const bool ok = result == Z_OK || result == Z_BUF_ERROR || ended_;
    return {in.size() - stream_.avail_in, room - stream_.avail_out,
            !ok      ? State::damaged
            : ended_ ? State::between
                     : State::within};
  }

 private:
  z_stream stream_{};
  bool state_ok_ = false, ended_ = false;
};

class Xz final : public Unpacker {
 public:
  Xz() { state_ok_ = ::lzma_stream_decoder(&stream_, max_window_bytes, LZMA_CONCATENATED) == LZMA_OK; }
  ~Xz() override { ::lzma_end(&stream_); }

  Progress unpack(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (!state_ok_) return {0, 0, State::damaged};
    stream_.next_in = reinterpret_cast<const uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = out.size();
    // Whether another stream follows is known at the end of the file only.
    const lzma_ret result = ::lzma_code(&stream_, in.empty() ? LZMA_FINISH : LZMA_RUN);
    const bool ok = result == LZMA_OK || result == LZMA_BUF_ERROR || result == LZMA_STREAM_END;
    return {in.size() - stream_.avail_in, out.size() - stream_.avail_out,
            !ok                         ? State::damaged
            : result == LZMA_STREAM_END ? State::between
                                        : State::within};
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool state_ok_ = false;
};

class Zstd final : public Unpacker {
 public:
  Zstd() : stream_(::ZSTD_createDStream()) {}
  ~Zstd() override { ::ZSTD_freeDStream(stream_); }

  Progress unpack(std::span<const std::byte> in, std::span<std::byte> out) override {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t result = ::ZSTD_decompressStream(stream_, &output, &input);
    // Called without input behind a frame's end it would announce the next one.
    if (!in.empty() || output.pos != 0) ended_ = result == 0;
    return {input.pos, output.pos,
            ::ZSTD_isError(result) != 0 ? State::damaged
            : ended_                    ? State::between
                                        : State::within};
  }

 private:
  ZSTD_DStream* stream_;
  bool ended_ = false;
};

template <std::size_t n>
bool begins(std::span<const std::byte> text, const std::array<u8, n>& magic) {
  return text.size() >= n && std::equal(magic.begin(), magic.end(), text.begin(),
                                        [](u8 a, std::byte b) { return std::byte{a} == b; });
}

}  // namespace

std::unique_ptr<Unpacker> unpacker_for(std::span<const std::byte> beginning) {
  if (begins(beginning, std::array<u8, 3>{0x1F, 0x8B, 0x08})) return std::make_unique<Gzip>();
  if (begins(beginning, std::array<u8, 6>{0xFD, '7', 'z', 'X', 'Z', 0})) return std::make_unique<Xz>();
  if (begins(beginning, std::array<u8, 4>{0x28, 0xB5, 0x2F, 0xFD})) return std::make_unique<Zstd>();
  return nullptr;
}

}  // namespace pmusim::formats
