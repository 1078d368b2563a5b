/** Posts to a webhook's URL: with a time limit, without redirects, and not into private networks unless they are allowed. */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { withTimeout } from '../../event-loop/timeouts.ts'

const TIME_LIMIT_MS = 10_000
const MAX_URL_LENGTH = 2_048

/** Thrown for a URL that is not allowed or not reachable. The message is for the user who added the webhook. */
export class WebhookUnreachable extends Error {}

/** Networks outside the public internet. For IPv6, all but 2000::/3, and within it the networks that embed IPv4 addresses. */
const PRIVATE_NETWORKS = {
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
const BLOCK_LISTS = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const family of ['ipv4', 'ipv6'] as const) {
  for (const [network, bits] of PRIVATE_NETWORKS[family]) BLOCK_LISTS[family].addSubnet(network, bits, family)
}

export function isPrivateAddress(address: string): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  return BLOCK_LISTS[family].check(address, family)
}

/** Parses a webhook's URL. Throws WebhookUnreachable if it is not allowed, independent of DNS. */
export function validateWebhookUrl(url: string, toPrivateNetworks: boolean): URL {
  if (!URL.canParse(url)) throw new WebhookUnreachable('it must be a URL, such as https://example.com/events')
  const parsed = new URL(url)
  // The length of the stored form counts, because escapes make it longer.
  if (parsed.href.length > MAX_URL_LENGTH)
    throw new WebhookUnreachable(`it must have at most ${MAX_URL_LENGTH} characters, escapes included`)
  const isSecure = parsed.protocol === 'https:' || (toPrivateNetworks && parsed.protocol === 'http:')
  if (!isSecure) throw new WebhookUnreachable('it must begin with https://')
  const host = hostOf(parsed)
  if (isIP(host) !== 0) rejectPrivate([host], toPrivateNetworks)
  if (parsed.username !== '' || parsed.password !== '')
    throw new WebhookUnreachable('it must not contain a user or a password')
  return parsed
}

/** Returns the host without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function rejectPrivate(addresses: readonly string[], toPrivateNetworks: boolean): void {
  if (toPrivateNetworks || !addresses.some(isPrivateAddress)) return
  throw new WebhookUnreachable('it is in a private network; set WEBHOOK_PRIVATE_NETWORKS=on to allow it')
}

export interface WebhookRequest {
  url: string
  headers: Record<string, string>
  body: string
  allowsPrivateNetworks: boolean
  signal: AbortSignal
}

type FindAddresses = (name: string) => Promise<LookupAddress[]>

/** Posts a message. Resolves to the response's status, without reading its body. Throws WebhookUnreachable. */
export async function postWebhook(
  { url, headers, body, allowsPrivateNetworks, signal }: WebhookRequest,
  findAddresses: FindAddresses = name => lookup(name, { all: true }),
): Promise<number> {
  const parsed = validateWebhookUrl(url, allowsPrivateNetworks)
  const addresses = await withTimeout(TIME_LIMIT_MS, findAddresses(hostOf(parsed))).catch(() => {
    throw new WebhookUnreachable('its name could not be resolved')
  })
  rejectPrivate(
    addresses.map(({ address }) => address),
    allowsPrivateNetworks,
  )
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)])
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // Connects to the addresses that were checked. A second lookup could return others.
      lookup: (_, __, done) => done(null, addresses),
      agent: false,
      signal: limit,
    }
    const request = (parsed.protocol === 'https:' ? requestHttps : requestHttp)(parsed, options, response => {
      resolve(response.statusCode ?? 0)
      response.destroy()
    })
    request.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new WebhookUnreachable(
          limit.aborted ? 'it did not respond within 10 seconds' : `no connection: ${error.code ?? error.name}`,
        ),
      ),
    )
    request.end(body)
  })
}
