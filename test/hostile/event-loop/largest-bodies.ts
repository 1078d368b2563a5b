/** The largest bodies at every path that accepts one: one text for a provider, many for the sandbox, and a form's file. */
import { traitsOf } from '../../../src/providers/stored-object-collections.ts'
import { BODY_ENDPOINTS, FORM_ENDPOINTS } from '../../harness/adversarial-endpoints.ts'

export interface LargestBody {
  name: string
  /** The path after /v1. */
  path: string
  /** The project's key by default. */
  key?: 'test'
  /** Builds the body in the client's process. */
  body(): string | FormData
}

/** Slightly less than the default of MAX_BODY_BYTES, with space for the JSON around the texts. */
const BYTES = 33_000_000
const TEXTS = 1_000
const WORDS = 'some more words '

/** The fields that contain the texts, by path; `input` for all others. */
const FIELDS: Record<string, (texts: string[]) => object> = {
  '/chat/completions': writeMessages,
  '/messages': writeMessages,
  '/messages/count_tokens': writeMessages,
  '/cache/explain': writeMessages,
  '/responses': writeItems,
  '/responses/input_tokens': writeItems,
  '/completions': prompt => ({ prompt }),
  '/images/generations': ([prompt]) => ({ prompt }),
  '/messages/batches': texts => ({
    requests: texts.map((content, i) => ({
      custom_id: `${i}`,
      params: { model: 'claude-haiku-4-5', max_tokens: 9, messages: [{ role: 'user', content }] },
    })),
  }),
  '/rerank': documents => ({ query: WORDS, documents }),
}
const MODELS: Record<string, string> = {
  '/embeddings': 'openai/text-embedding-3-small',
  '/rerank': 'cohere/rerank-v3.5',
}

function writeMessages(texts: string[]): object {
  return { messages: texts.map(content => ({ role: 'user', content })), max_tokens: 9 }
}

function writeItems(texts: string[]): object {
  return { input: texts.map(content => ({ role: 'user', content })) }
}

function write(path: string, count: number): string {
  const text = WORDS.repeat(BYTES / count / WORDS.length)
  const texts = Array.from({ length: count }, (_, i) => `${i} ${text}`)
  const input = count === 1 ? texts[0] : texts
  return JSON.stringify({ model: MODELS[path] ?? 'openai/gpt-4o-mini', ...(FIELDS[path]?.(texts) ?? { input }) })
}

function fillForm(content: string): FormData {
  const form = new FormData()
  form.set('model', 'openai/whisper-1')
  form.set('purpose', 'batch')
  form.set('file', new Blob([content]), 'file.jsonl')
  form.set('image', new Blob([content.slice(0, 100)]), 'image.png')
  return form
}

function writeLines(): string {
  const text = WORDS.repeat(BYTES / TEXTS / WORDS.length - 20)
  const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: text }] }
  const line = (i: number) => JSON.stringify({ custom_id: `${i}`, method: 'POST', url: '/v1/chat/completions', body })
  return Array.from({ length: TEXTS }, (_, i) => line(i)).join('\n')
}

export const LARGEST_BODIES: readonly LargestBody[] = [
  ...BODY_ENDPOINTS.filter(path => path !== traitsOf('files').path).flatMap(path => [
    { name: `door: ${path}, one text`, path, body: () => write(path, 1) },
    { name: `door: ${path}, ${TEXTS} texts of a test key`, path, key: 'test' as const, body: () => write(path, TEXTS) },
  ]),
  ...FORM_ENDPOINTS.map(path => ({ name: `door: ${path}, a form`, path, body: () => fillForm(writeLines()) })),
]
