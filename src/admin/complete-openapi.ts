/** Adds to the generated OpenAPI description what the plugin omits: bodies, descriptions, references and text rules. */

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
    // The plugin omits the body of routes that have a parser of their own.
    if (hooks?.body !== undefined) {
      const schema = rewrite(hooks.body, part => resolveTextRule(simplifyNumber(part)))
      // An empty body is an object without fields.
      const required = (hooks.body.required?.length ?? 0) > 0 || hooks.body.minProperties !== undefined
      operation.requestBody = { content: { 'application/json': { schema } }, required }
    }
    const { parameters = [] } = operation
    const kinds = kindsOf.get(`${method} ${path}`) ?? {}
    operation.parameters = parameters.map(parameter => ({
      ...parameter,
      description: describe(parameter, kinds[parameter.name]),
      schema: rewrite(parameter.schema, part => resolveTextRule(simplifyNumber(part))),
      // OpenAI's clients send at[gte]=1.
      ...(parameter.schema.type === 'object' && { style: 'deepObject', explode: true }),
    }))
    operation.responses = extractSchemas(operation.responses, components.schemas)
  }
  components.responses = extractSchemas(components.responses, components.schemas)
  return document
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

/** Describes an integer as integer alone. Elysia describes it as integer or text, but `readQuery` has already converted it. */
function simplifyNumber(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('anyOf' in value) || !Array.isArray(value.anyOf)) return value
  return value.anyOf.find(({ type }) => type === 'integer') ?? value
}

/** The pattern of text without U+0000, which PostgreSQL's text cannot hold. */
const TEXT_PATTERN = '^[^\\u0000]*$'

/** Replaces RULE_KEYWORD by the rule that it holds. Text without a rule gets TEXT_PATTERN. */
function resolveTextRule(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'string') return value
  const { [RULE_KEYWORD]: rule = {}, ...schema }: Record<string, unknown> = { ...value }
  const hasRule = ['pattern', 'enum', 'const', 'format'].some(name => name in schema || name in (rule as object))
  return { ...schema, ...(hasRule ? (rule as object) : { pattern: TEXT_PATTERN }) }
}
