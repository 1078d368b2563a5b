/** The distinct questions of labelled pairs in their order, and which of them are equal. */
import type { LabelledPair } from '../pairs.ts'

/** The known relation of two questions. */
export interface Verdict {
  /** By the label of the pair, or by labels that connect the two. Otherwise they count as different. */
  readonly isSame: boolean
  /** By a person's verdict; by label if no person read the pair. */
  readonly isSameByHand: boolean
  /** Whether the pair itself has a label. */
  readonly isLabelled: boolean
}

export interface Questions {
  add(pair: LabelledPair): void
  /** The first `most` questions. */
  first(most: number): string[]
  /** Compares two questions by their numbers. */
  verdictOf(one: number, other: number): Verdict
}

export function createQuestions(): Questions {
  const numbers = new Map<string, number>()
  /** By question: an equal question, or itself. The last one in a chain represents all (union-find). */
  const leaders: number[] = []
  const said = new Map<string, Pick<LabelledPair, 'label' | 'hand'>>()

  function numberOf(text: string): number {
    const number = numbers.get(text) ?? numbers.size
    if (number === numbers.size) {
      numbers.set(text, number)
      leaders.push(number)
    }
    return number
  }

  function leaderOf(number: number): number {
    let at = number
    for (let next = leaders[at] ?? at; next !== at; next = leaders[at] ?? at) {
      leaders[at] = leaders[next] ?? next
      at = next
    }
    return at
  }

  return {
    add({ a, b, label, hand }) {
      const [one, other] = [numberOf(a), numberOf(b)]
      said.set(nameOf(one, other), hand === undefined ? { label } : { label, hand })
      if (label === 1) leaders[leaderOf(one)] = leaderOf(other)
    },
    first: most => [...numbers.keys().take(most)],
    verdictOf(one, other) {
      const own = said.get(nameOf(one, other))
      const isSame = own ? own.label === 1 : leaderOf(one) === leaderOf(other)
      return { isSame, isSameByHand: own?.hand === undefined ? isSame : own.hand === 1, isLabelled: own !== undefined }
    },
  }
}

function nameOf(one: number, other: number): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`
}
