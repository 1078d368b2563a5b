/** Reads server-sent events by the specification. The data of each event is JSON. */

export interface ClientEvent {
  name: string | null
  data: string
}

export function readEvents(text: string): ClientEvent[] {
  const events: ClientEvent[] = []
  let name: string | null = null
  let data: string[] = []
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [, field, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (line === '') {
      if (data.length > 0) events.push({ name, data: data.join('\n') })
      name = null
      data = []
    } else if (field === 'data') data.push(value)
    else if (field === 'event') name = value
  }
  return events
}

/** Returns the parsed JSON, or undefined if the text is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the response holds
export function parseJson(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
