/** The usage of a stream that a client wants as OpenRouter's clients ask for it: `usage: {include: …}`, which other vendors refuse. */
import { Job } from '../event-loop/off-loop.ts'
import { isTranslated } from '../formats/format-of.ts'
import { isJsonObject, type JsonObject } from '../formats/json/canonical.ts'
import { parseExactly } from '../formats/json/exact-json.ts'
import { isLong, runOnBody, withLongBody } from './long-body.ts'
import type { UpstreamRequest } from './upstream.ts'

const DROP = new Job<{ bytes: Uint8Array }, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'dropUsageWish')

/** The request without the wish, if it has it; what else a field of this name says is the vendor's to judge. */
export async function withoutUsageWish(request: UpstreamRequest): Promise<UpstreamRequest> {
  const { usage, ...body } = request.body
  const isWish = isJsonObject(usage) && typeof usage.include === 'boolean' && !isTranslated(request.endpoint)
  if (!isWish) return request
  if (isLong(request)) return withLongBody(request, body, await runOnBody(DROP, request, {}))
  return { ...request, body, bodyText: dropUsage(request.bodyText) }
}

/** Written from the text, in which no number is rounded. */
export function dropUsage(bodyText: string): string {
  const { usage: _usage, ...rest } = parseExactly(bodyText) as JsonObject
  return JSON.stringify(rest)
}
