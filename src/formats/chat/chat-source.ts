/** Reads chat responses for translation into another format. */

import { asString } from '../json/canonical.ts'
import { createChatAssembler } from './assemble-chat.ts'
import { completenessOf } from './completeness.ts'
import { classifyFinishReason } from './finish-reason.ts'
import { firstChoiceOf, PartReader, toChunks } from './part-reader.ts'
import type { SourceFormat } from './source-format.ts'

export const chatSource: SourceFormat = {
  endpoint: 'chat',
  createReader: writer => new PartReader(writer),
  createAssembler: createChatAssembler,
  isLast: data => data.trim() === '[DONE]',
  toChunks,
  completenessOf,
  finishKindOf: response => classifyFinishReason(asString(firstChoiceOf(response)?.finish_reason)),
}
