"""Whom the server answers, and what every answer carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.errors import BadInput
from necroscope.serve.guard import CSP, Rules, host_name, is_loopback
from necroscope.serve.run import Address, rules
from stage.served import Served, serving


def test_every_answer_has_the_policy(gpu: Served) -> None:
    for path in ("/", "/main.js", "/api/v1/recording", "/nothing", "/api/v1/cores"):
        got = gpu.get(path)
        assert got.headers["content-security-policy"] == CSP, path
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["referrer-policy"] == "no-referrer"
    assert "unsafe" not in CSP
    assert "require-trusted-types-for 'script'" in CSP


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7373", "127.0.0.1.evil.example", "", "169.254.169.254"])
def test_another_name_is_not_answered(gpu: Served, host: str) -> None:
    assert gpu.get("recording", headers={"Host": host}).status == 421


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:9", "LOCALHOST"])
def test_a_forwarded_port_is_answered(gpu: Served, host: str) -> None:
    assert gpu.get("recording", headers={"Host": host}).status == 200


def test_other_origins_are_refused(gpu: Served) -> None:
    here = f"127.0.0.1:{gpu.port}"
    assert gpu.get("recording", headers={"Origin": f"http://{here}"}).status == 200
    assert gpu.get("recording", headers={"Origin": "http://evil.example"}).status == 403
    assert gpu.get("recording", headers={"Origin": "null"}).status == 403
    assert gpu.get("recording", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert gpu.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status == 200, "a link may lead here"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(gpu: Served, method: str) -> None:
    assert gpu.get("recording", method=method).status == 405


def test_long_requests_are_refused(gpu: Served) -> None:
    assert gpu.get("why", event="x" * 17_000).status == 413
    assert gpu.get("recording", headers={"Content-Length": "5"}).status == 413


def test_paths_lead_nowhere_else(gpu: Served) -> None:
    for path in ("/../app.py", "/%2e%2e/app.py", "/static/index.html", "/lib", "/lib/", "/vendor/lit-html.d.ts"):
        assert gpu.get(path).status == 404, path


def test_beyond_loopback_a_token_is_asked_for(gpu_store: Path) -> None:
    made = rules(Address.of("0.0.0.0:0"), (), "")
    assert len(made.token) >= 32
    with serving(gpu_store, "b", made) as served:
        assert served.get("/").status == 200, "the page itself tells nothing"
        assert served.get("recording").status == 401
        assert served.get("recording", headers={"Authorization": "Bearer wrong"}).status == 401
        assert served.get("recording", headers={"Authorization": f"Bearer {made.token}"}).status == 200
        told = {"Authorization": f"Bearer {made.token}"}
        assert served.get("recording", headers={**told, "Host": "10.1.2.3:7373"}).status == 200
        assert served.get("recording", headers={**told, "Host": "evil.example"}).status == 421


def test_rules_of_an_address() -> None:
    assert rules(Address.of("127.0.0.1:7373"), (), "").token == ""
    assert rules(Address.of("127.0.0.1:7373"), ("proxy.example",), "").knows("Proxy.example")
    assert not rules(Address.of("10.0.0.5:7373"), (), "").knows("10.0.0.6")
    assert rules(Address.of("[::1]:7373"), (), "").token == ""
    assert is_loopback("127.8.9.1")
    assert not is_loopback("0.0.0.0")
    assert host_name("[::1]:80") == "::1"


@pytest.mark.parametrize("text", ["7373", ":7373", "localhost", "host:99999", "host:x"])
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(BadInput):
        Address.of(text)


def test_the_token_stands_behind_the_hash() -> None:
    assert Address.of("10.0.0.5:1").url(1, "abc") == "http://10.0.0.5:1/#token=abc"
    assert Address.of("[::1]:0").url(5) == "http://[::1]:5/"


def test_rules_compare_whole_tokens() -> None:
    assert not Rules(token="abc").lets_in("")
    assert not Rules(token="abc").lets_in("Bearer abcd")
    assert Rules(token="abc").lets_in("Bearer abc")
