/**
 * Checks that commit subjects have the form `area: imperative summary` and at most 72 characters. `bun run check` checks all commits since
 * the rule exists; the commit hook passes the file of one message.
 */
const LONGEST = 72
const RULE = '.githooks/commit-msg'

function problemOf(subject: string): string | null {
  if (/^(Merge|Revert|fixup!|squash!) /.test(subject)) return null
  if (subject.length > LONGEST) return `has ${subject.length} characters, at most ${LONGEST} are allowed`
  if (!/^[a-z][a-z0-9 ,/-]*: [a-z0-9].*[^.]$/i.test(subject)) return 'is not of the form "area: imperative summary"'
  return null
}

function git(...command: string[]): string {
  return Bun.spawnSync(['git', ...command], { stderr: 'ignore' })
    .stdout.toString()
    .trim()
}

/** Subjects of the commits since the one that added the hook; none outside of a checkout. */
function recentSubjects(): string[] {
  const first = git('log', '--diff-filter=A', '--format=%H', '--', RULE).split('\n').at(-1)
  return first ? git('log', '--no-merges', '--format=%s', `${first}..HEAD`).split('\n').filter(Boolean) : []
}

const [message] = process.argv.slice(2)
const subjects = message === undefined ? recentSubjects() : [(await Bun.file(message).text()).split('\n')[0] ?? '']
for (const subject of subjects) {
  const problem = problemOf(subject)
  if (problem === null) continue
  process.stderr.write(`The subject "${subject}" ${problem}.\n`)
  process.exitCode = 1
}
