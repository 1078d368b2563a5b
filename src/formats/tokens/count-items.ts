/** Counts the tokens of a prompt in items or blocks: Responses and Messages requests. */
import { isJsonObject } from '../json/canonical.ts'
import { asList, jsonText } from './json.ts'
import type { CountText } from './text-counter.ts'

/** As in chat: tokens around each item, and before the response. */
const ITEM_OVERHEAD_TOKENS = 3
const ANSWER_PRIMING_TOKENS = 3
/** OpenAI's price of an image at full detail. */
const IMAGE_TOKENS = 765
/** About a thousand tokens per page of a 100 kB document. */
const FILE_CHARS_PER_TOKEN = 128

/** The fields of a request that hold the prompt. */
const PROMPT_FIELDS = ['instructions', 'system', 'input', 'messages']
/** The fields of an item, a block or a part that hold text; an object in one of them is read the same way. */
const TEXT_FIELDS = [
  'role',
  'name',
  'content',
  'text',
  'refusal',
  'summary',
  'thinking',
  'arguments',
  'output',
  'title',
]
const DEFINITION_FIELDS = ['tools', 'text', 'output_config']

/** Counts text, and estimates everything else. Fields of a wrong type count as nothing. */
export function countItemTokens(request: Record<string, unknown>, countText: CountText): number {
  let tokens = ANSWER_PRIMING_TOKENS
  for (const field of PROMPT_FIELDS) tokens += countPart(request[field], countText)
  for (const field of ['input', 'messages']) tokens += asList(request[field]).length * ITEM_OVERHEAD_TOKENS
  for (const field of DEFINITION_FIELDS) {
    const definition = request[field]
    if (typeof definition === 'object' && definition !== null) tokens += countText(jsonText(definition))
  }
  return tokens
}

function countPart(part: unknown, countText: CountText): number {
  if (typeof part === 'string') return countText(part)
  if (Array.isArray(part)) return part.reduce<number>((sum, item) => sum + countPart(item, countText), 0)
  if (!isJsonObject(part)) return 0
  if (part.type === 'image' || part.type === 'input_image') return IMAGE_TOKENS
  if (part.type === 'document' || part.type === 'input_file') return countFile(part, countText)
  // A tool's input is JSON for Anthropic, and text for OpenAI.
  const called = typeof part.input === 'string' ? part.input : isJsonObject(part.input) ? jsonText(part.input) : ''
  return TEXT_FIELDS.reduce((sum, field) => sum + countPart(part[field], countText), countText(called))
}

function countFile({ source, file_data: data }: Record<string, unknown>, countText: CountText): number {
  if (typeof data === 'string') return Math.ceil(data.length / FILE_CHARS_PER_TOKEN)
  if (!isJsonObject(source)) return 0
  if (source.type !== 'base64') return countPart(source.data ?? source.content, countText)
  return typeof source.data === 'string' ? Math.ceil(source.data.length / FILE_CHARS_PER_TOKEN) : 0
}
