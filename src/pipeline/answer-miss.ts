/** Answers from a provider: passes the answer on as it comes, stores it when it is whole, accounts for it either way. */
import { createAssembler } from '../answers/assemble.ts'
import { hasToolCalls, judgeWholeness } from '../answers/wholeness.ts'
import type { Cache, Lookup } from '../cache/cache.ts'
import type { Question } from '../cache/question.ts'
import type { ProxyError } from '../errors.ts'
import type { Catalogue } from '../pricing/catalogue.ts'
import { costUsd, readUsage, type TokenUsage } from '../pricing/cost.ts'
import { broken } from '../providers/call-upstream.ts'
import type { Provider, UpstreamAnswer } from '../providers/upstream.ts'
import { countPromptTokens, countTextTokens, estimatePromptTokens } from '../tokens/count-tokens.ts'
import { replay } from './answer-hit.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'
import type { Ledger, Outcome } from './ledger.ts'
import { JSON_TYPE, missHeaders, SSE_TYPE } from './proxy-headers.ts'
import type { ParsedBody } from './read-request.ts'
import { relayStream } from './relay-stream.ts'

export interface Miss {
  request: ProxyRequest
  parsed: ParsedBody
  question: Question
  lookup: Lookup
  provider: Provider
  ledger: Ledger
  /** Aborts the upstream call. */
  upstream: AbortController
  /** Gives the request back to the month's quota. */
  refund(): void
}

export interface MissOptions {
  cache: Cache
  catalogue: Catalogue
}

/** Larger plain answers are not held in memory for storing; no provider gives such. */
const MAX_PLAIN_BYTES = 64 * 1024 * 1024

/** Throws a ProxyError where upstream could not be reached or broke off before anything was sent to the client. */
export async function answerMiss(miss: Miss, options: MissOptions): Promise<ProxyResponse> {
  const { request, parsed, provider, upstream } = miss
  const answer = await provider.ask({
    endpoint: request.endpoint,
    bodyText: parsed.text,
    body: parsed.body,
    headers: request.headers,
    stream: parsed.stream,
    signal: upstream.signal,
  })
  const isStream = answer.headers.get('content-type')?.includes('text/event-stream') ?? false
  if (answer.status === 200 && isStream) return answerStreamed(miss, answer, options)
  return answerPlain(miss, answer, options)
}

async function answerPlain(miss: Miss, answer: UpstreamAnswer, options: MissOptions): Promise<ProxyResponse> {
  const { parsed, provider, ledger } = miss
  const bytes = await readAll(answer.body, provider.name)
  if (answer.status !== 200) return passOnError(miss, answer, bytes)

  const text = new TextDecoder().decode(bytes)
  const body = parseAnswer(text, provider.name)
  const usage = readUsage(body.usage) ?? countUsage(miss, body)
  const cost = priceOf(miss, usage, options)
  await storeIfWhole(miss, body, text, usage, options)
  const headers = missHeaders(provider.name, cost)
  ledger.noteHeaders()
  closeLedger(miss, { status: 200, usage })
  return parsed.stream
    ? {
        status: 200,
        headers: { ...returned(answer), ...SSE_TYPE, ...headers },
        body: replay(bytes, parsed.includeUsage),
      }
    : { status: 200, headers: { ...returned(answer), ...JSON_TYPE, ...headers }, body: bytes }
}

/** An upstream's own error keeps its status, body and Retry-After; it does not count against the month. */
function passOnError(miss: Miss, answer: UpstreamAnswer, bytes: Uint8Array): ProxyResponse {
  miss.refund()
  miss.ledger.noteHeaders()
  closeLedger(miss, { status: answer.status })
  return { status: answer.status, headers: { ...returned(answer), ...missHeaders(miss.provider.name, 0) }, body: bytes }
}

