/** Posts to an address that somebody gave: within bounds, never redirected, and not into private networks unless they are allowed. */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { withTimeout } from '../../event-loop/timeouts.ts'

const TIME_LIMIT_MS = 10_000
const MOST_CHARACTERS = 2_048

/** An address that nothing may be posted to, or that could not be reached. The message is for people who gave it. */
export class WebhookUnreachable extends Error {}

/** What is not the public internet's: of IPv6, all but 2000::/3, and in that what stands for an IPv4 address. */
const PRIVATE = {
  ipv4: [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ],
  ipv6: [
    ['::', 3],
    ['2001::', 23],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['4000::', 2],
    ['8000::', 1],
  ],
} as const
const LISTS = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const family of ['ipv4', 'ipv6'] as const) {
  for (const [network, bits] of PRIVATE[family]) LISTS[family].addSubnet(network, bits, family)
}

export function isPrivateAddress(address: string): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  return LISTS[family].check(address, family)
}

/** Throws Unreached for an address that no attempt could reach, whatever its name leads to. */
export function validateWebhookUrl(url: string, toPrivateNetworks: boolean): URL {
  if (!URL.canParse(url)) throw new WebhookUnreachable('it is no address; it should be like https://example.com/events')
  const parsed = new URL(url)
  // Of the form that is stored: escapes make it longer than what was given.
  if (parsed.href.length > MOST_CHARACTERS)
    throw new WebhookUnreachable(`it must have at most ${MOST_CHARACTERS} characters, escapes included`)
  const isSecure = parsed.protocol === 'https:' || (toPrivateNetworks && parsed.protocol === 'http:')
  if (!isSecure) throw new WebhookUnreachable('it must begin with https://')
  const host = hostOf(parsed)
  if (isIP(host) !== 0) refusePrivate([host], toPrivateNetworks)
  if (parsed.username !== '' || parsed.password !== '')
    throw new WebhookUnreachable('it must hold no user and no password')
  return parsed
}

/** Without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function refusePrivate(addresses: readonly string[], toPrivateNetworks: boolean): void {
  if (toPrivateNetworks || !addresses.some(isPrivateAddress)) return
  throw new WebhookUnreachable('it is in a private network; WEBHOOK_PRIVATE_NETWORKS=on would allow it')
}

export interface WebhookRequest {
  url: string
  headers: Record<string, string>
  body: string
  allowsPrivateNetworks: boolean
  signal: AbortSignal
}

type FindAddresses = (name: string) => Promise<LookupAddress[]>

/** Resolves to the status; the answer itself is not read. Throws Unreached. */
export async function postWebhook(
  { url, headers, body, allowsPrivateNetworks, signal }: WebhookRequest,
  findAddresses: FindAddresses = name => lookup(name, { all: true }),
): Promise<number> {
  const parsed = validateWebhookUrl(url, allowsPrivateNetworks)
  const addresses = await withTimeout(TIME_LIMIT_MS, findAddresses(hostOf(parsed))).catch(() => {
    throw new WebhookUnreachable('its name could not be resolved')
  })
  refusePrivate(
    addresses.map(({ address }) => address),
    allowsPrivateNetworks,
  )
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)])
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // Those that were checked: asked again, the name could lead elsewhere.
      lookup: (_, __, done) => done(null, addresses),
      agent: false,
      signal: limit,
    }
    const sent = (parsed.protocol === 'https:' ? requestHttps : requestHttp)(parsed, options, answer => {
      resolve(answer.statusCode ?? 0)
      answer.destroy()
    })
    sent.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new WebhookUnreachable(
          limit.aborted ? 'it did not answer within 10 seconds' : `no connection: ${error.code ?? error.name}`,
        ),
      ),
    )
    sent.end(body)
  })
}
