#!/usr/bin/env node
// The command of the npm package: runs the program of this platform, which is in a separate package, and exits with its exit code.
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
    `model-proxy: the package ${name} is not installed. If npm omits optional packages, install it by name. If no such package exists for this platform, run the proxy from a checkout.\n`,
  )
  process.exit(1)
}

// The command that the program's messages recommend.
const OPERATOR_COMMAND =
  process.env.OPERATOR_COMMAND || (process.env.npm_command === 'exec' ? 'npx -y model-proxy' : '')
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', env: { ...process.env, OPERATOR_COMMAND } })
// SIGINT is not forwarded: a terminal sends it to both processes, and a second one would end the child at once.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
// npx does not forward signals, and its shell may outlive it. So the child is stopped when npx has ended.
const parent = process.ppid
const npx = findNpx()
if (process.env.npm_command === 'exec')
  setInterval(() => (process.ppid === parent && isAlive(npx)) || child.kill('SIGTERM'), 500).unref()
child.on('error', error => {
  process.stderr.write(`model-proxy: ${error.message}\n`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))

/** Returns the process id of npx: the parent, or the parent's parent if the parent is a shell (detected on Linux only). */
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
