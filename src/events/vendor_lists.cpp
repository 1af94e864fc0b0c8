// SPDX-License-Identifier: MIT
#include "events/vendor_lists.h"

#include <algorithm>
#include <iterator>

#include "list_sets.h"

namespace pmusim::events::vendor_lists {
namespace sets {
namespace {

/// A product as CPUID names it. Of a hybrid one each type of core has its list.
struct ListedProduct {
  u32 family, model;
  CoreType core;
  Lists list;
};

constexpr CoreType big = CoreType::core, small = CoreType::atom;

constexpr ListedProduct listed_products[] = {
    {6, 0x1A, big, nhm},     {6, 0x1E, big, nhm},     {6, 0x1F, big, nhm},      {6, 0x2E, big, nhm},
    {6, 0x25, big, wsm},     {6, 0x2C, big, wsm},     {6, 0x2F, big, wsm},      {6, 0x2A, big, snb},
    {6, 0x2D, big, snb},     {6, 0x3A, big, ivb},     {6, 0x3E, big, ivb},      {6, 0x3C, big, hsw},
    {6, 0x3F, big, hsw},     {6, 0x45, big, hsw},     {6, 0x46, big, hsw},      {6, 0x3D, big, bdw},
    {6, 0x47, big, bdw},     {6, 0x4F, big, bdw},     {6, 0x56, big, bdw},      {6, 0x4E, big, skl},
    {6, 0x5E, big, skl},     {6, 0x66, big, skl},     {6, 0x8E, big, skl},      {6, 0x9E, big, skl},
    {6, 0xA5, big, skl},     {6, 0xA6, big, skl},     {6, 0x55, big, skx},      {6, 0x7D, big, icl},
    {6, 0x7E, big, icl},     {6, 0x6A, big, icx},     {6, 0x6C, big, icx},      {6, 0x8C, big, tgl},
    {6, 0x8D, big, tgl},     {6, 0xA7, big, rkl},     {6, 0x97, big, adl_p},    {6, 0x9A, big, adl_p},
    {6, 0xB7, big, adl_p},   {6, 0xBA, big, adl_p},   {6, 0xBF, big, adl_p},    {6, 0x8F, big, spr},
    {6, 0xCF, big, emr},     {6, 0xAA, big, mtl_p},   {6, 0xAC, big, mtl_p},    {6, 0xB5, big, mtl_p},
    {6, 0xAD, big, gnr},     {6, 0xAE, big, gnr},     {6, 0xBD, big, lnl_p},    {6, 0xC5, big, arl_p},
    {6, 0xC6, big, arl_p},   {6, 0xCC, big, ptl_p},   {6, 0xD5, big, ptl_p},    {6, 0xE5, big, ptl_p},
    {18, 0x01, big, nvl_p},  {18, 0x03, big, nvl_p},  {6, 0x1C, small, bnl},    {6, 0x26, small, bnl},
    {6, 0x27, small, bnl},   {6, 0x35, small, bnl},   {6, 0x36, small, bnl},    {6, 0x37, small, slm},
    {6, 0x4A, small, slm},   {6, 0x4C, small, slm},   {6, 0x4D, small, slm},    {6, 0x5A, small, slm},
    {6, 0x57, small, knl},   {6, 0x85, small, knl},   {6, 0x5C, small, glm},    {6, 0x5F, small, glm},
    {6, 0x7A, small, glp},   {6, 0x86, small, snr},   {6, 0x96, small, snr},    {6, 0x9C, small, snr},
    {6, 0x97, small, adl_e}, {6, 0x9A, small, adl_e}, {6, 0xB7, small, adl_e},  {6, 0xBA, small, adl_e},
    {6, 0xBE, small, adl_e}, {6, 0xBF, small, adl_e}, {6, 0xAA, small, mtl_e},  {6, 0xAC, small, mtl_e},
    {6, 0xB5, small, mtl_e}, {6, 0xAF, small, srf},   {6, 0xB6, small, srf},    {6, 0xBD, small, lnl_e},
    {6, 0xC5, small, arl_e}, {6, 0xC6, small, arl_e}, {6, 0xCC, small, ptl_e},  {6, 0xD5, small, ptl_e},
    {6, 0xE5, small, ptl_e}, {6, 0xDD, small, cwf},   {18, 0x01, small, nvl_e}, {18, 0x03, small, nvl_e},
};

}  // namespace
}  // namespace sets

Lists list_of(const CpuModel& model) {
  const auto* found = std::ranges::find_if(sets::listed_products, [&](const sets::ListedProduct& p) {
    return p.family == model.family && p.model == model.model && p.core == model.core_type;
  });
  if (found == std::end(sets::listed_products)) return 0;
  constexpr u32 first_stepping_of_second_server = 5;
  return found->list == sets::skx && model.stepping >= first_stepping_of_second_server ? sets::clx
                                                                                       : found->list;
}

}  // namespace pmusim::events::vendor_lists
