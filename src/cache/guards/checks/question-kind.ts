/** Vetoes when two questions ask for different things about the same words: who, when, where, why, how many, yes or no. */
import type { Comparison, Guard, Leftover } from '../guard.ts'
import type { QuestionKind } from '../reading/question-kind.ts'

/** Kinds that may be asked for in each other's words. */
const interchangeable = new Set([
  'what which',
  'how what',
  'how which',
  'how long when',
  'how many what',
  'how many which',
  'how much what',
  'how much which',
  'how long what',
  'how long which',
  'how often what',
  'how far what',
  'how old what',
  'how degree what',
  'which who',
  'where which',
  'how degree yes or no',
])

/** "What company made …" asks who, "what makes … blue" asks why: with a word more, "what" may stand for these. */
const spelledOut = new Set<QuestionKind>(['who', 'when', 'where', 'why'])

export const questionKind: Guard<'question-kind'> = {
  name: 'question-kind',
  differs: comparison => {
    const { asked, cached } = comparison
    for (const one of asked.kinds) for (const other of cached.kinds) if (areAlike(one, other, comparison)) return false
    return true
  },
}

function areAlike(one: QuestionKind, other: QuestionKind, { onlyAsked, onlyCached }: Comparison): boolean {
  if (one === other || one === 'open' || other === 'open') return true
  if (interchangeable.has([one, other].sort().join(' '))) return true
  return spellsOut(one, other, onlyAsked) || spellsOut(other, one, onlyCached)
}

function spellsOut(general: QuestionKind, particular: QuestionKind, extra: readonly Leftover[]): boolean {
  return (general === 'what' || general === 'which') && spelledOut.has(particular) && extra.length > 0
}
