/** Takes words of courtesy off both ends of a prompt, unless the prompt is about those words. */
import { indexPhrases, matchPhrase } from './phrases.ts'
import {
  addressed,
  closingFillers,
  courtesyWords,
  frameBlockers,
  greetings,
  mentionsBefore,
  mentionWords,
  openingFrames,
  protectedPhrases,
  questionFrames,
  questionWords,
  requestFrames,
  requestVerbs,
  topicFollowers,
} from './tables.ts'
import { trimEnd } from './trim-end.ts'

const isProtected = indexPhrases(protectedPhrases)
const greeting = indexPhrases(greetings)
const openingFrame = indexPhrases(openingFrames)
const questionFrame = indexPhrases(questionFrames)
const requestFrame = indexPhrases(requestFrames)
const closing = indexPhrases(closingFillers)
const longestClosing = Math.max(...closingFillers.map(phrase => phrase.split(' ').length))

/** The words less fillers and less closing punctuation. May be empty, when there was nothing but courtesy. */
export function trimFillers(words: readonly string[]): string[] {
  const spoken = dropInner(words)
  return trimClosing(spoken.slice(countOpening(spoken)))
}

/** The index where the part begins that may be about wording ("translate …", "reply to this: …"): there, words are kept. */
export function findPayload(words: readonly string[]): number {
  const at = words.findIndex(word => word.endsWith(':') || mentionWords.has(word))
  return at === -1 ? words.length : at
}

/** Takes out "please" in "tell me please what …", with the commas around it. */
function dropInner(words: readonly string[]): string[] {
  const payload = findPayload(words)
  const kept: string[] = []
  for (const [at, word] of words.entries()) {
    const before = bareWord(kept.at(-1))
    if (addressed.has(before) && at < payload && isCourtesyBeforeQuestion(words, at)) kept[kept.length - 1] = before
    else kept.push(word)
  }
  return kept
}

function isCourtesyBeforeQuestion(words: readonly string[], at: number): boolean {
  return courtesyWords.has(bareWord(words[at])) && questionWords.has(bareWord(words[at + 1]))
}

function countOpening(words: readonly string[]): number {
  let at = 0
  for (let length = openingAt(words, at); length > 0; length = openingAt(words, at)) at += length
  return at
}

function openingAt(words: readonly string[], at: number): number {
  if (matchPhrase(isProtected, bareFrom(words, at, 3), 0) > 0) return 0
  if (at > 0 && isLonePunctuation(words[at])) return 1
  return courtesyAt(words, at) || greetingAt(words, at) || frameAt(words, at)
}

function courtesyAt(words: readonly string[], at: number): number {
  const bare = bareWord(words[at])
  if (!courtesyWords.has(bare)) return 0
  if (bare !== words[at]) return 1
  const next = bareWord(words[at + 1])
  if (bare === 'kindly') return requestVerbs.has(next) || questionWords.has(next) || courtesyWords.has(next) ? 1 : 0
  return topicFollowers.has(next) ? 0 : 1
}

function greetingAt(words: readonly string[], at: number): number {
  const length = matchPhrase(greeting, bareFrom(words, at, 2), 0)
  const last = words[at + length - 1]
  return length > 0 && (bareWord(last) !== last || isLonePunctuation(words[at + length])) ? length : 0
}

function frameAt(words: readonly string[], at: number): number {
  const opening = matchPhrase(openingFrame, words, at)
  if (opening > 0) return frameBlockers.has(bareWord(words[at + opening])) ? 0 : opening
  const request = requestAt(words, at)
  if (request > 0) return request
  const question = matchPhrase(questionFrame, words, at)
  return questionWords.has(bareWord(words[at + question])) ? question : 0
}

/** "could you", with the courtesy that follows it; "could you please" makes a request of any verb. */
function requestAt(words: readonly string[], at: number): number {
  const length = matchPhrase(requestFrame, words, at)
  if (length === 0) return 0
  const isCourteous = courtesyWords.has(bareWord(words[at + length]))
  const verb = bareWord(words[at + length + (isCourteous ? 1 : 0)])
  if (requestVerbs.has(verb) || questionWords.has(verb)) return length
  return isCourteous && verb !== '' && !topicFollowers.has(verb) ? length : 0
}

function trimClosing(words: string[]): string[] {
  const payload = findPayload(words)
  const keepsWords = payload < words.length
  const hasColon = words.some(word => word.endsWith(':'))
  trimEnd(words, hasColon ? 'nothing' : keepsWords ? 'question marks' : 'all')
  if (keepsWords) return words
  for (let length = closingAt(words); length > 0; length = closingAt(words)) {
    words.length -= length
    trimEnd(words, 'all')
  }
  return words
}

function closingAt(words: readonly string[]): number {
  for (let length = Math.min(longestClosing, words.length); length > 0; length -= 1) {
    const at = words.length - length
    if (matchPhrase(closing, words, at) === length) return isClosing(words, at) ? length : 0
  }
  return 0
}

function isClosing(words: readonly string[], at: number): boolean {
  const before = words[at - 1]
  if (before === undefined) return false
  const isSetOff = bareWord(before) !== before || isLonePunctuation(before)
  return isSetOff || (courtesyWords.has(words[at] ?? '') && words[at] !== 'kindly' && !mentionsBefore.has(before))
}

function bareFrom(words: readonly string[], at: number, length: number): string[] {
  return words.slice(at, at + length).map(bareWord)
}

function bareWord(word: string | undefined): string {
  let end = word?.length ?? 0
  while (end > 0 && ',.!?;-'.includes(word?.[end - 1] ?? '')) end -= 1
  return word?.slice(0, end) ?? ''
}

function isLonePunctuation(word: string | undefined): boolean {
  return word !== undefined && word !== '' && bareWord(word) === ''
}
