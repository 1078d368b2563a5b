/** Entry point: reads the configuration, and starts a server or a supervisor of workers; or runs the command that is named. */
import { version } from '../../package.json' with { type: 'json' }
import { ConfigError, processEnvironment, readConfig } from '../config/config.ts'
import { SELF_COMMAND } from '../event-loop/self-command.ts'

interface Command {
  /** Resolves to the exit code. Rejects with an error whose message is for the operator. */
  run(args: readonly string[]): Promise<number>
  /** The exit code where it rejects; 1 by default. */
  failureExitCode?: number
}

/** Imported when they are called: a process loads no more than it needs. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map<string, () => Promise<Command>>([
  ['migrate', () => import('./commands/migrate.ts')],
  ['create-project', () => import('./commands/create-project.ts')],
  ['create-key', () => import('./commands/create-key.ts')],
  ['create-admin', () => import('./commands/create-admin.ts')],
  ['set-provider-key', () => import('./commands/set-provider-key.ts')],
  ['reseal', () => import('./commands/reseal.ts')],
  ['catalogue:sync', () => import('./commands/sync-catalogue.ts')],
  ['report', () => import('./commands/report.ts')],
  ['audit', () => import('./commands/audit.ts')],
  ['embedder:install', () => import('./commands/install-embedder.ts')],
])

const HELP = `Usage: model-proxy                                    starts the proxy
       model-proxy migrate                            only brings the database to this version's schema
       model-proxy create-project PROJECT [--plan PLAN]
                                                      creates a project, on the plan free unless told
       model-proxy create-key PROJECT NAME [--type test] [--expires 2027-01-01]
                                                      creates an API key, and prints it this once
       model-proxy create-admin EMAIL [--promote] [--password-stdin]
                                                      adds an administrator, and prints a token to set a password
                                                      with, also for an administrator who lost the password;
                                                      --promote: makes a known user an administrator;
                                                      --password-stdin: sets the one that standard input holds
       model-proxy set-provider-key PROJECT PROVIDER  stores the key that standard input holds
       model-proxy reseal                             seals all that is stored with a new ENCRYPTION_KEY
       model-proxy catalogue:sync [--dry-run]         brings the aggregator's models and prices up to date
       model-proxy catalogue:sync --source FILE|URL [--apply]
                                                      compares vendors' prices with a published table
       model-proxy report [--project NAME] [--month 2026-10] [--to FILE]
                                                      writes the month as HTML, and as PDF where chromium is
       model-proxy audit [--from 2026-11-01] [--to TIME] [--project NAME] [--json]
                                                      checks what was admitted, spent and recorded; exits with 1 for
                                                      violations, with 2 where it could not run: audit --help
       model-proxy embedder:install [--to DIRECTORY]  downloads the sentence model for EMBEDDER=local
       model-proxy --version
`

/** What Bun reads before it runs a program. */
const RUNTIME = {
  // Requests of upstreams at a time; else 256.
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
  // The last of JavaScriptCore's compilers takes a quarter of a new process's time per miss, and makes no request cheaper.
  BUN_JSC_useFTLJIT: '0',
  // How much the heap may grow before garbage is collected depends on the machine's memory: with much, a heap of hundreds of MB may double.
  BUN_JSC_forceRAMSize: '1073741824',
}

const [name, ...args] = process.argv.slice(2)
const command = COMMANDS.get(name ?? '')
let failureExitCode = 1
try {
  if (command) {
    const loaded = await command()
    failureExitCode = loaded.failureExitCode ?? 1
    process.exitCode = await loaded.run(args)
  } else if (name === '--help') process.stdout.write(`${HELP}\n${await readSettings()}`)
  else if (name === '--version') process.stdout.write(`${version}\n`)
  // The process of a sentence model; its arguments are model-main.ts's.
  else if (name === '--model') await import('../cache/embedders/local/model-main.ts')
  else await serve(name)
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : explain(error)}\n`)
  process.exit(failureExitCode)
}

async function readSettings(): Promise<string> {
  const { default: text } = await import('../../.env.example', { with: { type: 'text' } })
  return text
}

/** `--worker`: of a supervisor. Never quotes an argument, because it may be a key. */
async function serve(argument: string | undefined): Promise<void> {
  const isWorker = argument === '--worker' && args.length === 0
  if (argument !== undefined && !isWorker)
    throw new ConfigError([
      'The server takes no such argument: --help lists its commands and settings. Example: PORT=8080',
    ])
  startAsNeeded()
  const config = readConfig()
  // As for the log: whoever reads standard output may go, and the proxy stays.
  process.stdout.on('error', () => {})
  // Imported dynamically, so that a supervisor does not load the application, and a wrong setting is reported at once.
  if (config.workers > 1 && !isWorker) await (await import('./supervise-workers.ts')).superviseWorkers(config)
  else await (await import('./run-server.ts')).runServer(config, { isWorker })
}

/** Becomes the same program with what it needs of Bun, where its environment does not say all of that. */
function startAsNeeded(): void {
  const environment = { ...RUNTIME, ...processEnvironment }
  if (Object.keys(environment).length === Object.keys(processEnvironment).length) return
  const [bun = '', ...program] = SELF_COMMAND
  process.execve?.(bun, [bun, ...process.execArgv, ...program, ...process.argv.slice(2)], environment)
}

/** The error and its causes, one line each. A stack does not help with a wrong setting. */
function explain(error: unknown): string {
  const lines: string[] = []
  for (let at: unknown = error; at instanceof Error; at = at.cause) lines.push(at.message || at.name)
  return `${command ? '' : 'Cannot start: '}${lines.join('\n  because: ') || String(error)}`
}
