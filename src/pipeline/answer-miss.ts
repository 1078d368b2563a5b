/** Leads a flight: asks the provider, passes the answer on as it comes, stores it when it is whole, accounts for it either way. */

import type { Cache, Lookup } from '../cache/cache.ts'
import type { CacheEntry } from '../cache/entry.ts'
import type { Question } from '../cache/question.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { costUsd, NO_USAGE, readUsage, type TokenUsage } from '../catalogue/cost.ts'
import { ProxyError } from '../errors.ts'
import { createAssembler } from '../openai-format/assemble.ts'
import { createSseParser } from '../openai-format/sse-parser.ts'
import { hasToolCalls, isUpstreamFailure } from '../openai-format/wholeness.ts'
import { broken } from '../providers/call-upstream.ts'
import type { Provider, UpstreamAnswer } from '../providers/upstream.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import { replay } from './answer-hit.ts'
import { CLIENT_GONE_STATUS, ClientGone, type ProxyRequest, type ProxyResponse } from './exchange.ts'
import { GaveWay } from './fall-back.ts'
import type { FailedAnswer, Flight, Seat } from './flight.ts'
import type { Ledger } from './ledger.ts'
import { listen } from './listen.ts'
import { countUsage, judgeAnswer, parseAnswer, readAll, setsOutputLimit } from './plain-answer.ts'
import { JSON_TYPE, missHeaders, SSE_TYPE } from './proxy-headers.ts'
import type { ParsedBody } from './read-request.ts'

export interface Miss {
  request: ProxyRequest
  parsed: ParsedBody
  question: Question
  lookup: Lookup
  provider: Provider
  ledger: Ledger
  flight: Flight
  /** The leader's own place in the flight. */
  seat: Seat
  /** Whether an error of upstream's is left to a fallback. */
  givesWay(failed: FailedAnswer): boolean
  /** Gives the request back to the month's quota. */
  refund(): void
}

export interface MissOptions {
  cache: Cache
  catalogue: Catalogue
}

/**
 * The leader's own response. The flight has landed when a plain answer is returned, and lands by itself behind a streamed one.
 * Throws a ProxyError where upstream could not be reached or broke off before anything was sent, and GaveWay where its error is
 * left to a fallback; the flight is the caller's to land then.
 */
export async function answerMiss(miss: Miss, options: MissOptions): Promise<ProxyResponse> {
  const { request, parsed, provider, flight } = miss
  const answer = await provider.ask({
    endpoint: request.endpoint,
    bodyText: parsed.text,
    body: parsed.body,
    headers: request.headers,
    stream: parsed.stream,
    signal: flight.signal,
  })
  const isStream = answer.headers.get('content-type')?.includes('text/event-stream') ?? false
  if (answer.status === 200 && isStream) return answerStreamed(miss, answer, options)
  return answerPlain(miss, answer, options)
}

async function answerPlain(miss: Miss, answer: UpstreamAnswer, options: MissOptions): Promise<ProxyResponse> {
  const { request, parsed, provider, flight, seat } = miss
  const bytes = await readAll(answer.body, provider.name)
  if (answer.status !== 200) return passOnError(miss, answer, bytes)

  const text = new TextDecoder().decode(bytes)
  const body = parseAnswer(text, provider.name)
  const usage = readUsage(body.usage) ?? countUsage(request.endpoint, parsed.body, body)
  const headers = missHeaders(provider.name, priceOf(miss, usage, options))
  const response: ProxyResponse = parsed.stream
    ? {
        status: 200,
        headers: { ...returned(answer), ...SSE_TYPE, ...headers },
        body: replay(bytes, parsed.includeUsage),
      }
    : { status: 200, headers: { ...returned(answer), ...JSON_TYPE, ...headers }, body: bytes }
  const wholeness = judgeAnswer(request.endpoint, body, parsed.body)
  if (wholeness === 'whole') {
    await storeAnswer(miss, body, text, usage, options)
    flight.land({ kind: 'whole', entry: entryOf(provider, bytes, usage) })
  } else {
    if (isUpstreamFailure(wholeness)) miss.refund()
    flight.land({ kind: 'unshared', failed: null })
  }
  seat.leave()
  closeLedger(miss, request.signal.aborted ? CLIENT_GONE_STATUS : 200, usage)
  return response
}

/** An upstream's own error keeps its status, body and Retry-After; it does not count against the month. */
function passOnError(miss: Miss, answer: UpstreamAnswer, bytes: Uint8Array): ProxyResponse {
  const headers = { ...returned(answer), ...missHeaders(miss.provider.name, 0) }
  const response = { status: answer.status, headers, body: bytes }
  if (miss.givesWay(response)) throw new GaveWay(response)
  miss.flight.land({ kind: 'unshared', failed: response })
  miss.seat.leave()
  miss.refund()
  closeLedger(miss, answer.status, NO_USAGE)
  return response
}

