/**
 * Requests transcripts that are priced by the second as verbose JSON, which states the duration, and converts them to the format that the
 * client requested, as OpenAI writes it.
 */
import { asObjects, isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import { parseLosslessJson } from '../../../formats/json/lossless-json.ts'
import { parseMultipartForm, setFormValue } from '../../../formats/multipart-form.ts'
import { readAmount } from '../../../formats/usage/read-count.ts'
import type { PassThroughBody } from '../../../providers/upstream.ts'
import { MAX_AUDIO_SECONDS } from '../../request/audio-length.ts'
import type { Transcript } from '../../spending/pass-through-usage.ts'

/** Fields of verbose JSON that plain JSON does not have. */
const VERBOSE_FIELDS: readonly string[] = ['task', 'language', 'duration', 'segments', 'words']
/** Formats into which verbose JSON is converted. */
const CONVERTED_FORMATS: readonly unknown[] = ['json', 'text', 'srt', 'vtt']
const PLAIN_TYPE = 'text/plain; charset=utf-8'
/** Bytes of text per second of slow speech, in any language. Normal speech has three times as many. */
const SLOW_SPEECH_BYTES_PER_SECOND = 5

/** Returns the format into which the transcript is converted; null if the provider's response is forwarded unchanged. */
export function readTranscriptFormat({ response_format: format, stream }: JsonObject): string | null {
  const name = format ?? 'json'
  // A form's values are text.
  const isStreamed = ![undefined, null, false, 'false'].includes(stream as string)
  return typeof name === 'string' && CONVERTED_FORMATS.includes(name) && !isStreamed ? name : null
}

/** Returns the request with verbose JSON as its response format. */
export function requestVerboseTranscript(body: PassThroughBody): PassThroughBody {
  const fields = { ...body.fields, response_format: 'verbose_json' }
  if (!body.form) {
    const exact = parseLosslessJson(new TextDecoder().decode(body.bytes)) as JsonObject
    return { ...body, fields, bytes: Buffer.from(JSON.stringify({ ...exact, response_format: 'verbose_json' })) }
  }
  const bytes = setFormValue(body.form, 'response_format', 'verbose_json')
  return { ...body, fields, bytes, form: parseMultipartForm(bytes, body.contentType) }
}

/** Converts verbose JSON. Returns null for any other body, which is then forwarded unchanged. */
export function writeTranscript(body: unknown, format: string): { contentType: string; text: string } | null {
  if (!isJsonObject(body) || typeof body.text !== 'string') return null
  if (format === 'json') {
    const plain = Object.fromEntries(Object.entries(body).filter(([name]) => !VERBOSE_FIELDS.includes(name)))
    return { contentType: 'application/json', text: JSON.stringify(plain) }
  }
  if (format === 'text') return { contentType: PLAIN_TYPE, text: `${body.text.trim()}\n` }
  if (!Array.isArray(body.segments)) return null
  const cues = asObjects(body.segments).map(({ start, end, text }, n) => {
    const [from, to] = [start, end].map(seconds => formatTime(Number(seconds), format === 'srt' ? ',' : '.'))
    const cueText = typeof text === 'string' ? text.trim().replaceAll('-->', '->') : ''
    return `${format === 'srt' ? `${n + 1}\n` : ''}${from} --> ${to}\n${cueText}\n\n`
  })
  return { contentType: PLAIN_TYPE, text: `${format === 'vtt' ? 'WEBVTT\n\n' : ''}${cues.join('')}` }
}

/** Formats a time as hours, minutes and seconds with milliseconds. */
function formatTime(seconds: number, separator: string): string {
  const ms = Math.round((Number.isFinite(seconds) ? seconds : 0) * 1_000)
  const parts = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map(part => twoDigits(Math.floor(part)))
  return `${parts.join(':')}${separator}${`${ms % 1_000}`.padStart(3, '0')}`
}

function twoDigits(number: number): string {
  return `${number}`.padStart(2, '0')
}

/** Reads a transcript from a parsed response, or from its text. */
export function readTranscript(response: unknown): Transcript {
  const body: JsonObject = isJsonObject(response) ? response : { text: response }
  const { duration, text, segments } = body
  // OpenAI's older responses have the duration as a string.
  const seconds = typeof duration === 'string' && duration !== '' ? Number(duration) : duration
  const ends = asObjects(segments).map(({ end }) => readAmount(end, MAX_AUDIO_SECONDS) ?? 0)
  return {
    seconds: readAmount(seconds, MAX_AUDIO_SECONDS),
    estimatedSeconds: Math.max(0, ...ends) || estimateSpeechSeconds(text),
  }
}

function estimateSpeechSeconds(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text.trim()) / SLOW_SPEECH_BYTES_PER_SECOND : 0
}
