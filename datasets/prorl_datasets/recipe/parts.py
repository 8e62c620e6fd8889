"""Defines pydantic models for the parts of a recipe."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator, model_validator

from prorl_common import UserError
from prorl_common.config import Section
from prorl_datasets.spec import SOURCES, SourceSettings, SourceSpec
from prorl_datasets.types import DOMAINS, SPLITS, Domain, Split
from prorl_verifiers import VERIFIERS

Percent = Annotated[str, Field(pattern=r"^\d{1,3}(\.\d{1,3})?%$")]


class Counts(Section):
    """Number of rows wanted in each split, or the percentage of a source's rows."""

    train: Annotated[int, Field(ge=0)] | Literal["all"] | Percent = 0
    """``all``: the remaining rows of a file or hub source. ``80%``: this share of its distinct rows that passed their
    checks."""
    validation: Annotated[int, Field(ge=0)] | Percent = 0
    """Number or percentage of rows, taken before those of ``train``."""
    test: Annotated[int, Field(ge=0)] | Percent = 0
    """Number or percentage of rows, taken before those of ``validation``."""

    @model_validator(mode="after")
    def _at_most_all(self) -> Counts:
        if (total := sum(map(self._thousandths, SPLITS))) > 100_000:
            raise ValueError(f"the percentages add up to {total / 1000:g}%, more than 100%")
        return self

    def of(self, split: Split) -> int | None:
        """Return the number of rows wanted in a split, or None if it depends on the source's rows."""
        value = getattr(self, split)
        return value if isinstance(value, int) else None

    def written(self, split: Split) -> int | str:
        """Return the number of rows wanted in a split as the recipe states it."""
        value: int | str = getattr(self, split)
        return value

    def among(self, split: Split, rows: int) -> int | None:
        """Return how many of a source's ``rows`` rows a split gets; None means all that the other splits leave.

        If the percentages sum to 100 %, no row is left.
        """
        if not self._thousandths(split):
            return self.of(split)
        order: tuple[Split, ...] = ("test", "validation", "train")
        shares = [self._thousandths(s) for s in order]
        return spread(rows, [*shares, 100_000 - sum(shares)])[order.index(split)]

    def among_all(self, rows: int) -> dict[Split, int]:
        """Return {split: number of rows wanted} for a source with ``rows`` rows."""
        targets = {split: self.among(split, rows) for split in SPLITS}
        remaining = rows - sum(count for count in targets.values() if count is not None)
        return {s: max(remaining, 0) if count is None else count for s, count in targets.items()}

    @property
    def is_wanted(self) -> bool:
        return any(self.of(split) != 0 for split in SPLITS)

    @property
    def is_open(self) -> bool:
        """Whether a count depends on the number of rows of the source."""
        return any(self.of(split) is None for split in SPLITS)

    def _thousandths(self, split: Split) -> int:
        value = getattr(self, split)
        is_percent = isinstance(value, str) and value.endswith("%")
        return round(float(value[:-1]) * 1000) if is_percent else 0


Share = Annotated[float, Field(ge=0, le=1)]
Levels = Annotated[list[Annotated[int, Field(ge=1, le=3)]], Field(min_length=1)]


