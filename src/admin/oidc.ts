/**
 * Login with an OpenID Connect provider: authorization code flow with PKCE. The ID token's signature is checked, and the provider must have
 * verified the e-mail address.
 */
import type { Configuration } from 'openid-client'
import type { OidcConfig } from '../config/config.ts'
import { clockSkewSeconds, nowSeconds } from '../event-loop/clock.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'

/** What the browser keeps in a cookie while the user is at the provider. */
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
  /** Verified by the provider. */
  email: string
  /** From the person's groups; null to leave it. */
  role: 'owner' | 'reader' | null
}

export interface OidcClient {
  /** Returns where to redirect the browser, and what it must keep. Throws when the provider does not answer. */
  begin(callback: URL): Promise<{ location: URL; attempt: OidcAttempt }>
  /** `returned` is the callback's address with the provider's parameters. */
  finish(returned: URL, attempt: OidcAttempt): Promise<OidcResult>
}

/**
 * `unverified`: the provider has no verified e-mail address of the user. `outside`: the address or the groups are none that may log in.
 * `refused`: the provider did not confirm the login.
 */
export type OidcResult =
  | { identity: Identity }
  | { refused: 'outside'; person: Pick<Identity, 'issuer' | 'subject'> }
  | { refused: 'unverified' | 'refused' }

const TIME_LIMIT_SECONDS = 10
/** How far a provider's clock may be ahead: what the library allows its other times. */
const CLOCK_TOLERANCE_SECONDS = 30

/** Imported on first use: most installations have no provider. */
const library = () => import('openid-client')

async function discover({ issuer, clientId, clientSecret }: OidcConfig): Promise<Configuration> {
  const { allowInsecureRequests, clockSkew, discovery, enableNonRepudiationChecks } = await library()
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

  /** Discovery runs once. A failure is not cached. */
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
        await library()
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
      const { authorizationCodeGrant, fetchUserInfo } = await library()
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
        // Some providers put the address, or the groups, into the user info only, not into the token.
        const isWhole = claims.email !== undefined && (config.groupRoles === null || config.groupsClaim in claims)
        const told = isWhole ? claims : await fetchUserInfo(configuration, tokens.access_token, claims.sub)
        const { email, email_verified: isVerified } = { ...told, ...claims }
        if (isVerified !== true || typeof email !== 'string') return { refused: 'unverified' }
        const role = roleOf({ ...told, ...claims }[config.groupsClaim], config)
        const person = { issuer: config.issuer, subject: claims.sub }
        if (role === undefined || !isInside(email, config)) return { refused: 'outside', person }
        return { identity: { ...person, email, role } }
      } catch (error) {
        log.warn({ cause: describeCause(error) }, 'a login by OpenID Connect failed')
        return { refused: 'refused' }
      }
    },
  }
}

function isInside(email: string, { allowedDomains }: OidcConfig): boolean {
  return allowedDomains?.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase()) ?? true
}

/** Null where groups decide nothing; undefined for a person in none of the groups. */
function roleOf(claim: unknown, { groupRoles }: OidcConfig): Identity['role'] | undefined {
  if (groupRoles === null) return null
  const groups = Array.isArray(claim) ? claim : [claim]
  const roles = groups.map(group => groupRoles.get(String(group)))
  return roles.includes('owner') ? 'owner' : roles.find(role => role !== undefined)
}
