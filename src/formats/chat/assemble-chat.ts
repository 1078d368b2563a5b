/** Assembles the chunks of a streamed response into the plain response that the upstream would have sent. */

import type { AssembledStream, StreamAssembler } from '../answer-format.ts'
import { isJsonObject, type JsonObject, parseJsonObject, readField } from '../json/canonical.ts'
import { findUsage, mergeUsage } from '../usage/merge-usage.ts'
import type { Wanted } from '../wanted.ts'
import { completenessOf, type IncompleteReason } from './completeness.ts'
import { GrowingChoices } from './growing-choices.ts'
import { mergeState } from './merge-delta.ts'

/** Limit on the data of all events together, to bound memory. It is beyond any provider's longest response. */
const MAX_DATA_CHARS = 64 * 1024 * 1024

/** `body.object` is `chat.completion` or `text_completion`. */
export interface AssembledAnswer extends AssembledStream {
  sawDone: boolean
  /** The error object in the stream, if there was one. */
  error: unknown
}

interface Assembler extends StreamAssembler {
  finish(): AssembledAnswer
}

/**
 * Takes chat and legacy completion chunks. An event named `error` is an error, even without an `error` key. Unknown fields are merged by their type. A malformed chunk is skipped and makes the
 * response incomplete; `push` never throws. Without `wanted`, a response cut at a length limit is incomplete.
 */
export function createAssembler(wanted: Wanted = { clientSetOutputLimit: false }): Assembler {
  const top: JsonObject = {}
  const choices = new GrowingChoices(noteError)
  const { meter } = choices
  let usage: unknown = null
  let error: unknown = null
  let flaw: IncompleteReason | null = null
  let sawDone = false

  function noteError(found: unknown): void {
    if (found === null || found === undefined) return
    error ??= found
    flaw = 'error_in_stream'
  }

  function mergeChoices(chunks: unknown): void {
    choices.merge(chunks)
    if (choices.isInconsistent) flaw ??= 'inconsistent_chunks'
  }

  function giveUp(): void {
    choices.giveUp()
    flaw ??= 'too_large'
  }

  function mergeTop(chunk: JsonObject): void {
    usage = mergeUsage(usage, findUsage(chunk))
    for (const key in chunk) {
      const value = chunk[key]
      if (key === 'choices') mergeChoices(value)
      else if (key === 'error') noteError(value)
      // Random padding against traffic analysis. It belongs to this chunk only.
      else if (key !== 'obfuscation' && key !== 'usage') mergeState(top, key, value)
    }
  }

  return {
    meter,
    giveUp,
    push(data, event) {
      if (sawDone || data === '') return
      if (data.length < 16 && data.trim() === '[DONE]') {
        sawDone = true
        return
      }
      meter.note(data)
      if (meter.pushedChars > MAX_DATA_CHARS) giveUp()
      const chunk = parseJsonObject(data)
      if (event === 'error') noteError(readField(chunk ?? {}, 'error') ?? chunk ?? data)
      else if (chunk === undefined) flaw ??= 'malformed_chunk'
      else mergeTop(chunk)
    },
    finish() {
      dropGroqUsage(top)
      const body = buildBody(top, choices, usage)
      flaw ??= sawDone ? null : 'missing_done'
      return { body, usage, sawDone, error, completeness: flaw ?? completenessOf(body, wanted) }
    },
  }
}

/** A plain response of Groq's has its usage in `usage` alone. */
function dropGroqUsage({ x_groq: groq }: JsonObject): void {
  if (isJsonObject(groq)) delete groq.usage
}

function buildBody(top: JsonObject, growing: GrowingChoices, usage: unknown): JsonObject {
  const { isLegacy, choices } = growing.finish()
  const isText = growing.isEmpty ? top.object === 'text_completion' : isLegacy
  const body: JsonObject = { ...top, object: isText ? 'text_completion' : 'chat.completion', choices }
  if (usage !== null) body.usage = usage
  return body
}
