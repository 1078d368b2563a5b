/** What the stand-in keeps under its one account: files and batches, for all its callers. */

import type { JsonObject } from './scenario.ts'

export interface KeptObjects {
  files: Map<string, { object: JsonObject; content: Uint8Array }>
  batches: Map<string, JsonObject>
  /** Made in the background, and how often each was asked for: it is over at the second time. */
  responses: Map<string, { response: JsonObject; asked: number }>
  /** Counted up for ids. */
  nextId(prefix: string): string
}

/** `vendor` is part of its ids: no two vendors have one. */
export function createKeptObjects(vendor: string): KeptObjects {
  let serial = 0
  return {
    files: new Map(),
    batches: new Map(),
    responses: new Map(),
    nextId: prefix => `${prefix}standin_${vendor}_${++serial}`,
  }
}

const CREATED_SECONDS = 1_760_000_000

export function keepFile(
  kept: KeptObjects,
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

export function keepBatch(kept: KeptObjects, request: JsonObject): JsonObject {
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

/** What was asked at `/v1/responses` is kept as a response is. */
function answerLines(kept: KeptObjects, batch: JsonObject): string {
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

/** A batch goes on by one step each time that it is asked for: validating, in progress, completed. */
export function advanceBatch(kept: KeptObjects, batch: JsonObject): JsonObject {
  if (batch.status === 'validating') batch.status = 'in_progress'
  else if (batch.status === 'in_progress') {
    const answers = answerLines(kept, batch)
    const output = keepFile(kept, { filename: 'output.jsonl', purpose: 'batch_output' }, Buffer.from(answers))
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