function answerStreamed(miss: Miss, answer: UpstreamAnswer, options: MissOptions): ProxyResponse {
  const { parsed, provider, question, ledger } = miss
  const assembler = createAssembler({ clientSetOutputLimit: setsOutputLimit(parsed.body) })
  const estimate: TokenUsage = {
    promptTokens: estimatePromptTokens(parsed.body, question.identity.endpoint as 'chat'),
    cachedPromptTokens: 0,
    completionTokens: 0,
    reportedCostUsd: null,
  }

  /** Stores what came if it is whole, and accounts for it whatever it is. */
  async function end(outcome: { status: number; failure?: ProxyError }): Promise<void> {
    const assembled = assembler.finish()
    const usage = readUsage(assembled.usage) ?? countUsage(miss, assembled.body)
    if (assembled.wholeness === 'whole' && !outcome.failure && outcome.status === 200) {
      await storeAnswerBody(miss, assembled.body, JSON.stringify(assembled.body), usage, options)
    }
    if (outcome.failure) miss.refund()
    closeLedger(miss, { status: outcome.status, usage, cause: outcome.failure })
  }

  const body = relayStream({
    upstream: answer.body,
    dropUsage: !parsed.includeUsage,
    onEvent: (data, event) => assembler.push(data, event),
    onEnd: () => end({ status: 200 }),
    onFailure: failure => end({ status: failure.status, failure }),
    onCancel: () => end({ status: 499 }),
  })
  ledger.noteHeaders()
  return {
    status: 200,
    headers: { ...returned(answer), ...SSE_TYPE, ...missHeaders(provider.name, priceOf(miss, estimate, options)) },
    body,
  }
}

async function storeIfWhole(
  miss: Miss,
  body: Record<string, unknown>,
  text: string,
  usage: TokenUsage,
  options: MissOptions,
): Promise<void> {
  const isWhole =
    miss.request.endpoint === 'embeddings'
      ? Array.isArray(body.data) && body.data.length > 0
      : judgeWholeness(body, { clientSetOutputLimit: setsOutputLimit(miss.parsed.body) }) === 'whole'
  if (isWhole) await storeAnswerBody(miss, body, text, usage, options)
}

async function storeAnswerBody(
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

function closeLedger(miss: Miss, outcome: { status: number; usage?: TokenUsage; cause?: unknown }): void {
  const { provider, ledger } = miss
  const closing: Outcome = {
    status: outcome.status,
    cacheResult: 'MISS',
    provider: provider.name,
    pricedAs: provider.pricedAs,
    usage: outcome.usage ?? { promptTokens: 0, cachedPromptTokens: 0, completionTokens: 0, reportedCostUsd: 0 },
  }
  if (outcome.cause !== undefined) closing.cause = outcome.cause
  ledger.close(closing)
}

function priceOf({ provider, question }: Miss, usage: TokenUsage, { catalogue }: MissOptions): number {
  return provider.pricedAs === null ? 0 : costUsd(catalogue.find(provider.pricedAs, question.model), usage)
}

/** For an answer whose provider reported no usage, one that was cut included: counted with the tokenizer. */
function countUsage({ parsed, request, question }: Miss, body: Record<string, unknown>): TokenUsage {
  return {
    promptTokens: countPromptTokens(parsed.body, request.endpoint),
    cachedPromptTokens: 0,
    completionTokens: countTextTokens(textOf(body), question.model),
    reportedCostUsd: null,
  }
}

function textOf(body: Record<string, unknown>): string {
  const choices = Array.isArray(body.choices) ? body.choices : []
  return choices
    .map(choice => choice?.message?.content ?? choice?.text)
    .filter(text => typeof text === 'string')
    .join('\n')
}

function setsOutputLimit(body: Record<string, unknown>): boolean {
  return [body.max_tokens, body.max_completion_tokens].some(limit => typeof limit === 'number')
}

function parseAnswer(text: string, provider: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  } catch {
    // Told below; the parser's own message would quote the answer.
  }
  throw broken(provider, 'gave an answer that is not a JSON object')
}

async function readAll(body: ReadableStream<Uint8Array>, provider: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    parts.push(part)
    length += part.length
    if (length > MAX_PLAIN_BYTES) throw broken(provider, `gave an answer of more than ${MAX_PLAIN_BYTES} bytes`)
  }
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts, length)
}

function returned(answer: UpstreamAnswer): Record<string, string> {
  return Object.fromEntries(answer.headers)
}
