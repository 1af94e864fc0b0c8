# SPDX-License-Identifier: MIT
# One C++ source out of the examples in the comments of public headers: each block from @code to @endcode is the
# body of a function. Compilers name the header where one is wrong.
#
#   awk -f collect.awk HEADER... > examples.cpp
FNR == 1 {
  header = FILENAME
  sub(/^.*\/include\//, "", header)
  headers = headers "#include \"" header "\"\n"
}
/^ *\/\/\/ @endcode$/ {
  functions = functions "}\n"
  inside = 0
}
inside {
  sub(/^ *\/\/\/ ?/, "")
  functions = functions "  " $0 "\n"
}
/^ *\/\/\/ @code$/ {
  inside = 1
  functions = functions "\nvoid example_" ++examples "() {\n#line " (FNR + 1) " \"" FILENAME "\"\n"
}
END {
  print "#include <fstream>\n#include <iostream>\n\n" headers
  print "namespace pmusim::header_examples {\n" functions "\n}  // namespace pmusim::header_examples"
}
