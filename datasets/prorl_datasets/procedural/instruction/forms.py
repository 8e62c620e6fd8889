"""What kind of text a request asks for: sentences that such a text may hold, and what it rules out.

A request's form decides the material of its gold and which constraints contradict it ("a limerick" of 300
words, "five mistakes" in nine bullets). The first form whose pattern is found is the request's; the sentences
come in the order of the text. As in ``phrases``: no comma, no word in capitals (so no "I", no "A" in front), no
keyword. Leaves out: requests (``requests``) and contradictions among constraints (``conflicts``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prorl_datasets.procedural.instruction.plan import Plan


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of text: its requests match ``pattern``; ``sentences`` are templates over ``{t}``."""

    name: str
    pattern: str
    sentences: tuple[str, ...]


def _form(name: str, pattern: str, text: str) -> Form:
    return Form(name, pattern, tuple(text.strip().split("\n")))


FORMS = (
    _form(
        "email",
        r"\bemail\b|reply to a customer|friendly reminder",
        """
Hello and thank you for reading this message about {t}.
This email is about {t} and it will not take long.
We have talked about {t} before and now there is some news.
Last week brought a few questions about {t} that we could not settle alone.
Please tell us what you think about {t} when you have a quiet moment.
We would be glad to hear your view of {t} before Friday.
It would also be nice to meet and speak about {t} in person.
We are sorry if our last message about {t} was not as friendly as it should have been.
Please forward this note to others who care about {t}.
Many thanks and kind regards from all of us who follow {t}.""",
    ),
    _form(
        "note",
        r"\bletter\b|postcard|note to my landlord",
        """
Greetings to you from someone who has been thinking about {t}.
These lines are about {t} and come straight from the heart.
You know how long we have cared about {t} in this house.
There are a few things about {t} that had to be written down.
Not all of them are pleasant but {t} should not be passed over in silence.
Perhaps you remember the afternoon when we first spoke of {t}.
Since then our view of {t} has changed a little.
We would like to ask you to look at {t} with fresh eyes.
Please write back and tell us how you see {t} today.
With warm thoughts of you and of {t} we close this page.""",
    ),
    _form(
        "verse",
        r"\b(?:poem|limerick|rap|lyrics|lullaby)\b",
        """
Softly the evening sings of {t}.
Nothing is as near to us as {t}.
Close your eyes and dream of {t}.
Bright are the hours that belong to {t}.
Slow is the song that was made for {t}.
Long after dark we still hum of {t}.
Round and round go our thoughts of {t}.
Come and sit down and sing about {t}.
Far away someone is dreaming of {t}.
So ends the song and it ends with {t}.""",
    ),
    _form(
        "wit",
        r"\b(?:riddle|joke|slogan|crossword clue|proverb)\b",
        """
Here is one line that leads straight to {t}.
Who talks about {t} all night has nothing to say at noon.
It sounds like an old saying but it was made up for {t}.
The hint points to {t} without naming it too early.
Two friends argue about {t} until both forget who began.
The fun lies in taking {t} far too seriously.
In plain words it says that {t} should not be rushed.
Whoever knows {t} will smile at the last word.""",
    ),
    _form(
        "dialogue",
        r"\b(?:dialogue|interview|telephone call|conversation)\b",
        """
One of them asks what the other one thinks about {t}.
The other one says that {t} can fill a whole evening.
Tell me more about {t} says the first voice.
There is not much to tell about {t} says the second.
You spoke of {t} yesterday and the day before.
That is true but today there is another side to {t}.
So what would you change about {t} if you could?
Nothing at all because nobody should touch {t}.
Then we agree about {t} after all.
They laugh and promise to talk about {t} again soon.""",
    ),
    _form(
        "review",
        r"\breview\b",
        """
This review asks what we were told about {t} and what was left out.
The opening makes a strong claim about {t}.
After that it takes a while to come back to {t}.
The details about {t} are correct and told with care.
Some parts about {t} go on for too long.
Anyone who expects a lecture on {t} may be surprised.
The finest moment shows {t} without a word.
It could have said more about the costs of {t}.
In short it is worth an evening for those who like {t}.
Our verdict is three stars out of five for its view of {t}.""",
    ),
    _form(
        "speech",
        r"\bspeech\b|\btoast\b|\beulogy\b",
        """
Dear friends and guests let us speak about {t} for a moment.
Nobody here would have come without some link to {t}.
When we were young {t} meant little to most of us.
Today we have come together because of {t}.
There are those who doubt {t} and we should listen to them as well.
But look around and see what we owe to {t}.
We promise to take care of {t} in the years to come.
Let us raise our glasses to {t} and to all who care.
Thank you for your patience and for your thoughts about {t}.""",
    ),
    _form(
        "pitch",
        r"product description|advertisement|radio spot|flyer|poster|social media|mission statement"
        r"|podcast|weather report|horoscope|\bsalesman\b|slogan",
        """
Welcome to something new that is all about {t}.
Have you ever wished for an hour with {t} after a long week?
Here you get {t} without fuss and at a fair price.
Every part of it was made by those who know {t} well.
It suits beginners and old hands of {t} alike.
Bring a friend and discover {t} together.
Ask our team about {t} at any hour.
Places are few and {t} will not wait.
Visit us this week and take a piece of {t} home.""",
    ),
    _form(
        "list",
        r"^List\b|\b(?:checklist|glossary|quiz|timeline|menu|schedule|outline|recipe|research questions)\b",
        """
Here is a list that covers {t} from several sides.
The opening entry is a plain fact about {t}.
Next comes a question about {t} that is often asked.
Another entry deals with the costs of {t}.
One more names the tools that go with {t}.
There follows a warning about {t} for those in a hurry.
An entry on the origins of {t} should not be missing.
The last one sums up what {t} can offer.
With these entries anyone can speak about {t} for ten minutes.""",
    ),
    _form(
        "article",
        r"\b(?:essay|article|news item|blog|opinion piece|headline|summary of a talk)\b",
        """
These paragraphs look at {t} and ask why we should care.
At first sight {t} may seem a minor subject.
On closer inspection much of what we do is linked to {t}.
Reports about {t} have reached even those who never asked.
Supporters ask for more room for {t} in public debate.
Critics reply that there is too much praise for {t} already.
Both sides can point to facts about {t} that are hard to deny.
What matters in the end is how we deal with {t} ourselves.
Perhaps the wisest course is to watch {t} with patience.
This much can be said about {t} without taking sides.""",
    ),
    _form(
        "story",
        r"\b(?:story|fairy tale|fable|scene|novel|myth|monologue|sketch|play|plot|diary)\b"
        r"|Continue the text|Rewrite the sentence|Imagine that|Pretend that",
        """
It all began on a grey evening with {t}.
Nobody in our street had given a thought to {t} before.
Then came a stranger who asked about {t} and would not leave.
She said that her whole family had been changed by {t}.
We laughed at her until we saw {t} with our own eyes.
That night nobody slept and all the talk was of {t}.
On the next day something strange happened with {t}.
The old clock stopped and the dog barked at {t}.
Step by step we found out what {t} had to do with it.
In the end we shook hands and went home thinking of {t}.""",
    ),
    _form(
        "advice",
        r"\b(?:advice|tips?|instructions for)\b|[Hh]elp me|Where should|should I say|can I answer"
        r"|How can one|Give us an example|choose a present",
        """
My advice is to take {t} one step at a time.
Begin by finding out what you already know about {t}.
Set aside twenty minutes a week for {t} and keep to it.
Talk to somebody who has lived with {t} for years.
Do not spend much on {t} before you are sure.
If you are nervous about {t} then say so openly.
Write down three questions about {t} and look for answers.
Take a break from {t} when there is too much to do.
After a month you will feel more at home with {t}.""",
    ),
    _form(
        "plan",
        r"^Plan\b|business plan|proposal|month of practice|\bresume\b|start a club|workshop",
        """
This is a plan for everything that has to do with {t}.
Step one is to agree on what we want from {t}.
Step two is to find a room and a date for {t}.
Two helpers look after {t} and one person keeps the list.
In the early hours we set the tables and put up pictures of {t}.
Around noon everyone gets a short introduction to {t}.
Later there is free space for questions about {t}.
The costs of {t} are shared among all who take part.
At the close we talk about what we found out about {t}.""",
    ),
    _form(
        "invention",
        r"^(?:Invent|Make up|Create|Suggest|Propose)\b|in honour of|museum of the future",
        """
The idea is new and it is built around {t}.
Its name comes from an old word for {t}.
Members or players have to bring something that stands for {t}.
One rule says that nobody may laugh at {t}.
Another rule says that {t} must be shared with strangers.
Once a year there is a feast in praise of {t}.
Those who break the rules have to sweep the floor and talk about {t}.
Word of it spread because {t} had never been seen in this light.
It would suit anybody who has a weakness for {t}.""",
    ),
    _form(
        "description",
        r"^Describe\b",
        """
Picture a calm place that is shaped by {t}.
The eye is drawn to {t} before anything else.
There is a faint smell that belongs to {t} and nothing else.
Listen closely and you will hear {t} in the background.
Up close there are more colours to {t} than one would expect.
From far away one could overlook {t}.
Visitors stop here and point at {t} without a word.
By the evening the light gives another tone to {t}.
It is not easy to leave {t} behind.""",
    ),
    _form(
        "explanation",
        r"",
        """
In a few words {t} can be explained like this.
At the heart of {t} lies something that most of us have met before.
People were interested in {t} long before there were books about it.
Over the years our ideas about {t} have changed more than once.
One reason to care about {t} is the link to daily habits.
Another reason is that strangers come together over {t}.
There are also doubts about {t} and they should be heard.
It would be a mistake to leave {t} to the experts.
To sum up there are good grounds to look at {t} again.""",
    ),
)
"""The last one fits every request."""
VERDICT = _form(
    "verdict",
    r"",
    """
That is how it looks after some thought about {t}.
Others may see {t} in another light.
Much depends on where and how one meets {t}.
Experience with {t} differs from person to person.
It would take a longer talk to weigh every side of {t}.
The facts about {t} leave room for more than one view.
New facts about {t} might change this verdict.""",
)
"""What follows yes, no or maybe."""

