/** Tool uses of a stream as the deltas of OpenAI's calls. */
import type { ToolUseBlock } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../json/json-object.ts'
import type { AnswerContext } from './answer-context.ts'

export interface CallWriter {
  /** A block that calls a tool begins. Each returns the deltas it comes to. */
  start(block: number, use: ToolUseBlock): JsonObject[]
  /** A fragment of its input's JSON text. */
  continue(block: number, fragment: string): JsonObject[]
  /** A block ends, of whatever kind. */
  stop(block: number): JsonObject[]
}

interface OpenCall {
  /** Counted from 0 among the calls alone. */
  position: number
  /** What its block began with: all of its input, where no fragments follow. */
  input: unknown
  hasFragments: boolean
}

export function createCallWriter({ usesLegacyFunctions }: AnswerContext): CallWriter {
  const open = new Map<number, OpenCall>()
  let count = 0

  function writeArguments({ position }: OpenCall, fragment: string): JsonObject[] {
    const called = { arguments: fragment }
    if (!usesLegacyFunctions) return [{ tool_calls: [{ index: position, function: called }] }]
    // There is room for one.
    return position === 0 ? [{ function_call: called }] : []
  }

  return {
    start(block, { id, name, input }) {
      const position = count++
      open.set(block, { position, input, hasFragments: false })
      const called = { name, arguments: '' }
      if (usesLegacyFunctions) return position === 0 ? [{ function_call: called }] : []
      return [{ tool_calls: [{ index: position, id, type: 'function', function: called }] }]
    },
    continue(block, fragment) {
      const call = open.get(block)
      if (!call || fragment === '') return []
      call.hasFragments = true
      return writeArguments(call, fragment)
    },
    stop(block) {
      const call = open.get(block)
      open.delete(block)
      return !call || call.hasFragments ? [] : writeArguments(call, JSON.stringify(call.input ?? {}))
    },
  }
}
