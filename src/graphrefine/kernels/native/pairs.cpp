// How often walks from each node meet each other node: the counts of which NetSMF's sparsifier is made.
//
// All walks of a node are counted into its own row, so a row belongs to one thread and needs one counter for each node. The
// step of a walk is decided by a hash of the seed, its start, its number and the step, so counts never depend on the threads.
#include "random.h"
#include "rows.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
namespace pairs {

constexpr std::int64_t ABREAST = 64;  // walks that take each step together, so that their cache misses overlap
constexpr std::int64_t CHUNK = 16;  // rows that a thread takes at a time
constexpr std::int64_t MOST = std::numeric_limits<std::int32_t>::max();  // steps of the walks of a node

struct Counts {
    std::vector<std::int32_t> columns, counts;  // of all rows of a chunk, ascending within each
};

class Counter {
    const Rows &rows_;
    std::vector<std::int32_t> counts_;  // of each node; all zero between rows
    std::vector<std::int32_t> met_;  // the nodes that were met, and room for one more
    std::size_t size_ = 0;

  public:
    explicit Counter(const Rows &rows) : rows_(rows), counts_(rows.nodes), met_(rows.nodes + 1) {}

    // Counts the nodes that walks from `start` meet after each of 1 ... length steps.
    void walk(std::int32_t start, std::int64_t walks, std::int64_t length, std::uint64_t salt) {
        const std::uint64_t own = mixed(salt ^ static_cast<std::uint64_t>(start));
        std::uint64_t key[ABREAST];
        std::int32_t at[ABREAST];
        for (std::int64_t first = 0; first < walks; first += ABREAST) {
            stop_if_asked(first);
            const std::int64_t many = std::min(ABREAST, walks - first);
            for (std::int64_t w = 0; w < many; ++w) {
                key[w] = mixed(own + static_cast<std::uint64_t>(first + w) * GOLDEN);
                at[w] = start;
            }
            for (std::int64_t step = 1; step <= length; ++step) {
                for (std::int64_t w = 0; w < many; ++w) {
                    const std::uint64_t random = mixed(key[w] + static_cast<std::uint64_t>(step) * GOLDEN);
                    const std::int64_t from = rows_.indptr[at[w]], to = rows_.indptr[at[w] + 1];
                    need(from < to, "a walk came to a node without neighbors");
                    at[w] = rows_.node(rows_.draw(from, to, random));
                }
                for (std::int64_t w = 0; w < many; ++w) {  // without a branch: whether a node is new cannot be foreseen
                    met_[size_] = at[w];
                    size_ += counts_[at[w]]++ == 0;
                }
            }
        }
    }

    // Moves the counts from column `start` on to the end of `out`, and forgets all.
    std::int64_t take(std::int32_t start, Counts &out) {
        const std::size_t before = out.columns.size();
        for (std::size_t i = 0; i < size_; ++i)
            if (met_[i] >= start) out.columns.push_back(met_[i]);
            else counts_[met_[i]] = 0;
        std::sort(out.columns.begin() + before, out.columns.end());
        for (std::size_t i = before; i < out.columns.size(); ++i)
            out.counts.push_back(std::exchange(counts_[out.columns[i]], 0));
        size_ = 0;
        return static_cast<std::int64_t>(out.columns.size() - before);
    }
};

nb::tuple walk_pairs(Indptr indptr, Indices indices, Sums sums, std::int64_t first, Input<std::int64_t> walks,
                     std::int64_t length, std::uint64_t seed, Threads threads) {
    const Rows rows = checked(indptr, indices, sums);
    const std::int64_t count = static_cast<std::int64_t>(walks.shape(0));
    need(first >= 0 && first <= rows.nodes - count, "`walks` must be one number for each of some rows");
    for (std::int64_t i = 0; i < count; ++i) {
        need(!walks.data()[i] || rows.degree(static_cast<std::int32_t>(first + i)),
             "a node without neighbors has no walks");
        need(walks.data()[i] <= 0 || (walks.data()[i] <= MOST && length <= MOST / walks.data()[i]),
             "there are more steps of walks than can be counted");
    }
    const std::uint64_t salt = mixed(seed + 2 * GOLDEN);
    std::vector<Counts> chunks((count + CHUNK - 1) / CHUNK);
    Buffer<std::int64_t> ends(count + 1);
    Buffer<std::int32_t> columns, counts;
    {
        Released released;
        std::atomic<std::int64_t> next{0};
        parallel(threads, [&](int) {
            Counter counter(rows);
            for (std::int64_t chunk; !is_stopped() && (chunk = next++) < static_cast<std::int64_t>(chunks.size());)
                for (std::int64_t row = chunk * CHUNK; row < std::min(count, (chunk + 1) * CHUNK); ++row) {
                    counter.walk(static_cast<std::int32_t>(first + row), walks.data()[row], length, salt);
                    ends[row + 1] = counter.take(static_cast<std::int32_t>(first + row), chunks[chunk]);
                }
        });
        ends[0] = 0;
        for (std::int64_t row = 0; row < count; ++row) ends[row + 1] += ends[row];
        columns = Buffer<std::int32_t>(ends[count]);
        counts = Buffer<std::int32_t>(ends[count]);
        for (std::int64_t chunk = 0; chunk < static_cast<std::int64_t>(chunks.size()); ++chunk) {
            const Counts moved = std::move(chunks[chunk]);  // freed at the end of its turn
            std::copy(moved.columns.begin(), moved.columns.end(), columns.begin() + ends[chunk * CHUNK]);
            std::copy(moved.counts.begin(), moved.counts.end(), counts.begin() + ends[chunk * CHUNK]);
        }
    }
    return nb::make_tuple(ends.numpy(), columns.numpy(), counts.numpy());
}

}  // namespace pairs
}  // namespace

void bind_pairs(nb::module_ &module) {
    using namespace pairs;
    module.def("walk_pairs", walk_pairs, "indptr"_a, "indices"_a, "sums"_a.none(), "first"_a, "walks"_a, nb::kw_only(),
               "length"_a, "seed"_a, "threads"_a);
}
