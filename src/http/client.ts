/** Who sends a request, as its headers say: the client's address, as far as it can be trusted, the key, the request's id. */
import { isIP } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * Each of the `trustedProxies` in front appends the address it saw to X-Forwarded-For. So the client's address is that many entries from
 * the right, with the socket's own as the last. The client may have made up any entry further left.
 */
export function readClientAddress(socketAddress: string, forwardedFor: string | null, trustedProxies: number): string {
  const socket = unmapAddress(socketAddress)
  if (trustedProxies === 0 || forwardedFor === null) return socket
  const chain = [...forwardedFor.split(',').map(address => unmapAddress(address.trim())), socket]
  const address = chain[Math.max(0, chain.length - 1 - trustedProxies)]
  return address !== undefined && isIP(address) !== 0 ? address : socket
}

function unmapAddress(address: string): string {
  return MAPPED_IPV4.exec(address)?.[1] ?? address
}

/** The address that limits count by: an IPv4 address itself, or an IPv6 address's /64, all of which one customer has. */
export function addressPrefix(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const groups = head === '' ? [] : head.split(':')
  // The :: stands for the missing zeros; the tail matters only if it reaches into the first half.
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':')
    const restLength = rest.length + (rest.at(-1)?.includes('.') ? 1 : 0)
    while (groups.length + restLength < 8) groups.push('0')
    groups.push(...rest)
  }
  const network = groups.slice(0, 4).map(group => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}

/** Tried in this order when there is no Authorization header. */
const BARE_KEY_HEADERS = ['api-key', 'x-api-key']

/** Returns the Authorization header, or the one that Azure's and Anthropic's clients use instead; null when the request has no key. */
export function readAuthorization(headers: Headers): string | null {
  const authorization = headers.get('authorization')
  if (authorization !== null) return authorization
  for (const name of BARE_KEY_HEADERS) {
    const key = headers.get(name)
    if (key !== null && key.trim() !== '') return `Bearer ${key.trim()}`
  }
  return null
}

const SANE = /^[A-Za-z0-9._:-]{1,128}$/

/** The client's X-Request-Id if it is well formed, else a generated one. */
export function readRequestId(headers: Headers): string {
  const given = headers.get('x-request-id')
  return given !== null && SANE.test(given) ? given : crypto.randomUUID()
}
