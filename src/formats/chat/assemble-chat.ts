/** Assembles the chunks of a streamed response into the plain response that the upstream would have sent. */

import { isJsonObject, type JsonObject, parseJsonObject, readField } from '../../json/canonical.ts'
import type { Wanted } from '../wanted.ts'
import { type Choice, createChoice, finishChoice, mergeChoice } from './assemble-choice.ts'
import { type Completeness, completenessOf, type IncompleteReason } from './completeness.ts'
import { mergeState } from './merge-delta.ts'

/** Limit on the data of all events together, to bound memory. It is beyond any provider's longest response. */
const MAX_DATA_CHARS = 64 * 1024 * 1024

export interface AssembledAnswer {
  /** `object` is `chat.completion` or `text_completion`. For a cut stream, this holds what had arrived. */
  body: JsonObject
  /** As the upstream reported it, with unknown subfields; null when it did not. */
  usage: unknown
  sawDone: boolean
  /** The error object in the stream, if there was one. */
  error: unknown
  completeness: Completeness
}

export interface Assembler {
  /** Takes one event's data and its `event` field. An event named `error` is an error, even without an `error` key. */
  push(data: string, event?: string | null): void
  /** Ends the stream, complete or not. Call once. */
  finish(): AssembledAnswer
}

/**
 * Takes chat and legacy completion chunks. Unknown fields are merged by their type. A malformed chunk is skipped and makes the
 * response incomplete; `push` never throws. Without `wanted`, a response cut at a length limit is incomplete.
 */
export function createAssembler(wanted: Wanted = { clientSetOutputLimit: false }): Assembler {
  const top: JsonObject = {}
  const choices: Choice[] = []
  let usage: unknown = null
  let error: unknown = null
  let flaw: IncompleteReason | null = null
  let sawDone = false
  let pushedChars = 0

  function noteError(found: unknown): void {
    if (found === null || found === undefined) return
    error ??= found
    flaw = 'error_in_stream'
  }

  function mergeChoices(chunks: unknown): void {
    if (!Array.isArray(chunks)) return
    for (let position = 0; position < chunks.length; position++) {
      const chunk: unknown = chunks[position]
      if (!isJsonObject(chunk)) continue
      const index = typeof chunk.index === 'number' ? chunk.index : position
      if (!mergeChoice(findChoice(choices, index), chunk)) flaw ??= 'inconsistent_chunks'
      noteError(readField(chunk, 'error'))
    }
  }

  /** Drops what was assembled, but keeps the usage, because the request still costs something. */
  function giveUp(chunk: JsonObject): void {
    choices.length = 0
    flaw ??= 'too_large'
    usage = readField(chunk, 'usage') ?? usage
  }

  function mergeTop(chunk: JsonObject): void {
    for (const key in chunk) {
      const value = chunk[key]
      if (key === 'choices') mergeChoices(value)
      else if (key === 'usage') usage = value ?? usage
      else if (key === 'error') noteError(value)
      // Random padding against traffic analysis. It belongs to this chunk only.
      else if (key !== 'obfuscation') mergeState(top, key, value)
    }
  }

  return {
    push(data, event) {
      if (sawDone || data === '') return
      if (data.length < 16 && data.trim() === '[DONE]') {
        sawDone = true
        return
      }
      pushedChars += data.length
      const chunk = parseJsonObject(data)
      if (event === 'error') noteError(readField(chunk ?? {}, 'error') ?? chunk ?? data)
      else if (chunk === undefined) flaw ??= 'malformed_chunk'
      else if (pushedChars > MAX_DATA_CHARS) giveUp(chunk)
      else mergeTop(chunk)
    },
    finish() {
      usage = takeGroqUsage(top) ?? usage
      const body = buildBody(top, choices, usage)
      flaw ??= sawDone ? null : 'missing_done'
      return { body, usage, sawDone, error, completeness: flaw ?? completenessOf(body, wanted) }
    },
  }
}

function findChoice(choices: Choice[], index: number): Choice {
  for (const choice of choices) if (choice.index === index) return choice
  const added = createChoice(index)
  choices.push(added)
  return added
}

/** Groq reports a stream's usage in a field of its own in the last chunk, and a plain response's usage only in `usage`. */
function takeGroqUsage(top: JsonObject): unknown {
  const groq = readField(top, 'x_groq')
  if (!isJsonObject(groq)) return undefined
  const usage = readField(groq, 'usage')
  delete groq.usage
  return usage
}

function buildBody(top: JsonObject, choices: Choice[], usage: unknown): JsonObject {
  const isLegacy = choices.length > 0 ? choices.every(choice => choice.isLegacy) : top.object === 'text_completion'
  const body: JsonObject = { ...top, object: isLegacy ? 'text_completion' : 'chat.completion' }
  body.choices = choices.toSorted((a, b) => a.index - b.index).map(finishChoice)
  if (usage !== null) body.usage = usage
  return body
}
