/** Describes the entries of the audit log as sentences: who changed what, with names instead of ids. */
import type { AUDIT_ACTIONS } from '../../postgres/seeds.generated.ts'
import {
  count,
  type Details,
  describeAlertAmount,
  describeBudget,
  describeKeyChange,
  describePlanChange,
  describeProviderKey,
  expiry,
  fromTo,
  lastFour,
  type Part,
  plural,
  say,
  text,
} from './audit-phrases.ts'
import { describeSettingValue } from './setting-values.ts'
import type { SettingKind, ViewRow } from './types.ts'

export type AuditEvent = ViewRow<'organization_audit_logs'>
export type AuditAction = (typeof AUDIT_ACTIONS)[number]['action']

interface Change {
  /** The object's name at the time, or its id if it has no name. */
  name: string
  id: string
  data: Details
  kinds: readonly SettingKind[]
}

interface Description {
  /** The kind of event, in the filter. */
  title: string
  /** The sentence without its subject. */
  describe(change: Change): Part[]
}

const simply = (title: string, verb: string): Description => ({
  title,
  describe: ({ name }) => [verb, { name }],
})

/** The compiler requires a description of each action that the SQL functions record. */
const DESCRIPTIONS: Record<AuditAction, Description> = {
  'accounts.imported': {
    title: 'Accounts imported',
    describe: ({ id, data }) =>
      say`imported ${plural(data.keys, 'new key')} and ${plural(data.projects, 'new project')} from ${id}`,
  },
  'admin_api_key.created': {
    title: 'Admin key created',
    describe: ({ name, data }) =>
      say`created the ${data.permissions === 'read_only' ? ['read-only '] : []}admin key ${name}${expiry(data)}`,
  },
  'admin_api_key.deleted': simply('Admin key deleted', 'deleted the admin key '),
  'admin_api_key.updated': {
    title: 'Admin key renamed',
    describe: ({ name, data }) => say`renamed the admin key ${text(data.was) ?? 'unknown'} to ${name}`,
  },
  'api_key.created': {
    title: 'API key created',
    describe: ({ name, data }) => say`created the ${data.type === 'test' ? ['test '] : []}key ${name}${expiry(data)}`,
  },
  'api_key.deleted': simply('API key deactivated', 'deactivated the key '),
  'api_key.restored': simply('API key restored', 'restored the key '),
  'api_key.rotated': simply('API key rotated', 'rotated the key '),
  'api_key.updated': {
    title: 'API key changed',
    describe: ({ name, data, kinds }) => describeKeyChange(name, data, kinds),
  },
  'budget.removed': {
    title: 'Budget deleted',
    describe: ({ data }) => ['deleted the ', ...describeBudget(data)],
  },
  'budget.set': {
    title: 'Budget set',
    describe: ({ data }) => ['set a ', ...describeBudget(data)],
  },
  'cache.invalidated': { title: 'Cached responses deleted', describe: describeInvalidation },
  'cache.purged': {
    title: 'Cache purged',
    describe: ({ data }) => say`purged the cache of ${plural(data.entries, 'response')}`,
  },
  'cache.verdict': {
    title: 'Match judged',
    describe: ({ id, data }) => say`marked the match of ${{ request: id }} as ${text(data.verdict) ?? 'judged'}`,
  },
  'cache.verdict_removed': {
    title: 'Verdict deleted',
    describe: ({ data }) =>
      say`deleted a verdict of ${data.source === 'judge' ? ['the judge'] : ['a person']} that two questions are ${
        data.verdict === 'same' ? ['the same'] : ['different']
      }`,
  },
  'end_user.exported': { title: 'End user exported', describe: () => ['exported the data of an end user'] },
  'end_user.forgotten': { title: 'End user deleted', describe: () => ['deleted the data of an end user'] },
  'invite.accepted': simply('Invitation accepted', 'accepted the invitation for '),
  'invite.sent': simply('Invitation created', 'invited '),
  'login.failed': { title: 'Login failed', describe: () => ['failed to log in'] },
  'login.succeeded': { title: 'Login', describe: () => ['logged in'] },
  'logout.succeeded': {
    title: 'Logout',
    describe: ({ name, data }) =>
      data.sessions !== undefined
        ? say`ended ${plural(data.sessions, 'session')} of ${name}`
        : [data.session === undefined ? 'logged out' : 'ended a session'],
  },
  'password_reset.sent': simply('Password reset requested', 'requested a new password for '),
  'project.archived': {
    title: 'Project archived',
    describe: ({ name, data }) =>
      say`archived the project ${name}${count(data.deactivated_keys) > 0 ? say` and deactivated ${plural(data.deactivated_keys, 'key')}` : []}`,
  },
  'project.created': {
    title: 'Project created',
    describe: ({ name, data }) =>
      say`created the project ${name}${data.plan ? say` with the plan ${String(data.plan)}` : []}`,
  },
  'project.updated': { title: 'Project changed', describe: describeProjectChange },
  'provider_key.deleted': {
    title: 'Provider key deleted',
    describe: ({ id, data }) => say`deleted the ${describeProviderKey(id, data)}`,
  },
  'provider_key.stored': {
    title: 'Provider key stored',
    describe: ({ id, data }) => say`stored the ${describeProviderKey(id, data)}`,
  },
  'rate_limit.updated': { title: 'Plan changed', describe: ({ name, data }) => describePlanChange(name, data) },
  'request.settled': {
    title: 'Request settled',
    describe: ({ id }) => say`settled the cost of ${{ request: id }}`,
  },
  'role.assignment.created': {
    title: 'Member added',
    describe: ({ name, data }) => say`added ${name} as ${text(data.role) ?? 'member'}`,
  },
  'role.assignment.deleted': simply('Member removed', 'removed the member '),
  'role.assignment.updated': {
    title: 'Role changed',
    describe: ({ name, data }) =>
      say`changed the role of ${name}${fromTo(text(data.was), text(data.role) ?? 'member')}`,
  },
  'spend_alert.removed': {
    title: 'Spend alert deleted',
    describe: ({ data }) => say`deleted the spend alert${describeAlertAmount(data)}`,
  },
  'spend_alert.set': {
    title: 'Spend alert set',
    describe: ({ data }) => say`set a spend alert${describeAlertAmount(data)}`,
  },
  'user.added': {
    title: 'User added',
    describe: ({ name, data }) => say`added the ${data.role === 'owner' ? ['administrator'] : ['user']} ${name}`,
  },
  'user.deleted': simply('User deleted', 'deleted the user '),
  'user.updated': {
    title: 'User changed',
    describe: ({ name, data }) =>
      data.password !== undefined
        ? say`changed the password of ${name}`
        : say`made ${name} ${data.role === 'owner' ? ['an administrator'] : ['an ordinary user']}`,
  },
  'vendor.removed': simply('Vendor removed', 'removed the vendor '),
  'vendor.set': simply('Vendor set', 'set the vendor '),
  'vendor_key.deleted': simply('Vendor key deleted', 'deleted the installation’s key of '),
  'vendor_key.stored': {
    title: 'Vendor key stored',
    describe: ({ name, data }) => say`stored the installation’s key${lastFour(data)} of ${name}`,
  },
  'webhook.created': simply('Webhook created', 'created the webhook '),
  'webhook.deleted': simply('Webhook deleted', 'deleted the webhook '),
  'webhook.updated': simply('Webhook changed', 'changed the webhook '),
  'webhook.resent': { title: 'Webhook event resent', describe: () => ['resent an event to a webhook'] },
}

