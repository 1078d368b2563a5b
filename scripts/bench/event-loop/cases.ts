/** The worst known requests, each with the upstream's response. */
import type { Case } from './case.ts'
import { DOORS } from './doors.ts'

const MIB = 1024 * 1024
const MODEL = 'openai/gpt-4o-mini'
const CHAT = '/chat/completions'
const RESPONSES = '/responses'
const MESSAGES = '/messages'
const EMBEDDINGS = '/embeddings'

const say = (content: unknown, fields: Record<string, unknown> = {}) =>
  JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }], ...fields })
const saying = (rest: string) => `${say('Hello.').slice(0, -1)},${rest}}`
const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const DATA_URL = (bytes: number) => `data:image/png;base64,${'iVBORw0KGgo='.repeat(Math.floor(bytes / 12))}`
const large = (name: string, path: string, body: () => string, more: Partial<Case> = {}): Case => ({
  name,
  path,
  body,
  ...more,
})

const BODIES: Case[] = [
  large('small', CHAT, () => say('Hello.')),
  large('31 MB of small keys', CHAT, () => saying(`"x":{${many(2_000_000, i => `"k${i}":1`).join(',')}}`)),
  large('38,000 fields, 7,500 names', CHAT, () =>
    saying(`"x":[${many(37_990, i => `{"k${i % 7_500}":1}`).join(',')}]`),
  ),
  large('1,000,000 items', CHAT, () => saying(`"x":[${'1,'.repeat(990_000)}1]`)),
  large('31 MB of nesting', CHAT, () => saying(`"x":${'['.repeat(15 * MIB)}${']'.repeat(15 * MIB)}`)),
  large('nesting of 200,000', CHAT, () => saying(`"x":${'['.repeat(200_000)}${']'.repeat(200_000)}`)),
  large('a string of 31 MB', CHAT, () => saying(`"x":"${'x'.repeat(31 * MIB)}"`)),
  large('a string of 31 MB of umlauts', CHAT, () => saying(`"x":"${'ü'.repeat(15 * MIB)}"`)),
  large('escapes of 31 MB', CHAT, () => saying(`"x":"${'\\u00fc'.repeat(5 * MIB)}"`)),
  large('a prompt of 31 MB', CHAT, () => say('word '.repeat(6 * MIB))),
  large('a prompt of 250 kB', CHAT, () => say('word '.repeat(50_000))),
  large('19,000 messages', CHAT, () =>
    JSON.stringify({ model: MODEL, messages: many(19_000, i => ({ role: 'user', content: `Message ${i}` })) }),
  ),
  large('an image of 30 MB', CHAT, () =>
    say([
      { type: 'text', text: 'What?' },
      { type: 'image_url', image_url: { url: DATA_URL(30 * MIB) } },
    ]),
  ),
  large('255 kB of small keys', CHAT, () => saying(`"x":{${many(22_000, i => `"k${i}":1`).join(',')}}`)),
  large('60 kB of small keys', CHAT, () => saying(`"x":{${many(6_000, i => `"k${i}":1`).join(',')}}`)),
  large('60 kB of nesting', CHAT, () => saying(`"x":${'['.repeat(30_000)}${']'.repeat(30_000)}`)),
  large('responses: 19,000 items', RESPONSES, () =>
    JSON.stringify({ model: MODEL, input: many(19_000, i => ({ role: 'user', content: `Message ${i}` })) }),
  ),
  large('responses: an image of 30 MB', RESPONSES, () =>
    JSON.stringify({
      model: MODEL,
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: DATA_URL(30 * MIB) }] }],
    }),
  ),
  large('responses: a prompt of 31 MB', RESPONSES, () =>
    JSON.stringify({ model: MODEL, input: 'word '.repeat(6 * MIB) }),
  ),
  large('responses: 5,000 tools', RESPONSES, () =>
    JSON.stringify({
      model: MODEL,
      input: 'Hello.',
      tools: many(5_000, i => ({
        type: 'function',
        name: `f${i}`,
        parameters: { type: 'object', properties: { a: { type: 'string' } } },
      })),
    }),
  ),
  large('messages: 19,000 turns', MESSAGES, () =>
    JSON.stringify({
      model: MODEL,
      max_tokens: 9,
      messages: many(19_000, i => ({ role: i % 2 ? 'assistant' : 'user', content: `Message ${i}` })),
    }),
  ),
  large('messages: an image of 30 MB', MESSAGES, () =>
    JSON.stringify({
      model: MODEL,
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo='.repeat((30 * MIB) / 12) },
            },
          ],
        },
      ],
    }),
  ),
  large('messages: a prompt of 31 MB', MESSAGES, () =>
    JSON.stringify({ model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'word '.repeat(6 * MIB) }] }),
  ),
  large('messages: 5,000 blocks of system', MESSAGES, () =>
    JSON.stringify({
      model: MODEL,
      max_tokens: 9,
      system: many(5_000, i => ({ type: 'text', text: `Rule ${i}` })),
      messages: [{ role: 'user', content: 'Hello.' }],
    }),
  ),
  large('messages: tokens of 31 MB', '/messages/count_tokens', () =>
    JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'word '.repeat(6 * MIB) }] }),
  ),
  large('messages: tokens of 1 MB without a space', '/messages/count_tokens', () =>
    JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'aß'.repeat(MIB / 3) }] }),
  ),
  large('responses: tokens of 31 MB', '/responses/input_tokens', () =>
    JSON.stringify({ model: MODEL, input: 'word '.repeat(6 * MIB) }),
  ),
]