_COUNTS = {"two": 2, "three": 3, "five": 5}
_COUNTED = re.compile(
    r"\b(two|three|five) (?:questions|mistakes|tips|arguments|ways|research questions)\b"
)
_SHORT = re.compile(
    r"\bshort (?:email|pitch|introduction|lesson)\b|postcard|slogan|limerick|toast|riddle|joke|crossword"
    r"|proverb|horoscope|reminder|flyer|poster|radio spot|social media|headline and a first paragraph"
)
_LONG = re.compile(
    r"\b(?:essay|article|blog|business plan|novel|speech|story|interview|dialogue|lesson about|month of"
    r"|weekend|trip|workshop|history|proposal|exhibition about)\b"
)
_SHORT_WORDS, _SHORT_SENTENCES, _SHORT_PARTS = 150, 12, 3
_LONG_WORDS, _LONG_SENTENCES = 90, 6


def form_of(request: str) -> Form:
    """Return the form of a request that is no yes-or-no question."""
    return next(form for form in FORMS if re.search(form.pattern, request))


def request_conflicts(request: str, topic: str, plan: Plan) -> Iterator[str]:
    """Yield how the demands contradict the words of the request, a line each."""
    yield from _words_needed(request, topic, plan)
    yield from _size(request, plan)
    yield from _place(request, plan)
    if form_of(request).name == "verse":
        if plan.has("detectable_format:json_format"):
            yield "verse and detectable_format:json_format"
        if any(plan.bullets) or any(number for _, number in plan.sections):
            yield "verse, and bullets or numbered sections"


