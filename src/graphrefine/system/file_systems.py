"""Kind of file system that a path is on, and a refusal of those whose locks cannot be trusted."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from graphrefine.errors import InputError

NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "fuse.sshfs", "fuse.s3fs"}
NETWORK |= {"lustre", "glusterfs", "ceph"}
MOUNTS = Path("/proc/mounts")


def check_file_system(path: Path) -> None:
    """Raise InputError for a network file system, where locks of SQLite are not to be trusted."""
    kind = file_system(path)
    if kind in NETWORK:
        raise InputError(
            f"{path} is on a network file system ({kind}), where the locks of a database cannot be trusted; put it on "
            "a disk of this machine"
        )


def file_system(path: Path, mounts: Path | None = None) -> str:
    r"""Kind of file system that a path is on; "" where the system does not say.

    Examples
    --------
    >>> import tempfile
    >>> mounts = Path(tempfile.mkdtemp()) / "mounts"
    >>> _ = mounts.write_text("disk / ext4 rw 0 0\nserver:/a /srv/data nfs4 rw 0 0\n")
    >>> file_system(Path("/srv/data/web.live"), mounts), file_system(Path("/srv"), mounts)
    ('nfs4', 'ext4')
    """
    best, kind = -1, ""
    with suppress(OSError):
        place = str(path.resolve())
        for line in (mounts or MOUNTS).read_text(errors="surrogateescape").splitlines():
            point, name = line.split()[1:3]
            point = point.replace("\\040", " ")
            inside = place == point or place.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= best:
                best, kind = len(point), name
    return kind
