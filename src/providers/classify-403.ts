/**
 * Classifies a provider's 403: it is about content, about a model or place, or about the key, which its owner has to change. Another key of the
 * same account helps only against the last one, another model against the last two.
 * Providers use the same status for all, and no common field tells them apart. The classifier reads OpenRouter's `metadata`, which holds what
 * was flagged or another provider's response; then error codes and messages. Words about the state of a key or an account are tested first
 * ("suspended for violating our terms"), then words about content, terms, places and models, because such messages may mention a key, too.
 */
import { ACCOUNT_BLOCKED_PATTERN } from '../formats/errors/error-category.ts'
import { asObjects, isJsonObject, type JsonObject, parseJson } from '../formats/json/canonical.ts'
import { readErrorText } from './read-bytes.ts'
import type { UpstreamResponse } from './upstream.ts'

export type RejectionCause = 'content' | 'model' | 'key' | 'unknown'

/** Whether another key of the same account would not help. */
export function isAboutRequest(cause: RejectionCause): boolean {
  return cause === 'content' || cause === 'model'
}

/** The number of responses within responses that are read. */
const MAX_DEPTH = 4
/** Characters of codes and messages that are searched. */
const MAX_SEARCHED_CHARS = 8_192

/** Classifies a 403, and returns it with its body ready to be read again. */
export async function read403(
  response: UpstreamResponse,
  provider: string,
): Promise<[RejectionCause, UpstreamResponse]> {
  const [text, unread] = await readErrorText(response, provider)
  return [classify403(text), unread]
}

/** Classifies a 403 by the text of its body. */
export function classify403(text: string): RejectionCause {
  return classifyBody(parseJson(text), MAX_DEPTH)
}

function classifyBody(body: unknown, depth: number): RejectionCause {
  if (!isJsonObject(body) || depth === 0) return 'unknown'
  const error = isJsonObject(body.error) ? body.error : body
  const metadata = isJsonObject(error.metadata) ? error.metadata : {}
  if (isNonEmpty(metadata.reasons) || isNonEmpty(metadata.flagged_input)) return 'content'
  const searched = [...codesOf(body, error, metadata).map(splitWords), ...messagesOf(body, error)]
    .join('\n')
    .slice(0, MAX_SEARCHED_CHARS)
  // An aggregator that forwarded the request accepted the key, so only the other provider's response can be about a key.
  const forwarded = metadata.raw === undefined ? 'unknown' : classifyBody(readRaw(metadata.raw), depth - 1)
  if (forwarded !== 'unknown') return forwarded
  if (ABOUT_ACCOUNT.test(searched)) return 'key'
  if (ABOUT_CONTENT.test(searched)) return 'content'
  if (ABOUT_MODEL.test(searched)) return 'model'
  return ABOUT_KEY.test(searched) ? 'key' : 'unknown'
}

const isNonEmpty = (value: unknown) => (typeof value === 'string' || Array.isArray(value)) && value.length > 0

function codesOf(body: JsonObject, error: JsonObject, metadata: JsonObject): string[] {
  const candidates = [
    ...[body.code, body.type, error.code, error.type, error.status],
    ...[metadata.error_type, metadata.limit_source, metadata.provider_code],
    ...asObjects([error.details].flat()).flatMap(({ reason, error_code }) => [reason, error_code]),
  ]
  return candidates.filter(code => typeof code === 'string')
}

function messagesOf(body: JsonObject, error: JsonObject): string[] {
  const detail = isJsonObject(body.detail) ? [body.detail.error, body.detail.message] : [body.detail]
  return [body.error, body.message, ...detail, error.message].filter(text => typeof text === 'string')
}

/** Returns a code such as `unsupported_country` or `permission-denied` as words. */
function splitWords(code: string): string {
  return code.replace(/[_-]/g, ' ')
}

/** Returns the other provider's response, which OpenRouter quotes as text or within an object of its own. */
function readRaw(raw: unknown): unknown {
  if (typeof raw === 'string') return parseJson(raw) ?? { message: raw }
  return isJsonObject(raw) && typeof raw.data === 'string' ? parseJson(raw.data) : raw
}

/** Matches messages about the state of a key or of its account, and about an exhausted budget or balance. */
const ABOUT_ACCOUNT = new RegExp(
  [
    ACCOUNT_BLOCKED_PATTERN,
    '\\b(?:key|budget|spend\\w*|credit|usage) limit\\b',
    '\\b(?:guardrail|workspace) budget\\b',
    '\\b(?:insufficient|enough|any|add|more|out of|buy|purchase|requires?) (?:\\w+ )?credits?\\b|\\bcredits? (?:exhausted|exceeded|balance|required)\\b',
    '\\bquota\\b|\\bbilling\\b|\\bpayment\\b',
    '\\binvalid (?:api )?key\\b|\\bscopes?\\b',
  ].join('|'),
  'i',
)
/** Matches messages about content and terms. */
const ABOUT_CONTENT = new RegExp(
  [
    '\\b(?:content|usage|safety|acceptable use|data) (?:polic\\w+|guidelines?|filter\\w*|check\\w*|violat\\w+)',
    '\\bmoderat\\w+|\\bflagged\\b|\\bharmful\\b|\\binappropriate\\b|\\bprohibited\\b|\\bjailbreak\\w*|\\bprompt injection\\b|\\brefusal\\b',
    '\\bviolat\\w+|(?<!\\bmodel )\\bterms\\b(?! acceptance)|\\brequest (?:was )?blocked\\b|\\bguardrails?\\b',
  ].join('|'),
  'i',
)
/** Matches messages about places, and about models that another key of the same account could not use either. */
const ABOUT_MODEL = new RegExp(
  [
    '\\bregions?\\b|\\bcountr(?:y|ies)\\b|\\bterritor(?:y|ies)\\b|\\blocation\\b',
    '\\bmodel terms\\b|\\bterms acceptance\\b',
    '\\bmodel not (?:found|available|allowed)\\b|\\baccess to (?:the |this )?model\\b|\\bmodel\\b[^.\\n]{0,60}\\bnot (?:available|allowed|supported|accessible)\\b',
    '\\bnot (?:allowed|permitted|authorized) to [^.\\n]{0,40}\\bmodel\\b',
    '\\bverified to use (?:the |this )?model\\b',
  ].join('|'),
  'i',
)
const ABOUT_KEY =
  /\bkeys?\b|\bcredentials?\b|\bauthenticat\w+|\btokens? (?:is|are|has|was)\b|\baccount\b|\borgani[sz]ation\b/i
