/**
 * What the proxy adds to a stream: time to its first event, and processor time for each chunk that passes.
 *
 * Each first event is timed by way of the proxy, by way of a bare forwarder that takes the same round trips and does nothing
 * else, and straight from the same upstream, in turn, so that a noisy moment hits them all. Every stream is a miss: admission,
 * lookup and the upstream call all lie before its first event.
 */
import { readFileSync } from 'node:fs'
import type { Socket } from 'bun'

export interface StreamBench {
  proxyPort: number
  /** The proxy's process. */
  proxyPid: number
  /** The port of `bare-forwarder.ts`. */
  barePort: number
  upstreamPort: number
  key: string
  rounds: number
}

export interface StreamResult {
  firstEvents: FirstEventResult[]
  chunks: ChunkResult
  crowd: CrowdResult
}

interface FirstEventResult {
  concurrent: number
  streams: number
  directP50Ms: number
  bareP50Ms: number
  proxiedP50Ms: number
  /** The proxy's median minus the upstream's. */
  addedP50Ms: number
  addedP99Ms: number
  /** The bare forwarder's median minus the upstream's. */
  bareAddedP50Ms: number
}

interface ChunkResult {
  chunks: number
  /** User and system time of the proxy's process, including the requests, whose share of a long stream is small. */
  cpuMicrosecondsPerChunk: number
}

/** Many slow streams at once, in several turns: a later turn must take no more memory than an earlier one. */
interface CrowdResult {
  streams: number
  /** Memory of the proxy's process in MiB, after each turn. */
  residentMiB: number[]
}

const CROWD = 2_000
const CROWD_TURNS = 4
/** Streams start one after the other, and the last before the first has ended. */
const CROWD_PAUSE_MS = 3
const CONCURRENT = [1, 100]
/** Small, because servers close a connection that is idle for ten seconds. */
const STREAMS_PER_BLOCK = 50
const BLOCKS_PER_ROUND = 4
const WARM_UP_STREAMS = 4_000
const WARM_UP_CONCURRENT = 20
const LONG_STREAMS = 20
/** Characters of the long answers: about 1,000 chunks each. */
const LONG_CHARS = 9_000
const PAGE_BYTES = 4_096
/** The kernel's unit of processor time. */
const TICKS_PER_SECOND = 100

export async function measureStreams(bench: StreamBench): Promise<StreamResult> {
  await warmUp(bench.barePort, bench.key)
  await warmUp(bench.proxyPort, bench.key)
  await script(bench, { kind: 'answer', chunkPauseMs: 1 })
  const firstEvents: FirstEventResult[] = []
  for (const concurrent of CONCURRENT) firstEvents.push(await measureFirstEvents(bench, concurrent))
  await script(bench, { kind: 'answer', contentChars: LONG_CHARS, chunkPauseMs: 1 })
  const chunks = await measureChunks(bench)
  await script(bench, { kind: 'answer', contentChars: 180, chunkPauseMs: 500 })
  const crowd = await measureCrowd(bench)
  await script(bench, null)
  return { firstEvents, chunks, crowd }
}

export function printStreams({ firstEvents, chunks, crowd }: StreamResult): void {
  for (const { concurrent, addedP50Ms, addedP99Ms, bareAddedP50Ms, directP50Ms, proxiedP50Ms } of firstEvents) {
    const figures = `added p50 ${addedP50Ms.toFixed(3)} ms, p99 ${addedP99Ms.toFixed(3)} ms`
    const floor = `a bare forwarder with the same round trips: ${bareAddedP50Ms.toFixed(3)} ms`
    const medians = `p50 ${proxiedP50Ms.toFixed(3)} ms, upstream alone ${directP50Ms.toFixed(3)} ms`
    process.stdout.write(`first event, ${concurrent} at once: ${figures}; ${floor} (${medians})\n`)
  }
  const { cpuMicrosecondsPerChunk: cost, chunks: count } = chunks
  process.stdout.write(`a passed chunk: ${cost.toFixed(1)} µs of processor time (${count} chunks)\n`)
  const memory = crowd.residentMiB.map(size => size.toFixed(0)).join(', ')
  process.stdout.write(`${crowd.streams} streams at once, again and again: ${memory} MiB resident\n`)
}

/** JIT compilers need some thousand requests to reach full speed. */
async function warmUp(port: number, key: string): Promise<void> {
  const clients = await openClients(port, WARM_UP_CONCURRENT)
  for (let turn = 0; turn < WARM_UP_STREAMS / WARM_UP_CONCURRENT; turn++) await streamAll(clients, key)
  for (const client of clients) client.close()
}

async function measureFirstEvents(bench: StreamBench, concurrent: number): Promise<FirstEventResult> {
  const direct: number[] = []
  const bare: number[] = []
  const proxied: number[] = []
  const toUpstream = await openClients(bench.upstreamPort, concurrent)
  const toBare = await openClients(bench.barePort, concurrent)
  const toProxy = await openClients(bench.proxyPort, concurrent)
  const turns = Math.ceil(STREAMS_PER_BLOCK / concurrent)
  for (let block = 0; block < bench.rounds * BLOCKS_PER_ROUND; block++) {
    for (const [clients, times] of [
      [toUpstream, direct],
      [toBare, bare],
      [toProxy, proxied],
    ] as const) {
      for (let turn = 0; turn < turns; turn++) {
        for (const { firstEventMs } of await streamAll(clients, bench.key)) times.push(firstEventMs)
      }
    }
  }
  for (const client of [...toUpstream, ...toBare, ...toProxy]) client.close()
  const [directP50Ms = 0, bareP50Ms = 0, proxiedP50Ms = 0] = [direct, bare, proxied].map(times => quantile(times, 0.5))
  return {
    concurrent,
    streams: proxied.length,
    directP50Ms,
    bareP50Ms,
    proxiedP50Ms,
    addedP50Ms: proxiedP50Ms - directP50Ms,
    addedP99Ms: quantile(proxied, 0.99) - quantile(direct, 0.99),
    bareAddedP50Ms: bareP50Ms - directP50Ms,
  }
}

