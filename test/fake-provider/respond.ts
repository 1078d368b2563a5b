/** Runs a scenario for one request. */

import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { composeResponse, isObject } from './compose.ts'
import { writeError } from './errors.ts'
import { writeModels } from './models.ts'
import { writePassThrough } from './pass-through.ts'
import { billProgressively, type RecordedRequest } from './recording.ts'
import type {
  AnswerScenario,
  BrokenAnswerScenario,
  CutScenario,
  Flavour,
  HangScenario,
  JsonObject,
  RawScenario,
  Scenario,
} from './scenario.ts'
import { cutConnection, JSON_HEADERS, sendBody, sendParts, writeParts } from './send.ts'
import type { FakeObjects } from './stored-objects.ts'
import { type AnswerContext, writeChunks, writePlain, writeUsage } from './write-chat.ts'
import { writeEmbeddings, writeLegacyChunks, writeLegacyPlain } from './write-completion.ts'
import { asChatRequest, unfinishedResponse, writeResponse, writeResponseEvents, writeStored } from './write-response.ts'

export interface Exchange {
  request: RecordedRequest
  response: ServerResponse
  flavour: Flavour
  serial: number
  /** Called before the connection is cut, so that the request is not recorded as aborted by its client. */
  onCut: () => void
  kept: FakeObjects
}

const DEFAULT_ANSWER: AnswerScenario = { kind: 'answer' }
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
/** Aggregators keep idle connections alive with comments in streams and with blank lines before plain bodies. */
const STREAM_KEEPALIVE = ': OPENROUTER PROCESSING\n\n'
const PLAIN_KEEPALIVE = '\n         \n'

/** Returns once the scenario has finished. */
export async function respond(exchange: Exchange, scenario: Scenario): Promise<void> {
  const { response, flavour } = exchange
  // Input and reasoning are billed before the first byte of the response.
  if (scenario.kind === 'answer') bill(exchange, scenario)
  if (scenario.firstByteDelayMs !== undefined) await sleep(scenario.firstByteDelayMs)
  switch (scenario.kind) {
    case 'error': {
      const { headers, body } = writeError(flavour, scenario)
      return sendBody(response, scenario.status, headers, body)
    }
    case 'raw':
      return sendRaw(exchange, scenario)
    case 'invalidJson':
      return sendBody(response, 200, JSON_HEADERS, '{"id":"chatcmpl-broken","choices":[{"index":0,"mess')
    case 'cut':
    case 'hang':
      await sendBeginning(exchange, scenario)
      if (scenario.kind === 'cut') await cutConnection(response, exchange.onCut)
      return
    case 'errorInAnswer':
      return sendBrokenAnswer(exchange, scenario)
    case 'answer':
      return sendAnswer(exchange, scenario)
  }
}

async function sendRaw({ response, onCut }: Exchange, scenario: RawScenario): Promise<void> {
  const headers = Object.entries({ ...STREAM_HEADERS, ...scenario.headers }).filter(([, value]) => value !== null)
  response.writeHead(scenario.status ?? 200, Object.fromEntries(headers) as Record<string, string>)
  response.flushHeaders()
  const parts = scenario.parts.map(part => Buffer.from(part, scenario.encoding ?? 'utf8'))
  await writeParts(response, parts, scenario.chunkPauseMs)
  if (scenario.afterwards === 'cut') return cutConnection(response, onCut)
  if (scenario.afterwards !== 'hang') response.end()
}

