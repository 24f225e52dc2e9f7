"""``synapse chat``: a conversation with the memory in it."""

from __future__ import annotations

import asyncio
import io
import logging
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from synapse.cli.common import ConfigFile, GroupId, Verbose, opened_store, read_settings
from synapse.cli.complaint import complain
from synapse.cli.told import paragraphs
from synapse.errors import SynapseError, UsageError

if TYPE_CHECKING:
    from synapse.hippocampus.ports import MemoryStore
    from synapse.integrations.endpoint import Endpoint


def chat(
    url: Annotated[
        str, typer.Option(metavar="URL", help="OpenAI-compatible endpoint.")
    ] = "http://localhost:11434/v1",
    model: Annotated[str, typer.Option(metavar="NAME", help="Model that answers.")] = "llama3.2",
    embedding_model: Annotated[
        str, typer.Option(metavar="NAME", help="Model that embeds; the endpoint must have it.")
    ] = "nomic-embed-text",
    group_id: GroupId = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Talk to a model that remembers: one turn a line, an empty line ends."""
    if find_spec("graphiti_core") is None:
        raise UsageError("chat needs Graphiti: pip install 'synapse-hippocampus[graphiti]'")
    from synapse.integrations.endpoint import Endpoint
    from synapse.settings import model_key

    settings = read_settings(config)
    endpoint = Endpoint(url, model, model_key(), embedding_model)
    with opened_store(settings, may_create=True) as store:
        return asyncio.run(_talk(store, endpoint, group_id, verbose))


async def _talk(store: MemoryStore, endpoint: Endpoint, group_id: str | None, verbose: bool) -> int:
    """Every turn gets an answer or a sentence why not; 1 if one of them failed."""
    from synapse.integrations.chat import opened_chat

    _survive_encodings()
    if not verbose:  # Graphiti logs the whole query of what the database refuses
        logging.getLogger("graphiti_core").addHandler(logging.NullHandler())
    async with opened_chat(store.uri, endpoint, group_id) as bridge:
        code = 0
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            try:
                reply = await bridge.say(line)
            except SynapseError as error:
                complain(str(error), error, verbose)
                code = 1
                continue
            print(paragraphs(reply.text), file=sys.__stdout__, flush=True)
            if reply.problem:
                complain(f"not remembered: {reply.problem}", None, verbose)
        return code


def _survive_encodings() -> None:
    """What one character costs, read or written, is that character."""
    for stream, errors in ((sys.stdin, "replace"), (sys.__stdout__, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
