/** Writes the address and the headers of requests to a vendor, as its row describes them: its paths, its query, and where the key is. */
import type { KeyLocation } from '../config/vendors.ts'
import { Credentials } from './credentials/credentials.ts'

export interface VendorConnection {
  /** Ends before the path of an endpoint. */
  baseUrl: string
  /** The key; null for none. */
  apiKey: string | null
  /** `bearer` by default. */
  keyLocation?: KeyLocation
  /** Query parameters of each request. */
  queryParameters?: Readonly<Record<string, string>>
  /** Headers of each request. They replace the client's. */
  sentHeaders?: Readonly<Record<string, string>>
  /** What follows the base URL: `{path}` is the path of an endpoint, `{model}` the model's name. The path alone by default. */
  pathTemplate?: string
}

export interface VendorAddress {
  url: string
  /** Headers that replace the client's. */
  headers: Record<string, string>
  /** The key, which is redacted in responses. */
  credentials: Credentials
}

/** Returns a function that writes the address of a path, which begins with a slash and may have a query, and the headers with the key. */
export function createAddressWriter(connection: VendorConnection): (path: string, model?: string) => VendorAddress {
  const { baseUrl, queryParameters = {}, sentHeaders = {}, pathTemplate = '{path}' } = connection
  const { headers: keyHeaders, query: keyQuery } = placeKey(connection)
  const headers = { ...sentHeaders, ...keyHeaders }
  const added = new URLSearchParams({ ...queryParameters, ...keyQuery }).toString()
  const credentials = new Credentials(connection.apiKey === null ? [] : [connection.apiKey])

  return (path, model = '') => {
    const [bare = '', query = ''] = path.split(/\?(.*)/s)
    // A request that names no model, such as one for the list of models, has no place in the template.
    const template = model === '' && pathTemplate.includes('{model}') ? '{path}' : pathTemplate
    const full = template.replace(/\{(model|path)\}/g, (_, name) =>
      name === 'path' ? bare : encodeURIComponent(model),
    )
    const search = [query, added].filter(part => part !== '').join('&')
    return { url: `${baseUrl}${full}${search && `?${search}`}`, headers, credentials }
  }
}

function placeKey({
  apiKey,
  keyLocation = 'bearer',
}: VendorConnection): Record<'headers' | 'query', Record<string, string>> {
  const [place, name = ''] = keyLocation.split(':')
  if (apiKey === null || place === 'none') return { headers: {}, query: {} }
  if (place === 'query') return { headers: {}, query: { [name]: apiKey } }
  return {
    headers: place === 'header' ? { [name.toLowerCase()]: apiKey } : { authorization: `Bearer ${apiKey}` },
    query: {},
  }
}
