/** Schemas as clients send them and as the standard allows them. Each has an instance. */

export const object = (properties: Record<string, unknown>, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
export const text = { type: 'string' }
export const integer = { type: 'integer' }

const NODE = object({ value: { type: 'number' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } })
const LIST = object({ value: integer, next: { anyOf: [{ $ref: '#/$defs/list' }, { type: 'null' }] } })

export const STRICT_SCHEMAS: Record<string, unknown> = {
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

export const OTHER_SCHEMAS: Record<string, unknown> = {
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
