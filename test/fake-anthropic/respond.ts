/** Runs a scenario for one request. */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import { billProgressively, type RecordedRequest } from '../fake-provider/recording.ts'
import { cutConnection, JSON_HEADERS, sendBody, sendParts, writeParts } from '../fake-provider/send.ts'
import { writeError } from './api-error.ts'
import { composeMessage } from './compose-message.ts'
import type { AnswerScenario, BrokenScenario, JsonObject, Scenario } from './scenario.ts'
import { writeEvent, writeEvents } from './write-events.ts'

export interface Exchange {
  request: JsonObject
  /** The received request. Its bill is recorded there. */
  recorded: RecordedRequest
  response: ServerResponse
  /** The number of the request. */
  serial: number
  /** Called before the connection is cut, so that the request is not recorded as aborted by its client. */
  onCut: () => void
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
const LIMIT_HEADERS = {
  'anthropic-ratelimit-requests-limit': '4000',
  'anthropic-ratelimit-requests-remaining': '3999',
  'anthropic-ratelimit-requests-reset': '2026-11-21T00:00:00Z',
}

/** Returns once the scenario has finished. */
export async function respond(exchange: Exchange, scenario: Scenario): Promise<void> {
  const { response } = exchange
  // Input and reasoning are billed before the first byte of the response.
  if (scenario.kind === 'answer') bill(exchange, compose(exchange, scenario), scenario)
  if (scenario.firstByteDelayMs !== undefined) await sleep(scenario.firstByteDelayMs)
  switch (scenario.kind) {
    case 'error': {
      const body = JSON.stringify(writeError(scenario, idOf(exchange)))
      return sendBody(response, scenario.status, { ...headersOf(exchange, JSON_HEADERS), ...scenario.headers }, body)
    }
    case 'raw':
      return sendBody(response, scenario.status, scenario.headers, scenario.body)
    case 'errorInStream': {
      const message = compose(exchange, begunAnswer(scenario))
      const all = writeEvents(message)
      const events = all.slice(0, scenario.afterEvents)
      bill(exchange, message, {})(events.length / all.length)
      const error = writeEvent(writeError(scenario, idOf(exchange)) as { type: string })
      response.writeHead(200, headersOf(exchange, STREAM_HEADERS))
      return sendParts(response, [...events, error], scenario.eventPauseMs)
    }
    case 'answer':
      return sendAnswer(exchange, scenario)
    default:
      return breakOff(exchange, scenario)
  }
}

async function sendAnswer(exchange: Exchange, scenario: AnswerScenario): Promise<void> {
  const { request, response } = exchange
  const message = compose(exchange, scenario)
  const billShare = bill(exchange, message, scenario)
  if (request.stream !== true) {
    billShare(1)
    const headers = { ...headersOf(exchange, JSON_HEADERS), ...scenario.headers }
    return sendBody(response, 200, headers, JSON.stringify(message))
  }
  response.writeHead(200, { ...headersOf(exchange, STREAM_HEADERS), ...scenario.headers })
  const events = writeEvents(message, { pings: scenario.pings ?? false })
  await sendParts(response, events, scenario.eventPauseMs, written => billShare(written / events.length))
}

function bill({ recorded }: Exchange, { usage }: Message, { thinkingTokens = 0 }: { thinkingTokens?: number }) {
  const all = { input: usage.input_tokens, output: usage.output_tokens }
  // Output tokens of the scenario beyond the visible ones count as reasoning.
  const visible = Math.min(all.output - thinkingTokens, MOST_VISIBLE)
  return billProgressively(recorded, all, visible)
}

const MOST_VISIBLE = 100

async function breakOff(exchange: Exchange, scenario: BrokenScenario): Promise<void> {
  const { response, onCut } = exchange
  const { kind } = scenario
  await sendBeginning(exchange, scenario)
  if (kind === 'cut') await cutConnection(response, onCut)
  if (kind === 'endEarly') response.end()
}

/** Sends the headers and the given number of events. Of a plain response, it sends half of the body that its content-length announces. */
async function sendBeginning(exchange: Exchange, scenario: BrokenScenario) {
  const { request, response } = exchange
  const { after, eventPauseMs, thinkingTokens = 0 } = scenario
  const message = compose(exchange, { ...begunAnswer(scenario), thinkingTokens })
  const billShare = bill(exchange, message, { thinkingTokens })
  if (after === 'nothing') return
  if (request.stream === true) {
    response.writeHead(200, headersOf(exchange, STREAM_HEADERS))
    response.flushHeaders()
    const events = writeEvents(message)
    return writeParts(response, events.slice(0, after), eventPauseMs, written => billShare(written / events.length))
  }
  billShare(1)
  const body = JSON.stringify(message)
  response.writeHead(200, { ...headersOf(exchange, JSON_HEADERS), 'content-length': String(Buffer.byteLength(body)) })
  response.flushHeaders()
  await writeParts(response, [body.slice(0, body.length / 2)])
}

function begunAnswer({ content }: Pick<BrokenScenario, 'content'>): AnswerScenario {
  return content === undefined ? { kind: 'answer' } : { kind: 'answer', content }
}

function compose({ request, serial }: Exchange, scenario: AnswerScenario = { kind: 'answer' }): Message {
  return composeMessage(request, scenario, serial)
}

function headersOf(exchange: Exchange, type: Record<string, string>): Record<string, string> {
  return { ...type, ...LIMIT_HEADERS, 'request-id': idOf(exchange) }
}

function idOf({ serial }: Exchange): string {
  return `req_fake${serial}`
}
