/** Reads responses of the Responses API for translation into another format. */

import type { SourceFormat } from '../chat/source-format.ts'
import { asString, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { completenessOfResponse, createResponseAssembler } from './assemble-response.ts'
import { LAST_EVENTS } from './response-events.ts'
import { ResponsePartReader } from './response-part-reader.ts'

export const responsesSource: SourceFormat = {
  endpoint: 'responses',
  createReader: writer => new ResponsePartReader(writer),
  createAssembler: createResponseAssembler,
  isLast: (_data, event) => LAST_EVENTS.has(asString(event?.type)),
  toChunks: response => [{ type: 'response.completed', response }],
  completenessOf: completenessOfResponse,
  finishKindOf: response => (reasonOf(response) === 'max_output_tokens' ? 'length' : 'regular'),
}

function reasonOf({ incomplete_details: details }: JsonObject): unknown {
  return isJsonObject(details) ? details.reason : undefined
}
