/** Requests at and beyond the limits of JSON and Unicode: rejected, or answered like any other. */
import { chat, type HostileRequest, MARKER, MODEL, nest, write } from './hostile-request.ts'

const MESSAGES = `"messages":[{"role":"user","content":"${MARKER}"}]`
/** The longest text that is read as a prompt. Longer texts have exact matches only. */
const LONGEST = 16_000

const EMBEDDER = 'openai/text-embedding-3-small'

const asJson = (body: string | object): string => (typeof body === 'string' ? body : JSON.stringify(body))
const asStreamed = (body: string | object): string => `${asJson(body).slice(0, -1)},"stream":true}`
const text = (content: unknown): object => chat({ messages: [{ role: 'user', content }] })
const plus = (fields: string): string => `{"model":"${MODEL}",${MESSAGES},${fields}}`
const fill = (pattern: string): string => pattern.repeat(Math.ceil(LONGEST / pattern.length)).slice(0, LONGEST)

const TOO_DEEP: Record<string, string> = {
  'brackets that nothing closes': nest(10_000, '[', '', MARKER),
  'braces that nothing closes': nest(30_000, '{"a":', '', `"${MARKER}"`),
  'brackets around nothing': nest(10_000, '[', ']', `"${MARKER}"`),
  'an unknown field': plus(`"deep":${nest(10_000, '[', ']')}`),
  'an unknown field of objects': plus(`"deep":${nest(10_000, '{"a":', '}')}`),
  content: `{"model":"${MODEL}","messages":[{"role":"user","content":${nest(10_000, '[', ']', `"${MARKER}"`)}}]}`,
  tools: plus(`"tools":[${nest(10_000, '{"a":', '}')}]`),
  response_format: plus(`"response_format":${nest(10_000, '{"schema":', '}')}`),
  'a schema': plus(
    `"tools":[{"type":"function","function":{"name":"f","parameters":${nest(10_000, '{"type":"array","items":', '}', '{}')}}}]`,
  ),
  __proto__: plus(`"__proto__":${nest(10_000, '{"__proto__":', '}')}`),
  metadata: plus(`"metadata":${nest(10_000, '{"a":', '}')}`),
  user: plus(`"user":${nest(10_000, '[', ']')}`),
  stream_options: plus(`"stream":true,"stream_options":${nest(10_000, '{"include_usage":', '}')}`),
}

const BAD_MODELS: Record<string, string> = {
  'a NUL': 'openai/gpt\0',
  'a line break': 'openai/gpt\r\nX-Injected: yes',
  'an escape sequence': '\u001b[31mopenai/gpt',
  'a C1 control': 'openai/gpt\u009b',
  'a lone surrogate': 'openai/gpt\ud800',
  '257 letters': `openai/${'m'.repeat(250)}`,
  'a megabyte': 'm'.repeat(1_000_000),
}

const UNKNOWN_MODELS: Record<string, string> = {
  'no vendor': 'no-such-model',
  'a slash alone': '/',
  'no name': 'openai/',
  'a vendor of spaces': '   /gpt',
  spaces: 'openai / gpt',
  'quotes and braces': '"}],"model":"x',
  'a script': '<script>',
  'a path upwards': '..',
  __proto__: '__proto__',
  constructor: 'constructor',
  SQL: "'; drop table projects; --",
  'right-to-left marks': '\u202egpt',
  '100 emoji': '🦊'.repeat(100),
}

/** Unusual but valid, so not rejected. */
const ANSWERED: Record<string, string | object> = {
  'a NUL in the prompt': text(`${MARKER}\0${MARKER}`),
  'NULs alone in the prompt': text('\0\0\0'),
  'a lone high surrogate': text(`${MARKER}\ud83d`),
  'a lone low surrogate': text(`\udd8a${MARKER}`),
  'lone surrogates, many of them': text('\ud800'.repeat(20_000)),
  'a lone surrogate as a key': `{"model":"${MODEL}",${MESSAGES},"\\ud800":1}`,
  'an empty prompt': text(''),
  'no content': chat({ messages: [{ role: 'assistant', content: null, refusal: MARKER }] }),
  'parts without text': text([{ type: 'image_url', image_url: { url: `data:image/png;base64,${MARKER}` } }]),
  'all ASCII controls': text(Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join(MARKER)),
  'line separators': text(`${MARKER}\u2028\u2029\u0085`),
  'a byte order mark before the body': `\uFEFF${JSON.stringify(text(MARKER))}`,
  'a byte order mark in the prompt': text(`\uFEFF${MARKER}`),
  noncharacters: text(`\uFFFE\uFFFF${MARKER}`),
  'combining marks by the thousand': text(`e${'\u0301'.repeat(10_000)}`),
  'a million letters': text(MARKER.repeat(30_000)),
  'a million spaces': text(' '.repeat(1_000_000)),
  '5,000 messages': chat({ messages: Array.from({ length: 5_000 }, () => ({ role: 'user', content: MARKER })) }),
  '7,000 unknown fields': chat(Object.fromEntries(Array.from({ length: 7_000 }, (_, i) => [`field${i}`, i]))),
  'nesting of 100': plus(`"deep":${nest(100, '[', ']')}`),
  'an own __proto__': plus(`"__proto__":{"model":"polluted","stream":"polluted","isAdmin":true}`),
  'an own constructor': plus(`"constructor":{"prototype":{"polluted":true}}`),
  'a message with __proto__': `{"model":"${MODEL}","messages":[{"role":"user","content":"${MARKER}","__proto__":{"role":5}}]}`,
  'an own toString': plus(`"toString":null,"valueOf":1,"hasOwnProperty":false`),
  'an own then': plus(`"then":"${MARKER}"`),
  'a number beyond a double': plus(`"x_number":1e400`),
  'a number of 5,000 digits': plus(`"x_number":${'9'.repeat(5_000)}`),
  'a number below a double': plus(`"x_number":1e-400`),
  'an exponent of 5,000 digits': plus(`"x_number":1e${'9'.repeat(5_000)}`),
  'minus zero': plus(`"x_number":-0`),
}

