/** The sandbox's moderations: nothing is ever flagged. */
import { invalidRequest } from '../../../errors.ts'
import { isJsonObject } from '../../../json/json-object.ts'
import { digestRequest } from '../request-digest.ts'

const CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/instructions',
  'self-harm/intent',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
]
const ofAll = <T>(value: T) => Object.fromEntries(CATEGORIES.map(category => [category, value]))

/** One result for each text; one for all parts of an input with images. */
export function moderate(fields: Record<string, unknown>): Record<string, unknown> {
  const { input, model } = fields
  const inputs = Array.isArray(input) ? input : [input]
  const isText = inputs.every(text => typeof text === 'string')
  const isParts = inputs.every(isJsonObject)
  if (inputs.length === 0 || (!isText && !isParts)) {
    throw invalidRequest('input must be a string, an array of strings, or an array of parts.', 'input')
  }
  const result = {
    flagged: false,
    categories: ofAll(false),
    category_scores: ofAll(0),
    category_applied_input_types: ofAll(['text']),
  }
  return {
    id: `modr-sandbox-${digestRequest('moderations', fields).slice(0, 24)}`,
    model: model ?? 'omni-moderation-latest',
    results: isText ? inputs.map(() => result) : [result],
  }
}
