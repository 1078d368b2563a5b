/** Why something was served from the cache, or nothing was: every X-Proxy-Cache-Reason, in words for pages, docs and the monthly report. */

/** Differences between two questions, by which one does not answer the other. Shown behind `unverified:` or `unproved:`. */
const DIFFERENCES = {
  verbatim: 'text compared literally',
  number: 'number',
  negation: 'negation',
  modality: 'can, may, must',
  person: 'who is spoken of',
  'letter-case': 'capital letters',
  quotation: 'quotation',
  sign: 'sign',
  'added-words': 'additional words',
  prose: 'no plain question',
  wording: 'about wording',
  short: 'too few words',
  question: 'another kind of question',
  turn: 'small words that turn the sense',
  order: 'order of words',
  opposite: 'opposite',
  neighbour: 'neighbouring thing',
  inflection: 'tense or number',
  words: 'other words',
  verdict: 'a verdict',
} as const

/** Names of differences, to choose from. */
export type MismatchReason = keyof typeof DIFFERENCES

const HITS = {
  exact: 'Exactly this request is stored.',
  coalesced: 'The same request was being answered at that moment.',
  normalized: 'A stored question has the same wording, but for how it is written.',
  verified: 'A stored question is similar, and nothing speaks against it.',
  judged: 'A person, or the judge, confirmed a stored question to be the same.',
  threshold: 'A stored question is similar enough.',
} as const

interface Miss {
  /** Of one request. */
  says: string
  /** To people who pay, of many requests. */
  reported: string
}

const MISSES = {
  'no-candidate': {
    says: 'Nothing that is stored is comparable.',
    reported: 'nobody had asked anything like it',
  },
  'below-threshold': {
    says: 'Nothing that is stored is similar enough.',
    reported: 'the nearest question was too far from it',
  },
  'no-vector': {
    says: 'No vector was ready in time.',
    reported: 'it could not be compared in time',
  },
  fresh: {
    says: 'It asks about the present, so an earlier answer may be outdated.',
    reported: 'the answer depends on when it is asked',
  },
  action: { says: 'It asks for something to be done.', reported: 'it asks for something to be done' },
  tools: { says: 'Its answer may call tools.', reported: 'the answer calls tools' },
  'no-store': { says: 'The request forbids a cached answer.', reported: 'the client wanted no stored answer' },
  shadow: {
    says: 'The project is in shadow mode: it would have been a hit.',
    reported: 'the cache only watched (shadow mode)',
  },
  refused: {
    says: 'The hook refused the stored answer under its present rules.',
    reported: 'new rules refused the stored answer',
  },
  off: {
    says: 'The project’s settings exclude it from the cache.',
    reported: 'the project allows exact matches only',
  },
} as const satisfies Record<string, Miss>

/** Those that name a difference behind a colon. */
const APART = {
  unverified: {
    says: 'The nearest stored question differs.',
    reported: 'a similar question was answered, and something spoke against it',
  },
  unproved: {
    says: 'The nearest stored question differs, under the policy `proved`.',
    reported: 'a similar question was answered, and not proved to ask the same',
  },
} as const satisfies Record<string, Miss>

export type HitReason = keyof typeof HITS

/** Why nothing was served. */
export type MissReason = keyof typeof MISSES | `${keyof typeof APART}:${MismatchReason}`

/** Names the difference that kept a pair apart. `null` means that similarity was too low. */
export function describeMismatch(kind: string | null): string {
  return kind === null ? 'not similar enough' : (read(DIFFERENCES, kind) ?? kind)
}

/** A reason in a sentence, about one request. */
export function describeReason(reason: string): string {
  const [kind = '', difference] = reason.split(':')
  if (difference === 'verdict') return 'A person called it different from the nearest stored question.'
  if (difference !== undefined) return `The nearest stored question differs: ${describeMismatch(difference)}.`
  return read(HITS, kind) ?? read<Miss>(MISSES, kind)?.says ?? reason
}

/** A miss's reason as the monthly report has it; '' for what has none. */
export function describeMissForReport(reason: string): string {
  const [kind = '', difference] = reason.split(':')
  if (kind === '') return 'it is not cached, or no reason was recorded'
  const reported = read<Miss>({ ...MISSES, ...APART }, kind)?.reported ?? reason
  return difference === undefined ? reported : `${reported}: ${difference}`
}

/** For the docs: reasons of hits, of misses, and what may stand behind a colon. */
export function listReasons(): Record<'hits' | 'misses' | 'differences', readonly (readonly [string, string])[]> {
  return {
    hits: Object.entries(HITS),
    misses: [
      ...Object.entries(MISSES).map(([reason, { says }]) => [reason, says] as const),
      ...Object.entries(APART).map(([kind, { says }]) => [`${kind}:<difference>`, says] as const),
    ],
    differences: Object.entries(DIFFERENCES),
  }
}

function read<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
