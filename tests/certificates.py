"""Certificates for tests, made by the program openssl: an authority, and what it signs."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make_authority(folder: Path, name: str) -> Path:
    """The certificate of a new authority, with its key beside it."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    _run("req", "-x509", *_KEY, "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", f"/CN={name}")
    return certificate


def sign(authority: Path, name: str) -> tuple[Path, Path]:
    """A certificate of this name that an authority signed, and its key."""
    folder = authority.parent
    certificate, key, request = (folder / f"{name}.{end}" for end in ("pem", "key", "csr"))
    _run("req", *_KEY, "-keyout", str(key), "-out", str(request), "-subj", f"/CN={name}")
    signing = ["-CA", str(authority), "-CAkey", str(authority.with_suffix(".key")), "-CAcreateserial"]
    _run("x509", "-req", "-in", str(request), *signing, "-out", str(certificate), "-days", "2")
    return certificate, key


def lock(key: Path) -> Path:
    """The same key with a password."""
    locked = key.with_suffix(".locked")
    _run("pkey", "-in", str(key), "-aes128", "-passout", "pass:secret", "-out", str(locked))
    return locked


_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def _run(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)
