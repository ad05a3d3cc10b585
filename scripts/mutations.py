"""Break the numerics one line at a time, and say which tests notice.

    python scripts/mutations.py                 # all, about half an hour
    python scripts/mutations.py theorem far    # those whose name contains one of these words

Each mutation replaces a piece of one file of a temporary copy of ``src`` and runs the tests of the folder that it
belongs to, without the golden ones: these notice every change of bits, and say nothing about what is right. The exit
code is 1 if a mutation survives, or if its text is no longer found exactly once.
"""

# ruff: noqa: E501  a table with a mutation in each line

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 900  # seconds: a mutation may make a loop endless, which counts as noticed

# The editable install puts a finder in front of sys.path, so the copy is imported by leaving that finder out.
RUN = """
import sys
from importlib.util import find_spec
native = find_spec("graphrefine.kernels._native").origin
for name in [name for name in sys.modules if name.partition(".")[0] == "graphrefine"]:
    del sys.modules[name]
sys.meta_path[:] = [each for each in sys.meta_path if "ScikitBuild" not in type(each).__name__]
sys.path[:] = [sys.argv[1], *(path for path in sys.path if not path.endswith("/src"))]
import shutil
from pathlib import Path
target = Path(sys.argv[1], "graphrefine", "kernels", Path(native).name)
if not target.exists():
    shutil.copy(native, target)
import graphrefine
assert graphrefine.__file__.startswith(sys.argv[1]), graphrefine.__file__
import pytest
sys.exit(pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-m", "not slow", *sys.argv[2:]]))
"""


class Mutation(NamedTuple):
    """A piece of a file, what replaces it, and the tests that must notice."""

    name: str
    file: str  # under src/graphrefine
    old: str
    new: str
    tests: str  # files or tests under tests, several separated by blanks


