/** /dashboard/api: login, logout, and the current session. */
import { Type as t } from '@sinclair/typebox'
import type { OidcConfig } from '../config/config.ts'
import { createError } from '../errors/errors.ts'
import { callAsActor } from '../postgres/admin/call-as.ts'
import { proxyBaseUrlOf } from './addresses.ts'
import { rejectCrossSiteRequest } from './caller.ts'
import { type AdminOptions, createAuthenticatedController, createPublicController } from './controller.ts'
import { describeRoute } from './describe-route.ts'
import { STRICT_OBJECT } from './field-types.ts'
import { formatId, notFoundError, requireId } from './ids.ts'
import { createLoginService } from './login.ts'
import { stringEnum } from './pagination.ts'
import { hashNewPassword, PASSWORD_LENGTH } from './password-hashing.ts'
import {
  loginRulesSchema,
  playgroundKeySchema,
  sessionClosedSchema,
  sessionOpenedSchema,
  sessionSchema,
} from './responses/users.ts'
import { csrfTokenOf, formatSessionCookie } from './session-cookie.ts'

const PREFIX = '/dashboard/api'
const newPassword = t.String(PASSWORD_LENGTH)

/** Creates the routes that need no session: login and invitations. */
export function createLoginController(options: AdminOptions) {
  const { trustedProxies } = options
  const login = createLoginService(options)

  return createPublicController(options, PREFIX, 'Sessions')
    .post(
      '/login',
      async ({ request, address, body: { email, password }, set }) => {
        rejectCrossSiteRequest(request)
        // Throws before the password is checked if cookies would not be safe here.
        formatSessionCookie(request, null, trustedProxies)
        const token = await login.logIn(email, password, {
          address,
          userAgent: request.headers.get('user-agent') ?? '',
        })
        set.headers['set-cookie'] = formatSessionCookie(request, token, trustedProxies)
        return { object: 'session.opened' as const, csrf_token: csrfTokenOf(token) }
      },
      describeRoute('Log in with a password', sessionOpenedSchema, {
        body: t.Object({ email: t.String({ maxLength: 254 }), password: t.String({ maxLength: 200 }) }, STRICT_OBJECT),
      }),
    )
    .post(
      '/invitation',
      async ({ request, address, body: { invitation, password }, set }) => {
        rejectCrossSiteRequest(request)
        formatSessionCookie(request, null, trustedProxies)
        const userAgent = request.headers.get('user-agent') ?? ''
        const token = await login.acceptInvitation(invitation, password, { address, userAgent })
        set.headers['set-cookie'] = formatSessionCookie(request, token, trustedProxies)
        return { object: 'session.opened' as const, csrf_token: csrfTokenOf(token) }
      },
      describeRoute('Accept an invitation, with a password', sessionOpenedSchema, {
        body: t.Object({ invitation: t.String({ maxLength: 100 }), password: newPassword }, STRICT_OBJECT),
      }),
    )
}

/** Creates the route that mails a link to set a new password. */
export function createPasswordResetController(options: AdminOptions) {
  const login = createLoginService(options)
  return createPublicController(options, PREFIX, 'Sessions').post(
    '/password-reset',
    async ({ request, address, body: { email } }) => {
      rejectCrossSiteRequest(request)
      if (options.accountMails === null)
        throw notFoundError('No mail is sent here. Ask an administrator to reset your password.')
      await login.requestPasswordReset(email, address)
      return { object: 'password_reset.requested' as const }
    },
    describeRoute('Mail a link to set a new password', t.Object({ object: t.Literal('password_reset.requested') }), {
      body: t.Object({ email: t.String({ maxLength: 254 }) }, STRICT_OBJECT),
    }),
  )
}

/** Creates the routes about the current session. */
export function createSessionController(options: AdminOptions, oidc: OidcConfig | null) {
  const { addresses } = options

  return createAuthenticatedController(options, PREFIX, 'Sessions')
    .get(
      '/session',
      ({ request, caller: { actor, email, role, session } }) => ({
        object: 'session' as const,
        user: { id: formatId('user', actor.userId), email, role },
        csrf_token: session?.csrfToken ?? null,
        // The base URL of the proxy, for snippets.
        base_url: proxyBaseUrlOf(request, addresses),
        sends_mail: options.mailer !== null,
      }),
      describeRoute('Read the current session', sessionSchema),
    )
    .post(
      '/playground-key',
      async ({ caller: { actor, session }, body: { project_id, type } }) => {
        if (session === null) throw createError('notPermitted', { problem: 'This requires a login, not an admin key.' })
        const project = requireId('proj', project_id)
        const args = { project, key_type: type, of_session: session.id }
        return { object: 'session.key' as const, value: await callAsActor(actor, 'issue_session_key', args) }
      },
      describeRoute('Create a project key that expires with this session', playgroundKeySchema, {
        body: t.Object({ project_id: t.String(), type: stringEnum('project', 'test') }, STRICT_OBJECT),
      }),
    )
    .get(
      '/login-rules',
      ({ caller }) => {
        if (caller.role !== 'owner') throw createError('notPermitted', { problem: 'This requires an administrator.' })
        return { object: 'login.rules' as const, oidc: oidc && describeRules(oidc) }
      },
      describeRoute('Read the login rules of the OpenID Connect provider', loginRulesSchema),
    )
}

/** Creates the routes that end sessions. */
export function createLogoutController(options: AdminOptions) {
  const { trustedProxies } = options
  const login = createLoginService(options)

  return createAuthenticatedController(options, PREFIX, 'Sessions')
    .post(
      '/logout',
      async ({ request, caller, set }) => {
        const { actor, session } = caller
        if (session !== null) await callAsActor(actor, 'close_session', { session_id: session.id, is_current: true })
        set.headers['set-cookie'] = formatSessionCookie(request, null, trustedProxies)
        return { object: 'session.closed' as const }
      },
      describeRoute('Log out', sessionClosedSchema),
    )
    .post(
      '/logout-everywhere',
      async ({ request, caller, set }) => {
        const ended = await callAsActor(caller.actor, 'close_sessions', {})
        set.headers['set-cookie'] = formatSessionCookie(request, null, trustedProxies)
        return { object: 'session.closed' as const, sessions: ended }
      },
      describeRoute('End all of the caller’s sessions', sessionClosedSchema),
    )
    .post(
      '/password',
      async ({ caller, address, body }) => {
        await login.verify(caller.email, body.password, address)
        await callAsActor(caller.actor, 'set_password', {
          new_hash: await hashNewPassword(body.new_password, caller.email, 'new_password'),
          kept_session: caller.session?.id ?? null,
        })
        return { object: 'user.password_changed' as const }
      },
      describeRoute('Change the caller’s password', t.Object({ object: t.Literal('user.password_changed') }), {
        body: t.Object({ password: t.String({ maxLength: 200 }), new_password: newPassword }, STRICT_OBJECT),
      }),
    )
}

/** Formats the rules of who may log in with the provider, and in which role. */
function describeRules({ issuer, allowedDomains, groupsClaim, groupRoles }: OidcConfig) {
  return {
    issuer,
    allowed_domains: allowedDomains && [...allowedDomains],
    groups_claim: groupsClaim,
    group_roles: groupRoles && [...groupRoles].map(([group, role]) => ({ group, role })),
  }
}