const OTHER_ENDPOINTS: Record<string, { path: string; body: string | object }> = {
  'a legacy prompt of NULs': { path: '/v1/completions', body: { model: MODEL, prompt: `${MARKER}\0\0` } },
  'a legacy prompt of half a surrogate pair': { path: '/v1/completions', body: { model: MODEL, prompt: '\ud800' } },
  'an empty legacy prompt': { path: '/v1/completions', body: { model: MODEL, prompt: '' } },
  '2,000 legacy prompts': { path: '/v1/completions', body: { model: MODEL, prompt: Array(2_000).fill(MARKER) } },
  'token numbers as a legacy prompt': { path: '/v1/completions', body: { model: MODEL, prompt: [1, 2, 3, 50_000] } },
  'an input of NULs': { path: '/v1/embeddings', body: { model: EMBEDDER, input: `${MARKER}\0` } },
  'an input of half a surrogate pair': { path: '/v1/embeddings', body: { model: EMBEDDER, input: ['\udc00', MARKER] } },
  '2,000 inputs': { path: '/v1/embeddings', body: { model: EMBEDDER, input: Array(2_000).fill('x'), dimensions: 2 } },
  'a stream of embeddings': { path: '/v1/embeddings', body: { model: EMBEDDER, input: MARKER, stream: true } },
  'a chat to embeddings, with an input': { path: '/v1/embeddings', body: chat({ model: EMBEDDER, input: MARKER }) },
}

/** The longest texts that are matched by similarity, written to make a careless pattern backtrack. */
const SLOW_PATTERNS: Record<string, string> = {
  letters: 'a',
  spaces: ' ',
  'spaces and a letter': '        a',
  digits: '1',
  'digits and commas': '1,',
  'digits and dots': '1.',
  operators: '1 times ',
  parentheses: '(',
  brackets: '[]',
  'double quotes': '"',
  'single quotes': "'",
  backticks: '`',
  'code fences': '```',
  slashes: '/',
  'half addresses': 'http://',
  'at signs': 'a@',
  dots: '.',
  hyphens: 'a-',
  underscores: '_a',
  fillers: 'please ',
  courtesies: 'could you please ',
  negations: 'not ',
  contractions: "what's ",
  capitals: 'Aa ',
  'mixed case': 'aA',
  backslashes: '\\',
  'question marks': '?',
  'line breaks': '\n',
  accents: 'é',
  ideographs: '漢',
  emoji: '🦊',
  'zero-width joiners': '👩\u200d',
  'no-break spaces': '\u00a0',
}

const each = <T>(values: Record<string, T>, make: (value: T, name: string) => HostileRequest): HostileRequest[] =>
  Object.entries(values).map(([name, value]) => make(value, name))

export const EXTREME_VALUES: HostileRequest[] = [
  ...each(TOO_DEEP, (body, name) => ({
    name: `10,000 deep: ${name}`,
    send: write({ body }),
    statuses: [400],
    error: { message: 'The request is nested more than 128 levels deep.' },
  })),
  ...each(BAD_MODELS, (model, name) => ({
    name: `a model with ${name}`,
    send: write({ body: chat({ model }) }),
    statuses: [400],
    error: { message: 'model must be 1 to 256 printable characters.', param: 'model' },
  })),
  ...each(UNKNOWN_MODELS, (model, name) => ({
    name: `an unknown model: ${name}`,
    send: write({ body: chat({ model }) }),
    statuses: [404],
    error: { code: 'model_not_found', param: 'model' },
  })),
  ...each(ANSWERED, (body, name) => ({ name: `answered: ${name}`, send: write({ body }), statuses: [200] })),
  ...each(ANSWERED, (body, name) => ({
    name: `answered by a stream: ${name}`,
    send: write({ body: asStreamed(body) }),
    statuses: [200],
  })),
  ...each(OTHER_ENDPOINTS, ({ path, body }, name) => ({
    name: `answered: ${name}`,
    send: write({ path, body }),
    statuses: [200],
  })),
  // A threshold of 0 also compares the prompt with every earlier one.
  ...each(SLOW_PATTERNS, (pattern, name) => ({
    name: `a long prompt of ${name}`,
    send: write({ body: text(fill(pattern)), headers: ['X-Proxy-Cache-Threshold: 0'] }),
    statuses: [200],
  })),
  ...each(SLOW_PATTERNS, (pattern, name) => ({
    name: `a long prompt of ${name} and a word`,
    send: write({ body: text(`${fill(pattern).slice(0, -8)} word`), headers: ['X-Proxy-Cache-Threshold: 0'] }),
    statuses: [200],
  })),
]
