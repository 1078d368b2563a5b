/** The sandbox's chat completions. */
import { nowSeconds } from '../../event-loop/clock.ts'
import { sha256 } from '../../formats/json/canonical.ts'
import { readNonEmptyString } from '../../formats/json/read-fields.ts'
import { countPromptTokens, countTextTokens } from '../../formats/tokens/count-tokens.ts'
import {
  checkSamplingParameters,
  checkSandboxResponseSize,
  readInteger,
  readStopSequences,
  rejectFields,
  type SandboxRequest,
} from './fields.ts'
import { generateInstance } from './generate-instance.ts'
import { readMessages } from './messages.ts'
import { createContentWriter } from './response-content.ts'
import { digestRequest, type TextLimits, truncateText } from './response-text.ts'
import { chooseToolCalls, type FunctionDefinition, type ToolCallSelection } from './tool-calls.ts'

const MAX_CHOICES = 128
/** The tokens that a call needs in addition to its name and arguments. */
const CALL_OVERHEAD_TOKENS = 3

/** A choice without its index, and its completion tokens. */
type Choice = [choice: Record<string, unknown>, tokens: number]

/** Returns a `chat.completion`. Throws a 400 for a request that OpenAI would reject. */
export function createChatCompletion(request: SandboxRequest): Record<string, unknown> {
  const model = readNonEmptyString(request.model, 'model')
  const messages = readMessages(request)
  checkSamplingParameters(request)
  rejectFields(request, ['logprobs', 'top_logprobs'])
  const count = readInteger(request, 'n', 1, MAX_CHOICES) ?? 1
  const limits: TextLimits = { stopSequences: readStopSequences(request), maxTokens: readMaxTokens(request), model }
  const digest = digestRequest('chat', request)
  const writeContent = createContentWriter(request, messages, digest)
  const calls = chooseToolCalls(request, messages)
  const write =
    calls.functions.length > 0
      ? createCallWriter(calls, digest, limits, count)
      : (index: number) => createTextChoice(writeContent(index, count), limits, count)
  const choices = Array.from({ length: count }, (_, index) => write(index))
  const prompt = countPromptTokens(request, 'chat')
  const completion = choices.reduce((sum, [, tokens]) => sum + tokens, 0)
  return {
    id: `chatcmpl-sandbox${digest.slice(0, 24)}`,
    object: 'chat.completion',
    created: nowSeconds(),
    model,
    choices: choices.map(([choice], index) => ({ index, ...choice })),
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
    system_fingerprint: 'fp_sandbox',
  }
}

function readMaxTokens(request: SandboxRequest): number | undefined {
  const older = readInteger(request, 'max_tokens', 1)
  return readInteger(request, 'max_completion_tokens', 1) ?? older
}

function createTextChoice(content: string, limits: TextLimits, count: number): Choice {
  checkSandboxResponseSize(content.length, count, 'n')
  const { text, tokens, finishReason } = truncateText(content, limits)
  const message = { role: 'assistant', content: text, refusal: null }
  return [{ message, logprobs: null, finish_reason: finishReason }, tokens]
}

/**
 * Returns a function that creates a choice with calls. All choices have the same calls with different ids. The arguments match their schemas
 * unless the token limit cuts them.
 */
function createCallWriter(
  calls: ToolCallSelection,
  digest: string,
  limits: TextLimits,
  count: number,
): (index: number) => Choice {
  let used = 0
  const written = calls.functions.map(({ name, parameters, param }: FunctionDefinition) => {
    used += CALL_OVERHEAD_TOKENS + countTextTokens(name, limits.model)
    const left = limits.maxTokens === undefined ? undefined : Math.max(0, limits.maxTokens - used)
    const limited = truncateText(generateInstance(parameters, param, true), {
      ...limits,
      stopSequences: [],
      maxTokens: left,
    })
    used += limited.tokens
    return { function: { name, arguments: limited.text }, finishReason: limited.finishReason }
  })
  const chars = written.reduce((sum, call) => sum + call.function.arguments.length, 0)
  checkSandboxResponseSize(chars, count, 'n')
  const isCut = written.some(call => call.finishReason === 'length')
  const finishReason = calls.style === 'tools' ? 'tool_calls' : 'function_call'
  return index => {
    const identified = written.map((call, at) => ({
      id: `call_${sha256(`${digest} ${index} ${at}`).slice(0, 24)}`,
      type: 'function',
      function: call.function,
    }))
    const calling = calls.style === 'tools' ? { tool_calls: identified } : { function_call: written[0]?.function }
    const message = { role: 'assistant', content: null, refusal: null, ...calling }
    return [{ message, logprobs: null, finish_reason: isCut ? 'length' : finishReason }, used]
  }
}
