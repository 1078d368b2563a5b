/** Reads LiteLLM's config.yaml and its database. Nothing is written there. */
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { asList, asObject, asText, describeReadFailure, readPostgres, readTables, readYamlFile } from './source.ts'

/** A LiteLLM config.yaml. Values are as written there: an `os.environ/NAME` is not replaced. */
export interface LiteLlmConfig {
  models: readonly { name: string; params: JsonObject; info: JsonObject }[]
  credentials: ReadonlyMap<string, JsonObject>
  /** litellm_settings, router_settings and general_settings. */
  sections: Readonly<Record<'litellm_settings' | 'router_settings' | 'general_settings', JsonObject>>
  /** The section environment_variables, whose values LiteLLM adds to its environment. */
  environment: Readonly<Record<string, string>>
  /** Names of further top-level sections that are not empty. */
  otherSections: readonly string[]
}

export const EMPTY_CONFIG: LiteLlmConfig = {
  models: [],
  credentials: new Map(),
  sections: { litellm_settings: {}, router_settings: {}, general_settings: {} },
  environment: {},
  otherSections: [],
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
export type LiteLlmDatabase = Readonly<Record<keyof typeof TABLES, readonly JsonObject[]>>

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
async function readYaml(path: string, including: readonly string[] = []): Promise<JsonObject> {
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

/** Reads all tables in one read-only transaction. Throws an error of one line that does not quote the URL. */
export async function readLiteLlmDatabase(url: string): Promise<LiteLlmDatabase> {
  const { address, schema } = parseDatabaseUrl(url)
  const quote = (name: string) => `"${schema.replaceAll('"', '""')}"."LiteLLM_${name}"`
  try {
    return await readPostgres(address, async source => {
      const tables = await readTables(source, TABLES, quote)
      if (tables.VerificationToken.length === 0 && tables.TeamTable.length === 0)
        throw new Error(`schema ${schema} has no keys and no teams; add ?schema=NAME if LiteLLM uses another schema`)
      return tables
    })
  } catch (error) {
    throw describeReadFailure('LiteLLM', error)
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
