// A graph that changes, and the vectors that follow it; the mathematics is in docs/explanation/live-bounds.md.
//
// G is kept near the fixed point of  G = a R + (1 - a) T G.  T is (A + loop I) with rows that add up to 1, and row i of R is a
// function of row i of A and of parts that are frozen:  R_i = (q / |q| - mean) W,  q = sum over j of (ln A_ij - ln d_i + shift_j) B_j.
// For each node a number `lag` bounds the length of its residual  a R^ + (1 - a) T G - G  (R^: R as it was last made), and `drift`
// the length by which q has moved since. A change of an edge raises both at its two ends, a row of G that moves raises `lag` at
// its neighbors, and `settle` makes rows anew, each of which then has no lag but that of rounding, until all are within the
// tolerance. The vector of a node is  F = (G - a R^) / (1 - a), near T G. It is published once it has moved by a share of its
// length since it last was. The order of all of it is a function of the changes: the same changes give the same bits.
//
// The state is in live_state.h, and what follows a change in live_bounds.h, live_undo.h and live_hubs.h.
#include "live_hubs.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string>
#include <tuple>

using namespace nb::literals;

namespace {

class LiveGraph : public LiveHubs {
    void set_weight(std::int32_t u, std::int32_t v, float before, float after) {
        undone_.push_back({u, v, before});
        keep(u), keep(v);
        put(u, v, after), put(v, u, after);
        note(u, v, before, after), note(v, u, before, after);
        change_hub(u, v, before, after), change_hub(v, u, before, after);
    }

    double hub_residual(std::int32_t u) {
        Node &node = nodes_[u];
        if (hubs_.is_worn(node.hub, node.count, node.degree + loop_)) make_hub(u);
        return residual(u, hubs_.states(node.hub));
    }

    // ---- rows made anew ---------------------------------------------------------------------------------------------------------

    double make_target(std::int32_t u) {  // R, and how far it moved
        Node &node = nodes_[u];
        float *row = R_[u];
        energy_ -= records_[u].energy, captured_ -= node.length * node.length;
        if (node.hub < 0) node.degree = sum_weights(node);  // anew, without the rounding of many changes
        const double own = node.degree > 0 ? logarithm(node.degree) : 0;
        node.drift = 0, node.length = node.hub < 0 ? sum_entries(u, own) : sum_hub(u, own);
        energy_ += records_[u].energy, captured_ += node.length * node.length;
        if (node.length > 0) {
            for (std::int64_t c = 0; c < columns_; ++c) sum_[c] = sum_[c] / node.length - mean_[c];
            arithmetic->rotate(sum_.data(), rotation_.data(), columns_, turned_.data());
        } else {
            std::fill(turned_.begin(), turned_.end(), 0.);
        }
        double squares = 0;
        for (std::int64_t c = 0; c < columns_; ++c) {
            const float fresh = static_cast<float>(turned_[c]);
            const double step = static_cast<double>(fresh) - row[c];
            squares += step * step;
            row[c] = fresh;
        }
        return std::sqrt(squares) * UP;
    }
    // q of a node and the energy of its row, from its edges; the length of q
    double sum_entries(std::int32_t u, double own) {
        const Node &node = nodes_[u];
        const std::int32_t *others = neighbors_.data() + node.start;
        const float *weights = weights_.data() + node.start;
        double energy = 0;
        known_neighbors_.clear(), factors_.clear();
        for (std::int32_t e = 0; e < node.count; ++e) {
            const double entry = shifted(others[e], weights[e]) - own;
            energy += entry * entry;
            if (is_in_basis(others[e])) known_neighbors_.push_back(others[e]), factors_.push_back(entry);
        }
        records_[u].energy = energy;
        const std::int64_t count = static_cast<std::int64_t>(factors_.size());
        if (!count) return 0;
        gathered_ += count;
        arithmetic->sum_precisely(known_neighbors_.data(), factors_.data(), count, basis_.data(), columns_, sum_.data());
        double squares = 0;
        for (const double x : sum_) squares += x * x;
        return std::sqrt(squares);
    }

