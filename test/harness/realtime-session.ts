/** Opens a realtime session without an SDK and collects its events. */
import { expect } from 'vitest'

export type RealtimeEvent = Record<string, unknown> & { type: string }

export async function openRealtimeSession(url: string, apiKey: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${apiKey}`, ...headers } } as never)
  const events: RealtimeEvent[] = []
  const end = Promise.withResolvers<{ code: number; reason: string }>()
  socket.onmessage = ({ data }) => void events.push(JSON.parse(data))
  socket.onclose = ({ code, reason }) => end.resolve({ code, reason })
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  return {
    socket,
    events,
    ended: end.promise,
    send: (event: object) => socket.send(JSON.stringify(event)),
    /** Waits until this many events of a type arrived. */
    has: (type: string, count = 1) => expect.poll(() => events.filter(each => each.type === type).length).toBe(count),
    /** Returns the code of the first error; undefined without one. */
    errorCode: () => (events.find(({ type }) => type === 'error')?.error as { code?: string } | undefined)?.code,
    async close() {
      socket.close(1000)
      await end.promise
    },
  }
}
