// Hubs of live vectors: nodes of many neighbors, whose sums follow each change of an edge. See "Hubs" in docs/explanation/live-bounds.md.
#pragma once

#include "live_undo.h"

namespace {

class LiveHubs : public LiveUndo {
protected:
    void make_hubs() {
        drop_hubs();
        for (std::size_t u = 0; u < nodes_.size(); ++u) {
            if (u % 1024 == 0) stop_if_asked();
            if (nodes_[u].count >= hub_) make_hub(static_cast<std::int32_t>(u));
        }
    }
    void drop_hubs() {
        hubs_.clear();
        for (Node &node : nodes_) node.hub = -1;
    }
    void make_hub(std::int32_t u) {  // all of its sums anew
        Node &node = nodes_[u];
        if (node.hub < 0) node.hub = hubs_.add();
        const std::int32_t *others = neighbors_.data() + node.start;
        const float *weights = weights_.data() + node.start;
        HubNumbers numbers;
        numbers.peak = node.degree + loop_;
        factors_.assign(weights, weights + node.count);
        arithmetic->sum_precisely(others, factors_.data(), node.count, G_.begin(), columns_, hubs_.states(node.hub));
        known_neighbors_.clear(), factors_.clear();
        for (std::int32_t e = 0; e < node.count; ++e) {
            const double entry = shifted(others[e], weights[e]);
            numbers.entries += entry, numbers.squares += entry * entry;
            if (!is_in_basis(others[e])) continue;
            known_neighbors_.push_back(others[e]), factors_.push_back(entry);
            numbers.mass += std::abs(entry) * reach_[others[e]], numbers.reach += reach_[others[e]];
        }
        const std::int64_t count = static_cast<std::int64_t>(factors_.size());
        gathered_ += 2 * count + node.count;
        arithmetic->sum_precisely(known_neighbors_.data(), factors_.data(), count, basis_.data(), columns_, hubs_.shifted(node.hub));
        factors_.assign(count, 1.);
        arithmetic->sum_precisely(known_neighbors_.data(), factors_.data(), count, basis_.data(), columns_, hubs_.plain(node.hub));
        hubs_.numbers(node.hub) = numbers;
    }
    // The sums of u after a change of its edge to v; u becomes a hub, or is none any more.
    void change_hub(std::int32_t u, std::int32_t v, double before, double after) {
        Node &node = nodes_[u];
        if (node.hub < 0) {
            if (node.count >= hub_) make_hub(u);
            return;
        }
        if (2 * node.count < hub_) {
            hubs_.remove(node.hub);
            node.hub = -1;
            return;
        }
        HubNumbers &numbers = hubs_.numbers(node.hub);
        ++numbers.updates;
        numbers.peak = std::max(numbers.peak, node.degree + loop_);
        arithmetic->add_row(hubs_.states(node.hub), after - before, G_[v], columns_);
        const double gone = before > 0 ? shifted(v, before) : 0, fresh = after > 0 ? shifted(v, after) : 0;
        numbers.entries += fresh - gone, numbers.squares += fresh * fresh - gone * gone;
        if (!is_in_basis(v)) return;
        arithmetic->add_row(hubs_.shifted(node.hub), fresh - gone, basis_.data() + v * columns_, columns_);
        numbers.mass += (std::abs(fresh) + std::abs(gone)) * reach_[v];
        if ((before > 0) == (after > 0)) return;
        arithmetic->add_row(hubs_.plain(node.hub), after > 0 ? 1 : -1, basis_.data() + v * columns_, columns_);
        numbers.reach += reach_[v];
    }
    // q of a hub and the energy of its row, from its sums
    double sum_hub(std::int32_t u, double own) {
        Node &node = nodes_[u];
        double length = 0;
        for (int attempt = 0; attempt < 2; ++attempt) {
            const double *shifted = hubs_.shifted(node.hub), *plain = hubs_.plain(node.hub);
            double squares = 0;
            for (std::int64_t c = 0; c < columns_; ++c) sum_[c] = shifted[c] - own * plain[c], squares += sum_[c] * sum_[c];
            length = std::sqrt(squares);
            if (attempt || !hubs_.is_worn_target(node.hub, node.count, own, length)) break;
            make_hub(u);
        }
        const HubNumbers &numbers = hubs_.numbers(node.hub);
        records_[u].energy = std::max(0., numbers.squares - 2 * own * numbers.entries + node.count * own * own);
        return length;
    }
};

}  // namespace
