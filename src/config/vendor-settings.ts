/** Settings of vendors. Vendors are rows of the database, so every variable with the name of one counts. */
import { VENDORS } from '../postgres/seeds.generated.ts'
import { normalizeBaseUrl } from './address-readers.ts'
import type { SettingsReader } from './settings-reader.ts'
import type { Environment } from './value-readers.ts'
import { apiKeyVariableOf, settingPrefixOf } from './vendors.ts'

export interface VendorSettings {
  /** The address that replaces the row's; null when it is not set. */
  baseUrl: string | null
  /** Where the key of the installation comes from, which all projects use that have none of their own; null when it is not set. */
  key: KeySource | null
}

/** A key, a file that contains it, or a command that prints it. Files and commands are read again, because tokens expire. */
export type KeySource = { value: string } | { file: string } | { command: readonly string[] }

/** The settings by what their names begin with, such as `OPENAI`. */
export type VendorSettingsByPrefix = ReadonlyMap<string, VendorSettings>

const NAME = /^([A-Z][A-Z0-9_]*)_(?:API_KEY_COMMAND|(?:API_KEY|BASE_URL)(?:_FILE)?)$/
/** An example for a vendor that has another address in each installation. */
const EXAMPLE = 'https://models.example.com/v1'
/** Settings of this form that are not a vendor's. */
const OTHERS = ['AGGREGATOR', 'EMBEDDINGS']

/**
 * Reads the settings of all vendors. An invalid value is a problem for a vendor of this release only: any other variable may belong to another
 * program.
 */
export function readVendorSettings(read: SettingsReader, environment: Environment): VendorSettingsByPrefix {
  const released = new Map(VENDORS.map(({ name, base_url }) => [settingPrefixOf(name), base_url]))
  const isSet = (name: string) => Boolean(environment[name]?.trim())
  const prefixes = new Set(
    Object.keys(environment)
      .filter(isSet)
      .flatMap(name => NAME.exec(name)?.[1] ?? []),
  )
  const settings = new Map<string, VendorSettings>()
  for (const prefix of prefixes) {
    if (OTHERS.includes(prefix)) continue
    const example = released.get(prefix)
    settings.set(prefix, {
      baseUrl: readBaseUrl(`${prefix}_BASE_URL`, example),
      key: readKeySource(`${prefix}_API_KEY`, example !== undefined),
    })
  }
  return settings

  /** `example` is undefined for a variable that may belong to another program. */
  function readBaseUrl(name: string, example: string | null | undefined): string | null {
    if (!isSet(name) && !isSet(`${name}_FILE`)) return null
    return example === undefined ? normalizeBaseUrl(environment[name] ?? '') : read.baseUrl(name, example ?? EXAMPLE)
  }

  function readKeySource(name: string, isReleased: boolean): KeySource | null {
    const command = splitCommand(environment[`${name}_COMMAND`] ?? '')
    if (command.length > 0) {
      if (isSet(name) || isSet(`${name}_FILE`))
        read.problem(`${name}_COMMAND`, `set alone, without ${name} or ${name}_FILE`, 'gcloud auth print-access-token')
      return { command }
    }
    const file = environment[`${name}_FILE`]?.trim()
    // Reports a file that cannot be read.
    if (isReleased) read.optionalText(name)
    if (file) return { file }
    const value = environment[name]?.trim()
    return value ? { value } : null
  }
}

/** Returns the variables of the keys that all projects use, of vendors of this release. Another variable may belong to another program. */
export function listKeySettings(settings: VendorSettingsByPrefix): string[] {
  return VENDORS.filter(({ name }) => settings.get(settingPrefixOf(name))?.key).map(({ name }) =>
    apiKeyVariableOf(name),
  )
}

/** Splits a command into words. No shell runs it, so that nothing in a word has another meaning; quotation marks enclose words with spaces. */
function splitCommand(text: string): string[] {
  return Array.from(
    text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )
}
