/** The one reader of providers' errors: a body of any form, with its status, becomes what it means and what it says. */

import { classifyError, classifyErrorCodes, type ErrorCategory } from './error-category.ts'
import { type ErrorFields, readErrorFields, toLowerCaseWords } from './error-fields.ts'

export interface ProviderError extends Omit<ErrorFields, 'message' | 'codes'> {
  /** Null for an error that only its status describes. */
  category: ErrorCategory | null
  /** As the provider answered; null for an error inside a response. */
  status: number | null
  /** The provider's own text, or one that names the status. */
  message: string
  /** Whether `code` itself expresses a meaning. */
  hasCategorizedCode: boolean
}

/** `body` is the text of a response, or the object of an event. */
export function readProviderError(body: unknown, status: number | null): ProviderError {
  const { message, codes, ...fields } = readErrorFields(body)
  const evidence = { status, codes: codes.map(toLowerCaseWords), counts: fields.counts, message: message ?? '' }
  const meaning = classifyError(evidence)
  return {
    ...fields,
    message: message ?? describeStatus(status),
    category: meaning,
    status,
    hasCategorizedCode: fields.code !== null && classifyErrorCodes([toLowerCaseWords(fields.code)]) !== null,
  }
}

function describeStatus(status: number | null): string {
  if (status === null) return 'The provider broke off its answer with an error.'
  return `The provider answered with status ${status}.`
}