MUTATIONS = [
    Mutation(*each)
    for each in (
        # The paper: range finder, proximity, filter, axes.
        ("range finder: one product fewer", "refine/range_finder.py", "for step in range(power):", "for step in range(max(power - 1, 1)):", "refine/test_range_finder.py refine/test_refine.py"),
        ("range finder: the wrong side first", "refine/range_finder.py", "if two_sided and remaining % 2 else", "if two_sided and not remaining % 2 else", "refine/test_range_finder.py refine/test_refine.py"),
        ("sketch: seed ignored", "refine/refine.py", "engine.random(seed=settings.seed)", "engine.random(seed=0)", "refine/test_refine.py"),
        ("proximity: sign of the degree", "linalg/operators.py", "row_shift=-_log(degree)", "row_shift=_log(degree)", "linalg refine/test_refine.py"),
        ("proximity: sign of the negative samples", "linalg/operators.py", "or 1.0)) + exact.log(negative)", "or 1.0)) - exact.log(negative)", "linalg refine/test_refine.py"),
        ("proximity: exponent of the contexts ignored", "linalg/operators.py", "exact.power_where(sums > 0, sums, exponent)", "sums", "linalg refine/test_refine.py"),
        ("proximity: weights without logarithm", "linalg/operators.py", 'edge="log" if log_weights', 'edge="weight" if log_weights', "linalg refine/test_refine.py"),
        ("transition: the loop is not in the sum", "linalg/operators.py", "(1.0 / (sums + loop))", "(1.0 / (sums + 1.0))", "linalg refine/test_refine.py"),
        ("walk: neighbors counted instead of weights", "linalg/operators.py", "scale = inverses(self.degrees).astype", "scale = inverses(self.graph.out_counts.astype(np.float64)).astype", "linalg"),
        ("loops: the largest weight", "refine/filters.py", "float(graph.weights.min())", "float(graph.weights.max())", "refine/test_refine.py refine/test_filters.py refine/test_numerics_oracles.py"),
        ("heat: one factor of the factorial", "refine/filters.py", "theta[-1] * scale / k", "theta[-1] * scale / (k + 1)", "refine/test_filters.py"),
        ("markov: shares do not add up to 1", "refine/filters.py", "(1 - scale) / order", "1 / order", "refine/test_filters.py"),
        ("pagerank: alpha for 1 - alpha", "refine/filters.py", "theta[-1] * (1 - scale)", "theta[-1] * scale", "refine/test_filters.py"),
        ("taylor: sign of T", "refine/filters.py", "return (0.0, -1.0, -2.0, 1.0)", "return (0.0, 1.0, -2.0, 1.0)", "refine/test_filters.py refine/test_refine.py"),
        ("reach: scale by the degree, upside down", "refine/filters.py", "FAR / max(degree, 1.0)", "FAR * max(degree, 1.0)", "refine/test_filters.py::test_coefficients"),
        ("axes: not centered", "engine/engine.py", "principal_rotation(gram - nodes * np.outer(middle, middle), axes)", "principal_rotation(gram, axes)", "refine/test_numerics_oracles.py::test_axes_are_the_principal_ones_of_rows_without_their_mean"),
        ("axes: mean not taken away", "engine/engine.py", "axes=axes)\n    return engine.collect(F, rotation, shift=middle, unit=True)", "axes=axes)\n    return engine.collect(F, rotation, unit=True)", "refine/test_numerics_oracles.py::test_axes_are_the_principal_ones_of_rows_without_their_mean"),
        ("axes: exponent of S", "engine/engine.py", "(exponent - 1) / 2)", "exponent / 2)", "refine/test_filters.py::test_principal_rotation_gives_u_root_s"),
        ("dimension: two standard errors", "refine/dimension.py", "LEAST = 3.0", "LEAST = 2.0", "refine/test_dimension.py::test_three_standard_errors_confirm_next_to_no_axis_of_noise"),
        ("dimension: sign of the eigenvalue ignored", "refine/dimension.py", "np.sign(pairs.values) * sums", "sums", "refine/test_dimension.py::test_axes_of_roles_are_confirmed_with_their_sign"),
        ("dimension: each edge counted once in the error", "refine/dimension.py", "np.sqrt(2 * squares)", "np.sqrt(squares)", "refine/test_dimension.py::test_the_eigenvalues_are_those_of_the_rest"),
        # Views.
        ("far view: average over one step too few", "refine/far_view.py", "1.0 / (stop - start + 1)", "1.0 / (stop - start)", "refine/test_far_view.py"),
        ("far view: volumes ignored", "refine/far_view.py", "np.divide(volume, volumes,", "np.divide(1.0, volumes,", "refine/test_far_view.py"),
        ("far view: regions of many nodes count too little", "refine/far_view.py", "sums /= np.sqrt(counts)[:, None]", "sums /= counts[:, None]", "refine/test_numerics_oracles.py::test_the_far_view_weighs_regions_by_their_nodes"),
        ("local view: negative eigenvalues", "refine/local_view.py", "GROUPED + STEEP * (AGREEING - agreement)", "GROUPED - STEEP * (AGREEING - agreement)", "refine/test_views.py"),
        ("edge strengths: unit of weights ignored", "linalg/operators.py", 'EdgeStrengths(graph, "log1p", float(median(graph.weights)))', 'EdgeStrengths(graph, "log1p", 1.0)', "linalg refine/test_views.py"),
        # Sides.
        ("directed: sides swapped", "refine/directed.py", "((source, arcs.source), (target, arcs.target))", "((source, arcs.target), (target, arcs.source))", "refine/test_directed.py"),
        ("directed: scores not centered", "refine/directed.py", "target[:, -1] = -source[:, -1]", "target[:, -1] = source[:, -1]", "refine/test_directed.py"),
        ("directed far view: the wrong degrees", "refine/directed_far_view.py", "self.height = heights(regions, inward)", "self.height = heights(regions, strengths.degrees)", "refine/test_directed_far_view.py"),
        ("arcs: degrees of one side not regularized", "refine/arc_svd.py", "self.degrees + self.mean, 1.0", "self.degrees, 1.0", "refine/test_directed.py refine/test_bipartite.py"),
        ("arcs: edge of the noise", "refine/arc_svd.py", "(1 / np.sqrt(max(sources, 1)) + 1 / np.sqrt(max(targets, 1)))", "(1 / np.sqrt(max(sources, 1)) - 1 / np.sqrt(max(targets, 1)))", "refine/test_directed.py refine/test_bipartite.py"),
        ("bipartite: whole length instead of half", "refine/bipartite.py", "DEGREE_POWER) / np.sqrt(np.where(there, lengths, 1.0))", "DEGREE_POWER) / np.where(there, lengths, 1.0)", "refine/test_bipartite.py"),
        ("bipartite: degrees not relative", "refine/bipartite.py", "side.degrees[which] / (side.mean or 1.0)", "side.degrees[which]", "refine/test_bipartite.py"),
        # Decompositions, regions, memory of walks, least squares, features.
        ("dimension: axes have seen the held-out edges", "refine/dimension.py", "take_entries(graph, ~held)", "take_entries(graph, ~held | held)", "refine/test_dimension.py::test_the_eigenvalues_are_those_of_the_rest"),
        ("svd: right vectors times S", "refine/svd.py", "_powers(self.values[:columns], power - 1.0)", "_powers(self.values[:columns], power)", "refine/test_svd.py::test_triplets_are_near_the_best_possible"),
        ("svd: a difference of Gram matrices halved", "refine/svd.py", "/ (4 * size)", "/ (2 * size)", "refine/test_svd.py::test_eigenpairs_are_near_the_best_possible"),
        ("svd: power iteration dropped", "refine/svd.py", "Y = product(both[step % 2], Q,", "Y = product(both[0], engine.random(seed=seed),", "refine/test_svd.py::test_a_single_product_is_not_enough_where_values_decay_slowly"),
        ("far view: the step before the first counts", "refine/far_view.py", "first = self.after(part, start)", "first = self.after(part, start - 1)", "refine/test_far_view.py::test_averages_of_walks_are_those_of_the_definition"),
        ("regions: centers near the others", "refine/regions.py", "1.0 - cosine[rows].astype", "1.0 + cosine[rows].astype", "refine/test_regions.py::test_small_groups_get_a_region_of_their_own"),
        ("regions: the farthest center", "refine/regions.py", "cosines.argmax(axis=1)", "cosines.argmin(axis=1)", "refine/test_regions.py::test_nodes_go_to_the_center_of_the_largest_cosine"),
        ("regions: seed reused in both rounds", "refine/regions.py", "golden(turn + 1)", "golden(1)", "refine/test_regions.py::test_draws_of_another_seed_or_turn_are_others"),
        ("walk memory: no square root", "refine/walk_memory.py", "float(np.sqrt(np.clip(", "float((np.clip(", "refine/test_far_view.py::test_the_memory_of_walks_is_that_of_its_definition"),
        ("walk memory: hubs drawn more often count more", "refine/walk_memory.py", "share = degree[nodes] / chance", "share = degree[nodes]", "refine/test_far_view.py::test_the_memory_of_walks_is_seen_from_a_few_nodes"),
        ("least squares: weights of missing pairs squared", "refine/weighted_factors.py", "y * np.sqrt(others.missing)[:, None]", "y * others.missing[:, None]", "refine/test_weighted_factors.py::test_rows_solve_the_dense_equations"),
        ("held-out pairs: known targets compete", "refine/bipartite.py", "scores[source, target] = -np.inf", "scores[source, target] = np.inf", "refine/test_weighted_factors.py::test_score_of_ranks"),
        ("features: weight of rare columns", "refine/features.py", "np.sqrt(share) * log1p(1 / share)", "share * log1p(1 / share)", "refine/test_features.py::test_columns_are_weighted_and_rows_centered_by_the_formula"),
        ("features: correlation of neighbors doubled", "refine/features.py", "(grams[0] - grams[1]) / 4", "(grams[0] - grams[1]) / 2", "refine/test_features.py::test_correlation_of_neighbors_is_morans"),
        ("features: rows of sparse features not centered", "refine/features.py", "product -= np.outer(self.own[start:stop], matmul(self.mean, small)).astype(np.float32)", "", "refine/test_features.py::test_columns_are_weighted_and_rows_centered_by_the_formula"),
        # Methods.
        ("prone: no root of the singular values", "methods/prone.py", "leading = svd.left(power=0.5", "leading = svd.left(power=1.0", "methods/test_methods_linear.py::test_prone_is_its_formula"),
        ("prone: signs of the Chebyshev terms", "methods/prone.py", "2 * (-1) ** i * bessel", "2 * bessel", "methods/test_methods_linear.py::test_the_propagation_is_a_polynomial_of_the_transition_matrix"),
        ("fastrp: no root in the scale", "methods/fastrp.py", "np.sqrt(density * settings.dim)", "(density * settings.dim)", "methods/test_methods_linear.py::test_fastrp_is_its_formula"),
        ("fastrp: powers begin at 0", "methods/fastrp.py", "(0.0, *without_trailing_zeros(settings.power_weights))", "without_trailing_zeros(settings.power_weights)", "methods/test_methods_linear.py::test_fastrp_is_its_formula"),
        ("randne: no root in the length", "methods/randne.py", "np.sqrt(graph.nodes / settings.dim)", "(graph.nodes / settings.dim)", "methods/test_methods_linear.py::test_randne_is_its_formula"),
        ("hope: a term too few", "methods/hope.py", "range(terms - 2, -1, -1)", "range(terms - 3, -1, -1)", "methods/test_methods_linear.py::test_hope_on_a_graph_without_cycles"),
        ("hope: targets without S", "methods/hope.py", "decomposition.right(power=0.5", "decomposition.right(power=0.0", "methods/test_methods_linear.py::test_hope_on_a_graph_without_cycles"),
        ("arope: signs of F forgotten", "methods/arope.py", "np.sign(F[order[:right]])", "np.ones(right)", "methods/test_methods_linear.py::test_arope_weighs_signs"),
        ("arope: eigenpairs of A, not of S", "methods/arope.py", 'np.argsort(-np.abs(F), kind="stable")', "np.arange(len(F))", "methods/test_methods_linear.py::test_arope_takes_the_eigenpairs_that_count_after_weighing"),
        ("netmf: sum of the window, not its mean", "methods/netmf.py", "theta = [1.0 / settings.window]", "theta = [1.0]", "methods/test_methods_dense.py::test_netmf_is_its_formula"),
        ("netmf: eigenvalues not shifted back", "methods/netmf.py", "values[:pairs] - SHIFT", "values[:pairs]", "methods/test_methods_dense.py::test_netmf_through_eigenpairs_is_its_formula"),
        ("grarep: normalization by rows", "methods/grarep.py", "np.float64(graph.nodes / negative)", "np.float64(1 / negative)", "methods/test_methods_dense.py::test_grarep_is_its_formula"),
        ("netsmf: the diagonal twice", "methods/netsmf.py", "logs[columns == row + first] /= 2", "logs[columns == row + first] /= 1", "methods/test_methods_dense.py::test_the_sampled_matrix_converges_to_netmf"),
        ("netsmf: half of the walks", "methods/netsmf.py", "each = 2 * settings.rounds_for", "each = settings.rounds_for", "methods/test_methods_dense.py::test_rounds_of_netsmf"),
        ("walk matrix: diagonal not removed", "methods/walk_matrices.py", "start[diagonal] = 0.0", "start[diagonal] = start[diagonal]", "methods/test_methods_dense.py::test_netmf_is_its_formula_in_several_blocks_of_columns"),
        ("node2vec: p and q exchanged", "methods/random_walks.py", '{"p": settings.p, "q": settings.q}', '{"p": settings.q, "q": settings.p}', "methods/test_methods_walks.py::test_p_keeps_walks_from_going_back_and_q_from_going_on"),
        ("walks: one seed for all rounds", "methods/random_walks.py", "seed=seed, round=round,", "seed=seed, round=0,", "methods/test_methods_walks.py::test_a_round_starts_once_from_every_node_with_edges_in_another_order_each_time"),
        ("skip-gram: noise as frequent as nodes", "methods/skipgram.py", "NOISE_POWER = 0.75", "NOISE_POWER = 1.0", "kernels/test_skipgram.py::test_noise_is_drawn_by_its_share"),
        ("pte: the second half not reversed", "methods/skipgram.py", "np.ascontiguousarray(edges[:, ::-1])", "edges", "methods/test_methods_walks.py::test_sinks_and_sources_have_vectors"),
        ("harp: blended without a rotation", "methods/harp.py", "0.5 * scale * left @ right", "0.5 * scale * np.eye(k)", "methods/test_methods_coarse.py::test_blending_undoes_rotation_reflection_and_scale"),
        ("mile: lengths ignored in the slopes", "methods/mile.py", "(by_unit - unit * (unit * by_unit).sum(axis=1, keepdims=True))", "by_unit", "methods/test_methods_coarse.py::test_the_slopes_of_the_loss"),
        ("mile: weights inside merged nodes forgotten", "methods/mile.py", "np.divide(level.loops, degrees,", "np.divide(0 * level.loops, degrees,", "methods/test_methods_coarse.py::test_the_convolution_is_its_formula"),
        ("louvainne: weight of a depth", "methods/louvainne.py", "settings.decay**depth", "settings.decay ** (depth + 1)", "methods/test_methods_coarse.py::test_vectors_are_sums_down_the_tree"),
        ("coarsening: edges by weight alone", "methods/coarsening.py", "np.sqrt(degrees[u] * degrees[v])", "1.0", "methods/test_coarsening.py::test_the_heaviest_edge_by_the_normalized_weight_is_taken"),
        ("coarsening: inner edges counted once", "methods/coarsening.py", "np.full(np.count_nonzero(inside), 2.0)", "np.full(np.count_nonzero(inside), 1.0)", "methods/test_coarsening.py::test_edges_inside_a_group_count_from_both_ends"),
        # Engines and wrappers of kernels.
        ("qr: one pass is always enough", "engine/engine.py", "TOLERANCE = 6e-5", "TOLERANCE = 6e5", "refine/test_range_finder.py::test_a_long_basis_is_orthonormal_whether_one_pass_is_enough_or_not"),
        ("qr: projections on earlier blocks dropped", "engine/engine.py", "G[start:stop, start:stop] - exact.matmul(projections.T, projections)", "G[start:stop, start:stop]", "refine/test_range_finder.py::test_singular_gram_matrices_are_noticed_and_signs_of_eigenvectors_settled"),
        ("whitening: no square root", "engine/engine.py", "1.0 / np.sqrt(np.where(positive, values, 1.0))", "1.0 / np.where(positive, values, 1.0)", "refine/test_range_finder.py::test_dependent_and_zero_columns_become_zero"),
        ("local engine: sums in the order of memory", "engine/local.py", "out=None, places=self._positions, sums=pair", "out=None, sums=pair", "refine/test_order_of_rows.py::test_order_and_blocks_change_no_bit"),
        ("dense product: operand transposed", "engine/dense.py", "np.matmul(matrix[rows], wide", "np.matmul(matrix.T[rows], wide", "methods/test_methods_dense.py::test_the_dense_product_is_that_of_the_operator"),
        ("blocks: cut within a unit", "engine/layout.py", "min(max(stop // UNIT * UNIT, start + UNIT), nodes)", "min(max(stop, start + UNIT), nodes)", "engine/test_blocks.py::test_cuts_cover_all_rows_within_their_limits"),
        ("blocks: loop in every chunk", "engine/block_compute.py", "loop=parts.loop if own else 0.0", "loop=parts.loop", "engine/test_blocks.py::test_every_verb_is_that_of_the_engine_in_memory"),
        ("blocks: signs of the first panel for all", "engine/block_compute.py", "panel * self.layout.panel // 32, self", "0, self", "engine/test_blocks.py::test_every_verb_is_that_of_the_engine_in_memory"),
        ("blocks: a row too many in a chunk", "engine/block_compute.py", "firsts = self.layout.bounds[self.layout.chunks].astype(np.int32)", "firsts = self.layout.bounds[self.layout.chunks].astype(np.int32) + 1", "engine/test_blocks.py::test_every_verb_is_that_of_the_engine_in_memory"),
        ("blocks: unit rows before the last chunk", "engine/block_compute.py", "unit=task.unit and last", "unit=task.unit", "engine/test_blocks.py::test_every_verb_is_that_of_the_engine_in_memory"),
        ("sketches: one counter for all blocks", "engine/sketches.py", "start // BLOCK_ROWS]", "0]", "methods/test_methods_linear.py::test_sketches_depend_on_the_seed_and_the_row_alone"),
        ("normalized: degrees on one side", "linalg/operators.py", "unit=self.unit, row_scale=scale, column_scale=scale)", "unit=self.unit, row_scale=scale)", "refine/test_views.py::test_the_local_view_has_the_leading_eigenpairs"),
        ("standardized columns: variance not divided", "linalg/__init__.py", "/ max(len(vectors), 1)", "/ 1", "methods/test_methods_linear.py::test_standardized_randne_is_karateclubs_formula"),
        ("bfloat16: cut off, not rounded", "kernels/__init__.py", "(bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1)))", "bits", "kernels/test_kernels.py::test_rounding_to_bfloat16_is_the_same_to_the_bit"),
        ("exact: one pass of Cholesky", "kernels/exact.py", "return np.ascontiguousarray(second.T)", "return np.ascontiguousarray(first.T)", "kernels/test_exact.py::test_columns_of_q_are_orthonormal_and_span"),
        ("exact: the second factor not transposed", "kernels/exact.py", "transposed=False), transposed=True)", "transposed=False), transposed=False)", "kernels/test_exact.py::test_factors_solve"),
        ("nearest: rows to leave out in any order", "kernels/nearest.py", "[np.sort(each) for each in lists]", "[np.asarray(each) for each in lists]", "search/test_neighbors.py"),
        # New nodes, older embeddings, degrees.
        ("fold in: learned map subtracted", "embedding/fold_in.py", "mean + f @ W)", "mean - f @ W)", "embedding/test_fold_in.py"),
        ("fold in: learned from the whole instead of the rest", "embedding/fold_in.py", "(f.T @ (unit - mean))", "(f.T @ unit)", "embedding/test_fold_in.py"),
        ("fold in: own degree ignored", "embedding/fold_in.py", "[flat, flat * own[:, None]]", "[flat, flat * 0]", "embedding/test_fold_in.py"),
        ("align: the rotation backwards", "embedding/derive.py", "NDArray[np.float64] = U @ V\n", "NDArray[np.float64] = (U @ V).T\n", "embedding/test_align.py"),
        ("align: no reflection", "embedding/derive.py", "NDArray[np.float64] = U @ V\n", "NDArray[np.float64] = U @ np.diag([1.0] * (k - 1) + [float(np.sign(np.linalg.det(U @ V)))]) @ V\n", "embedding/test_align.py"),
        ("degree weight: the edge itself counts", "embedding/learn.py", "remaining = neighbors != others[row]", "remaining = neighbors >= 0", "embedding/test_scores.py"),
        ("degree weight: own edge in the degree", "embedding/learn.py", "degrees[:SAMPLE] -= 1", "degrees[:SAMPLE] -= 0", "embedding/test_scores.py"),
        ("auc: ties count fully", "embedding/learn.py", "(below + not_above) / 2 /", "not_above /", "evaluate/test_links.py"),
        # Evaluation.
        ("held out: the other direction leaks", "evaluate/held_out_edges.py", "    if not graph.directed:\n        stays", "    if graph.directed:\n        stays", "evaluate/test_links.py"),
        ("held out: edges among the pairs without one", "evaluate/held_out_edges.py", "ends[:, 1]])) < 0]", "ends[:, 1]])) >= -1]", "evaluate/test_links.py"),
        ("held out: keys of 32 bits", "evaluate/held_out_edges.py", "keys = first * graph.nodes + second", "keys = first.astype(np.int32) * np.int32(graph.nodes) + second.astype(np.int32)", "evaluate/test_many_nodes.py evaluate/test_links.py"),
        ("metrics: micro is a mean of classes", "evaluate/metrics.py", "(each.sum() for each in counts)", "(each.mean() * each.max() for each in counts)", "evaluate/test_classification.py"),
        ("metrics: macro weighted by the size of classes", "evaluate/metrics.py", "100 * float(each.mean())", "100 * float(np.average(each, weights=counts.true))", "evaluate/test_classification.py"),
        ("metrics: one label for each node", "evaluate/metrics.py", "np.arange(scores.shape[1]) < counts[:, None]", "np.arange(scores.shape[1]) < np.minimum(counts, 1)[:, None]", "evaluate/test_classification.py"),
        ("metrics: average precision of ties", "evaluate/metrics.py", 'np.searchsorted(np.sort(false), true, side="left")', 'np.searchsorted(np.sort(false), true, side="right")', "evaluate/test_links.py"),
        ("metrics: rank among equals", "evaluate/metrics.py", "1 + (above + level) / 2", "1 + above", "evaluate/test_links.py"),
        ("logistic: penalty of the intercept", "evaluate/logistic.py", "np.ones((n, 1), rows.dtype)", "10 * np.ones((n, 1), rows.dtype)", "evaluate/test_logistic.py"),
        ("logistic: C ignored in the gradient", "evaluate/logistic.py", "gradient += C * (", "gradient += (", "evaluate/test_logistic.py"),
        ("C: trained on its own test fold", "evaluate/judges.py", "fit_logistic(rows[~test], targets[~test], C=C", "fit_logistic(rows, targets, C=C", "evaluate/test_classification.py"),
        ("C: chosen with the test nodes", "evaluate/judges.py", "C = choose_penalty(*training, self.penalties, key)", "C = choose_penalty(rows, self.indicator.toarray(), self.penalties, key)", "evaluate/test_classification.py"),
        ("reconstruction: equals in their order", "evaluate/reconstruction.py", "(hits * level + (k - before) * among)", "(hits * level + min(k - before, among) * level)", "evaluate/test_reconstruction.py"),
        ("links: spectral without three steps", "evaluate/link_scores.py", "w + w**2 + w**3", "w + w**2", "evaluate/test_links.py"),
        ("metrics: the last of equal classes", "evaluate/metrics.py", 'np.argsort(-scores, axis=1, kind="stable")', 'np.argsort(scores, axis=1, kind="stable")[:, ::-1]', "evaluate/test_classification.py"),
        ("labels: rows keep their lengths", "evaluate/classification.py", "partial(judge.stats, unit_rows(rows))", "partial(judge.stats, rows.astype(np.float32))", "evaluate/test_classification.py"),
        ("tune: labels of other nodes are seen", "evaluate/judges.py", "rows, indicator = order[part], indicator[part]", "rows = order", "evaluate/test_tune.py"),
        ("tune: sign of the gain", "evaluate/tune.py", "gains = np.subtract(scores, best)", "gains = np.subtract(best, scores)", "evaluate/test_tune.py"),
        ("held out: arcs turned round that are arcs", "evaluate/held_out_edges.py", "np.flatnonzero(find_entries(graph, Pairs(edges.second, edges.first)) < 0)", "np.flatnonzero(find_entries(graph, Pairs(edges.second, edges.first)) >= -1)", "evaluate/test_links.py"),
        ("reconstruction: a node with itself is a pair", "evaluate/reconstruction.py", "np.tril_indices(hi - lo, 0, scores.shape[1])", "np.tril_indices(hi - lo, -1, scores.shape[1])", "evaluate/test_reconstruction.py"),
        ("clusters: nodes of several labels count", "evaluate/clustering.py", "np.diff(indicator.indptr) == 1", "np.diff(indicator.indptr) >= 1", "evaluate/test_clustering.py"),
        # Questions about a graph and its vectors.
        ("labels: folds know their labels", "analysis/label_prediction.py", "fit_logistic(task.training[~test], task.targets[~test], C=penalty)", "fit_logistic(task.training, task.targets, C=penalty)", "analysis/test_label_prediction.py"),
        ("labels: threshold too low", "analysis/label_prediction.py", "quality = hits / (len(first) + np.arange(len(hits)) + truth.sum())", "quality = hits / truth.sum()", "analysis/test_label_prediction.py"),
        ("labels: scale learned from the wrong classes", "analysis/label_prediction.py", "(1 - doubt) * logs[truth].mean() + doubt * logs[~truth].mean()", "doubt * logs[truth].mean() + (1 - doubt) * logs[~truth].mean()", "analysis/test_label_prediction.py"),
        ("labels: the control knows the labels of its fold", "analysis/label_prediction.py", "train = task.fold != number", "train = task.fold >= 0", "analysis/test_label_prediction.py"),
        ("labels: the rule is judged by the nodes it was learned from", "analysis/label_prediction.py", "Rule.learn(decisions[fold != number], truth[fold != number], several=several)", "Rule.learn(decisions, truth, several=several)", "analysis/test_label_prediction.py"),
        ("links: columns not standardized", "analysis/link_prediction.py", "mean, scale = columns.mean(axis=0), columns.std(axis=0)", "mean, scale = np.zeros(columns.shape[1]), np.ones(columns.shape[1])", "analysis/test_link_prediction.py"),
        ("links: a pair is ranked by a model that has seen it", "analysis/link_prediction.py", "_Model.fit(every[~part], marks[~part])", "_Model.fit(every[part], marks[part])", "analysis/test_link_prediction.py"),
        ("links: resource allocation", "analysis/link_prediction.py", '"resource allocation": 1 / degree}', '"resource allocation": 1 / degree**0.5}', "analysis/test_link_prediction.py"),
        ("links: Adamic-Adar", "analysis/link_prediction.py", "1 / np.log(degree), 1 / np.log(1.5)", "1 / np.log1p(degree), 1 / np.log(1.5)", "analysis/test_link_prediction.py"),
        ("links: edges among the candidates", "analysis/link_prediction.py", "graph.indptr[row + 1]]] = False", "graph.indptr[row]]] = False", "analysis/test_link_prediction.py"),
        ("split: a pair in two parts", "analysis/edge_split.py", "keys[~np.isin(keys, taken)][:most]", "keys[:most]", "analysis/test_edge_split.py"),
        ("split: keys of 32 bits", "analysis/edge_split.py", "drop_repeated(pairs.first[free] * graph.nodes + pairs.second[free])", "drop_repeated((pairs.first[free].astype(np.int32) * np.int32(graph.nodes) + pairs.second[free].astype(np.int32)).astype(np.int64))", "evaluate/test_many_nodes.py analysis/test_edge_split.py"),
        ("drift: kept of all slots", "analysis/drift.py", "common / np.maximum(before.slots, 1)", "common / k / 2", "analysis/test_drift.py"),
        ("drift: ties all kept", "analysis/drift.py", "np.clip((slots - above) / np.maximum(tied, 1), 0, 1)", "np.clip((slots - above), 0, 1)", "analysis/test_drift.py analysis/test_gates.py"),
        ("duplicates: the two themselves count", "analysis/duplicates.py", "- 2 * links - shared", "- shared", "analysis/test_duplicates.py"),
        ("duplicates: threshold missed by one", "analysis/duplicates.py", "(overlaps.overlap >= np.float32", "(overlaps.overlap > np.float32", "evaluate/test_many_nodes.py analysis/test_duplicates.py"),
        ("duplicates: keys of 32 bits", "analysis/duplicates.py", "np.minimum(first, second) * len(embedding)", "np.minimum(first, second).astype(np.int32) * np.int32(len(embedding))", "evaluate/test_many_nodes.py analysis/test_duplicates.py"),
        ("communities: modularity without chance", "analysis/communities.py", "inside / total - (weight / total) ** 2", "inside / total", "analysis/test_communities.py"),
        # Maps.
        ("map: principal axes not centered", "display/maps/principal.py", "sums[:k] - n * np.outer(mean, mean)", "sums[:k]", "display/test_layout.py"),
        ("map: only one cell is searched", "display/maps/nearest.py", "for probe in range(cells.nearest.shape[1]):", "for probe in range(1):", "display/test_layout.py"),
        ("map: points repel themselves", "display/maps/clusters.py", "- kernels.own * n, 0.05 * n)", ", 0.05 * n)", "display/test_layout.py"),
        ("k-means: the nearest center by the product", "linalg/kmeans.py", "np.argmax(products - halves, axis=1)", "np.argmax(products, axis=1)", "evaluate/test_clustering.py analysis/test_communities.py"),
    )
]  # fmt: skip


