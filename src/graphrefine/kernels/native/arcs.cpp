// Graphs larger than memory: a set of ids as bits, ranks in it, and arcs dealt to the files of their rows.
#include "checks.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace nb = nanobind;

namespace {
namespace arcs {

using Weights = std::optional<Input<float>>;
template <class T> using Changed = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr int page = 10;   // a page is 1024 consecutive ids

// Sets the bit of every id, and counts ids by pages.
template <class T> void mark_ids(Changed<uint64_t> bits, Changed<int64_t> pages, int64_t lowest, Input<T> ids) {
    uint64_t *words = bits.data();
    uint64_t *counts = reinterpret_cast<uint64_t *>(pages.data());  // which wrap round instead of overflowing
    const uint64_t limit = 64 * uint64_t(std::min(bits.size(), pages.size() << (page - 6)));
    Released released;
    in_steps(0, ids.size(), [&](size_t i) {
        uint64_t at = uint64_t(int64_t(ids.data()[i])) - uint64_t(lowest);
        need(at < limit, "`ids` must be in the range of the set");
        words[at >> 6] |= uint64_t(1) << (at & 63);
        ++counts[at >> page];
    });
}

// How many ids of the set are smaller: those before the id's word, and those before it in the word.
template <class T>
nb::object rank_ids(Input<uint64_t> bits, Input<int32_t> before, int64_t lowest, Input<T> ids, Threads threads) {
    need(before.size() >= bits.size(), "`before` must have one number for each word of `bits`");
    Buffer<int32_t> ranks(ids.size());
    {
        Released released;
        const uint64_t *words = bits.data();
        const int32_t *earlier = before.data();
        const uint64_t limit = 64 * uint64_t(bits.size());
        parallel(threads, [&](int t) {
            in_steps(ids.size() * t / threads, ids.size() * (t + 1) / threads, [&](size_t i) {
                uint64_t at = uint64_t(int64_t(ids.data()[i])) - uint64_t(lowest);
                need(at < limit, "`ids` must be in the range of the set");
                uint64_t lower = (uint64_t(1) << (at & 63)) - 1;
                ranks[i] = earlier[at >> 6] + __builtin_popcountll(words[at >> 6] & lower);
            });
        });
    }
    return ranks.numpy();
}

// From a row to its bucket: a table of every 2^shift-th row, and a few steps from there.
class Buckets {
    const int32_t *bounds_;
    int shift_ = 0;
    std::vector<int32_t> table_;

  public:
    Buckets(const int32_t *bounds, size_t count) : bounds_(bounds) {
        while ((bounds[count] >> shift_) > (1 << 16)) ++shift_;
        for (int64_t start = 0, bucket = 0; start <= bounds[count]; start += int64_t(1) << shift_) {
            while (bucket + 1 < int64_t(count) && bounds[bucket + 1] <= start) ++bucket;
            table_.push_back(int32_t(bucket));
        }
    }
    int32_t operator[](int32_t row) const {
        int32_t bucket = table_[row >> shift_];
        while (bounds_[bucket + 1] <= row) ++bucket;
        return bucket;
    }
};

// Records (row, column << 1 | direction, and the bits of the weight if there are weights), bucket after bucket and in
// each in the order of the list; and where each bucket begins.
nb::tuple deal_arcs(Input<int32_t> source, Input<int32_t> target, Weights weights, Input<int32_t> bounds, bool both,
                    Threads threads) {
    need(source.size() == target.size(), "`source` and `target` must be equally long");
    need(!weights || weights->size() == source.size(), "`weights` must have one number for each arc");
    need(bounds.size() >= 2 && bounds.data()[0] == 0,
         "`bounds` must begin with 0, and have one number more than there are buckets");
    need(none(bounds.size() - 1, [&](size_t i) { return bounds.data()[i] > bounds.data()[i + 1]; }),
         "`bounds` must not decrease");
    size_t size = source.size(), count = bounds.size() - 1, width = weights ? 3 : 2;
    Buffer<uint32_t> records(size * width * (both ? 2 : 1));
    Buffer<int64_t> offsets(count + 1);
    {
        Released released;
        const int32_t rows = bounds.data()[count];
        need(all_below(source.data(), size, rows), "`source` must be rows of the buckets");
        if (both) need(all_below(target.data(), size, rows), "`target` must be rows of the buckets");
        else need(none(size, [&](size_t i) { return target.data()[i] < 0; }), "`target` must be nodes");
        Buckets buckets(bounds.data(), count);
        std::vector<std::vector<int64_t>> places(size_t(threads.count), std::vector<int64_t>(count));
        auto each = [&](int t, auto visit) {
            in_steps(size * t / threads, size * (t + 1) / threads, [&](size_t i) {
                visit(i, source.data()[i], uint32_t(target.data()[i]) << 1);
                if (both) visit(i, target.data()[i], uint32_t(source.data()[i]) << 1 | 1);
            });
        };
        parallel(threads, [&](int t) {
            int64_t *place = places[t].data();
            each(t, [&](size_t, int32_t row, uint32_t) { ++place[buckets[row]]; });
        });
        int64_t total = 0;
        for (size_t bucket = 0; bucket < count; ++bucket) {
            offsets[bucket] = total;
            for (auto &place : places) total += std::exchange(place[bucket], total);
        }
        offsets[count] = total;
        parallel(threads, [&](int t) {
            int64_t *place = places[t].data();
            each(t, [&](size_t i, int32_t row, uint32_t key) {
                uint32_t *record = records.begin() + width * place[buckets[row]]++;
                record[0] = uint32_t(row);
                record[1] = key;
                if (width == 3) std::memcpy(record + 2, weights->data() + i, 4);
            });
        });
    }
    return nb::make_tuple(records.numpy(), offsets.numpy());
}

}  // namespace arcs
}  // namespace

void bind_arcs(nb::module_ &module) {
    using namespace arcs;
    using namespace nb::literals;
    module.def("mark_ids", &mark_ids<int32_t>, "bits"_a, "pages"_a, "lowest"_a, "ids"_a);
    module.def("mark_ids", &mark_ids<int64_t>, "bits"_a, "pages"_a, "lowest"_a, "ids"_a);
    module.def("rank_ids", &rank_ids<int32_t>, "bits"_a, "before"_a, "lowest"_a, "ids"_a, nb::kw_only(), "threads"_a);
    module.def("rank_ids", &rank_ids<int64_t>, "bits"_a, "before"_a, "lowest"_a, "ids"_a, nb::kw_only(), "threads"_a);
    module.def("deal_arcs", &deal_arcs, "source"_a, "target"_a, nb::kw_only(), "weights"_a.none(), "bounds"_a, "both"_a,
               "threads"_a);
}
