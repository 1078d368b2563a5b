/** Translates a stream's tool uses into deltas of OpenAI's tool calls. */
import type { ToolUseBlock } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { type ClientTool, restoreToolInput, restoreToolInputText } from '../request/adapt-tools.ts'
import type { AnthropicResponseContext } from './response-context.ts'

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

export class ToolCallTranslator {
  readonly #context: AnthropicResponseContext
  readonly #open = new Map<number, OpenCall>()
  #count = 0

  constructor(context: AnthropicResponseContext) {
    this.#context = context
  }

  /** Starts a block that calls a tool. All methods return the resulting deltas. */
  start(block: number, { id, name, input }: ToolUseBlock): JsonObject[] {
    const position = this.#count++
    const tool = this.#context.clientTools?.get(name)
    this.#open.set(block, { position, input, hasFragments: false, tool, held: '' })
    const called = { name: tool?.name ?? name, arguments: '' }
    if (this.#context.usesLegacyFunctions) return position === 0 ? [{ function_call: called }] : []
    return [{ tool_calls: [{ index: position, id, type: 'function', function: called }] }]
  }

  /** Adds a fragment of the JSON text of the block's input. */
  continue(block: number, fragment: string): JsonObject[] {
    const call = this.#open.get(block)
    if (!call || fragment === '') return []
    call.hasFragments = true
    if (!call.tool?.isWrapped) return this.#writeArguments(call, fragment)
    call.held += fragment
    return []
  }

  /** Ends a block of any kind. */
  stop(block: number): JsonObject[] {
    const call = this.#open.get(block)
    this.#open.delete(block)
    if (!call) return []
    if (call.held !== '') return this.#writeArguments(call, restoreToolInputText(call.tool, call.held))
    return call.hasFragments
      ? []
      : this.#writeArguments(call, JSON.stringify(restoreToolInput(call.tool, call.input ?? {})))
  }

  #writeArguments({ position }: OpenCall, fragment: string): JsonObject[] {
    const called = { arguments: fragment }
    if (!this.#context.usesLegacyFunctions) return [{ tool_calls: [{ index: position, function: called }] }]
    // A `function_call` contains one call only.
    return position === 0 ? [{ function_call: called }] : []
  }
}