function answerStreamed(miss: Miss, answer: UpstreamAnswer, options: MissOptions): ProxyResponse {
  const { request, parsed, provider, flight, seat, ledger } = miss
  const promptTokens = estimatePromptTokens(parsed.body, request.endpoint)
  const cost = priceOf(miss, { ...NO_USAGE, promptTokens }, options)
  flight.openStream()
  // Runs beside the response: the leader's client may leave while others listen.
  void fly(miss, answer, options)
  const body = listen(seat, { dropUsage: !parsed.includeUsage, onOver: () => {} })
  ledger.noteHeaders()
  return {
    status: 200,
    headers: { ...returned(answer), ...SSE_TYPE, ...missHeaders(provider.name, cost) },
    body,
  }
}

/** Reads the stream to its end, stores what is whole, lands the flight, accounts for it. Never throws. */
async function fly(miss: Miss, answer: UpstreamAnswer, options: MissOptions): Promise<void> {
  const { request, parsed, provider, flight } = miss
  const assembler = createAssembler({ clientSetOutputLimit: setsOutputLimit(request.endpoint, parsed.body) })
  let sawDone = false
  const parser = createSseParser(({ data, event }) => {
    sawDone ||= data === '[DONE]'
    assembler.push(data, event)
  })
  const reader = answer.body.getReader()
  /** Clients stop reading at `[DONE]`: told only when the answer is stored, so that whoever asks again finds it. */
  let closing: Uint8Array | null = null
  let failure: unknown
  try {
    while (!sawDone) {
      const { done, value } = await reader.read()
      if (done) break
      parser.push(value)
      const end = sawDone ? findClosing(value) : value.length
      if (end > 0) await flight.push(value.subarray(0, end))
      if (sawDone) closing = value.subarray(end)
    }
    if (!sawDone) parser.end()
  } catch (error) {
    failure = error
  }
  const assembled = assembler.finish()
  const usage = readUsage(assembled.usage) ?? countUsage(request.endpoint, parsed.body, assembled.body)
  if (failure !== undefined) {
    const told =
      failure instanceof ProxyError ? failure : broken(provider.name, 'broke off its answer', undefined, failure)
    flight.land({ kind: 'unshared', failed: told }, told)
    const isGone = failure instanceof ClientGone
    if (!isGone) miss.refund()
    closeLedger(miss, isGone ? CLIENT_GONE_STATUS : told.status, usage, isGone ? undefined : told)
    return
  }
  if (assembled.wholeness === 'whole') {
    const text = JSON.stringify(assembled.body)
    await storeAnswer(miss, assembled.body, text, usage, options)
    if (closing) void flight.push(closing)
    flight.land({ kind: 'whole', entry: entryOf(provider, new TextEncoder().encode(text), usage) })
  } else {
    if (isUpstreamFailure(assembled.wholeness)) miss.refund()
    if (closing) void flight.push(closing)
    flight.land({ kind: 'unshared', failed: null })
  }
  void drain(reader)
  closeLedger(miss, request.signal.aborted ? CLIENT_GONE_STATUS : 200, usage)
}

/** Where the event that says `[DONE]` begins; 0 where it was cut. */
function findClosing(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const at = buffer.lastIndexOf('[DONE]')
  return at < 0 ? 0 : Math.max(0, buffer.lastIndexOf('data:', at))
}

/** Reads what may come behind the end, so that the connection can serve again. */
async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // Nobody needs it any more.
  }
}

async function storeAnswer(
  { question, provider, lookup }: Miss,
  body: Record<string, unknown>,
  text: string,
  usage: TokenUsage,
  { cache }: MissOptions,
): Promise<void> {
  const { promptTokens, completionTokens } = usage
  const semantic = !hasToolCalls(body)
  await cache.store(
    question,
    { body: text, provider: provider.name, promptTokens, completionTokens, semantic },
    lookup.vector,
  )
}

function entryOf(provider: Provider, body: Uint8Array, { promptTokens, completionTokens }: TokenUsage): CacheEntry {
  const now = Date.now()
  return { body, provider: provider.name, promptTokens, completionTokens, createdAtMs: now, expiresAtMs: now }
}

function closeLedger({ provider, question, ledger }: Miss, status: number, usage: TokenUsage, cause?: unknown): void {
  const { name, pricedAs } = provider
  ledger.noteHeaders()
  ledger.close({
    status,
    cacheResult: 'MISS',
    provider: name,
    pricedAs,
    model: question.model,
    usage,
    ...(cause === undefined ? {} : { cause }),
  })
}

function priceOf({ provider, question }: Miss, usage: TokenUsage, { catalogue }: MissOptions): number {
  return provider.pricedAs === null ? 0 : costUsd(catalogue.find(provider.pricedAs, question.model), usage)
}

function returned(answer: UpstreamAnswer): Record<string, string> {
  return Object.fromEntries(answer.headers)
}