    double make_state(std::int32_t u) {  // G, and how far it moved: `step_`, and its length
        Node &node = nodes_[u];
        float *row = G_[u];
        const float *target = R_[u];
        const double *sum = node.hub < 0 ? gather(u) : hubs_.states(node.hub);
        const double share = inverse(node), loop = (1 - a_) * loop_ * share, scale = 1 / (1 - loop);
        if (node.count) arithmetic->make_state(target, a_, sum, (1 - a_) * share, scale, columns_, row, step_.data());
        else for (std::int64_t c = 0; c < columns_; ++c) step_[c] = -static_cast<double>(row[c]), row[c] = 0.f;
        double squares = 0;
        for (const double x : step_) squares += x * x;
        node.lag = rounding_;
        return std::sqrt(squares) * UP;
    }
    const double *gather(std::int32_t u) {
        const Node &node = nodes_[u];
        gathered_ += node.count;
        arithmetic->sum_rows(neighbors_.data() + node.start, weights_.data() + node.start, node.count, G_.begin(), columns_, sum_.data());
        return sum_.data();
    }
    double residual(std::int32_t u, const double *sum) const {
        const Node &node = nodes_[u];
        const float *row = G_[u], *target = R_[u];
        const double share = inverse(node);
        double squares = 0;
        for (std::int64_t c = 0; c < columns_; ++c) {
            const double rest = a_ * target[c] + (1 - a_) * share * (sum[c] + loop_ * row[c]) - row[c];
            squares += rest * rest;
        }
        return std::sqrt(squares) * UP + rounding_;
    }

    double length_of(std::int32_t u) const { return arithmetic->length(G_[u], 1 / (1 - a_), R_[u], -a_ / (1 - a_), R_[u], 0, columns_); }

    void publish(std::int32_t u) {
        Record &record = records_[u];
        record.unpublished = 0;
        if (record.published != group_) record.published = group_, published_.push_back(u);
    }

    void make(std::int32_t u) {
        keep_rows(u);
        Node &node = nodes_[u];
        ++made_;
        const double turn = node.drift > 0 ? make_target(u) : 0;
        bool moves = true;
        if (node.hub >= 0) {  // few of its neighbors' steps add up: what they come to is known without the neighbors
            node.lag = hub_residual(u);
            moves = node.lag > tolerance_ / 2;
        }
        const double step = moves ? make_state(u) : 0;
        records_[u].unpublished += (step + a_ * turn) / (1 - a_) * UP;
        if (records_[u].unpublished > publish_ * length_of(u)) publish(u);
        if (step > 0) tell_neighbors(u, step);
    }
    void tell_neighbors(std::int32_t u, double step) {
        const Node &node = nodes_[u];
        const std::int32_t *others = neighbors_.data() + node.start;
        const float *weights = weights_.data() + node.start;
        for (std::int32_t e = 0; e < node.count; ++e) {
            if (e + 8 < node.count) __builtin_prefetch(&nodes_[others[e + 8]]);
            Node &other = nodes_[others[e]];
            keep(others[e]);
            other.lag += (1 - a_) * weights[e] * inverse(other) * step * UP;
            if (other.hub >= 0) {
                arithmetic->add_step(hubs_.states(other.hub), weights[e], step_.data(), columns_);
                ++hubs_.numbers(other.hub).updates;
            }
            if (!other.queued && total_lag(other) > tolerance_) other.queued = true, queue_.push_back(others[e]);
        }
    }

