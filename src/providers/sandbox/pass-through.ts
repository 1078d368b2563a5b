/** The sandbox's pass-through operations: nothing is flagged, and documents are ranked by shared words. */
import { invalidRequestError } from '../../errors/errors.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { readNonEmptyString } from '../../formats/json/read-fields.ts'
import { readInteger, type SandboxRequest } from './fields.ts'
import { digestRequest } from './request-digest.ts'

const MOST_MODERATED = 2_048
const MOST_DOCUMENTS = 1_000
/** Vendors cut documents and queries at some 4,096 tokens, too. */
const LONGEST_RANKED_CHARS = 16_384

const ANSWERS: Record<string, (fields: SandboxRequest) => Record<string, unknown>> = {
  '/moderations': moderate,
  '/rerank': rank,
}

/** Paths that the sandbox answers. */
export const SANDBOX_PASS_THROUGH_PATHS: readonly string[] = Object.keys(ANSWERS)

/** Undefined for an operation that the sandbox lacks. Throws a 400 for what the vendor would refuse. */
export function createPassThroughResponse(path: string, fields: SandboxRequest): Record<string, unknown> | undefined {
  return ANSWERS[path]?.(fields)
}

const CATEGORIES =
  'harassment harassment/threatening hate hate/threatening illicit illicit/violent self-harm self-harm/instructions self-harm/intent sexual sexual/minors violence violence/graphic'.split(
    ' ',
  )
const ofAll = <T>(value: T) => Object.fromEntries(CATEGORIES.map(category => [category, value]))
const UNFLAGGED = {
  flagged: false,
  categories: ofAll(false),
  category_scores: ofAll(0),
  category_applied_input_types: ofAll(['text']),
}

/** One result for each text; one for all parts of an input with images. */
function moderate(fields: SandboxRequest): Record<string, unknown> {
  const { input, model } = fields
  const inputs = Array.isArray(input) ? input : [input]
  const isText = inputs.every(text => typeof text === 'string')
  if (inputs.length === 0 || !(isText || inputs.every(isJsonObject))) {
    throw invalidRequestError('input must be a string, an array of strings, or an array of parts.', 'input')
  }
  if (inputs.length > MOST_MODERATED)
    throw invalidRequestError(`Invalid 'input': at most ${MOST_MODERATED} inputs are allowed.`, 'input')
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
  if (!Array.isArray(documents) || documents.length === 0 || documents.length > MOST_DOCUMENTS) {
    throw invalidRequestError(`documents must be an array of 1 to ${MOST_DOCUMENTS} texts.`, 'documents')
  }
  const most = readInteger(fields, 'top_n', 1) ?? documents.length
  const asked = [...wordsOf(query)]
  const results = documents.map((document: unknown, index) => {
    const text = isJsonObject(document) ? document.text : document
    if (typeof text !== 'string')
      throw invalidRequestError(`documents[${index}] must be a text.`, `documents[${index}]`)
    const held = wordsOf(text)
    const score = asked.filter(word => held.has(word)).length / Math.max(1, asked.length)
    return { index, relevance_score: score, document: { text } }
  })
  return {
    id: `rerank-sandbox-${digestRequest('rerank', fields).slice(0, 24)}`,
    model,
    provider: 'sandbox',
    results: results.toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index).slice(0, most),
    usage: { search_units: 1, total_tokens: 0, cost: 0 },
  }
}

function wordsOf(text: string): Set<string> {
  return new Set(
    text
      .slice(0, LONGEST_RANKED_CHARS)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  )
}
