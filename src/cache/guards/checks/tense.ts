/** Vetoes when one question is about what was and the other about what will be, or one about what is and the other about what was, where that is the point. */
import type { Guard, GuardFeatures } from '../guard.ts'

type Tense = 'past' | 'present' | 'future'

const tenses = new Map<string, Tense>([
  ['was', 'past'],
  ['were', 'past'],
  ['did', 'past'],
  ['had', 'past'],
  ["wasn't", 'past'],
  ["weren't", 'past'],
  ["didn't", 'past'],
  ['is', 'present'],
  ['are', 'present'],
  ["who's", 'present'],
  ["what's", 'present'],
  ['does', 'present'],
  ['do', 'present'],
  ['will', 'future'],
  ['shall', 'future'],
  ["won't", 'future'],
])

export const tense: Guard<'tense'> = {
  name: 'tense',
  differs: ({ asked, cached }) => {
    const [one, other] = [tenseOf(asked), tenseOf(cached)]
    if (one === undefined || other === undefined || one === other) return false
    if (one !== 'present' && other !== 'present') return true
    return (['who', 'yes or no'] as const).some(kind => asked.kinds.has(kind) && cached.kinds.has(kind))
  },
}

function tenseOf({ tokens }: GuardFeatures): Tense | undefined {
  for (const token of tokens.slice(0, 6)) {
    const found = tenses.get(token.key)
    if (found !== undefined) return found
  }
  return undefined
}
