/** The mailer with a real SMTP server. */
import { afterEach, expect, test } from 'vitest'
import { createMailer, MailNotSent } from '../../../../src/admin/mail/mailer.ts'
import type { MailConfig } from '../../../../src/config/mail.ts'
import { LOCALHOST_CERTIFICATE } from '../../../harness/localhost-certificate.ts'
import { MAIL_PASSWORD, readMailText, startMailServer, startSilentMailServer } from '../../../harness/mail-server.ts'
import { waitUntil } from '../../../harness/wait-until.ts'

const MAIL = { to: 'ada@example.org', subject: 'Grüße', text: 'Ein Satz.\n', html: '<p>Ein Satz.</p>', id: 'msg_1' }
const LOGIN = { user: 'proxy', password: MAIL_PASSWORD }
const running: { stop(): Promise<void> }[] = []
afterEach(async () => void (await Promise.all(running.splice(0).map(each => each.stop()))))

async function startServer(options: Parameters<typeof startMailServer>[0] = {}) {
  const server = await startMailServer(options)
  running.push(server)
  return server
}
async function startSilentServer(greeting?: string) {
  const server = await startSilentMailServer(greeting)
  running.push(server)
  return server
}
const configOf = (port: number, changes: Partial<MailConfig> = {}): MailConfig => ({
  host: 'localhost',
  port,
  tls: 'required',
  login: null,
  ca: LOCALHOST_CERTIFICATE,
  from: 'Model Proxy <proxy@example.com>',
  ...changes,
})
const send = (config: MailConfig, mail: Partial<typeof MAIL> = {}, timeLimitMs?: number, signal?: AbortSignal) =>
  createMailer(config, timeLimitMs)?.send({ ...MAIL, ...mail }, signal)
const failureOf = async (sending: Promise<void> | undefined): Promise<MailNotSent> => {
  const error = await Promise.resolve(sending).then(
    () => null,
    error => error,
  )
  expect(error).toBeInstanceOf(MailNotSent)
  return error
}

test('sends text and HTML over STARTTLS, with a login', async () => {
  const server = await startServer({ login: LOGIN })
  await send(configOf(server.port, { login: LOGIN }))
  const [mail] = server.mails
  expect(mail).toMatchObject({ from: 'proxy@example.com', to: [MAIL.to], isEncrypted: true, user: 'proxy' })
  expect(mail?.raw).toContain('Message-ID: <msg_1@example.com>')
  expect(mail?.raw).toContain('Auto-Submitted: auto-generated')
  expect(mail?.raw).toMatch(/^From: Model Proxy <proxy@example.com>/m)
  expect(mail?.raw).toMatch(/Content-Type: text\/html/)
  expect(readMailText(mail?.raw ?? '')).toContain('Ein Satz.')
})

test('sends over TLS from the first byte', async () => {
  const server = await startServer({ tls: 'implicit' })
  await send(configOf(server.port, { tls: 'implicit' }))
  expect(server.mails).toMatchObject([{ isEncrypted: true }])
})

test('sends nothing without TLS, unless it is optional', async () => {
  const server = await startServer({ tls: 'none' })
  expect((await failureOf(send(configOf(server.port)))).message).toContain('secure connection')
  expect(server.mails).toEqual([])
  await send(configOf(server.port, { tls: 'optional' }))
  expect(server.mails).toMatchObject([{ isEncrypted: false }])
})

test.each(['starttls', 'implicit'] as const)('rejects a certificate of an unknown authority (%s)', async tls => {
  const server = await startServer({ tls })
  const config = configOf(server.port, { ca: null, tls: tls === 'implicit' ? 'implicit' : 'required' })
  const { message, status } = await failureOf(send(config))
  expect([message, status]).toEqual([expect.stringContaining('secure connection'), null])
  expect(server.mails).toEqual([])
})

test('reports a wrong login without the password', async () => {
  const server = await startServer({ login: LOGIN })
  const wrong = { user: 'proxy', password: 'wrong-password' }
  const { message, status } = await failureOf(send(configOf(server.port, { login: wrong })))
  expect([message, status]).toEqual(['the mail server rejected the login: 535', 535])
  expect(server.mails).toEqual([])
})

test('reports a rejected address without the server’s words', async () => {
  const server = await startServer()
  const { message, status } = await failureOf(send(configOf(server.port), { to: 'rejected@example.org' }))
  expect([message, status]).toEqual(['the mail server rejected the address: 550', 550])
})

test('a name cannot add a header or a recipient', async () => {
  const server = await startServer()
  await send(configOf(server.port), { subject: 'x\r\nBcc: eve@example.org' })
  expect(server.mails[0]?.to).toEqual([MAIL.to])
  expect(server.mails[0]?.raw).not.toMatch(/^Bcc:/m)
})

test('gives up on a server that hangs, and closes the connection', async () => {
  for (const greeting of ['', '220 slow ESMTP\r\n']) {
    const server = await startSilentServer(greeting)
    expect((await failureOf(send(configOf(server.port), {}, 200))).message).toBe(
      'the mail server did not respond within 0.2 seconds',
    )
    await waitUntil('the connection is closed', () => server.open.size === 0)
  }
})

test('a stop ends a mail in flight', async () => {
  const server = await startSilentServer('220 slow ESMTP\r\n')
  const stopping = new AbortController()
  const sending = failureOf(send(configOf(server.port), {}, 60_000, stopping.signal))
  await waitUntil('the connection', () => server.open.size === 1)
  stopping.abort()
  await sending
  await waitUntil('the connection is closed', () => server.open.size === 0)
})

test('reports that nothing listens', async () => {
  const server = await startSilentMailServer()
  await server.stop()
  expect((await failureOf(send(configOf(server.port)))).message).toMatch(/^there is no connection to the mail server/)
})
