/** Defines the API format of Gemini's GenerateContent. Requests of the pipeline are already chat requests: see `request-to-chat.ts`. */

import type { ApiFormat } from '../api-format.ts'
import { chunkText } from '../chat/chunk-text.ts'
import { readExpectedChatOutput } from '../expected-output.ts'
import { asObjects, asString, type JsonObject } from '../json/canonical.ts'
import { readUsage } from '../usage/read-usage.ts'
import {
  completenessOfGemini,
  createGeminiAssembler,
  hasFunctionCalls,
  hasGeminiOutput,
  partsOf,
  textOfParts,
} from './assemble-gemini.ts'
import { writeGoogleError } from './gemini-errors.ts'

const encoder = new TextEncoder()

/** A blank line, which keeps a connection alive. Google's clients cannot read the comments of an event stream. */
export const GEMINI_KEEP_ALIVE: Uint8Array = encoder.encode('\r\n')

export const geminiFormat: ApiFormat = {
  readExpectedOutput: readExpectedChatOutput,
  createAssembler: createGeminiAssembler,
  // Clients read a stream to its end.
  isLastEvent: () => false,
  lastEvent: null,
  keepAlive: GEMINI_KEEP_ALIVE,
  writeFailure: error => encodeGeminiChunks([writeGoogleError(error)]),
  replay: body => encodeGeminiChunks(splitGeminiResponse(body)),
  completenessOf: completenessOfGemini,
  hasToolCalls: hasFunctionCalls,
  hasOutput: hasGeminiOutput,
  isFinished: ({ candidates }) => asString(asObjects(candidates)[0]?.finishReason) !== '',
  readUsage: usage => readUsage(usage),
  extractText: response => textOfParts(partsOf(response)),
}

/** Encodes chunks as Google does: without names, and with the line ends that its clients expect. */
export function encodeGeminiChunks(chunks: readonly JsonObject[]): Uint8Array {
  return encoder.encode(chunks.map(chunk => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''))
}

/** Splits a response into chunks. Fields about its end are in the last one. */
export function splitGeminiResponse({ candidates, usageMetadata, ...envelope }: JsonObject): JsonObject[] {
  const [candidate = {}] = asObjects(candidates)
  const { content: _content, index = 0, ...ending } = candidate
  const pieces = partsOf({ candidates }).flatMap(splitPart)
  const write = (part: JsonObject, fields: JsonObject) => ({
    candidates: [{ content: { role: 'model', parts: [part] }, index, ...fields }],
  })
  return [
    ...pieces.map(part => ({ ...write(part, {}), ...envelope })),
    { ...write({ text: '' }, ending), ...(usageMetadata === undefined ? {} : { usageMetadata }), ...envelope },
  ]
}

function splitPart({ text, ...part }: JsonObject): JsonObject[] {
  if (typeof text !== 'string') return [part]
  const { thoughtSignature, ...shared } = part
  const pieces: JsonObject[] = chunkText(text).map(piece => ({ text: piece, ...shared }))
  if (thoughtSignature === undefined) return pieces
  const last = pieces.pop() ?? { text: '', ...shared }
  return [...pieces, { ...last, thoughtSignature }]
}
