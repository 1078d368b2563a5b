/** Serves the pages: one document for every path below /dashboard, and the files that it loads. */

import { Elysia } from 'elysia'
import { type AddressConfig, proxyBaseUrlOf } from '../admin/addresses.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { HSTS, isHttps } from '../http/is-https.ts'
import { parseUrl } from '../http/paths.ts'
import { closeIfBodyUnread } from '../http/read-body.ts'
import { toBoundedBody } from '../http/respond.ts'
import type { AssetLookup } from './assets.ts'
import type { Asset, ContentEncoding } from './bundle.ts'

const PREFIX = '/dashboard'

const SECURITY_HEADERS: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  // The pages use none of these features.
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/**
 * Returns a content security policy that allows files from this origin only, and no inline scripts or styles. `proxyOrigin` is the origin
 * that the playground sends requests to.
 */
function contentSecurityPolicy(proxyOrigin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self' ${proxyOrigin}`,
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

export function createPagesController(
  findAsset: AssetLookup,
  { config: addresses, memory }: { config: AddressConfig; memory: StreamMemory },
) {
  async function respond(request: Request): Promise<Response> {
    const name = parseUrl(request).pathname.slice(PREFIX.length + 1)
    if (name.startsWith('api/')) return new Response('Not found', { status: 404, headers: SECURITY_HEADERS })
    // Any other path is a route inside the page.
    const asset = /^[\w-]+\.\w+$/.test(name) ? await findAsset(name) : await findAsset('index.html')
    if (asset === null) return new Response('Not found', { status: 404, headers: SECURITY_HEADERS })
    const policy = contentSecurityPolicy(new URL(proxyBaseUrlOf(request, addresses)).origin)
    const response = respondWithAsset(request, asset, policy, memory)
    if (isHttps(request, addresses.trustedProxies)) response.headers.set('strict-transport-security', HSTS)
    return response
  }
  return new Elysia({ normalize: false })
    .get(PREFIX, async ({ request }) => closeIfBodyUnread(request, await respond(request)), { detail: { hide: true } })
    .get(`${PREFIX}/*`, async ({ request }) => closeIfBodyUnread(request, await respond(request)), {
      detail: { hide: true },
    })
}

function respondWithAsset(
  request: Request,
  { name, type, encoded }: Asset,
  policy: string,
  memory: StreamMemory,
): Response {
  const encoding = chooseEncoding(request.headers.get('accept-encoding') ?? '')
  const headers = {
    ...SECURITY_HEADERS,
    'content-security-policy': policy,
    'content-type': type,
    vary: 'accept-encoding',
    'cache-control': name === 'index.html' ? 'no-cache' : 'public, max-age=31536000, immutable',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  }
  return new Response(toBoundedBody(encoded[encoding], memory), { headers })
}

/** Returns the encoding with the smallest files that the browser accepts. */
function chooseEncoding(accepted: string): ContentEncoding {
  if (/\bbr\b/.test(accepted)) return 'br'
  return /\bgzip\b/.test(accepted) ? 'gzip' : 'identity'
}
