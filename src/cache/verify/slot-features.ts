/** The numbers of the small words before the words that have a counterpart. */
import type { Pair, Sink } from './compared-pair.ts'
import type { Question } from './question-words.ts'
import { type WordClass, wordClasses } from './word-classes.ts'

const articles: readonly WordClass[] = ['a', 'the', 'my', 'your', 'their']
const prepositions: readonly WordClass[] = ['in', 'to', 'from', 'of', 'for', 'with', 'by', 'about', 'between', 'before']

/** Compares the small words before content words that have a counterpart: article and owner, preposition, any class. */
export function measureSlots(
  { questions: [ours, theirs], alignment: { partner, isMoved } }: Pair,
  { set }: Sink,
): void {
  const byClass = new Map<WordClass, number>()
  const counts = {
    'a for the': 0,
    'article left out': 0,
    'owner left out': 0,
    'owner for an article': 0,
    'another owner': 0,
    'another preposition': 0,
    'preposition left out': 0,
    'moved with its words': 0,
    'moved without its words': 0,
  }
  for (const i of ours.content) {
    const j = partner[i] ?? -1
    if (j < 0) continue
    const [one, other] = [smallWordsBefore(ours, i), smallWordsBefore(theirs, j)]
    const changed = one.symmetricDifference(other)
    for (const name of changed) byClass.set(name, (byClass.get(name) ?? 0) + 1)
    const [article, otherArticle] = [one, other]
      .map(slot => articles.findIndex(name => slot.has(name)))
      .sort((x, y) => x - y) as [number, number]
    if (article !== otherArticle) counts[nameArticleChange(article, otherArticle)] += 1
    const added = (slot: ReadonlySet<WordClass>, than: ReadonlySet<WordClass>) =>
      prepositions.some(name => slot.has(name) && !than.has(name))
    const [ourAdded, theirAdded] = [added(one, other), added(other, one)]
    if (ourAdded && theirAdded) counts['another preposition'] += 1
    else if (ourAdded || theirAdded) counts['preposition left out'] += 1
    if (isMoved[i] === 1) counts[changed.size === 0 ? 'moved with its words' : 'moved without its words'] += 1
  }
  for (const [name, count] of Object.entries(counts)) set(name, count)
  for (const name of wordClasses) set(`before a word: ${name}`, byClass.get(name) ?? 0)
}

function nameArticleChange(one: number, other: number) {
  if (one === -1) return other <= 1 ? 'article left out' : 'owner left out'
  if (other <= 1) return 'a for the'
  return one <= 1 ? 'owner for an article' : 'another owner'
}

function smallWordsBefore({ words }: Question, at: number): Set<WordClass> {
  const found = new Set<WordClass>()
  for (let before = at - 1; before >= 0 && words[before]?.isContent === false; before -= 1) {
    const { wordClass } = words[before] ?? {}
    if (wordClass) found.add(wordClass)
  }
  return found
}
