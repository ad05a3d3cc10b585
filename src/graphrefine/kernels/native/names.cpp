// Strings of a column to numbers: distinct ones in the order of their bytes, by a hash that differs from process to process.
#include "checks.h"
#include "names.h"

namespace nb = nanobind;

namespace {
namespace names {

// The number of each string, and where each distinct one, in the order of their bytes, is first. String i is in the bytes from
// offsets[i] to before offsets[i + 1].
nb::tuple number_strings(Input<uint8_t> text, Input<int64_t> offsets) {
    need(offsets.size() >= 1, "`offsets` must have one number more than there are strings");
    const size_t count = offsets.size() - 1;
    const int64_t *const ends = offsets.data();
    need(ends[0] >= 0 && ends[count] <= int64_t(text.size()) &&
             none(count, [=](size_t i) { return ends[i] > ends[i + 1]; }),
         "`offsets` must not decrease, from 0 to the number of bytes");
    Buffer<int32_t> numbers(count);
    Buffer<int64_t> firsts;
    {
        Released released;
        const char *const begin = reinterpret_cast<const char *>(text.data());
        Numbering numbering;
        std::vector<Name> names;
        std::vector<int64_t> first;
        in_steps(0, count, [&](size_t i) {
            const size_t size = size_t(ends[i + 1] - ends[i]);
            numbers[i] = number(numbering, names, {begin + ends[i], size, hash_bytes(begin + ends[i], size)});
            if (first.size() < names.size()) first.push_back(int64_t(i));
        });
        const std::vector<int32_t> order = sort_names(names);
        std::vector<int32_t> rank(names.size());
        firsts = Buffer<int64_t>(names.size());
        for (size_t i = 0; i < order.size(); ++i) {
            rank[order[i]] = int32_t(i);
            firsts[i] = first[order[i]];
        }
        in_steps(0, count, [&](size_t i) { numbers[i] = rank[numbers[i]]; });
    }
    return nb::make_tuple(numbers.numpy(), firsts.numpy());
}

}  // namespace names
}  // namespace

void bind_names(nb::module_ &module) {
    using namespace names;
    using namespace nb::literals;
    module.def("number_strings", &number_strings, "text"_a, "offsets"_a);
}
