/** Normalizes English prose: short questions and requests, with their harmless variants. */
import { trimCourtesy } from '../edges.ts'
import type { Language } from '../language.ts'
import { indexPhrases, lowerKey, matchPhrase } from '../phrases.ts'
import { type HarmlessKind, type Token, wordSet } from '../token.ts'
import { expandAbbreviations } from './abbreviations.ts'
import { expandContractions } from './contractions.ts'
import { courtesy } from './courtesy.ts'
import { writeFields } from './fields.ts'
import { writeAdvice } from './frames/advice.ts'
import { writeCost } from './frames/cost.ts'
import { writeExperience } from './frames/experience.ts'
import { writeMeaning } from './frames/meaning.ts'
import { writeMethod } from './frames/method.ts'
import { writeRelation } from './frames/relation.ts'
import { mayHoldTitle, speaksOfItself } from './mentions.ts'
import { writeName } from './names.ts'
import { writeCalculation, writeNumbers } from './numbers.ts'
import { foreignWords, functionWords, openers, requestVerbs } from './openers.ts'
import { isOrdinaryUse } from './ordinary-uses.ts'
import { asks, openInSmall, splitSentences, trimClosingMark, writeReported } from './sentences.ts'
import { writeSmallWords } from './small-words.ts'
import { writeSpelling } from './spelling.ts'
import { bytesWords, formPhrases, formWords, spacingWords, wordingWords } from './wording.ts'

/** Longer texts are documents, which are compared exactly. */
const MAX_WORDS = 60
const firstPersons = wordSet("i i'm i've i'll my we we're we've our")

export const english: Language = {
  code: 'en',
  write(tokens) {
    if (tokens.length > 2 * MAX_WORDS || !isEnglish(tokens)) return null
    const core = trimCourtesy(tokens, courtesy)
    const words = new Set(core.tokens.map(lowerKey))
    if (!isPlain(core.tokens, words) || mindsSpacing(core.tokens, words) || speaksOfItself(core.tokens)) return null
    const sentences = splitSentences(core.tokens)
    const [first] = sentences
    if (!first || !(asks(first) || sentences.some(asks))) return null
    // A single word refers to something unsaid: "isn't?"
    if (core.tokens.filter(({ kind }) => kind !== 'mark').length < 2) return null
    const isTechnical =
      !words.isDisjointFrom(formWords) || (words.has('go') && core.tokens.some(({ key }) => key === 'Go'))
    if (mindsMarkShapes(core.tokens, words, isTechnical)) return null
    const isLexical = !isTechnical && !mayHoldTitle(words)
    if (sentences.length === 1)
      return writeOnly(core.isReported ? writeReported(trimClosingMark(first)) : first, isLexical)
    return sentences.flatMap((sentence, at) => writeOneOf(sentence, sentences, at))
  },
}

const knownWords: ReadonlySet<string> = new Set([...functionWords, ...openers])

