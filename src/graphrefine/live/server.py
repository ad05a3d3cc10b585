"""``graphrefine live serve``: changes by POST, answers of this moment, and explore's API on a snapshot that is renewed.

The folder is used by one thread, in which all that is asked of it happens in the order in which it comes. A second
thread looks a few times a second: it goes over to a refresh that is ready, and takes a new snapshot after a refresh,
and after changes once the last snapshot is old enough and its background work is done.
"""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from fastapi import Query
from numpy.typing import NDArray
from pydantic import AfterValidator, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import FormatError, InputError
from graphrefine.explore import request_params
from graphrefine.explore.app import make_app
from graphrefine.explore.background import Background
from graphrefine.explore.handlers import page_handlers
from graphrefine.explore.request_params import INT64, Flag, Name, NeighborCount, Params
from graphrefine.explore.routes import NO_QUERY, CurrentSession, make_router
from graphrefine.explore.server import Access, answer_requests, bind, end_background, make_access
from graphrefine.explore.session import Session
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import Side
from graphrefine.live.change_log import parse_change
from graphrefine.live.reader import Neighbor
from graphrefine.live.writer import Live
from graphrefine.refine.refine import spread_rows

PAGE = Path(__file__).parent / "page"
LOOK = 0.2  # seconds between two looks whether a snapshot is due
CHANGES = 10_000  # of a request
MAX_REQUEST = 200  # characters of a request's id
MAP, MOVED = 20_000, 5_000  # nodes of the map, and nodes that moved, of an answer
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}  # of the bounds
MINUTE = 60  # seconds of the mean rate
INTERVAL, INTERVALS = 5, 60  # seconds of each point of the rate's line, and points
REFRESHES = 100  # the last ones that are listed
DIGITS = 5  # of a coordinate: a screen has fewer, and the answer is a third shorter

_Value = TypeVar("_Value")
Answer = dict[str, Any]  # its keys are in the description of the endpoint

# ---- parameters ------------------------------------------------------------------------------------------------------


class EdgeChanges(Params, strict=True):
    """A group of changes: all of them, or nothing."""

    request: str = Field(
        min_length=1, max_length=MAX_REQUEST, description="Id of this request; sent again, it changes nothing more."
    )
    changes: list[Annotated[Any, AfterValidator(parse_change)]] = Field(
        min_length=1,
        max_length=CHANGES,
        description="Lists of an operation (+, -, =), a source, a target and a weight; null or no target for a node, "
        "which is a source in a bipartite graph.",
    )
    skip_unknown: Flag = Field(False, description="Skip removals of what does not exist, and count them.")


class LiveNodeQuery(request_params.Side):
    """One node of this moment."""

    node: Name = Field(description="Name of the node.")


class LiveNeighborQuery(LiveNodeQuery):
    """Neighbors of one node, of this moment."""

    k: NeighborCount = 10


class RecommendQuery(Params):
    """Targets for one source of a bipartite graph, of this moment."""

    node: Name = Field(description="Name of the source.")
    k: NeighborCount = 10


class PlaneQuery(Params):
    """The plane of two axes of the vectors."""

    x: int = Field(0, ge=0, description="Axis of the vectors to the right.")
    y: int | None = Field(None, ge=0, description="Axis of the vectors upwards; 1 if left out.")

    def axes(self, dim: int) -> tuple[int, int]:
        """Return the two axes; InputError for one that the vectors do not have."""
        axes = self.x, min(1, dim - 1) if self.y is None else self.y
        if max(axes) >= dim:
            raise InputError(f"axis {max(axes)}: an axis from 0 to {dim - 1} is expected")
        return axes


class MovedQuery(PlaneQuery):
    """Nodes that moved since a moment."""

    after: int = Field(ge=0, lt=INT64, description="Group after which nodes moved.")
    generation: int | None = Field(
        None, ge=0, lt=INT64, description="Generation of that moment; after a refresh the answer is not complete."
    )


# ---- answers ---------------------------------------------------------------------------------------------------------


