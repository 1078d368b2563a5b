/** Reads a response's whole body. */

/** Throws what reading the body throws; the body enforces its own limits. */
export async function readBody(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  const parts: string[] = []
  for await (const part of body) parts.push(decoder.decode(part, { stream: true }))
  return parts.join('') + decoder.decode()
}
