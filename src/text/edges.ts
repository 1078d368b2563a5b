/** Removes courtesy from both ends of a prompt, if the rest is a question or a request of its own. */
import { indexPhrases, lowerKey, matchPhrase, type PhraseIndex } from './phrases.ts'
import type { Token } from './token.ts'

export interface CourtesyTables {
  /** "hi there": before anything. */
  readonly greetings: PhraseIndex
  /** "please", "could you please": before a request or a question. */
  readonly requests: PhraseIndex
  /** "could you": only if `isRequest` accepts the rest. "could you swim" asks about the addressee. */
  readonly abilities: PhraseIndex
  isRequest(tokens: readonly Token[], at: number): boolean
  /** "could you tell me": only before a question word. */
  readonly inquiries: PhraseIndex
  /** "thanks in advance": at the end, after a punctuation mark or a line end. */
  readonly thanks: PhraseIndex
  /** "please": at the end, also without punctuation, unless it follows one of `objectMakers`. */
  readonly pleas: PhraseIndex
  readonly objectMakers: ReadonlySet<string>
  readonly questionWords: ReadonlySet<string>
  /** First words of questions and requests: the rest must begin with one of them. */
  readonly openers: ReadonlySet<string>
}

export function courtesyTables(
  tables: Omit<CourtesyTables, 'greetings' | 'requests' | 'abilities' | 'inquiries' | 'thanks' | 'pleas'> &
    Record<'greetings' | 'requests' | 'abilities' | 'inquiries' | 'thanks' | 'pleas', readonly string[]>,
): CourtesyTables {
  return {
    ...tables,
    greetings: indexPhrases(tables.greetings),
    requests: indexPhrases(tables.requests),
    abilities: indexPhrases(tables.abilities),
    inquiries: indexPhrases(tables.inquiries),
    thanks: indexPhrases(tables.thanks),
    pleas: indexPhrases(tables.pleas),
  }
}

export interface Core {
  readonly tokens: readonly Token[]
  /** Whether the rest was the object of "tell me": "what the capital is". */
  readonly isReported: boolean
}

const setOff = new Set([',', '.', '!'])

/** Returns the text without courtesy; unchanged when the rest would not begin like a question or a request. */
export function trimCourtesy(tokens: readonly Token[], tables: CourtesyTables): Core {
  let at = 0
  let isReported = false
  for (let opening = openingAt(tokens, at, tables); opening; opening = openingAt(tokens, at, tables)) {
    at += opening.length
    isReported = opening.isInquiry
  }
  const opens = tables.openers.has(lowerKey(tokens[at]))
  const core = opens ? tokens.slice(at) : [...tokens]
  return { tokens: trimThanks(core, tables), isReported: opens && isReported }
}

function openingAt(
  tokens: readonly Token[],
  at: number,
  tables: CourtesyTables,
): { length: number; isInquiry: boolean } | null {
  const greeting = matchPhrase(tables.greetings, tokens, at)
  if (greeting > 0) return { length: greeting + countMarks(tokens, at + greeting), isInquiry: false }
  const inquiry = matchPhrase(tables.inquiries, tokens, at)
  const asked = at + inquiry + countCommas(tokens, at + inquiry)
  // "Do you know how to swim" asks about the addressee.
  const isOwnSkill = /^do(?:es)?$/.test(lowerKey(tokens[at])) && lowerKey(tokens[asked + 1]) === 'to'
  if (inquiry > 0 && !isOwnSkill && tables.questionWords.has(lowerKey(tokens[asked]))) {
    return { length: asked - at, isInquiry: true }
  }
  const request = matchPhrase(tables.requests, tokens, at)
  if (request > 0) return { length: request + countCommas(tokens, at + request), isInquiry: false }
  const ability = matchPhrase(tables.abilities, tokens, at)
  return ability > 0 && tables.isRequest(tokens, at + ability) ? { length: ability, isInquiry: false } : null
}

function countMarks(tokens: readonly Token[], at: number): number {
  return tokens[at]?.kind === 'mark' && setOff.has(tokens[at].key) ? 1 : 0
}

function countCommas(tokens: readonly Token[], at: number): number {
  return tokens[at]?.kind === 'mark' && tokens[at].key === ',' ? 1 : 0
}

function trimThanks(tokens: readonly Token[], tables: CourtesyTables): readonly Token[] {
  const end = endWithoutMarks(tokens, setOff)
  for (let start = Math.max(1, end - 6); start < end; start += 1) {
    if (!closesAt(tokens, start, end, tables)) continue
    // A comma before the courtesy is removed with it; a question mark or a full stop belongs to the sentence.
    const before = tokens[start - 1]
    const kept = before?.kind === 'mark' && before.key === ',' ? start - 1 : start
    return trimThanks(tokens.slice(0, kept), tables)
  }
  return tokens
}

function closesAt(tokens: readonly Token[], start: number, end: number, tables: CourtesyTables): boolean {
  const before = tokens[start - 1]
  if (!before) return false
  const isSetOff = before.kind === 'mark' || tokens[start]?.opensLine === true
  if (matchPhrase(tables.thanks, tokens, start) === end - start) return isSetOff && !isAskedAbout(tokens, start, end)
  if (matchPhrase(tables.pleas, tokens, start) !== end - start) return false
  return isSetOff || (before.kind === 'word' && !tables.objectMakers.has(lowerKey(before)))
}

/** Whether the courtesy is the question's subject: "How do I sign off, kind regards?" */
function isAskedAbout(tokens: readonly Token[], start: number, end: number): boolean {
  const isQuestionMark = (token: Token | undefined) => token?.kind === 'mark' && token.key === '?'
  return isQuestionMark(tokens[end]) && !tokens.slice(0, start).some(isQuestionMark)
}

function endWithoutMarks(tokens: readonly Token[], marks: ReadonlySet<string>): number {
  let end = tokens.length
  while (
    end > 0 &&
    tokens[end - 1]?.kind === 'mark' &&
    (marks.has(tokens[end - 1]?.key ?? '') || tokens[end - 1]?.key === '?')
  )
    end -= 1
  return end
}
