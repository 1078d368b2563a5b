/** The vendors that projects use with their own keys: the rows of the table `vendors` at the time of this release. */
import { VENDORS as ROWS } from '../postgres/seeds.generated.ts'

type Row = (typeof ROWS)[number]

export type DirectProvider = Row['name']

/** Where requests contain the key: `bearer`, `none`, `header:<name>` or `query:<name>`. */
export type KeyLocation = 'bearer' | 'none' | `header:${string}` | `query:${string}`

/** A row of the table `vendors`. The comments of its columns describe the fields. */
export interface Vendor {
  readonly name: DirectProvider
  readonly title: string
  readonly base_url: string | null
  readonly format: 'openai' | 'anthropic'
  readonly endpoints: readonly Row['endpoints'][number][]
  readonly path_template: string
  readonly key_location: KeyLocation | null
  readonly query_parameters: Readonly<Record<string, string>>
  readonly sent_headers: Readonly<Record<string, string>>
  readonly accepts_stream_options: boolean
  readonly passes: readonly string[] | null
  readonly keeps: readonly Row['keeps'][number][]
  readonly headers: readonly string[]
  readonly model_names: string | null
  readonly prefixes_models: boolean
  readonly makes_models: boolean
  readonly client_agent: string | null
  readonly price_sources: readonly string[]
  readonly output_limits: readonly ('max_tokens' | 'max_completion_tokens')[] | null
}

/** The vendors in order of preference, which matters when two have a native model of the same name. */
export const VENDORS: readonly Vendor[] = ROWS

/** Returns the environment variable of a vendor's base address. */
export function baseUrlVariableOf(name: DirectProvider): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_BASE_URL`
}

/** Returns the result of `map` for each vendor, by the vendor's name. */
export function mapVendors<Value>(map: (vendor: Vendor) => Value): Readonly<Record<DirectProvider, Value>> {
  return Object.fromEntries(VENDORS.map(vendor => [vendor.name, map(vendor)])) as Record<DirectProvider, Value>
}
