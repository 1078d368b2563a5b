/** Classifies a provider's error, first by its codes and status, then by its message. */
import { isContextLengthExceeded } from './context-length-error.ts'

const STATE = 'suspended|deactivated|disabled|revoked|banned|leaked|expired|terminated|restricted|blocked|on hold'
const HOLDER = 'key|account|organi[sz]ation|team|workspace|user|your access|billing|credentials?'

/** Matches a sentence about the state of a key or of its holder, such as "account suspended for violating our terms", in either order. */
export const ACCOUNT_BLOCKED_PATTERN = `\\b(?:${HOLDER})\\b[^.\\n]{0,60}\\b(?:${STATE})\\b|\\b(?:${STATE})\\b[^.\\n]{0,30}\\b(?:${HOLDER})\\b`

/** The categories of errors on which clients act. */
export type ErrorCategory =
  | 'fullContext'
  | 'moderated'
  | 'quotaExhausted'
  | 'rateLimited'
  | 'unknownModel'
  | 'overloaded'
  | 'invalidKey'

export interface ErrorEvidence {
  /** Null for an error within a response. */
  status: number | null
  /** The codes as lower-case words. */
  codes: readonly string[]
  message: string
  /** Numbers in the error object's other fields. */
  counts: string
}

/** A rule for a category. A code alone is sufficient; a message counts only if the status is possible for the category. */
interface CategoryRule {
  category: ErrorCategory
  code: RegExp
  matchesMessage(message: string): boolean
  statuses: (status: number) => boolean
}

const isRequestFault = (status: number) => status >= 400 && status < 500 && status !== 401 && status !== 429
const isAny = () => true

const has = (pattern: RegExp) => (text: string) => pattern.test(text)

const FLAGGED =
  /\bflagged\b|\b(?:inappropriate|sensitive|harmful|unsafe|prohibited) (?:\w+ ){0,3}content\b|\bcontent (?:\w+ ){0,4}(?:inappropriate|sensitive|harmful|unsafe|prohibited)\b/i
const POLICY =
  /\b(?:content|usage|safety|acceptable use) (?:management )?(?:polic\w+|guidelines?|filter\w*|system|checks?)\b|\bmoderation\b/i
/** Must also match for POLICY to count, because the message may otherwise be about a parameter. */
const REJECTED = /\b(?:block|violat|reject|filtered|trigger|contain|refus|fail|detect)/i

/** The rules in order of precedence. */
const RULES: readonly CategoryRule[] = [
  {
    category: 'rateLimited',
    code: /\brate limit|\bthrottl|\btoo many requests\b/,
    matchesMessage: has(
      /(?:\b|_)per[ _-]?(?:sec(?:ond)?|min(?:ute)?|hour|day|month)(?:\b|_)|\b(?:daily|hourly)\b|\b[tr]p[smhd]\b|\brate.?limit(?:s|ed)?\b|\btoo many requests\b|\bthrottl\w+|\b(?:retry|try again) (?:in|after) (?:about )?\d|\bwait before trying again\b/i,
    ),
    statuses: status => status < 500 && status !== 402 && status !== 401,
  },
  {
    category: 'quotaExhausted',
    code: /\bquota\b|\bbilling\b|\bcredits?\b|\bbalance\b|\bpayment\b|\bspend limit\b|\barrear/,
    matchesMessage: has(
      /\b(?:insufficient|enough|more|out of|no|remaining) (?:\w+ )?(?:credits?|balance|funds|quota)\b|\b(?:credit|account) balance\b|\bcurrent quota\b|\bquota (?:\w+ )?(?:exceeded|exhausted)\b|\bcredits? (?:exhausted|exceeded|required)\b|\bbilling\b|\bpayment required\b|\bspend(?:ing)? limit\b|\brecharge\b/i,
    ),
    statuses: status => status >= 400 && status < 500 && status !== 401,
  },
  {
    category: 'moderated',
    code: /\bcontent (?:policy|filter|moderation|flagged)|\bmoderation\b|\bdata ?inspection\b|\bsensitive\b|\bresponsible ai\b|\bsafety\b|\bprohibited content\b/,
    matchesMessage: text => FLAGGED.test(text) || (POLICY.test(text) && REJECTED.test(text)),
    statuses: isRequestFault,
  },
  {
    category: 'unknownModel',
    code: /\bmodel (?:\w+ ){0,3}(?:not (?:found|exist|supported)|decommissioned|deprecated)|\b(?:invalid|unknown) model\b/,
    matchesMessage: has(
      /\bmodel\b[^;\n]{0,80}?\b(?:not found|(?:not|n.t) exist|decommissioned)\b|\b(?:invalid|unknown|unrecognized|no such|not found the|unable to access) model\b|\bnot a valid model\b|\bmodel identifier is invalid\b|\brequested model is not supported\b|\bmodels\/\S+ is not found\b|\bno endpoints found for\b|^model: \S+$/i,
    ),
    statuses: status => status === 400 || status === 404 || status === 410 || status === 422,
  },
  {
    category: 'overloaded',
    code: /\boverload|\bat capacity\b/,
    matchesMessage: has(
      /\boverloaded\b|\b(?:over|at|no|insufficient|enough) capacity\b|\bserver (?:is )?busy\b|\bhigh (?:demand|load)\b/i,
    ),
    statuses: status => status === 429 || status >= 500,
  },
  {
    category: 'invalidKey',
    code: /\binvalid api key\b|\bauthentication\b|\bunauthenticated\b/,
    matchesMessage: () => false,
    statuses: isAny,
  },
]

/** Categories by status, if neither codes nor the message decide. */
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
  const mayBe = (category: ErrorCategory) =>
    RULES.every(rule => rule.category !== category || status === null || rule.statuses(status))
  const isAboutRequest = status !== 401 && status !== 402 && !ABOUT_ACCOUNT.test(message)
  const byCodes = classifyErrorCodes(codes)
  if (byCodes === 'fullContext' || (byCodes !== null && byCodes !== 'invalidKey' && mayBe(byCodes))) return byCodes
  const byMessage = classifyMessage(evidence, isAboutRequest)
  const mayExceedContext = isAboutRequest && status !== 429 && byMessage !== 'rateLimited'
  if (mayExceedContext && isContextLengthExceeded(message, codes, counts)) return 'fullContext'
  if (byCodes !== null && mayBe(byCodes)) return byCodes
  return byMessage ?? (status === null ? null : (BY_STATUS.get(status) ?? null))
}

/** Classifies codes, which are lower-case words. */
export function classifyErrorCodes(codes: readonly string[]): ErrorCategory | null {
  if (codes.some(code => isContextLengthExceeded('', [code], ''))) return 'fullContext'
  return RULES.find(({ code }) => codes.some(each => code.test(each)))?.category ?? null
}

function classifyMessage({ status, message }: ErrorEvidence, isAboutRequest: boolean): ErrorCategory | null {
  const rule = RULES.find(
    ({ category, matchesMessage, statuses }) =>
      matchesMessage(message) && (status === null || statuses(status)) && (isAboutRequest || category !== 'moderated'),
  )
  return rule?.category ?? null
}
