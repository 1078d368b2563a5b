/** Aligns two prompts and lists where they differ: proof names a reason from it, and people see it. */
import type { PromptReading } from '../../text/read-prompt.ts'
import type { HarmlessKind, Token } from '../../text/token.ts'
import { type DifferenceKind, differenceKind } from './difference.ts'
import { isExchange } from './exchanges.ts'

export interface AlignedDifference {
  /** The kind of difference; null when it is harmless. */
  readonly kind: DifferenceKind | null
  /** Why the difference is harmless; null when it is not. */
  readonly harmless: readonly HarmlessKind[] | null
  readonly askedText: string
  readonly cachedText: string
  /** Start of the difference in either text, in UTF-16 code units. */
  readonly askedAt: number
  readonly cachedAt: number
}

interface Place {
  readonly start: number
  readonly end: number
}

/** All differences in the order of the texts; empty for equal texts. */
export function alignDifferences(asked: PromptReading, cached: PromptReading): AlignedDifference[] {
  if (asked.text === cached.text) return []
  if (!asked.tokens || !cached.tokens) return alignVerbatim(asked, cached)
  const steps = alignTokens(asked.tokens, cached.tokens)
  const describe = (
    kind: DifferenceKind | null,
    harmless: readonly HarmlessKind[] | null,
    ours: Place,
    theirs: Place,
  ) => ({
    kind,
    harmless,
    askedText: asked.text.slice(ours.start, ours.end),
    cachedText: cached.text.slice(theirs.start, theirs.end),
    askedAt: ours.start,
    cachedAt: theirs.start,
  })
  const differences: AlignedDifference[] = []
  const excuse = excuseOf(steps, asked, cached)
  let ours: Place = { start: 0, end: 0 }
  let theirs: Place = { start: 0, end: 0 }
  for (const step of steps) {
    const [nextOurs, nextTheirs] = [placeOf(step.asked, ours.end), placeOf(step.cached, theirs.end)]
    const gap = describe(
      null,
      [ours.end === 0 ? 'courtesy' : 'white-space'],
      between(ours, nextOurs),
      between(theirs, nextTheirs),
    )
    if (step.isSame && gap.askedText !== gap.cachedText) differences.push(asGap(gap))
    const found = describe(null, null, nextOurs, nextTheirs)
    if (!step.isSame) {
      differences.push(
        excuse ? { ...found, harmless: [excuse] } : { ...found, kind: differenceKind(step.asked, step.cached) },
      )
    } else if (found.askedText !== found.cachedText) differences.push({ ...found, harmless: rewritingOf(step) })
    ours = nextOurs
    theirs = nextTheirs
  }
  const tail = describe(
    null,
    ['closing-mark'],
    { start: ours.end, end: asked.text.length },
    { start: theirs.end, end: cached.text.length },
  )
  if (tail.askedText !== tail.cachedText) differences.push(asTail(tail))
  return withoutRepeats(differences)
}

function between(before: Place, next: Place): Place {
  return { start: before.end, end: Math.max(before.end, next.start) }
}

function placeOf(tokens: readonly Token[], fallback: number): Place {
  const first = tokens[0]
  const last = tokens.at(-1)
  return first && last ? { start: first.start, end: last.end } : { start: fallback, end: fallback }
}

/** Before the first token there can be courtesy, or white space only. */
function asGap(gap: AlignedDifference): AlignedDifference {
  const isBlank = gap.askedText.trim() === '' && gap.cachedText.trim() === ''
  return isBlank
    ? { ...gap, harmless: ['white-space'] }
    : gap.askedAt === 0
      ? gap
      : { ...gap, harmless: ['frame-word'] }
}

function asTail(tail: AlignedDifference): AlignedDifference {
  if (/^\s*$/.test(tail.askedText) && /^\s*$/.test(tail.cachedText)) return { ...tail, harmless: ['white-space'] }
  return /\p{L}/u.test(tail.askedText + tail.cachedText) ? { ...tail, harmless: ['courtesy'] } : tail
}

