"""REFINE, the paper: range finder, filters, directed and bipartite graphs, the tiers above "fast", features.

For others: `refine.refine`, `settings.RefineSettings` with `settings.refine_settings`; `range_finder`, `svd` and
`filters` for other methods; `settings.MethodSettings`, the base of every method's settings. `reproduction/reference.py`
is the whole method on one page of NumPy.

Words of this package:

==============  ======================================================================================================
proximity       M, the matrix that REFINE factorizes: the logarithm of ``p_ij / phi_j`` on the edges (Eqs. 2-4)
sketch          Omega, random signs (n, k): a hash of the seed and the name of a node, so that no order changes them
range           the columns C that span what M does to the sketch, orthonormal; and R = M^T C (Algorithm 1, "RBQR")
filter          the polynomial ``sum theta_k T^k`` in the random walk T that smooths R over the graph (Eq. 7)
axes            principal axes of a tall matrix: vectors are turned to them, the strongest first, and may be scaled
far view        vectors of the logarithm of random walks of up to seven steps; the tiers "default" and "best" have it
local view      vectors of the leading eigenpairs, of both signs, of the graph between powers of its degrees
regions         groups of nodes with similar vectors: where the far view counts walks, instead of at single nodes
walk memory     h, the share of the information on its first node that a random walk keeps at each step, 0 to 1
forgetful       a graph whose walk memory is below `views.FORGETFUL`: fewer regions do, and the first steps count
==============  ======================================================================================================
"""
