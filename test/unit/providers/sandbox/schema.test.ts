import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors.ts'
import { writeSchemaInstance } from '../../../../src/providers/sandbox/schema-instance.ts'

// Another implementation's judgement; formats are judged below, decimal fractions as the decimals they are written as.
const ajv = new Ajv2020({ strict: false, validateFormats: false, multipleOfPrecision: 9 })

/** Wide enough for a loaded machine; a generator without bounds runs for hours or out of memory. */
const BOUND_MS = 3_000
const RUNS = 500

function instanceOf(schema: unknown): unknown {
  return JSON.parse(writeSchemaInstance(schema, 'schema'))
}

function refusalOf(schema: unknown): ProxyError {
  try {
    writeSchemaInstance(schema, 'tools[0].function.parameters')
  } catch (error) {
    if (error instanceof ProxyError) return error
    throw error
  }
  throw new Error('an instance was written')
}

const object = (properties: Record<string, unknown>, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
const text = { type: 'string' }
const integer = { type: 'integer' }

const NODE = object({ value: { type: 'number' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } })
const LIST = object({ value: integer, next: { anyOf: [{ $ref: '#/$defs/list' }, { type: 'null' }] } })

const STRICT_SCHEMAS: Record<string, unknown> = {
  'math steps': object({
    steps: { type: 'array', items: object({ explanation: text, output: text }) },
    final_answer: text,
  }),
  'research paper': object({
    title: text,
    authors: { type: 'array', items: text },
    abstract: text,
    keywords: { type: 'array', items: text },
  }),
  'recursive interface': object(
    {
      type: { type: 'string', enum: ['div', 'button', 'header', 'section', 'field', 'form'] },
      label: text,
      children: { type: 'array', items: { $ref: '#' } },
      attributes: { type: 'array', items: object({ name: text, value: text }) },
    },
    { $schema: 'https://json-schema.org/draft/2020-12/schema' },
  ),
  'linked list in definitions': object({ linked_list: { $ref: '#/$defs/list' } }, { $defs: { list: LIST } }),
  'tree in definitions': object({ root: { $ref: '#/$defs/node' } }, { $defs: { node: NODE } }),
  'root is a reference': { $ref: '#/$defs/node', $defs: { node: NODE } },
  'nullable union': object({
    unit: { type: ['string', 'null'], enum: ['F', 'C', null] },
    note: { type: ['string', 'null'] },
  }),
  'any of objects': object({
    item: { anyOf: [object({ name: text, age: integer }), object({ number: text, street: text, city: text })] },
  }),
  moderation: object({
    is_violating: { type: 'boolean' },
    category: { type: ['string', 'null'], enum: ['violence', 'sexual', 'self_harm', null] },
    explanation_if_violating: { type: ['string', 'null'] },
  }),
  'bounded numbers and arrays': object({
    score: { type: 'number', minimum: 0, maximum: 1 },
    votes: { type: 'integer', exclusiveMinimum: 10, multipleOf: 5 },
    tags: { type: 'array', items: text, minItems: 2, maxItems: 4 },
    handle: { type: 'string', pattern: '^@[a-zA-Z0-9_]+$' },
  }),
}

const OTHER_SCHEMAS: Record<string, unknown> = {
  true: true,
  empty: {},
  'exact length': { type: 'string', minLength: 5, maxLength: 5 },
  'no length': { type: 'string', maxLength: 0 },
  'long text': { type: 'string', minLength: 500 },
  pattern: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' },
  'pattern and length': { type: 'string', pattern: '^\\w+$', minLength: 20, maxLength: 20 },
  'loose pattern and length': { type: 'string', pattern: 'foo', minLength: 9 },
  'several patterns': {
    type: 'string',
    minLength: 8,
    maxLength: 12,
    allOf: [{ pattern: '^ab.*' }, { pattern: '.*yz$' }, { pattern: 'q' }],
  },
  'password pattern': { type: 'string', pattern: '^(?=.*\\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$' },
  'unicode pattern': { type: 'string', pattern: '^\\p{Script=Greek}{3}$' },
  'emoji pattern': {
    type: 'string',
    pattern: '^(?=[\\s\\S]*\\p{Extended_Pictographic})[\\p{Extended_Pictographic}\\p{Emoji_Component}]+$',
  },
  'one value': { type: 'integer', minimum: 3, maximum: 3 },
  'negative only': { type: 'integer', minimum: -50, maximum: -40 },
  multiple: { type: 'integer', multipleOf: 7, minimum: 10, maximum: 20 },
  'two multiples': { allOf: [{ multipleOf: 6 }, { multipleOf: 10 }], type: 'integer', minimum: 1 },
  'decimal multiple': { type: 'number', multipleOf: 0.01, exclusiveMinimum: 3, exclusiveMaximum: 4 },
  'open interval': { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  'large number': { type: 'number', minimum: 1e300 },
  'safe integers': { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  'unique integers': {
    type: 'array',
    items: { type: 'integer', minimum: 0, maximum: 2 },
    minItems: 3,
    uniqueItems: true,
  },
  'unique texts': { type: 'array', items: text, minItems: 50, uniqueItems: true },
  'unique members': { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3, maxItems: 3, uniqueItems: true },
  'unique objects': { type: 'array', items: object({ id: integer }), minItems: 10, uniqueItems: true },
  'unique codes': { type: 'array', items: { type: 'string', pattern: '^\\d{2}$' }, minItems: 40, uniqueItems: true },
  tuple: { type: 'array', prefixItems: [text, integer], items: false, minItems: 2 },
  'tuple and rest': { type: 'array', prefixItems: [text], items: { type: 'boolean' }, minItems: 4 },
  contains: { type: 'array', contains: { const: 5 }, items: integer, minItems: 2 },
  'contains several': { type: 'array', contains: { type: 'string' }, minContains: 2, maxContains: 2, minItems: 3 },
  'all of objects': {
    allOf: [
      object({ a: text }, { additionalProperties: true }),
      object({ b: integer }, { additionalProperties: true }),
    ],
  },
  'any of with siblings': {
    type: 'object',
    properties: { a: text, b: integer },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  'one of multiples': {
    oneOf: [
      { type: 'integer', multipleOf: 3 },
      { type: 'integer', multipleOf: 5 },
    ],
  },
  'one of overlapping': { oneOf: [{ type: 'number' }, { type: 'integer' }] },
  'tagged one of': { oneOf: [object({ kind: { const: 'a' }, x: text }), object({ kind: { const: 'b' }, y: integer })] },
  const: { const: { a: [1, 2], b: null } },
  'const null': { const: null },
  'enum of all types': { enum: [[1], { a: 1 }, 'x', null, 1.5] },
  'enum within bounds': { enum: [1, 5, 9], minimum: 6 },
  'some properties': { type: 'object', minProperties: 3 },
  'additional integers': { type: 'object', additionalProperties: integer, minProperties: 2 },
  'pattern properties': {
    type: 'object',
    patternProperties: { '^x-': { type: 'boolean' } },
    additionalProperties: false,
    minProperties: 2,
  },
  'property names': { type: 'object', propertyNames: { pattern: '^[a-z]{3}$' }, minProperties: 2 },
  'at most one property': { type: 'object', properties: { a: text, b: text }, maxProperties: 1 },
  'required and undeclared': { type: 'object', required: ['b', 'c'] },
  'not a type': { not: { type: 'string' } },
  'not a value': { type: 'string', not: { const: 'sandbox value' } },
  'not a range': { type: 'integer', not: { minimum: 0 } },
  'not a property': { type: 'object', properties: { a: text, b: text }, required: ['a'], not: { required: ['b'] } },
  'if then': {
    type: 'object',
    properties: { k: { const: 1 }, x: text },
    required: ['k'],
    if: { properties: { k: { const: 1 } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: { required: ['x'] },
    else: { required: ['y'] },
  },
  'if else': {
    type: 'object',
    properties: { k: { const: 2 }, y: text },
    required: ['k'],
    if: { properties: { k: { const: 1 } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: false,
    else: { required: ['y'] },
  },
  'dependent required': { type: 'object', required: ['a'], dependentRequired: { a: ['b'], b: ['c'] } },
  'dependent schemas': {
    type: 'object',
    properties: { a: text },
    required: ['a'],
    dependentSchemas: { a: object({ a: true, b: integer }) },
  },
  'optional dependent': { type: 'object', properties: { a: text, b: integer }, dependentSchemas: { a: false } },
  'escaped pointer': object({ card: { $ref: '#/$defs/a~1b%25' } }, { $defs: { 'a/b%': integer } }),
  anchor: { $defs: { x: { $anchor: 'here', type: 'integer' } }, $ref: '#here' },
  'old definitions': {
    $ref: '#/definitions/x',
    definitions: { x: { type: 'array', items: { type: 'boolean' }, minItems: 1 } },
  },
  'reference beside keywords': { $ref: '#/$defs/x', minimum: 5, $defs: { x: integer } },
  'property reference': object({ a: { $ref: '#/properties/b' }, b: integer }),
  'mutual recursion': {
    $ref: '#/$defs/a',
    $defs: {
      a: object({ b: { anyOf: [{ $ref: '#/$defs/b' }, { type: 'null' }] } }),
      b: object({ a: { $ref: '#/$defs/a' } }),
    },
  },
  'recursion through optional': { type: 'object', properties: { self: { $ref: '#' }, name: text }, required: ['name'] },
  'recursion that must end in the last alternative': {
    $ref: '#/$defs/expr',
    $defs: {
      expr: { anyOf: [{ $ref: '#/$defs/add' }, { $ref: '#/$defs/mul' }, { $ref: '#/$defs/neg' }, { type: 'number' }] },
      add: object({ op: { const: '+' }, left: { $ref: '#/$defs/expr' }, right: { $ref: '#/$defs/expr' } }),
      mul: object({ op: { const: '*' }, left: { $ref: '#/$defs/expr' }, right: { $ref: '#/$defs/expr' } }),
      neg: object({ op: { const: '-' }, of: { $ref: '#/$defs/expr' } }),
    },
  },
  'list of at least one of itself or a leaf': {
    $ref: '#/$defs/t',
    $defs: { t: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/t' }, minItems: 1 }, { type: 'boolean' }] } },
  },
  'no unevaluated': {
    allOf: [{ properties: { a: integer }, required: ['a'] }],
    type: 'object',
    unevaluatedProperties: false,
  },
  'properties named like methods': object({ constructor: text, toString: integer, hasOwnProperty: text }),
  'ten levels': Array.from({ length: 10 }).reduce<unknown>(inner => object({ inner }), text),
}

describe('an instance satisfies its schema', () => {
  test.each(Object.entries({ ...STRICT_SCHEMAS, ...OTHER_SCHEMAS }))('%s', (_, schema) => {
    const validate = ajv.compile(schema as object | boolean)
    const instance = instanceOf(schema)
    expect(validate(instance), `${JSON.stringify(instance)}: ${ajv.errorsText(validate.errors)}`).toBe(true)
    expect(writeSchemaInstance(structuredClone(schema), 'schema')).toBe(JSON.stringify(instance))
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
    ['uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/],
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

  test('optional properties are there, and names make the texts', () => {
    expect(instanceOf({ type: 'object', properties: { city: text, days: integer } })).toEqual({
      city: 'sandbox city',
      days: 1,
    })
  })

  test('what the author shows is preferred', () => {
    expect(instanceOf({ type: 'string', default: 'celsius' })).toBe('celsius')
    expect(instanceOf({ type: 'integer', examples: ['wrong', 42] })).toBe(42)
  })

  test('arguments of a function are an object, whatever else the schema allows', () => {
    expect(JSON.parse(writeSchemaInstance({}, 'p', true))).toEqual({})
    expect(JSON.parse(writeSchemaInstance({ type: ['string', 'object'] }, 'p', true))).toEqual({})
  })
})

/** Schemas that have instances, of bounds in the right order. */
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

test('any satisfiable schema gets an instance', () => {
  fc.assert(
    fc.property(satisfiable, schema => {
      const validate = ajv.compile(schema as object)
      expect(validate(instanceOf(schema))).toBe(true)
    }),
    { numRuns: 300 },
  )
})

/** A few keywords thrown together, each well-formed, with no care for sense. */
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

test('any schema gets an instance that satisfies it, or a 400', () => {
  let written = 0
  fc.assert(
    fc.property(wild, fc.constantFrom<unknown>({ type: 'integer' }, { required: ['a'] }), (schema, x) => {
      const whole = typeof schema === 'object' ? { ...schema, $defs: { x } } : schema
      let instance: unknown
      try {
        instance = instanceOf(whole)
      } catch (error) {
        expect(error).toBeInstanceOf(ProxyError)
        return
      }
      written++
      expect(judge(whole, instance), `${JSON.stringify(instance)} for ${JSON.stringify(whole)}`).toBe(true)
    }),
    { numRuns: RUNS },
  )
  expect(written).toBeGreaterThan(RUNS / 2)
})

/** Ajv's verdict. References to the schema itself for the same value, and some conditionals in choices, it cannot judge. */
function judge(schema: unknown, instance: unknown): boolean {
  try {
    return ajv.validate(schema as object, instance)
  } catch (error) {
    if (error instanceof ReferenceError || error instanceof RangeError) return true
    throw error
  }
}

test('anything at all in the place of a schema gets an instance or a 400', () => {
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
    fc.constantFrom('#', '#/x', 'object', '(', '[', ['a'], 1e308, -1),
    fc.dictionary(keyword, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
  )
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.dictionary(keyword, value, { maxKeys: 4 })), schema => {
      try {
        expect(writeSchemaInstance(schema, 'p')).toBeTypeOf('string')
      } catch (error) {
        expect(error).toBeInstanceOf(ProxyError)
      }
    }),
    { numRuns: 1_000 },
  )
})

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
    ['pattern that is very long', { type: 'string', pattern: 'a'.repeat(100_000) }],
    ['pattern of very deep groups', { type: 'string', pattern: `${'('.repeat(2_000)}a{9999999}${')'.repeat(2_000)}` }],
    [
      'steps that have no common multiple in range',
      { type: 'number', allOf: [{ multipleOf: 1e308 }, { multipleOf: 0.001 }], maximum: 5, minimum: 1 },
    ],
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
  ])('%s', (_, schema) => {
    const start = performance.now()
    const refusal = refusalOf(schema)
    expect(performance.now() - start).toBeLessThan(BOUND_MS)
    expect(refusal.status).toBe(400)
    expect(refusal.param).toBe('tools[0].function.parameters')
    expect(refusal.message).toMatch(/^The schema in 'tools\[0\]\.function\.parameters' .*\.$/)
  })

  test('a pattern that makes engines backtrack for hours is judged at once', () => {
    const start = performance.now()
    expect(instanceOf({ enum: [`${'a'.repeat(60)}!`, 'aa'], pattern: '^(a|aa)+(a*)*$' })).toBe('aa')
    expect(performance.now() - start).toBeLessThan(BOUND_MS)
  })

  test('data that looks like a reference is no reference', () => {
    const data = { 'x-example': { $ref: 'https://example.com' } }
    const expression = {
      anyOf: [object({ op: { const: '+' }, left: { $ref: '#/$defs/e' }, right: { $ref: '#/$defs/e' } }), integer],
    }
    expect(instanceOf({ ...data, $ref: '#/$defs/e', $defs: { e: expression } })).toEqual({ op: '+', left: 1, right: 1 })
  })

  test('five thousand required properties are still served', () => {
    const schema = object(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, text])))
    expect(Object.keys(instanceOf(schema) as object)).toHaveLength(5_000)
  })
})
