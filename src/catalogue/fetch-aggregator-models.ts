/** Asks the aggregator which models it offers. */
import type { Config } from '../config/config.ts'
import { isJsonObject } from '../formats/json/canonical.ts'
import { type AggregatorModel, parseModelPage } from './aggregator-models.ts'

type Address = Pick<Config['aggregator'], 'baseUrl' | 'apiKey'>

export interface AggregatorModelList {
  models: AggregatorModel[]
  /** Models that the catalogue cannot take: no fixed price, or no usable name. */
  skipped: number
}

const TIME_LIMIT_MS = 30_000
const MAX_PAGES = 50

/** Reads all pages of `{AGGREGATOR_BASE_URL}/models`. Throws an error with a message of one line. */
export async function fetchAggregatorModels(aggregator: Address): Promise<AggregatorModelList> {
  const models = new Map<string, AggregatorModel>()
  let skipped = 0
  for await (const page of fetchPages(aggregator)) {
    const read = parseModelPage(page)
    for (const model of read.models) models.set(model.model, model)
    skipped += read.skipped
  }
  if (models.size === 0) throw new Error(`${aggregator.baseUrl}/models lists no model that the catalogue could take`)
  return { models: [...models.values()], skipped }
}

/** The names alone, of any list in OpenAI's format. Throws as above. */
export async function fetchModelNames(aggregator: Address): Promise<string[]> {
  const names: string[] = []
  for await (const page of fetchPages(aggregator)) {
    const listed = isJsonObject(page) ? page.data : page
    if (!Array.isArray(listed)) throw new Error(`${aggregator.baseUrl}/models is no list of models`)
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

/** Throws for another origin: the aggregator's key is sent to the configured address only. */
function resolveNext(next: string, baseUrl: string): string {
  const address = URL.parse(next, baseUrl)
  if (address && address.origin === new URL(baseUrl).origin) return address.href
  throw new Error(`${baseUrl}/models goes on at another address, which is not followed`)
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
