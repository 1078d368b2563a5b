/** Splits English prose into sentences, and normalizes their beginning and end. */
import { lowerKey } from '../phrases.ts'
import { rewrite, type Token, wordSet } from '../token.ts'
import { auxiliaries, functionWords, openers, questionWords } from './openers.ts'

const sentenceEnds = new Set(['.', '?', '!'])

export function splitSentences(tokens: readonly Token[]): Token[][] {
  const sentences: Token[][] = []
  let start = 0
  for (const [at, token] of tokens.entries()) {
    const next = tokens[at + 1]
    const ends = token.kind === 'mark' && sentenceEnds.has(token.key) && next !== undefined && next.kind !== 'mark'
    if (!ends) continue
    sentences.push(tokens.slice(start, at + 1))
    start = at + 1
  }
  return start < tokens.length ? [...sentences, tokens.slice(start)] : sentences
}

/** Whether it begins like a question or a request. */
export function asks(sentence: readonly Token[]): boolean {
  return openers.has(lowerKey(sentence[0]))
}

/** After one of these, or at the end, "I" is a symbol: the electric current, or a number. */
const beforeSymbol = wordSet(`
  is are does has the a an of for in to with by on like equals = between find calculate compute solve measure derive define type part
  class phase war grade vitamin group number
`)

/** A text with one of these is about formulas or programs: "can i be negative". */
const besideSymbol = wordSet(`
  loop loops array arrays index indices integer matrix complex imaginary negative positive zero squared equal equals exponent vector sum
`)

function isSymbol(sentence: readonly Token[], at: number): boolean {
  const [before, next] = [lowerKey(sentence[at - 1]), sentence[at + 1]]
  const ends = next === undefined || next.kind === 'mark' || next.kind === 'operator'
  const isValue = lowerKey(next) === 'be' && sentence[at + 2]?.kind === 'number'
  if (isValue || sentence.some(token => besideSymbol.has(lowerKey(token)))) return true
  return beforeSymbol.has(before) || (ends && !auxiliaries.has(before))
}

/** Writes the first word in lower case, unless that changes its meaning, and "I". */
export function openInSmall(sentence: readonly Token[]): Token[] {
  return sentence.map((token, at) => {
    if (token.kind !== 'word') return token
    if (token.key === 'I' || token.key.startsWith("I'"))
      return token.key === 'I' && isSymbol(sentence, at)
        ? token
        : rewrite(token, token.key.replace('I', 'i'), 'sentence-capital')
    const lower = token.key.toLowerCase()
    const isCapitalised = token.key[0] !== lower[0] && token.key.slice(1) === lower.slice(1)
    const opens = at === 0 && isCapitalised && (openers.has(lower) || functionWords.has(lower))
    return opens ? rewrite(token, lower, 'sentence-capital') : token
  })
}

const exclaimed = wordSet('explain describe list give show help')
const markable = wordSet('of is the a an mean means called does do use using with and or to in for')

/** With a full stop these are other words: 3 in., Co., Sun. */
const abbreviated = wordSet(
  'co in no st dr mr mrs ms jr sr inc ltd corp etc vs jan mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun a p m',
)

/**
 * Removes the final marks of a sentence that is recognizable as a question or request without them. A mark that may be an operand or the
 * subject stays.
 */
export function trimClosingMark(sentence: readonly Token[]): readonly Token[] {
  if (!asks(sentence)) return sentence
  let end = sentence.length
  while (end > 1 && sentence[end - 1]?.kind === 'mark' && sentenceEnds.has(sentence[end - 1]?.key ?? '')) end -= 1
  const last = sentence[end - 1]
  // "What!" differs from "What?".
  if (!last || end === sentence.length || end === 1) return sentence
  const marks = sentence.slice(end)
  const stops = marks.filter(mark => mark.key === '.').length
  // Dots may mean an omission or a folder, and only a question mark may stand apart. In "What is Co.?", the full stop belongs to the
  // word.
  if (
    stops > 1 ||
    (stops > 0 && (marks.length > 1 || abbreviated.has(lowerKey(last)))) ||
    (marks[0]?.key !== '?' && marks[0]?.start !== last.end)
  )
    return sentence
  // An exclamation mark may be part of a name: "who wrote Oliver!", "explain Yahoo!", "write a review of mother!".
  if (marks[0]?.key === '!' && !(exclaimed.has(lowerKey(sentence[0])) && /^[a-z]+$/.test(last.key))) return sentence
  const isLoose = last.kind === 'word' && !markable.has(lowerKey(last)) && last.key.length > 1
  const isQuestion = marks.length === 1 && (last.kind !== 'operator' || last.key === 'x')
  if (!isLoose && !isQuestion) return sentence
  if (!isLoose && last.kind === 'word' && last.end !== marks[0]?.start) return sentence
  return sentence.slice(0, end)
}

const subjects = wordSet('i you he she it we they who that')

/** "Tell me what the capital is" becomes "what is the capital". */
export function writeReported(sentence: readonly Token[]): readonly Token[] {
  const marks = sentence.findLastIndex(token => token.kind !== 'mark') + 1
  const verb = sentence[marks - 1]
  if (!verb || !/^(?:is|are|was|were)$/.test(verb.key) || !/^(?:what|who|where)$/.test(lowerKey(sentence[0])))
    return sentence
  const between = sentence.slice(1, marks - 1)
  if (
    between.length === 0 ||
    between.some(
      token =>
        auxiliaries.has(lowerKey(token)) ||
        subjects.has(lowerKey(token)) ||
        token.kind === 'mark' ||
        questionWords.has(lowerKey(token)),
    )
  )
    return sentence
  const moved: Token = { ...verb, rewritten: [...verb.rewritten, 'question-frame'] }
  return [...sentence.slice(0, 1), moved, ...between, ...sentence.slice(marks)]
}
