"""A person without a browser: logs in and asks for the labelling page's acts over HTTP."""

from types import TracebackType
from typing import Any
from uuid import uuid4

import httpx


class ActClient:
    """One person at the served page; `call` is an act by its name, answered as the page is."""

    def __init__(self, url: str, name: str, password: str | None = None) -> None:
        self.name = name
        self._session = uuid4().hex
        origin = url.rstrip("/")
        self.http = httpx.AsyncClient(
            base_url=origin, headers={"Origin": origin}, timeout=60, trust_env=False
        )
        self._password = password
        self._component: int | None = None

    async def __aenter__(self) -> "ActClient":
        if self._password is not None:
            form = {"name": self.name, "password": self._password}
            reply = await self.http.post("/login", data=form)
            assert reply.status_code in (302, 303), (reply.status_code, reply.text)
        config = (await self.http.get("/config")).json()
        self._component = next(c["id"] for c in config["components"] if c["type"] == "html")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.http.aclose()

    async def call(self, act: str, **data: Any) -> dict[str, Any]:
        reply = await self.http.post(
            "/gradio_api/component_server/",
            json={
                "data": {"annotator": self.name} | data,
                "component_id": self._component,
                "fn_name": act,
                "session_hash": self._session,
            },
        )
        reply.raise_for_status()
        return reply.json()

    async def save(self, screen: dict[str, Any], category: str) -> dict[str, Any]:
        """Label the item of a screen; the reply brings the next one."""
        return await self.call(
            "save_label",
            nonce=screen["nonce"],
            item_id=screen["item_id"],
            choice={"category": category, "confidence": None, "note": "", "flagged": False},
            activity=[["shown", 0], ["saved", 900]],
        )
