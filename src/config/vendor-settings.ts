/** Settings of vendors. Vendors are rows of the database, so every variable with the name of one counts. */
import { VENDORS } from '../postgres/seeds.generated.ts'
import { normalizeBaseUrl } from './address-readers.ts'
import type { SettingsReader } from './settings-reader.ts'
import type { Environment } from './value-readers.ts'
import { settingPrefixOf } from './vendors.ts'

export interface VendorSettings {
  /** The address that replaces the row's; null when it is not set. */
  baseUrl: string | null
}

/** The settings by what their names begin with, such as `OPENAI`. */
export type VendorSettingsByPrefix = ReadonlyMap<string, VendorSettings>

const NAME = /^([A-Z][A-Z0-9_]*)_BASE_URL(?:_FILE)?$/
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
  const prefixes = new Set(Object.keys(environment).flatMap(name => NAME.exec(name)?.[1] ?? []))
  const settings = new Map<string, VendorSettings>()
  for (const prefix of prefixes) {
    if (OTHERS.includes(prefix)) continue
    const variable = `${prefix}_BASE_URL`
    const example = released.get(prefix)
    if (example !== undefined) settings.set(prefix, { baseUrl: read.baseUrl(variable, example ?? EXAMPLE) })
    else settings.set(prefix, { baseUrl: normalizeBaseUrl(environment[variable] ?? '') })
  }
  return settings
}
