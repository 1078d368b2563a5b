/** Expands contractions: "what's" is "what is", "can not" is "cannot". */
import { contractions, wouldFollowers } from './tables.ts'

/** The words with contractions expanded before index `end`; punctuation around a word stays where it was. */
export function expandContractions(words: readonly string[], end: number): string[] {
  const expanded: string[] = []
  for (const [at, word] of words.entries()) {
    if (at >= end) expanded.push(word)
    else expandWord(word, words[at + 1], expanded)
  }
  return expanded
}

function expandWord(word: string, next: string | undefined, expanded: string[]): void {
  const [from, to] = coreOf(word)
  const core = word.slice(from, to)
  if (core === 'not' && from === 0 && expanded.at(-1) === 'can') {
    expanded[expanded.length - 1] = `can${word}`
    return
  }
  const full = contractions.get(core) ?? expandWould(core, next)
  if (full === undefined) expanded.push(word)
  else expanded.push(...(word.slice(0, from) + full + word.slice(to)).split(' '))
}

function expandWould(core: string, next: string | undefined): string | undefined {
  if (!core.endsWith("'d") || next === undefined || !wouldFollowers.has(next)) return undefined
  return `${core.slice(0, -2)} would`
}

function coreOf(word: string): [from: number, to: number] {
  let from = 0
  let to = word.length
  while (from < to && '([{"'.includes(word[from] ?? '')) from += 1
  while (to > from && ',.;!?…)]}"'.includes(word[to - 1] ?? '')) to -= 1
  return [from, to]
}
