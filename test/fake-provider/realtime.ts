/** A local server for OpenAI's Realtime API over WebSocket. It supports sessions of text and of transcription. */

export interface RealtimeUpstream {
  /** Ends in `/v1`. */
  baseUrl: string
  /** The path and headers of each connection. */
  opened: { path: string; headers: Record<string, string> }[]
  /** The events from clients, in order. */
  received: Record<string, unknown>[]
  /** The close codes and reasons of clients' connections. */
  ended: { code: number; reason: string }[]
  /** Sends an event to all connected clients. */
  send(event: object): void
  /** Closes all connections. Without a code, the connections break. */
  close(code?: number, reason?: string): void
  stop(): Promise<void>
}

type Settings = Record<string, unknown>

export interface RealtimeOptions {
  /** Connections with another key are rejected. */
  apiKey?: string
  /** Merged over the usage of each response. */
  usage?: object
  /** The usage of each transcription. */
  transcriptionUsage?: Record<string, unknown>
  /** The base URL of the server that handles all other paths, with `/v1`; without one they are a 404. */
  elsewhere?: string
}

const USAGE = {
  total_tokens: 1_500,
  input_tokens: 1_000,
  output_tokens: 500,
  input_token_details: { cached_tokens: 200, text_tokens: 1_000, audio_tokens: 0 },
  output_token_details: { text_tokens: 500, audio_tokens: 0 },
}
/** A message with this text gets a response that does not end. */
export const ENDLESS = 'endless'
/** A message with this text gets an error in place of a response. */
export const INVALID = 'invalid'

const TRANSCRIPTION_USAGE = { type: 'duration', seconds: 3 }

export function startRealtime({
  apiKey,
  usage = {},
  transcriptionUsage = TRANSCRIPTION_USAGE,
  elsewhere,
}: RealtimeOptions = {}): RealtimeUpstream {
  /** Connections with the settings of their sessions. */
  const sockets = new Map<Bun.ServerWebSocket<undefined>, Settings>()
  const opened: RealtimeUpstream['opened'] = []
  const received: RealtimeUpstream['received'] = []
  const ended: RealtimeUpstream['ended'] = []
  /** Responses that do not end until they are cancelled. */
  const endless = new Map<unknown, object>()
  let serial = 0

  /** Sends the events of one response, from its beginning to its end. */
  function respond(send: (event: object) => void, instructions: unknown): void {
    const id = `resp_fake${++serial}`
    const item = { id: `item_fake${serial}`, type: 'message', role: 'assistant', content: [] }
    const at = { response_id: id, item_id: item.id, output_index: 0, content_index: 0 }
    send({ type: 'response.created', response: { id, object: 'realtime.response', status: 'in_progress', output: [] } })
    send({ type: 'response.output_item.added', response_id: id, output_index: 0, item })
    for (const delta of ['Hello', ' from', ' here.']) send({ type: 'response.output_text.delta', ...at, delta })
    if (instructions === ENDLESS) return void endless.set(id, item)
    send({ type: 'response.output_text.done', ...at, text: 'Hello from here.' })
    const status = instructions === 'fail' ? 'failed' : 'completed'
    const used = status === 'failed' ? null : { ...USAGE, ...usage }
    send({ type: 'response.done', response: { id, object: 'realtime.response', status, output: [item], usage: used } })
  }

  /** Like OpenAI, a cancelled response reports the usage until then. */
  function cancel(send: (event: object) => void, id: unknown): void {
    const response = { id, object: 'realtime.response', status: 'cancelled', output: [endless.get(id)] }
    if (endless.delete(id)) send({ type: 'response.done', response: { ...response, usage: { ...USAGE, ...usage } } })
    else send({ type: 'error', error: { code: 'response_cancel_not_active' } })
  }

  /** Adds the received audio to the conversation as an item, and sends its transcript. */
  function transcribe(send: (event: object) => void): void {
    const type = 'conversation.item.input_audio_transcription.completed'
    const item = { item_id: `item_fake${++serial}`, content_index: 0, transcript: 'Hello?' }
    send({ type, ...item, usage: transcriptionUsage })
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request, server) {
      const { pathname, search } = new URL(request.url)
      const headers = Object.fromEntries(request.headers)
      if (pathname !== '/v1/realtime') {
        if (elsewhere === undefined) return new Response(null, { status: 404 })
        return fetch(new Request(`${elsewhere}${pathname.slice('/v1'.length)}${search}`, request))
      }
      if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`)
        return new Response(null, { status: 401 })
      opened.push({ path: pathname + search, headers })
      return server.upgrade(request) ? undefined : new Response(null, { status: 400 })
    },
    websocket: {
      maxPayloadLength: 64 * 1024 * 1024,
      open(socket) {
        const session = { type: 'realtime', object: 'realtime.session', id: 'sess_fake1', model: 'gpt-realtime' }
        sockets.set(socket, session)
        send(socket, { type: 'session.created', session })
      },
      message(socket, message) {
        const event = JSON.parse(String(message)) as Record<string, unknown>
        received.push(event)
        const response = event.response as { instructions?: unknown } | undefined
        const reply = (each: object) => send(socket, each)
        if (event.type === 'response.create' && response?.instructions === INVALID)
          reply({ type: 'error', error: { code: 'invalid_value', event_id: event.event_id ?? null } })
        else if (event.type === 'response.create') respond(reply, response?.instructions)
        if (event.type === 'response.cancel') cancel(reply, event.response_id)
        if (event.type === 'input_audio_buffer.commit') transcribe(reply)
        if (event.type === 'session.update') {
          const session = merge(sockets.get(socket) ?? {}, event.session as Settings)
          sockets.set(socket, session)
          reply({ type: 'session.updated', session })
        }
      },
      close(socket, code, reason) {
        sockets.delete(socket)
        ended.push({ code, reason })
      },
    },
  })

  function send(socket: Bun.ServerWebSocket<undefined>, event: object): void {
    socket.send(JSON.stringify({ ...event, event_id: `event_fake${++serial}` }))
  }

  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    opened,
    received,
    ended,
    send(event) {
      for (const socket of sockets.keys()) send(socket, event)
    },
    close(code, reason) {
      for (const socket of sockets.keys()) {
        if (code === undefined) socket.terminate()
        else socket.close(code, reason)
      }
    },
    stop: () => server.stop(true),
  }
}

/** Like OpenAI, an update leaves settings that it does not name unchanged. */
function merge(settings: Settings, update: Settings): Settings {
  const isObject = (value: unknown): value is Settings => typeof value === 'object' && value !== null
  const changed = Object.entries(update).map(([name, value]) => {
    const known = settings[name]
    return [name, isObject(value) && isObject(known) && !Array.isArray(value) ? merge(known, value) : value]
  })
  return { ...settings, ...Object.fromEntries(changed) }
}