function isEnglish(tokens: readonly Token[]): boolean {
  const words = tokens.filter(token => token.kind === 'word')
  if (words.some(token => foreignWords.has(token.key) || /[^A-Za-z'-]/.test(token.key))) return false
  const known = words.filter(token => knownWords.has(lowerKey(token)))
  return words.length <= MAX_WORDS && 5 * known.length >= words.length
}

/** Whether the text is not about wording, presents nothing after a colon, and has no line structure. */
function isPlain(tokens: readonly Token[], words: ReadonlySet<string>): boolean {
  const isWording = !words.isDisjointFrom(wordingWords)
  return !tokens.some(
    (token, at) =>
      (isWording && wordingWords.has(lowerKey(token)) && !isOrdinaryUse(tokens, at)) ||
      (token.kind === 'mark' && (token.key === ':' || token.key === ';')) ||
      (token.opensLine && at > 0),
  )
}

/** In a text about spacing, several spaces matter: "How many spaces are there in a  b". */
function mindsSpacing(tokens: readonly Token[], words: ReadonlySet<string>): boolean {
  if (words.isDisjointFrom(spacingWords)) return false
  return tokens.some((token, at) => at > 0 && token.start > (tokens[at - 1]?.end ?? 0) + 1)
}

/** In programs and searches the kind of quotation marks matters, but not in questions about what words mean or who said them. */
function mindsMarkShapes(tokens: readonly Token[], words: ReadonlySet<string>, isTechnical: boolean): boolean {
  const reshaped = tokens.filter(token => token.rewritten.includes('typography'))
  const isMention = !words.isDisjointFrom(meaningWords) || mayHoldTitle(words)
  return reshaped.some(
    ({ kind }) => isTechnical || !words.isDisjointFrom(bytesWords) || (kind === 'quotation' && !isMention),
  )
}

const formal: ReadonlySet<HarmlessKind> = new Set(['spelling', 'known-name', 'number-word', 'abbreviation', 'synonym'])

/** Whether the text itself distinguishes two forms: "is color older than colour". */
function holdsApart(tokens: readonly Token[]): boolean {
  if (!tokens.some(token => token.rewritten.some(kind => formal.has(kind)))) return false
  const kindsOf = (token: Token) => token.rewritten.filter(kind => formal.has(kind)).join()
  const forms = new Map<string, string>()
  return tokens.some(token => {
    const [known, kinds] = [forms.get(token.key), kindsOf(token)]
    forms.set(token.key, kinds)
    // "How many states are in the United States": the word inside a name is another word.
    return known !== undefined && known !== kinds && token.key !== 'states'
  })
}

/**
 * Of several sentences, some may be material for the others ("Write a reply. It's late."). Only questions, and the user's statements
 * about himself before them, are normalized.
 */
function writeOneOf(sentence: readonly Token[], all: readonly (readonly Token[])[], at: number): readonly Token[] {
  if (all.some(each => requestVerbs.has(lowerKey(each[0])))) return at === 0 ? openInSmall(sentence) : sentence
  const isOwn = firstPersons.has(lowerKey(sentence[0])) && all.slice(at).some(asks)
  return asks(sentence) || isOwn ? expandContractions(openInSmall(sentence)) : sentence
}

/** Question frames are normalized even if words must not be, because they may be names in a program or parts of a title. */
function writeOnly(sentence: readonly Token[], isLexical: boolean): readonly Token[] {
  const opened = openInSmall(trimClosingMark(sentence))
  if (opened.some(token => meaningWords.has(lowerKey(token)))) return writeMeaningOf(opened)
  // "Who sang what's up": in a title, nothing is expanded.
  const spoken = expandContractions(
    opened,
    isLexical || !mayHoldTitle(new Set(opened.map(lowerKey))) ? opened.length : 1,
  )
  const calculation = calculate(spoken)
  if (calculation) return calculation
  // A question about what letters stand for is about those letters.
  if (spoken.some((_, at) => matchPhrase(formIndex, spoken, at) > 0)) return spoken
  const named = writeFields(expandAbbreviations(spoken.map(writeName)))
  const worded = !isLexical ? named : writeSmallWords(writeNumbers(named.map(writeSpelling)))
  if (holdsApart(worded)) return spoken
  const frames = [writeMethod, writeExperience, writeAdvice, writeCost, writeRelation]
  return frames.reduce<readonly Token[]>((written, frame) => frame(written), worded)
}

const formIndex = indexPhrases(formPhrases)
const meaningWords = wordSet('mean means meaning meant define definition')

/** The words asked about stay unchanged. */
function writeMeaningOf(opened: readonly Token[]): readonly Token[] {
  const spoken = expandContractions(opened, 1)
  return writeMeaning(spoken) ?? spoken
}

const calculations = indexPhrases(['what is', 'how much is', 'calculate', 'compute', 'solve'])

/** Handles "What is 12 × 9" with nothing else. */
function calculate(sentence: readonly Token[]): readonly Token[] | null {
  const length = matchPhrase(calculations, sentence, 0)
  const written = length > 0 ? writeCalculation(sentence, length) : null
  return written && [...sentence.slice(0, length), ...written]
}
