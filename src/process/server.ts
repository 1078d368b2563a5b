/** The entry point: runs the given command, or reads the configuration and starts a server or a supervisor of workers. */
import { version } from '../../package.json' with { type: 'json' }
import { ConfigError, processEnvironment, readConfig } from '../config/config.ts'
import { SELF_COMMAND } from '../event-loop/self-command.ts'

interface Command {
  /** Resolves to the exit code. Rejects with an error whose message is for the operator. */
  run(args: readonly string[]): Promise<number>
  /** The exit code when `run` rejects; 1 by default. */
  failureExitCode?: number
}

/** The commands. Each is imported when it is called, so that a process loads only what it needs. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map<string, () => Promise<Command>>([
  ['migrate', () => import('./commands/migrate.ts')],
  ['create-project', () => import('./commands/create-project.ts')],
  ['create-key', () => import('./commands/create-key.ts')],
  ['create-admin', () => import('./commands/create-admin.ts')],
  ['set-provider-key', () => import('./commands/set-provider-key.ts')],
  ['set-vendor', () => import('./commands/set-vendor.ts')],
  ['reseal', () => import('./commands/reseal.ts')],
  ['catalogue:sync', () => import('./commands/sync-catalogue.ts')],
  ['report', () => import('./commands/report.ts')],
  ['audit', () => import('./commands/audit.ts')],
  ['import', () => import('./commands/import.ts')],
  ['embedder:install', () => import('./commands/install-embedder.ts')],
  ['healthcheck', () => import('./commands/healthcheck.ts')],
])

const HELP = `Usage: model-proxy                                    starts the proxy
       model-proxy migrate                            only brings the database to this version's schema
       model-proxy create-project PROJECT [--plan PLAN]
                                                      creates a project; the default plan is free
       model-proxy create-key PROJECT NAME [--type test] [--expires 2027-01-01]
                                                      creates an API key, and prints it once
       model-proxy create-admin EMAIL [--promote] [--password-stdin]
                                                      adds an administrator, and prints a token to set a password;
                                                      also resets the password of an existing administrator;
                                                      --promote: makes an existing user an administrator;
                                                      --password-stdin: sets the password from standard input
       model-proxy set-provider-key PROJECT PROVIDER  stores the provider key from standard input
       model-proxy set-vendor NAME [COLUMN=VALUE ...] [--key -]
                                                      adds or changes a vendor; see set-vendor --help
       model-proxy reseal                             re-encrypts all stored secrets and contents with a new
                                                      ENCRYPTION_KEY
       model-proxy catalogue:sync [--dry-run]         updates the aggregator's models and prices
       model-proxy catalogue:sync --source FILE|URL [--apply]
                                                      compares vendors' prices with a published table
       model-proxy report [--project NAME] [--month 2026-10] [--to FILE]
                                                      writes a monthly report as HTML, and as PDF if chromium is
                                                      installed
       model-proxy audit [--from 2026-11-01] [--to TIME] [--project NAME] [--json]
                                                      checks admitted requests, spending and records; exits with 1
                                                      for violations, and with 2 if it cannot run; see audit --help
       model-proxy import litellm [--config FILE] [--dry-run] [--keys-until DATE]
                                                      imports LiteLLM's config.yaml, and its database from
                                                      LITELLM_DATABASE_URL: projects, keys, budgets, models
       model-proxy import gomodel --database URL|FILE [--config FILE] [--dry-run]
                                                      imports the same from GoModel
       model-proxy embedder:install [--to DIRECTORY]  downloads the sentence model for EMBEDDER=local
       model-proxy healthcheck                        exits with 0 if the proxy at 127.0.0.1:PORT is alive
       model-proxy --version
`

/** Environment variables that Bun reads before it runs a program. */
const RUNTIME = {
  // The maximum number of concurrent upstream requests; 256 by default.
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
  // Disables JavaScriptCore's FTL compiler. It takes a quarter of a new process's time per cache miss, and makes no request faster.
  BUN_JSC_useFTLJIT: '0',
  // The memory size that JavaScriptCore assumes. With the machine's size, a heap of hundreds of MB may double before it is collected.
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
  // Runs the process of a sentence model. model-main.ts reads its arguments.
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

/** Starts a server. `--worker` marks a worker of a supervisor. Errors never quote an argument, because it may be a key. */
async function serve(argument: string | undefined): Promise<void> {
  const isWorker = argument === '--worker' && args.length === 0
  if (argument !== undefined && !isWorker)
    throw new ConfigError(['The server takes no such argument: --help lists commands and settings. Example: PORT=8080'])
  ensureRuntime()
  const config = readConfig()
  // The proxy continues if the reader of standard output exits.
  process.stdout.on('error', () => {})
  // Imported dynamically, so that a supervisor does not load the application, and invalid settings are reported at once.
  if (config.workers > 1 && !isWorker) await (await import('./supervise-workers.ts')).superviseWorkers(config)
  else await (await import('./run-server.ts')).runServer(config, { isWorker })
}

/** Restarts the program with the variables of RUNTIME if any of them is missing. */
function ensureRuntime(): void {
  const environment = { ...RUNTIME, ...processEnvironment }
  if (Object.keys(environment).length === Object.keys(processEnvironment).length) return
  const [bun = '', ...program] = SELF_COMMAND
  process.execve?.(bun, [bun, ...process.execArgv, ...program, ...process.argv.slice(2)], environment)
}

/** Formats the error and its causes, one per line, without a stack. */
function explain(error: unknown): string {
  const lines: string[] = []
  for (let at: unknown = error; at instanceof Error; at = at.cause) lines.push(at.message || at.name)
  return `${command ? '' : 'Cannot start: '}${lines.join('\n  because: ') || String(error)}`
}
