/** Writes a Gemini response from a chat response, as the chunks of its stream. A function call is written whole. */
import type { ProxyError } from '../../errors/errors.ts'
import type { FinishKind } from '../chat/completeness.ts'
import type { PartSource, ResponseMetadata } from '../chat/part-reader.ts'
import { type ExtrasKeys, packExtras } from '../chat/provider-extras.ts'
import { asObjects, asString, isJsonObject, type JsonObject, sha256 } from '../json/canonical.ts'
import { tryParseLosslessJson } from '../json/lossless-json.ts'
import type { TranslationWriter } from '../translate-response.ts'
import { readUsage } from '../usage/read-usage.ts'
import { writeGoogleError } from './gemini-errors.ts'

export interface GeminiTranslationContext {
  /** The requested model, which is reported when the provider does not name the responding model. */
  model: string
  /** The text from which ids are derived when the provider sends none. */
  requestId: string
  /** Whether the client requested thoughts. */
  includesThoughts: boolean
  /** Keys for packing the provider extras of the response. */
  extrasKeys: ExtrasKeys
}

const FINISH_REASONS: Record<FinishKind, string> = {
  regular: 'STOP',
  length: 'MAX_TOKENS',
  filtered: 'SAFETY',
  failed: 'OTHER',
}

export class GeminiTranslationWriter implements TranslationWriter {
  readonly #context: GeminiTranslationContext
  readonly #reader: () => PartSource
  readonly #chunks: JsonObject[] = []
  /** Fields of every chunk. */
  #envelope: JsonObject = {}
  #call: { id: string; name: string; args: string } | null = null
  #calls = 0
  readonly #malformedCalls: string[] = []
  #hasRefusal = false
  readonly #sources: JsonObject[] = []

  constructor(context: GeminiTranslationContext, reader: () => PartSource) {
    this.#context = context
    this.#reader = reader
  }

  begin({ id, model }: ResponseMetadata): void {
    const responseId = id || sha256(this.#context.requestId).slice(0, 24)
    this.#envelope = { modelVersion: model || this.#context.model, responseId }
  }

  addReasoning(text: string): void {
    if (this.#context.includesThoughts) this.#writePart({ text, thought: true })
  }

  addText(text: string, logprobs: unknown[]): void {
    this.#writePart({ text }, logprobs.length > 0 ? { logprobsResult: toLogprobsResult(logprobs) } : {})
  }

  addRefusal(text: string): void {
    this.#hasRefusal = true
    this.addText(text, [])
  }

  createCallId(): string {
    return `call_${sha256(asString(this.#envelope.responseId)).slice(0, 20)}${this.#calls}`
  }

  startCall(id: string, name: string): void {
    this.#writeCall()
    this.#calls++
    this.#call = { id, name, args: '' }
  }

  addArguments(fragment: string): void {
    if (this.#call) this.#call.args += fragment
  }

  addAnnotations(annotations: JsonObject[]): boolean {
    const sources = annotations.map(({ url_citation: cited }) => cited).filter(isJsonObject)
    this.#sources.push(...sources)
    return sources.length === annotations.length
  }

  addImage(url: string): boolean {
    const [, mimeType, data] = /^data:([\w.+/-]+);base64,(.*)$/s.exec(url) ?? []
    if (mimeType === undefined && !/^https?:/i.test(url)) return false
    this.#writePart(
      mimeType === undefined
        ? { fileData: { mimeType: 'image/png', fileUri: url } }
        : { inlineData: { mimeType, data } },
    )
    return true
  }

  end(finishKind: FinishKind, usage: JsonObject | null): void {
    this.#writeCall()
    const usageMetadata = toGeminiUsage(usage)
    const chunks = this.#sources.map(({ url, title }) => ({ web: { uri: url, title } }))
    const signature = this.#sign()
    const finishMessage = [...this.#malformedCalls, ...this.#describeOmitted()].join('\n')
    this.#writePart(
      { text: '', ...signature },
      {
        finishReason: this.#chooseFinishReason(finishKind),
        ...(finishMessage !== '' && { finishMessage }),
        ...(chunks.length > 0 && { groundingMetadata: { groundingChunks: chunks } }),
      },
      usageMetadata ? { usageMetadata } : {},
    )
  }

  fail(error: ProxyError): void {
    this.#chunks.push(writeGoogleError(error))
  }

  drainEvents(): JsonObject[] {
    return this.#chunks.splice(0)
  }

  #chooseFinishReason(finishKind: FinishKind): string {
    if (finishKind !== 'regular') return FINISH_REASONS[finishKind]
    if (this.#malformedCalls.length > 0) return 'MALFORMED_FUNCTION_CALL'
    return this.#hasRefusal ? 'SAFETY' : 'STOP'
  }

  /** Names the omitted parts, because clients cannot read the comment that names them in other streams. */
  #describeOmitted(): string[] {
    const { omitted, extras } = this.#reader()
    const names = [...omitted, ...extras.names]
    return names.length === 0 ? [] : [`x-proxy-omitted: ${names.join(', ')}`]
  }

  /** Writes the open call. A call whose arguments are no object, because they are truncated or malformed, becomes a message about the end. */
  #writeCall(): void {
    if (this.#call === null) return
    const { id, name, args: text } = this.#call
    this.#call = null
    const args = text.trim() === '' ? {} : tryParseLosslessJson(text)
    if (!isJsonObject(args)) {
      this.#malformedCalls.push(`Malformed function call: ${name}(${text})`)
      return
    }
    const isSigned = this.#reader().extras.isComplete
    this.#writePart({ functionCall: { id, name, args }, ...(isSigned ? this.#sign() : {}) })
  }

  /** Returns the extras that arrived, packed. */
  #sign(): JsonObject {
    const thoughtSignature = packExtras(this.#reader().extras.take(), this.#context.extrasKeys)
    return thoughtSignature === null ? {} : { thoughtSignature }
  }

  #writePart(part: JsonObject, candidate: JsonObject = {}, fields: JsonObject = {}): void {
    this.#writeCall()
    const content = { role: 'model', parts: [part] }
    this.#chunks.push({ candidates: [{ content, index: 0, ...candidate }], ...fields, ...this.#envelope })
  }
}

function toLogprobsResult(logprobs: unknown[]): JsonObject {
  const tokens = asObjects(logprobs)
  return {
    chosenCandidates: tokens.map(toCandidate),
    topCandidates: tokens.map(({ top_logprobs: top }) => ({ candidates: asObjects(top).map(toCandidate) })),
  }
}

function toCandidate({ token, logprob }: JsonObject): JsonObject {
  return { token, logProbability: logprob }
}

/** Returns null if the response has no usage. */
function toGeminiUsage(usage: JsonObject | null): JsonObject | null {
  const counts = readUsage(usage)
  if (!counts) return null
  const { promptTokens, completionTokens, reasoningTokens: thoughts = 0, cachedPromptTokens: cached } = counts
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: Math.max(0, completionTokens - thoughts),
    totalTokenCount: promptTokens + completionTokens,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cached > 0 && { cachedContentTokenCount: cached }),
  }
}
