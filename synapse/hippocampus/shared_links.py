"""Edges between entities that are no facts: both ends hold each of them, and it is one edge.

An entity that is looked at while the other end is away seems to have fewer of them than it has.
What the other end holds completes it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from synapse.hippocampus.image import Link, MemoryImage

ENTITY = "Entity"


def missing_links(wanted: Iterable[Link], there: Iterable[Link]) -> list[Link]:
    """The links that are wanted and not there; equal ones are counted.

    >>> link = Link("KNOWS", "bob", "Entity", True, {})
    >>> len(missing_links([link, link], [link]))
    1
    """
    count = Counter(link.named for link in there)
    missing = []
    for link in wanted:
        count[link.named] -= 1
        if count[link.named] < 0:
            missing.append(link)
    return missing


def seen_from_the_others(images: Iterable[MemoryImage]) -> dict[str, list[Link]]:
    """The edges of some entities to others, as the others hold them, by their uuids.

    >>> ada = MemoryImage("ada", "entity", {}, links=(Link("KNOWS", "bob", "Entity", True, {}),))
    >>> seen_from_the_others([ada]) == {"bob": [Link("KNOWS", "ada", "Entity", False, {})]}
    True
    """
    seen: defaultdict[str, list[Link]] = defaultdict(list)
    for image in images:
        for link in image.links:
            if link.other_label == ENTITY and link.other != image.uuid:
                turned = replace(link, other=image.uuid, is_outgoing=not link.is_outgoing)
                seen[link.other].append(turned)
    return dict(seen)


def completed(image: MemoryImage, seen: Mapping[str, Sequence[Link]]) -> MemoryImage:
    """An entity with the edges that the other ends hold and it lacks.

    Args:
        image: of the entity.
        seen: what :func:`seen_from_the_others` found.

    >>> ada = MemoryImage("ada", "entity", {}, links=(Link("KNOWS", "bob", "Entity", True, {}),))
    >>> bob = completed(MemoryImage("bob", "entity", {}), seen_from_the_others([ada]))
    >>> len(bob.links), completed(bob, seen_from_the_others([ada])) is bob
    (1, True)
    """
    lacking = missing_links(seen.get(image.uuid, ()), image.links)
    return replace(image, links=(*image.links, *lacking)) if lacking else image
