/** /dashboard/api/oidc: redirects to the OpenID Connect provider and handles its callback, if one is configured. */

import type { OidcConfig } from '../config/config.ts'
import { isHttps } from '../http/is-https.ts'
import { parseUrl } from '../http/paths.ts'
import { callFunction } from '../postgres/call.ts'
import { sqlStateOf } from '../postgres/database.ts'
import { addressPrefix } from '../stores/fast-store.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import { dashboardOriginOf } from './addresses.ts'
import { type AdminOptions, createPublicController } from './controller.ts'
import { describeRedirect, describeRoute } from './describe-route.ts'
import { notFoundError } from './ids.ts'
import { createOidcClient, type OidcAttempt } from './oidc.ts'
import { loginOptionsSchema } from './responses/users.ts'
import { createSession, formatSessionCookie, readCookie } from './session-cookie.ts'

const PREFIX = '/dashboard/api'
const CALLBACK = `${PREFIX}/oidc/callback`
/**
 * The cookie's name over https. Without the `__Host-` prefix, another host of the domain could set the cookie, and log its visitor in as
 * another user.
 */
const SECURE_COOKIE = '__Host-model_proxy_oidc'
const LOOPBACK_COOKIE = 'model_proxy_oidc'
const ATTEMPT_SECONDS = 600
/** SQLSTATE: no_data_found. The e-mail address belongs to another person at the provider. */
const NO_DATA_FOUND = 'P0002'
const VALUE = /^[\w-]{20,128}$/

/** Creates the routes. `config` is null if no provider is configured. */
export function createOidcController(options: AdminOptions, config: OidcConfig | null) {
  const { database, trustedProxies, addresses, log } = options
  const oidc = config && createOidcClient(config, log)

  return createPublicController(options, PREFIX, 'Sessions')
    .get(
      '/login-options',
      () => ({
        object: 'login.options' as const,
        oidc: config === null ? null : { issuer: config.issuer },
        password_reset: options.accountMails !== null,
      }),
      describeRoute('Read the available ways to log in', loginOptionsSchema),
    )
    .get(
      '/oidc',
      async ({ request }) => {
        if (oidc === null) throw notFoundError('No OpenID Connect provider is configured.')
        // Throws if cookies would not be safe here, before the user is redirected to the provider in vain.
        formatSessionCookie(request, null, trustedProxies)
        const started = await oidc.begin(callbackOf(request, addresses)).catch(error => {
          log.warn({ cause: describeCause(error) }, 'the OpenID Connect provider cannot be reached')
          return null
        })
        if (started === null) return redirect('/dashboard?login=unreachable')
        return redirect(started.location.href, attemptCookie(isHttps(request, trustedProxies), started.attempt))
      },
      describeRedirect('Redirect to the OpenID Connect provider'),
    )
    .get(
      '/oidc/callback',
      async ({ request, address }) => {
        if (oidc === null) throw notFoundError('No OpenID Connect provider is configured.')
        const isSecure = isHttps(request, trustedProxies)
        const attempt = readAttempt(request, isSecure ? SECURE_COOKIE : LOOPBACK_COOKIE)
        const clearAttempt = attemptCookie(isSecure, null)
        if (attempt === null) return redirect('/dashboard?login=expired', clearAttempt)
        const origin = addressPrefix(address)
        // Each callback causes a token request to the provider. Attempts are limited by address, because the account is not known yet. The
        // limit is checked before an attempt is counted, so that nothing is written beyond it.
        const counted = { email: `oidc ${attempt.state}`, address: origin }
        const count = (attempts: 0 | 1) => callFunction(database, 'count_login_attempt', { ...counted, attempts })
        if ((await count(0)) > 0 || (await count(1)) > 0) {
          return redirect('/dashboard?login=throttled', clearAttempt)
        }
        const returned = callbackOf(request, addresses)
        returned.search = parseUrl(request).search
        const outcome = await oidc.finish(returned, attempt)
        if ('person' in outcome) {
          const { issuer, subject } = outcome.person
          await callFunction(database, 'revoke_identity_sessions', { of_issuer: issuer, of_subject: subject })
        }
        if ('refused' in outcome) return redirect(`/dashboard?login=${outcome.refused}`, clearAttempt)
        const { token, session } = createSession({ address, userAgent: request.headers.get('user-agent') ?? '' })
        const { issuer, subject, email, role } = outcome.identity
        const person = { of_issuer: issuer, of_subject: subject, of_email: email, user_role: role }
        const isKnown = await callFunction(database, 'log_in_by_identity', { ...person, ...session }).then(
          () => true,
          error => {
            if (sqlStateOf(error) === NO_DATA_FOUND) return false
            throw error
          },
        )
        if (!isKnown) return redirect('/dashboard?login=outside', clearAttempt)
        return redirect('/dashboard', formatSessionCookie(request, token, trustedProxies), clearAttempt)
      },
      describeRedirect('Handle the callback of the OpenID Connect provider'),
    )
}

/** Returns the URL of the callback as the browser sees it. */
function callbackOf(request: Request, addresses: AdminOptions['addresses']): URL {
  return new URL(CALLBACK, dashboardOriginOf(request, addresses))
}

function attemptCookie(isSecure: boolean, attempt: OidcAttempt | null): string {
  const value = attempt === null ? '' : [attempt.state, attempt.nonce, attempt.verifier].join('.')
  const age = attempt === null ? 0 : ATTEMPT_SECONDS
  // Lax, not Strict, because the provider's redirect comes from another site.
  const rest = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}`
  return isSecure ? `${SECURE_COOKIE}=${value}; Secure; ${rest}` : `${LOOPBACK_COOKIE}=${value}; ${rest}`
}

function redirect(location: string, ...cookies: string[]): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store' })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 302, headers })
}

function readAttempt(request: Request, name: string): OidcAttempt | null {
  const [state = '', nonce = '', verifier = '', ...more] = readCookie(request, name)?.split('.') ?? []
  const isWhole = more.length === 0 && [state, nonce, verifier].every(part => VALUE.test(part))
  return isWhole ? { state, nonce, verifier } : null
}
