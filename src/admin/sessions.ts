/** /dashboard/api: login, logout, and the current session. */
import { t } from 'elysia'
import type { OidcConfig } from '../config/config.ts'
import { refuse } from '../errors/errors.ts'
import { callAs } from '../postgres/admin/call-as.ts'
import { baseUrlOf } from './addresses.ts'
import { closed, loginRules, opened, session, sessionKey } from './answers/users.ts'
import { checkOrigin } from './caller.ts'
import { type AdminOptions, createController, openController } from './controller.ts'
import { strict } from './field-types.ts'
import { formatId, requireId } from './ids.ts'
import { createLogin } from './login.ts'
import { hashNewPassword, PASSWORD_LENGTH } from './new-password.ts'
import { operation } from './operation.ts'
import { oneOf } from './pages.ts'
import { csrfTokenOf, hashToken, sessionCookie } from './session-cookie.ts'

const PREFIX = '/dashboard/api'
const newPassword = t.String(PASSWORD_LENGTH)

/** Routes without a session. */
export function createLoginController(options: AdminOptions) {
  const { database, trustedProxies } = options
  const login = createLogin(database)

  return openController(options, PREFIX, 'Sessions')
    .post(
      '/login',
      async ({ request, address, body: { email, password }, set }) => {
        checkOrigin(request)
        // Throws when cookies would not be safe here, before the password is checked.
        sessionCookie(request, null, trustedProxies)
        const token = await login.logIn(email, password, {
          address,
          userAgent: request.headers.get('user-agent') ?? '',
        })
        set.headers['set-cookie'] = sessionCookie(request, token, trustedProxies)
        return { object: 'session.opened' as const, csrf_token: csrfTokenOf(token) }
      },
      operation('Log in with a password', opened, {
        body: t.Object({ email: t.String({ maxLength: 254 }), password: t.String({ maxLength: 200 }) }, strict),
      }),
    )
    .post(
      '/invitation',
      async ({ request, address, body: { invitation, password }, set }) => {
        checkOrigin(request)
        sessionCookie(request, null, trustedProxies)
        const userAgent = request.headers.get('user-agent') ?? ''
        const token = await login.acceptInvitation(invitation, password, { address, userAgent })
        set.headers['set-cookie'] = sessionCookie(request, token, trustedProxies)
        return { object: 'session.opened' as const, csrf_token: csrfTokenOf(token) }
      },
      operation('Accept an invitation, with a password', opened, {
        body: t.Object({ invitation: t.String({ maxLength: 100 }), password: newPassword }, strict),
      }),
    )
}

/** Routes with a session. */
export function createSessionController(options: AdminOptions, oidc: OidcConfig | null) {
  const { addresses } = options

  return createController(options, PREFIX, 'Sessions')
    .get(
      '/session',
      ({ request, caller: { actor, email, role, sessionToken } }) => ({
        object: 'session' as const,
        user: { id: formatId('user', actor.userId), email, role },
        csrf_token: sessionToken === null ? null : csrfTokenOf(sessionToken),
        // The proxy's, for snippets.
        base_url: baseUrlOf(request, addresses),
      }),
      operation('Read who is logged in', session),
    )
    .post(
      '/playground-key',
      async ({ caller: { actor, sessionToken }, body: { project_id, type } }) => {
        if (sessionToken === null) throw refuse('notPermitted', { problem: 'This takes a login, not an admin key.' })
        const project = requireId('proj', project_id)
        const asked = { project, key_type: type, token_hash: hashToken(sessionToken) }
        return { object: 'session.key' as const, value: await callAs(actor, 'issue_session_key', asked) }
      },
      operation('Make a key of a project that ends with this session', sessionKey, {
        body: t.Object({ project_id: t.String(), type: oneOf('project', 'test') }, strict),
      }),
    )
    .get(
      '/login-rules',
      ({ caller }) => {
        if (caller.role !== 'owner') throw refuse('notPermitted', { problem: 'This takes an administrator.' })
        return { object: 'login.rules' as const, oidc: oidc && describeRules(oidc) }
      },
      operation('Read who may log in with the OpenID Connect provider', loginRules),
    )
}

/** What ends sessions. */
export function createLogoutController(options: AdminOptions) {
  const { database, trustedProxies } = options
  const login = createLogin(database)

  return createController(options, PREFIX, 'Sessions')
    .post(
      '/logout',
      async ({ request, caller, set }) => {
        const { actor, sessionToken } = caller
        if (sessionToken !== null) await callAs(actor, 'close_session', { token_hash: hashToken(sessionToken) })
        set.headers['set-cookie'] = sessionCookie(request, null, trustedProxies)
        return { object: 'session.closed' as const }
      },
      operation('Log out', closed),
    )
    .post(
      '/logout-everywhere',
      async ({ request, caller, set }) => {
        const ended = await callAs(caller.actor, 'close_sessions', {})
        set.headers['set-cookie'] = sessionCookie(request, null, trustedProxies)
        return { object: 'session.closed' as const, sessions: ended }
      },
      operation('End all of the caller’s sessions', closed),
    )
    .post(
      '/password',
      async ({ caller, address, body }) => {
        await login.verify(caller.email, body.password, address)
        await callAs(caller.actor, 'set_password', {
          new_hash: await hashNewPassword(body.new_password, caller.email, 'new_password'),
          kept_session: caller.sessionToken && hashToken(caller.sessionToken),
        })
        return { object: 'user.password_changed' as const }
      },
      operation('Change the caller’s password', t.Object({ object: t.Literal('user.password_changed') }), {
        body: t.Object({ password: t.String({ maxLength: 200 }), new_password: newPassword }, strict),
      }),
    )
}

/** Who may log in with the provider, and as what. */
function describeRules({ issuer, allowedDomains, groupsClaim, groupRoles }: OidcConfig) {
  return {
    issuer,
    allowed_domains: allowedDomains && [...allowedDomains],
    groups_claim: groupsClaim,
    group_roles: groupRoles && [...groupRoles].map(([group, role]) => ({ group, role })),
  }
}
