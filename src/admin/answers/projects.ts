/** Projects, and what each of them has. */
import { type Static, Type as t } from '@sinclair/typebox'
import { delivery, orNull, type plan, quota, settingKind, words } from '../../postgres/admin/rows.ts'
import { count, listOf, objectOf, pagesOf, seconds, secondsOrNull, text } from './shared.ts'

const keyType = words('project', 'test')

export const modelPermissions = objectOf(
  'ModelPermissions',
  'project.model_permissions',
  { mode: words('allow_list', 'deny_list'), model_ids: t.Array(text) },
  'The setting allowed_models; an empty deny_list where all models are allowed.',
)

export const providerKey = objectOf('ProviderKey', 'project.provider_key', {
  provider: text,
  name: text,
  weight: t.Integer({ minimum: 1 }),
  redacted_value: text,
  created_at: seconds,
  updated_at: seconds,
})
export type ProviderKey = Static<typeof providerKey>
export const providerKeys = t.Object({
  ...listOf(providerKey).properties,
  providers: t.Array(text, { description: 'Those that a project may have keys of.' }),
})

export const route = objectOf(
  'Route',
  'project.route',
  {
    id: text,
    model: t.String({ description: 'The model behind an alias; else the id.' }),
    kind: orNull(t.String({ description: 'chat, embedding, …' })),
    provider: orNull(text),
    problem: orNull(t.Object({ status: t.Integer(), code: text, message: text })),
  },
  'Who would answer a model, or what it would be refused with.',
)
export type Route = Static<typeof route>

export const settings = objectOf('Settings', 'project.settings', {
  project_id: text,
  settings: t.Record(t.String(), t.Unknown(), { description: 'Those that are set, and the defaults of all others.' }),
  kinds: t.Array(settingKind),
})
export type Settings = Static<typeof settings>

const webhookFields = { id: text, url: text, events: t.Array(text, { description: 'Empty: all.' }) }
export const webhook = objectOf('Webhook', 'project.webhook', {
  ...webhookFields,
  created_at: seconds,
  disabled_at: secondsOrNull,
  pending: count,
  failed: count,
})
export type Webhook = Static<typeof webhook>
/** With its secret, which is shown this once. */
export const addedWebhook = objectOf('AddedWebhook', 'project.webhook', { ...webhookFields, secret: text })

export const listedDelivery = objectOf('Delivery', 'project.delivery', {
  ...delivery.properties,
  id: text,
  webhook_id: text,
  created_at: seconds,
  tried_at: secondsOrNull,
  next_at: secondsOrNull,
})
export type Delivery = Static<typeof listedDelivery>
export const begunDelivery = objectOf('BegunDelivery', 'project.delivery', {
  id: text,
  state: t.Optional(t.Literal('pending')),
})

export const rateLimit = objectOf(
  'RateLimit',
  'project.rate_limit',
  {
    id: text,
    model: t.Literal('*'),
    max_requests_per_1_minute: count,
    max_tokens_per_1_minute: orNull(count),
  },
  'One window: it covers all models together.',
)
export const rateLimits = pagesOf(rateLimit)

export const limits = objectOf('Limits', 'project.limits', {
  plan: text,
  month: t.String({ description: 'Its first day, as 2026-10-01.' }),
  quotas: t.Array(quota),
  keys: t.Array(
    t.Object({
      id: text,
      name: text,
      redacted_value: text,
      type: keyType,
      requests_last_minute: count,
      requests_per_minute: count,
    }),
  ),
})
export type Limits = Static<typeof limits>
export type Plan = Static<typeof plan>

const amountAMonth = {
  currency: t.Literal('USD'),
  interval: t.Literal('month'),
  threshold_amount: t.Integer({ description: 'US cents.' }),
}
export const spendLimit = t.Object(
  {
    object: words('organization.spend_limit', 'project.spend_limit'),
    ...amountAMonth,
    enforcement: t.Object({ status: words('enforcing', 'inactive') }),
  },
  { $id: 'SpendLimit', description: 'The budget of US dollars a month.' },
)
export const spendAlert = t.Object(
  {
    object: words('organization.spend_alert', 'project.spend_alert'),
    id: text,
    ...amountAMonth,
    notification_channel: t.Object({
      type: t.Literal('email'),
      recipients: t.Array(text),
      subject_prefix: orNull(text),
    }),
  },
  { $id: 'SpendAlert' },
)

export const budget = objectOf('Budget', 'project.budget', {
  id: text,
  model: orNull(text),
  tag: orNull(t.String({ description: 'As name=value.' })),
  unit: words('usd', 'tokens'),
  amount: t.Number(),
  per: words('day', 'week', 'month', 'total'),
  time_zone: text,
  spent: t.Number(),
  reserved: t.Number({ description: 'The most that requests under way may cost.' }),
  remaining: t.Number(),
  begins_at: secondsOrNull,
  resets_at: secondsOrNull,
  api_key_id: orNull(text),
  api_key_name: orNull(text),
  api_key_redacted_value: orNull(text),
})
export type Budget = Static<typeof budget>
