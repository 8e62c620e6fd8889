// Converts models' LaTeX to MathML nodes, so that no text becomes markup. Loaded when a response needs it.
const MATHML = "http://www.w3.org/1998/Math/MathML";
const DEEPEST = 40; // maximum depth of nested groups
const LONGEST = 4000; // maximum number of characters of a formula

/** @type {Record<string, string>} */
const LETTERS = Object.fromEntries(
  ("alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω " +
    "Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ ell ℓ hbar ℏ partial ∂ nabla ∇ emptyset ∅ varnothing ∅ aleph ℵ Re ℜ Im ℑ angle ∠ triangle △ degree ° circ ∘ ldots … dots … cdots ⋯ vdots ⋮ ddots ⋱ prime ′")
    .split(" ").reduce((/** @type {[string, string][]} */ pairs, word, i, all) => (i % 2 ? pairs : [...pairs, [word, all[i + 1]]]), []),
);
/** @type {Record<string, string>} */
const SIGNS = Object.fromEntries(
  ("times × cdot · div ÷ pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ cong ≅ sim ∼ simeq ≃ propto ∝ to → rightarrow → leftarrow ← Rightarrow ⇒ Leftarrow ⇐ implies ⟹ iff ⟺ leftrightarrow ↔ Leftrightarrow ⇔ longrightarrow ⟶ mapsto ↦ " +
    "in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ wedge ∧ land ∧ vee ∨ lor ∨ neg ¬ lnot ¬ forall ∀ exists ∃ mid ∣ nmid ∤ parallel ∥ perp ⊥ ast ∗ star ⋆ oplus ⊕ otimes ⊗ ll ≪ gg ≫ lt < gt > " +
    "sum ∑ prod ∏ int ∫ iint ∬ oint ∮ bigcup ⋃ bigcap ⋂ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lvert | rvert | vert | Vert ‖ lbrace { rbrace } therefore ∴ because ∵ checkmark ✓ bullet •")
    .split(" ").reduce((/** @type {[string, string][]} */ pairs, word, i, all) => (i % 2 ? pairs : [...pairs, [word, all[i + 1]]]), []),
);
const NAMES = new Set("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp det dim ker gcd lcm deg arg Pr hom".split(" "));
const UNDER = new Set(["sum", "prod", "bigcup", "bigcap", "lim", "max", "min", "sup", "inf", "limsup", "liminf"]);
const SPACES = /** @type {Record<string, string>} */ ({ ",": "0.17em", ":": "0.22em", ";": "0.28em", " ": "0.25em", quad: "1em", qquad: "2em" });
const ACCENTS = /** @type {Record<string, string>} */ ({ bar: "¯", overline: "¯", hat: "^", widehat: "^", tilde: "~", vec: "→", dot: "˙", ddot: "¨", overrightarrow: "→", underline: "_", underbrace: "⏟", overbrace: "⏞" });
const PLAIN = new Set(["text", "textbf", "textit", "texttt", "textrm", "mathrm", "operatorname", "mbox"]);
const STYLES = new Set(["mathbf", "mathbb", "mathcal", "mathit", "mathsf", "mathfrak", "boldsymbol", "bm", "displaystyle", "textstyle", "limits", "nolimits", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr"]);
const FENCES = /** @type {Record<string, [string, string]>} */ ({ pmatrix: ["(", ")"], bmatrix: ["[", "]"], Bmatrix: ["{", "}"], vmatrix: ["|", "|"], Vmatrix: ["‖", "‖"], cases: ["{", ""] });

/**
 * Return a formula as a MathML element. Throws for an invalid formula.
 * @param {string} source
 * @param {boolean} display
 * @returns {Element}
 */
export function mathOf(source, display) {
  if (source.length > LONGEST) throw new RangeError("too long");
  const tokens = source.match(/\\[A-Za-z]+\*?|\\[^]|[0-9]+(?:[.,][0-9]+)*|\s+|[^]/gu) ?? [];
  let at = 0;
  let depth = 0;

  /**
   * @param {string} name
   * @param {...(Node | string)} children
   */
  function element(name, ...children) {
    const made = document.createElementNS(MATHML, name);
    made.append(...children);
    return made;
  }

  function skipSpace() {
    while (at < tokens.length && /^\s/.test(tokens[at])) at++;
  }

  /** Return the source text of a braced group. */
  function verbatim() {
    skipSpace();
    if (tokens[at] !== "{") return tokens[at++] ?? "";
    let open = 0;
    let text = "";
    for (; at < tokens.length; at++) {
      if (tokens[at] === "{" && open++ === 0) continue;
      if (tokens[at] === "}" && --open === 0) break;
      text += tokens[at];
    }
    at++;
    return text;
  }

  /** Return the next group, command, letter or single digit, in any style. */
  function argument() {
    skipSpace();
    while (STYLES.has((tokens[at] ?? "").slice(1))) {
      at++;
      skipSpace();
    }
    const token = tokens[at] ?? "";
    if (/^[0-9]./.test(token)) {
      tokens[at] = token.slice(1);
      return element("mn", token[0]);
    }
    return atom() ?? element("mrow");
  }

  /**
   * Parse atoms with their scripts, up to and including one of the `ends`.
   * @param {string[]} ends
   * @returns {Element}
   */
  function row(ends) {
    if (++depth > DEEPEST) throw new RangeError("too deep");
    const made = element("mrow");
    for (;;) {
      skipSpace();
      if (at >= tokens.length || ends.includes(tokens[at])) break;
      const base = atom();
      if (base) made.append(scripts(base));
    }
    depth--;
    return made;
  }

  /** @param {Element} base */
  function scripts(base) {
    let [low, high] = [/** @type {Element | null} */ (null), /** @type {Element | null} */ (null)];
    for (;;) {
      skipSpace();
      if (["\\limits", "\\nolimits"].includes(tokens[at])) at++;
      else if (tokens[at] === "_" && !low) at++, (low = argument());
      else if (tokens[at] === "^" && !high) at++, (high = argument());
      else if (tokens[at] === "'" && !high) at++, (high = element("mo", "′"));
      else break;
    }
    const under = display && base.getAttribute("class") === "under";
    if (low && high) return element(under ? "munderover" : "msubsup", base, low, high);
    if (low) return element(under ? "munder" : "msub", base, low);
    return high ? element(under ? "mover" : "msup", base, high) : base;
  }

  /** @param {string} environment */
  function table(environment) {
    const made = element("mtable");
    if (environment === "array") verbatim();
    for (let line = element("mtr"); at < tokens.length; ) {
      line.append(element("mtd", row(["&", "\\\\", "\\end"])));
      const end = tokens[at++];
      if (end === "&") continue;
      made.append(line);
      line = element("mtr");
      if (end === "\\end") {
        verbatim();
        break;
      }
    }
    const [open, close] = Object.hasOwn(FENCES, environment) ? FENCES[environment] : ["", ""];
    return element("mrow", ...(open ? [element("mo", open)] : []), made, ...(close ? [element("mo", close)] : []));
  }

  /** @returns {Element | null} */
  function atom() {
    const token = tokens[at++];
    if (token === undefined || token === "&") return null;
    if (token === "{") {
      const made = row(["}"]);
      at++;
      return made;
    }
    if (token === "}") throw new SyntaxError("a brace too many");
    if (!token.startsWith("\\")) {
      if (/^[0-9]/.test(token)) return element("mn", token);
      return /^\p{L}/u.test(token) ? element("mi", token) : element("mo", token === "-" ? "−" : token);
    }
    const name = token.slice(1).replace(/\*$/, "");
    if (Object.hasOwn(LETTERS, name)) return element("mi", LETTERS[name]);
    if (UNDER.has(name)) {
      const made = Object.hasOwn(SIGNS, name) ? element("mo", SIGNS[name]) : element("mi", name);
      made.setAttribute("class", "under");
      return made;
    }
    if (Object.hasOwn(SIGNS, name)) return element("mo", SIGNS[name]);
    if (NAMES.has(name)) return element("mi", name);
    if (Object.hasOwn(SPACES, name)) {
      const made = element("mspace");
      made.setAttribute("width", SPACES[name]);
      return made;
    }
    if (Object.hasOwn(ACCENTS, name)) return element(name.startsWith("under") ? "munder" : "mover", argument(), element("mo", ACCENTS[name]));
    if (PLAIN.has(name)) return element("mtext", verbatim());
    if (STYLES.has(name)) return null;
    switch (name) {
      case "frac":
      case "dfrac":
      case "tfrac":
      case "cfrac":
        return element("mfrac", argument(), argument());
      case "binom": {
        const made = element("mfrac", argument(), argument());
        made.setAttribute("linethickness", "0");
        return element("mrow", element("mo", "("), made, element("mo", ")"));
      }
      case "sqrt": {
        skipSpace();
        if (tokens[at] !== "[") return element("msqrt", argument());
        at++;
        const index = row(["]"]);
        at++;
        return element("mroot", argument(), index);
      }
      case "boxed":
      case "fbox": {
        const made = element("mrow", argument());
        made.setAttribute("class", "boxed");
        return made;
      }
      case "left":
      case "right":
      case "middle": {
        skipSpace();
        const fence = tokens[at++] ?? ".";
        if (fence === ".") return null;
        const sign = fence.replace(/^\\/, "");
        return element("mo", sign !== fence && Object.hasOwn(SIGNS, sign) ? SIGNS[sign] : sign);
      }
      case "pmod":
        return element("mrow", element("mo", "("), element("mtext", "mod "), argument(), element("mo", ")"));
      case "mod":
      case "bmod":
        return element("mo", "mod");
      case "begin":
        return table(verbatim().replace("*", ""));
      case "\\":
      case "!":
        return null;
      default:
        return name.length === 1 ? element("mo", name) : element("mtext", token);
    }
  }

  const whole = row([]);
  const made = element("math", whole);
  if (display) made.setAttribute("display", "block");
  return made;
}
