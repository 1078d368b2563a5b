/** The numbers of a pair of questions, from which the trees decide: overlap, small words by class, what differs and where, order, form. */
import { COSINE, countCommon, EDITS, Features, type Pair, share } from './compared-pair.ts'
import { nameEdits } from './edits.ts'
import { haveEqualIdentifiers, type Question } from './question-words.ts'
import { measureRelations, measureRest } from './rest-features.ts'
import { measureSlots } from './slot-features.ts'
import { weighEdits } from './trees.ts'
import { alignWords } from './word-alignment.ts'
import { FIRST_YES_NO_KIND } from './word-classes.ts'

/** Returns the numbers of a pair; with `cosine`, also that. Symmetric. Training weighs the edits by weights of its own. */
export function pairFeatures(
  one: Question,
  other: Question,
  cosine: number | null = null,
  weigh = weighEdits,
): Features {
  const questions = one.normalized < other.normalized ? ([one, other] as const) : ([other, one] as const)
  const alignment = alignWords(...questions)
  const wordsAt = (side: 0 | 1) => alignment.rest[side].flatMap(at => questions[side].words[at] ?? [])
  const pair: Pair = { questions, alignment, rest: [wordsAt(0), wordsAt(1)] }
  const features = new Features()
  for (const measure of measures) measure(pair, features)
  features.set(EDITS, weigh(nameEdits(pair), cosine))
  if (cosine !== null) features.set(COSINE, cosine)
  return features
}

const measures = [measureOverlap, measureText, measureOrder, measureRest, measureRelations, measureSlots]

function measureOverlap({ questions: [ours, theirs], alignment, rest }: Pair, features: Features): void {
  const { partner, isMoved } = alignment
  const counts = { content: 0, movedContent: 0, movedSmall: 0, freeCase: 0, case: 0 }
  for (const [i, word] of ours.words.entries()) {
    const other = theirs.words[partner[i] ?? -1]
    if (!other) continue
    if (isMoved[i] === 1) counts[word.isContent ? 'movedContent' : 'movedSmall'] += 1
    if (word.isCapital !== other.isCapital) {
      const isFree = ours.isCaseless || theirs.isCaseless
      if (!isFree) counts.case += 1
      else if (word.isCaseSensitive) counts.freeCase += 1
    }
    if (word.isContent) counts.content += 1
  }
  features.set('in order', share(alignment.inOrder, Math.max(ours.words.length, theirs.words.length)))
  features.set('equal content', counts.content)
  features.set(
    'equal content, of the longer',
    share(counts.content, Math.max(ours.content.length, theirs.content.length)),
  )
  features.set(
    'equal content, of the shorter',
    share(counts.content, Math.min(ours.content.length, theirs.content.length)),
  )
  features.both('words', ours.words.length, theirs.words.length)
  features.set('words, difference', Math.abs(ours.words.length - theirs.words.length))
  features.both('content', ours.content.length, theirs.content.length)
  const [ourContent, theirContent] = rest.map(words => words.filter(word => word.isContent).length)
  features.both('rest of content', ourContent ?? 0, theirContent ?? 0)
  features.both('rest of small words', rest[0].length - (ourContent ?? 0), rest[1].length - (theirContent ?? 0))
  features.set('moved content', counts.movedContent)
  features.set('moved small words', counts.movedSmall)
  features.set('letter case', counts.case)
  features.set('letter case left out', counts.freeCase)
}

function measureText({ questions: [ours, theirs] }: Pair, features: Features): void {
  features.set('sentences, difference', Math.abs(ours.sentencesBefore - theirs.sentencesBefore))
  features.set('sentences', Math.max(ours.sentencesBefore, theirs.sentencesBefore))
  features.both('unknown words', ours.parts.unknownShare, theirs.parts.unknownShare)
  features.set('numbers differ', ours.numbers !== theirs.numbers)
  features.set('has numbers', ours.numbers !== '' || theirs.numbers !== '')
  features.set('negation differs', ours.isNegated !== theirs.isNegated)
  features.set('identifiers differ', !haveEqualIdentifiers(ours, theirs))
  features.set('asks for the same', ours.parts.asked === theirs.parts.asked)
  features.both('asks for', ours.parts.asked, theirs.parts.asked)
  const isYesNo = ({ parts }: Question) => parts.asked >= FIRST_YES_NO_KIND
  features.set('one asks for yes or no', isYesNo(ours) !== isYesNo(theirs))
}

function measureOrder({ questions: [ours, theirs], alignment: { partner } }: Pair, features: Features): void {
  const order = ours.content.map(i => partner[i] ?? -1).filter(j => j >= 0)
  let inversions = 0
  for (const [at, place] of order.entries()) inversions += order.slice(at + 1).filter(later => later < place).length
  features.set('inversions', inversions)
  features.set('inversions, share', share(inversions, (order.length * (order.length - 1)) / 2))
  const [a, b] = [ours.words, theirs.words]
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start]?.text === b[start]?.text) start += 1
  let end = 0
  while (end < shorter - start && a.at(-1 - end)?.text === b.at(-1 - end)?.text) end += 1
  const longer = Math.max(a.length, b.length)
  features.set('equal end', end)
  features.set('equal end, share', share(end, longer))
  const [one, other] = [ours.parts.neighbours, theirs.parts.neighbours]
  features.set('equal neighbours', share(countCommon(one, other), Math.max(one.size, other.size)))
}
