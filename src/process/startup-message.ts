/**
 * The message that a start prints. On a new embedded database, the start creates a demo project with a test key, and prints a request to try.
 * On a server without projects, it prints the commands that create one.
 */
import { randomBytes } from 'node:crypto'
import { hashPassword } from '../admin/password-hashing.ts'
import type { Config } from '../config/config.ts'
import { formatCommand, hasCommandPrefix } from '../config/operator-command.ts'
import { listKeySettings } from '../config/vendor-settings.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { findFirstProject, readTestLimits } from '../postgres/projects.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { psqlPasswordPath } from './data-dir.ts'
import { dashboardUrl } from './listen-address.ts'

const DEMO_PROJECT = 'demo'
const DEMO_PLAN = 'free'
const RAISE_TEST_LIMITS =
  `update plans set test_requests_per_minute = test_requests_per_minute * 10, test_requests_per_month = test_requests_per_month * 10` +
  ` where name = '${DEMO_PLAN}'`
const FIRST_ADMINISTRATOR = 'admin@localhost'
const RETRY_AFTER_MS = 250

/** The lines that a start prints. */
export interface StartupMessage {
  lines: readonly string[]
  /** The key of the demo project that this start created; null if there was a project. */
  testKey: string | null
}

/** Creates the message, and the demo project on the first start. Runs before the proxy serves, so that a healthy proxy has the key. */
export async function createStartupMessage(config: Config, database: Database, log: Log): Promise<StartupMessage> {
  const keys = describeInstallationKeys(config)
  if (database.backend !== 'embedded')
    return { lines: [...keys, ...(await describeServer(config, database))], testKey: null }
  const passwordFile = encodeURI(psqlPasswordPath(config.dataDir))
  const psql = `psql postgres://postgres@127.0.0.1:${database.psqlPort}/postgres?passfile=${passwordFile}`
  const existing = await retry(() => findFirstProject(database), log)
  if (existing !== null) {
    const lines = [
      `Embedded database in ${config.dataDir}; reach it with: ${psql}`,
      `Another key for a project: ${formatCommand('create-key')} ${existing} second --type test`,
      ...keys,
    ]
    return { lines, testKey: null }
  }
  const project = DEMO_PROJECT
  await retry(() => callFunction(database, 'create_project', { project, plan: DEMO_PLAN }), log)
  const first = { project, key_type: 'test', key_name: 'first start' }
  const testKey = await retry(() => callFunction(database, 'issue_key', first), log)
  const limits = await retry(() => readTestLimits(database, DEMO_PLAN), log)
  const lines = [
    `Embedded database in ${config.dataDir}, with a project "${DEMO_PROJECT}"; reach it with: ${psql}`,
    `Its test key, shown this once: ${testKey}`,
    `The key may send ${limits.requestsPerMinute} requests per minute and ${limits.requestsPerMonth} per month; this raises both limits tenfold: ${psql} -c "${RAISE_TEST_LIMITS}"`,
    ...keys,
  ]
  return { lines, testKey }
}

/** Returns a line about provider keys of the environment, which may have been set for another program; none without such keys. */
function describeInstallationKeys({ vendors }: Config): string[] {
  const keys = listKeySettings(vendors)
  return keys.length === 0 ? [] : [`Provider keys that all projects use: ${keys.join(', ')}`]
}

/** Returns the commands that create a project; nothing if there is one, or if the database does not reply. */
async function describeServer({ aggregator, dashboard }: Config, database: Database): Promise<string[]> {
  if ((await findFirstProject(database).catch(() => '')) !== null) return []
  const [login, where] = [
    dashboard === 'off' ? '' : ' and a login for the dashboard',
    hasCommandPrefix() ? '' : ' in a shell that has the settings of this proxy',
  ]
  return [
    `There is no project yet. To create one, with a key${login}, run${where}:`,
    '',
    `${formatCommand('create-project')} acme`,
    // Without a provider, only test keys work.
    `${formatCommand('create-key')} acme first${aggregator.isConfigured ? '' : ' --type test'}`,
    ...(dashboard === 'off' ? [] : [`${formatCommand('create-admin')} you@example.org`]),
    '',
  ]
}

/** Prints the message when the proxy starts to listen. `baseUrl` is null if it cannot listen; then only the lines with the key are printed. */
export function printStartupMessage({ lines, testKey }: StartupMessage, baseUrl: string | null): void {
  if (baseUrl !== null) print(`Model Proxy listens at ${baseUrl}`)
  print(...lines, ...(baseUrl === null || testKey === null ? [] : describeFirstRequest(baseUrl, testKey)))
}

function describeFirstRequest(baseUrl: string, key: string): string[] {
  return [
    'Try it with the built-in sandbox; no provider account is needed:',
    '',
    `curl -i ${baseUrl}/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"What is the capital of France?"}]}'`,
    '',
  ]
}

/** Prints the login for the dashboard of an embedded database. Runs last, because hashing the password takes time. */
export async function printDashboardLogin(
  config: Config,
  database: Database,
  baseUrl: string,
  log: Log,
): Promise<void> {
  if (database.backend !== 'embedded') return
  print(...(await retry(() => createFirstAdministrator(config, database, baseUrl), log)))
}

function print(...lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

/** Retries a step until it succeeds, so that a short lack of file descriptors does not end the start. Each step is atomic. */
async function retry<Result>(step: () => Promise<Result>, log: Log): Promise<Result> {
  for (;;) {
    try {
      return await step()
    } catch (error) {
      log.warn({ cause: describeCause(error) }, 'the startup message waits for the database')
      await Bun.sleep(RETRY_AFTER_MS)
    }
  }
}

/** Creates the first administrator. Returns the line with the login; nothing if there is one, or if the dashboard is off. */
async function createFirstAdministrator(config: Config, database: Database, baseUrl: string): Promise<string[]> {
  if (config.dashboard === 'off') return []
  const password = randomBytes(15).toString('base64url')
  const first = { email: FIRST_ADMINISTRATOR, password_hash: await hashPassword(password) }
  if (!(await callFunction(database, 'create_first_administrator', first))) return []
  return [
    `Dashboard at ${dashboardUrl(config, baseUrl)}: log in as ${FIRST_ADMINISTRATOR} with ${password}, shown this once`,
  ]
}
