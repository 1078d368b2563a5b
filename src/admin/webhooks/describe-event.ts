/** Describes events to people: one sentence for each type, and the dashboard's page about it. */
import type { WEBHOOK_EVENT_TYPES } from '../../postgres/seeds.generated.ts'

type EventType = (typeof WEBHOOK_EVENT_TYPES)[number]
export type EventKind = EventType['kind']
/** The fields that the payload of a type may have. */
type Payload<Kind extends EventKind> = Readonly<
  Partial<Record<Extract<EventType, { kind: Kind }>['payload'][number], unknown>>
>

interface EventDescription<Kind extends EventKind> {
  /** Contains names that users chose, in plain text. Never contains a secret or a part of one. */
  sentence(payload: Payload<Kind>, project: string): string
  /** The path below the project's pages in the dashboard. */
  page: string
}

const LOCALE = 'en'
const PERIOD_ADJECTIVES: Readonly<Record<string, string>> = { day: 'daily', week: 'weekly', month: 'monthly' }
const BUDGET_SCOPES: Readonly<Record<string, string>> = {
  api_key: ' for an API key',
  model: ' for a model',
  tag: ' for a tag',
}

const DESCRIPTIONS: { readonly [Kind in EventKind]: EventDescription<Kind> } = {
  'api_key.created': {
    sentence({ name, type, expires_at }, project) {
      const expiry = expires_at === undefined ? '' : ` It expires on ${formatTime(expires_at)}.`
      return `The ${type === 'test' ? 'test key' : 'API key'} "${name}" was created in project ${project}.${expiry}`
    },
    page: 'settings/keys',
  },
  'api_key.deactivated': {
    sentence: ({ name }, project) => `The API key "${name}" of project ${project} was deactivated.`,
    page: 'settings/keys',
  },
  'api_key.expiring': {
    sentence: ({ name, expires_at }, project) =>
      `The API key "${name}" of project ${project} expires on ${formatTime(expires_at)}.`,
    page: 'settings/keys',
  },
  'budget.threshold': { sentence: describeThreshold, page: 'settings/limits' },
  'error_rate.high': {
    sentence: describeLevel(
      ({ value_percent, limit_percent, requests }, project) =>
        `${formatPercent(value_percent)} of the ${formatCount(requests)} requests of project ${project} in the last half hour failed with a 5xx; the limit is ${formatPercent(limit_percent)}.`,
      ({ value_percent }, project) =>
        `The errors of project ${project} are back to normal: ${formatPercent(value_percent)} of the requests in the last half hour failed.`,
    ),
    page: 'requests',
  },
  'hit_rate.low': {
    sentence: describeLevel(
      ({ value_percent, usual_percent }, project) =>
        `The cache of project ${project} answers much less than usual: the hit rate of the last hour is ${formatPercent(value_percent)}, that of the last 7 days was ${formatPercent(usual_percent)}.`,
      ({ value_percent }, project) =>
        `The cache of project ${project} is back to normal: the hit rate of the last hour is ${formatPercent(value_percent)}.`,
    ),
    page: 'cache',
  },
  'latency.high': {
    sentence: describeLevel(
      ({ value_ms, limit_ms }, project) =>
        `Responses of project ${project} are slow: in the last half hour, 5% took ${formatSeconds(value_ms)} or longer to begin; the limit is ${formatSeconds(limit_ms)}.`,
      ({ value_ms }, project) =>
        `Responses of project ${project} are back to normal: 95% of the last half hour began within ${formatSeconds(value_ms)}.`,
    ),
    page: 'requests',
  },
  'provider.down': {
    sentence: describeLevel(
      ({ provider, requests }, project) =>
        `The provider ${provider} is down for project ${project}: all ${formatCount(requests)} requests to it in the last half hour failed.`,
      ({ provider }, project) => `The provider ${provider} responds to project ${project} again.`,
    ),
    page: 'requests',
  },
  'spend.unusual': {
    sentence: describeLevel(
      ({ value_usd, usual_usd }, project) =>
        `Project ${project} has spent ${formatUsd(value_usd)} in the last 24 hours; a usual day costs ${formatUsd(usual_usd)}.`,
      ({ value_usd }, project) =>
        `The spending of project ${project} is back to normal: ${formatUsd(value_usd)} in the last 24 hours.`,
    ),
    page: 'costs',
  },
  'cache.wrong_hit': {
    sentence: ({ request_id }, project) =>
      `A cached response of project ${project} was marked as wrong: that of the request ${request_id}.`,
    page: 'cache',
  },
  'circuit.opened': {
    sentence: ({ provider, wait_ms }, project) =>
      `The provider ${provider} keeps failing in project ${project}: no requests are sent to it for ${formatSeconds(wait_ms)}.`,
    page: 'requests',
  },
  'quota.threshold': {
    sentence: ({ percent, requests, limit, key_type }, project) =>
      `Project ${project} has reached ${percent}% of its monthly quota for ${key_type === 'test' ? 'test keys' : 'API keys'}: ${formatCount(requests)} of ${formatCount(limit)} requests.`,
    page: 'settings/limits',
  },
  'webhook.test': {
    sentence: (_, project) => `This is a test message of project ${project}.`,
    page: 'settings/alerts',
  },
}

