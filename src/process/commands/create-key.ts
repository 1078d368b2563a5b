/** `create-key PROJECT NAME [--type project|test] [--expires 2027-01-01]`: creates an API key, and prints it. It cannot be printed again. */
import { readConfig } from '../../config/config.ts'
import { callFunction } from '../../postgres/call.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'
import { parseArguments } from './parse-arguments.ts'

export async function run(args: readonly string[]): Promise<number> {
  const { words, options } = parseArguments(args, {
    usage: 'create-key PROJECT NAME [--type project|test] [--expires 2027-01-01]',
    words: 2,
    options: { type: { type: 'string', default: 'project' }, expires: { type: 'string' } },
  })
  const [project = '', name = ''] = words
  // An unset shell variable must not create a key without expiry.
  if (options.expires?.trim() === '') throw new Error('the expiry is empty: give --expires 2027-01-01, or omit it')
  const key = await withOperatorDatabase(readConfig(), async database => {
    const expires = await callFunction(database, 'parse_expiry', { value: options.expires ?? '' })
    return callFunction(database, 'issue_key', { project, key_type: options.type, key_name: name, expires })
  })
  process.stdout.write(`${key}\n`)
  return 0
}
