"""Word lists of IFBench's constraints."""

from __future__ import annotations

from prorl_verifiers.instruction.text import folded, single_spaced

STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
    it its itself they them their theirs themselves what which who whom this that these those
    am is are was were be been being have has had having do does did doing a an the and but if or because as until
    while of at by for with about against between into through during before after above below to from up down in
    out on off over under again further then once here there when where why how all any both each few more most
    other some such no nor not only own same so than too very can will just should now
    s t d m o y ll re ve don ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn
    weren won wouldn
    """.split()  # noqa: SIM905
)
"""NLTK's English stop words without apostrophes."""
CONJUNCTIONS = frozenset("and but for nor or so yet".split())  # noqa: SIM905
PRONOUNS = frozenset(
    """
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves this that these those who whom whose which what
    whoever whomever whichever whatever anybody anyone anything everybody everyone everything nobody nothing
    somebody someone something each either neither both all some any none
    """.split()  # noqa: SIM905
)
NAMES = """
    Abigail Alexander Amelia Andrew Aria Audrey Ava Benjamin Charlotte Chloe Christopher Claire Daniel David Elijah
    Ella Emma Ethan Gabriel Grace Hannah Harper Isabella Jackson Jacob Jonathan Joseph Layla Leo Liam Lily Lucas
    Mason Matthew Mia Nathan Nicholas Noah Nora Olivia Owen Penelope Ryan Samuel Scarlett Sophia Stella Thomas
    Victoria Zoe
    """.split()  # noqa: SIM905
"""The fifty names in the prompt of ``count:person_names``."""
CAPITALS = """
    Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam Warsaw
    London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana Zagreb
    """.split()  # noqa: SIM905
"""European capitals north of 45 degrees, from north to south."""
MINOR_WORDS = frozenset(
    """a an and as at but by en for from if in into nor of off on onto or over per so than the to up upon via vs
    with yet""".split()  # noqa: SIM905
)
"""Words that remain lowercase in title case."""
_VERBS = """
    accept achieve act adapt add address adjust admire advance agree aim allow analyze answer apply approach arrange
    arrive ask assemble assess attempt avoid bake be become begin believe blend boil bring build burn buy calculate
    call calm capture carry catch celebrate challenge change chase check choose chop clean clear climb close collect
    combine come compare complete compose compute concentrate conclude connect consider construct contain continue
    convert cook copy count cover craft create cross cut dance decide define delight deliver demonstrate describe
    design determine develop dig discover discuss dive divide do draw dream drink drive eat embrace employ encourage
    engage enjoy ensure enter establish evaluate examine execute exercise expand expect experience explain explore
    express extend face fall feel fetch fight fill find finish fix fly focus fold follow forget form gather generate
    get give go grab grow guess guide handle harness have hear help hide highlight hold hope identify ignite ignore
    illustrate imagine implement improve include increase indulge install integrate introduce invest investigate
    invite join journey keep know laugh launch lead learn leave let listen live locate look lose love make manage
    map maximize measure meet melt mix move navigate note observe obtain offer open organize outline pack paint pass
    pause perform pick place plan play point pour practice prefer prepare present preserve press prevent print
    proceed produce promote protect prove provide pull push put question quit raise reach read realize recall receive
    recognize reconsider record reduce refer reflect reimagine relax release rely remain remember remove repeat
    replace report represent request require research respond rest return reveal review revise ride rise roast run
    save say scan search see seek select sell send serve set settle share shift shine show simplify sing sit sketch
    sleep smell solve sort speak spend spread stand start stay step stir stop strive study submit substitute suggest
    summarize support suppose survey take talk taste teach tell test thank think throw touch track train transform
    translate travel treat trust try turn uncover understand unleash unlock unveil update use utilize value verify
    view visit visualize wait walk wander want warm wash watch wear welcome win wish witness wonder work worry wrap
    write
    """.split()  # noqa: SIM905
_IRREGULAR = frozenset(
    """
    am is are was were been being has had did done gone went can could may might must shall should will would ought
    brought built bought came caught chosen chose drew drawn drank drove driven ate eaten fell fallen felt found flew
    gave given got gotten grew grown heard held kept knew known led left lost made met ran said saw seen sought sold
    sent sang sat slept spoke spent stood took taken taught told thought threw understood wore won wrote written
    began begun became let's don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't
    """.split()  # noqa: SIM905
)


def is_verb(word: str) -> bool:
    word = folded(word).lower().replace("’", "'")
    if word in _IRREGULAR or word in _BASES:
        return True
    for ending in ("s", "es", "d", "ed", "ing"):
        stem = word.removesuffix(ending)
        if stem == word:
            continue
        doubled = stem[:-1] if stem[-2:-1] == stem[-1:] else stem
        forms = {stem, doubled, stem + "e", stem[:-1] + "y" if stem.endswith("i") else stem}
        if not forms.isdisjoint(_BASES):
            return True
    return False


_BASES = frozenset(_VERBS)
_AFRICA = """
    zimbabwe, zambia, uganda, tunisia, togo, tanzania, sudan, somali, south africa, sierra leone, seychelles,
    senegal, sao tome, rwanda, nigeria, niger, namibia, mozambique, morocco, mauritius, mauritania, mali, malawi,
    madagascar, libya, liberia, lesotho, kenya, ivory coast, ivoire, guinea, ghana, gambia, gabon, ethiopia,
    eswatini, swaziland, eritrea, egypt, djibouti, congo, comoros, chad, central african republic, cape verde, cabo
    verde, cameroon, burundi, burkina faso, botswana, benin, angola, algeria, sahara
    """
AFRICA = tuple(map(single_spaced, _AFRICA.split(",")))
"""A distinctive part of each African country's name, in lowercase without accents."""
