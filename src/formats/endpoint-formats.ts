/** Lists the API format of each operation whose responses are cached as a whole. */

import type { ApiFormat } from './api-format.ts'
import { chatFormat, completionsFormat } from './chat/chat-format.ts'
import type { Completeness } from './chat/completeness.ts'
import type { Endpoint, TranslatableEndpoint } from './endpoint.ts'
import { type ExpectedOutput, readExpectedEmbeddings } from './expected-output.ts'
import { geminiFormat } from './gemini/gemini-format.ts'
import { isJsonObject } from './json/canonical.ts'
import { messagesFormat } from './messages/messages-format.ts'
import { responsesFormat } from './responses/responses-format.ts'

const FORMATS: Record<Endpoint, ApiFormat> = {
  chat: chatFormat,
  completions: completionsFormat,
  // Used when inputs are not cached one by one: the response is then cached whole, like a completion.
  embeddings: {
    ...completionsFormat,
    readExpectedOutput: readExpectedEmbeddings,
    completenessOf: completenessOfEmbeddings,
  },
  responses: responsesFormat,
  messages: messagesFormat,
  generate_content: geminiFormat,
}

export function apiFormatOf(endpoint: Endpoint): ApiFormat {
  return FORMATS[endpoint]
}

function completenessOfEmbeddings(
  { data }: Record<string, unknown>,
  { count = 1, dimensions }: ExpectedOutput,
): Completeness {
  if (!Array.isArray(data) || data.length === 0) return 'not_a_response'
  if (data.length < count) return 'too_few_results'
  const lengths = new Set(data.map(countDimensions).filter(length => length !== null))
  const [length] = lengths
  const hasOtherDimensions =
    lengths.has(0) || lengths.size > 1 || (dimensions !== undefined && length !== undefined && length !== dimensions)
  return hasOtherDimensions ? 'wrong_dimensions' : 'whole'
}

const FLOAT_BYTES = 4

/** Returns the number of dimensions of an embedding; null for an encoding that only the provider knows. */
function countDimensions(datum: unknown): number | null {
  const embedding = isJsonObject(datum) ? datum.embedding : undefined
  if (isJsonObject(embedding)) return null
  if (Array.isArray(embedding)) return embedding.length
  return typeof embedding === 'string' ? Buffer.from(embedding, 'base64').length / FLOAT_BYTES : 0
}

/** Whether requests of the endpoint can be translated to chat completions. */
export function isTranslatableEndpoint(endpoint: string): endpoint is TranslatableEndpoint {
  return endpoint === 'responses' || endpoint === 'messages' || endpoint === 'generate_content'
}