const ANSWERS: Case[] = [
  large('an answer of 60 MB', CHAT, () => say('Long, please.'), {
    scenario: { kind: 'answer', contentChars: 60_000_000 },
  }),
  large('an answer of 60 MB, replayed', CHAT, () => say('Long, please.', { stream: true })),
  large('an answer of 7 MB', CHAT, () => say('Longish, please.'), {
    scenario: { kind: 'answer', contentChars: 7_000_000 },
  }),
  large('an answer of 2 MB', CHAT, () => say('Less long, please.'), {
    scenario: { kind: 'answer', contentChars: 2_000_000 },
  }),
  large('an answer of 2 MB, replayed', CHAT, () => say('Less long, please.', { stream: true })),
  large('a stream of 20 MB', CHAT, () => say('Long stream, please.', { stream: true }), {
    scenario: { kind: 'answer', contentChars: 20_000_000 },
  }),
  large('responses: an answer of 60 MB', RESPONSES, () => JSON.stringify({ model: MODEL, input: 'Long, please.' }), {
    scenario: { kind: 'answer', contentChars: 60_000_000 },
  }),
  large('responses: an answer of 60 MB, replayed', RESPONSES, () =>
    JSON.stringify({ model: MODEL, input: 'Long, please.', stream: true }),
  ),
  large(
    'messages: an answer of 60 MB',
    MESSAGES,
    () => JSON.stringify({ model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'Long, please.' }] }),
    { scenario: { kind: 'answer', contentChars: 60_000_000 } },
  ),
  large('messages: an answer of 60 MB, replayed', MESSAGES, () =>
    JSON.stringify({
      model: MODEL,
      max_tokens: 9,
      stream: true,
      messages: [{ role: 'user', content: 'Long, please.' }],
    }),
  ),
  large('embeddings: 2,048 × 3,072', EMBEDDINGS, () =>
    JSON.stringify({ model: 'openai/text-embedding-3-large', input: many(2_048, i => `Text ${i}`) }),
  ),
  large('embeddings: 2,048 × 3,072 in base64', EMBEDDINGS, () =>
    JSON.stringify({
      model: 'openai/text-embedding-3-large',
      encoding_format: 'base64',
      input: many(2_048, i => `Text b ${i}`),
    }),
  ),
  large('embeddings: 2,048 long texts', EMBEDDINGS, () =>
    JSON.stringify({
      model: 'openai/text-embedding-3-small',
      input: many(2_048, i => `Text ${i} ${'word '.repeat(400)}`),
    }),
  ),
  large('embeddings: 2,048 lists of tokens', EMBEDDINGS, () =>
    JSON.stringify({ model: 'openai/text-embedding-3-small', input: many(2_048, i => many(450, j => i + j)) }),
  ),
]

