/** The sandbox's pass-through operations. Moderation flags nothing, and reranking sorts documents by words shared with the query. */
import { invalidRequestError } from '../../errors/errors.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { readNonEmptyString } from '../../formats/json/read-fields.ts'
import { readInteger, type SandboxRequest } from './fields.ts'
import { digestRequest } from './response-text.ts'

const MAX_MODERATED_INPUTS = 2_048
const MAX_DOCUMENTS = 1_000
/** The characters of a document or a query that are compared. Vendors truncate them, too, at about 4,096 tokens. */
const MAX_RANKED_CHARS = 16_384

const OPERATIONS: Record<string, (fields: SandboxRequest) => Record<string, unknown>> = {
  '/moderations': moderate,
  '/rerank': rank,
}

/** The pass-through paths that the sandbox supports. */
export const SANDBOX_PASS_THROUGH_PATHS: readonly string[] = Object.keys(OPERATIONS)

/** Returns undefined for an operation that the sandbox lacks. Throws a 400 for a request that the vendor would reject. */
export function createPassThroughResponse(path: string, fields: SandboxRequest): Record<string, unknown> | undefined {
  return OPERATIONS[path]?.(fields)
}

const CATEGORIES =
  'harassment harassment/threatening hate hate/threatening illicit illicit/violent self-harm self-harm/instructions self-harm/intent sexual sexual/minors violence violence/graphic'.split(
    ' ',
  )
const forAllCategories = <T>(value: T) => Object.fromEntries(CATEGORIES.map(category => [category, value]))
const UNFLAGGED = {
  flagged: false,
  categories: forAllCategories(false),
  category_scores: forAllCategories(0),
  category_applied_input_types: forAllCategories(['text']),
}

/** Returns one result for each text, or one for all parts of an input with images. */
function moderate(fields: SandboxRequest): Record<string, unknown> {
  const { input, model } = fields
  const inputs = Array.isArray(input) ? input : [input]
  const isText = inputs.every(text => typeof text === 'string')
  if (inputs.length === 0 || !(isText || inputs.every(isJsonObject))) {
    throw invalidRequestError('input must be a string, an array of strings, or an array of parts.', 'input')
  }
  if (inputs.length > MAX_MODERATED_INPUTS)
    throw invalidRequestError(`Invalid 'input': at most ${MAX_MODERATED_INPUTS} inputs are allowed.`, 'input')
  return {
    id: `modr-sandbox-${digestRequest('moderations', fields).slice(0, 24)}`,
    model: model ?? 'omni-moderation-latest',
    results: isText ? inputs.map(() => UNFLAGGED) : [UNFLAGGED],
  }
}

function rank(fields: SandboxRequest): Record<string, unknown> {
  const model = readNonEmptyString(fields.model, 'model')
  const { documents } = fields
  const query = readNonEmptyString(fields.query, 'query')
  if (!Array.isArray(documents) || documents.length === 0 || documents.length > MAX_DOCUMENTS) {
    throw invalidRequestError(`documents must be an array of 1 to ${MAX_DOCUMENTS} texts.`, 'documents')
  }
  const limit = readInteger(fields, 'top_n', 1) ?? documents.length
  const queryWords = [...wordsOf(query)]
  const results = documents.map((document: unknown, index) => {
    const text = isJsonObject(document) ? document.text : document
    if (typeof text !== 'string')
      throw invalidRequestError(`documents[${index}] must be a text.`, `documents[${index}]`)
    const documentWords = wordsOf(text)
    const score = queryWords.filter(word => documentWords.has(word)).length / Math.max(1, queryWords.length)
    return { index, relevance_score: score, document: { text } }
  })
  return {
    id: `rerank-sandbox-${digestRequest('rerank', fields).slice(0, 24)}`,
    model,
    provider: 'sandbox',
    results: results.toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index).slice(0, limit),
    usage: { search_units: 1, total_tokens: 0, cost: 0 },
  }
}

function wordsOf(text: string): Set<string> {
  return new Set(
    text
      .slice(0, MAX_RANKED_CHARS)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  )
}
