/** Files, batches and responses that the fake provider stores. All callers share one account. */

import type { JsonObject } from './scenario.ts'

export interface FakeObjects {
  files: Map<string, { object: JsonObject; content: Uint8Array }>
  batches: Map<string, JsonObject>
  /** Background responses with the number of times that each was requested. A response completes at the second request. */
  responses: Map<string, { response: JsonObject; timesRead: number }>
  /** Returns the prefix and the next number. */
  nextId(prefix: string): string
}

/** `vendor` is part of the ids, so that ids of different vendors differ. */
export function createFakeObjects(vendor: string): FakeObjects {
  let serial = 0
  return {
    files: new Map(),
    batches: new Map(),
    responses: new Map(),
    nextId: prefix => `${prefix}fake_${vendor}_${++serial}`,
  }
}

const CREATED_SECONDS = 1_760_000_000

export function storeFile(
  kept: FakeObjects,
  about: { filename: string; purpose: string },
  content: Uint8Array,
): JsonObject {
  const id = kept.nextId('file-')
  const object = {
    id,
    object: 'file',
    bytes: content.length,
    created_at: CREATED_SECONDS + kept.files.size,
    ...(about.purpose.startsWith('batch') ? { expires_at: CREATED_SECONDS + 10 * 365 * 86_400 } : {}),
    ...about,
    status: 'processed',
    status_details: null,
  }
  kept.files.set(id, { object, content })
  return object
}

export function storeBatch(kept: FakeObjects, request: JsonObject): JsonObject {
  const id = kept.nextId('batch_')
  const batch = {
    id,
    object: 'batch',
    endpoint: request.endpoint,
    model: null,
    errors: null,
    input_file_id: request.input_file_id,
    completion_window: request.completion_window,
    status: 'validating',
    output_file_id: null,
    error_file_id: null,
    created_at: CREATED_SECONDS,
    request_counts: { total: 0, completed: 0, failed: 0 },
    usage: null,
    metadata: request.metadata ?? null,
  }
  kept.batches.set(id, batch)
  return batch
}

/** Writes a batch's output. A line for `/v1/responses` has a response object as its body. */
function answerLines(kept: FakeObjects, batch: JsonObject): string {
  const input = new TextDecoder().decode(kept.files.get(String(batch.input_file_id))?.content)
  const lines = input.split('\n').filter(line => line.trim() !== '')
  return lines
    .map(line => {
      const { custom_id, url } = JSON.parse(line)
      const output = [{ id: kept.nextId('msg_batch_'), type: 'message' }]
      const body = url === '/v1/responses' ? { id: kept.nextId('resp_batch_'), object: 'response', output } : {}
      return `${JSON.stringify({ custom_id, response: { status_code: 200, body } })}\n`
    })
    .join('')
}

/** Advances a batch by one step at each request for it: validating, in progress, completed. */
export function advanceBatch(kept: FakeObjects, batch: JsonObject): JsonObject {
  if (batch.status === 'validating') batch.status = 'in_progress'
  else if (batch.status === 'in_progress') {
    const answers = answerLines(kept, batch)
    const output = storeFile(kept, { filename: 'output.jsonl', purpose: 'batch_output' }, Buffer.from(answers))
    Object.assign(batch, {
      status: 'completed',
      model: 'gpt-4o-mini-2024-07-18',
      output_file_id: output.id,
      request_counts: { total: 2, completed: 2, failed: 0 },
      usage: {
        input_tokens: 1_000_000,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1_000_000,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 2_000_000,
      },
    })
  }
  return batch
}
