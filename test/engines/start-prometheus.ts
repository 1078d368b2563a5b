/** Starts a real Prometheus that scrapes a proxy, and runs queries. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { killWithTests } from '../faults/servers.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { endAfterFile } from '../harness/child-processes.ts'
import { waitUntil } from '../harness/wait-until.ts'

export interface Prometheus {
  /** Returns the value of an expression; null if it has none yet. */
  resultOf(expression: string): Promise<number | null>
  /** Waits until the expression has this value, to this number of decimals. */
  expectValue(expression: string, value: number, decimals?: number): Promise<void>
  /** Deletes its data. */
  remove(): void
}

/** Prometheus ends with the tests of the file. `token` is the scraper's. */
export function startPrometheus(metricsPort: number, token: string, ruleFiles: readonly string[]): Prometheus {
  const folder = mkdtempSync(join(tmpdir(), 'model-proxy-prometheus-'))
  const port = findFreePort()
  const job = {
    job_name: 'model-proxy',
    authorization: { credentials: token },
    static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }],
  }
  const config = {
    global: { scrape_interval: '250ms', scrape_timeout: '250ms', evaluation_interval: '1s' },
    rule_files: ruleFiles,
    scrape_configs: [job],
  }
  const file = join(folder, 'prometheus.yml')
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(config))
  const command = ['prometheus', `--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`]
  const options = { env: bareEnvironment(), stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' } as const
  endAfterFile(Bun.spawn(killWithTests([...command, `--web.listen-address=127.0.0.1:${port}`]), options))

  async function resultOf(expression: string): Promise<number | null> {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`
    const answer = (await fetch(url).then(
      response => response.json(),
      () => null,
    )) as { data?: { result: { value: [number, string] }[] } } | null
    const value = answer?.data?.result[0]?.value[1]
    return value === undefined ? null : Number(value)
  }

  return {
    resultOf,
    async expectValue(expression, value, decimals = 9) {
      let seen: number | null = null
      const isIt = async () => {
        seen = await resultOf(expression)
        return seen !== null && Math.abs(seen - value) < 10 ** -decimals
      }
      await waitUntil(() => `${expression} is ${seen}, not ${value}`, isIt)
      expect(seen).toBeCloseTo(value, decimals)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
