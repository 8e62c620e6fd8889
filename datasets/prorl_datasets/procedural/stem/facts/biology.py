"""Questions on cells, the genetic code, organisms, hormones and terms."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.stem.facts.makers import belonging, matching
from prorl_datasets.procedural.stem.problem import Choice, stem_family

ORGANELLES = (
    ("mitochondrion", "makes most ATP by aerobic respiration"), ("chloroplast", "carries out photosynthesis"),
    ("ribosome", "joins amino acids to proteins"), ("nucleus", "holds the chromosomes of a eukaryotic cell"),
    ("nucleolus", "makes ribosomal RNA and assembles ribosomal subunits"),
    ("Golgi apparatus", "modifies, sorts and packs proteins for secretion"),
    ("rough endoplasmic reticulum", "carries ribosomes that make secreted proteins"),
    ("smooth endoplasmic reticulum", "makes lipids and steroids"),
    ("lysosome", "digests worn-out parts with acid hydrolases"),
    ("peroxisome", "breaks down hydrogen peroxide with catalase"),
    ("centrosome", "organises the microtubules of animal cells"),
    ("plant cell wall", "gives a plant cell its shape with cellulose"),
    ("central vacuole", "keeps up the turgor of a plant cell"),
    ("plasma membrane", "controls what enters and leaves the cell"),
    ("flagellum", "propels a sperm cell"), ("cytosol", "is the place of glycolysis"),
)  # fmt: skip
ORGANELLES_TOO = (
    ("cytosol", "joins amino acids to proteins"), ("rough endoplasmic reticulum", "joins amino acids to proteins"),
    ("mitochondrion", "joins amino acids to proteins"), ("chloroplast", "joins amino acids to proteins"),
    ("nucleus", "makes ribosomal RNA and assembles ribosomal subunits"),
    ("mitochondrion", "makes ribosomal RNA and assembles ribosomal subunits"),
    ("chloroplast", "makes ribosomal RNA and assembles ribosomal subunits"),
    ("nucleolus", "holds the chromosomes of a eukaryotic cell"), ("cytosol", "makes lipids and steroids"),
    ("chloroplast", "makes lipids and steroids"), ("mitochondrion", "makes lipids and steroids"),
    ("peroxisome", "makes lipids and steroids"), ("rough endoplasmic reticulum", "makes lipids and steroids"),
    ("nucleus", "carries ribosomes that make secreted proteins"),
    ("central vacuole", "digests worn-out parts with acid hydrolases"),
    ("plant cell wall", "controls what enters and leaves the cell"),
    ("plant cell wall", "keeps up the turgor of a plant cell"),
    ("plasma membrane", "keeps up the turgor of a plant cell"),
    ("nucleus", "organises the microtubules of animal cells"), ("centrosome", "propels a sperm cell"),
    ("mitochondrion", "propels a sperm cell"),
)  # fmt: skip
"""Partly true pairs; they must not count as wrong."""
HORMONES = (
    ("insulin", "pancreas"), ("glucagon", "pancreas"), ("adrenaline", "adrenal gland"), ("cortisol", "adrenal gland"),
    ("aldosterone", "adrenal gland"), ("thyroxine", "thyroid gland"), ("calcitonin", "thyroid gland"),
    ("parathyroid hormone", "parathyroid glands"), ("testosterone", "testes"), ("oestradiol", "ovaries"),
    ("growth hormone", "anterior pituitary"), ("prolactin", "anterior pituitary"),
    ("thyroid-stimulating hormone", "anterior pituitary"), ("luteinising hormone", "anterior pituitary"),
    ("melatonin", "pineal gland"), ("erythropoietin", "kidneys"), ("gastrin", "stomach"), ("leptin", "fat tissue"),
    ("secretin", "small intestine"), ("cholecystokinin", "small intestine"),
)  # fmt: skip
"""(hormone, main organ that releases it)."""
HORMONES_TOO = (
    ("gastrin", "small intestine"), ("testosterone", "ovaries"), ("testosterone", "adrenal gland"),
    ("oestradiol", "testes"), ("oestradiol", "fat tissue"), ("oestradiol", "adrenal gland"), ("leptin", "stomach"),
)  # fmt: skip
TERMS_TOO = (
    ("osmosis", "spreading of particles from high to low concentration"),
    ("diffusion", "flow of water through a selective membrane"),
    ("meiosis", "division of a nucleus into two with the same chromosomes"),
    ("endocytosis", "carrying a substance against its gradient with energy"),
    ("exocytosis", "carrying a substance against its gradient with energy"),
    ("speciation", "change of a community over time"), ("genetic drift", "formation of new species"),
    ("parasitism", "a relation that helps one species and leaves the other unaffected"),
)  # fmt: skip
TERMS = (
    ("mitosis", "division of a nucleus into two with the same chromosomes"),
    ("meiosis", "division that halves the number of chromosomes"),
    ("transcription", "copying a gene into RNA"), ("translation", "reading mRNA to make a protein"),
    ("replication", "copying of DNA before a cell divides"), ("osmosis", "flow of water through a selective membrane"),
    ("diffusion", "spreading of particles from high to low concentration"),
    ("active transport", "carrying a substance against its gradient with energy"),
    ("endocytosis", "taking in material by folding the membrane inwards"),
    ("exocytosis", "release of material from vesicles at the membrane"),
    ("glycolysis", "splitting of glucose into two pyruvate molecules"),
    ("transpiration", "loss of water vapour from leaves"), ("pollination", "transfer of pollen to a stigma"),
    ("fertilisation", "fusion of two gametes"), ("apoptosis", "programmed death of a cell"),
    ("mutualism", "a relation from which both species gain"), ("parasitism", "living at the cost of a host"),
    ("commensalism", "a relation that helps one species and leaves the other unaffected"),
    ("genetic drift", "chance change of allele frequencies"), ("speciation", "formation of new species"),
    ("allele", "one of the variants of a gene"), ("phenotype", "the visible traits of an organism"),
    ("genotype", "the set of alleles of an organism"), ("homeostasis", "keeping the inner conditions steady"),
    ("nitrogen fixation", "turning N2 from the air into ammonia"),
    ("denitrification", "turning nitrate into N2"),
    ("splicing", "cutting introns out of a transcript"), ("succession", "change of a community over time"),
)  # fmt: skip
ORGANISMS = {
    "a mammal": ("bat", "dolphin", "whale", "platypus", "kangaroo", "hedgehog", "seal", "elephant", "mole", "otter"),
    "a bird": ("penguin", "ostrich", "kiwi", "owl", "sparrow", "albatross", "parrot", "eagle", "hummingbird"),
    "a reptile": ("crocodile", "gecko", "tortoise", "iguana", "python", "chameleon", "cobra", "sea turtle"),
    "an amphibian": ("frog", "toad", "newt", "salamander", "axolotl", "caecilian"),
    "a fish": ("shark", "salmon", "seahorse", "eel", "trout", "manta ray", "tuna", "herring", "carp"),
    "an insect": ("bee", "ant", "beetle", "butterfly", "mosquito", "dragonfly", "grasshopper", "termite", "louse"),
    "an arachnid": ("garden spider", "scorpion", "tick", "mite", "harvestman", "tarantula"),
    "a crustacean": ("crab", "lobster", "woodlouse", "barnacle", "shrimp", "krill", "water flea"),
    "a mollusc": ("snail", "slug", "octopus", "squid", "oyster", "mussel", "cuttlefish", "limpet"),
    "an echinoderm": ("starfish", "sea urchin", "sea cucumber", "brittle star", "sea lily"),
    "a cnidarian": ("jellyfish", "sea anemone", "hydra", "stony coral", "sea fan"),
    "an annelid": ("earthworm", "leech", "lugworm", "ragworm", "bristle worm"),
}  # fmt: skip
PLANTS = {
    "a flowering plant": ("rose", "oak", "wheat", "sunflower", "orchid", "bean", "tulip", "maize", "apple tree"),
    "a gymnosperm (conifer or kin)": ("pine", "spruce", "ginkgo", "yew", "cycad", "larch", "cypress"),
    "a fungus": ("baker's yeast", "button mushroom", "bread mould", "truffle", "fly agaric", "Penicillium"),
    "a moss, fern or horsetail": ("peat moss", "bracken", "horsetail", "hair-cap moss", "tree fern", "maidenhair fern"),
    "a bacterium": ("Escherichia coli", "Staphylococcus", "Salmonella", "Streptococcus", "Lactobacillus", "Rhizobium"),
    "a protist (single-celled eukaryote)": ("Amoeba", "Paramecium", "Euglena", "Plasmodium", "Trypanosoma"),
}  # fmt: skip
_LETTERS = "UCAG"
_CODE = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
"""The standard genetic code in the order UCAG, third base fastest (NCBI table 1)."""
_AMINO = {
    "F": "phenylalanine", "L": "leucine", "S": "serine", "Y": "tyrosine", "C": "cysteine", "W": "tryptophan",
    "P": "proline", "H": "histidine", "Q": "glutamine", "R": "arginine", "I": "isoleucine", "M": "methionine",
    "T": "threonine", "N": "asparagine", "K": "lysine", "V": "valine", "A": "alanine", "D": "aspartic acid",
    "E": "glutamic acid", "G": "glycine", "*": "stop",
}  # fmt: skip
CODONS: dict[str, str] = {
    a + b + c: _AMINO[_CODE[16 * i + 4 * j + k]]
    for i, a in enumerate(_LETTERS)
    for j, b in enumerate(_LETTERS)
    for k, c in enumerate(_LETTERS)
}
_ABBREVIATED = {"aspartic acid": "Asp", "glutamic acid": "Glu", "asparagine": "Asn", "glutamine": "Gln",
                "isoleucine": "Ile", "tryptophan": "Trp", "stop": "(stop)"}  # fmt: skip


def _short(name: str) -> str:
    return _ABBREVIATED.get(name, name[:3].capitalize())


def _codons(rng: Random, level: int) -> Choice:
    codon = rng.choice(list(CODONS))
    amino = CODONS[codon]
    if level == 1:
        meaning = "means stop" if amino == "stop" else f"codes for {amino}"
        wrong = rng.sample([c for c in CODONS if CODONS[c] != amino], 5)
        text = f"Which mRNA codon {meaning} in the standard genetic code?"
        return Choice(
            text, codon, tuple(wrong), {"ask": amino, "right": codon, "wrong": sorted(wrong)}
        )
    codons = [rng.choice([c for c in CODONS if CODONS[c] != "stop"]) for _ in range(2 + level)]
    chain = [CODONS[c] for c in codons]
    right = "-".join(map(_short, chain))
    wrong = []
    while len(wrong) < 5:
        changed = list(chain)
        changed[rng.randrange(len(chain))] = rng.choice([a for a in _AMINO.values() if a != "stop"])
        text = "-".join(map(_short, changed))
        if text != right and text not in wrong:
            wrong.append(text)
    if level == 2:
        question = f"Which peptide does the mRNA 5'-{''.join(codons)}-3' code for, read from its "
        question += "first base?"
    else:
        paired = {"A": "T", "U": "A", "G": "C", "C": "G"}
        strand = "".join(paired[b] for b in "".join(codons))
        question = f"The template strand of a gene reads 3'-{strand}-5'. Which peptide does its "
        question += "mRNA code for, read from the first base transcribed?"
    return Choice(question, right, tuple(wrong), {"codons": codons, "level": level})


def _strands(rng: Random, level: int) -> Choice:
    size = 6 + 2 * level
    strand = "".join(rng.choice("ACGT") for _ in range(size))
    pairs = {"A": "T", "T": "A", "G": "C", "C": "G"}
    other = "".join(pairs[b] for b in strand)
    if level == 1:
        question = f"One DNA strand reads 5'-{strand}-3'. What does the complementary strand "
        question += "read, from 3' to 5'?"
        right = other
    elif level == 2:
        question = f"One DNA strand reads 5'-{strand}-3'. What does the complementary strand "
        question += "read, from 5' to 3'?"
        right = other[::-1]
    else:
        question = f"The template strand of a gene reads 5'-{strand}-3'. What does its transcript "
        question += "read, from 5' to 3'?"
        right = other[::-1].replace("T", "U")
    letters = "ACGU" if level == 3 else "ACGT"
    wrong = [text for text in dict.fromkeys((right[::-1],)) if text != right]
    while len(wrong) < 5:
        place = rng.randrange(size)
        text = right[:place] + rng.choice(letters) + right[place + 1 :]
        if text != right and text not in wrong:
            wrong.append(text)
    return Choice(question, right, tuple(wrong), {"strand": strand, "level": level})


FAMILIES = (
    stem_family("facts_organelles", matching(
        ORGANELLES, ("What is a main task or property of this part of a cell: {}?", "Which statement fits the {} best?"),
        ("Which part of a cell {}?", "Name the part of a cell that {}."), "part of a cell and what it does",
        ORGANELLES_TOO)),
    stem_family("facts_hormones", matching(
        HORMONES, ("Where is most of the hormone {} released?", "Which organ or tissue is the main source of {}?"),
        ("Which of these hormones comes mainly from this source: {}?", "Which hormone has this main source: {}?"),
        "hormone and main source", HORMONES_TOO)),
    stem_family("facts_biology_terms", matching(
        TERMS, ("What does the term '{}' mean?", "Which description fits '{}'?"),
        ("Which term means '{}'?", "What is the term for this: {}?"), "term and meaning", TERMS_TOO)),
    stem_family("facts_animals", belonging(ORGANISMS, "animal")),
    stem_family("facts_kingdoms", belonging(PLANTS, "organism")),
    stem_family("facts_codons", _codons),
    stem_family("facts_strands", _strands),
)  # fmt: skip