    void check_node(std::int64_t u) const { need(u >= 0 && u < static_cast<std::int64_t>(nodes_.size()), "there is no such node"); }

public:
    LiveGraph(const Input<std::int64_t> &indptr, const Input<std::int32_t> &indices, const std::optional<Input<float>> &weights,
              const Matrix<const float> &basis, const Input<float> &shifts, const Matrix<const double> &rotation, const Input<double> &mean, double keep,
              double loop, double tolerance, double rounding, double spread, double publish, std::int64_t hub) {
        columns_ = static_cast<std::int64_t>(basis.shape(1));
        known_ = static_cast<std::int64_t>(basis.shape(0));
        basis_ = basis;
        a_ = keep;
        loop_ = loop;
        tolerance_ = tolerance;
        rounding_ = rounding;
        spread_ = spread;
        publish_ = publish;
        hub_ = hub;
        const std::int64_t rows = static_cast<std::int64_t>(indptr.shape(0)) - 1, entries = static_cast<std::int64_t>(indices.shape(0));
        need(rows >= 0 && indptr.data()[0] == 0 && indptr.data()[rows] == entries, "`indptr` must run from 0 to the number of entries");
        need(!weights || static_cast<std::int64_t>(weights->shape(0)) == entries, "`weights` must have one number for each entry");
        need(columns_ > 0 && columns_ % 32 == 0 && known_ <= rows, "`basis` has a row for each of the first nodes, padded to a multiple of 32");
        need(static_cast<std::int64_t>(shifts.shape(0)) == known_, "`shifts` must have one number for each row of the basis");
        need(static_cast<std::int64_t>(rotation.shape(0)) == columns_ && rotation.shape(1) == rotation.shape(0), "`rotation` must be columns x columns");
        need(static_cast<std::int64_t>(mean.shape(0)) == columns_, "`mean` must have one number for each column");
        need(keep > 0 && keep < 1 && loop > 0, "`keep` lies between 0 and 1, and the loop is positive");
        need(rounding >= 0 && tolerance * keep > rounding && spread >= 0 && publish >= 0, "the tolerance is above the rounding over `keep`; nothing is negative");
        for (std::int64_t i = 0; i < rows; ++i) need(indptr.data()[i] <= indptr.data()[i + 1], "`indptr` must not decrease");
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t e = indptr.data()[i]; e < indptr.data()[i + 1]; ++e)
                need(indices.data()[e] >= 0 && indices.data()[e] < rows && indices.data()[e] != i && (e == indptr.data()[i] || indices.data()[e - 1] < indices.data()[e]),
                     "`indices` must be other nodes, ascending in each row");
        need(hub > 0, "a hub has neighbors");
        nodes_.resize(rows), records_.resize(rows);
        neighbors_.assign(indices.data(), indices.data() + entries);
        if (weights) weights_.assign(weights->data(), weights->data() + entries);
        else weights_.assign(entries, 1.f);
        entries_ = entries;
        for (std::int64_t i = 0; i < rows; ++i) {
            Node &node = nodes_[i];
            node.start = indptr.data()[i], node.count = node.room = static_cast<std::int32_t>(indptr.data()[i + 1] - node.start);
            for (std::int64_t e = node.start; e < node.start + node.count; ++e)
                need(weights_[e] > 0 && is_weight(weights_[e]), "`weights` must lie between 2^-100 and 2^100");
            node.degree = sum_weights(node);
            need(node.degree <= LARGEST_DEGREE, "the weights of a node must add up to 2^120 at most");
            node.drift = NEVER;
        }
        shift_.assign(shifts.data(), shifts.data() + known_);
        for (const float shift : shift_) typical_shift_ += shift;
        typical_shift_ /= std::max<double>(1, static_cast<double>(known_));
        reach_.resize(known_);
        for (std::int64_t i = 0; i < known_; ++i) {
            double squares = 0;
            for (std::int64_t c = 0; c < columns_; ++c) squares += static_cast<double>(basis.data()[i * columns_ + c]) * basis.data()[i * columns_ + c];
            reach_[i] = static_cast<float>(std::sqrt(squares) * (1 + 1e-6));
        }
        rotation_.assign(rotation.data(), rotation.data() + columns_ * columns_);
        mean_.assign(mean.data(), mean.data() + columns_);
        R_.columns = G_.columns = columns_;
        R_.resize(rows), G_.resize(rows);
        sum_.resize(columns_), turned_.resize(columns_), step_.resize(columns_);
        hubs_.set_columns(columns_);
        nodes_before_ = rows;
    }

