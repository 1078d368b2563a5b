/** A hostile text in one place of a request takes time in proportion to its length: in bodies, forms, headers and URLs. */
import { beforeAll, expect, test } from 'vitest'
import {
  ADDRESSES,
  BODY_ENDPOINTS,
  bodyPlacesOf,
  FORM_ENDPOINTS,
  FORM_PLACES,
  READ_HEADERS,
} from '../harness/adversarial-endpoints.ts'
import { describeEmbedded } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { HOSTILE_SHAPES, type HostileShape } from '../harness/hostile-texts.ts'
import { startProxy } from '../harness/proxy.ts'
import { findSlowRequest } from '../harness/slow-requests.ts'

const BODY_CHARS = 60_000
/** A request's head is limited to 16 KiB. */
const HEAD_CHARS = 12_000
/** The number of shapes for each place. The next place uses the next shapes. */
const SHAPES_EACH = 3
/** The limit for all cases of an endpoint, one after the other. */
const LIMIT_MS = 900_000
const CHAT = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }

interface Case {
  /** The cases of a group are one test. */
  group: string
  place: string
  chars: number
  send(text: string): Promise<Response>
}

describeEmbedded('a hostile text', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  let keys: string[]

  beforeAll(async () => {
    const own = await proxy.createKey({ project: 'own-keys', type: 'project' })
    for (const provider of ['openai', 'anthropic', 'groq'] as const)
      await storeKey(proxy.stores, 'own-keys', provider, 'sk-own')
    keys = [own, await proxy.createKey({ type: 'test' })]
  })

  const keyOf = (at: number) => keys[at % keys.length] as string
  const bodies = BODY_ENDPOINTS.flatMap(path =>
    bodyPlacesOf(path).map(({ path: place, write }, at): Case => {
      const send = (text: string) => post(proxy, keyOf(at), path, write(text) as Record<string, unknown>)
      return { group: `the body of ${path}`, place, chars: BODY_CHARS, send }
    }),
  )
  const forms = FORM_ENDPOINTS.flatMap(path =>
    Object.entries(FORM_PLACES).map(([place, write], at): Case => {
      const send = (text: string) => {
        const headers = { authorization: `Bearer ${keyOf(at)}` }
        return fetch(proxy.baseUrl + path, { method: 'POST', headers, body: write(text) })
      }
      return { group: `the form of ${path}`, place, chars: BODY_CHARS, send }
    }),
  )
  const headers = READ_HEADERS.filter(name => !/^(content-length|host|connection|transfer-encoding)$/.test(name)).map(
    (name, at): Case => {
      const send = (text: string) =>
        post(proxy, keyOf(at), '/chat/completions', CHAT, { headers: { [name]: headerText(text) } })
      return { group: 'headers', place: name, chars: HEAD_CHARS, send }
    },
  )
  const addresses = Object.entries(ADDRESSES).flatMap(([place, write]) =>
    ['GET', 'POST'].map((method): Case => {
      const send = (text: string) => {
        const address = proxy.baseUrl + write(encodeURI(text).slice(0, HEAD_CHARS))
        return fetch(address, { method, headers: { authorization: `Bearer ${keys[0]}` } })
      }
      return { group: 'addresses', place: `${method} of ${place}`, chars: HEAD_CHARS, send }
    }),
  )
  const cases = draw([...bodies, ...forms, ...headers, ...addresses].map((each, at) => ({ ...each, at }))).flatMap(
    each => {
      const shapes = Array.from({ length: SHAPES_EACH }, (_, nth) => {
        return HOSTILE_SHAPES[(each.at * SHAPES_EACH + nth) % HOSTILE_SHAPES.length] as HostileShape
      })
      return draw(shapes).map(shape => ({ ...each, shape }))
    },
  )

  test.each([...Map.groupBy(cases, ({ group }) => group)])(
    'in %s',
    async (_, drawn) => {
      const slow: string[] = []
      for (const { place, chars, send, shape } of drawn) {
        const grown = await findSlowRequest(chars, async length => (await send(shape.write(length))).text())
        if (grown !== null) slow.push(`${place}, ${shape.name}: ${grown}`)
      }
      expect(slow).toEqual([])
    },
    LIMIT_MS,
  )
})

/** Replaces characters that a header cannot contain. */
const headerText = (text: string) => text.replace(/[^\x20-\x7e]/g, '~')
