/** Counts the tokens of a conversation: messages, items or blocks, with their calls, images and files, and definitions of tools and output formats. */
import { isJsonObject } from '../json/canonical.ts'
import { FILE_TYPES, IMAGE_TYPES } from '../known-content.ts'
import { asArray, toJsonText } from './json-values.ts'
import type { TokenCounter } from './text-counter.ts'

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

/** The fields of a request that contain the prompt, and those that contain definitions. */
const PROMPT_FIELDS = ['instructions', 'system', 'input', 'messages']
const DEFINITION_FIELDS = ['tools', 'functions', 'response_format', 'text', 'output_config']
/** The fields of a message, an item, a block or a part that contain text. An object in one of them is read the same way. */
const TEXT_FIELDS = new Set('role name content text refusal summary thinking arguments output title'.split(' '))

/** Counts text, and estimates everything else. Fields of a wrong type count as nothing. */
export function countConversationTokens(request: Record<string, unknown>, countText: TokenCounter): number {
  let tokens = RESPONSE_PRIMING_TOKENS
  for (const field of PROMPT_FIELDS) tokens += countPart(request[field], countText)
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
