# A bug in the kernel's LBR: a mispredicted branch is called well predicted.
# A script and no patch, so that no line of the kernel stands here.
s/= mis\b/= 0 \& mis/
