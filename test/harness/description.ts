/** Compares responses of the admin API with its OpenAPI description. */
import Ajv, { type ValidateFunction } from 'ajv'
import { type AdminSetup, createAdmin } from '../../src/admin/admin.ts'
import { INPUT_KEYWORD } from '../../src/admin/describe-route.ts'
import { readConfig } from '../../src/config/config.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the description holds
type Json = any

export interface DescribedOperation {
  method: string
  path: string
  operation: Json
}

export interface Description {
  openapi: string
  paths: Record<string, Record<string, Json>>
  components: Json
}

let read: Promise<Description> | null = null

/** An admin API that only describes itself, so its dependencies can be empty. */
function createDescribed() {
  const setup = { config: readConfig({ PORT: '0' }), store: {}, database: {}, refusals: {}, modelRouter: {}, log: {} }
  return createAdmin(setup as unknown as AdminSetup)
}

/** Lists the routes of the admin API and the schemas that they declare. */
export function listDeclaredRoutes(): { method: string; path: string; input: { query?: Json; body?: Json } }[] {
  return createDescribed().routes.flatMap(({ method, path, hooks }) => {
    const input = hooks.detail?.[INPUT_KEYWORD]
    return input ? [{ method, path, input }] : []
  })
}

export function readDescription(): Promise<Description> {
  read ??= (async () => {
    const answer = await createDescribed().handle(new Request('http://localhost/openapi.json'))
    return (await answer.json()) as Description
  })()
  return read
}

export async function listOperations(): Promise<DescribedOperation[]> {
  const { paths } = await readDescription()
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

interface Held {
  matches: RegExp
  /** Response schemas by method. They are compiled at first use. */
  schemas: Map<string, Json>
}

let held: Promise<{ paths: Held[]; check(schema: Json): ValidateFunction }> | null = null

async function prepare() {
  const { paths, components } = await readDescription()
  const ajv = new Ajv({ strict: false, allErrors: true })
  const closed = close(components)
  const compiled = new Map<Json, ValidateFunction>()
  const list = Object.entries(paths).map(([path, operations]) => ({
    // A trailing slash addresses the same path.
    matches: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
    schemas: new Map(
      Object.entries(operations).map(([method, { responses }]) => [
        method.toUpperCase(),
        responses[200]?.content['application/json'].schema,
      ]),
    ),
  }))
  // Paths without parameters are matched first.
  list.sort((a, b) => Number(a.matches.source.includes('[')) - Number(b.matches.source.includes('[')))
  return {
    paths: list,
    check(schema: Json) {
      const known = compiled.get(schema) ?? ajv.compile({ ...close(schema), components: closed })
      compiled.set(schema, known)
      return known
    },
  }
}

const FAILURE = { $ref: '#/components/schemas/Error' }

/**
 * Forbids undocumented fields. Clients must accept further fields, but here a field that the description lacks is a defect of the
 * description.
 */
function close(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, close(part)]))
  return 'properties' in schema && !('additionalProperties' in schema)
    ? { ...parts, additionalProperties: false }
    : parts
}

/** Returns null if the response matches the description, or if the path is not part of the admin API; otherwise the difference. */
export async function findUndescribed(method: string, path: string, response: Response): Promise<string | null> {
  held ??= prepare()
  const { paths, check } = await held
  const found = paths.find(({ matches }) => matches.test(path))
  if (found === undefined && !path.startsWith('/v1/organization/')) return null
  const about = `${method} ${path} ${response.status}`
  if ([302, 304].includes(response.status) || method === 'HEAD') return null
  if (!response.headers.get('content-type')?.startsWith('application/json')) {
    return response.headers.has('content-disposition') ? null : `${about} is no JSON`
  }
  const schema = response.status === 200 ? found?.schemas.get(method) : FAILURE
  if (!schema) return `${about} is not described`
  const validate = check(schema)
  const body = await response.clone().json()
  if (validate(body)) return null
  const problems = validate.errors?.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
  return `${about} is not as described: ${problems?.join('; ')}`
}
