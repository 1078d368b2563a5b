/** The numbers of a pair of questions, from which the trees decide: overlap, small words by class, what differs and where, order, form. */
import { type Pair, type Sink, share } from './compared-pair.ts'
import { haveEqualIdentifiers, type Question, readQuestion } from './question-words.ts'
import { measureRelations, measureRest } from './rest-features.ts'
import { measureSlots } from './slot-features.ts'
import { alignWords } from './word-alignment.ts'
import { askedKinds, FIRST_YES_NO_KIND } from './word-classes.ts'

/** A number's name, and the number. The names and their order are the same for every pair. */
export type Features = ReadonlyMap<string, number>

const inflections = ['s', 'd', 'ing', 'degree', 'other'] as const

/** Returns the numbers of a pair. Symmetric. */
export function pairFeatures(one: string, other: string, owner = ''): Features {
  const [first, second] = one < other ? [one, other] : [other, one]
  const questions = [readQuestion(first, owner), readQuestion(second, owner)] as const
  const alignment = alignWords(...questions)
  const wordsAt = (side: 0 | 1) => alignment.rest[side].flatMap(at => questions[side].words[at] ?? [])
  const pair: Pair = { questions, alignment, rest: [wordsAt(0), wordsAt(1)] }
  const features = new Map<string, number>()
  for (const measure of [
    measureOverlap,
    measureText,
    measureOrder,
    measureRest,
    measureRelations,
    measureSlots,
    measureCharacters,
  ])
    measure(pair, {
      set: (name, value) => features.set(name, Number(value)),
      both: (name, value, more) => {
        features.set(`${name}, less`, Math.min(value, more))
        features.set(`${name}, more`, Math.max(value, more))
      },
    })
  return features
}

function measureOverlap({ questions: [ours, theirs], alignment, rest }: Pair, { set, both }: Sink): void {
  const { partner, isMoved } = alignment
  const counts = { content: 0, movedContent: 0, movedSmall: 0, freeCase: 0, case: 0 }
  const inflected = new Map(inflections.map(name => [name, 0]))
  for (const [i, word] of ours.words.entries()) {
    const other = theirs.words[partner[i] ?? -1]
    if (!other) continue
    if (isMoved[i] === 1) counts[word.isContent ? 'movedContent' : 'movedSmall'] += 1
    if (word.isCapital !== other.isCapital) {
      const isFree = ours.isCaseless || theirs.isCaseless
      if (!isFree) counts.case += 1
      else if (word.isCaseSensitive) counts.freeCase += 1
    }
    if (!word.isContent) continue
    counts.content += 1
    if (word.text === other.text) continue
    const name = inflectionOf(word.form, other.form)
    inflected.set(name, (inflected.get(name) ?? 0) + 1)
  }
  set('in order', share(alignment.inOrder, Math.max(ours.words.length, theirs.words.length)))
  set('equal content', counts.content)
  set('equal content, of the longer', share(counts.content, Math.max(ours.content.length, theirs.content.length)))
  set('equal content, of the shorter', share(counts.content, Math.min(ours.content.length, theirs.content.length)))
  both('words', ours.words.length, theirs.words.length)
  set('words, difference', Math.abs(ours.words.length - theirs.words.length))
  both('content', ours.content.length, theirs.content.length)
  const [ourContent, theirContent] = rest.map(words => words.filter(word => word.isContent).length)
  both('rest of content', ourContent ?? 0, theirContent ?? 0)
  both('rest of small words', rest[0].length - (ourContent ?? 0), rest[1].length - (theirContent ?? 0))
  set('moved content', counts.movedContent)
  set('moved small words', counts.movedSmall)
  set('letter case', counts.case)
  set('letter case left out', counts.freeCase)
  for (const [name, count] of inflected) set(`inflection ${name}`, count)
}

function inflectionOf(one: string, other: string): (typeof inflections)[number] {
  const forms = [one, other]
  if (forms.includes('d')) return 'd'
  if (forms.includes('ing')) return 'ing'
  if (forms.includes('er') || forms.includes('est')) return 'degree'
  return forms.includes('s') && forms.includes('plain') ? 's' : 'other'
}

function measureText({ questions: [ours, theirs] }: Pair, { set, both }: Sink): void {
  set('sentences, difference', Math.abs(ours.sentencesBefore - theirs.sentencesBefore))
  set('sentences', Math.max(ours.sentencesBefore, theirs.sentencesBefore))
  both('unknown words', ours.unknownShare, theirs.unknownShare)
  set('numbers differ', ours.numbers !== theirs.numbers)
  set('has numbers', ours.numbers !== '' || theirs.numbers !== '')
  set('negation differs', ours.isNegated !== theirs.isNegated)
  set('identifiers differ', !haveEqualIdentifiers(ours, theirs))
  set('asks for the same', ours.asked === theirs.asked)
  both('asks for', ours.asked, theirs.asked)
  for (const [at, [name]] of askedKinds.entries())
    set(`one asks for ${name}`, (ours.asked === at) !== (theirs.asked === at))
  const isYesNo = ({ asked }: Question) => asked >= FIRST_YES_NO_KIND
  set('one asks for yes or no', isYesNo(ours) !== isYesNo(theirs))
}

function measureOrder({ questions: [ours, theirs], alignment: { partner } }: Pair, { set }: Sink): void {
  const order = ours.content.map(i => partner[i] ?? -1).filter(j => j >= 0)
  let inversions = 0
  for (const [at, place] of order.entries()) inversions += order.slice(at + 1).filter(later => later < place).length
  set('inversions', inversions)
  set('inversions, share', share(inversions, (order.length * (order.length - 1)) / 2))
  const [a, b] = [ours.words, theirs.words]
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start]?.text === b[start]?.text) start += 1
  let end = 0
  while (end < shorter - start && a.at(-1 - end)?.text === b.at(-1 - end)?.text) end += 1
  const longer = Math.max(a.length, b.length)
  set('equal end', end)
  set('equal end, share', share(end, longer))
  const basePairs = ({ words, content }: Question) =>
    new Set(content.slice(1).map((at, k) => `${words[content[k] ?? 0]?.base} ${words[at]?.base}`))
  const [one, other] = [basePairs(ours), basePairs(theirs)]
  set('equal neighbours', share(one.intersection(other).size, Math.max(one.size, other.size)))
}

function measureCharacters({ questions }: Pair, { set, both }: Sink): void {
  const [one, other] = questions.map(({ words }) => trigramsOf(` ${words.map(({ text }) => text).join(' ')} `)) as [
    Set<string>,
    Set<string>,
  ]
  const common = one.intersection(other).size
  set('equal letters', share(common, one.size + other.size - common))
  both('equal letters, of one', share(common, one.size), share(common, other.size))
}

function trigramsOf(text: string): Set<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 2) }, (_, at) => text.slice(at, at + 3)))
}
