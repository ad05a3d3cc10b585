// Edge arrays to CSR.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_edges(nb::module_ &) {}
