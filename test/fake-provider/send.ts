/** Writes to a connection: whole bodies, parts with pauses, and cuts. */

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

/** Waits if the client reads too slowly, and stops if it disconnected. `onPart` receives the number of parts written. */
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
 * Waits some turns of the event loop, so that the written bytes arrive before the cut. Client and server often share an event loop: after
 * one long turn, the bytes and the cut would arrive together, and clients discard bytes that they have not read before a cut.
 */
export async function cutConnection(response: ServerResponse, onCut: () => void): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await sleep(2)
  onCut()
  response.socket?.destroy()
}
