/** Counts and estimates the tokens of a text, or of a request's prompt. */

import type { Endpoint } from '../endpoint.ts'
import { isJsonObject } from '../json/canonical.ts'
import { FILE_TYPES, IMAGE_TYPES } from '../known-content.ts'
import { estimateTextTokens } from './estimate-text.ts'
import { createTokenCounter, type TokenCounter } from './text-counter.ts'

/**
 * Counts a text's tokens in a model's vocabulary (`o200k_base` without a model). Exact up to 131,072 characters, a calibrated estimate beyond.
 * Words of more than 128 letters may count one token too many per 128. The first call loads the vocabulary, which blocks for about half a
 * second: the event loop calls `countTokensInWorker` instead.
 */
export function countTextTokens(text: string, model?: string): number {
  return createTokenCounter(model)(text)
}

/**
 * Counts a request's prompt tokens like the upstream: exact for texts, OpenAI's documented overheads for messages, estimates for
 * images, files and tool definitions (their JSON text). Accepts any JSON and never throws; fields of a wrong type count as nothing. Time is
 * bounded as in `countTextTokens`, for the whole request.
 */
export function countPromptTokens(request: Record<string, unknown>, endpoint: Endpoint): number {
  const model = request.model
  return countPrompt(request, endpoint, createTokenCounter(typeof model === 'string' ? model : undefined))
}

/**
 * Estimates the prompt tokens from the characters, without a vocabulary, in microseconds. Used before the real usage is known.
 * Within about a quarter of the real count for prose. For operations that are no `Endpoint`, it counts their main texts.
 */
export function estimatePromptTokens(request: Record<string, unknown>, endpoint: string): number {
  return countPrompt(request, endpoint, estimateTextTokens)
}

const CONVERSATIONS: ReadonlySet<string> = new Set(['chat', 'responses', 'messages', 'generate_content'])

function countPrompt(request: Record<string, unknown>, endpoint: string, countText: TokenCounter): number {
  if (endpoint === 'embeddings') return countInputs(request.input, countText)
  if (CONVERSATIONS.has(endpoint)) return countConversationTokens(request, countText)
  return PROMPT_FIELDS.reduce((sum, field) => sum + countInputs(request[field], countText), 0)
}

/** The fields that hold texts in legacy completions and pass-through operations. */
const PROMPT_FIELDS = ['prompt', 'suffix', 'input', 'instructions', 'query', 'documents']

/** Counts a text, a list of token ids, or a list of either. */
function countInputs(input: unknown, countText: TokenCounter): number {
  if (typeof input === 'string') return countText(input)
  if (typeof input === 'number') return 1
  return asArray(input).reduce<number>((sum, item) => sum + countItem(item, countText), 0)
}

function countItem(item: unknown, countText: TokenCounter): number {
  return Array.isArray(item)
    ? item.length
    : typeof item === 'string'
      ? countText(item)
      : Number(typeof item === 'number')
}

/** Overheads from OpenAI's cookbook: tokens around each message, item or call, for a name, and before the response. */
const ITEM_OVERHEAD_TOKENS = 3
const NAME_OVERHEAD_TOKENS = 1
const RESPONSE_PRIMING_TOKENS = 3

/** OpenAI's base price of an image is 85 tokens; full detail adds 170 for each of the four tiles of 1,024 x 1,024. */
const LOW_DETAIL_IMAGE_TOKENS = 85
const IMAGE_TOKENS = 765
/** Base64 characters per token: about ten tokens per second of speech, and about a thousand per page of a 100 kB document. */
const AUDIO_CHARS_PER_TOKEN = 2048
const FILE_CHARS_PER_TOKEN = 128

/** The fields of a conversation's request that contain the prompt, and those that contain definitions. */
const CONVERSATION_FIELDS = ['instructions', 'system', 'input', 'messages']
const DEFINITION_FIELDS = ['tools', 'functions', 'response_format', 'text', 'output_config']
/** The fields of a message, an item, a block or a part that contain text. An object in one of them is read the same way. */
const TEXT_FIELDS = new Set('role name content text refusal summary thinking arguments output title'.split(' '))

/** Counts the text of messages, items or blocks and of their calls, and estimates images, files and definitions of tools and output formats. */
function countConversationTokens(request: Record<string, unknown>, countText: TokenCounter): number {
  let tokens = RESPONSE_PRIMING_TOKENS
  for (const field of CONVERSATION_FIELDS) tokens += countPart(request[field], countText)
  for (const field of ['input', 'messages']) tokens += asArray(request[field]).length * ITEM_OVERHEAD_TOKENS
  for (const field of DEFINITION_FIELDS) {
    const definition = request[field]
    if (typeof definition === 'object' && definition !== null) tokens += countText(toJsonText(definition))
  }
  return tokens
}

function countPart(part: unknown, countText: TokenCounter): number {
  if (typeof part === 'string') return countText(part)
  if (Array.isArray(part)) return part.reduce<number>((sum, item) => sum + countPart(item, countText), 0)
  if (!isJsonObject(part)) return 0
  if (IMAGE_TYPES.has(part.type as string)) return isLowDetail(part.image_url) ? LOW_DETAIL_IMAGE_TOKENS : IMAGE_TOKENS
  if (isJsonObject(part.input_audio)) return countEncoded(part.input_audio.data, AUDIO_CHARS_PER_TOKEN)
  if (FILE_TYPES.has(part.type as string)) return countFile(isJsonObject(part.file) ? part.file : part, countText)
  let tokens = 'role' in part && typeof part.name === 'string' ? NAME_OVERHEAD_TOKENS : 0
  for (const field in part) {
    const value = part[field]
    if (TEXT_FIELDS.has(field)) tokens += countPart(value, countText)
    // A tool's input is JSON for Anthropic, and text for OpenAI.
    else if (field === 'input') tokens += countPart(isJsonObject(value) ? toJsonText(value) : value, countText)
    else if (field === 'tool_calls') for (const call of asArray(value)) tokens += countCall(call, countText)
    else if (field === 'function_call') tokens += countCall(value, countText)
  }
  return tokens
}

/** Counts a call in chat's format. */
function countCall(call: unknown, countText: TokenCounter): number {
  if (!isJsonObject(call)) return 0
  return ITEM_OVERHEAD_TOKENS + countPart(isJsonObject(call.function) ? call.function : call, countText)
}

const isLowDetail = (image: unknown) => isJsonObject(image) && image.detail === 'low'

function countFile({ source, file_data: data }: Record<string, unknown>, countText: TokenCounter): number {
  if (!isJsonObject(source)) return countEncoded(data, FILE_CHARS_PER_TOKEN)
  if (source.type !== 'base64') return countPart(source.data ?? source.content, countText)
  return countEncoded(source.data, FILE_CHARS_PER_TOKEN)
}

function countEncoded(base64: unknown, charsPerToken: number): number {
  return typeof base64 === 'string' ? Math.ceil(base64.length / charsPerToken) : 0
}

/** Returns the value if it is a list, else an empty list. */
function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the value as JSON text; '' when it is nested too deeply to be written. */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
