/** Adds to the generated OpenAPI description what the plugin omits: bodies, descriptions, references and text rules. */

import type { AdminOperation as TableRow } from './admin-operation.ts'
import { INPUT_KEYWORD } from './describe-route.ts'
import { RULE_KEYWORD } from './field-types.ts'
import type { IdPrefix } from './ids.ts'
import { PARAMETER_DESCRIPTIONS } from './parameters.ts'

interface Route {
  method: string
  path: string
  hooks?: { detail?: { [INPUT_KEYWORD]?: { query?: ObjectSchema; body?: ObjectSchema } } }
}

interface ObjectSchema {
  properties?: Record<string, Parameter['schema']>
  required?: string[]
  minProperties?: number
}

interface Parameter {
  name: string
  in: string
  required: boolean
  description?: string | undefined
  schema: { type?: string; pattern?: string; description?: string }
  style?: string
  explode?: boolean
}

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: unknown }>; required: boolean }
  responses: unknown
  [INPUT_KEYWORD]?: unknown
}

interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { responses: unknown; schemas: Record<string, unknown> }
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    pattern: '^[!-~]{1,255}$',
    description: 'An equal request with the same key within 24 hours makes no change, and returns the first response.',
  },
}

/** Completes the description. Returns `document` unchanged if it is not a description. */
export function completeOpenApiDocument(
  document: unknown,
  routes: readonly Route[],
  table: readonly TableRow[],
): unknown {
  if (!isDescription(document)) return document
  const kindsOf = new Map(table.map(({ method, path, idPrefixes }) => [`${method} ${path}`, idPrefixes]))
  const { components } = document
  for (const { method, path, hooks } of routes) {
    const described = path.replace(/:(\w+)/g, '{$1}')
    const operation = document.paths[described]?.[method.toLowerCase()]
    if (!operation) continue
    const { query, body } = hooks?.detail?.[INPUT_KEYWORD] ?? {}
    delete operation[INPUT_KEYWORD]
    if (body !== undefined) {
      const schema = rewrite(body, resolveTextRule)
      // An empty body is an object without fields.
      const required = (body.required?.length ?? 0) > 0 || body.minProperties !== undefined
      operation.requestBody = { content: { 'application/json': { schema } }, required }
    }
    const kinds = kindsOf.get(`${method} ${path}`)
    const headers = kinds && method === 'POST' ? [IDEMPOTENCY_KEY] : []
    operation.parameters = [...(operation.parameters ?? []), ...parametersOf(query), ...headers].map(parameter => ({
      ...parameter,
      description: describe(parameter, kinds?.[parameter.name]),
      schema: rewrite(parameter.schema, resolveTextRule),
      // OpenAI's clients send at[gte]=1.
      ...(parameter.schema.type === 'object' && { style: 'deepObject', explode: true }),
    }))
    operation.responses = extractSchemas(operation.responses, components.schemas)
  }
  components.responses = extractSchemas(components.responses, components.schemas)
  return document
}

function parametersOf({ properties = {}, required = [] }: ObjectSchema = {}): Parameter[] {
  return Object.entries(properties).map(([name, schema]) => ({
    ...{ name, in: 'query', required: required.includes(name), schema },
  }))
}

/** Describes a parameter: an id by its name, such as `webhook_id`; any other by its schema, or by its name. */
function describe({ name, schema }: Parameter, kind: IdPrefix | undefined): string | undefined {
  if (kind) return `Id of the ${name.replace(/_id$/, '').replaceAll('_', ' ')}, ${kind}_….`
  return schema.description ?? PARAMETER_DESCRIPTIONS[name]
}

/** Rewrites a value with `change`, which is called for each part before its nested parts. */
function rewrite<Value>(value: Value, change: (part: unknown) => unknown): Value {
  return JSON.parse(JSON.stringify(value, (_, part) => change(part)))
}

/** Moves named schemas to `schemas`, and replaces them by references. */
function extractSchemas<Value>(value: Value, schemas: Record<string, unknown>): Value {
  return rewrite(value, part => {
    if (typeof part !== 'object' || part === null || !('$id' in part)) return part
    const { $id: name, ...schema } = part as { $id: string }
    schemas[name] ??= extractSchemas(schema, schemas)
    return { $ref: `#/components/schemas/${name}` }
  })
}

function isDescription(document: unknown): document is Description {
  return typeof document === 'object' && document !== null && 'paths' in document
}

/** The pattern of text without U+0000, which PostgreSQL's text cannot hold. */
const TEXT_PATTERN = '^[^\\u0000]*$'

/** Replaces RULE_KEYWORD by the rule that it holds. Text without a rule gets TEXT_PATTERN. */
function resolveTextRule(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'string') return value
  const { [RULE_KEYWORD]: rule = {}, ...schema }: Record<string, unknown> = { ...value }
  const { form: _, isCheckedByOperation: __, ...keywords } = rule as Record<string, unknown>
  const hasRule = ['pattern', 'enum', 'const', 'format'].some(name => name in schema || name in keywords)
  return { ...schema, ...(hasRule ? keywords : { pattern: TEXT_PATTERN }) }
}
