/** A local HTTP server that acts as Anthropic's API and rejects the same requests. */
import type { ServerResponse } from 'node:http'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import {
  createScriptedServer,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../fake-provider/scripted-server.ts'
import { JSON_HEADERS, sendBody } from '../fake-provider/send.ts'
import { invalid, writeError } from './api-error.ts'
import { checkRequest } from './check-request.ts'
import { createFakeFiles, isFilePath } from './files.ts'
import { createFakeMessageBatches, isBatchPath } from './message-batches.ts'
import { normalizeContent } from './normalize-content.ts'
import { respond } from './respond.ts'
import type { JsonObject, Scenario } from './scenario.ts'

export interface FakeAnthropicOptions extends ScriptedServerOptions {
  /** Requests with another key get a 401. By default each key is valid. */
  apiKey?: string
}

export interface FakeAnthropic extends ScriptedServer<Scenario> {
  /** Without `/v1`, like the vendor's base URL. */
  baseUrl: string
}

/** Starts the server on 127.0.0.1. */
export async function startFakeAnthropic(options: FakeAnthropicOptions = {}): Promise<FakeAnthropic> {
  const { server, record, hasNext, choose, listen } = createScriptedServer<Scenario>(options)
  let baseUrl = ''
  let serial = 0
  const batches = createFakeMessageBatches(() => baseUrl)
  const files = createFakeFiles(options.apiKey)

  async function answer(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const onCut = record(request, response)
    const isCount = request.path === '/v1/messages/count_tokens'
    if (isCount && !hasNext()) return sendBody(response, 200, JSON_HEADERS, '{"input_tokens":42}')
    if (isBatchPath(request.path) && !hasNext()) return answerBatches(request, response)
    if (isFilePath(request.path) && !hasNext()) return answerFiles(request, response)
    const body = normalizeContent(request.body)
    const isMessage = !isCount && !isBatchPath(request.path) && !isFilePath(request.path)
    const error = isMessage ? checkRequest({ ...request, body }, options.apiKey) : null
    const scenario: Scenario = error ? { kind: 'error', ...error } : ((await choose(request)) ?? { kind: 'answer' })
    await respond({ request: body as JsonObject, recorded: request, response, serial: ++serial, onCut }, scenario)
  }

  function answerBatches(request: RecordedRequest, response: ServerResponse): void {
    const answered = batches.answer(request)
    const [status, body] =
      typeof answered === 'string'
        ? [200, answered]
        : [answered.status, JSON.stringify(writeError(answered, 'req_fake'))]
    sendBody(response, status, JSON_HEADERS, body)
  }

  async function answerFiles(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const answered = await files.answer(request)
    if ('type' in answered && 'message' in answered)
      return sendBody(response, answered.status, JSON_HEADERS, JSON.stringify(writeError(answered, 'req_fake')))
    sendBody(response, 200, answered.headers, answered.body)
  }

  baseUrl = await listen((request, response) => {
    // A field has a type from which no response can be built. Anthropic rejects such a request.
    answer(request, response).catch(() => {
      if (response.headersSent) return response.destroy()
      const error = writeError(invalid('Input should be a valid value'), 'req_fake')
      return sendBody(response, 400, JSON_HEADERS, JSON.stringify(error))
    })
  })
  return Object.assign(server, { baseUrl })
}
