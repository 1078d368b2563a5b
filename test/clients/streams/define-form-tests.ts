/** The tests that every client library is put to: one answer, the same in every form. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeBackends, describeOnce } from '../../harness/backends.ts'
import { draw } from '../../harness/depth.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import type { CorpusEntry } from '../../standin/corpus.ts'
import { type Standin, startStandin } from '../../standin/server.ts'
import { REPAIRED } from './misread.ts'
import { FAILED_CHATS, INCOMPLETE_CHATS, WHOLE_CHATS } from './play-corpus.ts'
import { hasFailed, type Reader, readForms } from './read-forms.ts'

export interface FormTests {
  client: string
  reader: Reader
  /** Answers of a kind this client does not know, by name, and why. */
  unknown?: Record<string, string>
  /** Answers whose stream this client reads otherwise than their plain form, even straight from upstream, by name, and why. */
  misread?: Record<string, string>
  /** On every backend, where one will do for the others: what is stored does not depend on the client that reads it. */
  everywhere?: boolean
  /** Further tests of this client, on the same proxy. */
  define?(running: () => Running): void
}

/** Each request fails as its provider does. */
const UNASSISTED = { UPSTREAM_MAX_RETRIES: '0', UPSTREAM_CIRCUIT_FAILURES: '1000000' }

export interface Running {
  proxy: TestProxy
  upstream: Standin
}

export function defineFormTests({
  client,
  reader,
  unknown = {},
  misread = {},
  everywhere = false,
  define,
}: FormTests): void {
  const known = (entry: CorpusEntry) => !(entry.name in unknown)

  const describeForms = everywhere ? describeBackends : describeOnce
  describeForms(`one answer in every form, read by ${client}`, backend => {
    let upstream: Standin
    let proxy: TestProxy

    beforeAll(async () => {
      upstream = await startStandin()
      const environment = { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'k', ...UNASSISTED }
      proxy = await startProxy({ stores: await backend.open(), environment })
    })
    afterAll(() => Promise.all([proxy.stop(), upstream.stop()]))

    describe('whole answers are the same live, streamed from the cache, and plain from the cache', () => {
      test.each(draw(WHOLE_CHATS.filter(known)))('$name', async entry => {
        const forms = await readForms(reader, entry, proxy, upstream)
        expect(forms.caches).toEqual(['MISS', 'HIT', 'HIT'])
        if (!(entry.name in REPAIRED)) expect(forms.live).toEqual(forms.direct)
        expect(forms.streamedAgain).toEqual(forms.told)
        expect(forms.plainAgain).toEqual(forms.told)
        // Live bytes pass as they are: no client is better off with them than it was without us.
        if (entry.name in misread) expect(forms.live).not.toEqual(forms.told)
        else expect(forms.live).toEqual(forms.told)
      })
    })

    describe('incomplete responses are as live as their provider sends them, each time anew', () => {
      test.each(draw(INCOMPLETE_CHATS))('$name', async entry => {
        const forms = await readForms(reader, entry, proxy, upstream)
        expect(forms.caches.slice(0, 2)).toEqual(['MISS', 'MISS'])
        expect(forms.live).toEqual(forms.direct)
        expect(forms.streamedAgain).toEqual(forms.direct)
      })
    })

    describe('failures are errors, each time anew', () => {
      test.each(draw(FAILED_CHATS))('$name', async entry => {
        const { live, streamedAgain, caches } = await readForms(reader, entry, proxy, upstream)
        expect(caches.slice(0, 2)).toEqual(['MISS', 'MISS'])
        expect([live, streamedAgain].filter(hasFailed)).toHaveLength(2)
        expect(streamedAgain).toEqual(live)
      })
    })

    define?.(() => ({ proxy, upstream }))
  })
}
