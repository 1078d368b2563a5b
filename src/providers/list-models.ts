/** Reads a provider's own list of models. */
import { asObjects, asString, isJsonObject, parseJson } from '../formats/json/canonical.ts'
import { readAllBytes } from './read-bytes.ts'
import { sendPassThrough, type UpstreamTarget } from './send-request.ts'
import { brokenResponseError } from './upstream-failure.ts'

const TIME_LIMIT_MS = 30_000

/** Returns the names. The list may be the body itself, or in its `data`, `models` or `result`. Throws a 502 for another body. */
export async function fetchModelNames(recipient: UpstreamTarget): Promise<string[]> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS)
  const request = { method: 'GET', body: null, headers: new Headers({ accept: 'application/json' }), signal } as const
  const { status, body } = await sendPassThrough(request, recipient)
  const text = new TextDecoder().decode(await readAllBytes(body, recipient.name))
  const parsed = status === 200 ? parseJson(text) : null
  const { data, models, result } = isJsonObject(parsed) ? parsed : { data: parsed }
  const list = [data, models, result].find(Array.isArray)
  if (!list) throw brokenResponseError(recipient.name, 'sent no list of models', status)
  return asObjects(list).flatMap(({ id, name }) => asString(id) || asString(name) || [])
}
