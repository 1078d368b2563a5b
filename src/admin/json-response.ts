/** Responses of the admin API as JSON: compressed, and without a body if the client has the current one. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { createResponse, type HttpRequestContext } from '../http/respond.ts'

/** Shorter bodies fit in one packet anyway. */
const MIN_COMPRESSED_BYTES = 1_024
/** Compresses in a thread of its own, so that requests of clients do not wait. */
const compress = promisify(gzip)

/**
 * Creates the response to a request. A GET gets an ETag, and a 304 if it has If-None-Match with this ETag: pages that poll transfer only what
 * changed. Only GETs below /v1/ are compressed: none of them has a secret, whose text the length of a compressed body could reveal.
 */
export async function createJsonResponse(
  { method, url, headers }: Request,
  value: unknown,
  context: HttpRequestContext,
): Promise<Response> {
  const body = JSON.stringify(value)
  const common: Record<string, string> = { 'content-type': 'application/json', 'cache-control': 'no-store' }
  if (method !== 'GET') return createResponse({ status: 200, headers: common, body }, context)
  // Weak, because a compressed and an uncompressed body have the same.
  common.etag = `W/"${Bun.hash(body).toString(36)}"`
  common.vary = 'accept-encoding'
  if (namesETag(headers.get('if-none-match'), common.etag)) {
    const { headers: sent } = createResponse({ status: 200, headers: common, body: '' }, context)
    return new Response(null, { status: 304, headers: sent })
  }
  const isCompressed =
    body.length >= MIN_COMPRESSED_BYTES &&
    new URL(url).pathname.startsWith('/v1/') &&
    acceptsGzip(headers.get('accept-encoding'))
  if (!isCompressed) return createResponse({ status: 200, headers: common, body }, context)
  common['content-encoding'] = 'gzip'
  return createResponse({ status: 200, headers: common, body: await compress(body) }, context)
}

/** Whether If-None-Match lists the ETag. https://www.rfc-editor.org/rfc/rfc9110#name-if-none-match */
function namesETag(listed: string | null, etag: string): boolean {
  return listed?.split(',').some(each => each.trim() === etag) ?? false
}

/** Whether Accept-Encoding has gzip, and not with a weight of zero. */
function acceptsGzip(accepted: string | null): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/i.test(accepted ?? '')
}
