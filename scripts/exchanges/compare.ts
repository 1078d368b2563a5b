/** Tells in what two answers to one request differ, but for headers that are the proxy's own. */
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../src/json/json-object.ts'
import { createSseParser } from '../../src/openai-format/sse-parser.ts'
import { formatOf } from '../../src/pipeline/formats/format-of.ts'
import type { Endpoint } from '../../src/providers/upstream.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** Ours, and those of the connection. */
const NOT_COMPARED =
  /^(x-proxy-.*|x-request-id|request-id|x-upstream-request-id|x-accel-buffering|cache-status|cache-control|age|date|connection|content-length|transfer-encoding|keep-alive)$/

/** One line a difference; none for answers that a client cannot tell apart. */
export function compareAnswers(direct: Answer, through: Answer): string[] {
  return [...compareHeads(direct, through), ...compareBodies(direct, through)]
}

/** The same of a stream that was cut anew, and of a stream and a plain answer: what they come to. */
export function compareContents(endpoint: Endpoint, request: JsonObject, direct: Answer, through: Answer): string[] {
  const [expected, got] = [direct, through].map(answer => contentOf(endpoint, request, answer))
  if (direct.status !== through.status) return [`status ${through.status} for ${direct.status}`]
  return isDeepStrictEqual(expected, got) ? [] : [`content ${JSON.stringify(got)} for ${JSON.stringify(expected)}`]
}

/** Aggregators tell every stream of chat what it used; the proxy tells those that asked, as OpenAI does. */
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

/** A stream by its events: comments and how they were cut do not count. */
function read(answer: Answer): unknown {
  if (!isStream(answer)) return parse(answer.text)
  return eventsOf(answer).map(({ event, data }) => ({ event, data: parse(data) }))
}

function contentOf(endpoint: Endpoint, request: JsonObject, answer: Answer): unknown {
  if (!isStream(answer)) return parse(answer.text)
  const assembler = formatOf(endpoint).createAssembler(request)
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
