/** Writes words that can be written in several ways in one: spelling, hyphens, numbers. */
import { parseNumberWord } from '../text/calculation.ts'
import { canContainTitle, isTechnical } from '../text/form-sensitive.ts'
import { baseFormOf, canBeName, findWordRelation, lemmasOf } from '../text/lexicon.ts'
import { functionWords, wordMap } from '../text/words.ts'

/** Where British and American spelling differ. */
const spellings =
  /ae|oe|our(?=s?$|ed$|ing$|ite|able|ful)|[iy]s(?=e|ing$|ation)|(?<=[bt])re(?=s?$)|ogue(?=s?$)|ll(?=ed$|ing$|er)|(?<=[fc])ence(?=s?$)|mme(?=s?$)|grey|eable/
const american = wordMap('our or|is iz|ys yz|re er|ogue og|ll l|ence ense|mme m|grey gray|eable able')

/** "Favourite" as "favorite", where the lexicon knows both as one. */
export function normalizeSpelling(word: string): string {
  const other = word.replace(spellings, found => american.get(found) ?? 'e')
  const isOne =
    other !== word &&
    !canBeName(word) &&
    !canBeName(other) &&
    findWordRelation(baseFormOf(word), baseFormOf(other)) === 'synonym'
  return isOne ? other : word
}

/** "A second-degree burn" as "a second degree burn", "twenty-five" as "25", "somebody" as "someone"; not in what may be a title. */
export function normalizeWordForms(sentence: string): string {
  const words = sentence.split(' ')
  if (canContainTitle(words)) return sentence
  const split = sentence.includes('-')
    ? words.flatMap((word, at) => splitHyphen(word, words[at - 1], words[at + 1]))
    : words
  // In a program, `node-fetch` is a name, and "prints five" may be text.
  const isProgram = isTechnical(split)
  return (isProgram ? words : split)
    .map((word, at, all) => ranks.get(word) ?? (isProgram && !all[at + 1]?.endsWith('s') ? word : writeFigure(word)))
    .join(' ')
    .replace(/\b(some|any|every)body\b/g, '$1one')
    .replace(/\bno[ -]one\b/g, 'nobody')
}

/** Two words, or a word and a number; not "more-modern machines", "man-eating sharks", "state-of-the-art". */
const loose =
  /^(?!(?:more|most|less|least|few)-|[A-Z]+-[A-Z]+$)(?:[A-Za-z]{2,}-\d+|(?:[A-Za-z]{2,}|\d+)-[A-Za-z]{2,}(?<!ing))$/

function splitHyphen(word: string, before = '', next = ''): string[] {
  if (!loose.test(word)) return [word]
  const [first = '', second = ''] = word.split('-')
  const ten = parseNumberWord(first) ?? 0
  const figure = ten < 20 ? second : writeFigure(second, ten)
  if (figure !== second) return [figure]
  // "A small business-loan" is no loan for small businesses.
  const isLast = next === '' || functionWords.has(next)
  return isLast && lemmasOf(before).some(({ kind }) => kind === 'a') ? [word] : [first, second]
}

const ranks = wordMap('1st first|2nd second|3rd third')
const cardinals = wordMap('first one|second two|third three|fifth five|eighth eight|ninth nine|twelfth twelve')

/** "5", "5th", "25th". Not "one", which is a pronoun, nor "second" alone, which may be a time. */
function writeFigure(word: string, ten = 0): string {
  const count = parseNumberWord(word)
  const cardinal = cardinals.get(word) ?? (word.endsWith('th') ? word.slice(0, -2).replace(/ie$/, 'y') : word)
  const unit = count ?? parseNumberWord(cardinal)
  if (unit === undefined || (ten > 0 && unit > 9)) return word
  const all = ten + unit
  if (count !== undefined) return all > 1 ? String(all) : word
  return all < 4 ? word : all + ((all > 20 && ['th', 'st', 'nd', 'rd'][all % 10]) || 'th')
}
