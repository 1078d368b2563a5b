/**
 * Decides whether a fallback may help after a provider's error. It does after errors about the model, the key, the account or the size of the
 * request, and after temporary ones. It does not after errors about the content or the form of the request, which every model should reject.
 */
import { ACCOUNT_BLOCKED_PATTERN } from '../formats/errors/error-category.ts'
import { readProviderError } from '../formats/errors/provider-error.ts'
import { classify403 } from './classify-403.ts'
import { isTemporaryStatus, UpstreamFailure } from './upstream-failure.ts'

/** An upstream's error response, as the client gets it. */
interface UpstreamRejection {
  status: number
  /** The upstream's status, if the client gets another. */
  upstreamStatus?: number
  body: Uint8Array | string
}

/** Statuses that are never about content or form: key, balance, size, another service that failed (Bedrock), capacity (Groq). */
const NOT_ABOUT_REQUEST: ReadonlySet<number> = new Set([401, 402, 413, 424, 498])

/** Matches sentences about a model that is withdrawn or that the account may not use, and about an account in that state. */
const ABOUT_MODEL_OR_ACCOUNT = new RegExp(
  [
    ACCOUNT_BLOCKED_PATTERN,
    '\\bmodel\\b[^;.\\n]{0,80}\\b(?:is|was|has been) (?:deprecated|retired|discontinued|shut down|disabled)\\b',
    '\\bmodel\\b[^;.\\n]{0,80}\\bno longer (?:available|supported|offered)\\b|\\bmodel\\b[^;.\\n]{0,40}\\b(?:is|was) (?:not (?:currently )?available|unavailable)\\b',
    '\\baccess to (?:the |this )?model\\b|\\bnot (?:allowed|permitted|authorized) to [^.\\n]{0,40}\\bmodel\\b',
    '\\borgani[sz]ation must be verified\\b|\\blocation is not supported\\b',
    '\\bapi[ _]key\\b[^.\\n]{0,40}\\b(?:not valid|invalid|expired|not found)\\b|\\binvalid api[ _]key\\b',
    '\\bon-demand throughput\\b',
  ].join('|'),
  'i',
)
/** Matches messages of a 404 about an object that the request names. */
const ABOUT_OBJECT =
  /\b(?:files?|responses?|items?|conversations?|containers?|vector[ _]stores?|threads?|assistants?|batch(?:es)?|prompts?|cached content)\b/i

/** Whether a fallback may help. The proxy's own errors, and a client that disconnected, end the request. */
export function canFallBackAfter(failure: Error | UpstreamRejection): boolean {
  if (!(failure instanceof Error))
    return isAboutOtherThanRequest(failure.upstreamStatus ?? failure.status, decode(failure.body))
  if (!(failure instanceof UpstreamFailure)) return false
  if (failure.kind !== 'reported') return true
  const { status, message, code, type } = failure
  return isAboutOtherThanRequest(status, { error: { message, code, type } })
}

/** `body` is the text of a response, or an error as an object. */
function isAboutOtherThanRequest(status: number, body: string | object): boolean {
  if (isTemporaryStatus(status)) return true
  // A 403 that names no cause is treated as one about the key.
  if (status === 403) return classify403(typeof body === 'string' ? body : JSON.stringify(body)) !== 'content'
  const { category, message, hasCategorizedCode } = readProviderError(body, status)
  if (category === 'moderated') return false
  if (NOT_ABOUT_REQUEST.has(status)) return true
  // A form error may mention a rate, such as frames per second.
  if (category !== null && (category !== 'rateLimited' || hasCategorizedCode)) return true
  if (status === 404 || status === 410) return !ABOUT_OBJECT.test(message)
  return (status === 400 || status === 422) && ABOUT_MODEL_OR_ACCOUNT.test(message)
}

function decode(body: Uint8Array | string): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}
