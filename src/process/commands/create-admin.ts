/**
 * `create-admin EMAIL [--promote] [--password-stdin]`: adds an administrator, and prints a token to set a password. For an existing
 * administrator, it prints a token to reset the password. An existing user who is not an administrator requires --promote. With
 * --password-stdin, sets the password from standard input, and prints the user's id.
 */
import { formatId } from '../../admin/ids.ts'
import { hashNewPassword, PASSWORD_LENGTH } from '../../admin/password-hashing.ts'
import { type Config, readConfig } from '../../config/config.ts'
import { callFunction } from '../../postgres/call.ts'
import { baseUrlOf, dashboardUrl } from '../listen-address.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'
import { parseArguments } from './parse-arguments.ts'

export async function run(args: readonly string[]): Promise<number> {
  const { words, options } = parseArguments(args, {
    usage: 'create-admin EMAIL [--promote] [--password-stdin]',
    words: 1,
    options: { promote: { type: 'boolean', default: false }, 'password-stdin': { type: 'boolean', default: false } },
  })
  const { promote } = options
  const [email = ''] = words
  const config = readConfig()
  const hash = options['password-stdin'] ? await hashNewPassword(await readPassword(), email) : null
  await withOperatorDatabase(config, async database => {
    const token = await callFunction(database, 'create_administrator', { email, promote })
    if (hash === null) return printInvitation(token, config)
    const id = await callFunction(database, 'accept_invitation', { token, password_hash: hash })
    process.stdout.write(`${formatId('user', id)}\n`)
  })
  return 0
}

/** Reads the password, which is one line, without its line break. */
async function readPassword(): Promise<string> {
  const password = (await Bun.stdin.text()).replace(/\r?\n$/, '')
  const { minLength, maxLength } = PASSWORD_LENGTH
  if (password.length < minLength || password.length > maxLength || /[\r\n]/.test(password))
    throw new Error(
      `the password on standard input is not valid: it must be one line of ${minLength} to ${maxLength} characters`,
    )
  return password
}

/** Prints the token alone on standard output, so that a shell can read it, and instructions on standard error. */
function printInvitation(token: string, config: Config): void {
  process.stdout.write(`${token}\n`)
  if (config.dashboard === 'off') return
  const page = `${dashboardUrl(config, baseUrlOf(config.host, config.port))}/invitation`
  process.stderr.write(`Choose a password with it at ${page}: it is valid for seven days and one use.\n`)
}
