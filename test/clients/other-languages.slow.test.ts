/**
 * Clients in Go, Java and Rust; only their base URL and key are changed. One program for each language runs all conversations and prints a
 * line for each.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { openSharedEmbedded } from '../harness/shared-embedded.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { callWeather } from './weather-tool.ts'

const made = createTemporaryDirectory()
/** Kept for later runs. The build takes a minute on two cores, at the lowest priority. */
const RUST_TARGET = join(tmpdir(), 'model-proxy-clients-rust')

interface Language {
  language: string
  folder: string
  needed: string[]
  prepare: string[]
  program(): Promise<string[]>
  environment: Record<string, string>
  /** The number for each of three models, directly and through the aggregator. */
  conversations: number
  /** The number of further conversations. */
  others: number
}

const LANGUAGES: Language[] = [
  {
    language: 'Go',
    folder: 'go',
    needed: ['go'],
    // Without optimizations and debug information, the two packages compile in half of the time.
    prepare: [
      'go',
      'build',
      '-gcflags',
      'all=-N -l -dwarf=false',
      '-ldflags',
      '-s -w',
      '-o',
      join(made, 'clients'),
      '.',
    ],
    program: async () => [join(made, 'clients')],
    environment: { GOGC: '400' },
    conversations: 8,
    others: 1,
  },
  {
    language: 'Java',
    folder: 'java',
    needed: ['java', 'mvn'],
    prepare: ['mvn', '-q', '-B', 'dependency:build-classpath', `-Dmdep.outputFile=${join(made, 'class-path')}`],
    program: async () => ['java', '-cp', await Bun.file(join(made, 'class-path')).text(), 'Clients.java'],
    // The program runs for seconds only. The first compiler tier halves its processor time.
    environment: { JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' },
    conversations: 11,
    others: 1,
  },
  {
    language: 'Rust',
    folder: 'rust',
    needed: ['cargo'],
    prepare: ['nice', '-n', '19', 'cargo', 'build', '--quiet', '--locked', '--target-dir', RUST_TARGET],
    program: async () => [join(RUST_TARGET, 'debug', 'clients')],
    environment: {},
    conversations: 6,
    others: 2,
  },
]

async function run(command: string[], folder: string, environment: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: join(import.meta.dirname, folder),
    env: { ...process.env, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed: ${complaint}${out}`)
  return out
}

const PROVIDERS = ['openai', 'anthropic', 'groq'] as const
const missing = ({ needed }: { needed: string[] }) => needed.find(name => !Bun.which(name))

describe.skipIf(LANGUAGES.every(missing))('clients of other languages', () => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(async () => {
    const stores = {
      database: await openSharedEmbedded(),
      store: createInProcessStore(),
      databaseUrl: null,
      redisUrl: null,
    }
    return startProxy({ stores, environment: upstreams.environment })
  })
  let environment: Record<string, string>

  beforeAll(async () => {
    callWeather(upstreams)
    const direct = await proxy.createKey({ project: 'direct', type: 'project' })
    for (const provider of PROVIDERS) await storeKey(proxy.stores, 'direct', provider, 'sk-own')
    environment = {
      PROXY_ROOT: proxy.rootUrl,
      PROXY_KEY_DIRECT: direct,
      PROXY_KEY_AGGREGATOR: await proxy.createKey({ type: 'project' }),
    }
  })

  test.for(LANGUAGES)(
    '$language’s hold conversations at every endpoint, with every provider’s models',
    { timeout: 900_000 },
    async (tried, { skip }) => {
      const lacks = missing(tried)
      skip(lacks !== undefined, `there is no ${lacks}`)
      await run(tried.prepare, tried.folder, tried.environment)
      const printed = await run(await tried.program(), tried.folder, { ...environment, ...tried.environment })
      const lines = printed.trim().split('\n')
      expect(lines.filter(line => !line.startsWith('PASSED'))).toEqual([])
      expect(lines).toHaveLength(2 * PROVIDERS.length * tried.conversations + tried.others)
    },
  )
})