class LiveService(Live):
    """A folder of live vectors, open for writing, with the answers of this moment that clients and the page ask for."""

    def moment(self) -> dict[str, int]:
        """Return the last group, and the number of the checkpoint in use: another one after each refresh."""
        return {"group": self.group, "generation": self._store.generation}

    def describe(self, name: Any, side: Side | None) -> Answer:
        """Return vector, bound and degree of a node."""
        return {
            "node": name,
            "group": self.group,
            "degree": len(self._linked_rows(self._vectors.row(name, side))),
            "bound": self.bound(name, side=side),
            "vector": self.vector(name, side=side).tolist(),
        }

    def state(self) -> Answer:
        """Return stats of this moment: counts, quantiles of the bounds, rate of changes, refreshes."""
        now = time.time()
        last = int(now) // INTERVAL
        counts = self._store.count_changes(now - INTERVAL * INTERVALS, seconds=INTERVAL)
        rates = [counts.get(part, 0) / INTERVAL for part in range(last - INTERVALS + 1, last + 1)]
        minute = self._store.count_changes(now - MINUTE, seconds=MINUTE)
        quantiles = dict.fromkeys(QUANTILES)
        if len(bounds := self.bounds()):
            values = np.quantile(bounds, list(QUANTILES.values()), method="inverted_cdf").tolist()
            quantiles = {key: value if value < 2 else None for key, value in zip(QUANTILES, values, strict=True)}
        return {
            "name": self.path.name,
            **self.stats(),
            "bounds": quantiles,
            "refreshes": self.drift()[-REFRESHES:],
            "dim": self.dim,
            "rate": sum(minute.values()) / MINUTE,
            "rates": {"seconds": INTERVAL, "values": rates},
            "last_commit": self._store.last_time(),
            "time": now,
            "problem": self.refresh_problem,
        }

    def plane(self, axes: tuple[int, int]) -> Answer:
        """Return names and coordinates in the plane of two axes: of all nodes, or of some spread over all rows.

        In a bipartite graph, ``sides`` has the side of each.
        """
        rows = self._vectors.ordered()
        total = len(rows)
        if total > MAP:
            rows = rows[spread_rows(total, MAP, seed=0)]
        return {**self.moment(), "total": total, **self._points(rows, axes)}

    def moved(self, after: int, axes: tuple[int, int], *, generation: int | None) -> Answer:
        """Return names and coordinates of the nodes whose vectors moved after a group, and names that left.

        The group is one of a ``generation``, if that is given: in another one, all vectors may have moved.
        """
        table = self._vectors
        rows = np.flatnonzero(table.groups > after)
        is_complete = after <= self.group and self._has_moves(after, generation)
        if len(rows) > MOVED:  # those of the newest groups, as far as they are few enough
            rows = rows[table.groups[rows] > np.sort(table.groups[rows])[-MOVED - 1]]
            is_complete = False
        gone = table.keys(rows[table.removed[rows]]).tolist()
        names, sides = self._split([key for key in dict.fromkeys(gone) if table.row_of(key) is None])
        points = self._points(rows[~table.removed[rows]], axes)
        return {**self.moment(), "complete": is_complete, **points, "removed": names, "removed_sides": sides}

    def _points(self, rows: NDArray[np.int64], axes: tuple[int, int]) -> Answer:
        points = self._vectors.rows(rows)[:, list(axes)].astype(np.float64).round(DIGITS)
        names, sides = self._split(self._vectors.keys(rows).tolist())
        return {"names": names, "sides": sides, "points": points.tolist()}

    def _split(self, keys: list[Any]) -> tuple[list[Any], list[Side] | None]:
        """Return the names of keys of the folder, and the sides of them in a bipartite graph."""
        names = [self._vectors.name(key) for key in keys]
        return names, ["source" if key[0] == "s" else "target" for key in keys] if self._vectors.has_sides else None


# ---- requests --------------------------------------------------------------------------------------------------------

router = make_router()
Work = Callable[[LiveService], _Value]


async def _ask(request: Request, work: Work[_Value]) -> _Value:
    """Have the folder's thread do some work, and wait for it while the event loop goes on."""
    backend: Backend = request.app.state.backend
    return await asyncio.wrap_future(backend.submit(work))


