# SPDX-License-Identifier: MIT
# A C source that defines what pmusim.h declares, for a library whose debug information is the interface as programs
# in C see it, with no word of what is behind it. Each enumeration becomes the parameter of a function, since most of
# them are passed as numbers.
#
#   awk -f abi_stub.awk include/pmusim/pmusim.h > stub.c
BEGIN { print "#include \"pmusim/pmusim.h\"\n" }
/^enum [a-z_0-9]+ \{/ { enumerations = enumerations "void abi_of_" $2 "(enum " $2 " value);\nvoid abi_of_" $2 "(enum " $2 " value) { (void)value; }\n" }
/^PMUSIM_API / { inside = 1 }
inside {
  sub(/^PMUSIM_API /, "")
  declaration = declaration " " $0
  if ($0 !~ /;$/) next
  sub(/;$/, " { for (;;) {} }", declaration)
  print declaration
  declaration = ""
  inside = 0
}
END { print enumerations }