def _words_needed(request: str, topic: str, plan: Plan) -> Iterator[str]:
    """What is forbidden, or capped below what the topic alone holds."""
    lowered = request.lower()
    capped = [word for word, span in plan.keywords.items() if span.high is not None]
    for word in (*plan.forbidden, *capped):
        if re.search(rf"\b{re.escape(word.lower())}", lowered):
            yield f"the request itself speaks of {word!r}, which is forbidden or capped"
    for letter, span in plan.letters.items():
        if span.high is not None and 2 * topic.lower().count(letter) > span.high:
            yield f"{topic!r} cannot be named twice within {span.high} {letter!r}"


def _size(request: str, plan: Plan) -> Iterator[str]:
    counted = _COUNTED.search(request)
    if counted and any(number != _COUNTS[counted.group(1)] for number in plan.bullets):
        yield f"{counted.group()}, and another number of bullets"
    parts = max(
        (*plan.parts, *(n for n, _, _ in plan.paragraphs), *(n for _, n in plan.sections), 0)
    )
    if _SHORT.search(request):
        if plan.words.low > _SHORT_WORDS or plan.sentences.low > _SHORT_SENTENCES:
            yield "a short text, and many words or sentences"
        if parts > _SHORT_PARTS:
            yield f"a short text, and {parts} parts"
    elif _LONG.search(request):
        few_words = plan.words.high is not None and plan.words.high < _LONG_WORDS
        if few_words or (plan.sentences.high is not None and plan.sentences.high < _LONG_SENTENCES):
            yield "a long text, and few words or sentences"


def _place(request: str, plan: Plan) -> Iterator[str]:
    """What the request itself says of beginning, end and language."""
    if "ends with" in request and (plan.endings or plan.postscripts):
        yield "the request says how the text ends"
    if re.search(r"begins with|starts with|^Rewrite", request) and (
        plan.repeats or any(nth == 1 for _, nth, _ in plan.paragraphs)
    ):
        yield "the request says how the text begins"
    if '"' in request and any(language != "en" for language in plan.languages):
        yield "the request quotes English words that have to stand in the text"
    if "first paragraph" in request and (plan.parts or plan.paragraphs or plan.sections):
        yield "a headline and one paragraph, and a number of parts"
