/** Reads a request's fields: a field outside OpenAI's type or range is refused. */
import { invalidRequestError } from '../../errors/errors.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { readNumber, readOptional } from '../../formats/json/read-fields.ts'

export type SandboxRequest = JsonObject

const MOST_STOPS = 4
const MOST_ANSWER_CHARS = 4_194_304

/** Undefined when it is not given. */
export function readInteger(request: SandboxRequest, field: string, min: number, max = Infinity): number | undefined {
  const value = readOptional(request, field)
  if (value === undefined) return undefined
  const number = readNumber(value, field, min, max)
  if (Number.isSafeInteger(number)) return number
  throw invalidRequestError(`${field} must be a whole number.`, field)
}

/** The stop sequences: a string or up to four. */
export function readStopSequences(request: SandboxRequest): string[] {
  const value = readOptional(request, 'stop') ?? []
  const stops = Array.isArray(value) ? value : [value]
  if (stops.length > MOST_STOPS)
    throw invalidRequestError(`Invalid 'stop': at most ${MOST_STOPS} sequences are allowed.`, 'stop')
  if (stops.every(stop => typeof stop === 'string' && stop !== '')) return stops
  throw invalidRequestError("Invalid type for 'stop': expected a non-empty string or an array of them.", 'stop')
}

const SAMPLING: Record<string, [min: number, max: number]> = {
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
}

/** Only checks the sampling parameters: the sandbox has one possible response. */
export function checkSamplingParameters(request: SandboxRequest): void {
  for (const [field, [min, max]] of Object.entries(SAMPLING)) {
    const value = readOptional(request, field)
    if (value !== undefined) readNumber(value, field, min, max)
  }
  readInteger(request, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
}

/** Throws a 400 for a field that asks for what the sandbox does not do. */
export function rejectFields(request: SandboxRequest, fields: readonly string[]): void {
  const asked = fields.find(field => request[field])
  if (asked)
    throw invalidRequestError(`Invalid '${asked}': the sandbox, which answers test keys, does not support it.`, asked)
}

/** Each choice multiplies a response's size: throws a 400 naming `param` when this many of so many characters are too much. */
export function checkSandboxResponseSize(chars: number, choices: number, param: string): void {
  if (chars * choices <= MOST_ANSWER_CHARS) return
  throw invalidRequestError(`Invalid '${param}': the answer would be too large for the sandbox.`, param)
}
