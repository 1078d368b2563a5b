/** Reads inputs that are a text, token ids, or a list of either. */
import { invalidRequestError } from '../../errors/errors.ts'
import { readOptional } from '../../formats/json/read-fields.ts'
import type { SandboxRequest } from './fields.ts'

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
