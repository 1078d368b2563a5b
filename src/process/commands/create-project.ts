/** `create-project PROJECT [--plan free]`: creates a project, and prints its id. */
import { formatId } from '../../admin/ids.ts'
import { readConfig } from '../../config/config.ts'
import { callFunction } from '../../postgres/call.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'
import { parseArguments } from './parse-arguments.ts'

export async function run(args: readonly string[]): Promise<number> {
  const { words, options } = parseArguments(args, {
    usage: 'create-project PROJECT [--plan free]',
    words: 1,
    options: { plan: { type: 'string', default: 'free' } },
  })
  const [project = ''] = words
  const id = await withOperatorDatabase(readConfig(), database =>
    callFunction(database, 'create_project', { project, plan: options.plan }),
  )
  process.stdout.write(`${formatId('proj', id)}\n`)
  return 0
}
