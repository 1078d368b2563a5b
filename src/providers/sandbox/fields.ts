/** Reads a request's fields, and inputs that are a text, token ids, or a list of either. Throws a 400 for a field outside OpenAI's type or range. */
import { invalidRequestError } from '../../errors/errors.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { readNumber, readOptional } from '../../formats/json/read-fields.ts'

export type SandboxRequest = JsonObject

const MAX_STOP_SEQUENCES = 4
const MAX_RESPONSE_CHARS = 4_194_304

/** Returns undefined when the field is not set. */
export function readInteger(request: SandboxRequest, field: string, min: number, max = Infinity): number | undefined {
  const value = readOptional(request, field)
  if (value === undefined) return undefined
  const number = readNumber(value, field, min, max)
  if (Number.isSafeInteger(number)) return number
  throw invalidRequestError(`${field} must be a whole number.`, field)
}

/** Reads the stop sequences: one string, or up to four. */
export function readStopSequences(request: SandboxRequest): string[] {
  const value = readOptional(request, 'stop') ?? []
  const stops = Array.isArray(value) ? value : [value]
  if (stops.length > MAX_STOP_SEQUENCES)
    throw invalidRequestError(`Invalid 'stop': at most ${MAX_STOP_SEQUENCES} sequences are allowed.`, 'stop')
  if (stops.every(stop => typeof stop === 'string' && stop !== '')) return stops
  throw invalidRequestError("Invalid type for 'stop': expected a non-empty string or an array of them.", 'stop')
}

const SAMPLING: Record<string, [min: number, max: number]> = {
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
}

/** Checks the sampling parameters. They have no effect, because the sandbox has one possible response. */
export function checkSamplingParameters(request: SandboxRequest): void {
  for (const [field, [min, max]] of Object.entries(SAMPLING)) {
    const value = readOptional(request, field)
    if (value !== undefined) readNumber(value, field, min, max)
  }
  readInteger(request, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
}

/** Throws a 400 when a field is set that the sandbox does not support. */
export function rejectFields(request: SandboxRequest, fields: readonly string[]): void {
  const rejected = fields.find(field => request[field])
  if (rejected)
    throw invalidRequestError(
      `Invalid '${rejected}': the sandbox, which answers test keys, does not support it.`,
      rejected,
    )
}

/** Throws a 400 that names `param` when so many choices of so many characters exceed the limit on a response. */
export function checkSandboxResponseSize(chars: number, choices: number, param: string): void {
  if (chars * choices <= MAX_RESPONSE_CHARS) return
  throw invalidRequestError(`Invalid '${param}': the answer would be too large for the sandbox.`, param)
}

/** A text, or token ids. */
export type PromptInput = string | number[]

/** Returns at least one input. Throws a 400 that names the field when it has another type, is empty, or has too many inputs. */
export function readInputs(request: SandboxRequest, field: string, maxInputs: number): PromptInput[] {
  const inputs = toInputs(readOptional(request, field), field)
  if (inputs.length > maxInputs)
    throw invalidRequestError(`Invalid '${field}': at most ${maxInputs} inputs are allowed.`, field)
  return inputs
}

function toInputs(value: unknown, field: string): PromptInput[] {
  if (value === undefined) throw invalidRequestError(`Missing required parameter: '${field}'.`, field)
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value) || value.length === 0) throw invalidInputsError(field)
  if (isTokens(value)) return [value]
  if (value.every(item => typeof item === 'string')) return value
  if (value.every(isTokens)) return value
  throw invalidInputsError(field)
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every(item => Number.isInteger(item) && item >= 0)
}

const invalidInputsError = (field: string) =>
  invalidRequestError(
    `Invalid '${field}': expected a string, an array of strings, an array of tokens, or an array of token arrays, not empty.`,
    field,
  )
