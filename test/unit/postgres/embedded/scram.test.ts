import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createScramExchange, createScramVerifier } from '../../../../src/postgres/embedded/scram.ts'

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The client's side of SCRAM-SHA-256 (RFC 5802). */
function prove(password: string, serverFirst: string, header = 'n,,') {
  const [, nonce = '', salt = '', iterations = ''] = /^r=(.*),s=(.*),i=(.*)$/.exec(serverFirst) ?? []
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256')
  const clientKey = hmac(salted, 'Client Key')
  const storedKey = createHash('sha256').update(clientKey).digest()
  const bare = `c=${Buffer.from(header).toString('base64')},r=${nonce}`
  const message = `n=,r=client,${serverFirst},${bare}`
  const signature = hmac(storedKey, message)
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)))
  return {
    final: `${bare},p=${proof.toString('base64')}`,
    server: `v=${hmac(hmac(salted, 'Server Key'), message).toString('base64')}`,
  }
}

const verifier = createScramVerifier('secret')

test('admits a client that knows the password, and proves that the server knows it', () => {
  const exchange = createScramExchange(verifier)
  const serverFirst = exchange.begin('n,,n=,r=client') ?? ''
  expect(serverFirst).toMatch(/^r=client.{24},s=/)
  const { final, server } = prove('secret', serverFirst)
  expect(exchange.finish(final)).toBe(server)
})

test('rejects a client that does not', () => {
  const exchange = createScramExchange(verifier)
  expect(exchange.finish('c=biws,r=x,p=AAAA')).toBe(null)
  const serverFirst = exchange.begin('n,,n=,r=client') ?? ''
  expect(exchange.finish(prove('Secret', serverFirst).final)).toBe(null)
  // The proof belongs to another exchange.
  const earlier = createScramExchange(verifier).begin('n,,n=,r=client') ?? ''
  expect(exchange.finish(prove('secret', earlier).final)).toBe(null)
  // The header differs from the one in the first message.
  expect(exchange.finish(prove('secret', serverFirst, 'y,,').final)).toBe(null)
})

test.each(['', 'n,,', 'p=tls-unique,,n=,r=x', 'n,,n=,r=', 'n,,r=x', 'n,,n=,r=a b'])(
  'rejects %j as a first message',
  message => {
    expect(createScramExchange(verifier).begin(message)).toBe(null)
  },
)
