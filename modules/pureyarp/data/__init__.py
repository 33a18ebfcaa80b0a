"""The objects that ports carry, as the bindings name them, and the files that configure them."""
