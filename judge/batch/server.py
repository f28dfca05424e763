"""A server's Batch API: asked again where that may help, and every failure told in one line."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import BinaryIO, TypeVar

from judge.batch.record import TOKEN, Record, read_record, token_of
from judge.server.client import Client
from judge.server.endpoint import Endpoint
from judge.server.errors import OddAnswer, Refused, ServerError
from judge.server.patience import Patience
from rubrics import InputError

NO_SUCH_SERVICE = (404, 405, 501)
MAYBE_ACCEPTED = (408, 409)  # and every 5xx: the server may have done what it was asked to
MAX_PAGES = 1000  # of a list

T = TypeVar("T")


class NotAccepted(InputError):
    """A batch that the server surely did not start."""


class Unknown(InputError):
    """A batch or file that the server does not know, or no longer, or a list that it has not."""


class BatchServer:
    """Raises InputError wherever the server refuses, cannot be reached or makes no sense."""

    def __init__(self, client: Client, endpoint: Endpoint) -> None:
        self.client = client
        self.endpoint = endpoint
        self._patience = Patience()

    @property
    def url(self) -> str:
        """As it is stored and shown, without secrets."""
        return self.endpoint.shown_url.rstrip("/")

    async def upload(self, name: str, data: BinaryIO) -> str:
        """The file's id."""

        async def send() -> str:
            data.seek(0)
            return await self.client.upload(name, data)

        try:
            return await self._patience.ask(send)
        except ServerError as error:
            raise InputError(self._offered(error)) from None

    async def start(self, file_id: str, token: str) -> Record:
        """Start a batch. Never asks twice: an answer that is lost may stand for a batch.

        Raises NotAccepted where it is certain that there is none.
        """
        try:
            found = await self.client.start_batch(file_id, {TOKEN: token})
            return read_record(found, self.endpoint.without_key)
        except ServerError as error:
            if isinstance(error, Refused) and _surely_refused(error.status):
                raise NotAccepted(self._offered(error)) from None
            raise InputError(
                f"{self._line(error)}; it may have started the batch all the same: run the "
                "command again, which finds out"
            ) from None

    async def record(self, batch_id: str) -> Record:
        """What the server says of a batch. Raises Unknown."""

        async def ask() -> Record:
            return read_record(await self.client.batch(batch_id), self.endpoint.without_key)

        return await self._asked(ask, f"does not know batch {batch_id} (any more)")

    async def with_token(self, token: str, *, since: float) -> Record | None:
        """The batch that was started with this token, if any was after the time `since`.

        Raises Unknown where the server lists no batches, lists them in a circle or without end,
        or lists this one under an id that is none.
        """
        after: str | None = None
        seen: set[str] = set()
        for _page in range(MAX_PAGES):
            # `after` is bound now, since the lambda may run after it has changed.
            page = await self._asked(
                lambda after=after: self.client.batches(after),
                "lists no batches, so that nobody can tell whether it accepted this one",
                statuses=NO_SUCH_SERVICE,
            )
            found = page.get("data")
            last: Record | None = None
            for one in found if isinstance(found, list) else ():
                with suppress(OddAnswer):
                    last = read_record(one, self.endpoint.without_key)
                    if last.token == token:
                        return last
                if token_of(one) == token:
                    raise Unknown(f"{self.url} has this batch, but names no id that can be used")
            older = last and last.created_at is not None and last.created_at < since
            if last is None or older or not page.get("has_more"):
                return None
            after = last.batch_id
            if after in seen:
                break
            seen.add(after)
        raise Unknown(
            f"{self.url} lists batches without end, so that nobody can tell whether it accepted "
            "this one"
        )

    async def download(self, file_id: str, into: BinaryIO) -> None:
        """Write a file's bytes to `into`, which holds nothing else. Raises Unknown."""

        async def receive() -> None:
            into.seek(0)
            into.truncate()
            await self.client.download(file_id, into)

        await self._asked(receive, f"does not know file {file_id} (any more)")

    async def _asked(
        self,
        request: Callable[[], Awaitable[T]],
        lacking: str,
        statuses: tuple[int, ...] = (404,),
    ) -> T:
        """Raises Unknown, saying what the server is lacking, where it answers one of `statuses`."""
        try:
            return await self._patience.ask(request)
        except ServerError as error:
            if isinstance(error, Refused) and error.status in statuses:
                raise Unknown(f"{self.url} {lacking} ({error.status}: {error.said})") from None
            raise InputError(self._line(error)) from None

    def _offered(self, error: ServerError) -> str:
        if isinstance(error, Refused) and error.status in NO_SUCH_SERVICE:
            return (
                f"{self.url} offers no Batch API ({error.status}: {error.said}); write the "
                "requests to a file for its own runner: judge batch write FILE"
            )
        return self._line(error)

    def _line(self, error: ServerError) -> str:
        if isinstance(error, OddAnswer):
            return (
                f"{self.url} answered with something else than a batch or file that can be used; "
                "check that --base-url ends in /v1"
            )
        if not isinstance(error, Refused):
            return error.line(self.endpoint, "")
        check = f"; check {self.endpoint.key_name}" if error.status in (401, 403) else ""
        return f"{self.url} answered {error.status}: {error.said}{check}"


@asynccontextmanager
async def batch_server(endpoint: Endpoint) -> AsyncIterator[BatchServer]:
    async with Client(endpoint) as client:
        yield BatchServer(client, endpoint)


def _surely_refused(status: int) -> bool:
    return status < 500 and status not in MAYBE_ACCEPTED
