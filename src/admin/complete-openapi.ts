/** Completes the OpenAPI description where the plugin that generates it knows less than the routes do. */

import type { AdminOperation as TableRow } from './admin-operation.ts'
import { RULE_KEYWORD } from './field-types.ts'
import type { IdPrefix } from './ids.ts'
import { PARAMETER_DESCRIPTIONS } from './parameters.ts'

interface Route {
  method: string
  path: string
  hooks?: { body?: { required?: string[]; minProperties?: number } }
}

interface Parameter {
  name: string
  description?: string | undefined
  schema: { type?: string; description?: string }
  style?: string
  explode?: boolean
}

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: unknown }>; required: boolean }
  responses: unknown
}

interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { responses: unknown; schemas: Record<string, unknown> }
}

/** Returns `document` unchanged when it is not a description. */
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
    // The plugin omits the body of routes that have a parser of their own.
    if (hooks?.body !== undefined) {
      const schema = rewrite(hooks.body, part => plainText(plainNumber(part)))
      // An empty body is an object without fields.
      const required = (hooks.body.required?.length ?? 0) > 0 || hooks.body.minProperties !== undefined
      operation.requestBody = { content: { 'application/json': { schema } }, required }
    }
    const { parameters = [] } = operation
    const kinds = kindsOf.get(`${method} ${path}`) ?? {}
    operation.parameters = parameters.map(parameter => ({
      ...parameter,
      description: describe(parameter, kinds[parameter.name]),
      schema: rewrite(parameter.schema, part => plainText(plainNumber(part))),
      // at[gte]=1, as OpenAI's clients send it.
      ...(parameter.schema.type === 'object' && { style: 'deepObject', explode: true }),
    }))
    operation.responses = refer(operation.responses, components.schemas)
  }
  components.responses = refer(components.responses, components.schemas)
  return document
}

/** An id is of what its name says: `webhook_id`. Elsewhere a parameter's own schema says more than its name. */
function describe({ name, schema }: Parameter, kind: IdPrefix | undefined): string | undefined {
  if (kind) return `Id of the ${name.replace(/_id$/, '').replaceAll('_', ' ')}, ${kind}_….`
  return schema.description ?? PARAMETER_DESCRIPTIONS[name]
}

/** `change` is called for each part before those within it. */
function rewrite<Value>(value: Value, change: (part: unknown) => unknown): Value {
  return JSON.parse(JSON.stringify(value, (_, part) => change(part)))
}

/** A schema with a name stands once, in `schemas`, and is referred to. */
function refer<Value>(value: Value, schemas: Record<string, unknown>): Value {
  return rewrite(value, part => {
    if (typeof part !== 'object' || part === null || !('$id' in part)) return part
    const { $id: name, ...schema } = part as { $id: string }
    schemas[name] ??= refer(schema, schemas)
    return { $ref: `#/components/schemas/${name}` }
  })
}

function isDescription(document: unknown): document is Description {
  return typeof document === 'object' && document !== null && 'paths' in document
}

/** Elysia describes an integer as integer or text. `readQuery` has already converted it, so only the integer is left. */
function plainNumber(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('anyOf' in value) || !Array.isArray(value.anyOf)) return value
  return value.anyOf.find(({ type }) => type === 'integer') ?? value
}

/** PostgreSQL's text cannot hold U+0000. */
const TEXT = '^[^\\u0000]*$'

/** Replaces the RULE marker by the rule it holds. Text without a rule gets the pattern that excludes U+0000. */
function plainText(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'string') return value
  const { [RULE_KEYWORD]: rule = {}, ...schema }: Record<string, unknown> = { ...value }
  const isRuled = ['pattern', 'enum', 'const', 'format'].some(name => name in schema || name in (rule as object))
  return { ...schema, ...(isRuled ? (rule as object) : { pattern: TEXT }) }
}
