/** Decides what a provider's error means to a client: by its codes and status first, then by its words. */
import { ACCOUNT_BLOCKED_PATTERN } from './account-blocked.ts'
import { isContextLengthExceeded } from './context-length-error.ts'

/** What clients act on. */
export type ErrorCategory =
  | 'fullContext'
  | 'moderated'
  | 'quotaExhausted'
  | 'rateLimited'
  | 'unknownModel'
  | 'overloaded'
  | 'invalidKey'

export interface ErrorEvidence {
  /** Null for an error inside a response. */
  status: number | null
  /** In lower-case words. */
  codes: readonly string[]
  message: string
  /** Numbers beside the message. */
  counts: string
}

/** An error of this meaning may have such a status; codes say it alone, words where the status does not contradict. */
interface Sign {
  meaning: ErrorCategory
  code: RegExp
  words(message: string): boolean
  statuses: (status: number) => boolean
}

const isRequestFault = (status: number) => status >= 400 && status < 500 && status !== 401 && status !== 429
const isAny = () => true

const has = (pattern: RegExp) => (text: string) => pattern.test(text)

const FLAGGED =
  /\bflagged\b|\b(?:inappropriate|sensitive|harmful|unsafe|prohibited) (?:\w+ ){0,3}content\b|\bcontent (?:\w+ ){0,4}(?:inappropriate|sensitive|harmful|unsafe|prohibited)\b/i
const POLICY =
  /\b(?:content|usage|safety|acceptable use) (?:management )?(?:polic\w+|guidelines?|filter\w*|system|checks?)\b|\bmoderation\b/i
/** Without it, a parameter may be meant. */
const REJECTED = /\b(?:block|violat|reject|filtered|trigger|contain|refus|fail|detect)/i

/** The first that applies counts. */
const SIGNS: readonly Sign[] = [
  {
    meaning: 'rateLimited',
    code: /\brate limit|\bthrottl|\btoo many requests\b/,
    words: has(
      /(?:\b|_)per[ _-]?(?:sec(?:ond)?|min(?:ute)?|hour|day|month)(?:\b|_)|\b(?:daily|hourly)\b|\b[tr]p[smhd]\b|\brate.?limit(?:s|ed)?\b|\btoo many requests\b|\bthrottl\w+|\b(?:retry|try again) (?:in|after) (?:about )?\d|\bwait before trying again\b/i,
    ),
    statuses: status => status < 500 && status !== 402 && status !== 401,
  },
  {
    meaning: 'quotaExhausted',
    code: /\bquota\b|\bbilling\b|\bcredits?\b|\bbalance\b|\bpayment\b|\bspend limit\b|\barrear/,
    words: has(
      /\b(?:insufficient|enough|more|out of|no|remaining) (?:\w+ )?(?:credits?|balance|funds|quota)\b|\b(?:credit|account) balance\b|\bcurrent quota\b|\bquota (?:\w+ )?(?:exceeded|exhausted)\b|\bcredits? (?:exhausted|exceeded|required)\b|\bbilling\b|\bpayment required\b|\bspend(?:ing)? limit\b|\brecharge\b/i,
    ),
    statuses: status => status >= 400 && status < 500 && status !== 401,
  },
  {
    meaning: 'moderated',
    code: /\bcontent (?:policy|filter|moderation|flagged)|\bmoderation\b|\bdata ?inspection\b|\bsensitive\b|\bresponsible ai\b|\bsafety\b|\bprohibited content\b/,
    words: text => FLAGGED.test(text) || (POLICY.test(text) && REJECTED.test(text)),
    statuses: isRequestFault,
  },
  {
    meaning: 'unknownModel',
    code: /\bmodel (?:\w+ ){0,3}(?:not (?:found|exist|supported)|decommissioned|deprecated)|\b(?:invalid|unknown) model\b/,
    words: has(
      /\bmodel\b[^;\n]{0,80}?\b(?:not found|(?:not|n.t) exist|decommissioned)\b|\b(?:invalid|unknown|unrecognized|no such|not found the|unable to access) model\b|\bnot a valid model\b|\bmodel identifier is invalid\b|\brequested model is not supported\b|\bmodels\/\S+ is not found\b|\bno endpoints found for\b|^model: \S+$/i,
    ),
    statuses: status => status === 400 || status === 404 || status === 410 || status === 422,
  },
  {
    meaning: 'overloaded',
    code: /\boverload|\bat capacity\b/,
    words: has(
      /\boverloaded\b|\b(?:over|at|no|insufficient|enough) capacity\b|\bserver (?:is )?busy\b|\bhigh (?:demand|load)\b/i,
    ),
    statuses: status => status === 429 || status >= 500,
  },
  {
    meaning: 'invalidKey',
    code: /\binvalid api key\b|\bauthentication\b|\bunauthenticated\b/,
    words: () => false,
    statuses: isAny,
  },
]

/** Where no code and no words tell. */
const BY_STATUS: ReadonlyMap<number, ErrorCategory> = new Map([
  [401, 'invalidKey'],
  [402, 'quotaExhausted'],
  [429, 'rateLimited'],
  [503, 'overloaded'],
  [529, 'overloaded'],
])

const ABOUT_ACCOUNT = new RegExp(ACCOUNT_BLOCKED_PATTERN, 'i')

export function classifyError(evidence: ErrorEvidence): ErrorCategory | null {
  const { status, codes, message, counts } = evidence
  const mayBe = (meaning: ErrorCategory) =>
    SIGNS.every(sign => sign.meaning !== meaning || status === null || sign.statuses(status))
  const isAboutRequest = status !== 401 && status !== 402 && !ABOUT_ACCOUNT.test(message)
  const byCodes = classifyErrorCodes(codes)
  if (byCodes === 'fullContext' || (byCodes !== null && byCodes !== 'invalidKey' && mayBe(byCodes))) return byCodes
  const byWords = meaningOfWords(evidence, isAboutRequest)
  const mayBeFull = isAboutRequest && status !== 429 && byWords !== 'rateLimited'
  if (mayBeFull && isContextLengthExceeded(message, codes, counts)) return 'fullContext'
  if (byCodes !== null && mayBe(byCodes)) return byCodes
  return byWords ?? (status === null ? null : (BY_STATUS.get(status) ?? null))
}

/** Of codes in lower-case words. */
export function classifyErrorCodes(codes: readonly string[]): ErrorCategory | null {
  if (codes.some(code => isContextLengthExceeded('', [code], ''))) return 'fullContext'
  return SIGNS.find(({ code }) => codes.some(each => code.test(each)))?.meaning ?? null
}

function meaningOfWords({ status, message }: ErrorEvidence, isAboutRequest: boolean): ErrorCategory | null {
  const sign = SIGNS.find(
    ({ meaning, words, statuses }) =>
      words(message) && (status === null || statuses(status)) && (isAboutRequest || meaning !== 'moderated'),
  )
  return sign?.meaning ?? null
}
