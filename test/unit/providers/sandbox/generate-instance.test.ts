import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { generateInstance } from '../../../../src/providers/sandbox/generate-instance.ts'
import { propertyRuns } from '../../../harness/depth.ts'
import { integer, OTHER_SCHEMAS, STRICT_SCHEMAS, text } from './schema-corpus.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false, multipleOfPrecision: 9, logger: false })

function instanceOf(schema: unknown): unknown {
  return JSON.parse(generateInstance(schema, 'here'))
}

/** Returns null if the schema is rejected. */
function tryInstanceOf(schema: unknown): { instance: unknown } | null {
  try {
    return { instance: instanceOf(schema) }
  } catch (error) {
    if (error instanceof ProxyError && error.status === 400) return null
    throw error
  }
}

/** Schemas that are rare in practice. The sandbox rejects them, with this reason, instead of returning an instance that violates them. */
const REFUSED: Record<string, string> = {
  'loose pattern and length': 'a pattern that the sandbox cannot satisfy',
  'several patterns': 'combines keywords',
  'password pattern': 'a pattern that the sandbox cannot satisfy',
  'emoji pattern': 'a pattern that the sandbox cannot satisfy',
  'two multiples': 'combines keywords',
  contains: "'contains'",
  'contains several': "'contains'",
  'one of overlapping': 'has no instance',
  'some properties': 'has no instance',
  'additional integers': 'has no instance',
  'pattern properties': "'patternProperties'",
  'property names': 'has no instance',
  'not a type': "'not'",
  'not a value': "'not'",
  'not a range': "'not'",
  'not a property': "'not'",
  'if then': "'if'",
  'if else': "'if'",
  'dependent required': "'dependentRequired'",
  'dependent schemas': "'dependentSchemas'",
  'optional dependent': "'dependentSchemas'",
  anchor: 'has a reference that the sandbox cannot resolve',
}
const SERVED = Object.entries({ ...STRICT_SCHEMAS, ...OTHER_SCHEMAS }).filter(([name]) => !(name in REFUSED))

