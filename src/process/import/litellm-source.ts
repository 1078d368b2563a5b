/** Reads LiteLLM's config.yaml and its database. Nothing is written there. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import postgres from 'postgres'

export type Json = Record<string, unknown>

/** A LiteLLM config.yaml. Values are as written there: an `os.environ/NAME` is not replaced. */
export interface LiteLlmConfig {
  models: readonly { name: string; params: Json; info: Json }[]
  credentials: ReadonlyMap<string, Json>
  /** litellm_settings, router_settings and general_settings. */
  sections: Readonly<Record<'litellm_settings' | 'router_settings' | 'general_settings', Json>>
  /** The section environment_variables, whose values LiteLLM adds to its environment. */
  environment: Readonly<Record<string, string>>
  /** Names of further top-level sections that are not empty. */
  otherSections: readonly string[]
}

/** The tables that are read, without the prefix `LiteLLM_`, and the order of their rows. */
const TABLES = {
  VerificationToken: 'created_at, token',
  DeprecatedVerificationToken: 'token',
  TeamTable: 'created_at, team_id',
  TeamMembership: 'team_id, user_id',
  ModelTable: 'id',
  UserTable: 'user_id',
  BudgetTable: 'budget_id',
  OrganizationTable: 'organization_id',
  EndUserTable: 'user_id',
  TagTable: 'tag_name',
  ProjectTable: 'project_id',
  ProxyModelTable: 'model_id',
  Config: 'param_name',
} as const

/** The rows of each table, by column; empty for a table that the installed version of LiteLLM does not have. */
export type LiteLlmDatabase = Readonly<Record<keyof typeof TABLES, readonly Json[]>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** Some of LiteLLM's columns contain JSON as text. */
const decode = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
export function asObject(value: unknown): Json {
  const decoded = decode(value)
  return isObject(decoded) ? decoded : {}
}
export function asList(value: unknown): unknown[] {
  const decoded = decode(value)
  return Array.isArray(decoded) ? decoded : []
}
export const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
/** Numbers in YAML and JSON columns may be quoted. */
export function asNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** Throws an error of one line, which quotes no value, if the file cannot be read or is not a LiteLLM configuration. */
export async function readLiteLlmConfig(path: string): Promise<LiteLlmConfig> {
  const parsed = await readYaml(path)
  const models = asList(parsed.model_list).map((entry, at) => {
    const { model_name, litellm_params, model_info } = asObject(entry)
    const name = asText(model_name)
    if (name === null || asText(asObject(litellm_params).model) === null)
      throw new Error(`${path}: entry ${at + 1} of model_list must have a model_name and litellm_params.model`)
    return { name, params: asObject(litellm_params), info: asObject(model_info) }
  })
  const credentials = asList(parsed.credential_list).map(entry => {
    const { credential_name, credential_values } = asObject(entry)
    return [asText(credential_name) ?? '', asObject(credential_values)] as const
  })
  const { model_list, credential_list, litellm_settings, router_settings, general_settings, ...others } = parsed
  const { environment_variables, ...otherSections } = others
  return {
    models,
    credentials: new Map(credentials),
    sections: {
      litellm_settings: asObject(litellm_settings),
      router_settings: asObject(router_settings),
      general_settings: asObject(general_settings),
    },
    environment: Object.fromEntries(
      Object.entries(asObject(environment_variables)).map(([name, value]) => [name, String(value)]),
    ),
    otherSections: Object.keys(otherSections).filter(name => otherSections[name] !== null),
  }
}

/** Reads a file and those that it includes, relative to it. As at LiteLLM, their lists are appended, and other sections replace the file's. */
async function readYaml(path: string, including: readonly string[] = []): Promise<Json> {
  if (including.includes(path)) throw new Error(`${path} includes itself`)
  const { include, ...merged } = await readYamlFile(path, 'model_list')
  for (const name of typeof include === 'string' ? [include] : asList(include)) {
    const included = await readYaml(join(dirname(path), String(name)), [...including, path])
    for (const [section, value] of Object.entries(included)) {
      const known = merged[section]
      merged[section] = Array.isArray(known) && Array.isArray(value) ? [...known, ...value] : value
    }
  }
  return merged
}

/** Reads a file with a mapping. Throws an error of one line that quotes no value of it. */
export async function readYamlFile(path: string, section: string): Promise<Json> {
  const text = await readFile(path, 'utf8').catch(error => {
    throw new Error(`${path} cannot be read: ${error.code ?? 'unknown error'}`)
  })
  let parsed: unknown
  try {
    parsed = Bun.YAML.parse(text)
  } catch (error) {
    throw new Error(`${path} is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : 'unknown'}`)
  }
  if (!isObject(parsed)) throw new Error(`${path} must contain a mapping with ${section}`)
  return parsed
}

/** Reads all tables in one read-only transaction. Throws an error of one line that does not quote the URL. */
export async function readLiteLlmDatabase(url: string): Promise<LiteLlmDatabase> {
  const { address, schema } = parseDatabaseUrl(url)
  const sql = postgres(address, {
    max: 1,
    onnotice() {},
    fetch_types: false,
    connection: { application_name: 'model-proxy import' },
  })
  try {
    return await sql.begin('isolation level repeatable read read only', async transaction => {
      const tables: Partial<Record<keyof typeof TABLES, readonly Json[]>> = {}
      for (const [name, order] of Object.entries(TABLES)) {
        const table = `"${schema.replaceAll('"', '""')}"."LiteLLM_${name}"`
        const [found] = await transaction`select to_regclass(${table}) is not null as exists`
        const rows = found?.exists
          ? await transaction.unsafe(`select to_jsonb(t) as row from ${table} t order by ${order}`)
          : []
        tables[name as keyof typeof TABLES] = rows.map(({ row }) => row as Json)
      }
      if (tables.VerificationToken?.length === 0 && tables.TeamTable?.length === 0)
        throw new Error(`schema ${schema} has no keys and no teams; add ?schema=NAME if LiteLLM uses another schema`)
      return tables as LiteLlmDatabase
    })
  } catch (error) {
    throw new Error(`LiteLLM’s database cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await sql.end()
  }
}

/** Prisma's URLs have parameters of their own, which PostgreSQL does not accept. */
function parseDatabaseUrl(text: string): { address: string; schema: string } {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new Error('LITELLM_DATABASE_URL must be an address such as postgresql://user:password@host:5432/litellm')
  }
  const schema = url.searchParams.get('schema') ?? 'public'
  for (const name of [...url.searchParams.keys()])
    if (!/^(sslmode|sslrootcert)$/.test(name)) url.searchParams.delete(name)
  return { address: url.href, schema }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Replaces `os.environ/NAME` by the variable's value; null if it is not set here. */
export function resolveEnvironment(value: string | null, environment: Environment): string | null {
  const name = value?.match(/^os\.environ\/(.+)$/)?.[1]
  return name === undefined ? value : (environment[name] ?? null)
}

/** Replaces every text of an object; one whose variable is not set here is omitted. */
export function resolveAll(values: Json, environment: Environment): Json {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? resolveEnvironment(value, environment) : value,
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== null))
}
