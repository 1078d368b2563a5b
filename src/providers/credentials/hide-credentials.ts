/** An answer without credentials: its headers and its body. */
import type { UpstreamAnswer } from '../upstream.ts'
import type { CredentialFilter, Credentials } from './credentials.ts'

/** Changes the headers. */
export function hideInHeaders(headers: Headers, credentials: Credentials): void {
  const pairs = [...headers]
  // Most often there is none in any of them.
  const all = pairs.join('\n')
  if (credentials.hide(all) === all) return
  for (const [name, value] of pairs) {
    if (credentials.hide(name) !== name) headers.delete(name)
    else {
      const hidden = credentials.hide(value)
      if (hidden !== value) headers.set(name, hidden)
    }
  }
}

/** The answer also without the credentials of earlier attempts at the same request, with other keys. */
export function hideEarlier(
  answer: UpstreamAnswer,
  earlier: readonly Pick<UpstreamAnswer, 'credentials'>[],
): UpstreamAnswer {
  let hidden = answer
  for (const credentials of new Set(earlier.map(outcome => outcome.credentials))) {
    if (!credentials || credentials === answer.credentials) continue
    const filter = credentials.open()
    const { body, mayStore } = hidden
    hideInHeaders(answer.headers, credentials)
    hidden = { ...hidden, body: filterStream(body, filter), mayStore: () => mayStore() && !filter.hasFound }
  }
  return hidden
}

function filterStream(body: ReadableStream<Uint8Array>, filter: CredentialFilter): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          const bytes = done ? filter.end() : filter.push(value)
          if (bytes.length > 0) controller.enqueue(bytes)
          if (done) return controller.close()
          if (bytes.length > 0) return
        }
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
