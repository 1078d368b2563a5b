/** Sends one signed request to the hook by HTTP. The response's size is limited, and redirects are not followed. */
import { concatBytes } from '../formats/sse/split-events.ts'
import { type HookResponse, parseHookResponse } from './hook-response.ts'
import type { SignMessage } from './sign-message.ts'

/** The hook gave no valid response. The message says why, and quotes nothing of the response. */
export class HookUnavailable extends Error {}

const MAX_RESPONSE_BYTES = 16_384

export interface HookCall {
  url: string
  id: string
  body: Uint8Array
  sign: SignMessage
  /** Headers that carry the trace context; null if the request is not traced. */
  traceHeaders: Headers | null
  signal: AbortSignal
}

/** Calls the hook over a reused connection. Throws HookUnavailable. */
export async function postToHook({ url, id, body, sign, traceHeaders, signal }: HookCall): Promise<HookResponse> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...Object.fromEntries(traceHeaders ?? []), ...(await sign(id, body)), 'accept-encoding': 'identity' },
      body,
      redirect: 'manual',
      signal,
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new HookUnavailable(`the hook responded with status ${response.status}, expected 200`)
    }
    const parsed = parseHookResponse(await readLimitedText(response))
    if (!parsed) throw new HookUnavailable('the hook response has no valid verdict')
    return parsed
  } catch (error) {
    if (error instanceof HookUnavailable) throw error
    if (signal.aborted) throw new HookUnavailable('the hook did not respond in time')
    const { code, name } = error as { code?: unknown; name?: unknown }
    throw new HookUnavailable(`no connection to the hook: ${code ?? name}`)
  }
}

async function readLimitedText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    // Leaving the loop cancels the rest of the body.
    if (length > MAX_RESPONSE_BYTES) throw new HookUnavailable(`the hook response exceeds ${MAX_RESPONSE_BYTES} bytes`)
    parts.push(part)
  }
  return new TextDecoder().decode(concatBytes(parts))
}
