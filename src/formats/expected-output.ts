/** Reads the output that a request demands, from which `completeness` decides whether a response is complete. */
import { isJsonObject, type JsonObject, parseJson } from './json/canonical.ts'

export interface ExpectedOutput {
  /** Whether the request sets an output limit. A response that ends at that limit counts as complete. */
  clientSetOutputLimit: boolean
  /** The output limit in tokens, if it is known. */
  outputLimit?: number
  /** Number of choices or vectors; one by default. */
  count?: number
  /** Number of dimensions of each vector. */
  dimensions?: number
  /** The required format of the text. */
  textFormat?: 'json' | 'jsonObject'
  /** Whether the response must call a tool. */
  requiresToolCall?: boolean
}

export function readExpectedChatOutput(request: JsonObject): ExpectedOutput {
  const { max_tokens, max_completion_tokens, n, response_format, tool_choice } = request
  return {
    ...limitOf(max_completion_tokens ?? max_tokens),
    count: countOf(n),
    ...textFormatOf(response_format),
    requiresToolCall: requiresToolCall(tool_choice),
  }
}

/** A legacy completion always has a limit: the documented default is 16 tokens. Each prompt gets its own choices. */
export function readExpectedCompletionOutput({ n, prompt }: JsonObject): ExpectedOutput {
  return { clientSetOutputLimit: true, count: countOf(n) * countInputs(prompt) }
}

/** Encodings with one number for each dimension. Other encodings pack several dimensions into a number. */
const PLAIN_ENCODINGS: readonly unknown[] = [undefined, null, 'float', 'base64']

export function readExpectedEmbeddings({ input, dimensions, encoding_format }: JsonObject): ExpectedOutput {
  const expectedDimensions = PLAIN_ENCODINGS.includes(encoding_format) ? countOf(dimensions, 0) : 0
  return {
    clientSetOutputLimit: true,
    count: countInputs(input),
    ...(expectedDimensions > 0 && { dimensions: expectedDimensions }),
  }
}

export function readExpectedResponseOutput({ max_output_tokens, text, tool_choice }: JsonObject): ExpectedOutput {
  const format = isJsonObject(text) ? text.format : undefined
  return {
    ...limitOf(max_output_tokens),
    ...textFormatOf(format),
    requiresToolCall: requiresToolCall(tool_choice),
  }
}

/** Reads a request of the Messages API, which requires an output limit. */
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
    ...textFormatOf(format ?? output_format),
    requiresToolCall: requiresToolCall(tool_choice),
  }
}

function limitOf(limit: unknown): Pick<ExpectedOutput, 'clientSetOutputLimit' | 'outputLimit'> {
  return typeof limit === 'number'
    ? { clientSetOutputLimit: true, outputLimit: limit }
    : { clientSetOutputLimit: false }
}

/** A response that ends below this share of its limit was truncated by another limit: the context length, or one of the server. */
const NEAR_LIMIT_SHARE = 0.9

/** Whether a response that ended at a length limit was truncated by another limit than the client's. `outputTokens` is null if unknown. */
export function isTruncatedByProvider(
  { clientSetOutputLimit, outputLimit }: ExpectedOutput,
  outputTokens: number | null,
): boolean {
  if (!clientSetOutputLimit) return true
  return (
    outputLimit !== undefined &&
    outputTokens !== null &&
    outputTokens > 0 &&
    outputTokens < outputLimit * NEAR_LIMIT_SHARE
  )
}

/** Returns the output tokens of a whole response, which its usage has under this name; null if they are not known. */
export function readOutputTokens({ usage }: JsonObject, name: 'completion_tokens' | 'output_tokens'): number | null {
  const count = isJsonObject(usage) ? usage[name] : undefined
  return typeof count === 'number' ? count : null
}

/** Returns the number of inputs of a field that accepts a text, a list of tokens, or a list of either. */
export function countInputs(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? Math.max(1, input.length) : 1
}

/** Reads a count, which may also be text: forms have no numbers, and some providers accept text. */
function countOf(value: unknown, defaultCount = 1): number {
  const count = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
  return Number.isInteger(count) && count > 0 ? count : defaultCount
}

function textFormatOf(format: unknown): Pick<ExpectedOutput, 'textFormat'> {
  const type = isJsonObject(format) ? format.type : undefined
  if (type === 'json_object') return { textFormat: 'jsonObject' }
  return type === 'json_schema' ? { textFormat: 'json' } : {}
}

/** Whether a `tool_choice` requires a tool call, by a word or by the name of a tool. */
function requiresToolCall(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice === 'required' || choice === 'any'
  const { type, allowed_tools: allowed } = choice
  if (type === 'allowed_tools') return (isJsonObject(allowed) ? allowed.mode : choice.mode) === 'required'
  return typeof type === 'string' && type !== 'auto' && type !== 'none'
}

export function hasExpectedTextFormat(text: string, { textFormat }: ExpectedOutput): boolean {
  if (textFormat === undefined) return true
  const value = parseJson(text)
  return textFormat === 'jsonObject' ? isJsonObject(value) : value !== undefined
}

/** Whether a function's arguments are complete: valid JSON text, or an object. */
export function areCompleteArguments(given: unknown): boolean {
  return typeof given === 'string' ? parseJson(given) !== undefined : isJsonObject(given)
}
