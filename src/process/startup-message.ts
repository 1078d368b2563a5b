/**
 * What a start says first. On a new embedded database it creates a demo project and its test key, and prints a request to try; on a server
 * without a project, the lines that make one.
 */
import { randomBytes } from 'node:crypto'
import { hashPassword } from '../admin/password-hashing.ts'
import type { Config } from '../config/config.ts'
import { formatCommand, hasOperatorCommand } from '../config/operator-command.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { findFirstProject } from '../postgres/projects.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { psqlPasswordPath } from './data-dir.ts'
import { dashboardUrl } from './listen-address.ts'

const DEMO_PROJECT = 'demo'
const FIRST_ADMINISTRATOR = 'admin@localhost'
const RETRY_AFTER_MS = 250

/** What the first lines of a start say. */
export interface StartupMessage {
  lines: readonly string[]
  /** Of the project that was made, if this is the first start. */
  testKey: string | null
}

/** Before the proxy serves, so that whoever finds it healthy finds the key, too. Creates the demo project on the first start. */
export async function createStartupMessage(config: Config, database: Database, log: Log): Promise<StartupMessage> {
  if (database.backend !== 'embedded') return { lines: await introduceServer(config, database), testKey: null }
  const passwordFile = encodeURI(psqlPasswordPath(config.dataDir))
  const psql = `psql postgres://postgres@127.0.0.1:${database.psqlPort}/postgres?passfile=${passwordFile}`
  const known = await retried(() => findFirstProject(database), log)
  if (known !== null) {
    const lines = [
      `Embedded database in ${config.dataDir}; reach it with: ${psql}`,
      `Another key for a project: ${formatCommand('create-key')} ${known} second --type test`,
    ]
    return { lines, testKey: null }
  }
  const project = DEMO_PROJECT
  await retried(() => callFunction(database, 'create_project', { project, plan: 'free' }), log)
  const first = { project, key_type: 'test', key_name: 'first start' }
  const testKey = await retried(() => callFunction(database, 'issue_key', first), log)
  const lines = [
    `Embedded database in ${config.dataDir}, with a project "${DEMO_PROJECT}"; reach it with: ${psql}`,
    `Its test key, shown this once: ${testKey}`,
  ]
  return { lines, testKey }
}

/** Of a database that others share: nothing, unless there is no project yet. A start does not wait for it. */
async function introduceServer({ aggregator, dashboard }: Config, database: Database): Promise<string[]> {
  if ((await findFirstProject(database).catch(() => '')) !== null) return []
  const [login, where] = [
    dashboard === 'off' ? '' : ' and a login for the dashboard',
    hasOperatorCommand() ? '' : ' in a shell that has the settings of this proxy',
  ]
  return [
    `There is no project yet. To make one, with a key${login}, run${where}:`,
    '',
    `${formatCommand('create-project')} acme`,
    // Without a provider, only test keys are answered.
    `${formatCommand('create-key')} acme first${aggregator.isConfigured ? '' : ' --type test'}`,
    ...(dashboard === 'off' ? [] : [`${formatCommand('create-admin')} you@example.org`]),
    '',
  ]
}

/** In the turn in which the proxy begins to listen: nobody is answered before. `baseUrl` is null where it cannot, and the key is not lost. */
export function printStartupMessage({ lines, testKey }: StartupMessage, baseUrl: string | null): void {
  if (baseUrl !== null) print(`Model Proxy listens at ${baseUrl}`)
  print(...lines, ...(baseUrl === null || testKey === null ? [] : firstTry(baseUrl, testKey)))
}

function firstTry(baseUrl: string, key: string): string[] {
  return [
    'Try it; the built-in sandbox answers, no provider account needed:',
    '',
    `curl -i ${baseUrl}/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"What is the capital of France?"}]}'`,
    '',
  ]
}

/** Of the embedded database. Later, because hashing a password takes its time, and whoever waits for the key has it by now. */
export async function printDashboardLogin(
  config: Config,
  database: Database,
  baseUrl: string,
  log: Log,
): Promise<void> {
  if (database.backend !== 'embedded') return
  print(...(await retried(() => introduceAdministrator(config, database, baseUrl), log)))
}

function print(...lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

/** A moment without free descriptors must not end the start. Each step is atomic, so it is repeated by itself. */
async function retried<Result>(step: () => Promise<Result>, log: Log): Promise<Result> {
  for (;;) {
    try {
      return await step()
    } catch (error) {
      log.warn({ cause: describeCause(error) }, 'the welcome waits for the database')
      await Bun.sleep(RETRY_AFTER_MS)
    }
  }
}

/** Empty when there is an administrator, or no dashboard to log in to. */
async function introduceAdministrator(config: Config, database: Database, baseUrl: string): Promise<string[]> {
  if (config.dashboard === 'off') return []
  const password = randomBytes(15).toString('base64url')
  const first = { email: FIRST_ADMINISTRATOR, password_hash: await hashPassword(password) }
  if (!(await callFunction(database, 'create_first_administrator', first))) return []
  return [
    `Dashboard at ${dashboardUrl(config, baseUrl)}: log in as ${FIRST_ADMINISTRATOR} with ${password}, shown this once`,
  ]
}
