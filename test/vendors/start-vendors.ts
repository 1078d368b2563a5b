/** Starts a fake vendor for each row, and tells where the proxy finds it. */
import { baseUrlVariableOf, type Vendor } from '../../src/config/vendors.ts'
import { VENDORS } from '../../src/postgres/seeds.generated.ts'
import { DOCUMENTED_VENDORS, type DocumentedVendor } from './documented.ts'
import { documentedPath, type FakeVendor, startFakeVendor } from './fake-vendor.ts'

const ROWS: readonly Vendor[] = VENDORS

export interface DocumentedRow {
  name: string
  documented: DocumentedVendor
  row: Vendor
}

export const DOCUMENTED_ROWS: readonly DocumentedRow[] = DOCUMENTED_VENDORS.map(documented => {
  const row = ROWS.find(({ name }) => name === documented.name)
  if (!row) throw new Error(`there is no row for ${documented.name}`)
  return { documented, row, name: documented.name }
})

/** The address of a fake vendor, with the path of the row; with the documented one if each installation sets it. */
function addressAt(origin: string, { documented, row }: DocumentedRow): string {
  return `${origin}${row.base_url === null ? documentedPath(documented) : new URL(row.base_url).pathname.replace(/\/$/, '')}`
}

/** Returns the fakes by the vendors' names, and the settings of their addresses. */
export async function startFakeVendors(): Promise<{
  fakes: ReadonlyMap<string, FakeVendor>
  environment: Record<string, string>
}> {
  const started = await Promise.all(
    DOCUMENTED_ROWS.map(async each => ({ each, fake: await startFakeVendor(each.documented) })),
  )
  return {
    fakes: new Map(started.map(({ each, fake }) => [each.name, fake])),
    environment: Object.fromEntries(
      started.map(({ each, fake }) => [baseUrlVariableOf(each.name), addressAt(fake.origin, each)]),
    ),
  }
}
