"""Hashes that stored files have."""

from __future__ import annotations

import hashlib

import numpy as np

from graphrefine.evaluate.compare import encode_names
from graphrefine.system.digest import hash_json, hash_parts


def test_digits_never_change() -> None:
    indptr, weights = np.array([0, 2, 3], np.int64), np.array([[0.5, 1.5, 2.5]], np.float32)[:, ::2]
    by_hand = hashlib.blake2b(indptr.tobytes() + b"-" + weights.tobytes() + "a\0é\0".encode(), digest_size=16)
    assert hash_parts(indptr, None, weights, encode_names(["a", "é"])) == by_hand.hexdigest()
    assert hash_parts(b"manifest") == hashlib.blake2b(b"manifest", digest_size=16).hexdigest()
    assert hash_parts(np.empty(0, np.int32)) == hash_parts()
    assert hash_json({"b": [1.5], "a": None}) == hashlib.sha256(b'{"a": null, "b": [1.5]}').hexdigest()[:24]
