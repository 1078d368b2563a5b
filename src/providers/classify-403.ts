/**
 * What a provider's 403 is about: what the request asks for, so that the client has to change it, or the key, which somebody else has to.
 * Providers answer both alike, and none by a field that others have. What is told is: OpenRouter's `metadata`, which has what was flagged or
 * what another provider answered; codes; and words. Of words, those about the state of a key or an account come first ("suspended for
 * violating our terms"), then those about content, terms, places and models, which may mention a key, too.
 */
import { ACCOUNT_BLOCKED_PATTERN } from '../formats/errors/account-blocked.ts'
import { isJsonObject, type JsonObject } from '../formats/json/canonical.ts'
import { readAllBytes } from './read-bytes.ts'
import type { UpstreamResponse } from './upstream.ts'

export type RejectionCause = 'request' | 'key' | 'unknown'

/** Of a refusal: it is a few lines. */
const MOST_BYTES = 1_048_576
const DEEPEST = 4
/** Of what is told, as much as is read. */
const MOST_CHARS = 8_192

/** Reads a 403, and returns it unread. */
export async function read403(answer: UpstreamResponse, provider: string): Promise<[RejectionCause, UpstreamResponse]> {
  const bytes = await readAllBytes(answer.body, provider, MOST_BYTES)
  const body = new Response(Uint8Array.from(bytes)).body ?? answer.body
  return [classify403(new TextDecoder().decode(bytes)), { ...answer, body }]
}

/** Of the body of a 403. */
export function classify403(text: string): RejectionCause {
  return judge(parse(text), DEEPEST)
}

function judge(body: unknown, depth: number): RejectionCause {
  if (!isJsonObject(body) || depth === 0) return 'unknown'
  const error = isJsonObject(body.error) ? body.error : body
  const metadata = isJsonObject(error.metadata) ? error.metadata : {}
  if (isTold(metadata.reasons) || isTold(metadata.flagged_input)) return 'request'
  const told = [...codesOf(body, error, metadata).map(words), ...messagesOf(body, error)]
    .join('\n')
    .slice(0, MOST_CHARS)
  // An aggregator has forwarded the request with a key that it took: only the other provider's own words can blame one.
  const forwarded = metadata.raw === undefined ? 'unknown' : judge(readRaw(metadata.raw), depth - 1)
  if (forwarded !== 'unknown') return forwarded
  if (ABOUT_ACCOUNT.test(told)) return 'key'
  if (ABOUT_REQUEST.test(told)) return 'request'
  return ABOUT_KEY.test(told) ? 'key' : 'unknown'
}

const isTold = (value: unknown) => (typeof value === 'string' || Array.isArray(value)) && value.length > 0

function codesOf(body: JsonObject, error: JsonObject, metadata: JsonObject): string[] {
  const details = Array.isArray(error.details)
    ? error.details.filter(isJsonObject)
    : [error.details].filter(isJsonObject)
  const all = [
    ...[body.code, body.type, error.code, error.type, error.status],
    ...[metadata.error_type, metadata.limit_source, metadata.provider_code],
    ...details.flatMap(({ reason, error_code }) => [reason, error_code]),
  ]
  return all.filter(code => typeof code === 'string')
}

function messagesOf(body: JsonObject, error: JsonObject): string[] {
  const detail = isJsonObject(body.detail) ? [body.detail.error, body.detail.message] : [body.detail]
  return [body.error, body.message, ...detail, error.message].filter(text => typeof text === 'string')
}

/** `unsupported_country` and `permission-denied` as words. */
function words(code: string): string {
  return code.replace(/[_-]/g, ' ')
}

/** The other provider's answer, which OpenRouter quotes as text or within an object of its own. */
function readRaw(raw: unknown): unknown {
  if (typeof raw === 'string') return parse(raw) ?? { message: raw }
  return isJsonObject(raw) && typeof raw.data === 'string' ? parse(raw.data) : raw
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The state of a key or its holder; what a budget or a purse has left. */
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
/** Content and who may see it, terms, places, and models that another key of the holder would not open either. */
const ABOUT_REQUEST = new RegExp(
  [
    '\\b(?:content|usage|safety|acceptable use|data) (?:polic\\w+|guidelines?|filter\\w*|check\\w*|violat\\w+)',
    '\\bmoderat\\w+|\\bflagged\\b|\\bharmful\\b|\\binappropriate\\b|\\bprohibited\\b|\\bjailbreak\\w*|\\bprompt injection\\b|\\brefusal\\b',
    '\\bviolat\\w+|\\bterms\\b|\\brequest (?:was )?blocked\\b|\\bguardrails?\\b',
    '\\bregions?\\b|\\bcountr(?:y|ies)\\b|\\bterritor(?:y|ies)\\b|\\blocation\\b',
    '\\bmodel not (?:found|available|allowed)\\b|\\baccess to (?:the |this )?model\\b|\\bmodel\\b[^.\\n]{0,60}\\bnot (?:available|allowed|supported|accessible)\\b',
    '\\bnot (?:allowed|permitted|authorized) to [^.\\n]{0,40}\\bmodel\\b',
    '\\bverified to use (?:the |this )?model\\b',
  ].join('|'),
  'i',
)
const ABOUT_KEY =
  /\bkeys?\b|\bcredentials?\b|\bauthenticat\w+|\btokens? (?:is|are|has|was)\b|\baccount\b|\borgani[sz]ation\b/i
