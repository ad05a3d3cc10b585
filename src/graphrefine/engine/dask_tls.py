"""The connection to a Dask scheduler that somebody else started: TLS with certificates of both ends, and its errors.

A scheduler runs code for all who reach it, and a client takes code from its scheduler: each end must show a certificate
of the cluster's authority. What is wrong with one is said before the connection, or found out by a second one.
"""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import dask.config
from distributed.security import Security

from graphrefine.errors import FormatError, InputError

ENCRYPTED = ("tls", "wss")
CONFIG = {"tls_ca_file": "ca-file", "tls_cert": "client.cert", "tls_key": "client.key"}  # below distributed.comm.tls
SECONDS = 5  # for an answer, when the reason is looked for that there is none
REFUSALS = ("CERTIFICATE", "UNKNOWN_CA", "HANDSHAKE_FAILURE", "ACCESS_DENIED", "DECRYPT_ERROR")  # words of alerts


class TlsFiles(NamedTuple):
    """Files of a client of TLS, in PEM: the authority that signed the cluster's certificates, its own one, its key."""

    tls_ca_file: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None


def make_client_security(address: str, files: TlsFiles) -> Any:
    """What Dask's client needs to be let in; None without TLS.

    Parameters
    ----------
    address
        Of the scheduler.
    files
        Certificates and key; where none is given, those of Dask's own settings.
    """
    if not is_encrypted(address):
        return None
    files = _with_config(files)
    if files.tls_ca_file is None or files.tls_cert is None:
        raise InputError(
            f"scheduler={address!r}: TLS needs the certificate of the cluster's authority, your own and its key; "
            "give tls_ca_file=, tls_cert= and tls_key=, the files that dask worker takes, or set "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ...__TLS__CLIENT__CERT and ...__TLS__CLIENT__KEY",
            argument="scheduler",
        )
    load_context(files)
    return Security(
        require_encryption=True,
        tls_ca_file=files.tls_ca_file,
        tls_client_cert=files.tls_cert,
        tls_client_key=files.tls_key,
    )


def is_encrypted(address: str) -> bool:
    """Whether connections to an address have TLS.

    Examples
    --------
    >>> is_encrypted("tls://head:8786"), is_encrypted("tcp://head:8786"), is_encrypted("head:8786")
    (True, False, False)
    """
    return address.partition("://")[0] in ENCRYPTED


def load_context(files: TlsFiles) -> ssl.SSLContext:
    """The files as Python's ssl takes them; one that it does not take is named."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # as Dask: an authority of the cluster's own, and addresses rather than names
    assert files.tls_ca_file is not None and files.tls_cert is not None
    for name, path in files._asdict().items():
        if path is not None:
            _check_readable(name, path)
    try:
        context.load_verify_locations(files.tls_ca_file)
    except ssl.SSLError as error:
        raise _unusable(files.tls_ca_file, "tls_ca_file", "holds no certificate in PEM", error) from None
    try:
        context.load_cert_chain(files.tls_cert, files.tls_key, password=_no_password)
    except _PasswordError:
        key = files.tls_key or files.tls_cert
        problem = "the key has a password, which Dask cannot ask for; store it without one, readable by you alone"
        raise FormatError(key, problem, argument="tls_key") from None
    except ssl.SSLError as error:
        if "KEY_VALUES_MISMATCH" in (error.reason or ""):
            problem = f"is not the key of the certificate {files.tls_cert}"
            raise FormatError(files.tls_key or files.tls_cert, problem, argument="tls_key") from None
        missing = files.tls_key is None and "PRIVATE KEY" not in Path(files.tls_cert).read_text("utf-8", "replace")
        if missing:
            problem = "has no key in it, and tls_key= is not given"
            raise FormatError(files.tls_cert, problem, argument="tls_cert") from None
        which = "the certificate and its key cannot be used"
        raise _unusable(files.tls_cert, "tls_cert", which, error) from None
    return context


def explain_failure(address: str, files: TlsFiles) -> str | None:
    """Why a scheduler does not answer, as another connection to it shows; None if it does not show."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        place = (parts.hostname or "", parts.port or 8786)
    except ValueError:
        return "that is no address"
    try:
        with socket.create_connection(place, timeout=SECONDS) as connection:
            if not is_encrypted(address):
                return f"it has TLS: say tls://{_place(address)}" if _speaks_tls(connection) else None
            return _explain_tls(connection, address, _with_config(files))
    except socket.gaierror:
        return f"no machine is known as {place[0]!r}"
    except ConnectionRefusedError:
        return "nothing listens there"
    except OSError:
        return None


def _explain_tls(connection: socket.socket, address: str, files: TlsFiles) -> str | None:
    try:
        with load_context(files).wrap_socket(connection) as wrapped:
            wrapped.recv(1)  # a scheduler speaks first; one that refuses this certificate says so only now
    except ssl.SSLCertVerificationError as error:
        return f"its certificate is not one of the authority in {files.tls_ca_file}: {error.verify_message}"
    except ssl.SSLError as error:
        reason = error.reason or ""
        if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
            return f"it has no TLS: tcp://{_place(address)}"
        if any(word in reason for word in REFUSALS):
            return f"it refuses the certificate {files.tls_cert}: {reason.lower().replace('_', ' ')}"
        return str(error)
    except ConnectionError:
        return f"it closes the connection; most likely it refuses the certificate {files.tls_cert}"
    return None


def _speaks_tls(connection: socket.socket) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_socket(connection).close()
    except (OSError, ValueError) as error:
        return isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "")
    return True


def _with_config(files: TlsFiles) -> TlsFiles:
    """The files, and those of Dask's own settings where none is given."""
    if files != TlsFiles():
        return files
    return TlsFiles(**{name: dask.config.get(f"distributed.comm.tls.{key}", None) for name, key in CONFIG.items()})


def _check_readable(name: str, path: str) -> None:
    try:
        Path(path).open("rb").close()
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}", argument=name) from None


def _unusable(path: str, name: str, problem: str, error: ssl.SSLError) -> FormatError:
    return FormatError(path, f"{problem} ({error.reason or error})", argument=name)


class _PasswordError(Exception):
    """A key that asks for a password."""


def _no_password() -> str:
    raise _PasswordError


def _place(address: str) -> str:
    return address.partition("://")[2] or address
