/** Settings of the OpenID Connect provider for logging in. */
import type { Settings } from './settings.ts'

export interface OidcConfig {
  issuer: string
  clientId: string
  clientSecret: string | null
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export function readOidc(read: Settings, problems: string[]): OidcConfig | null {
  const issuer = read.optionalText('OIDC_ISSUER')
  const clientId = read.optionalText('OIDC_CLIENT_ID')
  const clientSecret = read.optionalText('OIDC_CLIENT_SECRET')
  if (issuer === null) return null
  if (!isSafe(issuer)) {
    problems.push(
      'OIDC_ISSUER must be an address that begins with https://, or http:// where it is on this machine. Example: OIDC_ISSUER=https://accounts.example.com',
    )
  }
  if (clientId === null) {
    problems.push('OIDC_CLIENT_ID must be set where OIDC_ISSUER is. Example: OIDC_CLIENT_ID=model-proxy')
    return null
  }
  return { issuer, clientId, clientSecret }
}

function isSafe(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false
  const { protocol, hostname } = new URL(issuer)
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
}