    void set_tolerance(double tolerance) {
        need(tolerance * a_ > rounding_, "the tolerance is above the rounding over `keep`");
        tolerance_ = tolerance;
        look_at_all();
    }

    void add_nodes(std::int64_t count) {
        need(count >= 0 && count <= std::numeric_limits<std::int32_t>::max() - nodes(), "there are too many nodes");
        nodes_.resize(nodes_.size() + count), records_.resize(nodes_.size());
        R_.resize(nodes()), G_.resize(nodes());
        for (std::int64_t u = nodes() - count; u < nodes(); ++u) {
            std::fill(R_[u], R_[u] + columns_, 0.f), std::fill(G_[u], G_[u] + columns_, 0.f);
            publish(static_cast<std::int32_t>(u));
        }
    }

    // The changes in order: NONE, or the first that cannot be made, and why; those before it are made.
    std::tuple<std::int64_t, int> change(const Input<std::uint8_t> &operations, const Input<std::int32_t> &sources, const Input<std::int32_t> &targets,
                                         const Input<float> &weights, bool skip) {
        const std::size_t count = operations.shape(0);
        need(sources.shape(0) == count && targets.shape(0) == count && weights.shape(0) == count, "a change has an operation, two ends and a weight");
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t u = sources.data()[i], v = targets.data()[i];
            check_node(u), check_node(v);
            need(operations.data()[i] <= ISOLATE && (u != v || operations.data()[i] == ISOLATE), "an edge joins two nodes");
        }
        std::int64_t skipped = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t u = sources.data()[i], v = targets.data()[i];
            if (operations.data()[i] == ISOLATE) {
                while (nodes_[u].count) {
                    const std::int64_t last = nodes_[u].start + nodes_[u].count - 1;
                    set_weight(u, neighbors_[last], weights_[last], 0.f);
                }
                continue;
            }
            const float before = weight(u, v), given = weights.data()[i];
            const float after = operations.data()[i] == REMOVE ? 0.f : operations.data()[i] == ADD ? before + given : given;
            if (operations.data()[i] == REMOVE && before == 0.f) {
                if (!skip) return {static_cast<std::int64_t>(i), NO_EDGE};
                ++skipped;
                continue;
            }
            if (!is_weight(after) || !(nodes_[u].degree + after <= LARGEST_DEGREE) || !(nodes_[v].degree + after <= LARGEST_DEGREE))
                return {static_cast<std::int64_t>(i), OUT_OF_RANGE};
            if (after != before) set_weight(u, v, before, after);
        }
        return {skipped, NONE};
    }

    void settle() {
        Released released;
        for (std::uint64_t i = 0; !queue_.empty(); ++i) {
            if (i % 64 == 0) stop_if_asked();
            const std::int32_t u = queue_.front();
            queue_.pop_front();
            nodes_[u].queued = false;
            if (total_lag(nodes_[u]) > tolerance_) make(u);
        }
    }

    nb::object published() const {  // nodes of this group, in order
        Buffer<std::int32_t> nodes(published_.size());
        std::copy(published_.begin(), published_.end(), nodes.begin());
        std::sort(nodes.begin(), nodes.begin() + nodes.size());
        return nodes.numpy();
    }

    // out[i] <- the vector of a node, (G - a R) / (1 - a), not unit; its length, or -1 if the node has no edges
    void vectors(const Input<std::int32_t> &which, const Matrix<float> &out, const Numbers &lengths) const {
        need(out.shape(0) == which.shape(0) && lengths.shape(0) == which.shape(0) && static_cast<std::int64_t>(out.shape(1)) == columns_,
             "`out` must have a row for each node, and `lengths` a number");
        for (std::size_t i = 0; i < which.shape(0); ++i) {
            check_node(which.data()[i]);
            const float *state = G_[which.data()[i]], *target = R_[which.data()[i]];
            for (std::int64_t c = 0; c < columns_; ++c)
                out.data()[i * columns_ + c] = static_cast<float>((state[c] - a_ * target[c]) / (1 - a_));
            lengths.data()[i] = nodes_[which.data()[i]].count ? length_of(which.data()[i]) : -1;
        }
    }

    void degrees(const Input<std::int32_t> &which, const Numbers &out) const {
        need(out.shape(0) == which.shape(0), "`out` must have a number for each node");
        for (std::size_t i = 0; i < which.shape(0); ++i) {
            check_node(which.data()[i]);
            out.data()[i] = nodes_[which.data()[i]].degree;
        }
    }

    // The rows of the graph as they are: indptr, neighbors, weights.
    nb::tuple rows() const {
        Buffer<std::int64_t> indptr(nodes_.size() + 1);
        Buffer<std::int32_t> indices(entries_);
        Buffer<float> weights(entries_);
        std::int64_t at = 0;
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            indptr[u] = at;
            std::copy_n(neighbors_.begin() + nodes_[u].start, nodes_[u].count, indices.begin() + at);
            std::copy_n(weights_.begin() + nodes_[u].start, nodes_[u].count, weights.begin() + at);
            at += nodes_[u].count;
        }
        indptr[nodes_.size()] = at;
        return nb::make_tuple(indptr.numpy(), indices.numpy(), weights.numpy());
    }

    nb::tuple neighbors(std::int64_t u) const {
        check_node(u);
        const Node &node = nodes_[u];
        Buffer<std::int32_t> indices(node.count);
        Buffer<float> weights(node.count);
        std::copy_n(neighbors_.begin() + node.start, node.count, indices.begin());
        std::copy_n(weights_.begin() + node.start, node.count, weights.begin());
        return nb::make_tuple(indices.numpy(), weights.numpy());
    }

    // R, G and the numbers (see `Node`) of the nodes from `first` on, out of here or into it; then `begin`.
    void take_out(std::int64_t first, const Matrix<float> &targets, const Matrix<float> &states, const Matrix<double> &numbers) const {
        check_shapes(first, targets, states, numbers);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(numbers.shape(0)); ++i) {
            std::copy_n(R_[first + i], columns_, targets.data() + i * columns_);
            std::copy_n(G_[first + i], columns_, states.data() + i * columns_);
            copy_numbers(first + i, numbers.data() + i * NUMBERS);
        }
    }
    void put_in(std::int64_t first, const Matrix<const float> &targets, const Matrix<const float> &states, const Matrix<const double> &numbers) {
        check_shapes(first, targets, states, numbers);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(numbers.shape(0)); ++i) {
            std::copy_n(targets.data() + i * columns_, columns_, R_[first + i]);
            std::copy_n(states.data() + i * columns_, columns_, G_[first + i]);
            put_numbers(numbers.data() + i * NUMBERS, first + i);
        }
    }
    void begin() {
        energy_ = captured_ = 0;
        for (std::size_t u = 0; u < nodes_.size(); ++u) energy_ += records_[u].energy, captured_ += nodes_[u].length * nodes_[u].length;
        make_hubs();
        look_at_all();
    }
    template <class F, class D> void check_shapes(std::int64_t first, const F &targets, const F &states, const D &numbers) const {
        const auto fits = [&](const auto &array, std::int64_t columns) {
            return array.shape(0) == numbers.shape(0) && static_cast<std::int64_t>(array.shape(1)) == columns;
        };
        need(fits(targets, columns_) && fits(states, columns_) && fits(numbers, NUMBERS), "a node has a row of targets, of states, and six numbers");
        need(first >= 0 && first <= nodes() - static_cast<std::int64_t>(numbers.shape(0)), "there are no such nodes");
    }

    void put_states(const Matrix<const float> &states) {
        need(static_cast<std::int64_t>(states.shape(0)) == nodes() && static_cast<std::int64_t>(states.shape(1)) == columns_, "there is a row for each node");
        std::copy_n(states.data(), nodes() * columns_, G_[0]);
    }

    // All rows of R anew.
    void make_targets() {
        Released released;
        drop_hubs();
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            make_target(static_cast<std::int32_t>(u));
        }
        remember();
    }
    // All rows of G anew, each from those before it and, for the rest, from those of the last sweep.
    void sweep() {
        Released released;
        drop_hubs();
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            make_state(static_cast<std::int32_t>(u));
        }
    }
    // The states as they are, with their residuals as lags.
    void measure() {
        Released released;
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            const std::int32_t node = static_cast<std::int32_t>(u);
            nodes_[u].lag = residual(node, gather(node));
        }
        make_hubs();
        look_at_all();
    }
};

}  // namespace