describe('an instance satisfies its schema', () => {
  test.each(SERVED)('%s', (_, schema) => {
    const validate = ajv.compile(schema as object | boolean)
    const instance = instanceOf(schema)
    expect(validate(instance), `${JSON.stringify(instance)}: ${ajv.errorsText(validate.errors)}`).toBe(true)
    expect(instanceOf(structuredClone(schema))).toEqual(instance)
  })

  test.each(Object.entries(REFUSED))('or the schema is rejected: %s', (name, reason) => {
    expect(() => instanceOf(OTHER_SCHEMAS[name])).toThrow(reason)
  })

  test.each<[string, z.ZodType]>([
    ['email', z.email()],
    ['uuid', z.uuid()],
    ['url', z.url()],
    ['date and time', z.iso.datetime()],
    ['ipv6', z.ipv6()],
    ['record', z.record(z.string(), z.number())],
    ['record of names', z.record(z.enum(['a', 'b']), z.boolean())],
    ['discriminated union', z.discriminatedUnion('k', [z.object({ k: z.literal(1) }), z.object({ k: z.literal(2) })])],
    ['intersection', z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() }))],
    ['tuple', z.tuple([z.string(), z.int().min(3)])],
  ])('as zod writes it: %s', (_, type) => {
    const whole = z.object({ value: type })
    expect(whole.safeParse(instanceOf(z.toJSONSchema(whole))).error).toBeUndefined()
  })

  test.each([
    ['email', /^[^@\s]+@[^@\s]+\.[a-z]+$/],
    ['date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
    ['date', /^\d{4}-\d\d-\d\d$/],
    ['time', /^\d\d:\d\d:\d\dZ$/],
    ['duration', /^P\d+D$/],
    ['hostname', /^[a-z0-9.]+$/],
    ['ipv4', /^(\d{1,3}\.){3}\d{1,3}$/],
    ['ipv6', /^2001:db8::[0-9a-f]{4}$/],
    ['uri', /^https:\/\/example\.com\//],
    ['uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  ])('format %s', (format, form) => {
    const many = instanceOf({ type: 'array', items: { type: 'string', format }, minItems: 20, uniqueItems: true })
    expect(many).toHaveLength(20)
    for (const one of many as string[]) expect(one).toMatch(form)
  })

  test('a tuple of draft 7', () => {
    const tuple = instanceOf({
      type: 'array',
      items: [text, integer],
      additionalItems: { type: 'boolean' },
      minItems: 3,
    })
    expect(tuple).toEqual([expect.any(String), expect.any(Number), expect.any(Boolean)])
  })

  test('optional properties are present, and names determine the texts', () => {
    expect(instanceOf({ type: 'object', properties: { city: text, days: integer } })).toEqual({
      city: 'sandbox city',
      days: expect.any(Number),
    })
  })

  test('arguments of a function are an object, whatever else the schema allows', () => {
    expect(generateInstance({}, 'here', true)).toBe('{}')
    expect(generateInstance(true, 'here', true)).toBe('{}')
    expect(generateInstance({ type: ['string', 'object'] }, 'here', true)).toBe('{}')
    expect(() => generateInstance({ type: 'string' }, 'here', true)).toThrow("The schema in 'here' has no instance")
  })
})

describe('hostile schemas end at once', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { type: 'array', prefixItems: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }], minItems: 2 },
    ]),
  )
  test.each<[string, unknown, string]>([
    ['a reference to itself', { $ref: '#' }, 'too large'],
    ['a list of the schema itself', { type: 'array', items: { $ref: '#' }, minItems: 2 }, 'too large'],
    ['nested lists of two', { $ref: '#/$defs/d0', $defs: { ...doubling, d40: {} } }, 'too large'],
    ['a long list', { type: 'array', minItems: 1e9 }, 'too large'],
    ['a long text', { type: 'string', minLength: 1e9 }, 'too large'],
    [
      'many different items',
      { type: 'array', items: { type: 'boolean' }, minItems: 9_000, uniqueItems: true },
      'no instance',
    ],
    [
      'many combined schemas',
      {
        allOf: Array.from({ length: 5_000 }, () => ({ $ref: '#/$defs/x' })),
        $defs: { x: { required: Array.from({ length: 9_000 }, String) } },
      },
      'too large',
    ],
    ['a long schema', { enum: ['x'.repeat(300_000)] }, 'longer than'],
    ['a pattern that repeats', { type: 'string', pattern: '^((a{1000}){1000}){1000}$' }, 'pattern'],
    ['a pattern that backtracks', { type: 'string', pattern: '^(a+)+(?=b)$' }, 'pattern'],
    ['an invalid pattern', { type: 'string', pattern: '(' }, 'pattern'],
    ['the schema `false`', false, 'no instance'],
    ['a value that is not a schema', 5, 'is not a JSON Schema'],
  ])('%s', (_, schema, reason) => {
    const startedAt = performance.now()
    expect(() => instanceOf(schema)).toThrow(reason)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})

/** Schemas that have instances: each lower bound is below its upper bound. */
const { satisfiable } = fc.letrec(tie => ({
  satisfiable: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('scalar'),
    tie('array'),
    tie('object'),
    tie('either'),
  ),
  scalar: fc.oneof(
    fc.constantFrom<object>(
      { type: 'boolean' },
      { type: 'null' },
      {},
      { type: ['integer', 'null'] },
      { format: 'date', type: 'string' },
    ),
    fc
      .tuple(fc.nat(20), fc.nat(20))
      .map(([least, more]) => ({ type: 'string', minLength: least, maxLength: least + more })),
    fc
      .constantFrom('^[a-z]{2,5}$', '\\d+', '^(red|green|blue)-[0-9a-f]{6}$', '^.*@.*\\.com$', '^[^\\s]{3}')
      .map(pattern => ({ type: 'string', pattern })),
    fc.tuple(fc.integer(), fc.nat()).map(([minimum, more]) => ({ type: 'integer', minimum, maximum: minimum + more })),
    fc
      .tuple(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 1, max: 50 }))
      .map(([minimum, multipleOf]) => ({ type: 'integer', minimum, multipleOf })),
    fc
      .tuple(fc.integer(), fc.integer({ min: 1 }))
      .map(([low, more]) => ({ type: 'number', exclusiveMinimum: low, exclusiveMaximum: low + more })),
    fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 4 }).map(values => ({ enum: values })),
  ),
  array: fc
    .record({ items: tie('satisfiable'), least: fc.nat(3), more: fc.nat(2) })
    .map(({ items, least, more }) => ({ type: 'array', items, minItems: least, maxItems: least + more })),
  object: fc
    .record({
      properties: fc.dictionary(
        fc.string({ maxLength: 8 }).filter(key => key !== '__proto__'),
        tie('satisfiable'),
        { maxKeys: 4 },
      ),
      strict: fc.boolean(),
    })
    .map(({ properties, strict }) => ({
      type: 'object',
      properties,
      ...(strict ? { required: Object.keys(properties), additionalProperties: false } : {}),
    })),
  either: fc
    .tuple(fc.constantFrom('anyOf', 'allOf'), fc.array(tie('satisfiable'), { minLength: 1, maxLength: 3 }))
    .map(([keyword, schemas]) => (keyword === 'anyOf' ? { anyOf: schemas } : { allOf: [schemas[0]] })),
}))