function rewritingOf({ asked, cached }: Step): readonly HarmlessKind[] {
  const ours = new Set(asked.flatMap(token => token.rewritten))
  const theirs = new Set(cached.flatMap(token => token.rewritten))
  const apart = [...ours.symmetricDifference(theirs)]
  return apart.length > 0 ? apart : [...ours]
}

interface Step {
  readonly asked: readonly Token[]
  readonly cached: readonly Token[]
  readonly isSame: boolean
}

/** Why the only differing stretch is harmless; null when it is not, or there are several. */
function excuseOf(steps: readonly Step[], asked: PromptReading, cached: PromptReading): HarmlessKind | null {
  const [step, ...more] = steps.filter(({ isSame }) => !isSame)
  if (!step || more.length > 0) return null
  return isSynonymStep(step, asked.tokens ?? [], cached.tokens ?? []) ? 'synonym' : null
}

function isSynonymStep(step: Step, ours: readonly Token[], theirs: readonly Token[]): boolean {
  const [token] = step.asked
  const at = token ? ours.indexOf(token) : -1
  return (
    step.asked.length === 1 && step.cached.length === 1 && ours.length === theirs.length && isExchange(ours, theirs, at)
  )
}

/** The longest common subsequence of two short lists, as equal stretches of one token each, and differing stretches. */
function alignTokens(ours: readonly Token[], theirs: readonly Token[]): Step[] {
  const lengths = commonLengths(ours, theirs)
  const steps: Step[] = []
  let [asked, cached]: [Token[], Token[]] = [[], []]
  const close = () => {
    if (asked.length + cached.length > 0) steps.push({ asked, cached, isSame: false })
    asked = []
    cached = []
  }
  for (let i = 0, j = 0; i < ours.length || j < theirs.length; ) {
    const [mine, other] = [ours[i], theirs[j]]
    if (mine && other && mine.key === other.key) {
      close()
      steps.push({ asked: [mine], cached: [other], isSame: true })
      i += 1
      j += 1
    } else if (other && (!mine || (lengths[i]?.[j + 1] ?? 0) >= (lengths[i + 1]?.[j] ?? 0))) {
      cached.push(other)
      j += 1
    } else if (mine) {
      asked.push(mine)
      i += 1
    }
  }
  close()
  return steps
}

/** Length of the longest common subsequence from each pair of positions on. Both lists are short, because only prose has tokens. */
function commonLengths(ours: readonly Token[], theirs: readonly Token[]): number[][] {
  const lengths = Array.from({ length: ours.length + 1 }, () => new Array<number>(theirs.length + 1).fill(0))
  for (let i = ours.length - 1; i >= 0; i -= 1) {
    for (let j = theirs.length - 1; j >= 0; j -= 1) {
      const isSame = ours[i]?.key === theirs[j]?.key
      const [row, below] = [lengths[i] ?? [], lengths[i + 1] ?? []]
      row[j] = isSame ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  return lengths
}

/** Several tokens at one position count as one difference. */
function withoutRepeats(differences: readonly AlignedDifference[]): AlignedDifference[] {
  return differences.filter((difference, at) => {
    const before = differences[at - 1]
    return (
      before?.askedAt !== difference.askedAt ||
      before.cachedAt !== difference.cachedAt ||
      before.kind !== difference.kind
    )
  })
}

/** Characters shown around the position where two texts part. */
const SHOWN_CHARS = 80

function alignVerbatim(asked: PromptReading, cached: PromptReading): AlignedDifference[] {
  const [ours, theirs] = [asked.text.search(/\S/), cached.text.search(/\S/)].map(at => Math.max(0, at)) as [
    number,
    number,
  ]
  let at = 0
  while (at < asked.normalized.length && asked.text[ours + at] === cached.text[theirs + at]) at += 1
  const isEqual = asked.normalized === cached.normalized
  return [
    {
      kind: isEqual ? null : 'verbatim',
      harmless: isEqual ? [asked.text.trim() === cached.text.trim() ? 'white-space' : 'typography'] : null,
      askedText: asked.text.slice(ours + at, ours + at + SHOWN_CHARS),
      cachedText: cached.text.slice(theirs + at, theirs + at + SHOWN_CHARS),
      askedAt: ours + at,
      cachedAt: theirs + at,
    },
  ]
}
