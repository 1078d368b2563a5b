/** Lists how each field of a Gemini request is translated to chat completions, and reads objects with the names of either JSON form of Gemini's API. */

import { invalidRequestError, type ProxyError } from '../../errors/errors.ts'
import { createRuleWriter } from '../field-rule.ts'
import { isPresent, type JsonObject, writeField } from '../json/canonical.ts'
import { readObject } from '../json/read-fields.ts'

const rules = createRuleWriter<string>()

/** Any other field is rejected, as Google does. */
export const GENERATE_CONTENT_RULES = {
  ...rules('translated', {
    contents:
      'Become messages. Function calls become tool calls; a function response becomes the result of the call with its `id`, else of the first open call of its name. Text of earlier thoughts is omitted.',
    systemInstruction: 'Becomes the first system message.',
    tools: 'Function declarations become functions; tools that Google runs are omitted if the model may choose.',
    toolConfig: '`ANY` becomes `required`, and a single allowed name a named function; other functions are omitted.',
  }),
  ...rules('omitted', {
    safetySettings: 'They set filters of Google.',
    labels: 'They name entries of Google’s invoice; `X-Proxy-Tags` names the proxy’s.',
    model: 'The path names the model.',
    serviceTier: 'It is a setting of Google.',
    store: 'The proxy sets what it stores.',
  }),
  ...rules('rejected', {
    cachedContent: 'Google stores it for its own models; send the content itself.',
  }),
}

/** The rules of the fields of `generationConfig`. */
export const GENERATION_CONFIG_RULES = {
  ...rules('translated', {
    'generationConfig.temperature': 'Sent unchanged.',
    'generationConfig.topP': 'Becomes `top_p`.',
    'generationConfig.topK': 'Becomes `top_k`.',
    'generationConfig.maxOutputTokens': 'Becomes `max_completion_tokens`, lowered to the model’s output limit.',
    'generationConfig.stopSequences': 'Become `stop`.',
    'generationConfig.seed': 'Sent unchanged.',
    'generationConfig.presencePenalty': 'Becomes `presence_penalty`.',
    'generationConfig.frequencyPenalty': 'Becomes `frequency_penalty`.',
    'generationConfig.responseMimeType': '`application/json` becomes `response_format`.',
    'generationConfig.responseSchema': 'Becomes the JSON schema of `response_format`.',
    'generationConfig.responseJsonSchema': 'Becomes the JSON schema of `response_format`.',
    'generationConfig.responseModalities': 'Become `modalities`, unless they are only text.',
    'generationConfig.responseLogprobs': 'Becomes `logprobs`.',
    'generationConfig.logprobs': 'Becomes `top_logprobs`.',
    'generationConfig.thinkingConfig':
      'A level becomes `reasoning_effort`, a budget the nearest one; both are omitted for models that do not reason. Thoughts are in the response if `includeThoughts` is true.',
  }),
  ...rules('omitted', {
    'generationConfig.mediaResolution': 'It is a setting of Google.',
    'generationConfig.speechConfig': 'It is a setting of Google.',
    'generationConfig.imageConfig': 'It is a setting of Google.',
    'generationConfig.audioTimestamp': 'It is a setting of Google.',
    'generationConfig.enableEnhancedCivicAnswers': 'It is a setting of Google.',
    'generationConfig.enableAffectiveDialog': 'It is a setting of Google.',
  }),
  ...rules('rejected', {
    'generationConfig.candidateCount': ['Responses have one candidate.', count => count === 1],
  }),
}

const names = (listed: string): ReadonlySet<string> => new Set(listed.split(/\s+/))

export const GENERATE_CONTENT_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(GENERATE_CONTENT_RULES),
  'generationConfig',
])
export const GENERATION_CONFIG_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(GENERATION_CONFIG_RULES).map(field => field.replace('generationConfig.', '')),
)
export const THINKING_CONFIG_FIELDS = names('thinkingBudget includeThoughts thinkingLevel')
export const CONTENT_FIELDS = names('role parts')
export const PART_FIELDS = names(
  'text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode codeExecutionResult videoMetadata mediaResolution partMetadata',
)
export const BLOB_FIELDS = names('mimeType data displayName')
export const FILE_FIELDS = names('mimeType fileUri displayName')
export const CALL_FIELDS = names('id name args partialArgs willContinue')
export const RESPONSE_FIELDS = names('id name response parts willContinue scheduling')
export const RESPONSE_PART_FIELDS = names('inlineData fileData')
export const FUNCTION_FIELDS = names(
  'name description parameters parametersJsonSchema response responseJsonSchema behavior',
)
export const TOOL_CONFIG_FIELDS = names('functionCallingConfig retrievalConfig includeServerSideToolInvocations')
export const CALLING_CONFIG_FIELDS = names('mode allowedFunctionNames streamFunctionCallArguments')
export const EMBED_FIELDS = names('model content taskType title outputDimensionality autoTruncate embedContentConfig')

/**
 * Returns the object's present fields under their names in camel case; Gemini's API accepts snake case as well. Throws a 400 for a field that is
 * not in `known` and for a field that is present under both names.
 */
export function readFields(value: unknown, param: string, known: ReadonlySet<string>): JsonObject {
  const fields: JsonObject = {}
  for (const [given, each] of Object.entries(readObject(value, param === '' ? 'The body' : param))) {
    const name = toCamelCase(given)
    if (!known.has(name)) throw createUnknownFieldError(param, given)
    if (!isPresent(each)) continue
    if (Object.hasOwn(fields, name))
      throw invalidRequestError(`${name} is present twice; keep one of both names.`, name)
    writeField(fields, name, each)
  }
  return fields
}

export function toCamelCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

export function pathTo(param: string, field: string): string {
  return param === '' ? field : `${param}.${field}`
}

/** Matches names that are safe to repeat in a message. */
const PLAIN_NAME = /^\w{1,64}$/

function createUnknownFieldError(param: string, field: string): ProxyError {
  const name = PLAIN_NAME.test(field) ? field : 'A field of the request'
  const at = param === '' ? '' : ` at ${param}`
  return invalidRequestError(`${name}${at} is unknown.`, PLAIN_NAME.test(field) ? pathTo(param, field) : param)
}

/** Creates the 400 for a feature that only Google's own service has. */
export function createGoogleOnlyError(param: string, reason: string): ProxyError {
  return invalidRequestError(`${param} works only at Google itself: ${reason}`, param)
}