test('nearly any satisfiable schema gets an instance', () => {
  let served = 0
  fc.assert(
    fc.property(satisfiable, schema => {
      const found = tryInstanceOf(schema)
      if (found === null) return
      served++
      expect(ajv.validate(schema as object, found.instance)).toBe(true)
    }),
  )
  expect(served).toBeGreaterThan(propertyRuns * 0.9)
})

/** Random combinations of keywords. Each keyword is well-formed, but the combination may contradict itself. */
const { wild } = fc.letrec<{ wild: unknown; keyword: [string, unknown] }>(tie => {
  const inner = tie('wild')
  const several = fc.array(inner, { minLength: 1, maxLength: 3 })
  const small = fc.integer({ min: -5, max: 9 })
  const values: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.constantFrom<unknown>('string', 'integer', 'number', 'object', 'array', 'null', ['string', 'array']),
    minimum: small,
    maximum: small,
    exclusiveMinimum: small,
    multipleOf: fc.constantFrom(2, 3, 0.5),
    minLength: fc.nat(6),
    maxLength: fc.nat(6),
    pattern: fc.constantFrom('^a+$', '^[a-c]{2}', 'b$', '^(?!ab).*$', '\\bq\\b'),
    minItems: fc.nat(3),
    maxItems: fc.nat(3),
    uniqueItems: fc.boolean(),
    items: inner,
    prefixItems: several,
    contains: inner,
    maxContains: fc.nat(2),
    properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), inner, { maxKeys: 3 }),
    required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }),
    additionalProperties: inner,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c', '.'), inner, { maxKeys: 2 }),
    propertyNames: fc.constantFrom({ maxLength: 1 }, { pattern: '^[ab]' }),
    minProperties: fc.nat(3),
    maxProperties: fc.nat(3),
    dependentRequired: fc.constantFrom({ a: ['b'] }, { b: ['d'] }),
    dependentSchemas: fc.dictionary(fc.constantFrom('a', 'b'), inner, { maxKeys: 2 }),
    enum: fc.uniqueArray(fc.constantFrom<unknown>(1, 'a', 'ab', null, 2.5, true), { minLength: 1 }),
    const: fc.constantFrom<unknown>(1, 'ab', [], { a: 1 }),
    not: inner,
    anyOf: several,
    oneOf: several,
    allOf: several,
    if: inner,
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: inner,
    else: inner,
    $ref: fc.constantFrom('#', '#/$defs/x'),
  }
  const entries = Object.entries(values).map(([keyword, value]) =>
    value.map((one): [string, unknown] => [keyword, one]),
  )
  const keywords = fc.uniqueArray(tie('keyword'), { maxLength: 3, selector: ([keyword]) => keyword })
  return {
    keyword: fc.oneof(...entries),
    wild: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom<unknown>({}, true, false, { type: 'string' }),
      keywords.map(Object.fromEntries),
    ),
  }
})

test('any schema gets an instance that satisfies it, or is rejected', () => {
  let written = 0
  fc.assert(
    fc.property(wild, fc.constantFrom<unknown>({ type: 'integer' }, { required: ['a'] }), (schema, x) => {
      const whole = typeof schema === 'object' ? { ...schema, $defs: { x } } : schema
      const found = tryInstanceOf(whole)
      if (found === null) return
      written++
      expect(judge(whole, found.instance), `${JSON.stringify(found.instance)} for ${JSON.stringify(whole)}`).toBe(true)
    }),
  )
  expect(written).toBeGreaterThan(propertyRuns / 5)
})

/**
 * Validates the instance with Ajv. Returns true where Ajv fails: on a schema that refers to itself for the same value, and on some
 * conditionals within choices.
 */
function judge(schema: unknown, instance: unknown): boolean {
  try {
    return ajv.validate(schema as object, instance)
  } catch (error) {
    if (error instanceof ReferenceError || error instanceof RangeError) return true
    throw error
  }
}
