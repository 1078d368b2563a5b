/** Responses that a provider makes in the background, under a key that projects share: asked for until they are whole, then kept here. */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { refuse } from '../../errors/errors.ts'
import { Job, LONGEST_ON_LOOP, offLoop } from '../../event-loop/off-loop.ts'
import type { Held } from '../../event-loop/stream-memory.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { type KeptAs, readKept } from '../../formats/responses/continued-input.ts'
import { responsesFormat } from '../../formats/responses/responses-format.ts'
import { changeEvents } from '../../formats/sse/split-events.ts'
import { readTypedEvent } from '../../formats/sse/sse.ts'
import type { Account } from '../../postgres/admit.ts'
import type { ModelRouter } from '../../providers/model-router.ts'
import { MAX_PLAIN_BYTES, readAll } from '../../providers/read-bytes.ts'
import type { StoredRequest } from '../../providers/upstream.ts'
import type { KeptResponse, KeptResponses } from '../kept-responses.ts'
import { withOwnFields } from '../own-fields.ts'
import type { ProxyResponse } from '../request.ts'

export interface UnfinishedOptions {
  kept: KeptResponses
  modelRouter: Pick<ModelRouter, 'keeperOf'>
}

export type AskedOfKept = Omit<StoredRequest, 'path'> & {
  /** Counts the response until its client has read it. */
  held?: Held
  /** '' for the response itself. */
  part: string
}

const READ = new Job<string, KeptAs | null>(new URL('../jobs.ts', import.meta.url), 'readKeptResponse')
/** A translated response begins with its id, and is whole. */
const OWN_ID_FIRST = /^\{"id":"(resp_[0-9a-f]{44})"/

/** A long one is read by a worker. Null for what is no response. */
export function keptAs(
  response: string,
  { project_id: owner }: Pick<Account, 'project_id'>,
): KeptAs | null | Promise<KeptAs | null> {
  // raw text: the proxy has written it; any other is parsed.
  const id = OWN_ID_FIRST.exec(response)?.[1]
  if (id !== undefined) return { id, itemIds: [], isUnfinished: false, isStored: true }
  return response.length > LONGEST_ON_LOOP ? offLoop.run(READ, response, { owner }) : readKept(response)
}

/** Asks its provider about it. Throws a 404 where that is not reached any more, and what `askStored` does. */
export async function askUnfinished(
  { id, previous_id: previous }: KeptResponse,
  { part, held, ...asked }: AskedOfKept,
  account: Account,
  { kept, modelRouter }: UnfinishedOptions,
): Promise<ProxyResponse> {
  const provider = modelRouter.keeperOf(account, AGGREGATOR)
  if (!provider?.askStored) throw refuse('responseNotKept', { id })
  const answer = await provider.askStored({ ...asked, path: `/responses/${encodeURIComponent(id)}${part}` })
  const { status, headers, body } = answer
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false
  const given: ProxyResponse = {
    status,
    headers: { ...Object.fromEntries(headers), 'x-proxy-provider': provider.name },
    body: isStream ? body : await readAll(body, provider.name, MAX_PLAIN_BYTES, held),
  }
  const own = await withOwnFields({ previous_response_id: previous }, given, account)
  if (status !== 200) return own

  async function keep(response: string): Promise<void> {
    const as = await keptAs(response, account)
    if (as?.id !== id || as.isUnfinished || !as.isStored) return
    // What is not kept now is asked for again.
    await kept.finish({ id, response, itemIds: as.itemIds }, account).catch(() => {})
  }

  if (!isStream) {
    const text = await new Response(own.body).text()
    await keep(text)
    return { ...own, body: text }
  }
  const stream = own.body instanceof ReadableStream ? own.body : new Blob([own.body]).stream()
  const keepLast = async (event: Uint8Array) => {
    const ended = readTypedEvent(event)?.response
    if (isJsonObject(ended)) await keep(JSON.stringify(ended))
    return event
  }
  const keeping = changeEvents(stream, event => (responsesFormat.isLastEvent(event) ? keepLast(event) : event))
  return { ...own, body: keeping }
}

const ASK_TIME_LIMIT_MS = 30_000

/** The response as it is by now. Throws a 409 where it is not whole yet. */
export async function finishKept(
  turn: KeptResponse,
  account: Account,
  options: UnfinishedOptions,
): Promise<KeptResponse> {
  if (!turn.unfinished) return turn
  const signal = AbortSignal.timeout(ASK_TIME_LIMIT_MS)
  const asked = { method: 'GET' as const, part: '', query: '', headers: new Headers(), signal }
  const { status, body } = await askUnfinished(turn, asked, account, options)
  const response = await new Response(body).text()
  const as = status === 200 ? await keptAs(response, account) : null
  if (as?.id !== turn.id || as.isUnfinished) throw refuse('responseUnfinished', { id: turn.id })
  return { ...turn, response, unfinished: false }
}
