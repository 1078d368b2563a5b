/** An upstream that sends every byte when the test says so. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface DrivenUpstream {
  /** Ends in /v1. */
  baseUrl: string
  /** The next request, once its body has arrived and the head of its stream has been sent. */
  nextCall(): Promise<DrivenCall>
  stop(): Promise<void>
}

export interface DrivenCall {
  /** Sends bytes. Resolves when more can be sent, immediately if the buffer is not full. */
  send(text: string): Promise<void>
  /** Sends one event. */
  say(content: string): Promise<void>
  end(): void
  /** Cuts the connection after sent bytes have had time to arrive. */
  cut(): Promise<void>
  /** The other side has disconnected. */
  readonly isClosed: boolean
}

export async function startDrivenUpstream(): Promise<DrivenUpstream> {
  const sockets = new Set<Socket>()
  const arrived: DrivenCall[] = []
  const waiting: ((call: DrivenCall) => void)[] = []
  const server = createServer((message, response) => {
    message.resume()
    message.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      const call = drive(response)
      const wanted = waiting.shift()
      if (wanted) wanted(call)
      else arrived.push(call)
    })
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    nextCall() {
      const call = arrived.shift()
      return call ? Promise.resolve(call) : new Promise(resolve => waiting.push(resolve))
    },
    stop() {
      for (const socket of sockets) socket.destroy()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

/** Encodes one event of a chat stream. */
export function eventOf(content: string, fields: Record<string, unknown> = {}): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }]
  const chunk = { id: 'chatcmpl-driven', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...fields }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** The events that end a chat stream. */
export function closingEvents(): string {
  const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
  return `${eventOf('', { choices })}${eventOf('', { choices: [], usage })}data: [DONE]\n\n`
}

function drive(response: ServerResponse): DrivenCall {
  response.setMaxListeners(0)
  const send = (text: string): Promise<void> => {
    if (response.write(text) || response.closed) return Promise.resolve()
    return new Promise(resolve => {
      response.once('drain', resolve)
      response.once('close', resolve)
    })
  }
  return {
    send,
    say: content => send(eventOf(content)),
    end: () => response.end(),
    async cut() {
      await Bun.sleep(20)
      response.socket?.destroy()
    },
    get isClosed() {
      return response.closed
    },
  }
}
