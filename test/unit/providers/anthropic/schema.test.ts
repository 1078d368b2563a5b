import { describe, expect, test } from 'vitest'
import { adaptSchema } from '../../../../src/providers/anthropic/request/adapt-schema.ts'

const string = { type: 'string' }

describe('adapting a schema', () => {
  test.each([
    [
      'closes objects, including nested ones',
      { type: 'object', properties: { a: { type: 'object', properties: { b: string }, additionalProperties: true } } },
      {
        type: 'object',
        properties: { a: { type: 'object', properties: { b: string }, additionalProperties: false } },
        additionalProperties: false,
      },
    ],
    [
      'moves keywords that cannot be enforced to the description',
      { type: 'integer', minimum: 1, maximum: 5, description: 'A grade' },
      { type: 'integer', description: 'A grade\nminimum: 1; maximum: 5' },
    ],
    ['keeps formats that can be enforced', { ...string, format: 'date' }, { ...string, format: 'date' }],
    ['describes other formats', { ...string, format: 'isbn' }, { ...string, description: 'format: "isbn"' }],
    [
      'keeps minItems of 0 and 1',
      { type: 'array', items: string, minItems: 1 },
      { type: 'array', items: string, minItems: 1 },
    ],
    [
      'describes other values of minItems',
      { type: 'array', items: string, minItems: 2 },
      { type: 'array', items: string, description: 'minItems: 2' },
    ],
    ['reads oneOf as anyOf', { oneOf: [string, { type: 'null' }] }, { anyOf: [string, { type: 'null' }] }],
    [
      'keeps lists of types',
      { type: ['string', 'null'], enum: ['a', null] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'adapts definitions and references',
      {
        $ref: '#/$defs/node',
        $defs: { node: { type: 'object', properties: { n: { type: 'number', multipleOf: 2 } } } },
      },
      {
        $ref: '#/$defs/node',
        $defs: {
          node: {
            type: 'object',
            properties: { n: { type: 'number', description: 'multipleOf: 2' } },
            additionalProperties: false,
          },
        },
      },
    ],
    [
      'unwraps a single allOf',
      { allOf: [{ $ref: '#/$defs/a' }], description: 'd' },
      { $ref: '#/$defs/a', description: 'd' },
    ],
    ['omits annotations', { $schema: 'x', $id: 'y', examples: ['z'], ...string }, string],
    [
      'does not treat property names as keywords',
      { type: 'object', properties: { minimum: string, __proto__x: string } },
      { type: 'object', properties: { minimum: string, __proto__x: string }, additionalProperties: false },
    ],
  ])('%s', (_name, schema, fitted) => expect(adaptSchema(schema, 's')).toEqual(fitted))

  test.each([
    ['an object of any keys', { type: 'object' }, 's'],
    [
      'a map',
      { type: 'object', properties: { m: { type: 'object', additionalProperties: string } } },
      's.properties.m',
    ],
    ['keys by pattern', { type: 'object', properties: {}, patternProperties: { '^x': string } }, 's'],
    ['several at once', { type: 'object', properties: {}, allOf: [{}, {}] }, 's'],
    ['one inside a list', { type: 'array', items: { type: 'object' } }, 's.items'],
    ['one among options', { anyOf: [string, { type: 'object' }] }, 's.anyOf[1]'],
  ])('rejects %s, with its path', (_name, schema, param) => {
    expect(() => adaptSchema(schema, 's')).toThrow(expect.objectContaining({ status: 400, param }))
  })

  test('keeps a property named __proto__', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    const { properties } = adaptSchema(schema, 's') as { properties: object }
    expect(Object.keys(properties)).toEqual(['__proto__'])
  })
})
