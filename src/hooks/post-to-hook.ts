/** Puts one question to a hook over HTTP: signed, within bounds, never redirected. */
import { concatBytes } from '../formats/sse/split-events.ts'
import { type HookResponse, parseHookResponse } from './hook-response.ts'
import type { SignMessage } from './sign-message.ts'

/** A hook gave no verdict. The message says why, and quotes nothing. */
export class HookUnavailable extends Error {}

const MOST_ANSWER_BYTES = 16_384

export interface HookCall {
  url: string
  id: string
  body: Uint8Array
  sign: SignMessage
  /** Where requests are traced: its place. */
  traceHeaders: Headers | null
  signal: AbortSignal
}

/** Connections are kept and used again. Throws Unheard. */
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
      throw new HookUnavailable(`it answered ${response.status}`)
    }
    const verdict = parseHookResponse(await readShort(response))
    if (!verdict) throw new HookUnavailable('its answer is no verdict')
    return verdict
  } catch (error) {
    if (error instanceof HookUnavailable) throw error
    if (signal.aborted) throw new HookUnavailable('it did not answer in time')
    const { code, name } = error as { code?: unknown; name?: unknown }
    throw new HookUnavailable(`no connection: ${code ?? name}`)
  }
}

async function readShort({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    // Leaving the loop gives the rest up.
    if (length > MOST_ANSWER_BYTES) throw new HookUnavailable(`its answer has more than ${MOST_ANSWER_BYTES} bytes`)
    parts.push(part)
  }
  return new TextDecoder().decode(concatBytes(parts))
}
