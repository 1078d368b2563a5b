/** Puts bytes on a connection: whole bodies, parts with pauses, and cuts. */

import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export const JSON_HEADERS = { 'content-type': 'application/json' }

export function sendBody(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: string | Uint8Array,
): void {
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
  response.end(body)
}

export async function sendParts(
  response: ServerResponse,
  parts: (string | Uint8Array)[],
  pauseMs = 0,
  onPart = (_written: number) => {},
): Promise<void> {
  await writeParts(response, parts, pauseMs, onPart)
  response.end()
}

/** Waits where the client reads too slowly; stops where it went away. `onPart` is told how many are written. */
export async function writeParts(
  response: ServerResponse,
  parts: (string | Uint8Array)[],
  pauseMs = 0,
  onPart = (_written: number) => {},
): Promise<void> {
  for (const [position, part] of parts.entries()) {
    if (position > 0 && pauseMs > 0) await sleep(pauseMs)
    if (response.destroyed || response.closed) return
    onPart(position + 1)
    if (!response.write(part)) await drained(response)
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}

/**
 * Leaves time for what was written to reach the other side: turns of the event loop, which both sides mostly share. After one long
 * turn, what was written and the cut would come at once, and clients forget what they have not read by then.
 */
export async function cutConnection(response: ServerResponse, onCut: () => void): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await sleep(2)
  onCut()
  response.socket?.destroy()
}
