"""Topics of the requests: noun phrases that fit every template.

Leaves out: the templates (``requests``).
"""

from __future__ import annotations

_TOPICS = (
    "the sea|an old lighthouse|rain in spring|home-made bread|the night sky|city buses|"
    "honey bees|paper maps|wild mushrooms|chess clubs|steam trains|green tea|the local library|"
    "street musicians|snow in the mountains|bicycle repair|second-hand books|a village bakery|"
    "migrating birds|a family picnic|desert plants|small farms|jazz concerts|summer storms|"
    "river fishing|science museums|long-distance running|autumn leaves|stone bridges|"
    "watercolour painting|flea markets|mountain huts|handmade shoes|jigsaw puzzles|board games|"
    "sleep|coral reefs|solar power|public parks|school uniforms|video calls|the metric system|"
    "coffee houses|train stations|electric cars|radio plays|vegetable gardens|house cats|"
    "rescue dogs|old photographs|folk dances|knitting|pottery|sign language|tap water|volcanoes|"
    "hot-air balloons|space telescopes|glass recycling|wooden toys|sea turtles|cheese making|"
    "tax forms|traffic lights|the alphabet|pocket calculators|sundials|opera singers|stage magic|"
    "comic books|detective novels|ancient Rome|the Silk Road|medieval castles|polar expeditions|"
    "the history of numbers|night shifts|volunteer fire brigades|hospital clowns|lost luggage|"
    "office chairs|elevator music|umbrellas|postage stamps|fountain pens|typewriters|"
    "mechanical clocks|kites|rowing boats|ice skating|table tennis|marathon training|"
    "mountain biking|yoga at work|healthy breakfasts|spicy food|street food|apple trees|compost|"
    "urban beekeeping|earthworms|owls|foxes in the city|whales|penguins|dinosaurs|the moon|"
    "eclipses|tides|earthquakes|rivers in flood|deep forests|clouds|fog|wind turbines|"
    "tidal power|old coins|family trees|first names|proverbs|lullabies|nursery rhymes|"
    "birthday cakes|wedding dances|moving house|shared flats|long queues|weekly markets|"
    "sourdough|pancakes|campfires|tents|night buses|ferries|canals|roof gardens|tree houses|"
    "secret codes|card tricks|chess computers|robots in the kitchen|home libraries|"
    "letter writing|calligraphy|origami|quilts|amateur theatre|brass bands|choirs|silent films|"
    "puppet shows|circus schools|zoos|aquariums"
)
TOPICS = tuple(_TOPICS.split("|"))
