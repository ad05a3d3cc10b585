"""The API as an OpenAPI 3.1 document, written from the table of `endpoints`."""

from __future__ import annotations

from typing import Any

from graphrefine.explore.endpoints import Endpoint, Parameter
from graphrefine.system.version import __version__

_NULL = {"type": "null"}
_NAME = {"type": ["string", "integer"]}
_ROW = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}
_STATE = {"type": "string", "enum": ["working", "ready", "failed"]}
_NODE = {
    "row": _ROW,
    "node": _NAME,
    "side": {"enum": ["source", "target", None]},
    "degree": {"type": ["number", "null"]},
    "labels": {"type": "array", "items": _TEXT},
}
_SCORE = {"type": ["number", "null"]}


def _object(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _a(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


SCHEMAS: dict[str, dict[str, Any]] = {
    "Error": _object({"error": {"type": "string", "description": "What is wrong, and what to do."}}),
    "Health": _object({"status": {"const": "ok"}}),
    "Document": {"type": "object"},
    "Node": _object(_NODE),
    "Nodes": _object(
        {
            "nodes": _list(_object({**_NODE, "values": {"type": "object"}}, "values")),
            "total": {"type": "integer", "description": "How many there are, beyond those that are listed."},
        },
        "total",
    ),
    "Neighbor": _object({**_NODE, "score": _SCORE}),
    "Neighbors": _object(
        {
            "results": _list(
                _object(
                    {
                        "node": {"type": ["string", "integer", "null"]},
                        "row": {"type": ["integer", "null"]},
                        "side": _NODE["side"],
                        "neighbors": _list(_a("Neighbor")),
                    },
                    "side",
                )
            ),
            "score": _TEXT,
            "search": {"enum": ["exact", "index"]},
        }
    ),
    "Ego": _object(
        {
            "nodes": _list(_a("Node")),
            "edges": {**_list(_list(_ROW)), "description": "Pairs of positions in nodes."},
            "of": {"type": "integer", "description": "How many neighbours the node has in all."},
        }
    ),
    "Scores": _object({"score": _TEXT, "scores": _list(_SCORE)}),
    "Layout": _object({"name": _TEXT, "state": _STATE, "error": {"type": ["string", "null"]}}),
    "Column": _object(
        {
            "name": _TEXT,
            "kind": {"enum": ["category", "number"]},
            "state": _STATE,
            "error": {"type": ["string", "null"]},
            "categories": _list({"type": "object"}),
            "min": _SCORE,
            "max": _SCORE,
            "log": {"type": "boolean"},
        },
        *("categories", "min", "max", "log"),
    ),
    "Figure": _object({"name": _TEXT, "value": _SCORE, "note": {"type": ["string", "null"]}, "state": _STATE}),
    "Info": _object(
        {
            "name": _TEXT,
            "nodes": {"type": "integer"},
            "dim": {"type": "integer"},
            "version": _TEXT,
            "recipe": {"type": "object"},
            "method": {"type": ["string", "null"]},
            "named": {"type": "boolean", "description": "Whether nodes have names, or are called by their rows."},
            "graph": {"type": ["object", "null"]},
            "labels": {"type": ["object", "null"]},
            "layouts": _list(_a("Layout")),
            "layout": _TEXT,
            "columns": _list(_a("Column")),
            "scores": _list(_a("Figure")),
            "search": {"enum": ["exact", "index"]},
            "score_names": _list(_TEXT),
            "score": _TEXT,
            "limits": {"type": "object"},
            "sides": {"enum": ["rows", "columns", None]},
        }
    ),
}
_PROBLEMS = {
    "400": "A parameter that is unknown, missing, given twice, or not of its kind.",
    "401": "No token, or a wrong one.",
    "404": "No such node, label, column or graph.",
    "408": "The body took too long.",
    "413": "The body is too large.",
    "415": "The body is not application/json.",
    "421": "The Host is not one of this server's.",
    "503": "Too many requests at once, or not ready yet: try again.",
}
_OF_BODIES = ("408", "413", "415")


def document(table: tuple[Endpoint, ...], *, token: bool) -> dict[str, Any]:
    """The document for a table; `token`: whether a token is needed."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in table:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, token=token)
    components: dict[str, Any] = {"schemas": SCHEMAS}
    if token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "graphrefine explore",
            "version": __version__,
            "description": "Nodes, neighbours, scores and maps of one embedding.",
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "paths": paths,
        "components": components,
    }


def _operation(endpoint: Endpoint, *, token: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"summary": endpoint.about, "responses": _responses(endpoint)}
    if token and endpoint.path != "/healthz":
        found["security"] = [{"token": []}]
    if endpoint.method == "POST":
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": _body(endpoint)}}}
        return found
    parameters = [_parameter(each) for each in endpoint.parameters]
    if "{name}" in endpoint.path:
        parameters.append({"name": "name", "in": "path", "required": True, "schema": _TEXT})
    if parameters:
        found["parameters"] = parameters
    return found


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.about,
        "schema": _schema(parameter),
    }


def _schema(parameter: Parameter) -> dict[str, Any]:
    default = {} if parameter.default is None else {"default": parameter.default}
    return {**parameter.kind.schema(), **default}


def _body(endpoint: Endpoint) -> dict[str, Any]:
    properties = {each.name: {**_schema(each), "description": each.about} for each in endpoint.parameters}
    required = [each.name for each in endpoint.parameters if each.required]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    if endpoint.one_of:
        schema["oneOf"] = [{"required": [name]} for name in endpoint.one_of]
    if endpoint.needs:
        schema["dependentRequired"] = {one: [other] for one, other in endpoint.needs}
    if endpoint.apart:
        schema["allOf"] = [{"not": {"required": list(pair)}} for pair in endpoint.apart]
    return schema


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    raw = "/" in endpoint.answer
    content = {endpoint.answer: {}} if raw else {"application/json": {"schema": _a(endpoint.answer)}}
    found: dict[str, Any] = {"200": {"description": "The answer.", "content": content}}
    if raw:
        found["304"] = {"description": "What the client has is still current."}
    for status, about in _PROBLEMS.items():
        if status in _OF_BODIES and endpoint.method != "POST":
            continue
        found[status] = {"description": about, "content": {"application/json": {"schema": _a("Error")}}}
    return found
