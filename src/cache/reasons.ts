/** The values of X-Proxy-Cache-Reason, which explain a hit or a miss, with their descriptions for pages, docs and the monthly report. */

/** Kinds of differences between two prompts that prevent a match. They follow `unverified:` or `unproved:`. */
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

/** The kind of difference that prevents a match. */
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
  /** Description of one request's miss. */
  description: string
  /** Description in the monthly report, for many requests. */
  reported: string
}

const MISSES = {
  'no-candidate': {
    description: 'Nothing that is stored is comparable.',
    reported: 'nobody had asked anything like it',
  },
  'below-threshold': {
    description: 'Nothing that is stored is similar enough.',
    reported: 'the nearest question was too far from it',
  },
  'no-vector': {
    description: 'No vector was ready in time.',
    reported: 'it could not be compared in time',
  },
  fresh: {
    description: 'It asks about the present, so an earlier answer may be outdated.',
    reported: 'the answer depends on when it is asked',
  },
  action: { description: 'It asks for something to be done.', reported: 'it asks for something to be done' },
  tools: { description: 'Its answer may call tools.', reported: 'the answer calls tools' },
  'no-store': { description: 'The request forbids a cached answer.', reported: 'the client wanted no stored answer' },
  shadow: {
    description: 'The project is in shadow mode: it would have been a hit.',
    reported: 'the cache only watched (shadow mode)',
  },
  refused: {
    description: 'The hook refused the stored answer under its present rules.',
    reported: 'new rules refused the stored answer',
  },
  off: {
    description: 'The project’s settings exclude it from the cache.',
    reported: 'the project allows exact matches only',
  },
} as const satisfies Record<string, Miss>

/** Miss reasons that are followed by a colon and a difference. */
const MISMATCHES = {
  unverified: {
    description: 'The nearest stored question differs.',
    reported: 'a similar question was answered, and something spoke against it',
  },
  unproved: {
    description: 'The nearest stored question differs, under the policy `proved`.',
    reported: 'a similar question was answered, and not proved to ask the same',
  },
} as const satisfies Record<string, Miss>

export type HitReason = keyof typeof HITS

/** The reason of a miss. */
export type MissReason = keyof typeof MISSES | `${keyof typeof MISMATCHES}:${MismatchReason}`

/** Returns the name of the difference that prevented a match. Null means that similarity was too low. */
export function describeMismatch(kind: string | null): string {
  return kind === null ? 'not similar enough' : (lookUpOwn(DIFFERENCES, kind) ?? kind)
}

/** Returns a sentence about one request's reason. */
export function describeReason(reason: string): string {
  const [kind = '', difference] = reason.split(':')
  if (difference === 'verdict') return 'A person called it different from the nearest stored question.'
  if (difference !== undefined) return `The nearest stored question differs: ${describeMismatch(difference)}.`
  return lookUpOwn(HITS, kind) ?? lookUpOwn<Miss>(MISSES, kind)?.description ?? reason
}

/** Returns a miss reason's description for the monthly report. An empty reason means that none was recorded. */
export function describeMissForReport(reason: string): string {
  const [kind = '', difference] = reason.split(':')
  if (kind === '') return 'it is not cached, or no reason was recorded'
  const reported = lookUpOwn<Miss>({ ...MISSES, ...MISMATCHES }, kind)?.reported ?? reason
  return difference === undefined ? reported : `${reported}: ${difference}`
}

/** Returns the reasons of hits and misses, and the differences that may follow a colon, for the docs. */
export function listReasons(): Record<'hits' | 'misses' | 'differences', readonly (readonly [string, string])[]> {
  return {
    hits: Object.entries(HITS),
    misses: [
      ...Object.entries(MISSES).map(([reason, { description }]) => [reason, description] as const),
      ...Object.entries(MISMATCHES).map(([kind, { description }]) => [`${kind}:<difference>`, description] as const),
    ],
    differences: Object.entries(DIFFERENCES),
  }
}

function lookUpOwn<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
