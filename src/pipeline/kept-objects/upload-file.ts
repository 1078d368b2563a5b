/** Takes a file for a provider that keeps it for the project. */
import { invalidRequest, ProxyError } from '../../errors.ts'
import { createYieldTurn } from '../../event-loop/yield.ts'
import type { Form } from '../../multipart/read-form.ts'
import type { ProxyResponse } from '../exchange.ts'
import type { KeptRoom, MakingContext } from './kept-room.ts'
import { makeObject } from './make-object.ts'

export async function uploadFile(context: MakingContext, room: KeptRoom): Promise<ProxyResponse> {
  const { form, fields } = context.passed
  if (!form?.parts.some(({ name, isFile }) => isFile && name === 'file')) {
    throw invalidRequest('The body of your request must be a multipart form with a file.', 'file')
  }
  const provider = room.stages.routes.keeperOfFiles(context.account)
  if (provider instanceof ProxyError) throw provider
  const requests = fields.purpose === 'batch' ? await countRequests(form) : 0
  return makeObject(context, { collection: 'files', provider, requests }, room)
}

const LINE_FEED = 10

/** Lines that are not empty: each is a request of the batch that the file is for. */
async function countRequests({ bytes, parts }: Form): Promise<number> {
  const yieldTurn = createYieldTurn()
  let requests = 0
  for (const { start, end } of parts.filter(({ name, isFile }) => isFile && name === 'file')) {
    for (let at = start; at < end; ) {
      const next = bytes.indexOf(LINE_FEED, at)
      const lineEnd = next < 0 || next > end ? end : next
      if (!isBlank(bytes.subarray(at, lineEnd))) requests++
      at = lineEnd + 1
      await yieldTurn()
    }
  }
  return requests
}

function isBlank(line: Uint8Array): boolean {
  return line.every(byte => byte <= 32)
}
