// Products and dense algebra on tall matrices, compiled once for each instruction set.
