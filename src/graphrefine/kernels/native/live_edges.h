// Edges of a graph that changes: a row of neighbors for each node, ascending, with room at its end.
#pragma once

#include "live_tables.h"

struct alignas(LINE) Node {  // one line of the cache: what a neighbor that moves has to touch
    double degree = 0;
    double lag = 0, drift = 0;   // see live.cpp
    double length = 0;           // of q, when R was made
    std::int64_t start = 0;      // of its row among the entries
    std::int32_t count = 0, room = 0;
    std::uint32_t kept = 0, place = 0;  // the last group that kept it, and where among those that it kept
    std::int32_t hub = -1;       // among the sums of hubs; -1: none
    bool queued = false;
};
static_assert(sizeof(Node) == LINE, "a node is one line of the cache");

class LiveEdges {
protected:
    Large<Node> nodes_;
    Large<std::int32_t> neighbors_;
    Large<float> weights_;
    std::int64_t wasted_ = 0, entries_ = 0;

    std::int64_t find(const Node &node, std::int32_t other) const {
        const auto first = neighbors_.begin() + node.start, last = first + node.count;
        return std::lower_bound(first, last, other) - first;
    }
    float weight(std::int32_t u, std::int32_t v) const {
        const Node &node = nodes_[u];
        const std::int64_t at = find(node, v);
        return at < node.count && neighbors_[node.start + at] == v ? weights_[node.start + at] : 0.f;
    }
    double sum_weights(const Node &node) const {
        double sum = 0;
        for (std::int32_t e = 0; e < node.count; ++e) sum += weights_[node.start + e];
        return sum;
    }
    void put(std::int32_t u, std::int32_t v, float w) {  // one direction; 0 removes
        Node &node = nodes_[u];
        const std::int64_t at = find(node, v);
        const bool there = at < node.count && neighbors_[node.start + at] == v;
        if (w == 0.f) {
            if (!there) return;
            std::move(neighbors_.begin() + node.start + at + 1, neighbors_.begin() + node.start + node.count, neighbors_.begin() + node.start + at);
            std::move(weights_.begin() + node.start + at + 1, weights_.begin() + node.start + node.count, weights_.begin() + node.start + at);
            --node.count, --entries_;
        } else if (there) {
            weights_[node.start + at] = w;
        } else {
            if (node.count == node.room) make_room(node);
            std::move_backward(neighbors_.begin() + node.start + at, neighbors_.begin() + node.start + node.count, neighbors_.begin() + node.start + node.count + 1);
            std::move_backward(weights_.begin() + node.start + at, weights_.begin() + node.start + node.count, weights_.begin() + node.start + node.count + 1);
            neighbors_[node.start + at] = v, weights_[node.start + at] = w;
            ++node.count, ++entries_;
        }
    }
    void make_room(Node &node) {
        if (wasted_ > (1 << 20) && wasted_ > static_cast<std::int64_t>(neighbors_.size()) / 2) pack();
        const std::int32_t room = std::max<std::int32_t>(4, node.count + node.count / 2);
        const std::int64_t start = static_cast<std::int64_t>(neighbors_.size());
        neighbors_.resize(start + room), weights_.resize(start + room);
        std::copy_n(neighbors_.begin() + node.start, node.count, neighbors_.begin() + start);
        std::copy_n(weights_.begin() + node.start, node.count, weights_.begin() + start);
        wasted_ += node.room;
        node.start = start, node.room = room;
    }
    void pack() {
        Large<std::int32_t> neighbors;
        Large<float> weights;
        neighbors.reserve(entries_ + entries_ / 4), weights.reserve(entries_ + entries_ / 4);
        for (Node &node : nodes_) {
            const std::int64_t start = static_cast<std::int64_t>(neighbors.size());
            neighbors.insert(neighbors.end(), neighbors_.begin() + node.start, neighbors_.begin() + node.start + node.count);
            weights.insert(weights.end(), weights_.begin() + node.start, weights_.begin() + node.start + node.count);
            node.start = start, node.room = node.count;
        }
        neighbors_.swap(neighbors), weights_.swap(weights);
        wasted_ = 0;
    }
};
