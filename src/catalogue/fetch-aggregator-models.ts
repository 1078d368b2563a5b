/** Fetches the aggregator's list of models. */
import type { Config } from '../config/config.ts'
import { isJsonObject } from '../formats/json/canonical.ts'
import { type AggregatorModel, parseModelPage } from './aggregator-models.ts'

type Address = Pick<Config['aggregator'], 'baseUrl' | 'apiKey'>

export interface AggregatorModelList {
  models: AggregatorModel[]
  /** Number of models that the catalogue cannot contain, because they have no fixed price or no usable name. */
  skipped: number
}

const TIME_LIMIT_MS = 30_000
const MAX_PAGES = 50

/** Fetches all pages of `{AGGREGATOR_BASE_URL}/models`. Throws an error with a one-line message. */
export async function fetchAggregatorModels(aggregator: Address): Promise<AggregatorModelList> {
  const models = new Map<string, AggregatorModel>()
  let skipped = 0
  for await (const page of fetchPages(aggregator)) {
    const read = parseModelPage(page)
    for (const model of read.models) models.set(model.model, model)
    skipped += read.skipped
  }
  if (models.size === 0)
    throw new Error(`${aggregator.baseUrl}/models lists no model with a usable name and a fixed price`)
  return { models: [...models.values()], skipped }
}

/** Fetches the names of any list in OpenAI's format. Throws an error with a one-line message. */
export async function fetchAggregatorModelNames(aggregator: Address): Promise<string[]> {
  const names: string[] = []
  for await (const page of fetchPages(aggregator)) {
    const listed = isJsonObject(page) ? page.data : page
    if (!Array.isArray(listed)) throw new Error(`${aggregator.baseUrl}/models must return a list of models`)
    names.push(...listed.flatMap((item: unknown) => (isJsonObject(item) && typeof item.id === 'string' ? item.id : [])))
  }
  return names
}

async function* fetchPages({ baseUrl, apiKey }: Address): AsyncGenerator<unknown> {
  let address: string | null = `${baseUrl}/models`
  for (let page = 0; address !== null; page++) {
    if (page === MAX_PAGES) throw new Error(`${baseUrl}/models has more than ${MAX_PAGES} pages`)
    const body: unknown = await fetchJson(address, apiKey)
    yield body
    const next: unknown = isJsonObject(body) && isJsonObject(body.links) ? body.links.next : null
    address = typeof next === 'string' ? resolveNext(next, baseUrl) : null
  }
}

/** Resolves the address of the next page. Throws for another origin, because the aggregator's key is sent to the configured address only. */
function resolveNext(next: string, baseUrl: string): string {
  const address = URL.parse(next, baseUrl)
  if (address && address.origin === new URL(baseUrl).origin) return address.href
  throw new Error(`${baseUrl}/models continues at another origin, which is not followed`)
}

async function fetchJson(address: string, apiKey: string | null): Promise<unknown> {
  try {
    const response = await fetch(address, {
      headers: { accept: 'application/json', ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }) },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    })
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return await response.json()
  } catch (error) {
    throw new Error(`${address} could not be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
