/** Normalizes German prose: only courtesy at both ends and the closing mark are harmless. */
import { courtesyTables, trimCourtesy } from '../edges.ts'
import type { Language } from '../language.ts'
import { lowerKey } from '../phrases.ts'
import { phraseList, rewrite, type Token, wordSet } from '../token.ts'

const MAX_WORDS = 60

const questionWords = wordSet(
  'was wer wen wem wie wo wann warum wieso weshalb welche welcher welches wohin woher wieviel',
)
/** First words of questions and requests that are not words of another language with tables. */
const openers: ReadonlySet<string> = new Set([
  ...questionWords,
  ...wordSet('ist sind kann darf muss soll gibt hat haben wird werden erkläre erklär nenne beschreibe'),
])
/** A text with one of these is German. */
const germanWords = wordSet(`
  der die das den dem des ein eine einen einem einer eines ist sind und oder nicht ich man wie wo wann warum welche welcher welches
  für von mit auf im in zu zum zur bei viele viel hat gibt es kann
`)
/** A prompt with one of these is about wording. */
const wordingWords = wordSet(`
  übersetze übersetzen übersetzung korrigiere korrigieren formuliere formulieren umformulieren fasse zusammenfassen zusammenfassung
  buchstabiere buchstabieren buchstabe buchstaben wort wörter satz sätze silbe silben zeichen text absatz rechtschreibung grammatik
  schreibt schreibe schreiben geschrieben heißt sagt sage sagen reimt groß klein richtig falsch fehler wiederhole folgende folgenden
  artikel plural komma beende beenden schließe antwortet antworte antworten brief gruß höflich text nachricht frage
`)

const courtesy = courtesyTables({
  greetings: phraseList(`
    hallo
    hi
    guten tag
    guten morgen
    guten abend
  `),
  requests: phraseList(`
    bitte
  `),
  abilities: [],
  isRequest: () => false,
  inquiries: [],
  thanks: phraseList(`
    danke
    vielen dank
    danke schön
    danke im voraus
    vielen dank im voraus
    besten dank
  `),
  pleas: [],
  objectMakers: wordSet(''),
  questionWords,
  openers,
})

export const german: Language = {
  code: 'de',
  write(tokens) {
    if (tokens.length > MAX_WORDS) return null
    const core = trimCourtesy(tokens, courtesy).tokens
    const [first, second] = core
    if (!first || !openers.has(lowerKey(first)) || !core.some(token => germanWords.has(token.key))) return null
    if (core.some((token, at) => isStructure(token, at) || wordingWords.has(lowerKey(token)))) return null
    // At the beginning of a sentence, "Was" and "was" are the same; within it, "Sie" and "sie" differ.
    const lower = first.key.toLowerCase()
    const opened = second && first.key.slice(1) === lower.slice(1) ? rewrite(first, lower, 'sentence-capital') : first
    return trimQuestionMark([opened, ...core.slice(1)])
  },
}

function isStructure(token: Token, at: number): boolean {
  return (token.kind === 'mark' && /[:;.!]/.test(token.key)) || (token.opensLine && at > 0)
}

function trimQuestionMark(tokens: readonly Token[]): readonly Token[] {
  const isAsked = tokens.at(-1)?.key === '?' && tokens.at(-2)?.kind === 'word'
  return isAsked ? tokens.slice(0, -1) : tokens
}
