/** English prose as proof writes it: short questions and requests, with what is harmless between two wordings written one way. */
import { trimCourtesy } from '../edges.ts'
import type { Language } from '../language.ts'
import { indexPhrases, lowerKey, matchPhrase } from '../phrases.ts'
import { rewrite, type Token, wordSet } from '../token.ts'
import { expandAbbreviations } from './abbreviations.ts'
import { expandContractions } from './contractions.ts'
import { courtesy } from './courtesy.ts'
import { writeAdvice, writeCost, writeExperience, writeMeaning, writeMethod, writeRelation } from './frames.ts'
import { knownName } from './names.ts'
import { writeCalculation, writeNumbers } from './numbers.ts'
import { auxiliaries, foreignWords, functionWords, openers, questionWords, requestVerbs } from './openers.ts'
import { isOrdinaryUse } from './ordinary-uses.ts'
import { americanSpelling } from './spelling.ts'
import { formWords, wordingWords } from './wording.ts'

/** Longer texts are documents: what they say counts to the letter. */
const MAX_WORDS = 60
const firstPersons = wordSet("i i'm i've i'll my we we're we've our")
const sentenceEnds = new Set(['.', '?', '!'])

export const english: Language = {
  code: 'en',
  write(tokens) {
    if (tokens.length > 2 * MAX_WORDS || !isEnglish(tokens)) return null
    const core = trimCourtesy(tokens, courtesy)
    if (!isPlain(core.tokens)) return null
    const sentences = splitSentences(core.tokens)
    const [first] = sentences
    if (!first || !(asks(first) || sentences.some(asks))) return null
    const isTechnical = core.tokens.some(token => formWords.has(lowerKey(token)))
    if (sentences.length === 1)
      return writeOnly(core.isReported ? writeReported(trimClosingMark(first)) : first, isTechnical)
    return sentences.flatMap((sentence, at) => writeOneOf(sentence, sentences, at))
  },
}

function isEnglish(tokens: readonly Token[]): boolean {
  const words = tokens.filter(token => token.kind === 'word')
  if (words.some(token => foreignWords.has(token.key) || /[^A-Za-z'-]/.test(token.key))) return false
  const known = words.filter(token => functionWords.has(lowerKey(token)) || openers.has(lowerKey(token)))
  return words.length <= MAX_WORDS && 5 * known.length >= words.length
}

/** Not about wording, nothing handed over after a colon, no line structure. */
function isPlain(tokens: readonly Token[]): boolean {
  return !tokens.some(
    (token, at) =>
      (wordingWords.has(lowerKey(token)) && !isOrdinaryUse(tokens, at)) ||
      (token.kind === 'mark' && (token.key === ':' || token.key === ';')) ||
      (token.opensLine && at > 0),
  )
}

function splitSentences(tokens: readonly Token[]): Token[][] {
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

function asks(sentence: readonly Token[]): boolean {
  return openers.has(lowerKey(sentence[0]))
}

/**
 * Of several sentences some may be what the others speak of ("Write a reply. It's late."): questions and what the asker says of
 * himself before them are written one way, the rest stays.
 */
function writeOneOf(sentence: readonly Token[], all: readonly (readonly Token[])[], at: number): readonly Token[] {
  if (all.some(each => requestVerbs.has(lowerKey(each[0])))) return at === 0 ? openInSmall(sentence) : sentence
  const isOwn = firstPersons.has(lowerKey(sentence[0])) && all.slice(at).some(asks)
  return asks(sentence) || isOwn ? expandContractions(openInSmall(sentence)) : sentence
}

function writeOnly(sentence: readonly Token[], isTechnical: boolean): readonly Token[] {
  const opened = openInSmall(trimClosingMark(sentence))
  if (opened.some(token => meaningWords.has(lowerKey(token)))) return writeMeaningOf(opened)
  const spoken = expandContractions(opened)
  const calculation = calculate(spoken)
  if (calculation) return calculation
  const named = expandAbbreviations(spoken.map(writeName))
  const worded = isTechnical ? named : writeNumbers(named.map(writeSpelling))
  const frames = [writeMethod, writeExperience, writeAdvice, writeCost, writeRelation]
  return frames.reduce<readonly Token[]>((written, frame) => frame(written), worded)
}

const meaningWords = wordSet('mean means meaning meant define definition')

/** What is asked about stays as it was written. */
function writeMeaningOf(opened: readonly Token[]): readonly Token[] {
  const spoken = [...expandContractions(opened.slice(0, 1)), ...opened.slice(1)]
  return writeMeaning(spoken) ?? spoken
}

/** The first word in small letters, where that makes no other word of it. */
function openInSmall(sentence: readonly Token[]): Token[] {
  return sentence.map((token, at) => {
    if (token.kind !== 'word') return token
    if (token.key === 'I' || token.key.startsWith("I'"))
      return rewrite(token, token.key.replace('I', 'i'), 'sentence-capital')
    const lower = token.key.toLowerCase()
    const isCapitalised = token.key[0] !== lower[0] && token.key.slice(1) === lower.slice(1)
    const opens = at === 0 && isCapitalised && (openers.has(lower) || functionWords.has(lower))
    return opens ? rewrite(token, lower, 'sentence-capital') : token
  })
}

const markable = wordSet('of is the a an mean means called does do use using with and or to in for')

/** Takes the last marks off a sentence that shows by itself that it asks; a mark that may be an operand or the subject stays. */
function trimClosingMark(sentence: readonly Token[]): readonly Token[] {
  if (!asks(sentence)) return sentence
  let end = sentence.length
  while (end > 1 && sentence[end - 1]?.kind === 'mark' && sentenceEnds.has(sentence[end - 1]?.key ?? '')) end -= 1
  const last = sentence[end - 1]
  // "What!" is not "What?".
  if (!last || end === sentence.length || end === 1) return sentence
  const marks = sentence.slice(end)
  const stops = marks.filter(mark => mark.key === '.').length
  // Dots may stand for what was left out, or for a folder; only a question mark may stand apart.
  if (stops > 1 || (marks[0]?.key !== '?' && marks[0]?.start !== last.end)) return sentence
  const isLoose = last.kind === 'word' && !markable.has(lowerKey(last)) && last.key.length > 1
  const isQuestion = marks.length === 1 && marks[0]?.key !== '!' && (last.kind !== 'operator' || last.key === 'x')
  if (!isLoose && !isQuestion) return sentence
  if (!isLoose && last.kind === 'word' && last.end !== marks[0]?.start) return sentence
  return sentence.slice(0, end)
}

const calculations = indexPhrases(['what is', 'how much is', 'calculate', 'compute', 'solve'])

/** "What is 12 × 9", and nothing else. */
function calculate(sentence: readonly Token[]): readonly Token[] | null {
  const length = matchPhrase(calculations, sentence, 0)
  const written = length > 0 ? writeCalculation(sentence, length) : null
  return written && [...sentence.slice(0, length), ...written]
}

const subjects = wordSet('i you he she it we they who that')

/** "Tell me what the capital is": "what is the capital". */
function writeReported(sentence: readonly Token[]): readonly Token[] {
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

function writeName(token: Token): Token {
  const name = token.kind === 'word' ? knownName(token.key) : null
  return name === null ? token : rewrite(token, name, 'known-name')
}

function writeSpelling(token: Token): Token {
  return token.kind === 'word' ? rewrite(token, americanSpelling(token.key), 'spelling') : token
}