class Entry(Section):
    """One source of a recipe with its counts and template."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
    """Unique name; row ids begin with it."""
    domain: Domain
    """``math``, ``code``, ``stem``, ``logic``, ``instruction``, or your verifier's name. Sets the default verifier and
    template."""
    verifier: str | None = None
    """Verifier that scores the rows; null uses the domain's verifier."""
    source: SerializeAsAny[SourceSettings]
    """Where the rows come from; its ``kind`` sets the other keys."""
    count: Counts
    """Number of rows in each split."""
    template: str | None = None
    """Prompt template with ``{question}``; literal braces are doubled. null uses the recipe's template for the domain,
    or else the verifier's."""
    reference: dict[str, Any] = Field(default_factory=dict)
    """Keys to add to the reference of every row, such as ``{environment: scientific}``."""
    weight: Annotated[float, Field(gt=0)] = 1.0
    """Sampling weight in training, stored in the rows' metadata."""
    licence: str = "Apache-2.0"
    """Licence of rows that do not state one."""
    min_share: Annotated[float, Field(ge=0, le=1)] | None = None
    """Overrides the recipe's ``min_share`` for this entry."""
    verify_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of rows whose gold response is scored by the verifier. The others are right by construction and marked
    ``self-consistent``. If it is above 0, generated rows without a known answer are dropped."""
    compare_texts: bool = False
    """Whether to drop near-duplicates of generated rows, as of rows from files."""
    full_path_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    """For generated code: share of rows whose gold response runs test by test, as in training. The others run all tests
    in one sandbox."""

    @field_validator("domain", "verifier")
    @classmethod
    def _scored_by_a_verifier(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and not (info.field_name == "domain" and name in DOMAINS):
            try:
                VERIFIERS.origin(name)
            except UserError as error:
                raise ValueError(str(error)) from error
        return name

    @field_validator("source", mode="wrap")
    @classmethod
    def _source_of_its_kind(cls, value: Any, handler: Any) -> SourceSettings:
        if isinstance(value, SourceSettings):
            return value
        kind = value.get("kind") if isinstance(value, Mapping) else None
        if not isinstance(kind, str):
            validated: SourceSettings = handler(value)
            return validated
        try:
            settings = SOURCES.get(kind).settings
        except UserError as error:
            raise ValueError(str(error)) from error
        return settings.model_validate(value)

    @model_validator(mode="after")
    def _source_fits_domain(self) -> Entry:
        if self.source.kind == "reasoning_gym" and self.domain not in ("logic", "math"):
            raise ValueError(f"a reasoning_gym source must be logic or math, not {self.domain}")
        if self.count.is_open and self.generated:
            raise ValueError(
                "count 'all' and percentages need a file source; a generator has no end, so give a number of rows"
            )
        check_template(self.template)
        return self

    @property
    def spec(self) -> SourceSpec:
        return SOURCES.get(self.source.kind)

    @property
    def generated(self) -> bool:
        return self.spec.generated

    @property
    def scored_by(self) -> str:
        return self.verifier or self.domain


class Member(Section):
    """One task or family of a group."""

    name: str
    """Name of the task or family. In a procedural group, a pattern such as ``algebra_*`` adds each matching family of
    the domain that is not listed by name, with these settings."""
    share: Annotated[int, Field(ge=1)] = 1
    """Weight of the member when the group's counts are divided among members."""
    config: dict[str, Any] = Field(default_factory=dict)
    """For reasoning_gym: keys of the task's configuration class."""
    levels: Levels | None = None
    """For procedural: difficulty levels; null uses the group's levels."""


