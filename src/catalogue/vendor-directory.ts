/** The vendors as last read from the database, and which of them a model's name belongs to. */
import type { VendorSettings, VendorSettingsByPrefix } from '../config/vendor-settings.ts'
import { settingPrefixOf, type Vendor } from '../config/vendors.ts'
import type { Database } from '../postgres/database.ts'
import { VALID_MODEL_NAME } from './vendor-model-names.ts'

/** A row as JSON, with the defaults of columns that depend on others. */
const LIST_VENDORS = `
select to_jsonb(v) || jsonb_build_object(
    'title', coalesce(v.title, v.name),
    'shared_key_version', k.version,
    'endpoints', case v.format when 'anthropic' then '{messages}' else v.endpoints end
  ) as vendor
from model_proxy.vendors v
left join model_proxy.vendor_keys k on k.vendor = v.name
order by v.place, v.name`

/** Returns the vendors in order of preference. */
export async function listVendors(database: Pick<Database, 'call'>): Promise<Vendor[]> {
  const rows = await database.call<{ vendor: Vendor }>(LIST_VENDORS, [])
  return rows.map(({ vendor }) => vendor)
}

/** The vendors at one time. A vendor that has not changed is the same object in the next directory. */
export class VendorDirectory {
  /** In order of preference, which matters when two have a native model of the same name. */
  readonly list: readonly Vendor[]
  readonly names: readonly string[]
  readonly #byName: ReadonlyMap<string, Vendor>
  /** Patterns of native names. */
  readonly #patterns: readonly (readonly [name: string, pattern: RegExp])[]

  constructor(vendors: readonly Vendor[]) {
    this.list = vendors
    this.names = vendors.map(({ name }) => name)
    this.#byName = new Map(vendors.map(vendor => [vendor.name, vendor]))
    this.#patterns = vendors.flatMap(({ name, model_names }) => {
      const pattern = compilePattern(model_names)
      return pattern === null ? [] : [[name, pattern] as const]
    })
  }

  find(name: string): Vendor | undefined {
    return this.#byName.get(name)
  }

  /** Returns the vendor whose name is before the first slash of a model's name. */
  findByPrefix(model: string): Vendor | undefined {
    const end = model.indexOf('/')
    return end <= 0 ? undefined : this.#byName.get(model.slice(0, end))
  }

  /** Returns the vendors whose native names look like this one, in order of preference; none when another vendor stands in front. */
  matchNames(model: string): string[] {
    if (VALID_MODEL_NAME.test(model))
      return this.#patterns.flatMap(([name, pattern]) => (pattern.test(model) ? [name] : []))
    const vendor = this.findByPrefix(model)
    return vendor?.prefixes_models && /^[\w.-]+$/.test(model.slice(vendor.name.length + 1)) ? [vendor.name] : []
  }

  /**
   * Returns whether a name without its vendor looks like the vendor's own: not a variant of an aggregator's (`:free`), nor of a vendor that puts
   * its name in front of some models itself. It may be any name of a vendor that only `<vendor>/<name>` can mean.
   */
  isNativeName(vendor: string, name: string): boolean {
    const { model_names = null, makes_models, prefixes_models } = this.find(vendor) ?? {}
    if (model_names === null || !(makes_models || prefixes_models)) return true
    if (prefixes_models) return false
    return this.matchNames(name).includes(vendor) && (!name.includes(':') || name.startsWith('ft:'))
  }
}

/** Returns the compiled pattern; null for none, and for one that only PostgreSQL accepts: it matches nothing. */
export function compilePattern(pattern: string | null): RegExp | null {
  try {
    return pattern === null ? null : new RegExp(pattern)
  } catch {
    return null
  }
}

/** The settings of an installation that concern vendors. */
export interface InstallationVendors {
  settings: VendorSettingsByPrefix
  /** Whether the servers of this release that need no key are reachable at their usual addresses, which nobody has set. */
  servesLocalDefaults?: boolean
}

function applySettings(row: Vendor, settings: VendorSettings | undefined, servesLocalDefaults: boolean): Vendor {
  const isSet = settings?.baseUrl != null
  const vendor = { ...row, ...(isSet && { base_url: settings.baseUrl, source: 'operator' as const }) }
  const isKeyless = row.key_location === 'none'
  const hasKey = settings?.key != null || row.shared_key_version != null
  // A released address on this machine may belong to another program, which no client should reach unless the operator says so.
  const isReachable = isKeyless && (vendor.source === 'operator' || servesLocalDefaults)
  if (!hasKey) return isReachable ? { ...vendor, shared_access: 'keyless' } : vendor
  // Such a server may be started with a key, which it then requires.
  const key_location = isKeyless ? null : row.key_location
  return { ...vendor, key_location, shared_access: settings?.key ? 'setting' : 'stored' }
}

/** Returns the directory of these rows under these settings; the former one when nothing has changed. */
export function updateVendors(
  former: VendorDirectory | null,
  rows: readonly Vendor[],
  { settings, servesLocalDefaults = false }: InstallationVendors,
): VendorDirectory {
  const vendors = rows.map(row => {
    const vendor = applySettings(row, settings.get(settingPrefixOf(row.name)), servesLocalDefaults)
    const known = former?.find(row.name)
    return known !== undefined && Bun.deepEquals(known, vendor) ? known : vendor
  })
  const isSame = former?.list.length === vendors.length && vendors.every((vendor, at) => vendor === former.list[at])
  return isSame ? former : new VendorDirectory(vendors)
}
