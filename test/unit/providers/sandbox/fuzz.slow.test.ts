import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { createSandboxResponse } from '../../../../src/providers/sandbox/response.ts'

const json = fc.jsonValue({ maxDepth: 1 })
const odd = fc.constantFrom<unknown>(
  null,
  '',
  -1,
  0,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [null],
  [[]],
  [{}],
  '\ud800',
  '\0',
  true,
  '__proto__',
)
const any = fc.oneof(json, odd)

/** Objects that are mostly valid. Each field is sometimes missing or has an arbitrary value. */
const objectOf = (fields: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[] = Object.keys(fields)) => {
  const mostly: Record<string, fc.Arbitrary<unknown>> = {}
  for (const [field, value] of Object.entries(fields)) {
    mostly[field] = fc.oneof({ weight: 40, arbitrary: value }, { weight: 1, arbitrary: any })
  }
  return fc.record(mostly, { requiredKeys: requiredKeys.slice(0, -1) })
}
const listOf = (item: fc.Arbitrary<unknown>) =>
  fc.array(fc.oneof({ weight: 30, arbitrary: item }, { weight: 1, arbitrary: any }), { maxLength: 3 })

const text = fc.string({ unit: 'binary', maxLength: 20 })
const part = objectOf({
  type: fc.constantFrom('text', 'image_url', 'refusal', 'file'),
  text,
  image_url: objectOf({ url: text, detail: text }),
  refusal: text,
})
const call = objectOf({ id: text, type: fc.constant('function'), function: objectOf({ name: text, arguments: text }) })
const message = objectOf({
  role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer', 'function'),
  content: fc.oneof(text, listOf(part)),
  name: text,
  tool_call_id: text,
  tool_calls: listOf(call),
  function_call: objectOf({ name: text, arguments: text }),
})
const schema = objectOf({
  type: fc.constantFrom('object', 'array', 'string', 'integer'),
  properties: fc.dictionary(
    fc.constantFrom('a', 'b'),
    objectOf({
      type: fc.constantFrom('string', 'number'),
      minLength: fc.nat(9),
      pattern: fc.constantFrom('^a', '(', '[z-a]'),
    }),
  ),
  required: listOf(fc.constantFrom('a', 'b')),
  items: objectOf({ type: fc.constant('integer'), minimum: fc.integer(), maximum: fc.integer() }),
  minItems: fc.nat(9),
  $ref: fc.constantFrom('#', '#/properties/a', 'x'),
  enum: listOf(json),
})
const tool = objectOf({
  type: fc.constant('function'),
  function: objectOf({
    name: fc.constantFrom('f', 'g'),
    description: text,
    parameters: schema,
    strict: fc.boolean(),
  }),
})
const choice = objectOf({
  type: fc.constantFrom('function', 'allowed_tools'),
  function: objectOf({ name: fc.constantFrom('f', 'x') }),
  allowed_tools: objectOf({ mode: fc.constant('auto'), tools: listOf(tool) }),
})

const request = objectOf(
  {
    model: fc.constantFrom('gpt-4o', 'openai/gpt-4', '__proto__', 'x'),
    messages: listOf(message),
    prompt: fc.oneof(text, listOf(text), listOf(fc.nat(300_000))),
    input: fc.oneof(text, listOf(text), listOf(fc.nat(300_000)), listOf(listOf(fc.nat(300_000)))),
    tools: listOf(tool),
    tool_choice: fc.oneof(fc.constantFrom('auto', 'none', 'required'), choice),
    parallel_tool_calls: fc.boolean(),
    functions: listOf(objectOf({ name: fc.constant('f'), parameters: schema })),
    function_call: fc.oneof(fc.constantFrom('auto', 'none'), objectOf({ name: fc.constant('f') })),
    response_format: objectOf({
      type: fc.constantFrom('text', 'json_object', 'json_schema'),
      json_schema: objectOf({ name: text, schema }),
    }),
    n: fc.integer({ min: 1, max: 3 }),
    best_of: fc.integer({ min: 2, max: 4 }),
    max_tokens: fc.integer({ min: 1, max: 50 }),
    max_completion_tokens: fc.integer({ min: 1, max: 50 }),
    stop: fc.oneof(text, listOf(text)),
    logprobs: fc.oneof(fc.boolean(), fc.nat(6)),
    top_logprobs: fc.nat(21),
    echo: fc.boolean(),
    suffix: text,
    dimensions: fc.integer({ min: 1, max: 100 }),
    encoding_format: fc.constantFrom('float', 'base64'),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    seed: fc.integer(),
    stream: fc.boolean(),
  },
  ['model', 'messages', 'prompt', 'input', 'stream'],
)

const endpoint = fc.constantFrom('chat' as const, 'completions' as const, 'embeddings' as const)

test('any request gets a response or a 400 that names what is wrong', () => {
  let answered = 0
  fc.assert(
    fc.property(endpoint, request, (kind, body) => {
      try {
        const answer = createSandboxResponse(kind, body)
        const { created: _, ...same } = createSandboxResponse(kind, structuredClone(body))
        expect({ ...answer, created: undefined }).toEqual({ ...same, created: undefined })
        expect(JSON.parse(JSON.stringify(answer))).toMatchObject({
          object: expect.any(String),
          usage: { total_tokens: expect.any(Number) },
        })
        answered++
      } catch (error) {
        if (!(error instanceof ProxyError)) throw error
        expect(error.status).toBe(400)
        expect(error.message).not.toBe('')
      }
    }),
    { numRuns: 1_500 },
  )
  expect(answered).toBeGreaterThan(150)
})

test('any JSON object gets a response or is rejected', () => {
  fc.assert(
    fc.property(endpoint, fc.dictionary(fc.string(), any), (kind, body) => {
      try {
        createSandboxResponse(kind, body)
      } catch (error) {
        if (!(error instanceof ProxyError)) throw error
        expect(error.status).toBe(400)
      }
    }),
    { numRuns: 300 },
  )
})
