"""The API of ``graphrefine explore`` under requests, right and wrong, that schemathesis makes from its document.

Requests damaged byte by byte are those of ``fuzz/targets/endpoints.py`` and ``sockets.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings

from explore_servers import Server, people, serving, write_friends, write_labels

GENTLE = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
NOT_SAID = [schemathesis.checks.positive_data_acceptance]  # of a query: that it is either node or row


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("fuzz")
    people().save(folder / "people")
    write_friends(folder / "friends.csv")
    write_labels(folder / "labels.csv")
    options = ("--graph", folder / "friends.csv", "--labels", folder / "labels.csv")
    with serving(folder / "people", *options) as server:
        yield server
        assert server.process.poll() is None, "it is still there"
        server.process.terminate()
        server.process.wait(20)
        assert server.process.stderr
        messages = server.process.stderr.read().decode()
        assert "Traceback" not in messages, messages


def strategies(server: Server) -> list[Any]:
    """What schemathesis makes of each operation: requests that are right and, where there can be, ones that are not."""
    described = schemathesis.openapi.from_url(server.url + "api/openapi.json")
    operations = [result.ok() for result in described.get_all_operations()]
    assert len(operations) == 12
    right, wrong = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
    with_values = [each for each in operations if each.query or each.body]
    return [each.as_strategy(right) for each in operations] + [each.as_strategy(wrong) for each in with_values]


def run_cases(server: Server, examples: int) -> Counter[int]:
    """Ask what schemathesis would, and see that the answers are those of the document."""
    seen: Counter[int] = Counter()
    with requests.Session() as session:
        for strategy in strategies(server):

            @settings(GENTLE, max_examples=examples)
            @given(strategy)
            def ask(case: Any) -> None:
                answer = case.call(timeout=20, session=session)
                seen[answer.status_code] += 1
                case.validate_response(answer, excluded_checks=NOT_SAID)

            ask()
    return seen


def test_the_api_is_as_its_document_says(server: Server) -> None:
    seen = run_cases(server, 8)
    assert set(seen) <= {200, 400, 404, 405} and seen[200] >= 10 and seen[400] >= 30, seen


@pytest.mark.slow
def test_the_api_is_as_its_document_says_at_length(server: Server) -> None:
    run_cases(server, 20)  # so that all is loaded that answers need, and made that is made in the background
    before = server.memory()
    seen = run_cases(server, 60)
    assert set(seen) <= {200, 400, 404, 405} and seen.total() > 500, seen
    assert server.memory() < before + (32 << 20)


def test_a_body_that_breaks_off_while_its_request_is_answered_is_refused_once(server: Server) -> None:
    """The answer is being made when the body turns out to be none; the fixture sees that no error is logged."""
    for path in ("/api/info", "/api/coordinates", "/api/nodes?prefix=node", "/"):
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer = server.talk(head.encode() + b"zz\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1") == 1
    assert server.talk(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").startswith(
        b"HTTP/1.1 200 "
    )
