/** Writes complete responses to PostgreSQL in batches: those that arrive while a call is in flight share the next. */

import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { LONGEST_ON_LOOP } from '../event-loop/off-loop.ts'
import { recordedUserOf } from '../formats/end-user.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'
import type { Database } from '../postgres/database.ts'
import { type AnswerToStore, storeAnswers } from '../postgres/store-answers.ts'
import type { AnswerSeal } from '../stores/answer-seal.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { CacheQuery } from './cache-query.ts'
import type { PromptVector } from './prompt-vectors.ts'

export interface NewResponse {
  /** The plain JSON body. */
  body: Uint8Array
  provider: string
  promptTokens: number
  completionTokens: number
  /** Whether it may be matched semantically; a response that calls tools may not. */
  isSemantic: boolean
  /** Whether its client has all but the closing event. */
  isStreamed: boolean
  /** As in the entry. */
  policy: string | null
}

export interface ResponseWriter {
  /**
   * Resolves when PostgreSQL has it. `vector` must not reject. Never rejects: a response that was not stored is a miss next time. One without a prompt is written a
   * moment later, with others.
   */
  write(
    query: CacheQuery,
    response: NewResponse,
    vector: Promise<PromptVector | null>,
    ttlSeconds: number,
  ): Promise<void>
  /** Whether so much waits to be written that further responses should wait, too. */
  isBehind(): boolean
  /** Writes at once what waits, and resolves when no write is pending. */
  flush(): Promise<void>
}

const MAX_BATCH = 50
const TIME_LIMIT_MS = 10_000
/** A batch costs as much as ten answers, so one that nobody waits for collects more. */
const LINGER_MS = 25
const MOST_WAITING_BYTES = 32 * 1024 * 1024

export function createResponseWriter(database: Database, seal: AnswerSeal, log: Log): ResponseWriter {
  const underWay = new BackgroundWork()
  let waitingBytes = 0
  let flushing = Promise.withResolvers<void>()
  const createStore = (maxItems: number, linger?: () => Promise<void>) =>
    createBatcher<AnswerToStore, number | null>({
      run: answers => storeAnswers(database, answers),
      maxItems,
      ...(linger && { linger }),
      timeLimitMs: TIME_LIMIT_MS,
      timeLimitError: () => new Error('A response was not stored in time'),
    })
  const store = createStore(MAX_BATCH)
  const storeLater = createStore(MAX_BATCH, () => Promise.race([Bun.sleep(LINGER_MS), flushing.promise]))
  // One at a time, because writing several long ones would block the event loop.
  const storeLong = createStore(1)

  return {
    write(query, response, vector, ttlSeconds) {
      const bytes = response.body.length
      waitingBytes += bytes
      const writing = vector
        .then(made => {
          const row = toRow(query, response, made, { ttlSeconds, seal })
          const add = bytes > LONGEST_ON_LOOP ? storeLong : row.semantic ? store : storeLater
          return add(row)
        })
        .then(
          () => {},
          error => log.warn({ cause: describeCause(error) }, 'a response could not be stored'),
        )
        .finally(() => {
          waitingBytes -= bytes
        })
      return underWay.add(writing)
    },
    isBehind: () => waitingBytes > MOST_WAITING_BYTES,
    async flush() {
      flushing.resolve()
      await underWay.settled()
      flushing = Promise.withResolvers()
    },
  }
}

function toRow(
  query: CacheQuery,
  response: NewResponse,
  vector: PromptVector | null,
  { ttlSeconds, seal }: { ttlSeconds: number; seal: AnswerSeal },
): AnswerToStore {
  const { account, identity, requestHash, model } = query
  const semantic = response.isSemantic ? query.semantic() : 'tools'
  const body = seal.seal(response.body, account)
  const prompt = typeof semantic === 'string' ? '' : seal.sealText(semantic.reading.text, account)
  if (body === null || prompt === null) throw new Error('seal_answers is on, and there is no ENCRYPTION_KEY')
  return {
    projectId: account.project_id,
    cacheGeneration: account.cache_generation,
    test: account.key_type === 'test',
    keyId: account.key_id,
    logContent: account.log_content,
    endUser: recordedUserOf(identity.body),
    requestHash,
    namespace: identity.namespace,
    endpoint: identity.endpoint,
    model,
    provider: response.provider,
    response: body,
    responseId: body !== response.body && identity.endpoint === 'responses' ? idOf(response.body) : null,
    promptTokens: response.promptTokens,
    completionTokens: response.completionTokens,
    ttlSeconds,
    policy: response.policy,
    semantic:
      typeof semantic === 'string'
        ? null
        : {
            contextHash: semantic.contextHash,
            normalizedHash: semantic.normalizedHash,
            prompt,
            vector,
            anchorHash: semantic.anchorHash,
          },
  }
}

/** By which a client may have it deleted, where nobody can look for the id in what is sealed. */
function idOf(body: Uint8Array): string | null {
  const { id } = parseJsonObject(new TextDecoder().decode(body)) ?? {}
  return typeof id === 'string' ? id : null
}