void bind_live(nb::module_ &module, const std::string &simd) {
    fill_functions_baseline(exact);
#ifdef GRAPHREFINE_X86
    if (simd == "avx2") arithmetic = &live_arithmetic_avx2(), fill_functions_avx2(exact);
    if (simd == "avx512") arithmetic = &live_arithmetic_avx512(), fill_functions_avx512(exact);
#endif
    nb::class_<LiveGraph>(module, "LiveGraph")
        .def(nb::init<const Input<std::int64_t> &, const Input<std::int32_t> &, const std::optional<Input<float>> &, const Matrix<const float> &,
                      const Input<float> &, const Matrix<const double> &, const Input<double> &, double, double, double, double, double, double, std::int64_t>(),
             "indptr"_a, "indices"_a, "weights"_a.none(), nb::kw_only(), "basis"_a, "shifts"_a, "rotation"_a, "mean"_a, "keep"_a, "loop"_a, "tolerance"_a,
             "rounding"_a, "spread"_a, "publish"_a, "hub"_a = 512)
        .def("set_tolerance", &LiveGraph::set_tolerance, "tolerance"_a)
        .def_prop_ro("nodes", &LiveGraph::nodes)
        .def_prop_ro("entries", &LiveGraph::entries)
        .def_prop_ro("made", &LiveGraph::made)
        .def_prop_ro("gathered", &LiveGraph::gathered)
        .def_prop_ro("energy", &LiveGraph::energy)
        .def_prop_ro("captured", &LiveGraph::captured)
        .def("add_nodes", &LiveGraph::add_nodes, "count"_a)
        .def("change", &LiveGraph::change, "operations"_a, "sources"_a, "targets"_a, "weights"_a, nb::kw_only(), "skip"_a = false)
        .def("settle", &LiveGraph::settle)
        .def("commit", &LiveGraph::commit)
        .def("undo", &LiveGraph::undo)
        .def("published", &LiveGraph::published)
        .def("vectors", &LiveGraph::vectors, "which"_a, "out"_a, "lengths"_a)
        .def("degrees", &LiveGraph::degrees, "which"_a, "out"_a)
        .def("lags", &LiveGraph::lags, "out"_a)
        .def("bounds", &LiveGraph::bounds, "out"_a, nb::kw_only(), "rounds"_a)
        .def("rows", &LiveGraph::rows)
        .def("neighbors", &LiveGraph::neighbors, "node"_a)
        .def("take_out", &LiveGraph::take_out, "first"_a, "targets"_a, "states"_a, "numbers"_a)
        .def("put_in", &LiveGraph::put_in, "first"_a, "targets"_a, "states"_a, "numbers"_a)
        .def("begin", &LiveGraph::begin)
        .def("put_states", &LiveGraph::put_states, "states"_a)
        .def("make_targets", &LiveGraph::make_targets)
        .def("sweep", &LiveGraph::sweep)
        .def("measure", &LiveGraph::measure);
}
