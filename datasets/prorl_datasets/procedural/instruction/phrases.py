"""Plain English sentences to compose responses from: fillers, frames, bullets, titles, postscripts.

No sentence holds a comma, a word in capitals, or a word of ``constraints.words``. ``{t}`` is a
topic (a noun phrase), ``{k}`` one or more words that must be named. Leaves out: other languages
(``languages``).
"""

from __future__ import annotations

_TOPIC_SENTENCES = """There is much to say about {t}.
People often talk about {t} with real interest.
Most of us first heard about {t} as children.
It takes some time to learn the basics of {t}.
Many good books have been written about {t}.
Nobody needs to be an expert to enjoy {t}.
Small details matter a great deal when you look at {t}.
The best way to start is to spend one hour with {t}.
Some facts about {t} are less well known than others.
Anyone can ask a simple question about {t}.
My neighbours have their own opinions about {t}.
The history of {t} goes back further than most people think.
We should not forget how much work stands behind {t}.
It helps to compare {t} with something you already know.
Those who care about {t} tend to share what they know.
Not every story about {t} is true.
Good advice about {t} is short and clear.
There are three things to remember about {t}.
You can find a group of people who love {t} in almost any town.
The first impression of {t} is not always the right one.
Take a slow look at {t} before you decide.
Money is rarely the main reason to care about {t}.
Teachers use {t} to explain wider ideas.
The next step is to talk with others about {t}."""
TOPIC_SENTENCES = tuple(_TOPIC_SENTENCES.split("\n"))
_PLAIN_SENTENCES = """The main idea is easy to follow.
It works well in practice.
Most people agree on this point.
Some would say the opposite and that is fine.
Time and patience make the difference.
The details depend on where you live.
One clear plan is better than ten vague ones.
Start small and keep going.
Ask for help when you need it.
The result is often better than expected.
There is no single right way to do this.
Every step builds on the one before.
It is worth doing this with care.
Try it once and see how it feels.
Mistakes are part of learning.
Write down what you notice each day.
The reason is simple enough.
Experience shows that regular practice pays off.
Older people tend to remember how it used to be.
Children ask the best questions of all.
The weather plays its part as well.
Keep the notes short so that others can read them.
Nothing about this has to be expensive.
Choose the option that fits your own life.
It gets easier after the first week.
The second part deserves more attention.
Numbers alone do not tell the whole truth.
Share the work with someone you trust.
Look at the matter from the other side too.
That said the basic rule stays the same.
Leave enough room for a change of plan.
People in other countries handle it in their own way.
The final choice is yours to make.
Such habits grow slowly over the years.
Begin with what you have at home.
Everyone has a view on the subject.
Listen first and speak later.
There are many roads to the same place.
It would be wrong to rush the matter.
Plenty of examples can be found nearby.
The tools for it are cheap and common.
We can learn from those who came earlier.
What looks hard at first soon becomes normal.
Check the result twice before you go on.
The old way still has its friends.
New ideas arrive from all directions.
Rest is as useful as effort.
Think about who will read the answer.
The evening is a good time for such work.
Make a list of what is missing.
That is how it usually goes.
In the end the effort pays for itself."""
PLAIN_SENTENCES = tuple(_PLAIN_SENTENCES.split("\n"))
SHORT_SENTENCES = (
    *("It is so.", "We do it.", "Try it now.", "This can work.", "You can go on.", "Go on."),
    *(
        "See it at ease.",
        "It adds up.",
        "That is it.",
        "Do it again.",
        "Stop at six.",
        "No hurry at all.",
    ),
)
FRAMES = (
    "One could also mention {k} here.",
    "Think of {k} for a moment.",
    "This also calls up {k} in the mind.",
    "There is room for {k} as well.",
    "Others would rather speak of {k}.",
    "Somewhere in the picture there is {k}.",
    "Let us not leave out {k}.",
    "Here we should mention {k}.",
    "Not far from it we find {k}.",
    "For many readers it begins with {k}.",
    "It is: {k}.",
    "{k}.",
)
FIRST_FRAMES = (
    "{w} is the word that opens this part.",
    "{w} comes first in this paragraph.",
    "{w} is where we begin here.",
    "{w} it is.",
    "{w}.",
)
SLOTS = (
    *("name", "date", "city", "address", "phone number", "email", "time", "price", "company"),
    *("street", "country", "title", "reason", "amount", "website", "team", "model", "colour"),
)
SLOT_FRAMES = (
    "Please ask {k} about it.",
    "The place for it is {k}.",
    "We will confirm {k} soon.",
    "Feel free to write to {k}.",
    "{k}.",
)
BULLETS = (
    *("Know what you want to reach", "Set aside enough time", "Keep the first attempt simple"),
    *("Talk to someone with experience", "Note what went well", "Change one detail at once"),
    *("Compare two or three options", "Stay within your means", "Take breaks on the way"),
    *("Thank those who helped", "Plan the next step", "Enjoy the result", "Do it", "Go on"),
)
TITLES = (
    *("A Few Plain Thoughts", "What to Know First", "Notes From a Friend", "One Small Guide"),
    *("The Short Answer", "A Closer Look", "Simple Facts", "How It Goes", "Our Way", "Go on"),
)
TOPIC_BULLETS = (
    *(
        "One plain fact about {t}",
        "The history of {t}",
        "One question about {t}",
        "The costs of {t}",
    ),
    *(
        "One book that covers {t}",
        "One film that shows {t}",
        "Common fears about {t}",
        "Tools for {t}",
    ),
    *("One afternoon with {t}", "Old pictures of {t}", "Some advice on {t}", "The future of {t}"),
)
TOPIC_TITLES = (
    *("All About {t}", "Notes on {t}", "Some Words on {t}", "Another Look at {t}", "Why Not {t}"),
    *("Thoughts on {t}", "The Case for {t}", "Living With {t}", "Facts About {t}"),
)
POSTSCRIPTS = (
    *("Thanks for taking the time.", "Write back when you can.", "There is more if you ask."),
    *("Say hello to everyone at home.", "The rest can wait.", "Do it now."),
)
LETTER_FRAMES = (
    "Words such as {k} come to mind.",
    "Another group holds {k}.",
    "The list goes on with {k}.",
    "{k}.",
)
LETTER_WORDS = {
    "a": "banana salad panama alabama",
    "b": "bubble cobweb baby bib",
    "c": "cactus cocoa circle accent",
    "d": "added daddy deeded indeed",
    "e": "evergreen between eleven need",
    "f": "fluff coffee fifty off",
    "g": "giggle baggage jogging egg",
    "h": "hush hitchhiker hah high",
    "i": "initial visibility civic idiom",
    "j": "jam jolly judge jury",
    "k": "kick knack kiosk bookkeeper",
    "l": "little lull ballpoint lily",
    "m": "mammoth mummy memo maximum",
    "n": "onion cannon noon inn",
    "o": "cocoon footloose monsoon oboe",
    "p": "pepper puppy popup pipe",
    "q": "quiz queen quick quilt",
    "r": "error terror rare roar",
    "s": "possess seasons sassy moss",
    "t": "tattoo statute totter tot",
    "u": "unusual usufruct tutu guru",
    "v": "vivid valve revive savvy",
    "w": "wow swallow willow whew",
    "x": "extra box exxon axis",
    "y": "yearly yay syzygy mystery",
    "z": "puzzle pizza jazz zigzag",
}
LOOSE = ("and so on", "more words", "as seen", "its own part", "one bit", "up to you")
"""Pieces without a full stop, for responses that may hold hardly any sentence."""