@router.post("/api/edges", dependencies=NO_QUERY)
async def post_edges(request: Request, params: EdgeChanges) -> Answer:
    """Apply changes of edges and nodes as one group, all or nothing; the answer comes when they are on the disk.

    It has the number of the `group`, and whether it is `repeated`, made by this request before; if not, also the
    numbers of `changes`, `skipped` removals, `new_nodes`, and vectors that `moved`.
    """
    if not params.request.isprintable():
        raise HTTPException(400, "request: printable characters are expected, others for each request")
    try:
        receipt = await _ask(
            request, lambda live: live.submit(params.request, params.changes, skip_unknown=params.skip_unknown)
        )
    except InputError as error:  # an OutputError is status 503, as everywhere: the same request can be sent again
        raise HTTPException(500 if isinstance(error, FormatError) else 422, str(error)) from None
    stats = {} if receipt.commit is None else receipt.commit._asdict()
    return {**stats, "group": receipt.group, "repeated": receipt.commit is None}


@router.get("/api/live", dependencies=NO_QUERY)
async def get_live_state(request: Request) -> Answer:
    """Return counts, bounds, rate of changes and refreshes."""
    state = await _ask(request, LiveService.state)
    return {**state, "snapshot": request.app.state.backend.moment}


@router.get("/api/live/node")
async def get_live_node(request: Request, session: CurrentSession, params: Annotated[LiveNodeQuery, Query()]) -> Answer:
    """Return `node`, `group`, `degree`, `vector`, and `bound`, that of the vector's error; null where there is none."""
    name = session.parse_name(params.node, params.side)
    return await _ask(request, lambda live: live.describe(name, params.side))


@router.get("/api/live/neighbors")
async def get_live_neighbors(
    request: Request, session: CurrentSession, params: Annotated[LiveNeighborQuery, Query()]
) -> Answer:
    """Find the nodes nearest to one, by an exact search; of a bipartite graph, those of the same side.

    `neighbors` is a list of `node` and `score`, the highest score first.
    """
    name = session.parse_name(params.node, params.side)
    return await _ask(request, lambda live: _list(live, name, live.neighbors(name, params.k, side=params.side)))


@router.get("/api/live/recommend")
async def get_live_recommendations(
    request: Request, session: CurrentSession, params: Annotated[RecommendQuery, Query()]
) -> Answer:
    """Find targets of a bipartite graph that score highest for a source, without those that it is linked to.

    `neighbors` is a list of `node` and `score`, the highest score first.
    """
    name = session.parse_name(params.node)
    return await _ask(request, lambda live: _list(live, name, live.recommend(name, params.k)))


def _list(live: LiveService, node: Any, near: list[Neighbor]) -> Answer:
    return {"node": node, "group": live.group, "neighbors": [{"node": name, "score": score} for name, score in near]}


@router.get("/api/live/map")
async def get_live_map(request: Request, params: Annotated[PlaneQuery, Query()]) -> Answer:
    """Return nodes in the plane of two axes: all of them, or some that are spread over all.

    `group` and `generation` are of the moment, `total` is the number of all nodes; `names`, `points` (pairs of
    coordinates) and, in a bipartite graph, `sides` ("source" or "target", else null) are lists of the same order.
    """
    return await _ask(request, lambda live: live.plane(params.axes(live.dim)))


@router.get("/api/live/moved")
async def get_live_moves(request: Request, params: Annotated[MovedQuery, Query()]) -> Answer:
    """Return nodes whose vectors moved after a group, in the plane of two axes, and nodes that left.

    As the map, with `removed` and `removed_sides` of those that left, without `total`; `complete` says whether
    these are all. If not, ask for the map.
    """
    return await _ask(
        request, lambda live: live.moved(params.after, params.axes(live.dim), generation=params.generation)
    )


# ---- threads ---------------------------------------------------------------------------------------------------------


