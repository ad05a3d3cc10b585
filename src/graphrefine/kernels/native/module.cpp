// The compiled module: binds each file's functions under one name.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_text(nb::module_ &module);
void bind_edges(nb::module_ &module);

NB_MODULE(_native, module) {
    module.doc() = "Compiled kernels of graphrefine; call them through graphrefine.kernels.";
    bind_text(module);
    bind_edges(module);
}
