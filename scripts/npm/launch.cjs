#!/usr/bin/env node
// The command of the npm package: starts the program for this platform, which has a package of its own, and ends as it does.
const { spawn } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { constants } = require('node:os')

const { platform, arch } = process
const isMusl = platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime
const name = `model-proxy-${platform}-${arch}${isMusl ? '-musl' : ''}`

let program
try {
  program = require.resolve(`${name}/model-proxy${platform === 'win32' ? '.exe' : ''}`)
} catch {
  process.stderr.write(
    `model-proxy: the package ${name} is not installed. If npm was told to leave out optional packages, install it by name; if it does not exist, run the proxy from a checkout.\n`,
  )
  process.exit(1)
}

// How its own lines tell people to call it.
const OPERATOR_COMMAND =
  process.env.OPERATOR_COMMAND || (process.env.npm_command === 'exec' ? 'npx -y model-proxy' : '')
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', env: { ...process.env, OPERATOR_COMMAND } })
// A terminal sends SIGINT to both; a second one would end the child at once.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
// npx ends at a signal without passing it on, and its shell may outlive it.
const parent = process.ppid
const npx = findNpx()
if (process.env.npm_command === 'exec')
  setInterval(() => (process.ppid === parent && isAlive(npx)) || child.kill('SIGTERM'), 500).unref()
child.on('error', error => {
  process.stderr.write(`model-proxy: ${error.message}\n`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))

/** The parent, or the shell's: only Linux tells. */
function findNpx() {
  try {
    const [, name, grandparent] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${parent}/stat`, 'utf8'))
    return name.startsWith('npm') ? parent : Number(grandparent)
  } catch {
    return parent
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch ({ code }) {
    return code === 'EPERM'
  }
}
