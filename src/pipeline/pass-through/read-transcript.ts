/** What a transcript says of the sound that it was made of. */
import { isJsonObject } from '../../formats/json/canonical.ts'
import { readAmount } from '../../formats/usage/read-count.ts'
import { MOST_SECONDS } from './sound-length.ts'

export interface Transcript {
  /** As the answer reports it; null where it does not. */
  seconds: number | null
  /** Where the last subtitle ends, or else how long it takes to say all of it slowly. */
  toldSeconds: number
}

/** In any language: normal speech has thrice as many in UTF-8. */
const SLOW_BYTES_A_SECOND = 5
const ARROW = '-->'
/** The end of a cue in SubRip and WebVTT. */
const CUE_END = /^-->\s*(?:(\d{1,4}):)?(\d\d):(\d\d)[.,](\d{3})/

/** `answer`: as it was parsed, or its text. */
export function readTranscript(answer: unknown, format: unknown): Transcript {
  if (!isJsonObject(answer)) return { seconds: null, toldSeconds: readCues(answer, format) ?? secondsToSay(answer) }
  const { duration, text } = answer
  // OpenAI wrote it as text before.
  const given = typeof duration === 'string' && duration !== '' ? Number(duration) : duration
  return { seconds: readAmount(given, MOST_SECONDS), toldSeconds: secondsToSay(text) }
}

function readCues(text: unknown, format: unknown): number | null {
  if (typeof text !== 'string' || (format !== 'srt' && format !== 'vtt')) return null
  const at = text.lastIndexOf(ARROW)
  const [found, ...numbers] = (at < 0 ? null : CUE_END.exec(text.slice(at, at + 40))) ?? []
  if (found === undefined) return null
  const [hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = numbers.map(number => Number(number ?? 0))
  return hours * 3_600 + minutes * 60 + seconds + milliseconds / 1_000
}

function secondsToSay(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text.trim()) / SLOW_BYTES_A_SECOND : 0
}
