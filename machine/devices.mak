# The board that Linux has drivers for in any configuration.
CONFIG_I440FX=y
