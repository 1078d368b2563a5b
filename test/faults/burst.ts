/** Many concurrent requests, each over its own connection. `fetch` would send a few hundred and queue the others. */

export interface BurstAnswer {
  status: number
  /** Header names are in lower case. */
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  json: any
}

/** The limit for a response that never comes. */
const ANSWERED_WITHIN_MS = 120_000

/** Opens all connections, then sends one chat request over each, alternating between the ports. */
export async function sendBurst(
  ports: readonly number[],
  key: string,
  prompts: readonly string[],
): Promise<BurstAnswer[]> {
  const calls = await Promise.all(prompts.map((_, i) => openCall(ports[i % ports.length] ?? 0)))
  const answers = calls.map((call, i) => call.ask(key, prompts[i] ?? ''))
  const late = Bun.sleep(ANSWERED_WITHIN_MS).then(() => {
    throw new Error(`Not all of ${prompts.length} requests were answered within ${ANSWERED_WITHIN_MS} ms`)
  })
  return Promise.race([Promise.all(answers), late])
}

async function openCall(port: number) {
  const parts: Buffer[] = []
  const { promise: closed, resolve, reject } = Promise.withResolvers<Buffer>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, bytes) {
        parts.push(Buffer.from(bytes))
      },
      close: () => resolve(Buffer.concat(parts)),
      error: (_, error) => reject(error),
    },
  })
  return {
    async ask(key: string, prompt: string): Promise<BurstAnswer> {
      const body = JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: prompt }] })
      socket.write(
        [
          'POST /v1/chat/completions HTTP/1.1',
          'host: proxy',
          `authorization: Bearer ${key}`,
          'content-type: application/json',
          `content-length: ${Buffer.byteLength(body)}`,
          'connection: close',
          '',
          body,
        ].join('\r\n'),
      )
      return parseAnswer((await closed).toString())
    },
  }
}

function parseAnswer(text: string): BurstAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const json = headers['content-type'] === 'application/json' ? JSON.parse(body) : null
  return { status: Number(statusLine.split(' ')[1]), headers, json }
}
