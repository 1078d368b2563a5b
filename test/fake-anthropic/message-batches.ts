/** Message batches as Anthropic stores them. A batch ends when it is requested, and its results are read at its `results_url`. */
import type { MessageBatch, MessageBatchIndividualResponse } from '@anthropic-ai/sdk/resources/messages'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import { type ApiError, invalid } from './api-error.ts'
import { composeMessage } from './compose-message.ts'
import { normalizeContent } from './normalize-content.ts'
import { findShapeError } from './request-schema.ts'
import type { JsonObject } from './scenario.ts'

interface KeptBatch {
  batch: MessageBatch
  requests: { custom_id: string; params: JsonObject }[]
}

export interface MessageBatches {
  /** The response body as text; JSON lines for results. */
  answer(request: RecordedRequest): string | ApiError
}

const PATH = /^\/v1\/messages\/batches(?:\/([\w-]+)(\/cancel|\/results)?)?$/
const GONE: ApiError = { status: 404, type: 'not_found_error', message: 'Not Found' }
const TOLD_AT = '2026-11-21T00:00:00Z'
/** A batch request fails if its `custom_id` contains this. */
const BAD = 'bad'

export function isBatchPath(path: string): boolean {
  return PATH.test(path)
}

/** `baseUrl` returns the base of results URLs. */
export function createFakeMessageBatches(baseUrl: () => string): MessageBatches {
  const kept = new Map<string, KeptBatch>()

  function create(body: unknown): string | ApiError {
    const given = (body as { requests: KeptBatch['requests'] }).requests
    const requests = given.map(each => ({ ...each, params: normalizeContent(each.params) as JsonObject }))
    for (const [i, { params }] of requests.entries()) {
      const error = findShapeError(params)
      if (error !== null) return invalid(`requests.${i}.params.${error}`)
    }
    const id = `msgbatch_fake${kept.size + 1}`
    const batch: MessageBatch = {
      id,
      type: 'message_batch',
      processing_status: 'in_progress',
      request_counts: { processing: requests.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
      created_at: TOLD_AT,
      expires_at: TOLD_AT,
      ended_at: null,
      archived_at: null,
      cancel_initiated_at: null,
      results_url: null,
    }
    kept.set(id, { batch, requests })
    return JSON.stringify(batch)
  }

  /** Ends a batch in progress. The request that calls this still receives the former state. */
  function end({ batch, requests }: KeptBatch): void {
    const isCancelled = batch.processing_status === 'canceling'
    const errored = requests.filter(({ custom_id }) => custom_id.includes(BAD)).length
    const counts = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 }
    batch.request_counts = isCancelled
      ? { ...counts, canceled: requests.length }
      : { ...counts, succeeded: requests.length - errored, errored }
    batch.processing_status = 'ended'
    batch.ended_at = TOLD_AT
    batch.results_url = `${baseUrl()}/v1/messages/batches/${batch.id}/results`
  }

  function resultsOf({ batch, requests }: KeptBatch): string {
    return requests
      .map(({ custom_id, params }, i): MessageBatchIndividualResponse => {
        if (batch.request_counts.canceled > 0) return { custom_id, result: { type: 'canceled' } }
        if (!custom_id.includes(BAD)) {
          const message = composeMessage(params, { kind: 'answer', usage: { service_tier: 'batch' } }, i)
          return { custom_id, result: { type: 'succeeded', message } }
        }
        const error = { type: 'invalid_request_error' as const, message: 'No.' }
        return { custom_id, result: { type: 'errored', error: { type: 'error', error, request_id: null } } }
      })
      .map(result => `${JSON.stringify(result)}\n`)
      .join('')
  }

  return {
    answer({ method, path, body }) {
      const [, id, part] = PATH.exec(path) ?? []
      if (id === undefined) return method === 'POST' ? create(body) : GONE
      const known = kept.get(id)
      if (!known) return GONE
      const { batch } = known
      if (part === '/results') return batch.results_url === null ? GONE : resultsOf(known)
      if (part === '/cancel') batch.processing_status = 'canceling'
      else if (method === 'DELETE') kept.delete(id)
      else if (batch.processing_status !== 'ended') {
        const before = JSON.stringify(batch)
        end(known)
        return before
      }
      return JSON.stringify(method === 'DELETE' ? { id, type: 'message_batch_deleted' } : batch)
    },
  }
}
