/** Counts and estimates the tokens of a text, or of a request's prompt. */
import { countConversationTokens } from './count-conversation.ts'
import { estimateTextTokens } from './estimate-text.ts'
import { asArray } from './json-values.ts'
import { createTokenCounter, type TokenCounter } from './text-counter.ts'

export type Endpoint = 'chat' | 'completions' | 'embeddings' | 'responses' | 'messages' | 'generate_content'

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
