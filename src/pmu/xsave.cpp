// XSAVES and XRSTORS of the PMU's own state: component 15, architectural LBR (SDM vol. 1, XSAVES; compacted
// format). The only supervisor component of this unit, so an image is the legacy region, the header and it.
#include <boost/endian/arithmetic.hpp>
#include <cstring>
#include <vector>

#include "pmusim/pmu/pmu.h"

namespace pmusim {

namespace {

constexpr u64 lbr_state = bit(15);  // in RFBM, XSS and XSTATE_BV
constexpr u64 compacted = bit(63);
constexpr u64 legacy_bytes = 512;

/// XSAVE header, at offset 512.
struct XsaveHeader {
  boost::endian::little_uint64_t xstate_bv, xcomp_bv;
  std::array<boost::endian::little_uint64_t, 6> reserved;
};
static_assert(sizeof(XsaveHeader) == 64);

constexpr u64 component_offset = legacy_bytes + sizeof(XsaveHeader);

}  // namespace

Fault Pmu::xsaves(u64 address, u64 rfbm) {
  if (!model_->has_arch_lbr()) return Fault::ud;
  if (address % 64 != 0) return Fault::gp;
  const u64 requested = rfbm & control_.xss() & lbr_state;
  const std::span<std::byte> image =
      memory_.at(address, component_offset + (requested != 0 ? lbr_.component_bytes() : 0));
  if (image.empty()) return Fault::pf;

  const bool in_use = requested != 0 && lbr_.component_in_use();
  XsaveHeader header{};
  header.xstate_bv = in_use ? lbr_state : 0;
  header.xcomp_bv = compacted | requested;
  std::memcpy(image.data() + legacy_bytes, &header, sizeof header);
  // Init optimisation: the image of a component that is not in use stays as it was.
  if (in_use) lbr_.save_component(image.subspan(component_offset));
  return Fault::none;
}

Fault Pmu::xrstors(u64 address, u64 rfbm) {
  if (!model_->has_arch_lbr()) return Fault::ud;
  if (address % 64 != 0) return Fault::gp;
  const std::span<const std::byte> fixed = memory_.at(address, component_offset);
  if (fixed.empty()) return Fault::pf;
  XsaveHeader header;
  std::memcpy(&header, fixed.data() + legacy_bytes, sizeof header);
  const u64 saved = header.xstate_bv, layout = header.xcomp_bv;
  for (const u64 reserved : header.reserved)
    if (reserved != 0) return Fault::gp;
  if ((layout & compacted) == 0 || (saved & ~layout) != 0 || (layout & ~(compacted | control_.xss())) != 0)
    return Fault::gp;

  const u64 requested = rfbm & control_.xss() & lbr_state;
  if (requested == 0) return Fault::none;
  if ((saved & lbr_state) == 0) {
    lbr_.initialize_component();
    return Fault::none;
  }
  const std::span<const std::byte> image = memory_.at(address, component_offset + lbr_.component_bytes());
  if (image.empty()) return Fault::pf;
  return lbr_.restore_component(image.subspan(component_offset));
}

}  // namespace pmusim
