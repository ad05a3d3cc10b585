// Text edge lists to arrays.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_text(nb::module_ &) {}
