/** Reads providers' errors: converts a body in any format, with its status, to a category and a message. */

import { classifyError, classifyErrorCodes, type ErrorCategory } from './error-category.ts'
import { type ErrorFields, readErrorFields, toLowerCaseWords } from './error-fields.ts'

export interface ProviderError extends Omit<ErrorFields, 'message' | 'codes'> {
  /** Null for an error that fits no category. */
  category: ErrorCategory | null
  /** The provider's status; null for an error within a response. */
  status: number | null
  /** The provider's message, or one with the status if it sent none. */
  message: string
  /** Whether `code` itself expresses a category. */
  hasCategorizedCode: boolean
}

/** Reads an error. `body` is the text of a response or the object of an event. */
export function readProviderError(body: unknown, status: number | null): ProviderError {
  const { message, codes, ...fields } = readErrorFields(body)
  const evidence = { status, codes: codes.map(toLowerCaseWords), counts: fields.counts, message: message ?? '' }
  const category = classifyError(evidence)
  return {
    ...fields,
    message: message ?? describeStatus(status),
    category,
    status,
    hasCategorizedCode: fields.code !== null && classifyErrorCodes([toLowerCaseWords(fields.code)]) !== null,
  }
}

function describeStatus(status: number | null): string {
  if (status === null) return 'The provider ended its response with an error.'
  return `The provider responded with status ${status}.`
}
