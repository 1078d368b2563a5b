/** The values of X-Proxy-Cache-Reason, which explain a hit or a miss, with their descriptions. */

/** Kinds of differences between two prompts that prevent a match. They follow `unverified:` or `unproved:`. */
const DIFFERENCES = {
  verbatim: 'literal text',
  number: 'number',
  negation: 'negation',
  modality: 'can, may, must',
  person: 'grammatical person',
  'letter-case': 'capital letters',
  quotation: 'quotation',
  sign: 'sign',
  'added-words': 'additional words',
  identifier: 'identifier, unit or symbol',
  opposite: 'opposite',
  words: 'other words',
  verdict: 'a verdict',
} as const

/** The kind of difference that prevents a match. */
export type MismatchReason = keyof typeof DIFFERENCES

/** Returns whether a difference of this kind between two wordings is what prevented their match. Two laws name no kind of difference in the text. */
export function preventsMatch(kind: string, mismatch: string | null): boolean {
  return mismatch === kind || mismatch === 'identifier' || mismatch === 'opposite'
}

const HITS = {
  exact: 'The response to an identical request is cached.',
  coalesced: 'An identical request was in flight.',
  normalized: 'A cached question is equal after normalization.',
  verified: 'The verifier finds that a cached question asks the same.',
  judged: 'A person or the judge confirmed that a cached question asks the same.',
  threshold: 'The similarity of a cached question reaches the threshold.',
} as const

const MISSES = {
  'no-candidate': 'No cached question is comparable.',
  'below-threshold': 'No cached question is similar enough.',
  'no-vector': 'No vector was ready in time.',
  fresh: 'The question is about the present, so an earlier response may be outdated.',
  action: 'The request asks for an action.',
  tools: 'The response may call tools.',
  context:
    'The rest of the request has the model work on the wording of the question, so that only equal text matches.',
  'no-store': 'The request forbids a cached response.',
  'old-version': 'A newer X-Proxy-Cache-Version of the name is known.',
  shadow: 'In shadow mode, a hit is recorded, but not served.',
  refused: 'The hook rejected the cached response under its current rules.',
  off: 'The project’s settings exclude the request from the cache.',
} as const

/** Miss reasons that are followed by a colon and a difference. */
const MISMATCHES = {
  unverified: 'The most similar cached question differs.',
  unproved: 'The most similar cached question differs, under the policy `proved`.',
} as const

export type HitReason = keyof typeof HITS

/** The reason of a miss. */
export type MissReason = keyof typeof MISSES | `${keyof typeof MISMATCHES}:${MismatchReason}`

/** Returns the name of the difference that prevented a match. Null means that similarity was too low. */
export function describeMismatch(kind: string | null): string {
  return kind === null ? 'not similar enough' : (lookUpOwn(DIFFERENCES, kind) ?? kind)
}

/** Returns a sentence about a reason. */
export function describeReason(reason: string): string {
  const [kind = '', difference] = reason.split(':')
  if (difference === 'verdict') return 'A person marked it as different from the most similar cached question.'
  if (difference !== undefined) return `The most similar cached question differs: ${describeMismatch(difference)}.`
  return lookUpOwn<string>({ ...HITS, ...MISSES }, kind) ?? reason
}

/** Returns the reasons of hits and misses, and the differences that may follow a colon, for the docs. */
export function listReasons(): Record<'hits' | 'misses' | 'differences', readonly (readonly [string, string])[]> {
  return {
    hits: Object.entries(HITS),
    misses: [
      ...Object.entries(MISSES),
      ...Object.entries(MISMATCHES).map(([kind, description]) => [`${kind}:<difference>`, description] as const),
    ],
    differences: Object.entries(DIFFERENCES),
  }
}

function lookUpOwn<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
