/** Tests for every client library: one response is the same in every form. */
import { describe, expect, test } from 'vitest'
import type { CorpusEntry } from '../../fake-provider/corpus.ts'
import { type FakeProvider, startFakeProvider } from '../../fake-provider/server.ts'
import { describeBackends, describeOnce } from '../../harness/backends.ts'
import { draw } from '../../harness/depth.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { REPAIRED } from './misread.ts'
import { FAILED_CHATS, INCOMPLETE_CHATS, WHOLE_CHATS } from './play-corpus.ts'
import { hasFailed, type Reader, readForms } from './read-forms.ts'

export interface FormTests {
  client: string
  reader: Reader
  /** Responses of a kind that this client does not support, by name, with the reason. */
  unknown?: Record<string, string>
  /**
   * Responses whose stream this client reads differently from the plain form, even directly from the provider; by name, with the reason.
   */
  misread?: Record<string, string>
  /** Runs on every backend. One is sufficient for most clients, because storage does not depend on the client. */
  everywhere?: boolean
  /** Further tests of this client, with the same proxy. */
  define?(running: () => Running): void
}

/** Each failure of a provider reaches the client, without retries or an open circuit. */
const UNASSISTED = { UPSTREAM_MAX_RETRIES: '0', UPSTREAM_CIRCUIT_FAILURES: '1000000' }

export interface Running {
  proxy: TestProxy
  upstream: FakeProvider
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
  describeForms(`one response in every form, read by ${client}`, backend => {
    const upstream = duringTests(startFakeProvider)
    const proxy = duringTests(() =>
      startProxy({ stores: backend.open(), environment: { ...upstream.environment, ...UNASSISTED } }),
    )

    describe('complete responses are the same live, streamed from the cache, and plain from the cache', () => {
      test.each(draw(WHOLE_CHATS.filter(known)))('$name', async entry => {
        const forms = await readForms(reader, entry, proxy, upstream)
        expect(forms.caches).toEqual(['MISS', 'HIT', 'HIT'])
        if (!(entry.name in REPAIRED)) expect(forms.live).toEqual(forms.direct)
        expect(forms.streamedAgain).toEqual(forms.told)
        expect(forms.plainAgain).toEqual(forms.told)
        // Live bytes are forwarded unchanged, so a client reads them as it reads the provider's own.
        if (entry.name in misread) expect(forms.live).not.toEqual(forms.told)
        else expect(forms.live).toEqual(forms.told)
      })
    })

    describe('incomplete responses are the same as their provider sends them, each time new', () => {
      test.each(draw(INCOMPLETE_CHATS))('$name', async entry => {
        const forms = await readForms(reader, entry, proxy, upstream)
        expect(forms.caches.slice(0, 2)).toEqual(['MISS', 'MISS'])
        expect(forms.live).toEqual(forms.direct)
        expect(forms.streamedAgain).toEqual(forms.direct)
      })
    })

    describe('failures are errors, each time new', () => {
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
