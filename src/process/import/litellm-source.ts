/** Reads LiteLLM's config.yaml and its database. Nothing is written there. */
import { readFile } from 'node:fs/promises'
import postgres from 'postgres'

export type Json = Record<string, unknown>

/** A LiteLLM config.yaml. Values are as written there: an `os.environ/NAME` is not replaced. */
export interface LiteLlmConfig {
  models: readonly { name: string; params: Json; info: Json }[]
  credentials: ReadonlyMap<string, Json>
  /** litellm_settings, router_settings and general_settings. */
  sections: Readonly<Record<'litellm_settings' | 'router_settings' | 'general_settings', Json>>
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
export const asObject = (value: unknown): Json => (isObject(value) ? value : {})
export const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
/** Numbers in YAML and JSON columns may be quoted. */
export function asNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** Throws an error of one line, which quotes no value, if the file cannot be read or is not a LiteLLM configuration. */
export async function readLiteLlmConfig(path: string): Promise<LiteLlmConfig> {
  const text = await readFile(path, 'utf8').catch(error => {
    throw new Error(`${path} cannot be read: ${error.code ?? 'unknown error'}`)
  })
  const parsed = parseYaml(path, text)
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
  return {
    models,
    credentials: new Map(credentials),
    sections: {
      litellm_settings: asObject(litellm_settings),
      router_settings: asObject(router_settings),
      general_settings: asObject(general_settings),
    },
    otherSections: Object.keys(others).filter(name => others[name] !== null),
  }
}

function parseYaml(path: string, text: string): Json {
  let parsed: unknown
  try {
    parsed = Bun.YAML.parse(text)
  } catch (error) {
    throw new Error(`${path} is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : 'unknown'}`)
  }
  if (!isObject(parsed)) throw new Error(`${path} must contain a mapping with model_list`)
  if ('include' in parsed) throw new Error(`${path} includes other files: join them into one, and remove "include"`)
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

/** Replaces `os.environ/NAME` by the variable's value; null if it is not set here. */
export function resolveEnvironment(value: string | null, environment: Readonly<Record<string, string | undefined>>) {
  const name = value?.match(/^os\.environ\/(.+)$/)?.[1]
  return name === undefined ? value : (environment[name] ?? null)
}
