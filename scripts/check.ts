/**
 * `bun run check`: checks format, lint and dependency rule, types, generated types against the schema, patterns, dead code and migrations.
 * Runs all checks, then lists the failed ones. The linters of workflows are no packages: they run where they are installed (`pip install
 * zizmor`, `go install github.com/rhysd/actionlint/cmd/actionlint@latest`).
 */

const checks: Record<string, string[]> = {
  'dependency rule': ['bun', 'scripts/check-modules.ts'],
  'format, lint': ['biome', 'check', '--error-on-warnings', '.'],
  types: ['tsc', '--noEmit'],
  'types of the dashboard’s pages': ['tsc', '--noEmit', '-p', 'src/dashboard/pages'],
  'generated types against the live schema': ['bun', 'scripts/generate-types.ts', '--check'],
  'patterns that are slow on some texts': ['bun', 'scripts/check-patterns.ts'],
  'searches in raw text': ['bun', 'scripts/check-raw-text.ts'],
  'age of the dashboard’s pictures': ['bun', 'scripts/check-pictures.ts'],
  'commit subjects': ['bun', 'scripts/check-commits.ts'],
  'dead code': ['knip', '--no-progress'],
  'workflows, actionlint': ['actionlint'],
  'workflows, zizmor': ['zizmor', '--offline', '--persona=pedantic', '--quiet', '.github'],
  migrations: ['squawk', '-c', '.squawk.toml', ...new Bun.Glob('sql/{baseline,migrations}/*.sql').scanSync()],
}

const OPTIONAL = new Set(['actionlint', 'zizmor'])

const failed: string[] = []
for (const [name, command] of Object.entries(checks)) {
  const [program = ''] = command
  if (OPTIONAL.has(program) && !Bun.which(program)) {
    process.stdout.write(`skipped ${name}: it is not installed\n`)
    continue
  }
  const startedAt = performance.now()
  const { exitCode } = Bun.spawnSync(command, { stdout: 'inherit', stderr: 'inherit' })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  process.stdout.write(`${exitCode === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`)
  if (exitCode !== 0) failed.push(name)
}
if (failed.length > 0) {
  process.stdout.write(`\nFailed: ${failed.join('; ')}\n`)
  process.exit(1)
}
