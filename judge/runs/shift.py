"""A judge model's run: agree with its server on the parameters, then ask for every verdict."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge.plural import counted
from judge.reply import Reply, kept_reply, read_reply, refused_reply
from judge.runs.ask import Ask, Ledger
from judge.server.client import Client
from judge.server.errors import OddAnswer, Refused, ServerError, Unreachable
from judge.server.limits import Account, CostReached
from judge.server.parameters import Parameters, changes
from judge.server.patience import GivenUp, Patience
from judge.server.usage import estimated_usage
from rubrics import InputError

if TYPE_CHECKING:
    from judge.chat_judge import ChatJudge

MOST_FAULTS = 8  # items refused for what they hold before any is answered: it is not the items
MOST_IN_A_ROW = 3  # requests that fail before any other succeeds: it is not what they hold
SYNC_SECONDS = 0.5  # between two moments at which everything kept is on the disk


class Shift:
    """What the requests of one judge's run share. It lasts as long as its event loop."""

    def __init__(self, wanted: "ChatJudge", client: Client, ledger: Ledger) -> None:
        self._wanted = wanted
        self._client = client
        self._ledger = ledger
        self._patience = Patience(self._waits)
        self._account = Account(wanted.limits)

    async def agree(self) -> "ChatJudge":
        wanted = self._wanted
        server = wanted.endpoint.shown_url
        chat = wanted
        if known := self._ledger.agreed(wanted.model, wanted.parameters, server):
            chat = self._taking(known, chat)
        faults: dict[Ask, Reply] = {}  # refused for what they hold: that tells nothing of the rest
        while lesser := await self._lesser(chat, faults):
            chat = self._taking(lesser, chat)
        for ask, reply in faults.items():
            self._keep(chat, ask, reply)
        return chat

    def _waits(self, error: ServerError, seconds: float, attempt: int) -> None:
        what = error.line(self._wanted.endpoint, self._wanted.model).partition(";")[0]
        self._ledger.notice(f"waiting {seconds:.0f} s after attempt {attempt}: {what}")

    def _taking(self, parameters: Parameters, chat: "ChatJudge") -> "ChatJudge":
        """The judge with other parameters, which is told before anything is paid for."""
        for change in changes(chat.parameters.values, parameters.values):
            self._ledger.notice(
                f"warning: the server of {chat.model} takes less than was asked: {change}"
            )
        return replace(chat, parameters=parameters)

    async def _lesser(self, chat: "ChatJudge", faults: dict[Ask, Reply]) -> Parameters | None:
        """What the server leaves of the judge's parameters; None where it takes them all.

        One item that fails its server says nothing of the server, so that a second is tried.
        """
        wanted, ledger = self._wanted, self._ledger
        failed: Refused | None = None
        for ask in ledger.waiting(chat.judge):
            if ask in faults:
                continue
            if len(faults) == MOST_FAULTS:
                kinds = ", ".join(sorted({str(r.judgment.invalid_reason) for r in faults.values()}))
                raise InputError(
                    f"{wanted.endpoint.shown_url} refused the first {MOST_FAULTS} items one after "
                    f"the other ({kinds}); give {wanted.model} a longer context or lower "
                    "--max-tokens; none of it is kept"
                )
            try:
                reply = await self._answer(chat, ask)
            except Refused as refused:
                if fault := refused_reply(refused):
                    faults[ask] = fault
                    continue
                lesser = chat.parameters.without(refused)
                if lesser is not None:
                    return lesser
                if failed or not refused.of_the_request:
                    raise self._stop(refused) from None
                failed = refused
                continue
            except (ServerError, CostReached) as error:
                raise self._stop(error) from None
            self._keep(chat, ask, reply)
            server = wanted.endpoint.shown_url
            ledger.agree(wanted.model, wanted.parameters, server, chat.parameters)
            return None
        if failed:  # there is no other item to try
            raise self._stop(failed)
        return None

    async def work(self, chat: "ChatJudge", asks: Iterator[Ask]) -> None:
        """Ask for all these verdicts, `concurrency` at a time, and keep each as it arrives.

        A request that fails its server is left for the next run, unless several do so in a row.
        """
        failures: list[Exception] = []
        left: list[Refused] = []
        in_a_row = 0

        def stop(error: Exception) -> None:
            failures.append(error)
            self._patience.give_up()

        async def worker() -> None:
            nonlocal in_a_row
            while not failures:
                try:
                    if (ask := next(asks, None)) is None:
                        return
                    self._keep(chat, ask, await self._reply(chat, ask))
                    in_a_row = 0
                except GivenUp:
                    return
                except Refused as refused:
                    in_a_row += 1
                    left.append(refused)
                    if in_a_row == MOST_IN_A_ROW or not refused.of_the_request:
                        stop(refused)
                except Exception as error:  # raised below, when the others are done
                    stop(error)

        async def workers() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(chat.concurrency):
                    group.create_task(worker())

        async def sync() -> None:
            while not failures:
                await asyncio.sleep(SYNC_SECONDS)
                try:
                    self._ledger.sync()
                except Exception as error:
                    stop(error)

        syncing = asyncio.create_task(sync())
        try:
            await workers()
        finally:
            syncing.cancel()
        if failures:
            expected = (InputError, ServerError, CostReached)
            defects = [error for error in failures if not isinstance(error, expected)]
            raise defects[0] if defects else self._stop(failures[0])
        self._ledger.sync()
        if left:
            line = left[0].line(self._wanted.endpoint, self._wanted.model)
            raise InputError(
                f"{counted(len(left), 'verdict')} could not be had and is still waiting: {line}; "
                "the others are kept"
            )

    def _keep(self, chat: "ChatJudge", ask: Ask, reply: Reply) -> None:
        self._ledger.keep(chat.judge, ask, kept_reply(reply, chat.endpoint.without_key))

    async def _reply(self, chat: "ChatJudge", ask: Ask) -> Reply:
        """The reply to keep. Raises ServerError, CostReached and GivenUp."""
        try:
            return await self._answer(chat, ask)
        except Refused as refused:
            fault = refused_reply(refused)
            if fault is None:
                raise
            return fault

    async def _answer(self, chat: "ChatJudge", ask: Ask) -> Reply:
        body = chat.request(ask)
        estimate = estimated_usage(body["messages"], chat.parameters.max_tokens)

        async def attempt() -> dict[str, Any]:
            self._account.afford()
            if self._account.paced:
                await self._patience.unless_given_up(self._account.admit(estimate))
            try:
                return await self._client.complete(body)
            except (Unreachable, OddAnswer) as error:
                if isinstance(error, OddAnswer) or error.sent:
                    self._account.lose(estimate)
                raise

        reserved = await self._account.reserve(estimate)
        try:
            completion = await self._patience.ask(attempt)
        except BaseException:
            self._account.cancel(reserved)
            raise
        reply = read_reply(completion, chat.rubric)
        self._account.settle(reserved, estimate, reply.usage)
        return reply

    def _stop(self, error: Exception) -> Exception:
        """The error as one line that ends the run."""
        wanted = self._wanted
        if isinstance(error, ServerError):
            line = error.line(wanted.endpoint, wanted.model)
            again = ", run the command again" if error.transient else ""
            return InputError(f"{line}; verdicts so far are kept{again}")
        if isinstance(error, CostReached):
            return InputError(
                f"stopped before --max-cost {wanted.limits.max_cost:g}: ${self._account.spent:.4f} "
                "spent by this command, and the next verdict may cost more than is left; verdicts "
                "so far are kept, run the command again to spend as much again"
            )
        return error
