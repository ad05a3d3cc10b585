// Undo of live vectors: a group of changes is all or nothing, so nodes, edges and sums are kept as they were before it.
#pragma once

#include "live_bounds.h"

namespace {

struct Kept {  // a node as it was before the group
    std::int32_t node;
    double numbers[NUMBERS];  // of `Record` once the rows are kept: neighbors that are told of a step have none to change
    std::int64_t rows, sums;  // of R and G among the kept rows, -1: not yet kept; of the hub among the kept sums, -1: none
};

struct Edge {
    std::int32_t source, target;
    float weight;  // 0: none
};

class LiveUndo : public LiveBounds {
protected:
    std::int64_t nodes_before_ = 0;
    std::vector<Edge> undone_;
    std::vector<Kept> kept_;
    Large<float> kept_rows_;
    Large<double> kept_sums_;
    std::vector<HubNumbers> kept_hubs_;
    std::vector<std::int32_t> published_;
    double energy_before_ = 0, captured_before_ = 0;
    std::deque<std::int32_t> queue_before_;

    void keep(std::int32_t u) {
        Node &node = nodes_[u];
        if (node.kept != group_) {
            node.kept = group_, node.place = static_cast<std::uint32_t>(kept_.size());
            kept_.push_back({u, {node.degree, node.lag, node.drift, node.length}, -1, -1});
            if (node.hub >= 0) {
                kept_.back().sums = static_cast<std::int64_t>(kept_hubs_.size());
                kept_hubs_.push_back(hubs_.numbers(node.hub));
                kept_sums_.insert(kept_sums_.end(), hubs_.rows(node.hub), hubs_.rows(node.hub) + hubs_.width());
            }
        }
    }
    void keep_rows(std::int32_t u) {
        keep(u);
        Kept &kept = kept_[nodes_[u].place];
        if (kept.rows >= 0) return;
        kept.numbers[OWN] = records_[u].unpublished, kept.numbers[OWN + 1] = records_[u].energy;
        kept.rows = static_cast<std::int64_t>(kept_rows_.size());
        kept_rows_.insert(kept_rows_.end(), R_[u], R_[u] + columns_);
        kept_rows_.insert(kept_rows_.end(), G_[u], G_[u] + columns_);
    }

    // What `undo` goes back to, beside the nodes that are kept.
    void remember() { energy_before_ = energy_, captured_before_ = captured_, queue_before_ = queue_; }
    void look_at_all() {  // after all nodes were set, which is not undone
        for (std::size_t u = 0; u < nodes_.size(); ++u) look(static_cast<std::int32_t>(u));
        remember();
    }

public:
    void commit() {
        nodes_before_ = nodes();
        remember();
        undone_.clear(), kept_.clear(), kept_rows_.clear(), kept_sums_.clear(), kept_hubs_.clear(), published_.clear();
        const std::size_t room = std::max<std::size_t>(1 << 22, nodes_.size() * columns_ / 2);  // fresh memory has to be cleared first
        if (kept_rows_.capacity() > room) Large<float>().swap(kept_rows_);
        if (++group_ == 0) {  // after four billion groups
            for (Record &record : records_) record.published = 0;
            for (Node &node : nodes_) node.kept = 0;
            group_ = 1;
        }
    }

    void put_sums(const Kept &kept) {
        Node &node = nodes_[kept.node];
        if (node.hub >= 0 && kept.sums < 0) hubs_.remove(node.hub), node.hub = -1;
        if (kept.sums < 0) return;
        if (node.hub < 0) node.hub = hubs_.add();
        hubs_.numbers(node.hub) = kept_hubs_[kept.sums];
        std::copy_n(kept_sums_.data() + kept.sums * hubs_.width(), hubs_.width(), hubs_.rows(node.hub));
    }

    void undo() {
        for (std::size_t i = undone_.size(); i-- > 0;) {
            put(undone_[i].source, undone_[i].target, undone_[i].weight);
            put(undone_[i].target, undone_[i].source, undone_[i].weight);
        }
        for (const Kept &kept : kept_) {
            put_own(kept.numbers, kept.node);
            put_sums(kept);
            if (kept.rows < 0) continue;
            put_numbers(kept.numbers, kept.node);
            std::copy_n(kept_rows_.data() + kept.rows, columns_, R_[kept.node]);
            std::copy_n(kept_rows_.data() + kept.rows + columns_, columns_, G_[kept.node]);
        }
        for (const std::int32_t u : queue_) nodes_[u].queued = false;
        queue_ = queue_before_;
        for (const std::int32_t u : queue_) nodes_[u].queued = true;
        energy_ = energy_before_, captured_ = captured_before_;
        nodes_.resize(nodes_before_), records_.resize(nodes_before_);
        R_.resize(nodes_before_), G_.resize(nodes_before_);
        commit();
    }
};

}  // namespace
