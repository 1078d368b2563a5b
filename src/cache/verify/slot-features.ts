/** The numbers of the small words before the words that have a counterpart. */
import { type Features, named, type Pair } from './compared-pair.ts'
import { type WordClass, wordClasses } from './word-classes.ts'

const articles: readonly WordClass[] = ['a', 'the', 'my', 'your', 'their']
const prepositions: readonly WordClass[] = ['in', 'to', 'from', 'of', 'for', 'with', 'by', 'about', 'between', 'before']

const slotNames = named('before a word: ', wordClasses)

/** Compares the small words before content words that have a counterpart: article and owner, preposition, any class. */
export function measureSlots(
  { questions: [ours, theirs], alignment: { partner, isMoved } }: Pair,
  features: Features,
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
    const [one, other] = [ours.parts.slots[i], theirs.parts.slots[j]]
    if (!one || !other) continue
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
  for (const [name, count] of Object.entries(counts)) features.set(name, count)
  for (const { key, name } of slotNames) features.set(name, byClass.get(key) ?? 0)
}

function nameArticleChange(one: number, other: number) {
  if (one === -1) return other <= 1 ? 'article left out' : 'owner left out'
  if (other <= 1) return 'a for the'
  return one <= 1 ? 'owner for an article' : 'another owner'
}
