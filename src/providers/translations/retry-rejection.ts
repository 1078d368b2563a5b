/** Sends a request again without what the provider has rejected. */
import { isPresent } from '../../formats/json/canonical.ts'
import type { UpstreamRequest, UpstreamResponse } from '../upstream.ts'

/** Sends a rejected request again in another form if the rejection contains one of these names. Returns the first response if that fails. */
export async function retryIfNamed(
  first: UpstreamResponse,
  names: readonly string[],
  sendAgain: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  if (first.status !== 400 && first.status !== 422) return first
  const text = await new Response(first.body).text()
  if (names.some(name => text.includes(name))) {
    const again = await sendAgain().catch(() => null)
    if (again?.status === 200) return again
    await again?.body.cancel().catch(() => {})
  }
  return { ...first, body: new Blob([text]).stream() }
}

/** The words by which a rejection names the reasoning that the proxy requested or sent at Responses. */
const REASONING_NAMES = [
  'ncrypted content',
  'encrypted_content',
  'reasoning.summary',
  'reasoning summar',
  "type 'reasoning'",
]

/**
 * Some providers reject reasoning that they created themselves, or that another account got, and some models and accounts have none to return.
 * When a rejection names it, the request is sent again without it.
 */
export async function retryWithoutReasoning(
  first: UpstreamResponse,
  { body }: UpstreamRequest,
  sendWithoutReasoning: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  return isPresent(body.include) ? retryIfNamed(first, REASONING_NAMES, sendWithoutReasoning) : first
}
