/** Reads inputs that may be a text, token ids, or a list of either. */
import { invalidRequestError } from '../../errors/errors.ts'
import { readOptional } from '../../formats/json/read-fields.ts'
import type { SandboxRequest } from './fields.ts'

/** A text, or token ids. */
export type PromptInput = string | number[]

/** Returns at least one input; throws a 400 naming the field when it has none of the four forms, is empty, or too long. */
export function readInputs(request: SandboxRequest, field: string, mostInputs: number): PromptInput[] {
  const inputs = toInputs(readOptional(request, field), field)
  if (inputs.length > mostInputs)
    throw invalidRequestError(`Invalid '${field}': at most ${mostInputs} inputs are allowed.`, field)
  return inputs
}

function toInputs(value: unknown, field: string): PromptInput[] {
  if (value === undefined) throw invalidRequestError(`Missing required parameter: '${field}'.`, field)
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value) || value.length === 0) throw refuse(field)
  if (isTokens(value)) return [value]
  if (value.every(item => typeof item === 'string')) return value
  if (value.every(isTokens)) return value
  throw refuse(field)
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every(item => Number.isInteger(item) && item >= 0)
}

const refuse = (field: string) =>
  invalidRequestError(
    `Invalid '${field}': expected a string, an array of strings, an array of tokens, or an array of token arrays, not empty.`,
    field,
  )
