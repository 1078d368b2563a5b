/** Prometheus and the board of examples/grafana. Grafana itself is not started. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { findEngine } from '../engines/find-engine.ts'
import { killWithTests } from '../faults/servers.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { endAfterFile } from '../harness/child-processes.ts'
import { ROOT } from '../harness/docs-blocks.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { findCommands, readExample, startExample } from './start-example.ts'

interface Board {
  panels: { targets?: { expr: string }[] }[]
}

const lacks = findEngine('prometheus') === null ? 'prometheus' : null
const folder = createTemporaryDirectory()

test('Grafana gets the Prometheus of the example, and the folder of the board', () => {
  const { datasources } = Bun.YAML.parse(readExample('grafana/provisioning/datasources/prometheus.yml')) as {
    datasources: { type: string; url: string; isDefault: boolean }[]
  }
  expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://127.0.0.1:9090', isDefault: true }])
  const [prometheus = '', grafana = ''] = findCommands('grafana')
  expect(prometheus).toContain('--web.listen-address=127.0.0.1:9090')
  const { providers } = Bun.YAML.parse(readExample('grafana/provisioning/dashboards/model-proxy.yml')) as {
    providers: { type: string; options: { path: string } }[]
  }
  expect(providers).toMatchObject([{ type: 'file', options: { path: '$BOARDS' } }])
  const boards = /BOARDS=\$PWD\/(\S+)/.exec(grafana)?.[1] ?? ''
  expect(existsSync(join(ROOT, boards, 'grafana.json'))).toBe(true)
})

describe.skipIf(lacks !== null)(lacks ? `skipped: ${lacks} is not installed` : 'Prometheus', () => {
  test('scrapes the proxy, loads the alerts, and evaluates every query of the board', async () => {
    const [metricsPort, port] = [findFreePort(), findFreePort()]
    const { proxy } = await startExample({ METRICS_PORT: String(metricsPort) })
    const file = join(folder, 'prometheus.yml')
    const configuration = readExample('grafana/prometheus.yml')
      .replace('127.0.0.1:9464', `127.0.0.1:${metricsPort}`)
      .replace('../../docs', join(ROOT, 'docs'))
      .replace('scrape_interval: 15s', 'scrape_interval: 250ms\n  scrape_timeout: 250ms')
    await Bun.write(file, configuration)
    const command = (findCommands('grafana')[0] ?? '')
      .replace('examples/grafana/prometheus.yml', file)
      .replace('"$(mktemp -d)"', join(folder, 'data'))
      .replace('127.0.0.1:9090', `127.0.0.1:${port}`)
    const options = { env: bareEnvironment(), stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' } as const
    endAfterFile(Bun.spawn(killWithTests(['bash', '-c', `exec ${command}`]), options))
    const query = async (expression: string) => {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`
      const response = await fetch(url).catch(() => null)
      // While it starts, Prometheus returns a 503 that is not JSON.
      if (response === null || response.status === 503) return undefined
      return (await response.json()) as { status: string; data: { result: { value: [number, string] }[] } } | undefined
    }
    await waitUntil(
      'Prometheus has scraped the proxy',
      async () => (await query('up{job="model-proxy"}'))?.data?.result[0]?.value[1] === '1',
    )
    const rules = await (await fetch(`http://127.0.0.1:${port}/api/v1/rules`)).json()
    expect((rules as { data: { groups: unknown[] } }).data.groups.length).toBeGreaterThan(0)
    const board: Board = await Bun.file(join(ROOT, 'docs/metrics/grafana.json')).json()
    const expressions = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    expect(expressions.length).toBeGreaterThan(10)
    for (const expression of expressions) {
      const answer = await query(expression.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '1h'))
      expect([expression, answer?.status]).toEqual([expression, 'success'])
    }
    proxy.signal('SIGTERM')
  })
})
