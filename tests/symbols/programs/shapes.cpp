// SPDX-License-Identifier: MIT
// A program with what symbols have to cope with: templates, inlining, virtual calls, a namespace without a
// name.
//
// Usage: shapes [rounds]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace geometry {

struct Shape {
  virtual ~Shape() = default;
  virtual unsigned long area(unsigned long seed) const = 0;
};

template <class Number, int Sides>
struct Polygon : Shape {
  explicit Polygon(Number side) : side_(side) {}
  __attribute__((noinline)) unsigned long area(unsigned long seed) const override {
    unsigned long sum = 0;
    for (int i = 0; i < Sides; ++i)
      sum += (seed >> i & 1) != 0 ? static_cast<unsigned long>(side_) : seed % 7;
    return sum;
  }
  Number side_;
};

}  // namespace geometry

namespace {

__attribute__((always_inline)) inline unsigned long mixed(unsigned long value) {
  value ^= value >> 33;
  return value * 0xff51afd7ed558ccdUL;
}

__attribute__((always_inline)) inline unsigned long mixed_twice(unsigned long value) {
  return mixed(mixed(value) + 1);
}

__attribute__((noinline)) unsigned long total(const std::vector<std::unique_ptr<geometry::Shape>>& shapes,
                                              unsigned long rounds) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < rounds; ++i) sum += shapes[mixed_twice(i) % shapes.size()]->area(mixed(i));
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::unique_ptr<geometry::Shape>> shapes;
  shapes.push_back(std::make_unique<geometry::Polygon<int, 3>>(5));
  shapes.push_back(std::make_unique<geometry::Polygon<long, 4>>(9));
  std::printf("%lu\n", total(shapes, argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000));
}
