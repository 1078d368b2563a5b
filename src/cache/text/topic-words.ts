/** Finds the topic words of a prompt: its rarest content words, by base form. Only prompts that share one are compared. */
import { wordWeightOf } from '../embedders/lexical-features.ts'
import { canonicalSynonymOf } from './canonical-synonym.ts'
import { countSenses, lemmasOf } from './lexicon.ts'
import { auxiliaries, functionWords, questionWords, requestVerbs } from './words.ts'

/** Topic words of a prompt. The first three are stored. Another wording mostly has one of them among its first four. */
const MAX_TOPIC_WORDS = 4
/** Characters that are read. Longer texts are not questions. */
const MAX_CHARS = 4_000

const word = /[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*|\p{N}+(?:[.,:]\p{N}+)*/gu
const number = /\p{N}/u

/** Returns the topic words of a normalized text, the rarest first. A text of small words only has those. */
export function topicWordsOf(normalized: string): readonly string[] {
  const rarities = new Map<string, number>()
  const small: string[] = []
  for (const [found] of normalized.slice(0, MAX_CHARS).toLowerCase().matchAll(word)) {
    const written = found.replace(/['’]s$/, '')
    if (isFunctionWord(written)) continue
    const base = shortestBaseOf(written)
    if (isSmall(written) || isSmall(base)) small.push(base)
    else rarities.set(base, rarityOf(base))
  }
  const ranked = [...rarities].sort(
    ([one, ours], [other, theirs]) => ours - theirs || other.length - one.length || (one < other ? -1 : 1),
  )
  return (ranked.length > 0 ? ranked.map(([base]) => base) : small).slice(0, MAX_TOPIC_WORDS)
}

function isFunctionWord(word: string): boolean {
  return functionWords.has(word) || auxiliaries.has(word) || questionWords.has(word)
}

/** Returns whether a word says little about the topic: "best", "explain". */
function isSmall(word: string): boolean {
  return requestVerbs.has(word) || wordWeightOf(word) < 1
}

/** Returns the shortest base form that a lower-case word may have, as its canonical synonym: "swim" for "swimming", "card" for "cards". */
function shortestBaseOf(word: string): string {
  let base = word
  for (const lemma of lemmasOf(word)) if (lemma.word.length < base.length) base = lemma.word
  return canonicalSynonymOf(base)
}

/** Returns a low number for rare words. Words with many senses are frequent. Numbers, names and unknown words have none. Verbs and adjectives are reworded more than nouns. */
function rarityOf(base: string): number {
  if (number.test(base)) return 0
  return countSenses(base, 'n') + 2 * (countSenses(base, 'v') + countSenses(base, 'a') + countSenses(base, 'r'))
}
