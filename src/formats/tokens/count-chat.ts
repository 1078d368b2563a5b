/** Counts the tokens of a chat request's prompt: messages, images, files, tool definitions. */
import { isJsonObject } from '../json/canonical.ts'
import { asList, jsonText } from './json.ts'
import type { CountText } from './text-counter.ts'

/** From OpenAI's cookbook: tokens around each message, for a name, and before the response. */
const MESSAGE_OVERHEAD_TOKENS = 3
const NAME_OVERHEAD_TOKENS = 1
const ANSWER_PRIMING_TOKENS = 3

/** OpenAI's base price of an image is 85 tokens; full detail adds 170 for each of the four tiles of 1,024 x 1,024. */
const LOW_DETAIL_IMAGE_TOKENS = 85
const IMAGE_TOKENS = 765
/** About ten tokens per second of speech, and about a thousand per page of a 100 kB document. */
const AUDIO_CHARS_PER_TOKEN = 2048
const FILE_CHARS_PER_TOKEN = 128

/** Prompt tokens of a chat request. Fields of a wrong type count as nothing. */
export function countChatTokens(request: Record<string, unknown>, countText: CountText): number {
  let tokens = ANSWER_PRIMING_TOKENS
  for (const message of asList(request.messages)) tokens += countMessage(message, countText)
  for (const field of ['tools', 'functions', 'response_format']) {
    const definition = request[field]
    if (typeof definition === 'object' && definition !== null) tokens += countText(jsonText(definition))
  }
  return tokens
}

function countMessage(message: unknown, countText: CountText): number {
  if (!isJsonObject(message)) return 0
  const count = (text: unknown) => (typeof text === 'string' ? countText(text) : 0)
  let tokens = MESSAGE_OVERHEAD_TOKENS + count(message.role) + count(message.refusal)
  if (typeof message.name === 'string') tokens += NAME_OVERHEAD_TOKENS + countText(message.name)
  tokens += countContent(message.content, countText)
  for (const call of [message.function_call, ...asList(message.tool_calls)]) tokens += countCall(call, countText)
  return tokens
}

function countCall(call: unknown, countText: CountText): number {
  if (!isJsonObject(call)) return 0
  const called = isJsonObject(call.function) ? call.function : call
  const texts = [called.name, called.arguments].filter(text => typeof text === 'string')
  return texts.reduce((sum, text) => sum + countText(text), MESSAGE_OVERHEAD_TOKENS)
}

function countContent(content: unknown, countText: CountText): number {
  if (typeof content === 'string') return countText(content)
  return asList(content).reduce<number>((sum, part) => sum + countPart(part, countText), 0)
}

function countPart(part: unknown, countText: CountText): number {
  if (typeof part === 'string') return countText(part)
  if (!isJsonObject(part)) return 0
  if (typeof part.text === 'string') return countText(part.text)
  if (typeof part.refusal === 'string') return countText(part.refusal)
  if (part.type === 'image_url') return isLowDetail(part.image_url) ? LOW_DETAIL_IMAGE_TOKENS : IMAGE_TOKENS
  const { input_audio: audio, file } = part
  if (isJsonObject(audio)) return countEncoded(audio.data, AUDIO_CHARS_PER_TOKEN)
  return isJsonObject(file) ? countEncoded(file.file_data, FILE_CHARS_PER_TOKEN) : 0
}

const isLowDetail = (image: unknown) => isJsonObject(image) && image.detail === 'low'

function countEncoded(base64: unknown, charsPerToken: number): number {
  return typeof base64 === 'string' ? Math.ceil(base64.length / charsPerToken) : 0
}
