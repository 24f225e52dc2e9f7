"""An OpenAI-compatible endpoint: one client of it, and one sentence for each way it can refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import openai

from synapse.errors import SynapseError

ANSWER_WITHIN_S = 120.0
_RETRIES_COUNT = 1
_REFUSALS = {
    401: "does not take the key; check it (OPENAI_API_KEY)",
    403: "does not let this key use the model; check both",
    404: "does not know the model or the path; check the model's name and the URL",
    408: "gave up waiting; say it again",
    429: "has too much to do, or the key's quota is used up; wait, then say it again",
}
"""By HTTP status."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint, such as ``http://localhost:11434/v1``."""

    url: str
    model: str
    api_key: str = "none"
    embedding_model: str = ""
    """Empty: the chat model embeds as well."""


def client_of(endpoint: Endpoint) -> openai.AsyncOpenAI:
    """A client that waits for no request longer than :data:`ANSWER_WITHIN_S`."""
    return openai.AsyncOpenAI(
        base_url=endpoint.url,
        api_key=endpoint.api_key,
        max_retries=_RETRIES_COUNT,
        timeout=ANSWER_WITHIN_S,
    )


@contextmanager
def refusals_told(endpoint: Endpoint) -> Iterator[None]:
    """Tell in one sentence why an endpoint has not done what it was asked.

    Args:
        endpoint: which one.

    Raises:
        SynapseError: it cannot be reached, is too slow, or refuses.
    """
    try:
        yield
    except (TimeoutError, openai.APITimeoutError) as error:
        raise SynapseError(
            f"{endpoint.url} has not answered within {ANSWER_WITHIN_S:g} s; look at the model "
            "server, then say it again"
        ) from error
    except openai.APIConnectionError as error:
        raise SynapseError(
            f"nothing answers at {endpoint.url}; start the model server or check the URL"
        ) from error
    except openai.APIStatusError as error:
        raise SynapseError(f"{endpoint.url} {_refusal(error.status_code)}") from error
    except openai.OpenAIError as error:
        raise no_answer(endpoint) from error


def no_answer(endpoint: Endpoint) -> SynapseError:
    """What it sends cannot be read."""
    return SynapseError(
        f"what {endpoint.url} sends is no chat completion; check that the URL is that "
        "of an OpenAI-compatible endpoint"
    )


def no_embedding(endpoint: Endpoint) -> SynapseError:
    """What it sends for a text to be embedded cannot be read."""
    return SynapseError(
        f"what {endpoint.url} sends is no embedding; check the embedding model and the URL"
    )


def _refusal(status: int) -> str:
    """What a refusal means and what to do.

    >>> _refusal(502)
    'has failed itself; look at its log, then say it again'
    >>> _refusal(400)
    'does not take this turn; it may be too long for the model, or one of its options unknown'
    """
    if status >= 500:
        return "has failed itself; look at its log, then say it again"
    return _REFUSALS.get(
        status,
        "does not take this turn; it may be too long for the model, or one of its options unknown",
    )
