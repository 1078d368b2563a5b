/** Builds the simplest instance of a JSON schema, as a model with structured output does. */

import type { JsonObject } from './scenario.ts'

export function instanceOfSchema(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return {}
  const { type, properties, items, enum: choices, const: constant, anyOf } = schema as JsonObject
  if (constant !== undefined) return constant
  if (Array.isArray(choices)) return choices[0]
  if (Array.isArray(anyOf)) return instanceOfSchema(anyOf[0])
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return 'fake-provider'
    case 'number':
    case 'integer':
      return 1
    case 'boolean':
      return true
    case 'array':
      return [instanceOfSchema(items)]
    case 'null':
      return null
    default:
      return Object.fromEntries(Object.entries(properties ?? {}).map(([key, value]) => [key, instanceOfSchema(value)]))
  }
}
