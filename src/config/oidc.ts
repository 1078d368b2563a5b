/** Settings of the OpenID Connect provider for single sign-on. */
import type { SettingsReader } from './settings-reader.ts'

export interface OidcConfig {
  issuer: string
  clientId: string
  clientSecret: string | null
  /** The e-mail domains whose addresses may become users; null for all. */
  allowedDomains: readonly string[] | null
  scopes: string
  /** The claim that lists a person's groups. */
  groupsClaim: string
  /** Roles by group; null when groups do not determine roles. */
  groupRoles: ReadonlyMap<string, 'owner' | 'reader'> | null
}

const DOMAIN = /^[a-z\d-]+(\.[a-z\d-]+)+$/
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export function readOidcConfig(read: SettingsReader): OidcConfig | null {
  const issuer = read.optionalText('OIDC_ISSUER')
  const clientId = read.optionalText('OIDC_CLIENT_ID')
  const clientSecret = read.optionalText('OIDC_CLIENT_SECRET')
  if (issuer === null) return null
  if (!isSecureIssuer(issuer)) {
    read.problem(
      'OIDC_ISSUER',
      'an address that begins with https://, or http:// where it is on this machine',
      'https://accounts.example.com',
    )
  }
  if (clientId === null) {
    read.problem('OIDC_CLIENT_ID', 'set where OIDC_ISSUER is', 'model-proxy')
    return null
  }
  const scopes = read.optionalText('OIDC_SCOPES') ?? 'openid email'
  if (!scopes.split(' ').includes('openid')) {
    read.problem('OIDC_SCOPES', 'scopes with openid among them', 'openid email groups')
  }
  return {
    issuer,
    clientId,
    clientSecret,
    allowedDomains: readDomains(read),
    scopes,
    groupsClaim: read.optionalText('OIDC_GROUPS_CLAIM') ?? 'groups',
    groupRoles: readGroupRoles(read),
  }
}

function readDomains(read: SettingsReader): string[] | null {
  const domains = splitList(read.optionalText('OIDC_ALLOWED_DOMAINS'))?.map(domain => domain.toLowerCase()) ?? null
  if (domains?.some(domain => !DOMAIN.test(domain))) {
    read.problem('OIDC_ALLOWED_DOMAINS', 'domains of e-mail addresses, separated by commas', 'example.com,example.org')
  }
  return domains
}

function readGroupRoles(read: SettingsReader): Map<string, 'owner' | 'reader'> | null {
  const pairs = splitList(read.optionalText('OIDC_GROUP_ROLES'))?.map(pair => {
    const at = pair.lastIndexOf('=')
    return { group: pair.slice(0, at), role: pair.slice(at + 1) }
  })
  if (!pairs) return null
  const roles = new Map<string, 'owner' | 'reader'>()
  for (const { group, role } of pairs) if (role === 'owner' || role === 'reader') roles.set(group, role)
  if (roles.size !== pairs.length || roles.has('')) {
    read.problem('OIDC_GROUP_ROLES', 'groups with the role owner or reader each', 'platform=owner,engineers=reader')
  }
  return roles
}

function splitList(text: string | null): string[] | null {
  return text === null ? null : text.split(',').map(item => item.trim())
}

function isSecureIssuer(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false
  const { protocol, hostname } = new URL(issuer)
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
}
