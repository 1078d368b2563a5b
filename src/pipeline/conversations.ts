/**
 * Conversations at /v1/responses with models whose providers keep none: each response is kept for the key that asked, so that a later
 * request can name it, or its items, in place of what was said.
 */
import { ProxyError, refuse } from '../errors/errors.ts'
import { inPieces } from '../event-loop/in-pieces.ts'
import { Job, LONGEST_ON_LOOP, offLoop } from '../event-loop/off-loop.ts'
import { recordedUserOf } from '../formats/end-user.ts'
import { isJsonObject, textOf } from '../formats/json/canonical.ts'
import { type KeptReference, referencesOf } from '../formats/kept-references.ts'
import type { LargeBodyReader } from '../formats/large-bodies/read-large-body.ts'
import {
  findItemReferences,
  inputItems,
  isOwnResponseId,
  type ToContinue,
  type WrittenRequest,
  writeContinued,
} from '../formats/responses/continued-input.ts'
import { responsesFormat } from '../formats/responses/responses-format.ts'
import { changeEvents } from '../formats/sse/split-events.ts'
import { readTypedEvent } from '../formats/sse/sse.ts'
import type { Account } from '../postgres/admit.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { KeptResponse, KeptResponses } from './kept-responses.ts'
import { parseBytes } from './parse-request.ts'
import type { CompletionQuery } from './query.ts'
import type { ProxyResponse } from './request.ts'

type Asked = Parameters<typeof parseBytes>[0]

export interface Conversations {
  /** Puts what was said in place of references to it. Throws a 404 for what is not kept for this key. */
  resume(query: CompletionQuery, asked: Asked, account: Account): Promise<CompletionQuery>
  /** Keeps the response, before its client knows its end. */
  keep(asked: { query: CompletionQuery; account: Account }, response: ProxyResponse): Promise<ProxyResponse>
}

export interface ConversationsOptions {
  kept: KeptResponses
  modelRouter: Pick<ModelRouter, 'resolve'>
  largeBodies: LargeBodyReader
  log: Pick<Log, 'warn'>
}

const CONTINUE = new Job<ToContinue, WrittenRequest>(new URL('./jobs.ts', import.meta.url), 'continueInput')
/** A translated response begins with its id. */
const ID_FIRST = /^\{"id":"(resp_[0-9a-f]{44})"/

export function createConversations(options: ConversationsOptions): Conversations {
  const { kept, modelRouter, largeBodies, log } = options

  async function keep(
    { query, account }: { query: CompletionQuery; account: Account },
    response: string,
  ): Promise<void> {
    const id = ID_FIRST.exec(response)?.[1]
    if (id === undefined) return
    const { previousId, ownInput } = query.continued ?? { previousId: null, ownInput: writeInput(query) }
    await kept
      .keep({ id, previousId, ownInput, response, askedFor: recordedUserOf(query.body) }, account)
      .catch(error => log.warn({ cause: describeCause(error) }, 'a response could not be kept'))
  }

  return {
    async resume(query, asked, account) {
      if (!query.namesEarlier) return query
      const provider = modelRouter.resolve(query.model, account, [], query.alias?.name)
      if (provider instanceof ProxyError) return query
      const keepsItself = provider.has?.includes('responses') ?? true
      const found = await findEarlier(query, account, kept)
      const bytes = query.bytes ?? new TextEncoder().encode(query.text)
      const input = { ...found, bytes, dropsPrevious: keepsItself }
      const written =
        bytes.length > LONGEST_ON_LOOP
          ? await offLoop.run(CONTINUE, input, { owner: account.project_id })
          : writeContinued(input)
      // What a provider with a Responses API has made itself is left to that provider.
      if (written.missing && !keepsItself) {
        const { id, index } = written.missing
        throw refuse('itemNotFound', { id, param: `input[${index}].id` })
      }
      const { body, alias } = query
      const whole = await parseBytes(asked, written.bytes, largeBodies, account.project_id)
      const previousId = isOwnResponseId(body.previous_response_id) ? body.previous_response_id : null
      const isOther = ({ field }: KeptReference) => previousId === null || field !== 'previous_response_id'
      const references = referencesOf(whole).filter(isOther)
      const continued = { previousId, ownInput: boundedInput(written.ownInput) }
      return Object.assign(whole, { references, continued, ...(alias && { alias }) })
    },

    async keep(asked, response) {
      const { endpoint, body: request } = asked.query
      if (endpoint !== 'responses' || request.store === false || response.status !== 200) return response
      const { body, headers } = response
      if (headers['content-type']?.includes('text/event-stream')) {
        const keepLast = async (event: Uint8Array) => {
          const ended = readTypedEvent(event)?.response
          if (isJsonObject(ended)) await keep(asked, JSON.stringify(ended))
          return event
        }
        const stream = body instanceof ReadableStream ? body : new Blob([body]).stream()
        const kept = changeEvents(stream, event => (responsesFormat.isLastEvent(event) ? keepLast(event) : event))
        return { ...response, body: kept }
      }
      const isStreamed = body instanceof ReadableStream
      const whole = isStreamed ? new Uint8Array(await new Response(body).arrayBuffer()) : body
      await keep(asked, typeof whole === 'string' ? whole : new TextDecoder().decode(whole))
      return isStreamed ? { ...response, body: inPieces(whole as Uint8Array) } : response
    },
  }
}

/** Throws a 404 for a conversation that is not kept as a whole, under another key for example. */
async function findEarlier(
  { body }: CompletionQuery,
  account: Account,
  kept: KeptResponses,
): Promise<{ turns: KeptResponse[]; named: KeptResponse[] }> {
  const { previous_response_id: previous } = body
  const ids = [...new Set(findItemReferences(body).map(({ responseId }) => responseId))]
  const [turns, named] = await Promise.all([
    isOwnResponseId(previous) ? kept.find(previous, account) : null,
    kept.findNamed(ids, account),
  ])
  const isWhole = turns?.[0]?.previous_id === null && turns.every(({ input }) => input !== null)
  if (turns && !isWhole) throw refuse('previousResponseNotFound', { id: textOf(previous) })
  return { turns: turns ?? [], named }
}

function writeInput({ body, isLarge }: CompletionQuery): string | null {
  return isLarge ? null : boundedInput(JSON.stringify(inputItems(body.input)))
}

/** A longer one is not kept: the response's items can still be named. */
function boundedInput(input: string): string | null {
  return input.length > LONGEST_ON_LOOP ? null : input
}
