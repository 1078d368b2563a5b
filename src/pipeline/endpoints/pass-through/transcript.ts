/**
 * Transcripts that are paid by the second are asked for as verbose JSON, which states the duration. The client gets the format that it asked
 * for, written as OpenAI does.
 */
import { asObjects, isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import { parseLosslessJson } from '../../../formats/json/lossless-json.ts'
import { parseMultipartForm, setFormValue } from '../../../formats/multipart-form.ts'
import { readAmount } from '../../../formats/usage/read-count.ts'
import type { PassThroughBody } from '../../../providers/upstream.ts'
import { MAX_AUDIO_SECONDS } from '../../request/audio-length.ts'
import type { Transcript } from '../../spending/pass-through-usage.ts'

/** What verbose JSON has and JSON does not. */
const VERBOSE_FIELDS: readonly string[] = ['task', 'language', 'duration', 'segments', 'words']
/** Formats that are written from verbose JSON. */
const WRITTEN: readonly unknown[] = ['json', 'text', 'srt', 'vtt']
const PLAIN_TYPE = 'text/plain; charset=utf-8'
/** In any language: normal speech has thrice as many in UTF-8. */
const SLOW_BYTES_A_SECOND = 5

/** The format that is written here; null where the client gets what its provider sends. */
export function readTranscriptFormat({ response_format: format, stream }: JsonObject): string | null {
  const name = format ?? 'json'
  // A form's values are text.
  const isStreamed = ![undefined, null, false, 'false'].includes(stream as string)
  return typeof name === 'string' && WRITTEN.includes(name) && !isStreamed ? name : null
}

/** The same request for verbose JSON. */
export function requestVerboseTranscript(body: PassThroughBody): PassThroughBody {
  const fields = { ...body.fields, response_format: 'verbose_json' }
  if (!body.form) {
    const exact = parseLosslessJson(new TextDecoder().decode(body.bytes)) as JsonObject
    return { ...body, fields, bytes: Buffer.from(JSON.stringify({ ...exact, response_format: 'verbose_json' })) }
  }
  const bytes = setFormValue(body.form, 'response_format', 'verbose_json')
  return { ...body, fields, bytes, form: parseMultipartForm(bytes, body.contentType) }
}

/** Null where it is no verbose JSON: then it is passed on as it is. */
export function writeTranscript(body: unknown, format: string): { contentType: string; text: string } | null {
  if (!isJsonObject(body) || typeof body.text !== 'string') return null
  if (format === 'json') {
    const plain = Object.fromEntries(Object.entries(body).filter(([name]) => !VERBOSE_FIELDS.includes(name)))
    return { contentType: 'application/json', text: JSON.stringify(plain) }
  }
  if (format === 'text') return { contentType: PLAIN_TYPE, text: `${body.text.trim()}\n` }
  if (!Array.isArray(body.segments)) return null
  const cues = asObjects(body.segments).map(({ start, end, text }, n) => {
    const [from, to] = [start, end].map(seconds => clock(Number(seconds), format === 'srt' ? ',' : '.'))
    const said = typeof text === 'string' ? text.trim().replaceAll('-->', '->') : ''
    return `${format === 'srt' ? `${n + 1}\n` : ''}${from} --> ${to}\n${said}\n\n`
  })
  return { contentType: PLAIN_TYPE, text: `${format === 'vtt' ? 'WEBVTT\n\n' : ''}${cues.join('')}` }
}

/** Hours, minutes and seconds, with milliseconds. */
function clock(seconds: number, separator: string): string {
  const ms = Math.round((Number.isFinite(seconds) ? seconds : 0) * 1_000)
  const parts = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map(part => twoDigits(Math.floor(part)))
  return `${parts.join(':')}${separator}${`${ms % 1_000}`.padStart(3, '0')}`
}

function twoDigits(number: number): string {
  return `${number}`.padStart(2, '0')
}

/** `answer`: as it was parsed, or its text. */
export function readTranscript(answer: unknown): Transcript {
  const body: JsonObject = isJsonObject(answer) ? answer : { text: answer }
  const { duration, text, segments } = body
  // OpenAI wrote it as text before.
  const given = typeof duration === 'string' && duration !== '' ? Number(duration) : duration
  const ends = asObjects(segments).map(({ end }) => readAmount(end, MAX_AUDIO_SECONDS) ?? 0)
  return { seconds: readAmount(given, MAX_AUDIO_SECONDS), estimatedSeconds: Math.max(0, ...ends) || secondsToSay(text) }
}

function secondsToSay(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text.trim()) / SLOW_BYTES_A_SECOND : 0
}
