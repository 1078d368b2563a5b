/** Serves the pages: one document for every path under /dashboard, and the files it loads. */

import { Elysia } from 'elysia'
import { urlOf } from '../http/paths.ts'
import { leaveBody } from '../http/read-body.ts'
import type { FindAsset, ServedAsset } from './assets.ts'

const PREFIX = '/dashboard'

/** Allows files from this origin only, and no inline script or style. */
const SECURITY: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

export function createPagesController(findAsset: FindAsset) {
  async function answer(request: Request): Promise<Response> {
    const name = urlOf(request).pathname.slice(PREFIX.length + 1)
    if (name.startsWith('api/')) return new Response('Not found', { status: 404, headers: SECURITY })
    // Any other path is a route inside the page.
    const asset = /^[\w-]+\.\w+$/.test(name) ? await findAsset(name) : await findAsset('index.html')
    if (asset === null) return new Response('Not found', { status: 404, headers: SECURITY })
    return respondWithAsset(request, asset)
  }
  return new Elysia({ normalize: false })
    .get(PREFIX, async ({ request }) => leaveBody(request, await answer(request)), { detail: { hide: true } })
    .get(`${PREFIX}/*`, async ({ request }) => leaveBody(request, await answer(request)), { detail: { hide: true } })
}

function respondWithAsset(request: Request, { name, type, bytes, gzipped }: ServedAsset): Response {
  const takesGzip = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')
  const headers = {
    ...SECURITY,
    'content-type': type,
    vary: 'accept-encoding',
    'cache-control': name === 'index.html' ? 'no-cache' : 'public, max-age=31536000, immutable',
    ...(takesGzip ? { 'content-encoding': 'gzip' } : {}),
  }
  return new Response(Uint8Array.from(takesGzip ? gzipped : bytes), { headers })
}