const MARKS = '\u0315\u0300\u05ae\u0301\u0316\u0334'
const PROMPTS: Case[] = [
  ['combining marks', `a${MARKS.repeat(2_660)}`],
  ['letters with marks', 'a\u0315\u0300\u05ae'.repeat(4_000)],
  ['I I I', 'I '.repeat(8_000)],
  ['brackets', `${')'.repeat(15_000)} x times 5`],
  ['opening brackets', '('.repeat(16_000)],
  ['compatibility forms', 'Ⅷ㎯ﬃ'.repeat(5_000)],
  ['numbers', '1,'.repeat(8_000)],
  ['digits', '1'.repeat(16_000)],
  ['quotes', '"'.repeat(16_000)],
  ['backticks', '`'.repeat(16_000)],
  ['minus signs', '-'.repeat(16_000)],
  ['addresses', 'https://a.b/'.repeat(1_300)],
  ['prose', 'The quick brown fox jumps over the lazy dog, and 5 times 3 is not 16. '.repeat(228)],
  ['prose of 4,000', 'The quick brown fox jumps over the lazy dog, and 5 times 3 is not 16. '.repeat(57)],
  ['negations', 'not never no '.repeat(1_200)],
  ['Chinese', '法国的首都是什么'.repeat(2_000)],
  ['Arabic', 'ما هي عاصمة فرنسا '.repeat(880)],
  ['emoji', '👩‍👩‍👧‍👦'.repeat(1_400)],
  ['line breaks', '\n'.repeat(16_000)],
  ['spaces', `a${' '.repeat(15_000)}b`],
].flatMap(([name = '', text = '']) => [
  large(`prompt: ${name}`, CHAT, () => say(`${text}${Math.floor(Math.random() * 3)}`), { key: 'test' }),
  large(`prompt of 3,900: ${name}`, CHAT, () => say(`${text.slice(0, 3_900)}${Math.floor(Math.random() * 3)}`), {
    key: 'test',
  }),
])

const wide = Object.fromEntries(many(2_000, i => [`p${i}`, { type: 'string', minLength: 500 }]))
let deep: Record<string, unknown> = { type: 'string' }
for (let i = 0; i < 14; i++) deep = { type: 'object', properties: { a: deep, b: deep }, required: ['a', 'b'] }
const SCHEMAS: Case[] = Object.entries({
  wide: { type: 'object', properties: wide, required: Object.keys(wide) },
  deep,
  'long array': { type: 'array', minItems: 100_000, items: { type: 'string', minLength: 100 } },
  backtracking: { type: 'string', pattern: '^(a+)+$', minLength: 10_000 },
  recursive: { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] },
  'many of': {
    anyOf: many(5_000, i => ({ type: 'object', properties: { [`k${i}`]: { const: i } }, required: [`k${i}`] })),
  },
}).map(([name, schema]) =>
  large(
    `schema: ${name}`,
    CHAT,
    () => say('Go.', { response_format: { type: 'json_schema', json_schema: { name: 's', schema } } }),
    { key: 'test' },
  ),
)

const form = (fill: (form: FormData) => void) => () => {
  const filled = new FormData()
  filled.set('model', 'openai/whisper-1')
  fill(filled)
  return filled
}
const TRANSCRIBE = '/audio/transcriptions'
const FORMS: Case[] = [
  {
    name: 'form: a file of 30 MB',
    path: TRANSCRIBE,
    body: form(filled => filled.set('file', new Blob([new Uint8Array(30 * MIB)]), 'a.mp3')),
  },
  {
    name: 'form: a file of 30 MB of line breaks',
    path: TRANSCRIBE,
    body: form(filled => filled.set('file', new Blob(['\r\n--'.repeat(7 * MIB)]), 'a.mp3')),
  },
  {
    name: 'form: 50,000 fields',
    path: TRANSCRIBE,
    body: form(filled => {
      for (let i = 0; i < 50_000; i++) filled.append(`f${i}`, 'x')
    }),
  },
  {
    name: 'form: a field of 30 MB',
    path: TRANSCRIBE,
    body: form(filled => filled.set('prompt', 'x'.repeat(30 * MIB))),
  },
]

export const CASES: readonly Case[] = [...BODIES, ...ANSWERS, ...PROMPTS, ...SCHEMAS, ...FORMS, ...DOORS]