async function sendAnswer(exchange: Exchange, scenario: AnswerScenario): Promise<void> {
  const { request, response } = exchange
  const passed = await writePassThrough(exchange.request, exchange.kept, scenario)
  if (passed) {
    request.billed = passed.billed ?? { input: 0, output: 0 }
    response.writeHead(passed.status, { 'content-type': passed.contentType, ...scenario.headers })
    return sendParts(response, passed.parts, scenario.chunkPauseMs)
  }
  if (!isStreamed(request)) {
    bill(exchange, scenario)(1)
    sendPlain(exchange, scenario)
    return
  }
  response.writeHead(200, { ...STREAM_HEADERS, ...scenario.headers })
  const parts = writeEvents(exchange, scenario)
  const { malformedEventAt: at } = scenario
  if (at !== undefined) parts.splice(at, 0, 'data: {"id":"chatcmpl-broken","choi\n\n')
  if (scenario.withoutDone !== true && !isResponses(request)) parts.push('data: [DONE]\n\n')
  const billShare = bill(exchange, scenario)
  await sendParts(response, parts, scenario.chunkPauseMs, written => billShare(written / parts.length))
}

/** A background response is billed as a whole, even if no client reads it. */
function bill(exchange: Exchange, scenario: AnswerScenario): (share: number) => void {
  const { request } = exchange
  if (!isGenerated(request)) return () => {}
  const { composed } = createContext(exchange, scenario)
  if (isResponses(request)) {
    const body = isObject(request.body) ? request.body : {}
    const { usage } = writeResponse(body, scenario, 0) as { usage: { input_tokens: number; output_tokens: number } }
    const written = composeResponse(asChatRequest(body), scenario).completionTokens
    const visible = body.background === true ? 0 : written
    return billProgressively(request, { input: usage.input_tokens, output: usage.output_tokens }, visible)
  }
  const usage = writeUsage(createContext(exchange, scenario)) as { prompt_tokens: number; completion_tokens: number }
  const all = { input: usage.prompt_tokens, output: usage.completion_tokens }
  return billProgressively(request, all, composed.completionTokens)
}

function isGenerated({ method, path }: RecordedRequest): boolean {
  return method === 'POST' && /\/(completions|responses)$/.test(path)
}

function sendPlain(exchange: Exchange, scenario: AnswerScenario): void {
  const { request, kept, serial } = exchange
  if (isResponses(request) && isObject(request.body) && request.body.background === true) {
    const response = writeResponse(request.body, scenario, serial)
    kept.responses.set(String(response.id), { response, timesRead: 0 })
    sendBody(exchange.response, 200, JSON_HEADERS, JSON.stringify(unfinishedResponse(response, 'queued')))
    return
  }
  const body = writePlainBody(exchange, scenario)
  const headers = { ...JSON_HEADERS, 'x-request-id': `req_fake${exchange.serial}`, ...scenario.headers }
  if (scenario.gzip === true) {
    sendBody(exchange.response, 200, { ...headers, 'content-encoding': 'gzip' }, gzipSync(body))
  } else sendBody(exchange.response, 200, headers, body)
}

/** Sends the headers and the given number of chunks. Of a plain response, it sends half of the body that its content-length announces. */
async function sendBeginning(exchange: Exchange, scenario: CutScenario | HangScenario): Promise<void> {
  const { request, response } = exchange
  const { after, chunkPauseMs: pauseMs, thinkingTokens = 0 } = scenario
  const answer = { ...begunAnswer(scenario), thinkingTokens }
  const billShare = bill(exchange, answer)
  if (after === 'nothing') return
  const chunks = after
  const passed = await writePassThrough(request, exchange.kept, DEFAULT_ANSWER)
  if (passed) {
    response.writeHead(passed.status, { 'content-type': passed.contentType })
    response.flushHeaders()
    return writeParts(response, passed.parts.slice(0, chunks), pauseMs)
  }
  if (isStreamed(request)) {
    response.writeHead(200, STREAM_HEADERS)
    response.flushHeaders()
    const all = writeEvents(exchange, answer)
    return writeParts(response, all.slice(0, chunks), pauseMs, written => billShare(written / all.length))
  }
  billShare(1)
  const body = writePlainBody(exchange, answer)
  response.writeHead(200, { ...JSON_HEADERS, 'content-length': String(Buffer.byteLength(body)) })
  response.flushHeaders()
  await writeParts(response, [body.slice(0, body.length / 2)])
}

