/** Users, members, admin keys, sessions, and the audit log. */
import { type Static, Type as t } from '@sinclair/typebox'
import { orNull, words } from '../../postgres/admin/rows.ts'
import { objectOf, seconds, secondsOrNull, text } from './shared.ts'

const userRole = words('owner', 'reader')
const memberRole = words('owner', 'member', 'viewer')

const login = t.Object({
  can_log_in: t.Boolean(),
  invited_until: orNull(t.Integer({ description: 'Unix seconds; in the past where an invitation has expired.' })),
  last_seen_at: secondsOrNull,
})
/** Whether a person can log in yet. */
export type Login = Static<typeof login>

const personFields = { id: text, email: text, name: text, added_at: seconds, ...login.properties }
const invited = t.Optional(t.String({ description: 'For somebody who cannot log in yet; shown this once.' }))

export const user = objectOf('User', 'organization.user', { ...personFields, role: userRole })
export type User = Static<typeof user>
export const addedUser = t.Object({ ...user.properties, invitation: invited }, { $id: 'AddedUser' })
export const invitation = objectOf('Invitation', 'organization.user.invitation', { id: text, invitation: text })

export const invite = objectOf(
  'Invite',
  'organization.invite',
  {
    id: text,
    email: text,
    role: userRole,
    status: words('pending', 'accepted', 'expired'),
    created_at: seconds,
    expires_at: secondsOrNull,
    projects: t.Array(t.Object({ id: text, role: memberRole })),
  },
  'A user, and whether the invitation was taken up. Accepted: the user can log in.',
)
export const addedInvite = t.Object({ ...invite.properties, invitation: text }, { $id: 'AddedInvite' })

export const member = objectOf('Member', 'organization.project.user', {
  ...personFields,
  role: memberRole,
})
export type Member = Static<typeof member>
export const addedMember = t.Object({ ...member.properties, invitation: invited }, { $id: 'AddedMember' })

export const adminKey = objectOf('AdminKey', 'organization.admin_api_key', {
  id: text,
  name: text,
  redacted_value: text,
  created_at: seconds,
  expires_at: secondsOrNull,
  last_used_at: secondsOrNull,
  owner: t.Object({
    type: t.Literal('user'),
    object: t.Literal('organization.user'),
    id: text,
    name: text,
    created_at: seconds,
    role: userRole,
  }),
})
export type AdminKey = Static<typeof adminKey>
/** With the key itself, which is shown this once. */
export const issuedAdminKey = t.Object({ ...adminKey.properties, value: text }, { $id: 'IssuedAdminKey' })

const auditUser = t.Object({ id: text, email: text })
export const auditEvent = t.Object(
  {
    id: text,
    object: t.Literal('organization.audit_log'),
    type: t.String({ description: 'Also the name of a field, which has what was changed.' }),
    effective_at: seconds,
    project: t.Optional(t.Object({ id: text, name: t.Optional(text) })),
    actor: t.Object({
      type: words('session', 'api_key'),
      session: t.Optional(t.Object({ user: auditUser, ip_address: t.Optional(text) })),
      api_key: t.Optional(t.Object({ id: text, type: t.Literal('user'), user: auditUser })),
    }),
  },
  { $id: 'AuditEvent', additionalProperties: true },
)
export type AuditEvent = Static<typeof auditEvent>

export const opened = t.Object({ object: t.Literal('session.opened'), csrf_token: text })
export const sessionKey = objectOf('SessionKey', 'session.key', { value: text })
export const closed = t.Object({
  object: t.Literal('session.closed'),
  id: t.Optional(text),
  sessions: t.Optional(t.Integer({ description: 'How many were closed.' })),
})

export const session = objectOf('Session', 'session', {
  user: t.Object({ id: text, email: text, role: userRole }),
  csrf_token: orNull(text),
  base_url: t.String({ description: 'Where clients reach the proxy; ends in /v1.' }),
})
export type Session = Static<typeof session>

export const openSession = objectOf('OpenSession', 'session', {
  id: text,
  address: text,
  user_agent: text,
  created_at: seconds,
  last_seen_at: seconds,
  is_this_one: t.Boolean(),
})
export type OpenSession = Static<typeof openSession>

export const loginOptions = objectOf('LoginOptions', 'login.options', { oidc: orNull(t.Object({ issuer: text })) })
export const loginRules = objectOf(
  'LoginRules',
  'login.rules',
  {
    oidc: orNull(
      t.Object({
        issuer: text,
        allowed_domains: orNull(t.Array(text)),
        groups_claim: text,
        group_roles: orNull(t.Array(t.Object({ group: text, role: userRole }))),
      }),
    ),
  },
  'Who may log in with the OpenID Connect provider, and as what.',
)
export type LoginRules = Static<typeof loginRules>
