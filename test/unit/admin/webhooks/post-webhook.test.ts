import { expect, test } from 'vitest'
import { isPrivateAddress, postWebhook, validateWebhookUrl } from '../../../../src/admin/webhooks/post-webhook.ts'

const at = (address: string) => ({ address, family: address.includes(':') ? 6 : 4 })
const signal = new AbortController().signal
const message = { headers: {}, body: '{}', signal }

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fc00::1',
  'fd12::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  '2001::1',
  'ff02::1',
])('%s is private', address => {
  expect(isPrivateAddress(address)).toBe(true)
})

test.each(['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1'])('%s is public', address => {
  expect(isPrivateAddress(address)).toBe(false)
})

test.each([
  ['ftp://example.com', 'https://'],
  ['http://example.com', 'https://'],
  ['https://user:pass@example.com', 'must not contain a user'],
  ['https://169.254.169.254/latest/', 'private network'],
  ['https://[::1]/', 'private network'],
  ['example.com/hook', 'must be a URL'],
])('rejects %s before anything is sent', (url, problem) => {
  expect(() => validateWebhookUrl(url, false)).toThrow(problem)
})

test.each([
  'https://localhost/',
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://[::ffff:7f00:1]/',
])('sends nothing to %s, which resolves to a private network', async url => {
  await expect(postWebhook({ ...message, url, allowsPrivateNetworks: false })).rejects.toThrow('private network')
})

test('sends nothing to a name if one of its addresses is private', async () => {
  const asked = postWebhook({ ...message, url: 'https://both.invalid/', allowsPrivateNetworks: false }, async () => [
    at('1.1.1.1'),
    at('fd12::1'),
  ])
  await expect(asked).rejects.toThrow('private network')
})

test('connects to the addresses that were checked, whatever the name resolves to later', async () => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('here') })
  // DNS does not resolve this name. Only the given lookup function does.
  const url = `http://turns.invalid:${server.port}/`
  expect(await postWebhook({ ...message, url, allowsPrivateNetworks: true }, async () => [at('127.0.0.1')])).toBe(200)
  await server.stop(true)
})

test('treats a redirect as a response and does not follow it', async () => {
  let asked = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      asked++
      return new Response(null, { status: 302, headers: { location: '/elsewhere' } })
    },
  })
  expect(await postWebhook({ ...message, url: `http://127.0.0.1:${server.port}/`, allowsPrivateNetworks: true })).toBe(
    302,
  )
  expect(asked).toBe(1)
  await server.stop(true)
})

test('does not read an endless response to its end', async () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(65_536)) })),
  })
  expect(await postWebhook({ ...message, url: `http://127.0.0.1:${server.port}/`, allowsPrivateNetworks: true })).toBe(
    200,
  )
  await server.stop(true)
})

test('reports an unreachable host and an unknown name', async () => {
  await expect(postWebhook({ ...message, url: 'http://127.0.0.1:1/', allowsPrivateNetworks: true })).rejects.toThrow(
    'ECONNREFUSED',
  )
  await expect(
    postWebhook({ ...message, url: 'https://nowhere.invalid/', allowsPrivateNetworks: false }),
  ).rejects.toThrow('could not be resolved')
})