/** Describes an event. Returns a sentence with its type for a type that only newer processes know. */
export function describeEvent(kind: string, payload: object, project: string): { sentence: string; page: string } {
  if (!Object.hasOwn(DESCRIPTIONS, kind)) {
    return { sentence: `Event ${kind} in project ${project}.`, page: 'settings/alerts' }
  }
  const { sentence, page } = DESCRIPTIONS[kind as 'budget.threshold']
  return { sentence: sentence(payload, project), page }
}

type Sentence<Kind extends EventKind> = EventDescription<Kind>['sentence']
type LevelKind = 'error_rate.high' | 'hit_rate.low' | 'latency.high' | 'provider.down' | 'spend.unusual'

/** Returns the sentence of an alert that is raised, and of one that has recovered. */
function describeLevel<Kind extends LevelKind>(raised: Sentence<Kind>, recovered: Sentence<Kind>): Sentence<Kind> {
  return (payload, project) =>
    ((payload as { state?: unknown }).state === 'recovered' ? recovered : raised)(payload, project)
}

function describeThreshold(payload: Payload<'budget.threshold'>, project: string): string {
  const { percent, unit, used, limit, per, scope, spend_alert_id } = payload
  const isOrganization = scope === 'organization'
  const spender = isOrganization ? 'The organization' : `Project ${project}`
  const note = isOrganization ? ` Project ${project} is part of it.` : ''
  if (spend_alert_id !== undefined) {
    return `${spender} has spent ${formatUsd(used)} this month, which reaches the spend alert at ${formatUsd(limit)}.${note}`
  }
  const amounts =
    unit === 'usd'
      ? `${formatUsd(used)} of ${formatUsd(limit)}`
      : `${formatCount(used)} of ${formatCount(limit)} tokens`
  const budget = `${PERIOD_ADJECTIVES[`${per}`] ?? 'total'} budget${BUDGET_SCOPES[`${scope}`] ?? ''}`
  return `${spender} has reached ${percent}% of its ${budget}: ${amounts}.${note}`
}

function formatUsd(usd: unknown): string {
  const digits = Number(usd) === 0 || Number(usd) >= 0.1 ? 2 : 6
  return new Intl.NumberFormat(LOCALE, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(Number(usd))
}

function formatCount(count: unknown): string {
  return Number(count).toLocaleString(LOCALE)
}

function formatPercent(percent: unknown): string {
  return `${Number(percent).toLocaleString(LOCALE, { maximumFractionDigits: 1 })}%`
}

function formatSeconds(ms: unknown): string {
  const seconds = Math.ceil(Number(ms) / 1000)
  return `${formatCount(seconds)} ${seconds === 1 ? 'second' : 'seconds'}`
}

/** Returns a time such as `2026-12-01 10:00 UTC`. */
function formatTime(at: unknown): string {
  return `${new Date(`${at}`).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