class Group(Section):
    """Generators that share one row count. Each member becomes an entry ``<name>-<member>``."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
    """Prefix of the entries' names."""
    domain: Domain
    """As for an entry."""
    kind: str
    """``reasoning_gym``, ``procedural``, or another source with members."""
    levels: Levels = Field(default_factory=lambda: [1, 2, 3])
    """Difficulty levels of procedural members; each row has a random one."""
    count: Counts
    """Number of rows of the whole group in each split; ``all`` and percentages are not allowed."""
    members: Annotated[list[str | Member], Field(min_length=1)]
    """Names of tasks or families, or members with their own settings."""
    template: str | None = None
    """As for an entry; applies to every member."""
    weight: Annotated[float, Field(gt=0)] = 1.0
    """As for an entry; applies to every member."""
    licence: str = "Apache-2.0"
    """As for an entry; applies to every member."""
    verify_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    """As for an entry; applies to every member."""
    compare_texts: bool = False
    """As for an entry; applies to every member."""
    full_path_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    """As for an entry; applies to every member."""

    @field_validator("count")
    @classmethod
    def _count_is_of_numbers(cls, count: Counts) -> Counts:
        if count.is_open:
            raise ValueError(
                "a group's counts must be numbers of rows, because generators have no end"
            )
        return count

    def entries(self) -> list[Entry]:
        listed = [Member(name=m) if isinstance(m, str) else m for m in self.members]
        explicit = {m.name for m in listed}
        members = [
            member for pattern in listed for member in self._matching_members(pattern, explicit)
        ]
        shares = [m.share for m in members]
        parts = {
            split: spread(self.count.of(split) or 0, shares)
            for split in ("train", "validation", "test")
        }
        return [
            Entry(
                name=f"{self.name}-{member.name}",
                domain=self.domain,
                source=self._source(member),
                count=Counts(**{split: parts[split][place] for split in parts}),
                template=self.template,
                weight=self.weight,
                licence=self.licence,
                verify_fraction=self.verify_fraction,
                compare_texts=self.compare_texts,
                full_path_fraction=self.full_path_fraction,
            )
            for place, member in enumerate(members)
        ]

    def _matching_members(self, member: Member, explicit: Collection[str]) -> list[Member]:
        if "*" not in member.name:
            return [member]
        names = SOURCES.get(self.kind).names
        if names is None:
            raise ValueError(
                f"members of a {self.kind} group must be names, not patterns: {member.name}"
            )
        fitting = [n for n in fnmatch.filter(names(self.domain), member.name) if n not in explicit]
        if not fitting:
            raise ValueError(f"no {self.domain} member of {self.kind} matches '{member.name}'")
        return [member.model_copy(update={"name": name}) for name in fitting]

    def _source(self, member: Member) -> SourceSettings:
        spec = SOURCES.get(self.kind)
        if spec.member is None:
            raise ValueError(
                f"a group consists of generators; a {self.kind} source must be an entry"
            )
        return spec.member(self, member)

    @field_validator("kind")
    @classmethod
    def _kind_exists(cls, kind: str) -> str:
        try:
            SOURCES.origin(kind)
        except UserError as error:
            raise ValueError(str(error)) from error
        return kind


def spread(total: int, shares: list[int]) -> list[int]:
    """Split ``total`` into integers in proportion to ``shares``."""
    ends, done, parts = [0], 0, sum(shares)
    for share in shares:
        done += share
        ends.append(-(-total * done // parts))
    return [b - a for a, b in pairwise(ends)]


class Decontamination(Section):
    """Benchmarks that rows must not repeat."""

    benchmarks: Literal["all"] | list[str] = "all"
    """Benchmarks to compare with: all, or a list of names. An empty list turns decontamination off."""
    variants: Literal["drop", "keep"] = "drop"
    """Whether to drop rows that resemble a benchmark item but have other numbers, or to keep them and list them in
    ``decontamination.jsonl``."""
    embedding: str | None = None
    """Name of your ``EmbedderSpec``; rows whose embedding is close to that of a benchmark item are also dropped."""
    paraphrases: bool = False
    """Whether to drop rows that paraphrase a benchmark item, which share its numbers and distinctive words."""


class Difficulty(Section):
    """A filter that keeps rows whose pass rate lies in a band."""

    ratings: str
    """The ``pass_rates.jsonl`` of ``prorl data rate``, or its folder, relative to the recipe's folder. Each line of
    your own JSONL needs ``id`` or ``prompt`` (the whole prompt; case and spacing are ignored), ``pass_rate``, and ``n``
    if ``min_n`` is set."""
    band: tuple[Share, Share]
    """Lowest and highest pass rate to keep, inclusive."""
    min_n: Annotated[int, Field(ge=1)] = 1
    """Rows rated with fewer samples count as unrated."""
    unrated: Literal["keep", "drop"] = "keep"
    """Whether to keep rows without a rating."""

    @model_validator(mode="after")
    def _band_has_room(self) -> Difficulty:
        if self.band[0] > self.band[1]:
            raise ValueError(
                f"band is [{self.band[0]:g}, {self.band[1]:g}]; the first number must not be larger"
            )
        return self


def check_template(template: str | None) -> None:
    """Raise ValueError unless {question} is the template's only field."""
    if template is None:
        return
    try:
        filled = template.format(question="\x00")
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(
            "a template must contain {question} and no other braces (write literal ones "
            "twice: {{ }})"
        ) from error
    if "\x00" not in filled:
        raise ValueError("a template must contain {question}")
