/** The sandbox's rankings: documents by how many of the query's words they contain. */
import { invalidRequest } from '../../../errors.ts'
import { isJsonObject } from '../../../json/json-object.ts'
import { readInteger, readModel } from '../fields.ts'
import { digestRequest } from '../request-digest.ts'

const MOST_DOCUMENTS = 1_000

export function rank(fields: Record<string, unknown>): Record<string, unknown> {
  const model = readModel(fields)
  const { query, documents } = fields
  if (typeof query !== 'string' || query === '') throw invalidRequest("Missing required parameter: 'query'.", 'query')
  if (!Array.isArray(documents) || documents.length === 0 || documents.length > MOST_DOCUMENTS) {
    throw invalidRequest(`documents must be an array of 1 to ${MOST_DOCUMENTS} texts.`, 'documents')
  }
  const most = readInteger(fields, 'top_n', { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? documents.length
  const asked = wordsOf(query)
  const results = documents
    .map((document: unknown, index) => {
      const text = isJsonObject(document) ? document.text : document
      if (typeof text !== 'string') throw invalidRequest(`documents[${index}] must be a text.`, `documents[${index}]`)
      const held = wordsOf(text)
      const shared = [...asked].filter(word => held.has(word)).length
      return { index, relevance_score: asked.size === 0 ? 0 : shared / asked.size, document: { text } }
    })
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, most)
  return {
    id: `rerank-sandbox-${digestRequest('rerank', fields).slice(0, 24)}`,
    model,
    provider: 'sandbox',
    results,
    usage: { search_units: 1, total_tokens: 0, cost: 0 },
  }
}

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
