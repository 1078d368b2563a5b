/** The workflows of .github: pinned actions, least permissions, and the shell scripts of a release. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../harness/docs-blocks.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

const FOLDER = join(ROOT, '.github/workflows')
const WORKFLOWS = [...new Bun.Glob('*.yml').scanSync(FOLDER)].sort()
const folder = createTemporaryDirectory()

interface Workflow {
  permissions: Record<string, string>
  jobs: Record<string, { permissions: Record<string, string>; 'timeout-minutes': number; environment?: string }>
}

const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const run = (...command: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: ROOT })
  return { exitCode, output: `${stdout}${stderr}` }
}

test.each(WORKFLOWS)('%s pins every action by its commit, with the version beside it', name => {
  const uses = read(name)
    .split('\n')
    .filter(line => /^\s*-?\s*uses:/.test(line))
  expect(uses.length).toBeGreaterThan(0)
  expect(uses.filter(line => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
})

test.each(WORKFLOWS)('%s gives no job a right or an hour that it does not name', name => {
  const { permissions, jobs } = Bun.YAML.parse(read(name)) as Workflow
  expect(permissions).toEqual({})
  for (const [job, { permissions: own, 'timeout-minutes': minutes, environment }] of Object.entries(jobs)) {
    expect([job, typeof own, minutes > 0]).toEqual([job, 'object', true])
    // What publishes needs the approval that the environment asks for.
    if (name === 'release.yml' && own['id-token'] === 'write') expect([job, environment]).toEqual([job, 'release'])
  }
})

/** A copy of the files that name the version. */
function createCheckout(changelog: string): string {
  const root = join(folder, crypto.randomUUID())
  for (const path of ['scripts/release', 'deploy/chart']) mkdirSync(join(root, path), { recursive: true })
  for (const path of [
    'package.json',
    'deploy/chart/Chart.yaml',
    'scripts/release/check-version.sh',
    'scripts/release/notes.sh',
  ])
    writeFileSync(join(root, path), readFileSync(join(ROOT, path)), { mode: 0o755 })
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  return root
}

test('a release needs one version in tag, package, chart and changelog, and a date', () => {
  const dated = createCheckout(
    '# Changelog\n\n## [0.1.0]: 2027-01-31\n\nThe first.\n\n## [0.0.9]: 2027-01-01\n\nOlder.\n',
  )
  const check = join(dated, 'scripts/release/check-version.sh')
  expect(run(check, 'v0.1.0')).toEqual({ exitCode: 0, output: 'version=0.1.0\n' })
  expect(run(check, 'v0.1.1')).toEqual({
    exitCode: 1,
    output: 'the tag is v0.1.1, but package.json has version 0.1.0\n',
  })
  expect(run(join(dated, 'scripts/release/notes.sh'), '0.1.0')).toEqual({ exitCode: 0, output: '\nThe first.\n' })
  const undated = createCheckout('## [0.1.0]: unreleased\n')
  expect(run(join(undated, 'scripts/release/check-version.sh'), 'v0.1.0').output).toContain('CHANGELOG.md has no line')
})
