"""The API as an OpenAPI document, which FastAPI writes from the types of the handlers.

FastAPI takes longer to load than the server to start, so this module is imported when the document is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Any, get_type_hints

from fastapi import FastAPI, Query
from starlette.responses import JSONResponse, Response

from graphrefine import __version__
from graphrefine.explore.auth import OPEN
from graphrefine.explore.responses import REFUSALS
from graphrefine.explore.strict_route import Handler, StrictRoute


def make_document(routes: Sequence[StrictRoute], *, has_token: bool) -> dict[str, Any]:
    """The document of some routes, for the embedding of `param_types.FACTS`.

    Parameters
    ----------
    routes
        The routes, in the order of the document.
    has_token
        Whether requests must send a token.
    """
    app = FastAPI(
        title="graphrefine explore",
        version=__version__,
        description="Nodes, neighbors, scores and maps of one embedding.",
        license_info={"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        generate_unique_id_function=attrgetter("name"),
    )
    for route in routes:
        is_raw = get_type_hints(route.handler)["return"] is Response
        app.add_api_route(
            route.path,
            _describe(route),
            methods=[route.method],
            responses={**REFUSALS, **route.responses},
            response_class=Response if is_raw else JSONResponse,
        )
    document = app.openapi()
    own = {(route.path, route.method.lower()) for route in routes if 422 in route.responses}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if (path, method) not in own:
                operation["responses"].pop("422", None)  # 400 here, in another form
            if has_token and path not in OPEN:
                operation["security"] = [{"token": []}]
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)
    if has_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return document


def _describe(route: StrictRoute) -> Handler:
    """The handler as FastAPI reads it: `params` of a GET is a query, and there is no `session`."""
    hints = get_type_hints(route.handler)
    model = hints.get("params")
    if route.method == "GET" and model is not None:
        hints["params"] = Annotated[model, Query()]

    async def described() -> None: ...

    signature = inspect.signature(route.handler)
    parameters = [each for each in signature.parameters.values() if each.name != "session"]
    described.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[each.replace(annotation=hints[each.name]) for each in parameters],
        return_annotation=hints["return"],
    )
    described.__name__, described.__doc__ = route.handler.__name__, route.handler.__doc__
    return described
