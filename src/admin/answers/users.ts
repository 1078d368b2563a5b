/** Logins and sessions. */
import { type Static, Type as t } from '@sinclair/typebox'
import { orNull, words } from '../../postgres/admin/schemas.ts'
import { TYPES } from '../../postgres/admin/views.generated.ts'
import { objectOf, text } from './shared.ts'

const userRole = words('owner', 'reader')

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
export const openSession = t.Object({ object: t.Literal('session'), ...TYPES.open_session }, { $id: 'OpenSession' })
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