/** The kinds of events with their titles, in alphabetical order of the titles. */
export const AUDIT_TITLES = Object.entries(DESCRIPTIONS)
  .map(([action, { title }]) => [action, title] as const)
  .sort(([, a], [, b]) => a.localeCompare(b))

/** Describes an event, beginning with the verb. An event of another version is described by its type. */
export function describeAuditEvent(event: AuditEvent, kinds: readonly SettingKind[]): Part[] {
  const changed = (event as unknown as Record<string, Partial<Change> | undefined>)[event.type] ?? {}
  const { id = '', data = {} } = changed
  const known = (DESCRIPTIONS as Partial<Record<string, Description>>)[event.type]
  const name = changed.name ?? id
  return known?.describe({ id, data, name, kinds }) ?? say`made a change of the type ${event.type}: ${name}`
}

/** Describes who made a change: a user, with an admin key or in the dashboard, or an operator. */
export function describeActor({ session, api_key: key }: AuditEvent['actor']): { name: string; origin: string } {
  const user = session?.user ?? key?.user
  const name = user?.email ?? 'Somebody'
  if (key) return { name, origin: `with the admin key ${key.name ?? key.id}` }
  if (user?.id === 'operator') return { name, origin: 'as an operator' }
  return { name, origin: session?.ip_address ? `from ${session.ip_address}` : '' }
}

function describeProjectChange({ name, data, kinds }: Change): Part[] {
  if (typeof data.setting === 'string') {
    const kind = kinds.find(each => each.name === data.setting)
    const was = data.was === undefined ? undefined : describeSettingValue(kind, data.was)
    return say`set ${kind?.title ?? data.setting}${fromTo(was, describeSettingValue(kind, data.value))}`
  }
  if (data.plan !== undefined) return say`moved the project ${name}${fromTo(text(data.was), String(data.plan))}`
  if (data.name !== undefined) return say`renamed the project${fromTo(text(data.was), String(data.name))}`
  return say`changed the project ${name}`
}

function describeInvalidation({ data }: Change): Part[] {
  const selected: Part[][] = [
    text(data.model) === undefined ? [] : say` of the model ${String(data.model)}`,
    data.api_key_id === undefined ? [] : say` of the key ${text(data.api_key) ?? String(data.api_key_id)}`,
    text(data.namespace) === undefined ? [] : say` in the namespace ${String(data.namespace)}`,
    text(data.version) === undefined ? [] : say` of the version ${String(data.version)}`,
    data.of_an_end_user === true ? [' of an end user'] : [],
    data.older_than_seconds === undefined ? [] : say` older than ${plural(data.older_than_seconds, 'second')}`,
  ]
  return say`deleted ${plural(data.entries, 'cached response')}${selected.flat()}`
}
