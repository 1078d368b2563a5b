/** What a request asks for, as far as it decides whether an answer is whole. Each operation has its own names for it. */
import { isJsonObject, type JsonObject, parseJson } from './json/canonical.ts'

export interface ExpectedOutput {
  /** The request set an output limit: an answer that is cut there is what the client asked for. */
  clientSetOutputLimit: boolean
  /** The limit in tokens, where it is known. */
  outputLimit?: number
  /** Choices, or vectors: one where it is not set. */
  count?: number
  /** Numbers of each vector. */
  dimensions?: number
  /** What the text is to be. */
  textFormat?: 'json' | 'jsonObject'
  /** Some tool is to be called. */
  requiresToolCall?: boolean
}

export function readExpectedChatOutput(request: JsonObject): ExpectedOutput {
  const { max_tokens, max_completion_tokens, n, response_format, tool_choice } = request
  return {
    ...limitOf(max_completion_tokens ?? max_tokens),
    count: countOf(n),
    ...textOf(response_format),
    requiresToolCall: mustCall(tool_choice),
  }
}

/** A legacy completion always has a limit: the documented default is 16 tokens. Each prompt gets its own choices. */
export function readExpectedCompletionOutput({ n, prompt }: JsonObject): ExpectedOutput {
  return { clientSetOutputLimit: true, count: countOf(n) * countInputs(prompt) }
}

/** Other encodings than these pack several dimensions in a number. */
const PLAIN_ENCODINGS: readonly unknown[] = [undefined, null, 'float', 'base64']

export function readExpectedEmbeddings({ input, dimensions, encoding_format }: JsonObject): ExpectedOutput {
  const wanted = PLAIN_ENCODINGS.includes(encoding_format) ? countOf(dimensions, 0) : 0
  return { clientSetOutputLimit: true, count: countInputs(input), ...(wanted > 0 && { dimensions: wanted }) }
}

export function readExpectedResponseOutput({ max_output_tokens, text, tool_choice }: JsonObject): ExpectedOutput {
  const format = isJsonObject(text) ? text.format : undefined
  return {
    ...limitOf(max_output_tokens),
    ...textOf(format),
    requiresToolCall: mustCall(tool_choice),
  }
}

/** The Messages API requires a limit. */
export function readExpectedMessageOutput({
  max_tokens,
  output_config,
  output_format,
  tool_choice,
}: JsonObject): ExpectedOutput {
  const format = isJsonObject(output_config) ? output_config.format : undefined
  return {
    ...limitOf(max_tokens),
    clientSetOutputLimit: true,
    ...textOf(format ?? output_format),
    requiresToolCall: mustCall(tool_choice),
  }
}

function limitOf(limit: unknown): Pick<ExpectedOutput, 'clientSetOutputLimit' | 'outputLimit'> {
  return typeof limit === 'number'
    ? { clientSetOutputLimit: true, outputLimit: limit }
    : { clientSetOutputLimit: false }
}

/** Below this share of its limit, a response was cut by something else: a full context, or a limit of the server's own. */
const AT_LIMIT_SHARE = 0.9

/** Whether a response that ended at a length limit was cut by another limit than the client's. `outputTokens` null: not known. */
export function isTruncatedByProvider(
  { clientSetOutputLimit, outputLimit }: ExpectedOutput,
  outputTokens: number | null,
): boolean {
  if (!clientSetOutputLimit) return true
  return (
    outputLimit !== undefined &&
    outputTokens !== null &&
    outputTokens > 0 &&
    outputTokens < outputLimit * AT_LIMIT_SHARE
  )
}

/** Inputs of a request that takes one or a list: a text, tokens, or several of either. */
export function countInputs(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? Math.max(1, input.length) : 1
}

/** A form, and a lenient provider, have numbers as text. */
function countOf(value: unknown, usual = 1): number {
  const count = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
  return Number.isInteger(count) && count > 0 ? count : usual
}

function textOf(format: unknown): Pick<ExpectedOutput, 'textFormat'> {
  const type = isJsonObject(format) ? format.type : undefined
  if (type === 'json_object') return { textFormat: 'jsonObject' }
  return type === 'json_schema' ? { textFormat: 'json' } : {}
}

/** In words, or by the name of a tool. */
function mustCall(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice === 'required' || choice === 'any'
  const { type, allowed_tools: allowed } = choice
  if (type === 'allowed_tools') return (isJsonObject(allowed) ? allowed.mode : choice.mode) === 'required'
  return typeof type === 'string' && type !== 'auto' && type !== 'none'
}

export function hasExpectedTextFormat(text: string, { textFormat: wanted }: ExpectedOutput): boolean {
  if (wanted === undefined) return true
  const value = parseJson(text)
  return wanted === 'jsonObject' ? isJsonObject(value) : value !== undefined
}

/** Whether a function's arguments are whole: as JSON, or parsed already. Cut ones are no JSON. */
export function areCompleteArguments(given: unknown): boolean {
  return typeof given === 'string' ? parseJson(given) !== undefined : isJsonObject(given)
}
