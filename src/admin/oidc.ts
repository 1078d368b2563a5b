/**
 * Login with an OpenID Connect provider by the authorization code flow with PKCE. The signature of the ID token is checked, and the provider
 * must have verified the e-mail address.
 */
import type { Configuration } from 'openid-client'
import type { OidcConfig } from '../config/config.ts'
import { clockSkewSeconds, nowSeconds } from '../event-loop/clock.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'

/** The state of a login, which the browser stores in a cookie while the user is at the provider. */
export interface OidcAttempt {
  state: string
  nonce: string
  /** The PKCE code verifier. */
  verifier: string
}

/** A person whom the provider has authenticated. */
interface Identity {
  issuer: string
  subject: string
  /** The e-mail address that the provider has verified. */
  email: string
  /** The role that follows from the person's groups; null to keep the current role. */
  role: 'owner' | 'reader' | null
}

export interface OidcClient {
  /** Starts a login. Returns the URL to redirect to, and the state to store in a cookie. Throws if the provider does not respond. */
  begin(callback: URL): Promise<{ location: URL; attempt: OidcAttempt }>
  /** Finishes a login. `returned` is the callback's URL with the provider's parameters. */
  finish(returned: URL, attempt: OidcAttempt): Promise<OidcResult>
}

/**
 * `unverified`: the provider has no verified e-mail address of the user. `outside`: the address or the groups may not log in. `refused`: the
 * provider did not confirm the login.
 */
export type OidcResult =
  | { identity: Identity }
  | { refused: 'outside'; person: Pick<Identity, 'issuer' | 'subject'> }
  | { refused: 'unverified' | 'refused' }

const TIME_LIMIT_SECONDS = 10
/** The time that a provider's clock may be ahead. The library allows the same for other times. */
const CLOCK_TOLERANCE_SECONDS = 30

/** Imports the library on first use, because most installations have no provider. */
const importLibrary = () => import('openid-client')

async function discover({ issuer, clientId, clientSecret }: OidcConfig): Promise<Configuration> {
  const { allowInsecureRequests, clockSkew, discovery, enableNonRepudiationChecks } = await importLibrary()
  const server = new URL(issuer)
  // The configuration allows http on loopback only.
  const execute = [enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [allowInsecureRequests] : [])]
  const metadata = {
    ...(clientSecret === null ? {} : { client_secret: clientSecret }),
    [clockSkew]: clockSkewSeconds(),
  }
  return discovery(server, clientId, metadata, undefined, { execute, timeout: TIME_LIMIT_SECONDS })
}

export function createOidcClient(config: OidcConfig, log: Log): OidcClient {
  let discovering: Promise<Configuration> | null = null

  /** Discovers the provider once. A failure is not cached. */
  function provider(): Promise<Configuration> {
    discovering ??= discover(config).catch(error => {
      discovering = null
      throw error
    })
    return discovering
  }

  return {
    async begin(callback) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier, randomState } =
        await importLibrary()
      const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
      const location = buildAuthorizationUrl(await provider(), {
        redirect_uri: callback.href,
        scope: config.scopes,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { location, attempt }
    },

    async finish(returned, { state, nonce, verifier }) {
      const { authorizationCodeGrant, fetchUserInfo } = await importLibrary()
      try {
        const configuration = await provider()
        const tokens = await authorizationCodeGrant(configuration, returned, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (!claims) return { refused: 'refused' }
        if (claims.iat > nowSeconds() + CLOCK_TOLERANCE_SECONDS) throw new Error('the ID token is issued in the future')
        // Some providers put the address or the groups only into the user info, not into the token.
        const isWhole = claims.email !== undefined && (config.groupRoles === null || config.groupsClaim in claims)
        const info = isWhole ? claims : await fetchUserInfo(configuration, tokens.access_token, claims.sub)
        const { email, email_verified: isVerified } = { ...info, ...claims }
        if (isVerified !== true || typeof email !== 'string') return { refused: 'unverified' }
        const role = roleOf({ ...info, ...claims }[config.groupsClaim], config)
        const person = { issuer: config.issuer, subject: claims.sub }
        if (role === undefined || !hasAllowedDomain(email, config)) return { refused: 'outside', person }
        return { identity: { ...person, email, role } }
      } catch (error) {
        log.warn({ cause: describeCause(error) }, 'a login by OpenID Connect failed')
        return { refused: 'refused' }
      }
    },
  }
}

function hasAllowedDomain(email: string, { allowedDomains }: OidcConfig): boolean {
  return allowedDomains?.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase()) ?? true
}

/** Returns the role of a person's groups; null if groups are not configured; undefined if the person is in none of them. */
function roleOf(claim: unknown, { groupRoles }: OidcConfig): Identity['role'] | undefined {
  if (groupRoles === null) return null
  const groups = Array.isArray(claim) ? claim : [claim]
  const roles = groups.map(group => groupRoles.get(String(group)))
  return roles.includes('owner') ? 'owner' : roles.find(role => role !== undefined)
}
