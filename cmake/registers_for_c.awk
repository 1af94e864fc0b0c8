# SPDX-License-Identifier: MIT
# <pmusim/registers.h> of include/pmusim/arch/msr.h: addresses and bits as macros, PMUSIM_MSR_NAME for what stands in
# namespace msr itself and PMUSIM_SPACE_NAME for what stands in one of its own.

# The value of a constant in C; one that this does not know ends the build.
function in_c(value) {
  if (value ~ /^0x[0-9A-F]+$/ || value ~ /^[0-9]+$/) return value "u"
  if (value ~ /^bit\([0-9]+\)$/ || value ~ /^bits\([0-9]+, [0-9]+\)$/) {
    sub(/^bits/, "PMUSIM_BITS", value)
    sub(/^bit\(/, "PMUSIM_BIT(", value)
    return value
  }
  if (value ~ /^u64\{[0-9]+\} << [0-9]+$/) {
    gsub(/u64\{/, "", value)
    sub(/\}/, "ull", value)
    return "(" value ")"
  }
  printf "%s:%d: a value that C is not told: %s\n", FILENAME, FNR, value > "/dev/stderr"
  failed = 1
  exit
}

BEGIN {
  space = "MSR"
  print "/* SPDX-License-Identifier: MIT"
  print " * Addresses and bits of model-specific registers, as the SDM (vol. 4) spells them. Made of <pmusim/arch/msr.h>."
  print " *"
  print " *     pmusim_wrmsr(cpu, PMUSIM_MSR_PERFEVTSEL0 + 1, PMUSIM_EVTSEL_EN | PMUSIM_EVTSEL_USR | 0xC0);"
  print " */"
  print "#ifndef PMUSIM_REGISTERS_H"
  print "#define PMUSIM_REGISTERS_H"
  print ""
  print "#define PMUSIM_BIT(n) (1ull << (n))"
  print "#define PMUSIM_BITS(high, low) ((~0ull >> (63 - (high))) & (~0ull << (low)))"
  print ""
}
/^namespace [a-z_]+ \{/ {
  space = toupper($2)
  sub(/^[^{]*\{ */, "")
  sub(/^\/\/ */, "")
  printf "\n/* %s */\n", $0 == "" ? space : $0
  next
}
/^\}  \/\/ namespace pmusim::msr$/ { exit }  # what follows is of the APIC, and of AMD
/^\}  \/\/ namespace / { space = "MSR"; next }
/^\/\/ [A-Z].*\.$/ && space == "MSR" { sub(/^\/\/ */, ""); printf "\n/* %s */\n", $0; next }
/^inline constexpr u(32|64) / {
  comment = index($0, "//") ? substr($0, index($0, "//") + 3) : ""
  sub(/; *(\/\/.*)?$/, "")
  sub(/^inline constexpr u(32|64) /, "")
  count = gsub(/, [A-Z]/, "\n&")
  count = split($0, constants, "\n")
  for (i = 1; i <= count; ++i) {
    sub(/^, /, "", constants[i])
    split(constants[i], parts, " = ")
    printf "#define PMUSIM_%s_%s %s%s\n", space, parts[1], in_c(parts[2]), comment == "" ? "" : "  /* " comment " */"
  }
}
END {
  if (failed) exit 1
  print "\n#endif"
}
