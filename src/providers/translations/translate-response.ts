/** Translates a provider's response, streamed or plain, into another endpoint's. A long plain response is translated in a worker. */

import { WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { apiFormatOf } from '../../formats/endpoint-formats.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { readPlainResponseBody } from '../../formats/read-plain-response-body.ts'
import { concatBytes } from '../../formats/sse/split-events.ts'
import type { StreamTranslator } from '../../formats/translate-response.ts'
import {
  createResponseTranslator,
  type ResponseTranslator,
  type TranslationContext,
} from '../../formats/translation.ts'
import { analyzeResponse, encodeJson, type PlainResponseAnalysis } from '../analyze-response.ts'
import type { ResponseBytes } from '../read-bytes.ts'
import { translateEvents } from '../translate-events.ts'
import { attachUsage } from '../upstream-failure.ts'

/** Translates a stream. Rejects as `translateEvents` does. A failure after the first part is reported in the stream. */
export function translateStream(
  upstream: ReadableStream<Uint8Array>,
  translation: StreamTranslator,
  { encodeEvents, acceptsComments }: Pick<ResponseTranslator, 'encodeEvents' | 'acceptsComments'>,
): Promise<ReadableStream<Uint8Array>> {
  const encode = (events: readonly JsonObject[]) => (events.length > 0 ? encodeEvents(events) : null)
  function end(): Uint8Array {
    const events = encodeEvents(translation.end())
    const { omitted } = translation.finishSource()
    // The headers have already been sent, so the omitted kinds are in a comment.
    return omitted.length > 0 && acceptsComments
      ? concatBytes([encoder.encode(`: x-proxy-omitted: ${omitted.join(', ')}\n\n`), events])
      : events
  }
  return translateEvents(upstream, {
    push(event) {
      const events = translation.push(event)
      if (!translation.isDone) return encode(events)
      return concatBytes([encodeEvents(events), end()])
    },
    get isDone() {
      return translation.isDone
    },
    end,
    encodeError: error => encodeEvents(translation.fail(error)),
  }).catch(error => {
    const { usage, body } = translation.finishSource()
    throw attachUsage(error, apiFormatOf(translation.sourceEndpoint).readUsage(usage, body))
  })
}

const encoder = new TextEncoder()

export interface PlainSourceResponse {
  parts: readonly Uint8Array[]
  context: TranslationContext
}

const TRANSLATE = new WorkerJob<PlainSourceResponse, PlainResponseAnalysis>(
  new URL('../jobs.ts', import.meta.url),
  'translateResponseJob',
)

/** Translates a provider's plain response. */
export async function translatePlainSourceResponse(
  response: ResponseBytes,
  context: TranslationContext,
  owner: number,
): Promise<PlainResponseAnalysis> {
  if ('whole' in response) return translateResponseBytes(response.whole, context)
  const { parts, buffers } = response.gathered
  return workerPool.run(TRANSLATE, { parts, context }, { owner, transfer: buffers })
}

/** Analyzes and translates a response. A failure is not translated, because the analysis determines the client's error. */
export function translateResponseBytes(bytes: Uint8Array, context: TranslationContext): PlainResponseAnalysis {
  const { expected, source: endpoint } = context
  const format = apiFormatOf(endpoint)
  const read = readPlainResponseBody(bytes, () => format.createAssembler(expected))
  const analysis = analyzeResponse(format, read, expected)
  if (!read || analysis.failure) return { ...analysis, bytes }
  const { body, source } = createResponseTranslator(context).translateResponse(read.body)
  return { ...analysis, ...source, id: body.id ?? null, bytes: encodeJson(body) }
}
