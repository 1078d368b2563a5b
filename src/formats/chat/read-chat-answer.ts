/** Reads a chat response, streamed or plain, as a series of steps. Translations into other formats are built on these. */

import { refuse } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import { toProxyError } from '../errors/client-error.ts'
import { isJsonObject, type JsonObject, numberOf, objectsOf, readField, textOf } from '../json/canonical.ts'
import { findUsage, mergeUsage } from '../usage/merge-usage.ts'
import { PendingCarried } from './carried.ts'
import { readThought } from './thought.ts'

export interface AnswerHead {
  /** '' when the provider gave none. */
  id: string
  model: string
  createdSeconds: number
}

/** Called in the order of the response. */
export interface AnswerSteps {
  begin(head: AnswerHead): void
  addReasoning(text: string): void
  /** `logprobs` belong to the tokens of this text; empty when they were not asked for. */
  addText(text: string, logprobs: unknown[]): void
  addRefusal(text: string): void
  /** For a call that its provider gave none. */
  makeCallId(): string
  /** Calls come one after another. */
  startCall(id: string, name: string): void
  /** Takes a fragment of the last call's arguments. */
  continueCall(fragment: string): void
  /** Takes the sources of the text. */
  annotate(annotations: JsonObject[]): void
}

interface Call {
  index: number
  /** As the provider gave it, or not. */
  id: string
  ownId: string
  name: string
}

/** Reads only the first choice: the target formats have no others. */
export class AnswerReader {
  readonly #steps: AnswerSteps
  readonly #calls: Call[] = []
  #hasBegun = false
  /** The last one reported; null when there was none. */
  finishReason: string | null = null
  /** As all chunks together report it. */
  usage: JsonObject | null = null
  readonly carried = new PendingCarried()

  constructor(steps: AnswerSteps) {
    this.#steps = steps
  }

  /** Takes a chunk. Throws a ProxyError for an error in it, and for calls that cannot be told apart. */
  push(chunk: JsonObject): void {
    if (isJsonObject(chunk.error)) throw toProxyError(chunk)
    if (!this.#hasBegun) this.#steps.begin(readHead(chunk))
    this.#hasBegun = true
    const usage = mergeUsage(this.usage, findUsage(chunk))
    if (isJsonObject(usage)) this.usage = usage
    const choice = firstChoice(chunk)
    if (!choice) return
    if (isJsonObject(choice.error)) throw toProxyError(choice.error)
    const delta = choice.delta ?? choice.message
    if (isJsonObject(delta)) this.#readDelta(delta, choice.logprobs)
    if (typeof choice.finish_reason === 'string') this.finishReason = choice.finish_reason
  }

  #readDelta(delta: JsonObject, logprobs: unknown): void {
    const steps = this.#steps
    this.carried.addMessage(delta)
    const thought = readThought(delta)
    if (thought !== '') steps.addReasoning(thought)
    const { content, refusal, annotations } = delta
    if (typeof content === 'string' && content !== '') steps.addText(content, readLogprobs(logprobs))
    if (typeof refusal === 'string' && refusal !== '') steps.addRefusal(refusal)
    for (const fragment of objectsOf(delta.tool_calls)) this.#readCall(fragment)
    if (Array.isArray(annotations) && annotations.length > 0) steps.annotate(annotations.filter(isJsonObject))
  }

  #readCall(fragment: JsonObject): void {
    const called = readField(fragment, 'function')
    const { name, arguments: text } = isJsonObject(called) ? called : {}
    const id = textOf(fragment.id)
    const last = this.#calls.at(-1)
    const index = numberOf(fragment.index, last?.index ?? 0)
    if (typeof name === 'string' && name !== '' && !isSame(last, index, id)) {
      const ownId = id === '' ? this.#steps.makeCallId() : id
      this.#calls.push({ index, id, ownId, name })
      // What it carried may come before it.
      this.carried.addCall(ownId, fragment)
      this.#steps.startCall(ownId, name)
    } else if (last?.index !== index) throw refuse('answerUnreadable', { fault: 'mixed up the calls of its answer' })
    else this.carried.addCall(last.ownId, fragment)
    if (typeof text === 'string' && text !== '') this.#steps.continueCall(text)
  }
}

/** Returns a plain response as one chunk that holds all of it, or as the chunks that it has beside it: they keep its order. */
export function asChunks(answer: JsonObject): JsonObject[] {
  const { chunks } = answer
  if (Array.isArray(chunks)) return chunks.filter(isJsonObject)
  const choice = firstChoice(answer)
  const message = isJsonObject(choice?.message) ? choice.message : {}
  const numbered = objectsOf(message.tool_calls).map((call, index) => ({ ...call, index }))
  return [{ ...answer, choices: choice ? [{ ...choice, delta: { ...message, tool_calls: numbered } }] : [] }]
}

/** Some providers give all calls the same number and distinguish them by id. */
function isSame(call: Call | undefined, index: number, id: string): boolean {
  return call !== undefined && call.index === index && (id === '' || id === call.id)
}

function firstChoice({ choices }: JsonObject): JsonObject | undefined {
  const first: unknown = Array.isArray(choices) ? choices.find(choice => (choice?.index ?? 0) === 0) : undefined
  return isJsonObject(first) ? first : undefined
}

function readHead({ id, model, created }: JsonObject): AnswerHead {
  return {
    id: textOf(id),
    model: textOf(model),
    createdSeconds: numberOf(created, nowSeconds()),
  }
}

function readLogprobs(logprobs: unknown): unknown[] {
  return isJsonObject(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : []
}
