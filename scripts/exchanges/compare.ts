/** Compares two responses to one request, except for headers of the proxy's own. */
import { isDeepStrictEqual } from 'node:util'
import { apiFormatOf } from '../../src/formats/endpoint-formats.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../src/formats/json/canonical.ts'
import { createSseParser } from '../../src/formats/sse/sse.ts'
import type { Endpoint } from '../../src/providers/upstream.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** The proxy's headers, and those of the connection. */
const NOT_COMPARED =
  /^(x-proxy-.*|x-ratelimit-.*|x-request-id|request-id|x-upstream-request-id|x-accel-buffering|x-content-type-options|strict-transport-security|cache-status|cache-control|age|date|connection|content-length|transfer-encoding|keep-alive)$/

/** One line per difference; none when a client cannot tell the responses apart. */
export function compareAnswers(direct: Answer, through: Answer): string[] {
  return [...compareHeads(direct, through), ...compareBodies(direct, through)]
}

/** The same for a stream that was split anew, and for a stream and a plain response: compares their assembled content. */
export function compareContents(endpoint: Endpoint, request: JsonObject, direct: Answer, through: Answer): string[] {
  const [expected, got] = [direct, through].map(answer => contentOf(endpoint, request, answer))
  if (direct.status !== through.status) return [`status ${through.status} for ${direct.status}`]
  return isDeepStrictEqual(expected, got) ? [] : [`content ${JSON.stringify(got)} for ${JSON.stringify(expected)}`]
}

/** Aggregators report usage in every chat stream; the proxy only in those that asked for it, as OpenAI does. */
export function withoutUnaskedUsage(answer: Answer, { stream_options: options }: JsonObject): Answer {
  if (!isStream(answer) || (isJsonObject(options) && options.include_usage === true)) return answer
  const told = eventsOf(answer).flatMap(({ data }) => {
    const chunk = parseJsonObject(data)
    if (!chunk || !('usage' in chunk)) return [data]
    const { usage: _, ...shown } = chunk
    return Array.isArray(shown.choices) && shown.choices.length === 0 ? [] : [JSON.stringify(shown)]
  })
  return { ...answer, text: told.map(data => `data: ${data}\n\n`).join('') }
}

function compareHeads(direct: Answer, through: Answer): string[] {
  const found = direct.status === through.status ? [] : [`status ${through.status} for ${direct.status}`]
  const names = new Set([...direct.headers.keys(), ...through.headers.keys()].filter(name => !NOT_COMPARED.test(name)))
  for (const name of names) {
    const [expected, got] = [direct, through].map(({ headers }) => headers.get(name)?.split(';')[0])
    if (expected !== got) found.push(`header ${name}: ${got} for ${expected}`)
  }
  return found
}

function compareBodies(direct: Answer, through: Answer): string[] {
  const [expected, got] = [direct, through].map(read)
  return isDeepStrictEqual(expected, got) ? [] : [`body ${JSON.stringify(got)} for ${JSON.stringify(expected)}`]
}

/** Reads a stream as events: comments and how the bytes were split do not count. */
function read(answer: Answer): unknown {
  if (!isStream(answer)) return parse(answer.text)
  return eventsOf(answer).map(({ event, data }) => ({ event, data: parse(data) }))
}

function contentOf(endpoint: Endpoint, request: JsonObject, answer: Answer): unknown {
  if (!isStream(answer)) return parse(answer.text)
  const format = apiFormatOf(endpoint)
  const assembler = format.createAssembler(format.readExpectedOutput(request))
  for (const { event, data } of eventsOf(answer)) assembler.push(data, event)
  return assembler.finish().body
}

function eventsOf({ text }: Answer): { event: string | null; data: string }[] {
  const events: { event: string | null; data: string }[] = []
  const parser = createSseParser(event => events.push(event))
  parser.push(new TextEncoder().encode(text))
  parser.end()
  return events
}

function isStream({ headers }: Answer): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