def main() -> None:
    """Try the chosen mutations, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="parts of names; all mutations if there are none")
    words = parser.parse_args().words
    chosen = [each for each in MUTATIONS if not words or any(word in each.name for word in words)]
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        source = Path(folder, "src")
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        for mutation in chosen:
            start = perf_counter()
            verdict, noticed = try_mutation(mutation, source)
            survivors += not noticed
            print(f"{mutation.name:55} {verdict}  ({perf_counter() - start:.0f} s)", flush=True)
    print(f"{len(chosen)} mutations, {survivors} survivors")
    sys.exit(bool(survivors))


def try_mutation(mutation: Mutation, source: Path) -> tuple[str, bool]:
    """Return what became of a mutation, and whether a test noticed it."""
    path = source / "graphrefine" / mutation.file
    text = path.read_text() if path.exists() else ""
    if text.count(mutation.old) != 1:
        return f"STALE: {mutation.old!r} is in {mutation.file} {text.count(mutation.old)} times", False
    paths = [str(ROOT / "tests" / name) for name in mutation.tests.split()]
    if missing := [each for each in paths if not Path(each.partition("::")[0]).exists()]:
        return f"STALE: there is no {', '.join(missing)}", False
    path.write_text(text.replace(mutation.old, mutation.new))
    try:
        command = [sys.executable, "-B", "-c", RUN, str(source), *paths]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return "killed: it did not end", True
    finally:
        path.write_text(text)
    if run.returncode == 0:
        return "SURVIVED", False
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    return (f"killed by {failed[1]}", True) if failed else (f"BROKEN: {run.stdout[-300:]}{run.stderr[-300:]}", False)


if __name__ == "__main__":
    main()
