import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../../src/errors.ts'
import { createSchemaInstances } from '../../../../../src/providers/sandbox/schema/schema-instances.ts'
import { integer, object, text } from './schema-corpus.ts'

const PARAM = 'tools[0].function.parameters'
/** However busy the machine is. */
const { write } = createSchemaInstances(undefined, 10_000)

async function refusalOf(schema: unknown): Promise<ProxyError> {
  const outcome = await write(schema, PARAM).catch((error: unknown) => error)
  if (outcome instanceof ProxyError) return outcome
  throw new Error(`not refused: ${String(outcome).slice(0, 200)}`)
}

/** How many turns the event loop took while this went on. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  const beat = setInterval(() => turns++, 1)
  await work()
  clearInterval(beat)
  return turns
}

const nested = (depth: number, least: number) =>
  JSON.parse(`${`{"type":"array","minItems":${least},"items":`.repeat(depth)}{"type":"integer"}${'}'.repeat(depth)}`)

const doubling = (levels: number) => ({
  $ref: '#/$defs/a0',
  $defs: Object.fromEntries(
    Array.from({ length: levels + 1 }, (_, level) => {
      const inner = { $ref: `#/$defs/a${level + 1}` }
      return [`a${level}`, level === levels ? text : object({ x: inner, y: inner })]
    }),
  ),
})

describe('a hostile schema is refused in bounded time', () => {
  const required = object({ a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/a' } })
  test.each<[string, unknown]>([
    ['enormous text', { type: 'string', minLength: 1e9 }],
    ['enormous array', { type: 'array', items: text, minItems: 1e9 }],
    ['enormous unique array', { type: 'array', items: text, minItems: 1e6, uniqueItems: true }],
    ['enormous object', { type: 'object', minProperties: 1e9 }],
    ['enormous contains', { type: 'array', contains: { const: 1 }, minContains: 1e9 }],
    ['arrays that multiply', nested(15, 3)],
    ['repeated large constant', { type: 'array', items: { const: 'x'.repeat(100_000) }, minItems: 100 }],
    ['recursion without an end', { $ref: '#/$defs/a', $defs: { a: required } }],
    [
      'recursion without an end in choices',
      {
        $ref: '#/$defs/a',
        $defs: {
          a: object({ a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } }),
          b: { type: 'array', items: { $ref: '#/$defs/a' }, minItems: 1 },
        },
      },
    ],
    ['doubling without recursion', doubling(30)],
    ['deep nesting', nested(100, 1)],
    ['very deep nesting', nested(10_000, 1)],
    ['very deep composition', JSON.parse(`${'{"not":'.repeat(10_000)}{}${'}'.repeat(10_000)}`)],
    ['very deep constant', { const: JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`), not: {} }],
    ['very many choices', { allOf: Array.from({ length: 3_000 }, () => ({ anyOf: [text, integer] })), not: {} }],
    ['pattern that multiplies', { type: 'string', pattern: '(((a{1000}){1000}){1000}){1000}' }],
    ['pattern that repeats nothing', { type: 'string', pattern: '((((){1000000}){1000000}){1000000}){1000000}' }],
    ['pattern of very deep groups', { type: 'string', pattern: `${'('.repeat(2_000)}a{9999999}${')'.repeat(2_000)}` }],
    ['contradicting bounds', { type: 'integer', minimum: 5, maximum: 4 }],
    ['contradicting types', { allOf: [text, integer] }],
    ['nothing allowed', false],
    ['too few different values', { type: 'array', items: { type: 'boolean' }, minItems: 3, uniqueItems: true }],
    [
      'twelve free properties and a contradiction',
      object(
        Object.fromEntries(Array.from('abcdefghijkl', key => [key, { anyOf: [text, integer, { type: 'boolean' }] }])),
        { not: { type: 'object' } },
      ),
    ],
    ['reference elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['reference to nothing', { $ref: '#/$defs/missing' }],
    ['reference that is no URI', { $ref: '#/%E0%A4%A' }],
    ['back-reference', { type: 'string', pattern: '^(a|b)\\1$' }],
    ['invalid pattern', { type: 'string', pattern: '(' }],
    ['wrong keyword type', { type: 'string', minLength: 'five' }],
    ['unknown type', { type: 'text' }],
    ['no schema', 'string'],
  ])('%s', async (_, schema) => {
    const refusal = await refusalOf(schema)
    expect(refusal.status).toBe(400)
    expect(refusal.param).toBe(PARAM)
    expect(refusal.message).toMatch(/^The schema in 'tools\[0\]\.function\.parameters' .*\.$/)
  })

  test('data that looks like a reference is no reference', async () => {
    const data = { 'x-example': { $ref: 'https://example.com' } }
    const expression = {
      anyOf: [object({ op: { const: '+' }, left: { $ref: '#/$defs/e' }, right: { $ref: '#/$defs/e' } }), integer],
    }
    const instance = JSON.parse(await write({ ...data, $ref: '#/$defs/e', $defs: { e: expression } }, PARAM))
    expect(instance).toBeTypeOf(typeof instance === 'object' ? 'object' : 'number')
  })

  test('three hundred required properties are still served', async () => {
    const schema = object(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, text])))
    const patient = createSchemaInstances(5_000)
    expect(Object.keys(JSON.parse(await patient.write(schema, PARAM)))).toHaveLength(300)
  })
})

test('anything at all in the place of a schema gets an instance or is refused', async () => {
  const keyword = fc.constantFrom(
    'type',
    'properties',
    'required',
    'items',
    'prefixItems',
    '$ref',
    'anyOf',
    'enum',
    'pattern',
    'minLength',
    'minItems',
    'multipleOf',
    'not',
    'if',
    '$defs',
    'dependentRequired',
    'patternProperties',
    'format',
    'contains',
    'minContains',
    '__proto__',
  )
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('#', '#/x', 'object', '(', '[', ['a'], 1e6, -1),
    fc.dictionary(keyword, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.dictionary(keyword, value, { maxKeys: 4 })),
      async schema => {
        const outcome = await write(schema, PARAM).catch((error: unknown) => error)
        if (typeof outcome !== 'string') expect(outcome).toMatchObject({ status: 400, param: PARAM })
      },
    ),
    { numRuns: 150 },
  )
})

describe('the worker', () => {
  const endless = { type: 'array', items: text, minItems: 5_000_000 }

  test('is held up alone: others of the process go on, and it is replaced', async () => {
    const instances = createSchemaInstances()
    await instances.write(text, PARAM)
    const turns = await turnsDuring(async () => {
      const [held, next] = await Promise.all([
        instances.write(endless, PARAM).catch((error: unknown) => error),
        instances.write(integer, PARAM),
      ])
      expect(held).toMatchObject({ message: expect.stringMatching(/ could not be satisfied within 250 ms\.$/) })
      expect(Number(next)).toBeTypeOf('number')
    })
    // What ran here would have left room for two.
    expect(turns).toBeGreaterThan(10)
  })

  test('answers each with its own, however many ask at once', async () => {
    const constants = Array.from({ length: 50 }, (_, n) => ({ const: n }))
    const written = await Promise.all(constants.map(schema => write(schema, PARAM)))
    expect(written).toEqual(constants.map((_, n) => String(n)))
  })

  test('has room for so many, and the rest are told to come again', async () => {
    const instances = createSchemaInstances()
    const asked = Array.from({ length: 100 }, (_, n) => instances.write({ const: n }, PARAM))
    const outcomes = await Promise.allSettled(asked)
    const refused = outcomes.filter(outcome => outcome.status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(40)
    for (const { reason } of refused) expect(reason).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })

  test('gives the same text for the same schema, whichever worker it is', async () => {
    const schema = object({ age: integer, when: { type: 'string', format: 'date-time' } })
    const [one, other] = await Promise.all([write(schema, PARAM), createSchemaInstances().write(schema, PARAM)])
    expect(other).toBe(one)
  })
})
