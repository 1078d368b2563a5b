/** The vendors that projects reach with keys of their own: the rows of the table vendors, which this release was built with. */
import { VENDORS as ROWS } from '../postgres/seeds.generated.ts'

type Row = (typeof ROWS)[number]

export type DirectProvider = Row['name']

/** A row; the table's comments say what each column is. */
export interface Vendor {
  readonly name: DirectProvider
  readonly title: string
  readonly base_url: string
  readonly format: 'openai' | 'anthropic'
  readonly endpoints: readonly Row['endpoints'][number][]
  readonly passes: readonly string[] | null
  readonly keeps: readonly Row['keeps'][number][]
  readonly headers: readonly string[]
  readonly model_names: string
  readonly prefixes_models: boolean
  readonly makes_models: boolean
  readonly client_agent: string | null
  readonly output_limits: readonly ('max_tokens' | 'max_completion_tokens')[] | null
}

/** In order of preference, in case two have a native model of one name. */
export const VENDORS: readonly Vendor[] = ROWS

/** Of a vendor's base address. */
export function baseUrlVariableOf(name: DirectProvider): string {
  return `${name.toUpperCase()}_BASE_URL`
}

/** Something for each vendor, by name. */
export function mapVendors<Value>(of: (vendor: Vendor) => Value): Readonly<Record<DirectProvider, Value>> {
  return Object.fromEntries(VENDORS.map(vendor => [vendor.name, of(vendor)])) as Record<DirectProvider, Value>
}
