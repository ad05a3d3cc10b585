// Random walks and random edges from CSR rows.
//
// A walk is a function of the seed, its round and its first node: the number that decides a step is a hash of these and of
// the step. So walks are the same for any number of threads, and in whatever pieces they are asked for.
//
// A neighbor is drawn by multiplying where weights are absent, else by a search in the cumulative sums of all weights. The
// second-order walks of node2vec draw the same way and accept with probability bias / bound. Where going back is preferred to
// all else (1/p > max(1, 1/q)), the preference beyond the bound is a second way of going back, so that the bound stays low.
#include "random.h"
#include "rows.h"

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
namespace walks {

constexpr std::int64_t ABREAST = 64;  // walks that take each step together, so that their cache misses overlap

struct Bias {  // of node2vec: 1/p for going back, 1 for a neighbor of the node before, 1/q for others
    double bound, extra;
    std::uint64_t back, near, far;  // 2^32 times the probability of being accepted

    Bias(double p, double q) : bound(std::max(1., 1 / q)), extra(std::max(0., 1 / p - bound)) {
        auto share = [&](double bias) { return static_cast<std::uint64_t>(std::min(bias, bound) / bound * 0x1p32); };
        need(p > 0 && q > 0 && 1 / p > 0 && 1 / q > 0, "`p` and `q` must be positive");
        back = share(1 / p);
        near = share(1);
        far = share(1 / q);
        need(back && near && far, "`p` and `q` must not differ from 1 and each other by a factor of 2^32");
    }
};

std::int32_t next_node(const Rows &rows, const Bias *bias, std::int32_t before, std::int32_t node,
                       std::uint64_t random) {
    const std::int64_t from = rows.indptr[node], to = rows.indptr[node + 1];
    if (from == to) return -1;
    if (!bias || before < 0) return rows.node(rows.draw(from, to, random));
    double again = 0;  // the probability of the second way of going back
    if (bias->extra > 0) {
        const std::int64_t entry = rows.entry(node, before);
        const double excess = entry < 0 ? 0 : bias->extra * rows.weight(entry, entry + 1);
        again = excess / (bias->bound * rows.weight(from, to) + excess);
    }
    for (std::uint64_t turn = 1;; ++turn) {
        stop_if_asked(turn);
        if (again > 0 && fraction(mixed(random ^ GOLDEN)) < again) return before;
        const std::int32_t other = rows.node(rows.draw(from, to, random));
        const std::uint64_t accepted = other == before                  ? bias->back
                                       : bias->near == bias->far        ? bias->far
                                       : rows.entry(before, other) >= 0 ? bias->near
                                                                        : bias->far;
        if (mixed(~random) >> 32 < accepted) return other;
        random = mixed(random + turn * GOLDEN);
    }
}

template <class Work> void share(std::int64_t count, int threads, Work work) {
    parallel(threads, [&](int t) { work(count * t / threads, count * (t + 1) / threads); });
}

using Walks = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void random_walks(Indptr indptr, Indices indices, Sums sums, Input<std::int32_t> starts, Walks out, std::uint64_t seed,
                  std::uint64_t round, double p, double q, Threads threads) {
    const Rows rows = checked(indptr, indices, sums);
    const Bias second_order(p, q), *bias = p == 1 && q == 1 ? nullptr : &second_order;
    const std::int64_t count = static_cast<std::int64_t>(starts.shape(0)),
                       length = static_cast<std::int64_t>(out.shape(1));
    need(static_cast<std::int64_t>(out.shape(0)) == count, "`out` must have a row for each start");
    need(all_below(starts.data(), starts.shape(0), rows.nodes), "`starts` must be nodes");
    const std::uint64_t salt = mixed(seed + GOLDEN);
    Released released;
    share(count, threads, [&](std::int64_t begin, std::int64_t end) {
        std::uint64_t key[ABREAST];
        for (; begin < end; begin += ABREAST) {
            stop_if_asked();
            const std::int64_t many = std::min(ABREAST, end - begin);
            std::int32_t *const first = out.data() + begin * length;
            for (std::int64_t w = 0; w < many; ++w) {
                const std::int32_t start = starts.data()[begin + w];
                key[w] = mixed(salt ^ (round << 32 | static_cast<std::uint32_t>(start)));
                if (length) first[w * length] = start;
            }
            for (std::int64_t step = 1; step < length; ++step) {
                stop_if_asked(static_cast<std::uint64_t>(step) << 4);
                for (std::int64_t w = 0; w < many; ++w) {
                    std::int32_t *const at = first + w * length + step;
                    const std::uint64_t random = mixed(key[w] + static_cast<std::uint64_t>(step) * GOLDEN);
                    at[0] = at[-1] < 0 ? -1 : next_node(rows, bias, step > 1 ? at[-2] : -1, at[-1], random);
                }
            }
        }
    });
}

void random_edges(Indptr indptr, Indices indices, Sums sums, Walks out, std::uint64_t seed, std::uint64_t first,
                  Threads threads) {
    const Rows rows = checked(indptr, indices, sums);
    const std::int64_t entries = static_cast<std::int64_t>(indices.shape(0));
    need(out.shape(1) == 2 && (entries > 0 || !out.shape(0)), "`out` must be (count, 2), of a graph with edges");
    const std::uint64_t salt = mixed(seed + GOLDEN);
    Released released;
    share(static_cast<std::int64_t>(out.shape(0)), threads, [&](std::int64_t begin, std::int64_t end) {
        in_steps(begin, end, [&](std::size_t i) {
            const std::int64_t entry = rows.draw(0, entries, mixed(salt ^ (first + static_cast<std::uint64_t>(i))));
            const std::int64_t *row = std::upper_bound(rows.indptr, rows.indptr + rows.nodes + 1, entry) - 1;
            out.data()[2 * i] = static_cast<std::int32_t>(row - rows.indptr);
            out.data()[2 * i + 1] = rows.node(entry);
        });
    });
}

}  // namespace walks
}  // namespace

void bind_walks(nb::module_ &module) {
    using namespace walks;
    module.def("random_walks", random_walks, "indptr"_a, "indices"_a, "sums"_a.none(), "starts"_a, "out"_a,
               nb::kw_only(), "seed"_a, "round"_a, "p"_a, "q"_a, "threads"_a);
    module.def("random_edges", random_edges, "indptr"_a, "indices"_a, "sums"_a.none(), "out"_a, nb::kw_only(), "seed"_a,
               "first"_a, "threads"_a);
}
