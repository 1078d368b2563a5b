/** Logging in with an OpenID Connect provider: the authorization code flow with PKCE, for whoever's e-mail address it has verified. */
import type { Configuration } from 'openid-client'
import type { OidcConfig } from '../config.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'

/** What the browser keeps while its user is at the provider. */
export interface OidcAttempt {
  state: string
  nonce: string
  /** PKCE's. */
  verifier: string
}

export interface Oidc {
  /** Where to send the browser, and what it is to keep. Throws where the provider does not answer. */
  begin(callback: URL): Promise<{ location: URL; attempt: OidcAttempt }>
  /** `returned`: the address that the provider sent the browser to. */
  finish(returned: URL, attempt: OidcAttempt): Promise<OidcOutcome>
}

/** `unverified`: the provider knows no e-mail address of the user, or has not verified it. `refused`: it did not confirm the login. */
export type OidcOutcome = { email: string } | { refused: 'unverified' | 'refused' }

const SCOPE = 'openid email'
const TIME_LIMIT_SECONDS = 10

export function createOidc(config: OidcConfig, log: Log): Oidc {
  // Loaded at need: most installations have no provider.
  const library = () => import('openid-client')
  let discovering: Promise<Configuration> | null = null

  async function discover(): Promise<Configuration> {
    const { allowInsecureRequests, discovery } = await library()
    const issuer = new URL(config.issuer)
    // The environment's reader lets http pass on loopback alone.
    const execute = issuer.protocol === 'http:' ? [allowInsecureRequests] : []
    const secret = config.clientSecret ?? undefined
    return discovery(issuer, config.clientId, secret, undefined, { execute, timeout: TIME_LIMIT_SECONDS })
  }

  /** What the provider says of itself is asked for once; a failure is tried again. */
  function provider(): Promise<Configuration> {
    discovering ??= discover().catch(error => {
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
        scope: SCOPE,
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
        // Not every provider has the address in the token itself.
        const told = claims.email ? claims : await fetchUserInfo(configuration, tokens.access_token, claims.sub)
        const isVerified = told.email_verified === true && typeof told.email === 'string'
        return isVerified ? { email: String(told.email) } : { refused: 'unverified' }
      } catch (error) {
        log.warn({ cause: describeCause(error) }, 'a login by OpenID Connect failed')
        return { refused: 'refused' }
      }
    },
  }
}
