/** The objects of the admin API that are rows of views: what each is called, and how its ids begin. */
import { type Static, type TObject, Type as t } from '@sinclair/typebox'
import { words } from '../postgres/admin/schemas.ts'
import { TYPES, VIEWS } from '../postgres/admin/views.generated.ts'
import type { Shown, ViewName } from '../postgres/admin/views.ts'
import type { IdKind } from './ids.ts'

export interface ApiObject<View extends ViewName = ViewName> {
  view: View
  /** The field `object` of an answer; null where it has none. */
  kind: string | null
  /** Null where names are no numbers, or there is only one. */
  idKind: IdKind | null
  /** What is said where there is none. */
  missing: string
  schema: TObject
}

/** `name` is that of its schema in the description. */
function object<View extends ViewName, const Kind extends string | null>(
  name: string,
  kind: Kind,
  view: View,
  idKind: IdKind | null,
  missing: string,
) {
  const columns: (typeof VIEWS)[View]['columns'] = VIEWS[view].columns
  const schema = t.Object(
    { ...(kind !== null && { object: t.Literal(kind) }), ...columns },
    { $id: name, description: VIEWS[view].comment },
  )
  return { view, kind, idKind, missing, schema }
}

/** What projects have, and the organization as a whole: described as one. */
function objectOfBoth(name: string, kind: string, view: ViewName, idKind: IdKind, missing: (of: string) => string) {
  const describe = (of: 'organization' | 'project') => {
    const described = object(name, `${of}.${kind}`, view, idKind, missing(of))
    const properties = { ...described.schema.properties, object: words(`organization.${kind}`, `project.${kind}`) }
    return { ...described, schema: t.Object(properties, { $id: name, description: VIEWS[view].comment }) }
  }
  return { organization: describe('organization'), project: describe('project') }
}

const NO_PROJECT = 'This project does not exist, or you are not a member of it.'
const noneHere = (what: string) => `There is no such ${what} in this project.`
const NO_ENTRY = "There is no such entry in this project's cache."
const NO_KEY = noneHere('key')

export const project = object('Project', 'organization.project', 'organization_projects', 'proj', NO_PROJECT)
export const apiKey = object('ApiKey', 'organization.project.api_key', 'project_api_keys', 'key', NO_KEY)
export const serviceAccount = object(
  'ServiceAccount',
  'organization.project.service_account',
  'project_service_accounts',
  'svc_acct',
  NO_KEY,
)
export const user = object('User', 'organization.user', 'organization_users', 'user', 'There is no such user.')
export const invite = object(
  'Invite',
  'organization.invite',
  'organization_invites',
  'invite',
  'There is no such invite.',
)
export const member = object(
  'Member',
  'organization.project.user',
  'project_users',
  'user',
  'There is no such member of this project.',
)
export const adminKey = object(
  'AdminKey',
  'organization.admin_api_key',
  'admin_api_keys',
  'admin_key',
  'There is no such admin API key.',
)

export const cacheEntry = object('CacheEntry', 'cache.entry', 'cached_answers', 'entry', NO_ENTRY)
export const plan = object('Plan', null, 'organization_plans', null, 'There is no such plan.')
export const rateLimit = object('RateLimit', 'project.rate_limit', 'project_rate_limits', null, NO_PROJECT)
export const limits = object('Limits', 'project.limits', 'project_limits', null, NO_PROJECT)
export const modelPermissions = object(
  'ModelPermissions',
  'project.model_permissions',
  'project_model_permissions',
  null,
  NO_PROJECT,
)
export const providerKey = object(
  'ProviderKey',
  'project.provider_key',
  'project_provider_keys',
  null,
  noneHere('key of a provider'),
)
export const budget = object('Budget', 'project.budget', 'project_budgets', 'budget', noneHere('budget'))
export const spendLimit = objectOfBoth(
  'SpendLimit',
  'spend_limit',
  'project_spend_limits',
  'budget',
  of => `This ${of} has no spend limit.`,
)
export const spendAlert = objectOfBoth(
  'SpendAlert',
  'spend_alert',
  'project_spend_alerts',
  'spend_alert',
  () => 'There is no such spend alert.',
)
export const webhook = object('Webhook', 'project.webhook', 'project_webhooks', 'webhook', noneHere('webhook'))
export const delivery = object('Delivery', 'project.delivery', 'project_deliveries', 'delivery', noneHere('delivery'))

/** With the key itself, which is shown this once. */
export const issuedKey = t.Object({ ...apiKey.schema.properties, value: t.String() }, { $id: 'IssuedApiKey' })
/** With its key, which is shown this once. */
export const addedServiceAccount = t.Object(
  {
    ...serviceAccount.schema.properties,
    api_key: t.Object({ ...TYPES.service_account_key }, { $id: 'ServiceAccountKey' }),
  },
  { $id: 'AddedServiceAccount' },
)
export const issuedAdminKey = t.Object({ ...adminKey.schema.properties, value: t.String() }, { $id: 'IssuedAdminKey' })

const invitation = t.String({ description: 'For somebody who cannot log in yet; shown this once.' })
export const addedUser = t.Object(
  { ...user.schema.properties, invitation: t.Optional(invitation) },
  { $id: 'AddedUser' },
)
export const addedMember = t.Object(
  { ...member.schema.properties, invitation: t.Optional(invitation) },
  { $id: 'AddedMember' },
)
export const addedInvite = t.Object({ ...invite.schema.properties, invitation: t.String() }, { $id: 'AddedInvite' })

const { changed, ...described } = VIEWS.organization_audit_logs.columns
/** A field that is called what `type` says has what was changed. */
export const auditEvent = t.Object(
  { object: t.Literal('organization.audit_log'), ...described },
  { $id: 'AuditEvent', additionalProperties: true },
)
export type AuditEvent = Static<typeof auditEvent>

export const openSession = t.Object({ object: t.Literal('session'), ...TYPES.open_session }, { $id: 'OpenSession' })
export type OpenSession = Static<typeof openSession>

/** With its secret, which is shown this once. */
export const addedWebhook = t.Object(
  { ...t.Pick(webhook.schema, ['object', 'id', 'url', 'events']).properties, secret: t.String() },
  { $id: 'AddedWebhook' },
)
export const begunDelivery = t.Object(
  { ...t.Pick(delivery.schema, ['object', 'id']).properties, state: t.Optional(t.Literal('pending')) },
  { $id: 'BegunDelivery' },
)
export const refusal = t.Object({ ...TYPES.refusal }, { $id: 'Refusal' })

/** As it is answered. */
type Answer<Described extends { kind: string | null; view: ViewName }> = (Described['kind'] extends string
  ? { object: Described['kind'] }
  : unknown) &
  Shown<Described['view']>
export type Project = Answer<typeof project>
/** `question`: its beginning, where entries are found by it. */
export type CacheEntry = Answer<typeof cacheEntry> & { question?: string }
export type ApiKey = Answer<typeof apiKey>
export type Plan = Answer<typeof plan>
export type Limits = Answer<typeof limits>
export type ProviderKey = Answer<typeof providerKey>
export type Budget = Answer<typeof budget>
export type Webhook = Answer<typeof webhook>
export type Delivery = Answer<typeof delivery>
export type Refusal = Static<typeof refusal>
export type User = Answer<typeof user>
export type Member = Answer<typeof member>
export type AdminKey = Answer<typeof adminKey>
/** Whether a person can log in yet. */
export type Login = Pick<User, 'can_log_in' | 'invited_until' | 'last_seen_at'>
