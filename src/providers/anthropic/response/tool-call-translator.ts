/** Translates a stream's tool uses into deltas of OpenAI's tool calls. */
import type { ToolUseBlock } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { type ClientTool, restoreToolInput, restoreToolInputText } from '../request/adapt-tools.ts'
import type { AnthropicResponseContext } from './response-context.ts'

export interface ToolCallTranslator {
  /** Starts a block that calls a tool. All methods return the resulting deltas. */
  start(block: number, use: ToolUseBlock): JsonObject[]
  /** Adds a fragment of the JSON text of the block's input. */
  continue(block: number, fragment: string): JsonObject[]
  /** Ends a block of any kind. */
  stop(block: number): JsonObject[]
}

interface OpenCall {
  /** The index among the calls, from 0. */
  position: number
  /** The input at the block's start. It is complete if no fragments follow. */
  input: unknown
  hasFragments: boolean
  tool: ClientTool | undefined
  /** The fragments of a wrapped input, which can be returned only when it is complete. */
  held: string
}

export function createToolCallTranslator({
  usesLegacyFunctions,
  clientTools,
}: AnthropicResponseContext): ToolCallTranslator {
  const open = new Map<number, OpenCall>()
  let count = 0

  function writeArguments({ position }: OpenCall, fragment: string): JsonObject[] {
    const called = { arguments: fragment }
    if (!usesLegacyFunctions) return [{ tool_calls: [{ index: position, function: called }] }]
    // A `function_call` contains one call only.
    return position === 0 ? [{ function_call: called }] : []
  }

  return {
    start(block, { id, name, input }) {
      const position = count++
      const tool = clientTools?.get(name)
      open.set(block, { position, input, hasFragments: false, tool, held: '' })
      const called = { name: tool?.name ?? name, arguments: '' }
      if (usesLegacyFunctions) return position === 0 ? [{ function_call: called }] : []
      return [{ tool_calls: [{ index: position, id, type: 'function', function: called }] }]
    },
    continue(block, fragment) {
      const call = open.get(block)
      if (!call || fragment === '') return []
      call.hasFragments = true
      if (!call.tool?.isWrapped) return writeArguments(call, fragment)
      call.held += fragment
      return []
    },
    stop(block) {
      const call = open.get(block)
      open.delete(block)
      if (!call) return []
      if (call.held !== '') return writeArguments(call, restoreToolInputText(call.tool, call.held))
      return call.hasFragments
        ? []
        : writeArguments(call, JSON.stringify(restoreToolInput(call.tool, call.input ?? {})))
    },
  }
}
