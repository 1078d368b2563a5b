/** Assembles the chunks of a Gemini stream into the plain response, and judges whether a response is complete. Only complete ones are cached. */

import type { AssembledStream, StreamAssembler } from '../api-format.ts'
import { type Completeness, classifyFinishReason, MAX_EMPTY_RESPONSE_TOKENS } from '../chat/completeness.ts'
import { type ExpectedOutput, hasExpectedTextFormat, isTruncatedByProvider } from '../expected-output.ts'
import { asObjects, asString, isBlank, isJsonObject, isPresent, type JsonObject } from '../json/canonical.ts'
import { ChunkAssembler } from '../sse/chunk-reader.ts'
import { TextMeter, textLengthOf } from '../text-meter.ts'
import { readUsage } from '../usage/read-usage.ts'

const NO_EXPECTATIONS: ExpectedOutput = { clientSetOutputLimit: true }

export class GeminiAssembler extends ChunkAssembler implements StreamAssembler {
  #parts: JsonObject[] = []
  #candidate: JsonObject | null = null
  #body: JsonObject | null = null
  readonly meter = new TextMeter(() => textLengthOf(this.#parts))

  push(data: string, name?: string | null): undefined {
    this.meter.countEvent(data)
    const chunk = this.reader.read(data, name)
    if (chunk) this.add(chunk)
  }

  /** Adds a chunk. It becomes part of the response: do not change it afterwards. */
  add({ error, candidates, ...fields }: JsonObject): void {
    if (isPresent(error)) this.reader.addError(error)
    this.#body = { ...this.#body, ...fields }
    const [candidate] = asObjects(candidates)
    if (!candidate) return
    const { content, ...rest } = candidate
    this.#candidate = mergeCandidate(this.#candidate ?? {}, rest)
    for (const part of asObjects(isJsonObject(content) ? content.parts : null)) {
      if (isOutput(part)) this.tokens++
      if (this.meter.isDiscarded) this.meter.countDiscarded(part)
      else addPart(this.#parts, part)
    }
  }

  /** Replaces all parts by one with a sample of the text. */
  discardText(): void {
    if (this.meter.isDiscarded) return
    this.meter.isDiscarded = true
    this.reader.markIncomplete('too_large')
    this.#parts = [{ text: this.meter.sampleText(textOfParts(this.#parts)) }]
  }

  finish(): AssembledStream {
    const body = this.#body && joinBody(this.#body, this.#candidate, this.#parts)
    const judged = body ? completenessOfGemini(body, this.expected) : 'missing_end'
    return {
      body: body ?? {},
      usage: body?.usageMetadata ?? null,
      completeness: this.reader.resolveCompleteness(judged === 'unfinished_choice' ? 'missing_end' : judged),
      error: this.reader.error,
    }
  }
}

export function createGeminiAssembler(expected: ExpectedOutput = NO_EXPECTATIONS): GeminiAssembler {
  return new GeminiAssembler(expected)
}

function joinBody({ ...fields }: JsonObject, candidate: JsonObject | null, parts: JsonObject[]): JsonObject {
  if (candidate === null) return fields
  return { candidates: [{ content: { role: 'model', parts }, ...candidate }], ...fields }
}

/** Merges the fields of a candidate. The log probabilities of each chunk are those of its own tokens. */
function mergeCandidate(known: JsonObject, { logprobsResult: added, ...fields }: JsonObject): JsonObject {
  const merged = { ...known, ...fields }
  if (!isJsonObject(added)) return merged
  const before = isJsonObject(known.logprobsResult) ? known.logprobsResult : {}
  const join = (name: string) => [...asObjects(before[name]), ...asObjects(added[name])]
  return {
    ...merged,
    logprobsResult: { chosenCandidates: join('chosenCandidates'), topCandidates: join('topCandidates') },
  }
}

/** Adds a part. A text continues a text of its kind; the signature of an empty text belongs to the text before it. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const { text, thought, thoughtSignature: signature, ...others } = part
  const last = parts.at(-1)
  const isPlainText = typeof text === 'string' && Object.keys(others).length === 0
  const continues =
    isPlainText && typeof last?.text === 'string' && last.thought === thought && last.thoughtSignature === undefined
  if (continues) {
    last.text = last.text + text
    if (signature !== undefined) last.thoughtSignature = signature
  } else if (!isPlainText || text !== '' || signature !== undefined) parts.push({ ...part })
}

function isOutput({ text, ...part }: JsonObject): boolean {
  return typeof text === 'string' ? text !== '' : Object.keys(part).length > 0
}

/** Returns all text of the parts, and the calls as JSON. */
export function textOfParts(parts: unknown): string {
  return asObjects(parts)
    .flatMap(({ text, functionCall }) => {
      const called = isJsonObject(functionCall) ? [functionCall.name, JSON.stringify(functionCall.args)] : []
      return [text, ...called]
    })
    .filter(text => typeof text === 'string' && text !== '')
    .join('\n')
}

export function partsOf({ candidates }: JsonObject): JsonObject[] {
  const [candidate] = asObjects(candidates)
  return asObjects(isJsonObject(candidate?.content) ? candidate.content.parts : null)
}

export function completenessOfGemini(body: unknown, expected: ExpectedOutput = NO_EXPECTATIONS): Completeness {
  if (!isJsonObject(body)) return 'not_a_response'
  if (isPresent(body.error)) return 'error_in_body'
  const [candidate] = asObjects(body.candidates)
  if (!candidate) return isPresent(body.promptFeedback) ? 'content_filter' : 'not_a_response'
  const reason = asString(candidate.finishReason)
  if (reason === '') return 'unfinished_choice'
  if (reason === 'MALFORMED_FUNCTION_CALL') return 'invalid_arguments'
  const kind = classifyFinishReason(reason)
  const outputTokens = readUsage(body.usageMetadata)?.completionTokens ?? null
  if (kind === 'filtered') return 'content_filter'
  if (kind === 'failed') return 'unknown_finish_reason'
  if (kind === 'length' && isTruncatedByProvider(expected, outputTokens)) return 'provider_length_limit'
  const parts = partsOf(body)
  const output = parts.filter(part => part.thought !== true && isOutput(part))
  if (output.length === 0) {
    const isHidden = kind === 'regular' && (outputTokens ?? 0) > MAX_EMPTY_RESPONSE_TOKENS && parts.length === 0
    return isHidden ? 'no_output' : 'empty_message'
  }
  if (output.some(({ functionCall }) => isPresent(functionCall))) return 'whole'
  if (expected.requiresToolCall) return 'missing_tool_call'
  const text = output.map(part => asString(part.text)).join('')
  return hasExpectedTextFormat(text, expected) ? 'whole' : 'invalid_json'
}

/** Whether the response calls functions. Such responses are never served from a semantic match. */
export function hasFunctionCalls(response: JsonObject): boolean {
  return partsOf(response).some(({ functionCall }) => isPresent(functionCall))
}

export function hasGeminiOutput(response: JsonObject): boolean {
  return partsOf(response).some(part => isOutput(part) && !isBlank(part.text ?? 'other'))
}
