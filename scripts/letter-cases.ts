/** Determines how a word is mostly written, from the log probabilities of its forms in spaCy's lookup tables. */

interface Case {
  /** Shares of all its occurrences: in lower case, with an initial capital, in capitals. */
  small: number
  capitalised: number
  capitals: number
}

/** Words below this probability have unreliable shares. */
const RAREST = 1e-7

/** Returns the shares by word in lower case. */
export function readCases(table: string): ReadonlyMap<string, Case> {
  const found = new Map<string, Case & { all: number }>()
  for (const [form, logarithm] of Object.entries<number>(JSON.parse(table))) {
    if (!/^[A-Za-z]{2,}$/.test(form)) continue
    const [word, probability] = [form.toLowerCase(), Math.exp(logarithm)]
    const known = found.get(word) ?? { small: 0, capitalised: 0, capitals: 0, all: 0 }
    known.all += probability
    if (form === word) known.small += probability
    else if (form === form.toUpperCase()) known.capitals += probability
    else if (form.slice(1) === word.slice(1)) known.capitalised += probability
    found.set(word, known)
  }
  return new Map(
    [...found]
      .filter(([, { all }]) => all > RAREST)
      .map(([word, { small, capitalised, capitals, all }]) => [
        word,
        { small: small / all, capitalised: capitalised / all, capitals: capitals / all },
      ]),
  )
}
