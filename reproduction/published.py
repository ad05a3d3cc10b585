"""Every figure that the paper prints (Zhu and Koniusz, "REFINE: Random RangE FInder for Network Embedding", 2021).

F1 is in percent throughout; the paper's Table 4 prints fractions. Figures 1 to 3 are pictures without numbers: the
claims of the text about them are in `reproduction.claims_quality`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Measure = Literal["micro", "macro"]
Row = tuple[float, ...]


class Shape(NamedTuple):
    """A column of Table 3."""

    nodes: int
    edges: int
    labels: int


RATIOS: dict[str, Row] = {  # of Tables 1 and 2, by graph
    "blogcatalog": (0.1, 0.3, 0.5, 0.7, 0.9),
    "ppi": (0.1, 0.3, 0.5, 0.7, 0.9),
    "wikipedia": (0.1, 0.3, 0.5, 0.7, 0.9),
    "flickr": (0.01, 0.03, 0.05, 0.07, 0.09),
}
TABLE1_GRAPHS = ("blogcatalog", "ppi")
TABLE2_GRAPHS = ("wikipedia", "flickr")
ROWS = ("line", "deepwalk", "netmf", "prone", "rbqr", "refine")  # of Tables 1 and 2, in their order
COMMENTED_OUT = frozenset({"netmf"})  # rows in the paper's source that its print leaves out

MICRO: dict[str, dict[str, Row]] = {
    "blogcatalog": {
        "line": (25.35, 32.05, 35.16, 36.61, 37.35),
        "deepwalk": (35.85, 39.91, 41.62, 42.45, 42.90),
        "netmf": (38.33, 41.43, 42.67, 43.34, 43.15),
        "prone": (36.52, 39.97, 41.20, 41.75, 42.16),
        "rbqr": (32.88, 36.42, 37.85, 38.61, 39.33),
        "refine": (36.46, 39.75, 41.00, 41.75, 42.29),
    },
    "ppi": {
        "line": (11.70, 14.20, 16.00, 17.82, 19.59),
        "deepwalk": (16.06, 19.37, 21.26, 22.63, 24.36),
        "netmf": (18.05, 21.80, 23.10, 24.40, 25.96),
        "prone": (17.37, 22.45, 24.28, 25.08, 26.31),
        "rbqr": (16.44, 20.90, 22.59, 23.29, 23.71),
        "refine": (17.79, 22.57, 24.30, 24.96, 26.35),
    },
    "wikipedia": {
        "line": (41.30, 48.35, 51.89, 53.57, 54.86),
        "deepwalk": (42.32, 47.02, 48.65, 49.80, 50.35),
        "netmf": (50.10, 55.81, 57.26, 58.47, 59.13),
        "prone": (48.61, 53.96, 55.63, 56.52, 57.43),
        "rbqr": (45.72, 49.73, 50.88, 51.56, 52.31),
        "refine": (51.17, 56.15, 57.50, 58.34, 58.84),
    },
    "flickr": {
        "line": (25.30, 28.64, 30.07, 31.28, 32.34),
        "deepwalk": (32.06, 35.89, 37.46, 38.29, 38.84),
        "netmf": (31.97, 35.07, 36.24, 36.82, 37.19),
        "prone": (30.77, 35.14, 36.69, 37.54, 38.12),
        "rbqr": (30.55, 34.23, 35.58, 36.41, 37.04),
        "refine": (31.17, 35.22, 36.74, 37.66, 38.32),
    },
}
MACRO: dict[str, dict[str, Row]] = {
    "blogcatalog": {
        "line": (14.38, 19.11, 21.36, 22.25, 22.62),
        "deepwalk": (21.16, 25.59, 27.58, 28.47, 28.66),
        "netmf": (23.12, 26.70, 28.31, 28.91, 28.44),
        "prone": (18.04, 22.68, 24.05, 24.95, 25.03),
        "rbqr": (13.74, 18.25, 20.21, 21.30, 21.56),
        "refine": (17.76, 22.61, 24.17, 25.09, 25.35),
    },
    "ppi": {
        "line": (9.50, 12.15, 13.82, 15.35, 15.92),
        "deepwalk": (12.89, 16.71, 18.25, 19.48, 20.36),
        "netmf": (13.97, 18.29, 19.94, 21.01, 20.99),
        "prone": (12.42, 17.44, 19.59, 20.52, 20.86),
        "rbqr": (11.10, 15.69, 17.97, 18.89, 18.71),
        "refine": (12.67, 17.57, 19.73, 20.60, 20.86),
    },
    "wikipedia": {
        "line": (8.51, 10.53, 12.63, 13.40, 13.16),
        "deepwalk": (7.26, 9.02, 9.71, 10.03, 9.92),
        "netmf": (9.04, 12.44, 13.67, 14.04, 14.91),
        "prone": (8.40, 10.73, 11.40, 11.83, 12.21),
        "rbqr": (7.10, 9.39, 9.98, 10.36, 10.63),
        "refine": (9.42, 11.75, 12.36, 12.79, 13.11),
    },
    "flickr": {
        "line": (9.01, 13.42, 15.77, 17.44, 18.68),
        "deepwalk": (13.36, 19.45, 22.21, 23.94, 25.07),
        "netmf": (12.32, 17.32, 19.42, 20.68, 21.57),
        "prone": (8.21, 13.55, 16.14, 17.86, 19.12),
        "rbqr": (7.68, 12.21, 14.47, 15.98, 17.21),
        "refine": (8.18, 13.50, 16.29, 18.21, 19.54),
    },
}
F1: dict[Measure, dict[str, dict[str, Row]]] = {"micro": MICRO, "macro": MACRO}
TABLE3: dict[str, Shape] = {
    "blogcatalog": Shape(10_312, 333_983, 39),
    "wikipedia": Shape(4_777, 184_812, 40),
    "ppi": Shape(3_890, 76_584, 50),
    "flickr": Shape(80_513, 5_899_882, 195),
    "youtube": Shape(1_138_499, 2_990_443, 47),
}
TABLE4: dict[str, dict[str, float]] = {  # Micro F1
    "blogcatalog": {"harp": 31.6, "randne": 30.8, "mile": 26.4, "netsmf": 33.4, "louvainne": 30.6, "refine": 42.0},
    "flickr": {"harp": 38.4, "randne": 38.5, "mile": 38.6, "netsmf": 35.6, "louvainne": 38.9, "refine": 38.9},
    "youtube": {"harp": 30.5, "randne": 30.3, "mile": 30.4, "netsmf": 30.7, "louvainne": 30.7, "refine": 45.1},
}
TABLE4_RATIO = 0.8
TABLE4_OURS_RATIO = 0.09  # of REFINE on Flickr and YouTube: the asterisks of Table 4
TABLE5: dict[str, dict[str, float]] = {  # seconds, reading and writing included
    "blogcatalog": {"prone": 10.04, "refine": 0.49},
    "wikipedia": {"prone": 2.06, "refine": 0.15},
    "ppi": {"prone": 0.959, "refine": 0.097},
    "flickr": {"prone": 195.0, "refine": 13.0},
    "youtube": {"prone": 305.0, "refine": 40.0},
}
YOUTUBE_SECONDS = {  # from the text beside Figure 1 and Table 5; DeepWalk takes at least that
    "deepwalk": 10_000.0,
    "line": 1_000.0,
    "prone": 305.0,
    "refine": 40.0,
    "rbqr": 26.0,
}
FIGURE1_RATIO = 0.9
FIGURE2_POWERS = (1, 2, 3, 4)
FIGURE3_BLOCKS = (8, 16, 32, 64)
