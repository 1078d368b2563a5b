/** /dashboard/api: login, logout, and the current session. */
import { t } from 'elysia'
import { closeSession, closeSessions, setPassword } from '../postgres/admin/people.ts'
import { baseUrlOf } from './addresses.ts'
import { checkOrigin } from './caller.ts'
import { type AdminOptions, createController, openController } from './controller.ts'
import { formatId } from './ids.ts'
import { createLogin, hashPassword } from './login.ts'
import { csrfTokenOf, hashToken, sessionCookie } from './session-cookie.ts'
import { strict } from './stated.ts'

const PREFIX = '/dashboard/api'
/** Long enough to resist guessing; short enough to hash. */
const newPassword = t.String({ minLength: 12, maxLength: 200 })

/** Routes without a session. */
export function createLoginController(options: AdminOptions) {
  const { database, trustedProxies } = options
  const login = createLogin(database)

  return openController(options, PREFIX)
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
      { body: t.Object({ email: t.String({ maxLength: 254 }), password: t.String({ maxLength: 200 }) }, strict) },
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
      { body: t.Object({ invitation: t.String({ maxLength: 100 }), password: newPassword }, strict) },
    )
}

/** Routes with a session. */
export function createSessionController(options: AdminOptions) {
  const { database, trustedProxies, addresses } = options
  const login = createLogin(database)

  return createController(options, PREFIX)
    .get('/session', ({ request, caller: { actor, email, role, sessionToken } }) => ({
      object: 'session' as const,
      user: { id: formatId('user', actor.userId), email, role },
      csrf_token: sessionToken === null ? null : csrfTokenOf(sessionToken),
      // The proxy's, for snippets.
      base_url: baseUrlOf(request, addresses),
    }))
    .post('/logout', async ({ request, caller, set }) => {
      const { actor, sessionToken } = caller
      if (sessionToken !== null) await closeSession(actor, { token_hash: hashToken(sessionToken) })
      set.headers['set-cookie'] = sessionCookie(request, null, trustedProxies)
      return { object: 'session.closed' as const }
    })
    .post('/logout-everywhere', async ({ request, caller, set }) => {
      const [closed] = await closeSessions(caller.actor, {})
      set.headers['set-cookie'] = sessionCookie(request, null, trustedProxies)
      return { object: 'session.closed' as const, sessions: closed?.result ?? 0 }
    })
    .post(
      '/password',
      async ({ caller, address, body }) => {
        await login.verify(caller.email, body.password, address)
        await setPassword(caller.actor, {
          new_hash: await hashPassword(body.new_password),
          kept_session: caller.sessionToken && hashToken(caller.sessionToken),
        })
        return { object: 'user.password_changed' as const }
      },
      { body: t.Object({ password: t.String({ maxLength: 200 }), new_password: newPassword }, strict) },
    )
}
