/** Response schemas of logins and sessions. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable, stringUnion } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { objectSchema, textSchema } from './shared.ts'

const userRole = stringUnion('owner', 'reader')

export const sessionOpenedSchema = t.Object({ object: t.Literal('session.opened'), csrf_token: textSchema })
export const playgroundKeySchema = objectSchema('PlaygroundKey', 'session.key', { value: textSchema })
export const sessionClosedSchema = t.Object({
  object: t.Literal('session.closed'),
  id: t.Optional(textSchema),
  sessions: t.Optional(t.Integer({ description: 'The number of closed sessions.' })),
})

export const sessionSchema = objectSchema('Session', 'session', {
  user: t.Object({ id: textSchema, email: textSchema, role: userRole }),
  csrf_token: nullable(textSchema),
  base_url: t.String({ description: 'The base URL of the proxy for clients. It ends in /v1.' }),
  sends_mail: t.Boolean({ description: 'Whether alerts can be sent by mail: SMTP_URL is set.' }),
})
export type Session = Static<typeof sessionSchema>
export const activeSessionSchema = t.Object(
  { object: t.Literal('session'), ...SQL_TYPE_SCHEMAS.open_session },
  { $id: 'OpenSession' },
)
export type ActiveSession = Static<typeof activeSessionSchema>

export const loginOptionsSchema = objectSchema('LoginOptions', 'login.options', {
  oidc: nullable(t.Object({ issuer: textSchema })),
  password_reset: t.Boolean({ description: 'Whether a link to set a new password can be mailed.' }),
})
export type LoginOptions = Static<typeof loginOptionsSchema>
export const loginRulesSchema = objectSchema(
  'LoginRules',
  'login.rules',
  {
    oidc: nullable(
      t.Object({
        issuer: textSchema,
        allowed_domains: nullable(t.Array(textSchema)),
        groups_claim: textSchema,
        group_roles: nullable(t.Array(t.Object({ group: textSchema, role: userRole }))),
      }),
    ),
  },
  'The users who may log in with the OpenID Connect provider, and their roles.',
)
export type LoginRules = Static<typeof loginRulesSchema>
