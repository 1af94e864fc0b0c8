#include "pmusim/cpu/microarchitecture.h"

#include <algorithm>
#include <initializer_list>

namespace pmusim {
namespace {

using enum Microarchitecture;

struct ProductRow {
  u32 family;
  std::initializer_list<u8> models;
  ProductCores cores;
};

constexpr ProductCores plain(Microarchitecture core) { return {core, core}; }

// Families 18 and 19 are decimal here as in CPUID's own sum: base 15 plus extended 3 and 4.
const ProductRow products[] = {
    {6, {0x0F, 0x16, 0x17, 0x1D}, plain(core2)},
    {6, {0x1A, 0x1E, 0x1F, 0x2E}, plain(nehalem)},
    {6, {0x25, 0x2C, 0x2F}, plain(westmere)},
    {6, {0x2A, 0x2D}, plain(sandy_bridge)},
    {6, {0x3A, 0x3E}, plain(ivy_bridge)},
    {6, {0x3C, 0x3F, 0x45, 0x46}, plain(haswell)},
    {6, {0x3D, 0x47, 0x4F, 0x56}, plain(broadwell)},
    {6, {0x4E, 0x5E, 0x8E, 0x9E, 0xA5, 0xA6, 0x66}, plain(skylake)},
    {6, {0x55}, plain(skylake_x)},
    {6, {0x7D, 0x7E, 0x6A, 0x6C, 0x8C, 0x8D, 0xA7}, plain(ice_lake)},
    {6, {0x8A}, {ice_lake, tremont}},
    {6, {0x97, 0x9A, 0xB7, 0xBA, 0xBF}, {golden_cove, gracemont}},
    {6, {0x8F, 0xCF, 0xD7}, plain(golden_cove)},
    {6, {0xAC, 0xAA, 0xB5}, {redwood_cove, crestmont}},
    {6, {0xAD, 0xAE}, plain(redwood_cove)},
    {6, {0xBD, 0xC5, 0xC6}, {lion_cove, skymont}},
    {6, {0xCC, 0xE5, 0xD5}, {cougar_cove, darkmont}},
    {18, {0x01, 0x03}, {coyote_cove, arctic_wolf}},
    {19, {0x01}, plain(panther_cove)},
    {6, {0x1C, 0x26, 0x27, 0x35, 0x36}, plain(bonnell)},
    {6, {0x37, 0x4A, 0x4D, 0x5A, 0x5D, 0x4C}, plain(silvermont)},
    {6, {0x57, 0x85}, plain(knights_landing)},
    {6, {0x5C, 0x5F}, plain(goldmont)},
    {6, {0x7A}, plain(goldmont_plus)},
    {6, {0x86, 0x96, 0x9C}, plain(tremont)},
    {6, {0xBE}, plain(gracemont)},
    {6, {0xAF, 0xB6}, plain(crestmont)},
    {6, {0xDD}, plain(darkmont)},
};

}  // namespace

ProductCores product_cores(u32 family, u32 model) {
  for (const ProductRow& row : products)
    if (row.family == family && std::ranges::find(row.models, model) != row.models.end()) return row.cores;
  return {};
}

bool has_unreliable_pebs(u32 family, u32 model) { return family == 6 && model == 0x0F; }

}  // namespace pmusim
