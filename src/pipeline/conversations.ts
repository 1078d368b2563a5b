/**
 * Conversations at /v1/responses with all models but those whose provider keeps responses under the project's own key: each response is kept
 * for the key that asked, so that a later request can name it, or its items, in place of what was said.
 */
import { ProxyError, refuse } from '../errors/errors.ts'
import { Job, LONGEST_ON_LOOP, offLoop } from '../event-loop/off-loop.ts'
import { textOf } from '../formats/json/canonical.ts'
import { referencesOf } from '../formats/kept-references.ts'
import type { LargeBodyReader } from '../formats/large-bodies/read-large-body.ts'
import {
  type Leaves,
  type ToContinue,
  type WrittenRequest,
  writeContinued,
} from '../formats/responses/continued-input.ts'
import { findBareCalls, findItemReferences, isOwnResponseId } from '../formats/responses/earlier-items.ts'
import type { Account } from '../postgres/admit.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import { keepsResponses, type Provider } from '../providers/upstream.ts'
import { boundedInput, createKeeping, type Keeping, type KeepingOptions } from './keep-response.ts'
import { finishKept } from './kept-objects/unfinished-responses.ts'
import type { KeptResponse } from './kept-responses.ts'
import { parseBytes } from './parse-request.ts'
import type { CompletionQuery } from './query.ts'

type Asked = Parameters<typeof parseBytes>[0]

export interface Conversations {
  /** Puts what was said in place of references to it. Throws a 404 for what is not kept for this key. */
  resume(query: CompletionQuery, asked: Asked, account: Account): Promise<CompletionQuery>
  keep: Keeping
}

export interface ConversationsOptions extends KeepingOptions {
  modelRouter: Pick<ModelRouter, 'resolve' | 'keeperOf'>
  largeBodies: LargeBodyReader
}

const CONTINUE = new Job<ToContinue, WrittenRequest>(new URL('./jobs.ts', import.meta.url), 'continueInput')

export function createConversations(options: ConversationsOptions): Conversations {
  const { modelRouter, largeBodies } = options

  return {
    async resume(query, asked, account) {
      if (!query.namesEarlier) return query
      const provider = modelRouter.resolve(query.model, account, [], query.alias?.name)
      if (provider instanceof ProxyError) return query
      const leaves = leavesOf(provider)
      const found = await findEarlier(query, account, { ...options, leaves })
      const bytes = query.bytes ?? new TextEncoder().encode(query.text)
      if (leaves !== 'nothing' && !found.isAny) return query
      const written = await write({ ...found, bytes, leaves }, account)
      if (written.missing) {
        const { id, index } = written.missing
        throw refuse('itemNotFound', { id, param: `input[${index}].id` })
      }
      const { body, alias } = query
      const whole = await parseBytes(asked, written.bytes, largeBodies, account.project_id)
      const made = new Set(written.made)
      const references = referencesOf(whole).filter(({ id }) => !made.has(id))
      const previousId = found.turns.length > 0 ? textOf(body.previous_response_id) : null
      const continued = { previousId, ownInput: boundedInput(written.ownInput) }
      const resumed = Object.assign(whole, { references, continued, ...(alias && { alias }) })
      return previousId === null ? resumed : asContinued(resumed, previousId)
    },

    keep: createKeeping(options),
  }
}

/** What such a provider has made itself is left to it. */
function leavesOf(provider: Provider): Leaves {
  if (keepsResponses(provider)) return 'all'
  return provider.has?.includes('responses') ? 'nothing' : 'foreign'
}

/** A long one by a worker. */
function write(input: ToContinue, { project_id: owner }: Account): WrittenRequest | Promise<WrittenRequest> {
  const earlier = [...input.turns, ...input.named]
  const chars = earlier.reduce((sum, { input: own, response }) => sum + (own?.length ?? 0) + response.length, 0)
  return input.bytes.length + chars > LONGEST_ON_LOOP ? offLoop.run(CONTINUE, input, { owner }) : writeContinued(input)
}

/** Its response names the one before; and it depends on what is stored, as far as its client can tell. */
function asContinued(query: CompletionQuery, previousId: string): CompletionQuery {
  return Object.assign(query, {
    isCacheable: false,
    control: { ...query.control, lookup: false, store: false },
    ownFields: { ...query.ownFields, previous_response_id: previousId },
  })
}

interface Earlier {
  turns: KeptResponse[]
  named: KeptResponse[]
  /** Whether it names anything that is kept here, or would be. */
  isAny: boolean
}

/** Throws a 404 for a conversation that is not kept as a whole, under another key for example. */
async function findEarlier(
  { body }: CompletionQuery,
  account: Account,
  options: Pick<ConversationsOptions, 'kept' | 'modelRouter'> & { leaves: Leaves },
): Promise<Earlier> {
  const { kept, leaves } = options
  const { previous_response_id: previous } = body
  const isNamed = typeof previous === 'string'
  const items = findItemReferences(body)
  const calls = leaves === 'all' ? [] : findBareCalls(body)
  const [turns, named] = await Promise.all([
    isNamed ? kept.find(previous, account) : [],
    kept.findNamed([...items, ...calls], account),
  ])
  const isOurs = leaves === 'nothing' || isOwnResponseId(previous) || turns.at(-1)?.id === previous
  const isWhole = turns[0]?.previous_id === null && turns.every(({ input }) => input !== null)
  if (isNamed && isOurs && !isWhole) throw refuse('previousResponseNotFound', { id: previous })
  const isAny = turns.length + named.length > 0 || items.some(({ isOwn }) => isOwn)
  return { turns: await Promise.all(turns.map(turn => finishKept(turn, account, options))), named, isAny }
}
