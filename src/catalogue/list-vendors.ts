/** Reads the vendors from the database. */
import type { Vendor } from '../config/vendors.ts'
import type { Database } from '../postgres/database.ts'

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
