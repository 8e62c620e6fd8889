"""Topics of the requests: noun phrases that fit the templates of their group."""

from __future__ import annotations

_GROUPS = {
    "nature": (
        "the sea|rain in spring|the night sky|honey bees|wild mushrooms|snow in the mountains|"
        "migrating birds|desert plants|summer storms|autumn leaves|coral reefs|volcanoes|"
        "sea turtles|apple trees|earthworms|owls|foxes in the city|whales|penguins|dinosaurs|"
        "the moon|eclipses|tides|earthquakes|rivers in flood|deep forests|clouds|fog"
    ),
    "hobby": (
        "bread baking|bicycle repair|river fishing|long-distance running|watercolour painting|"
        "jigsaw puzzles|board games|vegetable gardening|folk dancing|knitting|pottery|"
        "sign language|cheese making|stage magic|card tricks|rowing|ice skating|table tennis|"
        "marathon training|mountain biking|yoga|urban beekeeping|letter writing|calligraphy|"
        "origami|quilting|amateur theatre|choir singing|kite flying|chess"
    ),
    "place": (
        "old lighthouses|public libraries|village bakeries|science museums|stone bridges|"
        "flea markets|mountain huts|public parks|coffee houses|train stations|small farms|"
        "medieval castles|weekly markets|roof gardens|tree houses|zoos|aquariums|canals"
    ),
    "thing": (
        "home-made bread|paper maps|green tea|second-hand books|handmade shoes|old photographs|"
        "wooden toys|comic books|detective novels|umbrellas|postage stamps|fountain pens|"
        "typewriters|mechanical clocks|sundials|old coins|birthday cakes|pancakes|spicy food|"
        "street food|quilts|kites"
    ),
    "machine": (
        "city buses|steam trains|electric cars|hot-air balloons|space telescopes|wind turbines|"
        "night buses|ferries|rowing boats|robots in the kitchen|chess computers|traffic lights"
    ),
    "show": (
        "street musicians|jazz concerts|radio plays|opera singers|silent films|puppet shows|"
        "brass bands|choirs|circus schools|folk dances|lullabies|nursery rhymes"
    ),
    "matter": (
        "sleep|school uniforms|video calls|the metric system|tap water|glass recycling|tax forms|"
        "the alphabet|ancient Rome|the Silk Road|polar expeditions|the history of numbers|"
        "night shifts|volunteer fire brigades|hospital clowns|lost luggage|family trees|"
        "first names|proverbs|secret codes|moving house|shared flats|long queues|house cats|"
        "rescue dogs|compost|solar power|tidal power|healthy breakfasts|campfires"
    ),
    "public": (
        "public parks|public libraries|city buses|night buses|solar power|weekly markets|"
        "roof gardens|street musicians|cycle paths|swimming pools|wind turbines|evening classes"
    ),
}
TOPICS = {group: tuple(topics.split("|")) for group, topics in _GROUPS.items()}
"""Topics by group; a topic may be in several groups."""
ALL_TOPICS = tuple(dict.fromkeys(topic for topics in TOPICS.values() for topic in topics))
