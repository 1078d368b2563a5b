/**
 * Prepares the database for a public board of gateways: `bun scripts/bench/boards/prepare.ts on-the-bench|failoverbench`. It creates a project
 * whose limits the board does not reach, without a cache, with the board's names of models, and a key whose value the board's manifest has.
 * It may run again.
 */
import { readConfig } from '../../../src/config/config.ts'
import { callFunction } from '../../../src/postgres/call.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { openOperatorDatabase } from '../../../src/process/open-operator-database.ts'

interface Board {
  key: string
  /** A vendor that the board needs besides those that addresses in the environment replace. */
  vendor: { name: string; columns: object }
  /** The model and its fallbacks by the name that the board requests. */
  aliases: Readonly<Record<string, string>>
}

const LOCAL = { allows_private_address: true, key_location: 'none' }
const MODEL = 'gpt-4o-mini'
/** The faults of failoverbench, which it selects by the model's name. */
const FAULTS = [
  ...['s01-429-retry-after', 's02-429-persistent', 's03-500-then-200', 's04-503-persistent', 's05-reset'],
  ...['s06-no-response', 's07-slow-ttft', 's08-stream-cut', 's09-stream-stall', 's10-malformed-chunk', 's11-no-done'],
  ...['s12-context-length', 's13-content-filter', 's14-stream-cut', 's15-flap', 's16-503-persistent'],
]

const BOARDS: Readonly<Record<string, Board>> = {
  'on-the-bench': {
    key: 'gwbench',
    // The vendor with the endpoint /responses alone. Its address is replaced by RESPONSES_BASE_URL.
    vendor: {
      name: 'responses',
      columns: { ...LOCAL, base_url: 'http://127.0.0.1:1/v1', endpoints: ['responses'] },
    },
    aliases: {
      [MODEL]: `openai/${MODEL}`,
      [`${MODEL}-responses`]: `responses/${MODEL}`,
      [`${MODEL}-anthropic`]: 'anthropic/claude-haiku-4-5',
    },
  },
  failoverbench: {
    key: 'failoverbench',
    vendor: { name: 'wall', columns: { ...LOCAL, base_url: 'http://127.0.0.1:8401/v1', endpoints: ['chat'] } },
    aliases: {
      'fb-ok': 'wall/fb-ok',
      ...Object.fromEntries(
        FAULTS.map(fault => [
          `fb-${fault}`,
          `wall/fb-${fault}|wall/${fault === 's14-stream-cut' ? 'fb-ok-noprefill' : 'fb-ok'}`,
        ]),
      ),
    },
  },
}

const [name = ''] = process.argv.slice(2)
const board = BOARDS[name]
if (board === undefined) throw new Error(`name a board: ${Object.keys(BOARDS).join(', ')}`)
const { key, vendor, aliases } = board
const database = await openOperatorDatabase(readConfig(), {})
try {
  await migrate(database)
  await database.call(
    `insert into plans (name, requests_per_minute_per_key, requests_per_minute_per_address, requests_per_month, concurrent_requests)
     values ('board', 1000000000, 1000000000, 1000000000000, 1000000) on conflict do nothing`,
    [],
  )
  const hash = Bun.SHA256.hash(key, 'hex')
  const names = Object.entries(aliases).map(([alias, models]) => `${alias}=${models}`)
  const document = {
    ...{ gateway: 'board', plan: 'board', has_all_keys: false, vendors: [vendor], models: [], vendor_keys: [] },
    projects: [
      {
        id: name,
        name,
        settings: { aliases: names, allowed_models: Object.keys(aliases), cache_mode: 'off' },
        members: [],
      },
    ],
    keys: [{ hash, project: name, name: 'board', prefix: 'board', blocked: false }],
    budgets: [],
  }
  const counts = await callFunction(database, 'import_accounts', { document, is_dry_run: false })
  process.stdout.write(`${counts.map(({ kind, created }) => `${kind}: ${created}`).join(', ')}\n`)
} finally {
  await database.close()
}
