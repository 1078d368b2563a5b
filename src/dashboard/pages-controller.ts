/** Serves the pages: one document for every path under /dashboard, and the files it loads. */

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

const SECURITY: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  // The pages use none of them.
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Allows files from this origin only, and no inline script or style. `proxy`: the origin that the playground asks. */
function contentPolicy(proxy: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self' ${proxy}`,
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
  async function answer(request: Request): Promise<Response> {
    const name = parseUrl(request).pathname.slice(PREFIX.length + 1)
    if (name.startsWith('api/')) return new Response('Not found', { status: 404, headers: SECURITY })
    // Any other path is a route inside the page.
    const asset = /^[\w-]+\.\w+$/.test(name) ? await findAsset(name) : await findAsset('index.html')
    if (asset === null) return new Response('Not found', { status: 404, headers: SECURITY })
    const policy = contentPolicy(new URL(proxyBaseUrlOf(request, addresses)).origin)
    const response = respondWithAsset(request, asset, policy, memory)
    if (isHttps(request, addresses.trustedProxies)) response.headers.set('strict-transport-security', HSTS)
    return response
  }
  return new Elysia({ normalize: false })
    .get(PREFIX, async ({ request }) => closeIfBodyUnread(request, await answer(request)), { detail: { hide: true } })
    .get(`${PREFIX}/*`, async ({ request }) => closeIfBodyUnread(request, await answer(request)), {
      detail: { hide: true },
    })
}

function respondWithAsset(
  request: Request,
  { name, type, encoded }: Asset,
  policy: string,
  memory: StreamMemory,
): Response {
  const encoding = encodingFor(request.headers.get('accept-encoding') ?? '')
  const headers = {
    ...SECURITY,
    'content-security-policy': policy,
    'content-type': type,
    vary: 'accept-encoding',
    'cache-control': name === 'index.html' ? 'no-cache' : 'public, max-age=31536000, immutable',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  }
  return new Response(toBoundedBody(encoded[encoding], memory), { headers })
}

/** The smallest that the browser takes. */
function encodingFor(accepted: string): ContentEncoding {
  if (/\bbr\b/.test(accepted)) return 'br'
  return /\bgzip\b/.test(accepted) ? 'gzip' : 'identity'
}
