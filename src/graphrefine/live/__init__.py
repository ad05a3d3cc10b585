"""Live vectors: a graph whose edges come and go, and vectors that follow it."""
