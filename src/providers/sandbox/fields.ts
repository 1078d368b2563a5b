/** Reads a request's fields: a field outside OpenAI's type or range is refused. */
import { invalidRequest } from '../../errors.ts'

export type Request = Record<string, unknown>

interface Range {
  min: number
  max: number
}

const MOST_STOPS = 4
const MOST_ANSWER_CHARS = 4_194_304

/** The field; undefined when it is absent or null, which OpenAI treats as absent. */
export function readOptional(request: Request, field: string): unknown {
  return request[field] ?? undefined
}

export function readModel(request: Request): string {
  const model = readOptional(request, 'model')
  if (model === undefined) throw invalidRequest("Missing required parameter: 'model'.", 'model')
  if (typeof model === 'string' && model !== '') return model
  throw invalidRequest("Invalid type for 'model': expected a non-empty string.", 'model')
}

export function readInteger(request: Request, field: string, range: Range): number | undefined {
  const value = readNumber(request, field, range)
  if (value === undefined || Number.isInteger(value)) return value
  throw invalidRequest(`Invalid type for '${field}': expected an integer.`, field)
}

function readNumber(request: Request, field: string, { min, max }: Range): number | undefined {
  const value = readOptional(request, field)
  if (value === undefined) return undefined
  if (typeof value !== 'number') throw invalidRequest(`Invalid type for '${field}': expected a number.`, field)
  if (value >= min && value <= max) return value
  const bounds = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `at least ${min} and at most ${max}`
  throw invalidRequest(`Invalid value for '${field}': it must be ${bounds}.`, field)
}

export function readBoolean(request: Request, field: string): boolean | undefined {
  const value = readOptional(request, field)
  if (value === undefined || typeof value === 'boolean') return value
  throw invalidRequest(`Invalid type for '${field}': expected true or false.`, field)
}

export function readText(request: Request, field: string): string | undefined {
  const value = readOptional(request, field)
  if (value === undefined || typeof value === 'string') return value
  throw invalidRequest(`Invalid type for '${field}': expected a string.`, field)
}

/** The stop sequences: a string or up to four. */
export function readStops(request: Request): string[] {
  const value = readOptional(request, 'stop') ?? []
  const stops = Array.isArray(value) ? value : [value]
  if (stops.length > MOST_STOPS)
    throw invalidRequest(`Invalid 'stop': at most ${MOST_STOPS} sequences are allowed.`, 'stop')
  if (stops.every(stop => typeof stop === 'string' && stop !== '')) return stops
  throw invalidRequest("Invalid type for 'stop': expected a non-empty string or an array of them.", 'stop')
}

/** Only checks the sampling parameters: the sandbox has one possible response. */
export function checkSampling(request: Request): void {
  readNumber(request, 'temperature', { min: 0, max: 2 })
  readNumber(request, 'top_p', { min: 0, max: 1 })
  readNumber(request, 'presence_penalty', { min: -2, max: 2 })
  readNumber(request, 'frequency_penalty', { min: -2, max: 2 })
  readInteger(request, 'seed', { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
}

/** Throws a 400 for a field that asks for what the sandbox does not do. */
export function refuseFields(request: Request, fields: readonly string[]): void {
  const asked = fields.find(field => request[field])
  if (asked)
    throw invalidRequest(`Invalid '${asked}': the sandbox, which answers test keys, does not support it.`, asked)
}

/** Each choice multiplies a response's size: throws a 400 naming `param` when this many of so many characters are too much. */
export function checkAnswerSize(chars: number, choices: number, param: string): void {
  if (chars * choices <= MOST_ANSWER_CHARS) return
  throw invalidRequest(`Invalid '${param}': the answer would be too large for the sandbox.`, param)
}