async function sendBrokenAnswer(exchange: Exchange, scenario: BrokenAnswerScenario): Promise<void> {
  const error = { message: 'Provider returned error', code: 502, metadata: { provider_name: 'FakeProvider' } }
  const { request, response } = exchange
  if (!isStreamed(request)) {
    return sendBody(response, 200, JSON_HEADERS, JSON.stringify(breakBody(exchange, scenario, error)))
  }
  response.writeHead(200, STREAM_HEADERS)
  const event = scenario.shape === 'event' ? 'event: error\n' : ''
  const choice = { choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }] }
  const failed = { error, ...(scenario.shape === 'choice' ? choice : {}) }
  const answer = begunAnswer(scenario)
  const billShare = bill(exchange, answer)
  const all = writeEvents(exchange, answer)
  const parts = all.slice(0, scenario.afterChunks)
  billShare(parts.length / all.length)
  parts.push(`${event}data: ${JSON.stringify(failed)}\n\n`)
  if (scenario.withDone === true) parts.push('data: [DONE]\n\n')
  await sendParts(response, parts, scenario.chunkPauseMs)
}

function begunAnswer({ content }: Pick<CutScenario, 'content'>): AnswerScenario {
  return content === undefined ? DEFAULT_ANSWER : { ...DEFAULT_ANSWER, content }
}

function breakBody(exchange: Exchange, scenario: BrokenAnswerScenario, error: JsonObject): JsonObject {
  if (scenario.shape !== 'choice') return { error }
  const body = writeBody(exchange, DEFAULT_ANSWER)
  const choices = Array.isArray(body.choices) ? body.choices : []
  return { ...body, choices: choices.map(choice => ({ ...choice, finish_reason: 'error', error })) }
}

function isStreamed(request: RecordedRequest): boolean {
  return isObject(request.body) && request.body.stream === true
}

function isChat(request: RecordedRequest): boolean {
  return request.path.endsWith('/chat/completions')
}

function isResponses(request: RecordedRequest): boolean {
  return request.path.endsWith('/responses')
}

function createContext({ request, flavour, serial }: Exchange, scenario: AnswerScenario): AnswerContext {
  const body = isObject(request.body) ? request.body : {}
  return { flavour, request: body, scenario, composed: composeResponse(body, scenario), serial }
}

function writeEvents(exchange: Exchange, scenario: AnswerScenario): string[] {
  if (isResponses(exchange.request)) {
    const response = writeBody(exchange, scenario)
    if (response.background === true) exchange.kept.responses.set(String(response.id), { response, timesRead: 0 })
    return writeResponseEvents(response)
  }
  const context = createContext(exchange, scenario)
  const chunks = isChat(exchange.request) ? writeChunks(context) : writeLegacyChunks(context)
  const events = chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`)
  return exchange.flavour === 'aggregator' ? [STREAM_KEEPALIVE, ...events] : events
}

function writePlainBody(exchange: Exchange, scenario: AnswerScenario): string {
  const keepalive = exchange.flavour === 'aggregator' ? PLAIN_KEEPALIVE : ''
  return keepalive + JSON.stringify(writeBody(exchange, scenario))
}

function writeBody(exchange: Exchange, scenario: AnswerScenario): JsonObject {
  const { path, body } = exchange.request
  if (path.endsWith('/embeddings')) return writeEmbeddings(isObject(body) ? body : {})
  if (path.endsWith('/models') || path.includes('/models/')) return writeModels(exchange.flavour, path)
  if (isResponses(exchange.request)) return writeResponse(isObject(body) ? body : {}, scenario, exchange.serial)
  if (path.includes('/responses/')) return writeStored(exchange.request.method, path, exchange.kept)
  const context = createContext(exchange, scenario)
  return isChat(exchange.request) ? writePlain(context) : writeLegacyPlain(context)
}
