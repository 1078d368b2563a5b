/** Puts one question to a hook over HTTP: signed, within bounds, never redirected. */
import { joinBytes } from '../formats/sse/split-events.ts'
import type { SignMessage } from './sign-message.ts'
import { readVerdict, type Verdict } from './verdict.ts'

/** A hook gave no verdict. The message says why, and quotes nothing. */
export class Unheard extends Error {}

const MOST_ANSWER_BYTES = 16_384

export interface Posted {
  url: string
  id: string
  body: Uint8Array
  sign: SignMessage
  /** Where requests are traced: its place. */
  place: Headers | null
  signal: AbortSignal
}

/** Connections are kept and used again. Throws Unheard. */
export async function postQuestion({ url, id, body, sign, place, signal }: Posted): Promise<Verdict> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...Object.fromEntries(place ?? []), ...(await sign(id, body)), 'accept-encoding': 'identity' },
      body,
      redirect: 'manual',
      signal,
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Unheard(`it answered ${response.status}`)
    }
    const verdict = readVerdict(await readShort(response))
    if (!verdict) throw new Unheard('its answer is no verdict')
    return verdict
  } catch (error) {
    if (error instanceof Unheard) throw error
    if (signal.aborted) throw new Unheard('it did not answer in time')
    const { code, name } = error as { code?: unknown; name?: unknown }
    throw new Unheard(`no connection: ${code ?? name}`)
  }
}

async function readShort({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    // Leaving the loop gives the rest up.
    if (length > MOST_ANSWER_BYTES) throw new Unheard(`its answer has more than ${MOST_ANSWER_BYTES} bytes`)
    parts.push(part)
  }
  return new TextDecoder().decode(joinBytes(parts))
}