class Backend:
    """The application of a folder, the one thread that uses the folder, and a second one that renews the snapshot."""

    def __init__(self, live: LiveService, access: Access, *, renew: float = 60.0) -> None:
        self._live, self._renew = live, renew
        # SQLite, the kernel's graph and the tables are changed without locks: all work with the folder is queued
        # here, so that an answer never sees half a group, and requests count in the order in which they came.
        self._folder = ThreadPoolExecutor(1, "live writer")
        self._end = threading.Event()
        self._retired: list[Background] = []  # work of former sessions that has not ended yet
        pages = page_handlers(PAGE)
        session, self.moment = self._take_snapshot()
        self.app = make_app(
            session,
            token=access.token,
            hosts=access.hosts,
            any_address=access.any_address,
            routers=[router],
            pages={**pages, "/live": pages["/"]},
        )
        self.app.state.backend = self
        session.background.start()
        self._watcher = threading.Thread(target=self._watch, name="renewal", daemon=True)
        self._watcher.start()

    @property
    def session(self) -> Session:
        """The session of the last snapshot."""
        session: Session = self.app.state.session
        return session

    def submit(self, work: Work[_Value]) -> Future[_Value]:
        """Queue some work with the folder. What has not begun when its request is given up is left out."""
        return self._folder.submit(work, self._live)

    def stop(self) -> list[Background]:
        """End both threads; return the background work that is still to be ended."""
        self._end.set()
        self._watcher.join()
        self._folder.shutdown(wait=True, cancel_futures=True)
        return [*self._retired, self.session.background]

    def _take_snapshot(self) -> tuple[Session, Answer]:
        def copy(live: LiveService) -> tuple[Embedding, Graph | None, Answer]:
            return live.snapshot(), live.graph() if len(live) else None, {**live.moment(), "time": time.time()}

        # Only the copies are made in the folder's thread; the session may take long, and changes go on meanwhile.
        embedding, graph, moment = self.submit(copy).result()
        self._taken = time.monotonic()
        return Session(embedding, graph=graph, index=False, name=self._live.path.name), moment

    def _watch(self) -> None:
        while not self._end.wait(LOOK):
            try:
                self.submit(LiveService.finish_ready_refresh).result()
                if self._is_due(self.submit(LiveService.moment).result()):
                    self._renew_session()
            except Exception:  # the old session stays, and the next look may do better
                if self._end.is_set():
                    return
                sys.excepthook(*sys.exc_info())
                self._end.wait(self._renew)

    def _is_due(self, newest: dict[str, int]) -> bool:
        if newest["generation"] != self.moment["generation"]:
            return True
        # A session whose maps are not made yet is not replaced: on a large graph no map would ever be ready.
        is_old = time.monotonic() - self._taken >= self._renew and self.session.background.wait(0)
        return is_old and newest["group"] != self.moment["group"]

    def _renew_session(self) -> None:
        session, moment = self._take_snapshot()
        session.background.start()
        self._retired.append(self.session.background)
        # One assignment that requests see: each keeps to the session that it began with.
        self.app.state.session, self.moment = session, moment
        self._retired = [each for each in self._retired if not each.stop(0)]
        gc.collect()  # a session refers to itself: its vectors would stay until the collector comes by


# ---- the server ------------------------------------------------------------------------------------------------------


def serve_live(
    path: str | os.PathLike[str],
    *,
    host: str,
    port: int,
    token: str | None,
    renew: float,
    browser: bool,
    threads: int | None,
    on_start: Callable[[str, int, str, LiveService], None],
    on_end: Callable[[LiveService], None],
) -> None:
    """Serve a folder of live vectors until it is stopped (Ctrl-C), as its one writer.

    ``on_start`` is called with the page's address, port, token and folder once it can be reached; ``on_end`` with the
    folder before it is closed, which waits for a refresh that is under way. Without a ``token`` one is made.
    """
    with bind(host, port) as listening:
        bound = listening.getsockname()[1]
        token = token or secrets.token_urlsafe(24)
        access = make_access(host, bound, token)
        live = LiveService(path, threads=threads)
        backend = Backend(live, access, renew=renew)
        try:
            on_start(access.url, bound, token, live)
            answer_requests(backend.app, listening, url=access.url if browser else None)
        finally:
            work = backend.stop()
            on_end(live)
            live.close()
            for each in work:  # the last step: what does not stop in time ends the process
                end_background(each)
