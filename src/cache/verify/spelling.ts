/** Normalizes words with several spellings: British and American spelling, hyphens, numbers. */
import { parseNumberWord } from '../text/calculation.ts'
import { canContainTitle, isTechnical } from '../text/form-sensitive.ts'
import { baseFormOf, canBeProperNoun, findWordRelation, lemmasOf } from '../text/lexicon.ts'
import { functionWords, wordMap } from '../text/words.ts'

/** Letter groups that differ between British and American spelling. */
const spellings =
  /ae|oe|our(?=s?$|ed$|ing$|ite|able|ful)|[iy]s(?=e|ing$|ation)|(?<=[bt])re(?=s?$)|ogue(?=s?$)|ll(?=ed$|ing$|er)|(?<=[fc])ence(?=s?$)|mme(?=s?$)|grey|eable/
const american = wordMap('our or|is iz|ys yz|re er|ogue og|ll l|ence ense|mme m|grey gray|eable able')

/** Returns the American spelling, "favorite" for "favourite", if the lexicon has both as synonyms. */
export function normalizeSpelling(word: string): string {
  const other = word.replace(spellings, found => american.get(found) ?? 'e')
  const isOne =
    other !== word &&
    !canBeProperNoun(word) &&
    !canBeProperNoun(other) &&
    findWordRelation(baseFormOf(word), baseFormOf(other)) === 'synonym'
  return isOne ? other : word
}

/** Normalizes "second-degree burn" to "second degree burn", "twenty-five" to "25", "somebody" to "someone". Possible titles stay unchanged. */
export function normalizeWordForms(sentence: string): string {
  const words = sentence.split(' ')
  if (canContainTitle(words)) return sentence
  const split = sentence.includes('-')
    ? words.flatMap((word, at) => splitHyphen(word, words[at - 1], words[at + 1]))
    : words
  // In a program, `node-fetch` is a name, and "prints five" may be text.
  const isProgram = isTechnical(split)
  return (isProgram ? words : split)
    .map((word, at, all) => ranks.get(word) ?? (isProgram && !all[at + 1]?.endsWith('s') ? word : toFigure(word)))
    .join(' ')
    .replace(/\b(some|any|every)body\b/g, '$1one')
    .replace(/\bno[ -]one\b/g, 'nobody')
}

/** Hyphenated words that may be split; not "more-modern machines", "man-eating sharks", "state-of-the-art". */
const splittable =
  /^(?!(?:more|most|less|least|few)-|[A-Z]+-[A-Z]+$)(?:[A-Za-z]{2,}-\d+|(?:[A-Za-z]{2,}|\d+)-[A-Za-z]{2,}(?<!ing))$/

function splitHyphen(word: string, before = '', next = ''): string[] {
  if (!splittable.test(word)) return [word]
  const [first = '', second = ''] = word.split('-')
  const ten = parseNumberWord(first) ?? 0
  const figure = ten < 20 ? second : toFigure(second, ten)
  if (figure !== second) return [figure]
  // The hyphen stays after an adjective: "a small business-loan" is not a loan for small businesses.
  const isLast = next === '' || functionWords.has(next)
  return isLast && lemmasOf(before).some(({ kind }) => kind === 'a') ? [word] : [first, second]
}

const ranks = wordMap('1st first|2nd second|3rd third')
const cardinals = wordMap('first one|second two|third three|fifth five|eighth eight|ninth nine|twelfth twelve')

/** Returns a number word in figures: "5", "5th", "25th". Not "one", which may be a pronoun, nor "second" alone, which may be a time. */
function toFigure(word: string, ten = 0): string {
  const count = parseNumberWord(word)
  const cardinal = cardinals.get(word) ?? (word.endsWith('th') ? word.slice(0, -2).replace(/ie$/, 'y') : word)
  const unit = count ?? parseNumberWord(cardinal)
  if (unit === undefined || (ten > 0 && unit > 9)) return word
  const all = ten + unit
  if (count !== undefined) return all > 1 ? String(all) : word
  return all < 4 ? word : all + ((all > 20 && ['th', 'st', 'nd', 'rd'][all % 10]) || 'th')
}
