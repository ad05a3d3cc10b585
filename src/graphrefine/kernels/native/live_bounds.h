// Bounds of live vectors: what a change of an edge adds to the lag and the drift of its ends, and the errors that follow.
// docs/explanation/live-bounds.md has the proofs.
#pragma once

#include "live_state.h"

namespace {

// The largest distance of two unit vectors, one of them along x and the other along x + e, |e| <= t |x|.
// That is 2 sin(x / 2) for sin x = t, in a form that small angles do not cancel in.
double chord(double t) { return t < 1 ? t * std::sqrt(2 / (1 + std::sqrt((1 - t) * (1 + t)))) * UP : 2; }

class LiveBounds : public LiveState {
protected:
    double behind(const Node &node) const {  // of R
        if (node.drift == 0) return 0;
        return node.drift < node.length ? spread_ * chord(node.drift / node.length) : NEVER;
    }
    double total_lag(const Node &node) const { return node.lag + a_ * behind(node); }
    void look(std::int32_t u) {
        Node &node = nodes_[u];
        if (!node.queued && total_lag(node) > tolerance_) node.queued = true, queue_.push_back(u);
    }

    // The end u of an edge to v, whose weight goes from `before` to `after`; the row itself has it already.
    void note(std::int32_t u, std::int32_t v, double before, double after) {
        Node &node = nodes_[u];
        const double change = after - before, old = node.degree;
        const double degree = 2 * (old + change) > old ? old + change : sum_weights(node);  // anew, where rounding would take over
        node.degree = degree;
        if (!(old > 0) || !(degree > 0)) {
            node.drift = NEVER;
        } else {
            const double far = arithmetic->length(G_[v], 1 - a_, G_[u], -1, R_[u], a_, columns_);
            node.lag = (node.lag + std::abs(change) / (degree + loop_) * (far + node.lag)) * UP;
            double moved = std::abs(change) / std::min(old, degree) * std::sqrt(static_cast<double>(node.count));
            if (v < known_) {
                const double entry = before > 0 && after > 0 ? logarithm(after) - logarithm(before)
                                     : after > 0             ? logarithm(after) - logarithm(degree) + shift_[v]
                                                             : logarithm(before) - logarithm(old) + shift_[v];
                moved += std::abs(entry) * reach_[v];
            }
            node.drift += moved * UP;
        }
        look(u);
    }

public:
    // out[u] <- the lag in all of each node
    void lags(const Numbers &out) const {
        need(static_cast<std::int64_t>(out.shape(0)) == nodes(), "`out` must have one number for each node");
        for (std::size_t u = 0; u < nodes_.size(); ++u) out.data()[u] = total_lag(nodes_[u]);
    }

    // out[u] <- a bound of the distance of F from the fixed point's: see docs/explanation/live-bounds.md. Each round makes it sharper.
    void bounds(const Numbers &out, int rounds) const {
        need(static_cast<std::int64_t>(out.shape(0)) == nodes() && rounds >= 0, "`out` must have one number for each node");
        Released released;
        std::vector<double> lag(nodes_.size()), error(nodes_.size()), next(nodes_.size());
        double most = 0;
        for (std::size_t u = 0; u < nodes_.size(); ++u) lag[u] = total_lag(nodes_[u]), most = std::max(most, lag[u]);
        std::fill(error.begin(), error.end(), most / a_ * UP);
        const auto step = [&](std::size_t u) {  // of T
            const Node &node = nodes_[u];
            double sum = loop_ * error[u];
            for (std::int32_t e = 0; e < node.count; ++e) sum += static_cast<double>(weights_[node.start + e]) * error[neighbors_[node.start + e]];
            return sum * inverse(node) * UP;
        };
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t u = 0; u < nodes_.size(); ++u) stop_if_asked(u), next[u] = lag[u] + (1 - a_) * step(u);
            error.swap(next);
        }
        for (std::size_t u = 0; u < nodes_.size(); ++u) stop_if_asked(u), out.data()[u] = step(u) + nodes_[u].lag / (1 - a_);
    }
};

}  // namespace
