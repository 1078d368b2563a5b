/** Puts hostile texts in every place of requests and answers, and fails where time grows faster than their length. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeEmbedded } from './backends.ts'
import { post } from './client.ts'
import { startUpstreams, storeKey, type Upstreams } from './direct-upstreams.ts'
import { ADDRESSES, BODY_DOORS, bodyPlacesOf, FORM_DOORS, FORM_PLACES, READ_HEADERS } from './hostile-doors.ts'
import { HOSTILE_SHAPES, type HostileShape } from './hostile-texts.ts'
import { startProxy, type TestProxy } from './proxy.ts'
import { findSlowRequest } from './slow-requests.ts'

const BODY_CHARS = 60_000
/** A request's head has 16 KiB. */
const HEAD_CHARS = 12_000

export interface Trying {
  /** Of places in bodies: 1 for all. */
  everyPlace: number
  /** Shapes for each place; the next place has the next ones. */
  shapes: number
  /** For all places of one door. */
  limitMs: number
}

interface Tried {
  place: string
  chars: number
  send(text: string): Promise<unknown>
}

export function tryPlaces(name: string, { everyPlace, shapes, limitMs }: Trying): void {
  describeEmbedded(name, backend => {
    let upstreams: Upstreams
    let proxy: TestProxy
    let keys: string[]
    let turn = 0

    beforeAll(async () => {
      upstreams = await startUpstreams()
      const stores = await backend.open()
      proxy = await startProxy({ stores, environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' } })
      const own = await proxy.createKey({ project: 'own-keys', type: 'project' })
      for (const provider of ['openai', 'anthropic', 'groq'] as const)
        await storeKey(stores, 'own-keys', provider, 'sk-own')
      keys = [own, await proxy.createKey({ type: 'test' })]
    })
    afterAll(async () => {
      await proxy.stop()
      await upstreams.stop()
    })

    const nextShapes = (): HostileShape[] =>
      Array.from({ length: shapes }, () => HOSTILE_SHAPES[turn++ % HOSTILE_SHAPES.length] as HostileShape)

    async function check(tried: readonly Tried[]): Promise<void> {
      const slow: string[] = []
      for (const { place, chars, send } of tried) {
        for (const shape of nextShapes()) {
          const grown = await findSlowRequest(chars, length => send(shape.write(length)))
          if (grown !== null) slow.push(`${place}, ${shape.name}: ${grown}`)
        }
      }
      expect(slow).toEqual([])
    }

    const read = async (asked: Promise<Response>) => (await asked).text()
    const keyOf = (at: number) => keys[at % keys.length] as string

    test.each(BODY_DOORS)(
      'the body of %s',
      async path => {
        const places = bodyPlacesOf(path).filter((_, at) => at % everyPlace === 0)
        await check(
          places.map(({ path: place, write }, at) => ({
            place,
            chars: BODY_CHARS,
            send: text => read(post(proxy, keyOf(at), path, write(text) as Record<string, unknown>)),
          })),
        )
      },
      limitMs,
    )

    test.each(FORM_DOORS)('the form of %s', async path => {
      await check(
        Object.entries(FORM_PLACES).map(([place, write], at) => ({
          place,
          chars: BODY_CHARS,
          send: text => {
            const headers = { authorization: `Bearer ${keyOf(at)}` }
            return read(fetch(proxy.baseUrl + path, { method: 'POST', headers, body: write(text) }))
          },
        })),
      )
    })

    test('headers', async () => {
      const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }
      await check(
        READ_HEADERS.filter(header => !/^(content-length|host|connection|transfer-encoding)$/.test(header)).map(
          (header, at) => ({
            place: header,
            chars: HEAD_CHARS,
            send: text =>
              read(post(proxy, keyOf(at), '/chat/completions', body, { headers: { [header]: headerText(text) } })),
          }),
        ),
      )
    })

    test('addresses', async () => {
      const headers = () => ({ authorization: `Bearer ${keys[0]}` })
      await check(
        Object.entries(ADDRESSES).flatMap(([place, write]) =>
          ['GET', 'POST'].map(method => ({
            place: `${method} of ${place}`,
            chars: HEAD_CHARS,
            send: text => {
              const address = proxy.baseUrl + write(encodeURI(text).slice(0, HEAD_CHARS))
              return read(fetch(address, { method, headers: headers() }))
            },
          })),
        ),
      )
    })
  })
}

/** What a header may hold. */
const headerText = (text: string) => text.replace(/[^\x20-\x7e]/g, '~')