async function measureCrowd({ proxyPort, proxyPid, key }: StreamBench): Promise<CrowdResult> {
  const clients = await openClients(proxyPort, CROWD)
  const residentMiB: number[] = []
  for (let turn = 0; turn < CROWD_TURNS; turn++) {
    await Promise.all(
      clients.map(async (client, i) => {
        await Bun.sleep(i * CROWD_PAUSE_MS)
        await client.stream(writeBody(serial++), withKey(key))
      }),
    )
    const pages = Number(readFileSync(`/proc/${proxyPid}/statm`, 'utf8').split(' ')[1])
    residentMiB.push((pages * PAGE_BYTES) / 1_048_576)
  }
  for (const client of clients) client.close()
  return { streams: CROWD, residentMiB }
}

async function measureChunks(bench: StreamBench): Promise<ChunkResult> {
  const clients = await openClients(bench.proxyPort, LONG_STREAMS)
  await streamAll(clients, bench.key)
  const before = readCpuSeconds(bench.proxyPid)
  let chunks = 0
  for (let round = 0; round < bench.rounds; round++) {
    for (const stream of await streamAll(clients, bench.key)) chunks += stream.events
  }
  const seconds = readCpuSeconds(bench.proxyPid) - before
  for (const client of clients) client.close()
  return { chunks, cpuMicrosecondsPerChunk: (seconds * 1_000_000) / chunks }
}

function readCpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The process's name before the closing parenthesis may contain any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

async function script({ upstreamPort }: StreamBench, scenario: object | null): Promise<void> {
  const url = `http://127.0.0.1:${upstreamPort}/__script`
  if (scenario === null) await fetch(url, { method: 'DELETE' })
  else await fetch(url, { method: 'PUT', body: JSON.stringify(scenario) })
}

/** How a chunked body ends. */
const LAST_CHUNK = '\r\n0\r\n\r\n'

interface StreamTiming {
  /** From the request to the first event of its response. */
  firstEventMs: number
  events: number
}

interface Client {
  stream(body: string, headers: Record<string, string>): Promise<StreamTiming>
  close(): void
}

let serial = Date.now()

const withKey = (key: string) => ({ authorization: `Bearer ${key}` })

function streamAll(clients: Client[], key: string): Promise<StreamTiming[]> {
  return Promise.all(clients.map(client => client.stream(writeBody(serial++), withKey(key))))
}

/** The median time to the first event of streams that are asked for one after the other, in milliseconds. */
export async function timeFirstEvents(port: number, headers: Record<string, string>, streams: number): Promise<number> {
  const times: number[] = []
  const client = await openClient(port)
  while (times.length < streams) times.push((await client.stream(writeBody(serial++), headers)).firstEventMs)
  client.close()
  return quantile(times, 0.5)
}

function writeBody(n: number): string {
  const messages = [
    { role: 'system', content: `Answer as expert ${n}.` },
    { role: 'user', content: `Tell me something about number ${n}.` },
  ]
  return JSON.stringify({ model: 'openai/gpt-4o-mini', messages, stream: true })
}

function openClients(port: number, count: number): Promise<Client[]> {
  return Promise.all(Array.from({ length: count }, () => openClient(port)))
}

/** A separate connection over a raw socket, because fetch would cost more than what is measured. */
async function openClient(port: number): Promise<Client> {
  let onData: (bytes: Buffer) => void = () => {}
  let onLost: (error: Error) => void = () => {}
  const socket: Socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_, bytes) => onData(bytes),
      close: () => onLost(new Error(`The connection to port ${port} was closed in mid-stream`)),
      error: (_, error) => onLost(error),
    },
  })
  return {
    stream(body, headers) {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const { promise, resolve, reject } = Promise.withResolvers<StreamTiming>()
      const sentAtMs = performance.now()
      let firstEventMs = 0
      let events = 0
      let head = ''
      let tail = ''
      /** Of a response that is not chunked: bytes that are still to come. */
      let left = Number.POSITIVE_INFINITY
      onLost = reject
      onData = bytes => {
        const text = bytes.toString('latin1')
        if (head === '') {
          head = text.slice(0, 12)
          if (!head.endsWith('200')) reject(new Error(`Expected 200, got ${text}`))
          const length = /content-length: (\d+)/i.exec(text)
          if (length) left = text.indexOf('\r\n\r\n') + 4 + Number(length[1])
        }
        const found = text.split('data: {').length - 1
        if (found > 0 && events === 0) firstEventMs = performance.now() - sentAtMs
        events += found
        tail = (tail + text).slice(-LAST_CHUNK.length)
        left -= text.length
        if (left <= 0 || tail === LAST_CHUNK) resolve({ firstEventMs, events })
      }
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
      return promise
    },
    close() {
      onLost = () => {}
      socket.end()
    },
  }
}

function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0
}
